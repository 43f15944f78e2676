/* Text chat in --check (check_inside.h). */
#include "control/check_inside.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "control/control.h"
#include "control/discord/guilds.h"
#include "control/discord/portal.h"
#include "control/settings/document.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/reading.h"
#include "control/text_session/text_session.h"
#include "proto/discord.h"

enum { LOOKED_UP = 40 /* ids of lists at most: each is a request */ };

/* ---- settings ---- */

void check_text_chat(struct check *c, const json_t *application)
{
	static const char without[] =
		"works without the Message Content Intent: the bot answers messages that mention "
		"it and direct messages, and a stop sign stops it, but Discord keeps from it the "
		"text of a reply or of a \"stop\" that does not mention it";
	const struct settings *s = c->settings;

	/* What keeps it from answering at all was said. */
	if (!text_session_intents(s) || s->unread || !s->text_per_hour)
		return;
	if (s->text_chat != SETTINGS_TEXT_ALL)
		check_say(c, CHECK_OK, "text chat", "%s", without);
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

/* ---- what keeps it from answering in the channel that was asked about ---- */

/* True if what is stored for this server says so, and not what holds for all. */
static bool is_own(const struct check *c, const char *name)
{
	const json_t *servers = json_object_get(document_intent(c->document), "guilds");
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)c->conf->guild);
	return json_object_get(json_object_get(servers, id), name) != NULL;
}

/* NULL: it answers in this server. */
static const char *silent_in_server(const struct check *c)
{
	if (c->settings->text_chat == SETTINGS_TEXT_OFF && c->own->text_chat != SETTINGS_TEXT_OFF)
		return "text_chat is off for all servers, so that Discord sends no messages: the "
		       "server's own text_chat does nothing";
	if (c->own->text_chat == SETTINGS_TEXT_OFF)
		return is_own(c, "text_chat")
			       ? "text_chat of this server is off: the bot answers nothing that is "
				 "written there"
			       : "text_chat is off: the bot answers nothing that is written there";
	if (!text_session_intents(c->settings))
		return "with the setting gateway the bot gets no messages: it answers nothing that "
		       "is written there";
	if (c->own->unread)
		return "the bot answers nothing until its settings can be read";
	if (!c->own->text_per_hour)
		return is_own(c, "text_per_hour")
			       ? "text_per_hour of this server is 0: the bot answers nothing in "
				 "writing"
			       : "text_per_hour is 0: the bot answers nothing in writing";
	return NULL;
}

/* As reading_is_blocked judges, which the bot asks. */
static void check_lists_of_channel(struct check *c, const char *name)
{
	const struct settings *s = c->own;
	uint64_t guild = c->conf->guild, channel = c->conf->channel;
	const char *title, *blocked = s->text_blocked_channels;
	uint64_t parent = guilds_thread(c->guilds, guild, channel, &title);
	uint64_t category = guilds_category(c->guilds, guild, channel);

	if (!reading_is_blocked(s->text_channels, blocked, guild, channel, parent, category))
		return;
	if (settings_ids_name(blocked, channel, parent, category))
		check_say(c, CHECK_WARNING, "text chat",
			  "the bot neither reads nor answers anything in %s: "
			  "text_blocked_channels%s names %s",
			  name, is_own(c, "text_blocked_channels") ? " of this server" : "",
			  settings_ids_have(blocked, channel) ? "it"
			  : parent && settings_ids_have(blocked, parent)
				  ? "the channel that it is in"
				  : "its category");
	else
		check_say(c, CHECK_WARNING, "text chat",
			  "the bot neither reads nor answers anything in %s: text_channels%s names "
			  "other channels",
			  name, is_own(c, "text_channels") ? " of this server" : "");
}

