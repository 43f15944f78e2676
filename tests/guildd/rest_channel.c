/* REST routes about channels, messages and voice states. */
#include "tests/guildd/rest_inside.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/messages.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"

#include <stdio.h>
#include <string.h>

enum { CONTENT_MAX = 2000, NONCE_MAX = 25, STATUS_MAX = 500 };

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* A question, and one to ten answers. */
static bool poll_fits(const json_t *poll)
{
	const json_t *text = json_object_get(json_object_get(poll, "question"), "text");
	size_t answers = json_array_size(json_object_get(poll, "answers"));

	return json_string_length(text) && answers >= 1 && answers <= 10;
}

bool rest_content_ok(struct rest_call *c, bool may_be_empty)
{
	const json_t *content = json_object_get(c->body, "content"),
		     *embeds = json_object_get(c->body, "embeds"),
		     *stickers = json_object_get(c->body, "sticker_ids"),
		     *poll = json_object_get(c->body, "poll");
	const char *s = json_string_value(content);

	if (!json_is_object(c->body)) {
		rest_bad_field(c, "_errors", "Expected an object");
		return false;
	}
	if (content && !json_is_null(content) && !s) {
		rest_bad_field(c, "content", "Could not convert to string.");
		return false;
	}
	if (s && characters(s) > CONTENT_MAX) {
		rest_bad_field(c, "content", "Must be 2000 or fewer in length.");
		return false;
	}
	if (embeds && !json_is_null(embeds) &&
	    (!json_is_array(embeds) || json_array_size(embeds) > 10)) {
		rest_bad_field(c, "embeds", "Must be 10 or fewer in length.");
		return false;
	}
	if (json_array_size(stickers) > 3 || (poll && !poll_fits(poll))) {
		rest_bad_field(c, poll ? "poll" : "sticker_ids", "Not what this field may hold.");
		return false;
	}
	if (!may_be_empty && (!s || !*s) && !json_array_size(embeds) && !poll &&
	    !json_array_size(stickers) &&
	    !json_array_size(json_object_get(c->body, "components"))) {
		rest_error(c, 400, 50006, "Cannot send an empty message");
		return false;
	}
	return true;
}

void rest_channel(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, 0);

	if (ch)
		rest_ok(c, gd_channel_json(ch));
}

/* As REST tells a message: without what only its creation tells, and without its text where Discord
 * keeps that from the application. Caller owns it. */
static json_t *message_shown(const struct rest_call *c, const json_t *message)
{
	json_t *o = c->bot->privileged & GD_INTENT_CONTENT
			    ? json_copy((json_t *)(uintptr_t)message)
			    : gd_message_for(message, c->bot->user->id);

	json_object_del(o, "nonce");
	json_object_del(o, "guild_id");
	json_object_del(o, "member");
	return o;
}

struct window {
	uint64_t before, after, around;
	size_t most;
};

/* False: answered with an error. */
static bool read_window(struct rest_call *c, struct window *w)
{
	static const char *const names[] = {"before", "after", "around"};
	const char *limit = httpd_query(c->http, "limit");
	uint64_t *ids[] = {&w->before, &w->after, &w->around};
	unsigned given = 0;

	*w = (struct window){.most = limit ? strtoul(limit, NULL, 10) : 50};
	for (unsigned i = 0; i < 3; i++) {
		const char *id = httpd_query(c->http, names[i]);

		*ids[i] = id ? strtoull(id, NULL, 10) : 0;
		given += id != NULL;
		if (id && !*ids[i]) {
			rest_bad_field(c, names[i], "Value is not snowflake.");
			return false;
		}
	}
	if (given > 1) {
		rest_bad_field(c, "before", "before, after and around exclude each other.");
		return false;
	}
	if (w->most < 1 || w->most > 100) {
		rest_bad_field(c, "limit", "int value should be between 1 and 100.");
		return false;
	}
	return true;
}

/* The place behind the newest of the messages that the window has: with `after` they are those that
 * follow it, with `around` half of them are older. */
