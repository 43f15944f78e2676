/* Roles by permissions in a server of Discord. */
#include "control/web/discord_grant.h"

#include <errno.h>
#include <string.h>

#include "control/settings/settings.h"
#include "tests/test.h"

static struct settings *settings;

static struct discord_grants grants;

/* The bot is in 42, and in 1 and 7. */
static bool is_known(uint64_t guild, void *arg)
{
	(void)arg;
	return guild == 42 || guild == 1 || guild == 7;
}

static int role_of(const char *guilds)
{
	const struct discord_grant *best;

	if (discord_grants_read(settings, guilds, strlen(guilds), is_known, NULL, &grants))
		return -2;
	best = discord_grants_best(&grants);
	return best ? (int)best->role : (int)WEB_NOBODY;
}

static bool is_open(const char *guilds)
{
	return role_of(guilds) > 0 && discord_grants_best(&grants)->open;
}

#define IN(id, owner, permissions)                                                                 \
	"[{\"id\":\"1\",\"owner\":true,\"permissions\":\"8\"},{\"id\":\"" id "\",\"owner\":" owner \
	",\"permissions\":\"" permissions "\"}]"

TEST(permissions_in_the_one_server_give_a_role)
{
	CHECK_INT(settings_alloc(&settings), 0);
	/* Nobody before a server is set, not even the owner of one without an id. */
	CHECK_INT(role_of("[{\"id\":\"\",\"owner\":true,\"permissions\":\"8\"}]"), WEB_NOBODY);
	strcpy(settings->web_discord_guild, "42");
	/* By default those alone who see every channel. */
	CHECK_INT(role_of(IN("42", "false", "32")), WEB_NOBODY);
	CHECK_INT(role_of(IN("42", "false", "0")), WEB_NOBODY);
	settings->web_discord_operator = SETTINGS_WEB_MANAGE_GUILD;
	settings->web_discord_viewer = SETTINGS_WEB_MEMBER;
	CHECK_INT(role_of(IN("42", "false", "8")), WEB_ADMIN);
	CHECK_INT(role_of(IN("42", "true", "0")), WEB_ADMIN);
	CHECK_INT(role_of(IN("42", "false", "32")), WEB_OPERATOR);
	CHECK_INT(role_of(IN("42", "false", "0")), WEB_VIEWER);
	/* A permission that is no number is none. */
	CHECK_INT(role_of(IN("42", "false", "8x")), WEB_VIEWER);
	/* Who owns another server is nobody here. */
	CHECK_INT(role_of(IN("421", "true", "8")), WEB_NOBODY);
	CHECK_INT(role_of("[]"), WEB_NOBODY);
	CHECK_INT(role_of("[null, 3, {\"id\": 42}]"), WEB_NOBODY);
	CHECK_INT(role_of("{}"), -2);
	CHECK_INT(role_of("[{"), -2);
	settings_free(settings);
}

/* Discord hides channels from all others. */
TEST(administrators_and_owners_see_every_channel)
{
	CHECK_INT(settings_alloc(&settings), 0);
	strcpy(settings->web_discord_guild, "42");
	settings->web_discord_admin = SETTINGS_WEB_NEVER;
	settings->web_discord_operator = SETTINGS_WEB_MANAGE_GUILD;
	settings->web_discord_viewer = SETTINGS_WEB_MEMBER;
	CHECK(is_open(IN("42", "false", "32")));
	CHECK(is_open(IN("42", "false", "0")));
	CHECK(!is_open(IN("42", "false", "8")));
	CHECK(!is_open(IN("42", "true", "0")));
	settings_free(settings);
}

TEST(what_each_role_needs_is_a_setting)
{
	CHECK_INT(settings_alloc(&settings), 0);
	strcpy(settings->web_discord_guild, "42");
	settings->web_discord_admin = SETTINGS_WEB_NEVER;
	CHECK_INT(role_of(IN("42", "true", "8")), WEB_OPERATOR);
	settings->web_discord_operator = SETTINGS_WEB_MODERATE_MEMBERS;
	settings->web_discord_viewer = SETTINGS_WEB_MANAGE_GUILD;
	CHECK_INT(role_of(IN("42", "false", "32")), WEB_VIEWER);
	CHECK_INT(role_of(IN("42", "false", "1099511627776")), WEB_OPERATOR);
	settings->web_discord_viewer = SETTINGS_WEB_MUTE_MEMBERS;
	CHECK_INT(role_of(IN("42", "false", "0")), WEB_NOBODY);
	CHECK_INT(role_of(IN("42", "false", "4194304")), WEB_VIEWER);
	settings->web_discord_viewer = SETTINGS_WEB_NEVER;
	CHECK_INT(role_of(IN("42", "false", "4194304")), WEB_NOBODY);
	settings_free(settings);
}

/* The role that the list gives in a server. */
static int role_in(uint64_t guild)
{
	const struct discord_grant *g = discord_grants_find(&grants, guild);

	return g ? (int)g->role : (int)WEB_NOBODY;
}

#define OF(id, permissions)                                                                        \
	"{\"id\":\"" id "\",\"owner\":false,\"permissions\":\"" permissions "\"}"

TEST(every_server_of_the_bot_can_give_a_role)
{
	const char *staff =
		"[" OF("5", "8") "," OF("7", "8") "," OF("1", "32") "," OF("42", "0") "]";

	CHECK_INT(settings_alloc(&settings), 0);
	settings->web_discord_everywhere = true;
	settings->web_discord_operator = SETTINGS_WEB_MANAGE_GUILD;
	settings->web_discord_viewer = SETTINGS_WEB_MEMBER;
	/* Without a server of admins nobody is one; nor does a server count without the bot. */
	CHECK_INT(role_of(staff), WEB_OPERATOR);
	CHECK_INT(grants.n, 3);
	CHECK_INT(discord_grants_best(&grants)->guild, 7);
	CHECK_INT(role_in(7), WEB_OPERATOR);
	CHECK_INT(role_in(1), WEB_OPERATOR);
	CHECK_INT(role_in(42), WEB_VIEWER);
	CHECK_INT(role_in(5), WEB_NOBODY);
	/* Who administers a server sees all of its channels. */
	CHECK(!discord_grants_find(&grants, 7)->open);
	CHECK(discord_grants_find(&grants, 1)->open);
	/* Whoever rules web_discord_guild is an admin; that server comes first. */
	strcpy(settings->web_discord_guild, "42");
	CHECK_INT(role_of("[" OF("7", "8") "," OF("42", "8") "]"), WEB_ADMIN);
	CHECK_INT(grants.v[0].guild, 42);
	CHECK_INT(role_in(7), WEB_OPERATOR);
	/* The same server twice counts once. */
	CHECK_INT(role_of("[" OF("7", "0") "," OF("7", "8") "]"), WEB_VIEWER);
	CHECK_INT(grants.n, 1);
	settings_free(settings);
}

TEST(who_it_is_has_an_id)
{
	const char *good = "{\"id\":\"501\"}", *bad = "{\"id\":501}";
	uint64_t id = 0;

	CHECK_INT(discord_grant_user(good, strlen(good), &id), 0);
	CHECK_INT(id, 501);
	CHECK_INT(discord_grant_user(bad, strlen(bad), &id), EBADMSG);
	CHECK_INT(discord_grant_user("", 0, &id), EBADMSG);
}
