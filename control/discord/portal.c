#include "control/discord/portal.h"

#include <stddef.h>
#include <stdio.h>

#include "proto/discord.h"

/* A privileged intent is switched on when one of two flags is set: the first for applications that
 * Discord has verified, the second for those in less than a hundred servers (documentation,
 * "Application flags"). */
static const struct {
	uint32_t intent, flags;
	const char *name;
} privileged[] = {
	{DISCORD_INTENT_GUILD_PRESENCES, 1u << 12 | 1u << 13, "Presence Intent"},
	{DISCORD_INTENT_GUILD_MEMBERS, 1u << 14 | 1u << 15, "Server Members Intent"},
	{DISCORD_INTENT_MESSAGE_CONTENT, 1u << 18 | 1u << 19, "Message Content Intent"},
};

struct look {
	portal_h *h;
	void *arg;
	unsigned missing;
};

static void find(struct look *l, bool missing, const char *what, const char *text)
{
	l->missing += missing;
	l->h(missing, what, text, l->arg);
}

static void check_intents(struct look *l, const json_t *application, uint32_t intents)
{
	const json_t *flags = json_object_get(application, "flags");
	json_int_t have = json_integer_value(flags);
	char text[160];

	for (size_t i = 0; json_is_integer(flags) && i < sizeof privileged / sizeof privileged[0];
	     i++) {
		if (!(intents & privileged[i].intent) || have & privileged[i].flags)
			continue;
		snprintf(text, sizeof text, "Under Bot, Privileged Gateway Intents, switch on %s",
			 privileged[i].name);
		find(l, true, privileged[i].name, text);
	}
}

unsigned portal_check(const json_t *application, uint32_t intents, portal_h *h, void *arg)
{
	const json_t *contexts = json_object_get(application, "integration_types_config");
	const char *url =
		json_string_value(json_object_get(application, "interactions_endpoint_url"));
	struct look l = {.h = h, .arg = arg};

	check_intents(&l, application, intents);
	if (json_is_true(json_object_get(application, "bot_require_code_grant")))
		find(&l, true, "Requires OAuth2 Code Grant",
		     "Under Bot, switch off Requires OAuth2 Code Grant: with it the invite link "
		     "does not add the bot");
	if (url && *url)
		find(&l, true, "Interactions Endpoint URL",
		     "Under General Information, empty Interactions Endpoint URL: while an address "
		     "stands there, "
		     "commands go to it and never reach the bot");
	if (json_is_object(contexts) && !json_object_get(contexts, "0"))
		find(&l, true, "Installation Contexts",
		     "Under Installation, tick Guild Install: without it the bot cannot be added "
		     "to a server");
	if (json_is_false(json_object_get(application, "bot_public")))
		find(&l, false, "Public Bot",
		     "Public Bot is off: only you, who own the application, can open the invite "
		     "link");
	return l.missing;
}

bool portal_has_intent(const json_t *application, uint32_t intent)
{
	json_int_t have = json_integer_value(json_object_get(application, "flags"));

	for (size_t i = 0; i < sizeof privileged / sizeof privileged[0]; i++)
		if (intent == privileged[i].intent)
			return have & privileged[i].flags;
	return false;
}