static size_t window_end(const struct gd_channel *ch, const struct window *w)
{
	uint64_t at = w->before ? w->before : w->after ? w->after + 1 : w->around;
	size_t i = 0;

	while (at && i < ch->messages.n && gd_id(json_object_get(ch->messages.v[i], "id")) < at)
		i++;
	if (!at)
		return ch->messages.n;
	if (!w->before)
		i += w->after ? w->most : (w->most + 1) / 2;
	return i < ch->messages.n ? i : ch->messages.n;
}

/* "Get Channel Messages": the newest first; without the permission to read the history there are
 * none. */
void rest_messages_get(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, 0);
	struct gd_guild *guild = ch ? gd_guild_find(c->g->world, ch->guild) : NULL;
	struct window w;
	json_t *list;

	if (!ch || !read_window(c, &w))
		return;
	list = json_array();
	if (!guild || gd_permissions(guild, c->bot->user->id, ch) & GD_PERM_HISTORY)
		for (size_t i = window_end(ch, &w); i > 0 && json_array_size(list) < w.most; i--) {
			const json_t *m = ch->messages.v[i - 1];

			if (w.after && gd_id(json_object_get(m, "id")) <= w.after)
				break;
			json_array_append_new(list, message_shown(c, m));
		}
	rest_ok(c, list);
}

/* With enforce_nonce the same author's message of this nonce, of the last minutes, is given back
 * instead of a second one. */
static json_t *same_nonce(struct rest_call *c, const struct gd_channel *ch)
{
	const json_t *nonce = json_object_get(c->body, "nonce");
	uint64_t since = env_wall_ms(c->g->env) - c->g->sw.nonce_ms;

	if (!nonce || !json_is_true(json_object_get(c->body, "enforce_nonce")))
		return NULL;
	for (size_t i = 0; i < ch->messages.n; i++) {
		json_t *m = ch->messages.v[i];

		if (json_equal(json_object_get(m, "nonce"), nonce) &&
		    gd_id_ms(gd_id(json_object_get(m, "id"))) >= since &&
		    gd_id(json_object_get(json_object_get(m, "author"), "id")) == c->bot->user->id)
			return m;
	}
	return NULL;
}

/* False: answered. A locked thread takes messages of moderators alone; one that is archived, too,
 * is not opened again for others. */
static bool is_open(struct rest_call *c, const struct gd_channel *ch, uint64_t have)
{
	const char *content = json_string_value(json_object_get(c->body, "content"));
	const char *word = c->g->sw.automod;

	if (ch->closed)
		rest_error(c, 403, 50007, "Cannot send messages to this user");
	else if (ch->locked && ch->archived && !(have & GD_PERM_MANAGE_THREADS))
		rest_error(c, 400, 50083, "Thread is archived");
	else if (ch->locked && !(have & GD_PERM_MANAGE_THREADS))
		rest_error(c, 403, 160005, "Thread is locked");
	else if (*word && content && strstr(content, word))
		rest_error(c, 400, 200000, "Message was blocked by automatic moderation");
	else
		return true;
	return false;
}

/* A reply needs the permission to read the history, a file that to attach one. */
static bool may_post(struct rest_call *c, const struct gd_channel *ch)
{
	struct gd_guild *guild = gd_guild_find(c->g->world, ch->guild);
	uint64_t have = guild ? gd_permissions(guild, c->bot->user->id, ch) : GD_PERM_ALL;

	if (!is_open(c, ch, have))
		return false;
	if (json_array_size(json_object_get(c->body, "attachments")) && !(have & GD_PERM_ATTACH)) {
		rest_error(c, 403, 50013, "Missing Permissions");
		return false;
	}
	if (json_object_get(c->body, "message_reference") && !(have & GD_PERM_HISTORY)) {
		rest_error(c, 400, 160002,
			   "Cannot reply without permission to read message history");
		return false;
	}
	return true;
}

