/* What the main gateway does with each message of a bot. */
#include "tests/guildd/gateway_session.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/golive.h"
#include "tests/guildd/history.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <inttypes.h>
#include <stdio.h>

/* Opcodes that a bot may send. OP(number, name, needs a session) */
#define CLIENT_OPS(OP)                                                                             \
	OP(1, heartbeat, false)                                                                    \
	OP(2, identify, false)                                                                     \
	OP(3, presence, true)                                                                      \
	OP(4, voice_state, true)                                                                   \
	OP(6, resume, false)                                                                       \
	OP(8, request_members, true)                                                               \
	OP(18, stream_create, true)                                                                \
	OP(19, stream_delete, true)                                                                \
	OP(20, stream_watch, true)                                                                 \
	OP(21, stream_ping, true)                                                                  \
	OP(22, stream_set_paused, true)                                                            \
	OP(31, request_sounds, true)

static void decode_error(struct gconn *c)
{
	gconn_close(c, 4002, "Error while decoding payload.");
}

static void on_heartbeat(struct gconn *c, const json_t *d)
{
	if (!json_is_null(d) && !json_is_integer(d)) {
		decode_error(c);
		return;
	}
	gconn_beat(c);
	gconn_send(c, 11, json_null());
}

static void ready(struct gsession *s)
{
	struct guildd *g = s->gw->g;
	json_t *guilds = json_array(), *app = gd_application_json(s->bot, NULL), *d;

	for (size_t i = 0; i < g->world->guilds.n; i++) {
		const struct gd_guild *gg = g->world->guilds.v[i];

		if (gd_member_find(gg, s->bot->user->id))
			json_array_append_new(guilds,
					      json_pack("{s:o, s:b}", "id", gd_id_json(gg->id),
							"unavailable", 1));
	}
	d = json_pack("{s:i, s:o, s:O, s:s, s:s, s:s, s:[i,i], s:{s:o, s:O}, s:[], s:[]}", "v", 10,
		      "user", gd_user_json(s->bot->user), "guilds", guilds, "session_id", s->id,
		      "session_type", "normal", "resume_gateway_url", gd_gateway_url(s->gw),
		      "shard", 0, 1, "application", "id", gd_id_json(s->bot->user->id), "flags",
		      json_object_get(app, "flags"), "private_channels", "presences");
	if (d)
		gsession_dispatch(s, "READY", d);
	json_decref(d);
	json_decref(app);
	json_decref(guilds);
	for (size_t i = 0; i < g->world->guilds.n; i++) {
		const struct gd_guild *gg = g->world->guilds.v[i];

		if (gd_member_find(gg, s->bot->user->id))
			gd_gateway_guild(g, s->bot->user->id, gg);
	}
}

/* Intents: 4013 for what is none, 4014 for privileged ones that were not enabled. */
static bool intents_ok(struct gconn *c, const struct gd_bot *bot, const json_t *v)
{
	json_int_t intents = json_integer_value(v);

	if (!json_is_integer(v) || intents < 0 || intents & ~(json_int_t)GD_INTENTS_ALL) {
		gconn_close(c, 4013, "Invalid intent(s).");
		return false;
	}
	if ((uint64_t)intents & GD_INTENTS_PRIVILEGED & ~bot->privileged) {
		gconn_close(c, 4014, "Disallowed intent(s).");
		return false;
	}
	return true;
}

static bool shard_ok(const json_t *v)
{
	return !v || (json_array_size(v) == 2 && json_is_integer(json_array_get(v, 0)) &&
		      json_integer_value(json_array_get(v, 0)) == 0 &&
		      json_integer_value(json_array_get(v, 1)) == 1);
}

/* At most one Identify in identify_gap_ms, else "invalid session". */
static bool too_soon(struct gd_gateway *gw)
{
	uint64_t now = env_now(gw->g->env);
	bool soon =
		gw->identifies && now - gw->last_identify < gw->g->sw.identify_gap_ms * NS_PER_MS;

	if (!soon)
		gw->last_identify = now;
	gw->identifies++;
	return soon;
}

