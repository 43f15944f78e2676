#include "control/web/discord_grant.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/settings.h"
#include "proto/discord.h"

#define ADMINISTRATOR (UINT64_C(1) << 3)

/* In the order of SETTINGS_WEB_NEEDS; ADMINISTRATOR has every other permission. */
static const uint64_t permissions[] = {
	[SETTINGS_WEB_NEVER] = 0,
	[SETTINGS_WEB_ADMINISTRATOR] = ADMINISTRATOR,
	[SETTINGS_WEB_MANAGE_GUILD] = UINT64_C(1) << 5,
	[SETTINGS_WEB_MODERATE_MEMBERS] = UINT64_C(1) << 40,
	[SETTINGS_WEB_MUTE_MEMBERS] = UINT64_C(1) << 22,
	[SETTINGS_WEB_MEMBER] = 0,
};

int discord_grant_user(const char *text, size_t n, uint64_t *id)
{
	json_t *root = json_loadb(text, n, 0, NULL);
	const char *value = json_string_value(json_object_get(root, "id"));
	int err = value && discord_snowflake(value, id) ? 0 : EBADMSG;

	json_decref(root);
	return err;
}

static bool fulfils(uint32_t need, uint64_t has, bool owner)
{
	if (need == SETTINGS_WEB_NEVER || need >= sizeof permissions / sizeof permissions[0])
		return false;
	return need == SETTINGS_WEB_MEMBER || owner || (has & ADMINISTRATOR) ||
	       (has & permissions[need]);
}

static struct discord_granted find_role(const struct settings *s, const json_t *guild)
{
	struct discord_granted g;
	const char *text = json_string_value(json_object_get(guild, "permissions"));
	bool owner = json_is_true(json_object_get(guild, "owner"));
	uint64_t has = 0;

	if (!text || !discord_u64(text, &has))
		has = 0;
	g.role = fulfils(s->web_discord_admin, has, owner)	? WEB_ADMIN
		 : fulfils(s->web_discord_operator, has, owner) ? WEB_OPERATOR
		 : fulfils(s->web_discord_viewer, has, owner)	? WEB_VIEWER
								: WEB_NOBODY;
	g.open = g.role < WEB_ADMIN && !owner && !(has & ADMINISTRATOR);
	return g;
}

int discord_grant_role(const struct settings *s, const char *text, size_t n,
		       struct discord_granted *out)
{
	json_t *list = json_loadb(text, n, 0, NULL), *guild;
	struct discord_granted g = {.role = WEB_NOBODY, .open = true};
	size_t i;

	if (!json_is_array(list)) {
		json_decref(list);
		return EBADMSG;
	}
	json_array_foreach(list, i, guild)
	{
		const char *id = json_string_value(json_object_get(guild, "id"));

		if (id && *s->web_discord_guild && strcmp(id, s->web_discord_guild) == 0)
			g = find_role(s, guild);
	}
	json_decref(list);
	*out = g;
	return 0;
}