void rest_messages_post(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, GD_PERM_SEND);
	const json_t *nonce = json_object_get(c->body, "nonce"), *reference;
	const char *content;
	json_t *m;
	bool reply;

	if (!ch || !rest_content_ok(c, false))
		return;
	if (nonce && !json_is_integer(nonce) &&
	    (!json_is_string(nonce) || json_string_length(nonce) > NONCE_MAX)) {
		rest_bad_field(c, "nonce", "Must be 25 or fewer in length.");
		return;
	}
	if (!may_post(c, ch))
		return;
	m = same_nonce(c, ch);
	if (m) {
		rest_ok(c, json_incref(m));
		return;
	}
	reference = json_object_get(c->body, "message_reference");
	reply = reference &&
		gd_message_find(ch, gd_id(json_object_get(reference, "message_id")), NULL);
	if (reference && !reply &&
	    !json_is_false(json_object_get(reference, "fail_if_not_exists"))) {
		rest_bad_field(c, "message_reference", "Unknown message");
		return;
	}
	content = json_string_value(json_object_get(c->body, "content"));
	if (gd_message_post(c->g, ch, c->bot->user, content ? content : "", reply ? 19 : 0,
			    (uint32_t)json_integer_value(json_object_get(c->body, "flags")),
			    c->body, &m))
		rest_error(c, 500, 0, "500: Internal Server Error");
	else
		rest_ok(c, m);
}

static json_t *message_of(struct rest_call *c, struct gd_channel **ch, size_t *at, bool own)
{
	json_t *m;

	*ch = rest_channel_of(c, 0);
	if (!*ch)
		return NULL;
	m = gd_message_find(*ch, c->id[1], at);
	if (!m) {
		rest_error(c, 404, 10008, "Unknown Message");
	} else if (own &&
		   gd_id(json_object_get(json_object_get(m, "author"), "id")) != c->bot->user->id) {
		rest_error(c, 403, 50005, "Cannot edit a message authored by another user");
		return NULL;
	}
	return m;
}

void rest_message_get(struct rest_call *c)
{
	struct gd_channel *ch;
	json_t *m = message_of(c, &ch, NULL, false);

	if (m)
		rest_ok(c, message_shown(c, m));
}

void rest_message_patch(struct rest_call *c)
{
	struct gd_channel *ch;
	json_t *m = message_of(c, &ch, NULL, true);

	if (!m || !rest_content_ok(c, true))
		return;
	if (ch->archived) {
		rest_error(c, 400, 50083, "Thread is archived");
		return;
	}
	if (json_is_string(json_object_get(c->body, "content")))
		json_object_set(m, "content", json_object_get(c->body, "content"));
	if (json_is_array(json_object_get(c->body, "components")))
		json_object_set(m, "components", json_object_get(c->body, "components"));
	json_object_set_new(m, "edited_timestamp", gd_time_json(env_wall_ms(c->g->env)));
	gd_gateway_message(c->g, "MESSAGE_UPDATE", m);
	rest_ok(c, json_incref(m));
}

/* Those of others with the permission to manage messages. */
void rest_message_delete(struct rest_call *c)
{
	struct gd_channel *ch;
	size_t at;
	json_t *m = message_of(c, &ch, &at, false);

	if (!m)
		return;
	if (gd_id(json_object_get(json_object_get(m, "author"), "id")) != c->bot->user->id &&
	    !rest_channel_of(c, GD_PERM_MESSAGES))
		return;
	gd_message_delete(c->g, ch, at);
	rest_empty(c);
}

/* "Bulk Delete Messages": 2 to 100, not older than two weeks, which none here is. */
void rest_messages_bulk_delete(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, GD_PERM_MESSAGES);
	const json_t *list = json_object_get(c->body, "messages"), *id;
	size_t i;

	if (!ch)
		return;
	if (json_array_size(list) < 2 || json_array_size(list) > 100) {
		rest_bad_field(c, "messages", "Must be between 2 and 100 in length.");
		return;
	}
	json_array_foreach(list, i, id)
	{
		if (!gd_id(id)) {
			rest_bad_field(c, "messages", "Value is not snowflake.");
			return;
		}
	}
	gd_messages_delete(c->g, ch, list);
	rest_empty(c);
}

