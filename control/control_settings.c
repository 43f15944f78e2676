/* /settings: what those who manage a server may change for it (control/settings/server_settings.h),
 * through the same document as the dashboard: its versions, its audit, its checks. Each use and
 * each press of a button asks for the right anew, and a member can make so many versions a minute
 * as they can use commands that cost money: the document keeps a limited number for everybody. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/configure/live_settings.h"
#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/discord/guilds.h"
#include "control/events/events.h"
#include "control/settings/ids.h"
#include "control/settings/server_settings.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "proto/base/iso_time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { SUGGESTED = 25, LISTED = 8, LABEL = 101, AUTHOR = 48, FAULT = 300 };
#define UNDO "set_undo." /* an action of a button; the version follows */

/* A change that is being saved. Either cmd or press waits for it. */
struct settings_request {
	struct settings_request *next;
	struct control *c;
	struct command *cmd;
	struct press *press;
	uint64_t guild, user, version; /* version: that the change makes */
	char name[COMPONENT_VALUE];    /* of /settings set; "" of an undo */
	char before[SERVER_VALUE_MAX];
};

static const char *locale_of(const struct settings_request *r)
{
	return r->cmd ? r->cmd->locale : r->press->locale;
}

static void end_request(struct settings_request *r)
{
	struct settings_request **at = &r->c->settings_requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	free(r);
}

void control_end_settings(struct control *c)
{
	while (c->settings_requests)
		end_request(c->settings_requests);
}

static void send_reply(const struct settings_request *r, const struct words *words, json_t *buttons)
{
	if (r->press)
		press_finish(r->press, words, NULL, NULL);
	else
		command_reply_with(r->cmd, words, buttons);
}

static void finish(struct settings_request *r, const struct words *words, json_t *buttons)
{
	send_reply(r, words, buttons);
	end_request(r);
}

/* False: the words say why this member cannot use it. */
static bool may_set(const struct control *c, uint64_t guild, uint64_t user, const json_t *member,
		    struct words *words)
{
	if (!c->settings->server_settings)
		words_settings_off(words);
	else if (!guilds_manages(c->guilds, guild, user, member))
		words_settings_not_yours(words);
	else
		return true;
	return false;
}