/* The gateway takes the token with and without the prefix of REST. */
static struct gd_bot *bot_of(const struct gconn *c, const char *token)
{
	return gd_bot_by_token(c->gw->g->world, strncmp(token, "Bot ", 4) == 0 ? token + 4 : token);
}

static void on_identify(struct gconn *c, const json_t *d)
{
	const char *token = json_string_value(json_object_get(d, "token"));
	const json_t *p = json_object_get(d, "properties");
	struct gd_bot *bot;
	struct gsession *s, *old;

	if (!token || !json_is_string(json_object_get(p, "os")) ||
	    !json_is_string(json_object_get(p, "browser")) ||
	    !json_is_string(json_object_get(p, "device"))) {
		decode_error(c);
		return;
	}
	if (c->s) {
		gconn_close(c, 4005, "Already authenticated.");
		return;
	}
	bot = bot_of(c, token);
	if (!bot) {
		gconn_close(c, 4004, "Authentication failed.");
		return;
	}
	if (!shard_ok(json_object_get(d, "shard"))) {
		gconn_close(c, 4010, "Invalid shard.");
		return;
	}
	if (!intents_ok(c, bot, json_object_get(d, "intents")))
		return;
	if (too_soon(c->gw)) {
		gd_count(c->gw->g, bot->user->id, "main_identify_too_soon");
		gconn_send(c, 9, json_false());
		return;
	}
	old = gsession_find(c->gw, bot->user->id);
	if (old) {
		struct gconn *oc = old->conn;

		gd_count(c->gw->g, bot->user->id, "main_replaced");
		gsession_end(old);
		if (oc)
			gconn_close(oc, 4009, "Session timed out.");
	}
	if (gsession_alloc(&s, c->gw, bot,
			   (uint64_t)json_integer_value(json_object_get(d, "intents")))) {
		gconn_close(c, 4000, "Unknown error.");
		return;
	}
	s->conn = c;
	c->s = s;
	c->user = bot->user->id;
	gd_count(c->gw->g, bot->user->id, "main_identified");
	gd_history_add(c->gw->g->history, "main_up", bot->user->id, 0);
	log_info("main_identify", "user=%" PRIu64 " intents=%" PRIu64 " zlib=%d", bot->user->id,
		 s->intents, c->deflating);
	ready(s);
}

static void on_presence(struct gconn *c, const json_t *d)
{
	if (!json_is_string(json_object_get(d, "status")))
		decode_error(c);
}

static void on_voice_state(struct gconn *c, const json_t *d)
{
	struct guildd *g = c->gw->g;
	const json_t *channel = json_object_get(d, "channel_id"),
		     *mute = json_object_get(d, "self_mute");
	const json_t *deaf = json_object_get(d, "self_deaf");
	struct gd_join_req req = {.guild = gd_id(json_object_get(d, "guild_id")),
				  .user = c->s->bot->user->id,
				  .channel = gd_id(channel),
				  .self_mute = json_is_true(mute),
				  .self_deaf = json_is_true(deaf)};
	struct gd_guild *guild = gd_guild_find(g->world, req.guild);
	struct gd_vstate *v;
	enum gd_join r;

	if (!req.guild || (!req.channel && !json_is_null(channel)) || !json_is_boolean(mute) ||
	    !json_is_boolean(deaf)) {
		decode_error(c);
		return;
	}
	gd_count(g, req.guild, "main_op_4");
	if (g->sw.op4_silent)
		return;
	if (!req.channel) {
		v = guild ? gd_vstate_find(guild, req.user) : NULL;
		if (v)
			gd_call_leave(g, v, 4014);
		return;
	}
	r = gd_call_join(g, &req, NULL);
	if (r != GD_JOIN_OK) /* Discord says nothing at all */
		gd_count(g, req.user, "op4_refused_%d", (int)r);
}

