/* What the voice gateway does with each message of a client. */
#include "tests/guildd/voice_session.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/golive.h"
#include "tests/guildd/history.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/voice_video.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

/* Opcodes that a client may send. OP(number, name, needs a session) */
#define CLIENT_OPS(OP)                                                                             \
	OP(0, identify, false)                                                                     \
	OP(1, select_protocol, true)                                                               \
	OP(3, heartbeat, false)                                                                    \
	OP(5, speaking, true)                                                                      \
	OP(7, resume, false)                                                                       \
	OP(12, video, true)                                                                        \
	OP(14, session_update, true)                                                               \
	OP(15, sink_wants, true)                                                                   \
	OP(16, backend_version, true)                                                              \
	OP(23, transition_ready, true)                                                             \
	OP(31, invalid_commit_welcome, true)

static void decode_error(struct vconn *c)
{
	vconn_close(c, 4002, "Failed to decode payload.");
}

static json_t *modes_json(const struct guildd *g)
{
	json_t *list = json_array();
	char copy[GD_SWITCH_STR], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", g->sw.modes);
	for (char *m = strtok_r(copy, ", ", &save); m; m = strtok_r(NULL, ", ", &save))
		json_array_append_new(list, json_string(m));
	return list;
}

static bool offered(const struct guildd *g, const char *mode)
{
	json_t *list = modes_json(g);
	bool found = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		found = found || strcmp(json_string_value(json_array_get(list, i)), mode) == 0;
	json_decref(list);
	return found;
}

/* Ops 11, 18 and 20: the newcomer hears of those who are there, they of the newcomer. */
static void introduce(struct vsession *s)
{
	json_t *there = json_array(), *me;
	struct gd_voice *v = s->v;

	for (size_t i = 0; i < v->sessions.n; i++) {
		struct vsession *o = v->sessions.v[i];

		if (o != s && o->channel == s->channel)
			json_array_append_new(there, gd_id_json(o->user));
	}
	if (json_array_size(there))
		vsession_send(s, 11, json_pack("{s:O}", "user_ids", there));
	for (size_t i = 0; i < json_array_size(there); i++) {
		json_t *id = json_array_get(there, i);

		vsession_send(s, 18, json_pack("{s:O, s:n}", "user_id", id, "flags"));
		vsession_send(s, 20, json_pack("{s:O, s:i}", "user_id", id, "platform", 0));
	}
	json_decref(there);

	me = json_pack("{s:[o]}", "user_ids", gd_id_json(s->user));
	vsession_tell_others(s, 11, me);
	json_decref(me);
	me = json_pack("{s:o, s:n}", "user_id", gd_id_json(s->user), "flags");
	vsession_tell_others(s, 18, me);
	json_decref(me);
	me = json_pack("{s:o, s:i}", "user_id", gd_id_json(s->user), "platform", 0);
	vsession_tell_others(s, 20, me);
	json_decref(me);
}

/* The lease that this Identify names, or NULL after closing with the right code. */
static struct gd_vstate *lease_of(struct vconn *c, uint64_t guild, uint64_t user,
				  const char *session, const char *token)
{
	struct guildd *g = c->v->g;
	struct gd_guild *gg = gd_guild_find(g->world, guild);
	const struct gd_golive *stream = gg ? NULL : gd_golive_of_server(g, guild);
	struct gd_vstate *v = gg       ? gd_vstate_find(gg, user)
			      : stream ? gd_golive_lease(stream, user)
				       : NULL;

	if (!gg && !stream) {
		vconn_close(c, 4011, "Server not found.");
	} else if (!v || strcmp(v->session, session) != 0) {
		vconn_close(c, 4006, "Session is no longer valid.");
	} else if (strcmp(v->token, token) != 0) {
		vconn_close(c, 4004, "Authentication failed.");
	} else if (v->used) {
		/* The pair is a lease for one Identify; this is where reconnect loops on a stale
		 * one end. */
		gd_count(g, user, "voice_reused_lease");
		vconn_close(c, 4006, "Session is no longer valid.");
	} else {
		return v;
	}
	return NULL;
}

