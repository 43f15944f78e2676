#include "tests/test.h"

#include "control/discord/portal.h"
#include "proto/discord.h"

static char found[1024];

static void on_portal(bool missing, const char *what, const char *text, void *arg)
{
	size_t n = strlen(found);

	(void)arg;
	if (*text)
		snprintf(found + n, sizeof found - n, "%s%s;", missing ? "!" : "", what);
}

static const char *look(const char *application, uint32_t intents)
{
	json_t *j = json_loads(application, 0, NULL);
	unsigned missing, marks = 0;

	found[0] = '\0';
	missing = portal_check(j, intents, on_portal, NULL);
	for (const char *p = found; (p = strchr(p, '!')); p++)
		marks++;
	json_decref(j);
	return missing == marks ? found : "counted wrongly";
}

TEST(an_application_as_discord_makes_it_needs_no_switch)
{
	CHECK_STR(look("{\"id\":\"1\",\"bot_public\":true,\"bot_require_code_grant\":false,"
		       "\"flags\":0,"
		       "\"interactions_endpoint_url\":null,\"integration_types_config\":{\"0\":{},"
		       "\"1\":{}}}",
		       DISCORD_INTENT_GUILDS | DISCORD_INTENT_GUILD_VOICE_STATES),
		  "");
	CHECK_STR(look("{}", DISCORD_INTENT_GUILDS), "");
	CHECK_STR(look("[]", DISCORD_INTENT_MESSAGE_CONTENT), "");
}

TEST(every_switch_that_stands_wrong_is_named)
{
	CHECK_STR(look("{\"bot_public\":false,\"bot_require_code_grant\":true,\"flags\":0,"
		       "\"interactions_endpoint_url\":\"https://example.com/"
		       "\",\"integration_types_config\":{\"1\":{}}}",
		       DISCORD_INTENT_GUILDS),
		  "!Requires OAuth2 Code Grant;!Interactions Endpoint URL;!Installation "
		  "Contexts;Public Bot;");
}

TEST(only_privileged_intents_that_are_asked_for_are_missed)
{
	uint32_t all = DISCORD_INTENT_GUILD_MEMBERS | DISCORD_INTENT_GUILD_PRESENCES |
		       DISCORD_INTENT_MESSAGE_CONTENT;

	CHECK_STR(look("{\"flags\":0}", all),
		  "!Presence Intent;!Server Members Intent;!Message Content Intent;");
	CHECK_STR(look("{\"flags\":524288}", all),
		  "!Presence Intent;!Server Members Intent;"); /* limited */
	CHECK_STR(look("{\"flags\":282624}", all), "");	       /* 12, 14, 18 */
	CHECK_STR(look("{\"flags\":0}", DISCORD_INTENT_GUILD_MEMBERS), "!Server Members Intent;");
}

TEST(an_intent_is_granted_by_either_of_its_flags)
{
	json_t *none = json_pack("{s:i}", "flags", 1 << 13);
	json_t *limited = json_pack("{s:i}", "flags", 1 << 19);

	CHECK(!portal_has_intent(none, DISCORD_INTENT_MESSAGE_CONTENT));
	CHECK(portal_has_intent(none, DISCORD_INTENT_GUILD_PRESENCES));
	CHECK(portal_has_intent(limited, DISCORD_INTENT_MESSAGE_CONTENT));
	CHECK(!portal_has_intent(limited, DISCORD_INTENT_GUILDS));
	CHECK(!portal_has_intent(NULL, DISCORD_INTENT_MESSAGE_CONTENT));
	json_decref(none);
	json_decref(limited);
}