static void on_resume(struct gconn *c, const json_t *d)
{
	const char *token = json_string_value(json_object_get(d, "token"));
	const char *id = json_string_value(json_object_get(d, "session_id"));
	const json_t *seq = json_object_get(d, "seq");
	struct gd_bot *bot;
	struct gsession *s;
	json_t *none;

	if (!token || !id || !json_is_integer(seq)) {
		decode_error(c);
		return;
	}
	if (c->s) {
		gconn_close(c, 4005, "Already authenticated.");
		return;
	}
	bot = bot_of(c, token);
	if (!bot) {
		gconn_close(c, 4004, "Authentication failed.");
		return;
	}
	s = gsession_find(c->gw, bot->user->id);
	if (!s || strcmp(s->id, id) != 0 ||
	    json_integer_value(seq) < s->seq - (json_int_t)s->log.n) {
		gd_count(c->gw->g, bot->user->id, "main_resume_refused");
		gconn_send(c, 9, json_false());
		return;
	}
	if (json_integer_value(seq) > s->seq) {
		gconn_close(c, 4007, "Invalid seq.");
		return;
	}
	if (s->conn) {
		s->conn->s = NULL;
		gconn_close(s->conn, 4009, "Session timed out.");
	}
	tmr_stop(s->expiry);
	s->conn = c;
	c->s = s;
	c->user = bot->user->id;
	gd_count(c->gw->g, bot->user->id, "main_resumed");
	gd_history_add(c->gw->g->history, "main_up", bot->user->id, 0);
	gsession_replay(s, (int)json_integer_value(seq));
	none = json_object();
	gsession_dispatch(s, "RESUMED", none);
	json_decref(none);
}

static bool asked_for(const json_t *d, const struct gd_member *m)
{
	const json_t *ids = json_object_get(d, "user_ids");
	const char *query = json_string_value(json_object_get(d, "query"));
	char id[24];

	if (query)
		return strncmp(m->user->name, query, strlen(query)) == 0;
	snprintf(id, sizeof(id), "%" PRIu64, m->user->id);
	for (size_t i = 0; i < json_array_size(ids); i++) {
		const char *s = json_string_value(json_array_get(ids, i));

		if (s && strcmp(s, id) == 0)
			return true;
	}
	return json_is_string(ids) && strcmp(json_string_value(ids), id) == 0;
}

static void on_request_members(struct gconn *c, const json_t *d)
{
	struct gd_guild *guild =
		gd_guild_find(c->gw->g->world, gd_id(json_object_get(d, "guild_id")));
	json_int_t limit = json_integer_value(json_object_get(d, "limit"));
	json_t *members, *o;

	if (!guild || !gd_member_find(guild, c->s->bot->user->id))
		return;
	/* The whole list needs the members intent. */
	if (json_is_string(json_object_get(d, "query")) && !limit &&
	    !(c->s->intents & GD_INTENT_MEMBERS))
		return;
	members = json_array();
	for (size_t i = 0; i < guild->members.n; i++) {
		const struct gd_member *m = guild->members.v[i];

		if (asked_for(d, m) && (!limit || (json_int_t)json_array_size(members) < limit))
			json_array_append_new(members, gd_member_json(m, true));
	}
	o = json_pack("{s:o, s:o, s:i, s:i}", "guild_id", gd_id_json(guild->id), "members", members,
		      "chunk_index", 0, "chunk_count", 1);
	if (o && json_is_string(json_object_get(d, "nonce")))
		json_object_set(o, "nonce", json_object_get(d, "nonce"));
	if (o)
		gsession_dispatch(c->s, "GUILD_MEMBERS_CHUNK", o);
	json_decref(o);
}

static void on_request_sounds(struct gconn *c, const json_t *d)
{
	const json_t *ids = json_object_get(d, "guild_ids");

	for (size_t i = 0; i < json_array_size(ids); i++) {
		const struct gd_guild *guild =
			gd_guild_find(c->gw->g->world, gd_id(json_array_get(ids, i)));
		json_t *o;

		if (!guild || !gd_member_find(guild, c->s->bot->user->id))
			continue;
		o = json_pack("{s:o, s:o}", "guild_id", gd_id_json(guild->id), "soundboard_sounds",
			      gd_sounds_json(guild));
		if (o)
			gsession_dispatch(c->s, "SOUNDBOARD_SOUNDS", o);
		json_decref(o);
	}
}