static void on_identify(struct vconn *c, const json_t *d)
{
	struct guildd *g = c->v->g;
	uint64_t guild = gd_id(json_object_get(d, "server_id")),
		 user = gd_id(json_object_get(d, "user_id"));
	const char *session = json_string_value(json_object_get(d, "session_id"));
	const char *token = json_string_value(json_object_get(d, "token"));
	const json_t *dave = json_object_get(d, "max_dave_protocol_version");
	struct gd_vstate *lease;
	struct vsession *s, *old;

	if (!guild || !user || !session || !token || (dave && !json_is_integer(dave))) {
		decode_error(c);
		return;
	}
	if (c->s) {
		vconn_close(c, 4005, "Already authenticated.");
		return;
	}
	lease = lease_of(c, guild, user, session, token);
	if (!lease)
		return;
	lease->used = true;
	c->user = user;
	if (g->sw.dave_required && gd_dave_spoken(g, lease->channel) &&
	    json_integer_value(dave) < 1) {
		vconn_close(c, 4017, "E2EE/DAVE protocol required.");
		return;
	}
	if (g->sw.voice_refuse) {
		vconn_close(c, (uint16_t)g->sw.voice_refuse, "Asked for.");
		return;
	}
	old = vsession_find(c->v, guild, user);
	if (old)
		vsession_end(old, 4006, "Session is no longer valid.");
	if (vsession_alloc(&s, c->v, lease)) {
		vconn_close(c, 4015, "Out of memory.");
		return;
	}
	c->s = s;
	s->conn = c;
	s->max_dave = json_integer_value(dave) > 0;
	gd_count(g, user, "voice_identified");
	gd_voice_sync(c->v, lease);
	vconn_beat(c);
	log_info("voice_identify", "user=%" PRIu64 " channel=%" PRIu64 " ssrc=%u", user, s->channel,
		 gd_stream_ssrc(s->stream));
	vvideo_identify(s, d);
	vsession_send(s, 2,
		      json_pack("{s:I, s:s, s:i, s:o, s:[], s:o}", "ssrc",
				(json_int_t)gd_stream_ssrc(s->stream), "ip", g->ip, "port",
				(int)gd_relay_port(g->relay), "modes", modes_json(g), "experiments",
				"streams", vvideo_streams(s)));
	introduce(s);
}

static void tell_speakers(struct vsession *s)
{
	for (size_t i = 0; i < s->v->sessions.n; i++) {
		struct vsession *o = s->v->sessions.v[i];

		if (o == s || o->channel != s->channel || !gd_stream_announced(o->stream))
			continue;
		vsession_send(s, 5,
			      json_pack("{s:o, s:I, s:i}", "user_id", gd_id_json(o->user), "ssrc",
					(json_int_t)gd_stream_ssrc(o->stream), "speaking",
					o->speaking));
	}
}

/* As a hostile server would: many new groups keep a client's keys busy while it reads on. */
static void execute_clear(struct vsession *s)
{
	json_t *epoch = json_pack("{s:i, s:i}", "epoch", 1, "protocol_version", 1);

	vsession_send(s, 24, json_incref(epoch));
	vsession_send(s, 21, json_pack("{s:i, s:i}", "transition_id", 8, "protocol_version", 0));
	vsession_send(s, 22, json_pack("{s:i}", "transition_id", 8));
	for (unsigned i = 0; i < 120; i++)
		vsession_send(s, 24, json_incref(epoch));
	json_decref(epoch);
}

