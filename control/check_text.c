/* Text chat in --check (check_inside.h). */
#include "control/check_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/control.h"
#include "control/discord/guilds.h"
#include "control/discord/portal.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"
#include "proto/discord.h"

enum { LOOKED_UP = 40 /* ids of lists at most: each is a request */ };

/* ---- settings ---- */

/* Settings that keep the bot silent, or do nothing. */
static void check_idle_settings(struct check *c)
{
	const struct settings *s = c->settings;

	if (!s->text_per_hour)
		check_say(c, CHECK_WARNING, "text chat",
			  "text_per_hour is 0: the bot answers nothing in writing");
	if (s->text_initiative && settings_ids_empty(s->text_initiative_channels))
		check_say(c, CHECK_WARNING, "text chat",
			  "text_initiative does nothing without text_initiative_channels, the "
			  "channels where the bot may write of its own accord");
	if (s->text_unsolicited && s->text_chat == SETTINGS_TEXT_MENTIONS)
		check_say(c, CHECK_WARNING, "text chat",
			  "text_unsolicited does nothing with text_chat mentions: the bot looks at "
			  "messages that do not address it with text_chat all alone");
}

void check_text_chat(struct check *c, const json_t *application)
{
	if (!text_session_intents(c->settings))
		return;
	check_idle_settings(c);
	if (c->settings->text_chat != SETTINGS_TEXT_ALL)
		check_say(
			c, CHECK_OK, "text chat",
			"works without the Message Content Intent: the bot answers messages that "
			"mention it and direct messages, and a stop sign stops it, but Discord "
			"keeps from it the text of a reply or of a \"stop\" that does not mention "
			"it");
	else if (!application)
		check_say(c, CHECK_WARNING, "text chat",
			  "whether the Message Content Intent is switched on is not known");
	else if (portal_has_intent(application, DISCORD_INTENT_MESSAGE_CONTENT))
		check_say(c, CHECK_OK, "text chat",
			  "reads all messages: the Message Content Intent is switched on");
	else
		check_say(c, CHECK_WARNING, "text chat",
			  "text_chat is all, but Discord keeps the text of messages from the bot "
			  "unless they mention it or are sent to it directly: it answers those "
			  "alone. Under Bot, Privileged Gateway Intents, switch on Message Content "
			  "Intent, or set text_chat to mentions");
}

/* ---- permissions ---- */

void check_text_permissions(struct check *c, const char *name)
{
	/* Without the first two it answers nothing there. */
	static const unsigned channel[] = {
		DISCORD_BIT_VIEW_CHANNEL,	  DISCORD_BIT_SEND_MESSAGES,
		DISCORD_BIT_READ_MESSAGE_HISTORY, DISCORD_BIT_ADD_REACTIONS,
		DISCORD_BIT_ATTACH_FILES,	  DISCORD_BIT_SEND_MESSAGES_IN_THREADS};
	static const unsigned thread[] = {DISCORD_BIT_VIEW_CHANNEL,
					  DISCORD_BIT_SEND_MESSAGES_IN_THREADS,
					  DISCORD_BIT_READ_MESSAGE_HISTORY,
					  DISCORD_BIT_ADD_REACTIONS, DISCORD_BIT_ATTACH_FILES};
	const char *title;
	bool in_thread = guilds_thread(c->guilds, c->conf->guild, c->conf->channel, &title) != 0;
	const unsigned *needed = in_thread ? thread : channel;
	size_t n =
		in_thread ? sizeof thread / sizeof thread[0] : sizeof channel / sizeof channel[0];
	uint64_t have;

	check_say(c, CHECK_OK, in_thread ? "thread" : "channel", "%s", name);
	if (!text_session_intents(c->settings))
		check_say(c, CHECK_WARNING, "text chat",
			  "text_chat is off: the bot answers nothing that is written there");
	if (!guilds_own_permissions(c->guilds, c->conf->guild, c->conf->channel, &have)) {
		check_say(c, CHECK_WARNING, "permissions", "could not be worked out");
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (have & DISCORD_PERMISSION(needed[i]))
			check_say(c, CHECK_OK, "permissions", "%s",
				  discord_permission_text(needed[i]));
		else
			check_say(c, i < 2 ? CHECK_MISSING : CHECK_WARNING, "permissions",
				  "the bot may not %s in %s. Allow it in the channel's settings in "
				  "Discord",
				  discord_permission_text(needed[i]), name);
}

/* ---- lists of channels ---- */

static const char *list_of(const struct settings *s, unsigned list, const char **name)
{
	const struct {
		const char *name, *ids;
	} lists[] = {{"text_channels", s->text_channels},
		     {"text_blocked_channels", s->text_blocked_channels},
		     {"text_initiative_channels", s->text_initiative_channels},
		     {"allowed_channels", s->allowed_channels},
		     {"blocked_channels", s->blocked_channels}};

	if (list == sizeof lists / sizeof lists[0])
		return NULL;
	*name = lists[list].name;
	return lists[list].ids;
}

static void on_listed(int err, int status, const json_t *body, void *arg)
{
	const char *name = "";
	struct check *c = arg;

	if (err == ECANCELED)
		return;
	list_of(c->settings, c->list, &name);
	if (!err && (status == 403 || status == 404))
		check_say(c, CHECK_WARNING, name,
			  "names %llu, which is no channel that the bot may see. In Discord's "
			  "developer mode a right click on a channel copies its id",
			  (unsigned long long)c->listed);
	else if (!err && status == 200 &&
		 json_integer_value(json_object_get(body, "type")) == DISCORD_CHANNEL_CATEGORY)
		check_say(
			c, CHECK_WARNING, name,
			"names %llu, which is a category: that says nothing of its channels. Name "
			"these",
			(unsigned long long)c->listed);
	check_listed_channels(c);
}

void check_listed_channels(struct check *c)
{
	const char *ids, *name;
	char path[64];

	while ((ids = list_of(c->settings, c->list, &name))) {
		c->list_at = c->list_at ? c->list_at : ids;
		if (c->looked_up < LOOKED_UP && settings_ids_each(&c->list_at, &c->listed))
			break;
		c->list_at = NULL;
		c->list++;
	}
	c->looked_up++;
	snprintf(path, sizeof path, "/channels/%llu", (unsigned long long)c->listed);
	if (!ids || check_request(c, "/channels/{}", path, on_listed))
		check_done(c);
}