/* Streams are of people: false, after closing, for a bot. */
static bool is_person(struct gconn *c)
{
	if (!c->s->bot->user->bot)
		return true;
	gd_count(c->gw->g, c->s->bot->user->id, "main_stream_of_a_bot");
	gconn_close(c, 4001, "Unknown opcode.");
	return false;
}

static void on_stream_create(struct gconn *c, const json_t *d)
{
	const char *type = json_string_value(json_object_get(d, "type"));

	if (!is_person(c))
		return;
	if (!type || (strcmp(type, "guild") != 0 && strcmp(type, "call") != 0)) {
		decode_error(c);
		return;
	}
	gd_golive_create(c->gw->g, c->s->bot->user->id, gd_id(json_object_get(d, "guild_id")),
			 gd_id(json_object_get(d, "channel_id")));
}

/* The key of a message about a stream; NULL after closing. */
static const char *stream_key_of(struct gconn *c, const json_t *d)
{
	const char *key = json_string_value(json_object_get(d, "stream_key"));

	if (!is_person(c))
		return NULL;
	if (!key)
		decode_error(c);
	return key;
}

static void on_stream_delete(struct gconn *c, const json_t *d)
{
	const char *key = stream_key_of(c, d);

	if (key)
		gd_golive_delete(c->gw->g, c->s->bot->user->id, key);
}

static void on_stream_watch(struct gconn *c, const json_t *d)
{
	const char *key = stream_key_of(c, d);

	if (key)
		gd_golive_watch(c->gw->g, c->s->bot->user->id, key);
}

/* Asks whether the stream's server is well; this one is. */
static void on_stream_ping(struct gconn *c, const json_t *d)
{
	(void)stream_key_of(c, d);
}

static void on_stream_set_paused(struct gconn *c, const json_t *d)
{
	const char *key = stream_key_of(c, d);
	const json_t *paused = json_object_get(d, "paused");

	if (!key)
		return;
	if (!json_is_boolean(paused))
		decode_error(c);
	else
		gd_golive_pause(c->gw->g, c->s->bot->user->id, key, json_is_true(paused));
}

/* 120 events a minute, heartbeats too. */
static bool too_many(struct gconn *c)
{
	uint64_t now = env_now(c->gw->g->env);

	if (!c->events || now - c->window_start >= GD_RATE_WINDOW_S * 1000 * NS_PER_MS) {
		c->window_start = now;
		c->events = 0;
	}
	return ++c->events > c->gw->g->sw.event_limit;
}

void gconn_message(struct gconn *c, const uint8_t *data, size_t len)
{
	static const struct {
		int op;
		bool session;
		void (*h)(struct gconn *, const json_t *);
	} table[] = {
#define X(num, name, session) {num, session, on_##name},
		CLIENT_OPS(X)
#undef X
	};
	json_t *o = NULL;
	const json_t *op;

	if (too_many(c)) {
		gconn_close(c, 4008, "Rate limited.");
		return;
	}
	if (len > GD_PAYLOAD_MAX) {
		decode_error(c);
		return;
	}
	o = json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES, NULL);
	op = json_object_get(o, "op");
	if (!json_is_integer(op)) {
		decode_error(c);
		goto out;
	}
	gd_count(c->gw->g, c->user, "main_op_%d", (int)json_integer_value(op));
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].op != json_integer_value(op))
			continue;
		if (table[i].session && !c->s)
			gconn_close(c, 4003, "Not authenticated.");
		else
			table[i].h(c, json_object_get(o, "d"));
		goto out;
	}
	gconn_close(c, 4001, "Unknown opcode.");
out:
	json_decref(o);
}