static void on_select_protocol(struct vconn *c, const json_t *d)
{
	const json_t *data = json_object_get(d, "data");
	const char *protocol = json_string_value(json_object_get(d, "protocol"));
	const char *address = json_string_value(json_object_get(data, "address"));
	const char *mode = json_string_value(json_object_get(data, "mode"));
	const json_t *port = json_object_get(data, "port");
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct guildd *g = c->v->g;
	uint8_t key[GD_KEY], id[16];
	json_t *list = json_array();
	char media[33];

	if (!protocol || !mode || !address || !json_is_integer(port) ||
	    json_integer_value(port) < 1 || json_integer_value(port) > 65535 ||
	    inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    vvideo_select(c->s, json_object_get(d, "codecs"))) {
		decode_error(c);
		goto out;
	}
	if (strcmp(protocol, "udp") != 0) {
		vconn_close(c, 4012, "Unknown protocol.");
		goto out;
	}
	if (!offered(g, mode) || gd_mode_parse(mode) == GD_MODE_NONE) {
		vconn_close(c, 4016, "Unknown encryption mode.");
		goto out;
	}
	to.sin_port = htons((uint16_t)json_integer_value(port));
	env_random(g->env, key, sizeof(key));
	env_random(g->env, id, sizeof(id));
	if (gd_stream_select(c->s->stream, gd_mode_parse(mode), key, &to)) {
		vconn_close(c, 4015, "Out of memory.");
		goto out;
	}
	for (size_t i = 0; i < sizeof(key); i++)
		json_array_append_new(list, json_integer(key[i]));
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(media + 2 * i, 3, "%02x", id[i]);
	if (g->sw.dave_clear_first)
		execute_clear(c->s);
	vsession_send(c->s, 4,
		      json_pack("{s:s, s:O, s:i, s:s, s:s?, s:s}", "mode", mode, "secret_key", list,
				"dave_protocol_version", (int)gd_dave_version(g->dave, c->s),
				"audio_codec", "opus", "video_codec", vvideo_codec(c->s),
				"media_session_id", media));
	c->s->described = true;
	memcpy(c->s->key, key, sizeof(key));
	gd_history_add(g->history, "voice_up", c->s->user, c->s->channel);
	gd_dave_described(g->dave, c->s);
	vvideo_described(c->s);
	if (g->sw.announce_speakers)
		tell_speakers(c->s);
out:
	json_decref(list);
}

static void on_heartbeat(struct vconn *c, const json_t *d)
{
	const json_t *t = json_object_get(d, "t"), *ack = json_object_get(d, "seq_ack");

	/* Version 8: {t, seq_ack}, the latter -1 or left out when nothing was received. */
	if (!json_is_integer(t) || (ack && !json_is_null(ack) && !json_is_integer(ack))) {
		decode_error(c);
		return;
	}
	if (c->s && json_is_integer(ack) && json_integer_value(ack) >= 0 &&
	    (int16_t)(c->s->seq - (uint16_t)json_integer_value(ack)) < 0)
		gd_count(c->v->g, c->s->user, "voice_bad_seq_ack");
	if (c->s)
		c->s->acked = json_is_integer(ack) ? (int)json_integer_value(ack) : -1;
	vconn_beat(c);
	vconn_send(c, 6, json_pack("{s:O}", "t", t));
}

/* Too many op 5 in ten seconds is 4021. */
static bool speaking_too_often(struct vsession *s)
{
	uint64_t now = env_now(s->v->g->env), window = GD_SPEAKING_WINDOW_S * 1000 * NS_PER_MS;
	unsigned size = sizeof(s->speaking_at) / sizeof(s->speaking_at[0]);
	unsigned recent = 0, kept = s->n_speaking < size ? s->n_speaking : size;

	s->speaking_at[s->n_speaking++ % size] = now;
	for (unsigned i = 0; i < kept; i++)
		recent += now - s->speaking_at[(s->n_speaking - 2 - i) % size] < window;
	return recent + 1 > s->v->g->sw.speaking_limit;
}

static void on_speaking(struct vconn *c, const json_t *d)
{
	const json_t *speaking = json_object_get(d, "speaking"), *ssrc = json_object_get(d, "ssrc");
	struct vsession *s = c->s;
	json_t *told;

	if (!json_is_integer(speaking) || !json_is_integer(json_object_get(d, "delay")) ||
	    !json_is_integer(ssrc) || json_integer_value(speaking) < 0 ||
	    json_integer_value(speaking) > 7) {
		decode_error(c);
		return;
	}
	if (json_integer_value(ssrc) != gd_stream_ssrc(s->stream)) {
		vsession_end(s, 4006, "Invalid SSRC.");
		return;
	}
	if (speaking_too_often(s)) {
		gd_count(s->v->g, s->user, "voice_rate_limited");
		vsession_end(s, 4021, "Rate limited.");
		return;
	}
	s->speaking = (int)json_integer_value(speaking);
	gd_stream_announce(s->stream);
	told = json_pack("{s:o, s:I, s:i}", "user_id", gd_id_json(s->user), "ssrc",
			 (json_int_t)gd_stream_ssrc(s->stream), "speaking", s->speaking);
	vsession_tell_others(s, 5, told);
	json_decref(told);
}