/* "Create Reaction": only unicode emoji here. */
void rest_reaction_put(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, GD_PERM_REACT);
	json_t *m = ch ? gd_message_find(ch, c->id[1], NULL) : NULL;

	if (!ch)
		return;
	if (!m) {
		rest_error(c, 404, 10008, "Unknown Message");
		return;
	}
	if (strcmp(c->cap[2], c->g->sw.unknown_emoji) == 0) {
		rest_error(c, 400, 10014, "Unknown Emoji");
		return;
	}
	gd_reaction_add(c->g, ch, m, c->bot->user, c->cap[2]);
	rest_empty(c);
}

void rest_typing(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, GD_PERM_SEND);

	if (!ch)
		return;
	gd_gateway_about(c->g, ch, GD_INTENT_MESSAGE_TYPING, "TYPING_START",
			 json_pack("{s:o, s:o, s:I}", "channel_id", gd_id_json(ch->id), "user_id",
				   gd_id_json(c->bot->user->id), "timestamp",
				   (json_int_t)(env_wall_ms(c->g->env) / 1000)));
	gd_count(c->g, c->bot->user->id, "typing");
	rest_empty(c);
}

void rest_voice_status(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, GD_PERM_STATUS);
	const json_t *status = json_object_get(c->body, "status");
	const char *s = json_is_null(status) ? "" : json_string_value(status);

	if (!ch)
		return;
	if (ch->type != GD_CHANNEL_VOICE) {
		rest_error(c, 400, 50024, "Cannot execute action on this channel type");
		return;
	}
	if (!s || characters(s) > STATUS_MAX || strlen(s) >= sizeof(ch->status)) {
		rest_bad_field(c, "status", "Must be 500 or fewer in length.");
		return;
	}
	snprintf(ch->status, sizeof(ch->status), "%s", s);
	gd_gateway_event(c->g, ch->guild, GD_INTENT_GUILDS, "VOICE_CHANNEL_STATUS_UPDATE",
			 json_pack("{s:o, s:o, s:s}", "id", gd_id_json(ch->id), "guild_id",
				   gd_id_json(ch->guild), "status", ch->status));
	rest_empty(c);
}

void rest_voice_state_get(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);
	struct gd_vstate *v;

	if (!guild)
		return;
	v = gd_vstate_find(guild, strcmp(c->cap[1], "@me") == 0 ? c->bot->user->id : c->id[1]);
	if (v)
		rest_ok(c, gd_vstate_json(guild, v, false, true));
	else
		rest_error(c, 404, 10065, "Unknown Voice State");
}

/* "Modify Current User Voice State": on a stage, to become a speaker (MUTE_MEMBERS) or to ask for
 * it. */
void rest_voice_state_patch(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);
	const json_t *suppress = json_object_get(c->body, "suppress");
	const json_t *channel = json_object_get(c->body, "channel_id");
	struct gd_channel *ch;
	struct gd_vstate *v;

	if (!guild)
		return;
	v = gd_vstate_find(guild, c->bot->user->id);
	if (!v || (channel && gd_id(channel) != v->channel)) {
		rest_error(c, 404, 10065, "Unknown Voice State");
		return;
	}
	ch = gd_channel_find(c->g->world, v->channel);
	if (ch->type != GD_CHANNEL_STAGE) {
		rest_error(c, 400, 50024, "Cannot execute action on this channel type");
		return;
	}
	if (json_is_false(suppress) && !(gd_permissions(guild, v->user, ch) & GD_PERM_MUTE)) {
		rest_error(c, 403, 50013, "Missing Permissions");
		return;
	}
	if (json_is_boolean(suppress))
		v->suppress = json_is_true(suppress);
	if (json_is_string(json_object_get(c->body, "request_to_speak_timestamp")))
		v->requested_ms = env_wall_ms(c->g->env);
	else if (json_is_null(json_object_get(c->body, "request_to_speak_timestamp")))
		v->requested_ms = 0;
	gd_call_changed(c->g, v);
	rest_empty(c);
}