/* Says what keeps the bot silent there. Returns false if nobody wants it to write there at all. */
static bool check_settings_of_channel(struct check *c, const char *name)
{
	const char *silent = silent_in_server(c);

	if (silent)
		check_say(c, CHECK_WARNING, "text chat", "%s", silent);
	else
		check_lists_of_channel(c, name);
	return !silent;
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
	check_settings_of_channel(c, name);
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

	if (c->settings->text_chat == SETTINGS_TEXT_OFF && c->own->text_chat == SETTINGS_TEXT_OFF)
		return; /* a bot for voice, whose channel was asked about */
	if (!check_settings_of_channel(c, name))
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

/* A server's own text_chat does nothing where Discord sends no messages. */
static bool is_off(const struct check *c, const struct settings *s)
{
	return c->settings->text_chat == SETTINGS_TEXT_OFF || s->text_chat == SETTINGS_TEXT_OFF;
}

/* One list is [name to show, ids, server or 0, whether it is of text chat]. That it cannot be read
 * was said (check_stored). */
static void add_list(struct check *c, const struct list_kind *kind, const char *ids,
		     const char *server, bool off)
{
	char shown[96];
	uint64_t guild = 0;

	discord_snowflake(server, &guild);
	snprintf(shown, sizeof shown, "%s%s%s", kind->name, *server ? " of server " : "", server);
	if (settings_ids_empty(ids) || settings_ids_fault(ids))
		return;
	if (kind->written && off)
		check_say(c, CHECK_WARNING, shown,
			  "does nothing while text_chat is off: the bot reads no messages");
	json_array_append_new(c->lists, json_pack("[s,s,I,b]", shown, ids, (json_int_t)guild,
						  (int)kind->written));
}

/* own: NULL for all servers. A server's part repeats nothing of theirs. */
static void add_lists(struct check *c, const char *server, const json_t *own,
		      const struct settings *s)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!own || json_object_get(own, kinds[i].name))
			add_list(c, &kinds[i], (const char *)s + kinds[i].offset, server,
				 is_off(c, s));
}

/* Settings that keep the bot silent, or do nothing. */
static void check_idle_settings(struct check *c, const char *server, const struct settings *s)
{
	char shown[96];

	snprintf(shown, sizeof shown, "text chat%s%s", *server ? " of server " : "", server);
	if (is_off(c, s))
		return;
	if (!s->text_per_hour)
		check_say(c, CHECK_WARNING, shown,
			  "text_per_hour is 0: the bot answers nothing in writing");
	if (s->text_initiative && settings_ids_empty(s->text_initiative_channels))
		check_say(c, CHECK_WARNING, shown,
			  "text_initiative does nothing without text_initiative_channels, the "
			  "channels where the bot may write of its own accord");
	if (s->text_unsolicited && s->text_chat == SETTINGS_TEXT_MENTIONS)
		check_say(c, CHECK_WARNING, shown,
			  "text_unsolicited does nothing with text_chat mentions: the bot looks at "
			  "messages that do not address it with text_chat all alone");
}

static bool has_own_chat(const json_t *own)
{
	return json_object_get(own, "preset") || json_object_get(own, "text_chat") ||
	       json_object_get(own, "text_per_hour") || json_object_get(own, "text_initiative") ||
	       json_object_get(own, "text_initiative_channels") ||
	       json_object_get(own, "text_unsolicited");
}

static void check_text_of_server(struct check *c, const char *server, const json_t *own,
				 const struct settings *s)
{
	add_lists(c, server, own, s);
	if (has_own_chat(own))
		check_idle_settings(c, server, s);
}

void check_text_settings(struct check *c)
{
	c->lists = json_array();
	add_lists(c, "", NULL, c->settings);
	check_idle_settings(c, "", c->settings);
	check_stored_each(c, check_text_of_server);
}

/* What Discord says of the channel. */
static void judge_listed(struct check *c, const json_t *list, const json_t *body)
{
	const char *name = json_string_value(json_array_get(list, 0));
	uint64_t server = (uint64_t)json_integer_value(json_array_get(list, 2)), of = 0;
	bool category =
		json_integer_value(json_object_get(body, "type")) == DISCORD_CHANNEL_CATEGORY;
	unsigned long long id = c->listed;

	discord_snowflake(json_string_value(json_object_get(body, "guild_id")), &of);
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