static const char *text_at(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

/* ---- looking ---- */

/* As it is in effect in this server, as text. */
static void read_present(const struct control *c, uint64_t guild, const char *name,
			 char to[SERVER_VALUE_MAX])
{
	struct settings *s = control_read_settings(c, guild);
	json_t *value = s ? server_settings_value(s, name) : NULL;

	server_settings_show(value, to);
	json_decref(value);
	settings_free(s);
}

static const json_t *own_settings(const struct control *c, uint64_t guild)
{
	char id[24];

	snprintf(id, sizeof id, "%" PRIu64, guild);
	return json_object_get(
		json_object_get(document_intent(live_settings_document(c->live)), "guilds"), id);
}

static void tell_one(const struct control *c, uint64_t guild, const json_t *row,
		     struct words *words)
{
	const char *name = text_at(row, "name");
	char value[SERVER_VALUE_MAX];

	read_present(c, guild, name, value);
	words_line(words);
	words_settings_is(words, name, *value ? value : "—");
	if (json_object_get(own_settings(c, guild), name))
		words_settings_own(words);
	words_settings_about(words, text_at(row, "text"));
}

/* There is no such setting, or it is the operator's. */
static void tell_unknown(const char *name, struct words *words)
{
	if (name && settings_has(name))
		words_settings_operators(words, name);
	else
		words_settings_unknown(words);
}

static void show(const struct control *c, const struct command *cmd, struct words *words)
{
	const char *name = command_text(cmd, "name");
	json_t *row = name ? server_settings_row(name) : NULL, *value;
	unsigned n = 0;
	const char *key;

	if (name && !row)
		tell_unknown(name, words);
	else if (row)
		tell_one(c, cmd->guild, row, words);
	else
		json_object_foreach((json_t *)(uintptr_t)own_settings(c, cmd->guild), key, value)
		{
			char text[SERVER_VALUE_MAX];

			server_settings_show(value, text);
			words_line(words);
			words_settings_is(words, key, text);
			n++;
		}
	if (!name && !n)
		words_settings_none(words);
	json_decref(row);
}

static void search(const struct control *c, const struct command *cmd, struct words *words)
{
	const char *typed = command_text(cmd, "words");
	json_t *found = server_settings_search(typed ? typed : "", LISTED), *row;
	size_t i;

	json_array_foreach(found, i, row)
	{
		tell_one(c, cmd->guild, row, words);
	}
	if (!json_array_size(found))
		tell_unknown(typed, words);
	json_decref(found);
}

/* ---- changing ---- */

static json_t *undo_button(const struct settings_request *r)
{
	struct words label = {0};
	char action[COMPONENT_ACTION];

	words_speak(&label, locale_of(r));
	words_settings_undo(&label);
	snprintf(action, sizeof action, UNDO "%" PRIu64, r->version);
	return component_row(
		json_pack("[o]", component_button(action, r->user, env_wall_ms(r->c->env),
						  COMPONENT_PLAIN, label.text)));
}

static void tell_effect(const struct settings_request *r, struct words *words)
{
	switch (live_settings_when(r->c->live, r->guild, r->name)) {
	case SETTINGS_NOW:
	case SETTINGS_SENT:
		words_settings_now(words);
		break;
	case SETTINGS_NEXT:
		words_settings_next(words);
		break;
	case SETTINGS_START:
		words_settings_start(words);
		break;
	}
}

static void take_done(const struct live_settings_done *done, void *arg)
{
	struct settings_request *r = arg;
	char after[SERVER_VALUE_MAX];
	struct words words = {0};

	words_speak(&words, locale_of(r));
	if (done->result == DOCUMENT_CONFLICT) {
		words_settings_conflict(&words);
		finish(r, &words, NULL);
	} else if (done->result != DOCUMENT_SAVED) {
		words_settings_not_saved(&words);
		finish(r, &words, NULL);
	} else if (!*r->name) {
		words_settings_undone(&words);
		finish(r, &words, NULL);
	} else {
		read_present(r->c, r->guild, r->name, after);
		words_settings_changed(&words, r->name, *r->before ? r->before : "—",
				       *after ? after : "—");
		tell_effect(r, &words);
		finish(r, &words, undo_button(r));
	}
}

static void keep_fault(const char *member, const char *text, void *arg)
{
	char *fault = arg;

	(void)member;
	if (!*fault)
		utf8_copy(fault, FAULT, text);
}

static void write_author(char out[AUTHOR], uint64_t user)
{
	snprintf(out, AUTHOR, "discord:%" PRIu64, user);
}

void control_forget_author(struct control *c, uint64_t user)
{
	char author[AUTHOR];

	write_author(author, user);
	live_settings_forget_person(c->live, author, user);
}

/* Hands the intent over, which is stolen. It ends with take_done, or with words now. */
static void put(struct settings_request *r, json_t *intent)
{
	const struct document *d = live_settings_document(r->c->live);
	char author[AUTHOR], now[ISO_TIME_SIZE], fault[FAULT] = "";
	struct document_change change = {
		.version = document_version(d), .author = author, .now = now};
	enum document_result result = DOCUMENT_NO_MEMORY;
	struct words words = {0};

	r->version = change.version + 1;
	if (!change.version)
		change.updated_at = "";
	write_author(author, r->user);
	iso_time_format(now, env_wall_ms(r->c->env));
	if (intent)
		result = live_settings_put(r->c->live, intent, &change, keep_fault, fault,
					   take_done, r);
	json_decref(intent);
	if (result == DOCUMENT_SAVED)
		return;
	words_speak(&words, locale_of(r));
	if (result == DOCUMENT_INVALID)
		words_settings_invalid(&words, fault);
	else if (result == DOCUMENT_CONFLICT)
		words_settings_conflict(&words);
	else
		words_settings_not_saved(&words);
	finish(r, &words, NULL);
}

static struct settings_request *add_request(struct control *c, const struct settings_request *proto)
{
	struct settings_request *r = malloc(sizeof *r);

	if (!r)
		return NULL;
	*r = *proto;
	r->c = c;
	r->next = c->settings_requests;
	c->settings_requests = r;
	return r;
}

/* value NULL: as for everybody. */
static void change(struct control *c, struct command *cmd, const char *name, const json_t *value)
{
	struct settings_request *r = add_request(
		c, &(struct settings_request){.cmd = cmd, .guild = cmd->guild, .user = cmd->user});
	struct words words = {0};

	if (!r) {
		words_speak(&words, cmd->locale);
		words_settings_not_saved(&words);
		command_reply(cmd, &words);
		return;
	}
	utf8_copy(r->name, sizeof r->name, name);
	read_present(c, cmd->guild, name, r->before);
	put(r, server_settings_intent(live_settings_document(c->live), cmd->guild, name, value));
}

/* A session with Discord tells only what it was begun for, so a server may read less than the
 * operator has it read, and not more. */
static bool reads_more(const struct control *c, const char *name, const json_t *value)
{
	const char *to = json_string_value(value);
	bool all = to && strcmp(to, "all") == 0;

	if (!to || strcmp(name, "text_chat") != 0 || strcmp(to, "off") == 0)
		return false;
	return !(c->intents & DISCORD_INTENT_DIRECT_MESSAGES) ||
	       (all && !(c->intents & DISCORD_INTENT_MESSAGE_CONTENT));
}

/* The first id in a list of channels that is none of this server's, as far as they are known; 0:
 * there is none. */
static uint64_t find_foreign(const struct control *c, uint64_t guild, const char *name,
			     const char *list)
{
	uint64_t id;

	if (!list || !settings_is_ids(name) || !strstr(name, "channels") ||
	    settings_ids_fault(list) || !guilds_known(c->guilds, guild))
		return 0;
	while (settings_ids_each(&list, &id))
		if (!guilds_has_channel(c->guilds, guild, id))
			return id;
	return 0;
}

static bool lists_channels(const struct control *c, uint64_t guild, const char *name,
			   const json_t *value, struct words *words)
{
	uint64_t foreign = find_foreign(c, guild, name, json_string_value(value));
	char id[24];

	if (!foreign)
		return true;
	snprintf(id, sizeof id, "%" PRIu64, foreign);
	words_settings_no_channel(words, id);
	return false;
}

static void set(struct control *c, struct command *cmd, struct words *words, bool reset)
{
	const char *name = command_text(cmd, "name"), *text = command_text(cmd, "value");
	json_t *row = name ? server_settings_row(name) : NULL;
	json_t *value = row && text ? server_settings_read(row, text) : NULL;
	const json_t *own = name ? json_object_get(own_settings(c, cmd->guild), name) : NULL;

	if (!row)
		tell_unknown(name, words);
	else if (!reset && !value)
		words_settings_no_value(words);
	else if (reset ? !own : own && json_equal(own, value))
		tell_one(c, cmd->guild, row, words); /* it is so already */
	else if (!reset && reads_more(c, name, value))
		words_settings_invalid(words, "a server may read less than whoever runs me has set "
					      "for all servers, not more");
	else if ((reset || lists_channels(c, cmd->guild, name, value, words)) &&
		 control_may_ask(c, cmd, words))
		change(c, cmd, name, reset ? NULL : value);
	json_decref(value);
	json_decref(row);
}

void control_answer_settings(struct control *c, struct command *cmd)
{
	const char *what = command_subcommand(cmd);
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (may_set(c, cmd->guild, cmd->user, cmd->member, &words)) {
		if (strcmp(what, "show") == 0)
			show(c, cmd, &words);
		else if (strcmp(what, "search") == 0)
			search(c, cmd, &words);
		else
			set(c, cmd, &words, strcmp(what, "reset") == 0);
	}
	if (words.n)
		command_reply(cmd, &words);
}

bool control_press_settings(struct control *c, struct press *p)
{
	struct words words = {0};
	struct settings_request *r;
	uint64_t version = 0; /* of none */
	unsigned changed;
	json_t *intent;

	if (strncmp(p->action, UNDO, sizeof UNDO - 1) != 0)
		return false;
	words_speak(&words, p->locale);
	if (!may_set(c, p->guild, p->user, p->member, &words)) {
		press_update(p, &words, NULL);
		return true;
	}
	discord_u64(p->action + sizeof UNDO - 1, &version);
	intent = server_settings_undo(live_settings_document(c->live), p->guild, version, &changed);
	if (!changed) {
		words_settings_conflict(&words);
		press_update(p, &words, NULL);
		json_decref(intent);
		return true;
	}
	press_defer(p);
	r = add_request(c,
			&(struct settings_request){.press = p, .guild = p->guild, .user = p->user});
	if (r) {
		put(r, intent);
		return true;
	}
	json_decref(intent);
	words_settings_not_saved(&words);
	press_finish(p, &words, NULL, NULL);
	return true;
}

/* ---- suggestions ---- */

static void suggest_names(json_t *list, const char *typed)
{
	json_t *found = server_settings_search(typed, SUGGESTED), *row;
	size_t i;

	json_array_foreach(found, i, row)
	{
		const char *name = text_at(row, "name");

		json_array_append_new(list, json_pack("{s:s,s:s}", "name", name, "value", name));
	}
	json_decref(found);
}

static void suggest_values(json_t *list, const struct typing *t)
{
	json_t *row = t->named ? server_settings_row(t->named) : NULL;
	json_t *values = row ? server_settings_values(row, t->text) : NULL, *v;
	size_t i;

	json_array_foreach(values, i, v)
	{
		if (json_array_size(list) < SUGGESTED)
			json_array_append_new(list, json_pack("{s:O,s:O}", "name", v, "value", v));
	}
	json_decref(values);
	json_decref(row);
}

void control_type_settings(struct control *c, const struct typing *t, uint32_t id)
{
	struct words words = {0};
	json_t *list = json_array();

	if (may_set(c, t->guild, t->user, t->member, &words)) {
		if (strcmp(t->option, "value") == 0)
			suggest_values(list, t);
		else
			suggest_names(list, t->text);
	}
	components_suggest(c->components, id, list);
}

void control_publish_setting(const char *name, enum settings_when when, const char *author,
			     void *arg)
{
	struct control *c = arg;
	struct bus_event ev = {.type = EVENT_SETTING_CHANGED, .at_ms = env_wall_ms(c->env)};

	ev.setting =
		(struct event_setting){.name = name,
				       .author = author ? author : "operator",
				       .source = author ? "settings document" : "settings file",
				       .effect = when == SETTINGS_NOW	 ? "immediately"
						 : when == SETTINGS_NEXT ? "on the next call"
									 : "after a restart"};
	bus_publish(c->bus, &ev);
}