static void on_resume(struct vconn *c, const json_t *d)
{
	uint64_t guild = gd_id(json_object_get(d, "server_id"));
	const char *session = json_string_value(json_object_get(d, "session_id"));
	const char *token = json_string_value(json_object_get(d, "token"));
	const json_t *ack = json_object_get(d, "seq_ack");
	struct vsession *s = NULL;
	int seq;

	if (!guild || !session || !token || !json_is_integer(ack) || json_integer_value(ack) < -1 ||
	    json_integer_value(ack) > 65535) {
		decode_error(c);
		return;
	}
	if (c->s) {
		vconn_close(c, 4005, "Already authenticated.");
		return;
	}
	for (size_t i = 0; i < c->v->sessions.n && !s; i++) {
		struct vsession *o = c->v->sessions.v[i];

		if (o->guild == guild && strcmp(o->session, session) == 0 &&
		    strcmp(o->token, token) == 0)
			s = o;
	}
	seq = (int)json_integer_value(ack);
	if (!s || !vsession_replay(s, seq, false)) {
		vconn_close(c, 4006, "Session is no longer valid.");
		return;
	}
	if (s->conn) {
		/* The old connection is dead to its client, whatever TCP thinks. */
		s->conn->s = NULL;
		vconn_close(s->conn, 4006, "Session is no longer valid.");
	}
	tmr_stop(s->expiry);
	s->conn = c;
	c->s = s;
	c->user = s->user;
	gd_count(c->v->g, s->user, "voice_resumed");
	gd_history_add(c->v->g->history, "voice_up", s->user, s->channel);
	vconn_beat(c);
	if (c->v->g->sw.replay_first)
		vsession_replay(s, seq, true);
	vconn_send(c, 9, json_null());
	if (!c->v->g->sw.replay_first)
		vsession_replay(s, seq, true);
}

static void on_video(struct vconn *c, const json_t *d)
{
	int err = vvideo_told(c->s, d);

	if (err == EPERM)
		vsession_end(c->s, 4006, "Invalid SSRC.");
	else if (err)
		decode_error(c);
}

static void on_session_update(struct vconn *c, const json_t *d)
{
	(void)d;
	vsession_send(c->s, 14, json_pack("{s:s}", "audio_codec", "opus"));
}

static void on_sink_wants(struct vconn *c, const json_t *d)
{
	/* Of sound everything is sent. */
	if (vvideo_wanted(c->s, d))
		decode_error(c);
}

static void on_backend_version(struct vconn *c, const json_t *d)
{
	(void)d;
	vconn_send(c, 16, json_pack("{s:s, s:s}", "voice", "guildd", "rtc_worker", "guildd"));
}

/* The transition id of ops 23 and 31; -1 after closing. */
static int transition_of(struct vconn *c, const json_t *d)
{
	const json_t *id = json_object_get(d, "transition_id");

	if (json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) <= 65535)
		return (int)json_integer_value(id);
	decode_error(c);
	return -1;
}

static void on_transition_ready(struct vconn *c, const json_t *d)
{
	int id = transition_of(c, d);

	if (id >= 0)
		gd_dave_ready(c->v->g->dave, c->s, (uint16_t)id);
}

static void on_invalid_commit_welcome(struct vconn *c, const json_t *d)
{
	int id = transition_of(c, d);

	if (id >= 0)
		gd_dave_invalid(c->v->g->dave, c->s, (uint16_t)id);
}

void vconn_message(struct vconn *c, const uint8_t *data, size_t len)
{
	static const struct {
		int op;
		bool session;
		void (*h)(struct vconn *, const json_t *);
	} table[] = {
#define X(num, name, session) {num, session, on_##name},
		CLIENT_OPS(X)
#undef X
	};
	json_t *o = json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *op = json_object_get(o, "op"), *d = json_object_get(o, "d");
	uint64_t user = c->user, guild;

	if (!json_is_integer(op)) {
		decode_error(c);
		goto out;
	}
	gd_count(c->v->g, user, "voice_op_%d", (int)json_integer_value(op));
	guild = c->s ? c->s->guild : gd_id(json_object_get(d, "server_id"));
	if (guild)
		gd_count(c->v->g, guild, "voice_op_%d", (int)json_integer_value(op));
	if (c->v->g->sw.voice_silent)
		goto out;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].op != json_integer_value(op))
			continue;
		if (table[i].session && !c->s)
			vconn_close(c, 4003, "Not authenticated.");
		else
			table[i].h(c, d);
		goto out;
	}
	vconn_close(c, 4001, "Unknown opcode.");
out:
	json_decref(o);
}
