/* Text chat in --check (check_inside.h). */
#include "control/check_inside.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "control/control.h"
#include "control/discord/guilds.h"
#include "control/discord/portal.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/text_session/text_session.h"
#include "proto/discord.h"

enum { LOOKED_UP = 40 /* ids of lists at most: each is a request */ };

/* ---- settings ---- */

void check_text_chat(struct check *c, const json_t *application)
{
	if (!text_session_intents(c->settings))
		return;
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

void check_voice_chat(struct check *c, uint64_t have, const char *name)
{
	static const unsigned needed[] = {DISCORD_BIT_SEND_MESSAGES,
					  DISCORD_BIT_READ_MESSAGE_HISTORY,
					  DISCORD_BIT_ADD_REACTIONS, DISCORD_BIT_ATTACH_FILES};

	if (!text_session_intents(c->settings))
		return;
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (have & DISCORD_PERMISSION(needed[i]))
			check_say(c, CHECK_OK, "text chat", "%s in the channel's own chat",
				  discord_permission_text(needed[i]));
		else
			check_say(c, CHECK_WARNING, "text chat",
				  "the bot may not %s in the chat of %s. Allow it in the channel's "
				  "settings in Discord",
				  discord_permission_text(needed[i]), name);
}

/* ---- lists of channels ---- */

static const struct list_kind {
	const char *name;
	size_t offset; /* in struct settings */
	bool written;  /* of text chat, where a category stands for its channels */
} kinds[] = {
	{"text_channels", offsetof(struct settings, text_channels), true},
	{"text_blocked_channels", offsetof(struct settings, text_blocked_channels), true},
	{"text_initiative_channels", offsetof(struct settings, text_initiative_channels), true},
	{"allowed_channels", offsetof(struct settings, allowed_channels), false},
	{"blocked_channels", offsetof(struct settings, blocked_channels), false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *text_at(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* The stored document takes precedence over the settings, and a server's own settings over both. */
static bool is_off(const struct check *c, const json_t *stored, const json_t *own)
{
	const char *chat = text_at(own, "text_chat");

	chat = chat ? chat : text_at(stored, "text_chat");
	return chat ? strcmp(chat, "off") == 0 : c->settings->text_chat == SETTINGS_TEXT_OFF;
}

/* One list is [name to show, ids, server or 0, whether it is of text chat]. */
static void add_list(struct check *c, const struct list_kind *kind, const char *ids,
		     const char *server, bool off)
{
	char shown[96], fault[SETTINGS_IDS_FAULT];
	uint64_t guild = 0;

	discord_snowflake(server, &guild);
	snprintf(shown, sizeof shown, "%s%s%s", kind->name, *server ? " of server " : "", server);
	if (settings_ids_empty(ids))
		return;
	if (settings_ids_fault(ids)) {
		settings_ids_say(ids, fault, sizeof fault);
		check_say(c, CHECK_MISSING, shown, "%s. Save the list anew", fault);
		return;
	}
	if (kind->written && off)
		check_say(c, CHECK_WARNING, shown,
			  "does nothing while text_chat is off: the bot reads no messages");
	json_array_append_new(c->lists, json_pack("[s,s,I,b]", shown, ids, (json_int_t)guild,
						  (int)kind->written));
}

static void add_lists(struct check *c, const json_t *stored, const json_t *own, const char *server)
{
	for (size_t i = 0; i < KINDS; i++) {
		const char *ids = text_at(*server ? own : stored, kinds[i].name);

		if (!ids && *server)
			continue;
		if (!ids)
			ids = (const char *)c->settings + kinds[i].offset;
		add_list(c, &kinds[i], ids, server, is_off(c, stored, own));
	}
}

static const json_t *value_at(const json_t *stored, const json_t *own, const char *name)
{
	const json_t *value = json_object_get(own, name);

	return value ? value : json_object_get(stored, name);
}

static bool is_set(const json_t *value, bool otherwise)
{
	return !value ? otherwise
		      : json_is_true(value) || (!json_is_false(value) && json_integer_value(value));
}

/* Settings that keep the bot silent, or do nothing. */
static void check_idle_settings(struct check *c, const json_t *stored, const json_t *own,
				const char *server)
{
	const struct settings *s = c->settings;
	const char *chat = json_string_value(value_at(stored, own, "text_chat"));
	const char *channels = json_string_value(value_at(stored, own, "text_initiative_channels"));
	char shown[96];

	snprintf(shown, sizeof shown, "text chat%s%s", *server ? " of server " : "", server);
	if (is_off(c, stored, own))
		return;
	if (!is_set(value_at(stored, own, "text_per_hour"), s->text_per_hour))
		check_say(c, CHECK_WARNING, shown,
			  "text_per_hour is 0: the bot answers nothing in writing");
	if (is_set(value_at(stored, own, "text_initiative"), s->text_initiative) &&
	    settings_ids_empty(channels ? channels : s->text_initiative_channels))
		check_say(c, CHECK_WARNING, shown,
			  "text_initiative does nothing without text_initiative_channels, the "
			  "channels where the bot may write of its own accord");
	if (is_set(value_at(stored, own, "text_unsolicited"), s->text_unsolicited) &&
	    (chat ? strcmp(chat, "mentions") == 0 : s->text_chat == SETTINGS_TEXT_MENTIONS))
		check_say(c, CHECK_WARNING, shown,
			  "text_unsolicited does nothing with text_chat mentions: the bot looks at "
			  "messages that do not address it with text_chat all alone");
}

/* A server's settings repeat nothing of everybody's. */
static bool has_own_chat(const json_t *own)
{
	return json_object_get(own, "text_chat") || json_object_get(own, "text_per_hour") ||
	       json_object_get(own, "text_initiative") ||
	       json_object_get(own, "text_initiative_channels") ||
	       json_object_get(own, "text_unsolicited");
}

/* Those in effect for everybody, and those of servers with settings of their own. */
static void list_lists(struct check *c)
{
	json_t *kept = c->conf->state_dir ? state_read_settings(c->conf->state_dir) : NULL;
	const json_t *versions = json_object_get(kept, "versions");
	size_t n = json_array_size(versions);
	const json_t *stored =
		n ? json_object_get(json_array_get(versions, n - 1), "intent") : NULL;
	const char *server;
	json_t *own;

	c->lists = json_array();
	add_lists(c, stored, NULL, "");
	check_idle_settings(c, stored, NULL, "");
	json_object_foreach(json_object_get(stored, "guilds"), server, own)
	{
		add_lists(c, stored, own, server);
		if (has_own_chat(own))
			check_idle_settings(c, stored, own, server);
	}
	json_decref(kept);
}

/* What Discord says of the channel. */
static void judge_listed(struct check *c, const json_t *list, const json_t *body)
{
	const char *name = json_string_value(json_array_get(list, 0));
	uint64_t server = (uint64_t)json_integer_value(json_array_get(list, 2)), of = 0;
	bool category =
		json_integer_value(json_object_get(body, "type")) == DISCORD_CHANNEL_CATEGORY;
	unsigned long long id = c->listed;

	discord_snowflake(text_at(body, "guild_id"), &of);
	if (server && of != server)
		check_say(c, CHECK_WARNING, name, "names %llu, which is in another server", id);
	else if (category && json_is_true(json_array_get(list, 3)))
		check_say(c, CHECK_OK, name, "names the category %llu: all channels in it", id);
	else if (category)
		check_say(c, CHECK_WARNING, name,
			  "names %llu, which is a category: that says nothing of its voice "
			  "channels. Name these",
			  id);
}

static void on_listed(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	const json_t *list = json_array_get(c->lists, c->list);

	if (err == ECANCELED)
		return;
	if (!err && (status == 403 || status == 404))
		check_say(c, CHECK_WARNING, json_string_value(json_array_get(list, 0)),
			  "names %llu, which is no channel that the bot may see. In Discord's "
			  "developer mode a right click on a channel copies its id",
			  (unsigned long long)c->listed);
	else if (!err && status == 200)
		judge_listed(c, list, body);
	check_listed_channels(c);
}

/* False: there are no more. */
static bool find_listed(struct check *c)
{
	const json_t *list;

	while ((list = json_array_get(c->lists, c->list))) {
		c->list_at = c->list_at ? c->list_at : json_string_value(json_array_get(list, 1));
		if (settings_ids_each(&c->list_at, &c->listed))
			return true;
		c->list_at = NULL;
		c->list++;
	}
	return false;
}

void check_listed_channels(struct check *c)
{
	char path[64];
	bool more;

	if (!c->lists)
		list_lists(c);
	more = find_listed(c);
	if (more && c->looked_up++ == LOOKED_UP) {
		check_say(c, CHECK_WARNING,
			  json_string_value(json_array_get(json_array_get(c->lists, c->list), 0)),
			  "the settings name more channels than %d: the others were not looked at",
			  LOOKED_UP);
		more = false;
	}
	snprintf(path, sizeof path, "/channels/%llu", (unsigned long long)c->listed);
	if (!more || check_request(c, "/channels/{}", path, on_listed))
		check_done(c);
}
