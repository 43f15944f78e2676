#include "tests/guildd/voice_session.h"

#include "tests/guildd/certs.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/voice_fault.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_MESSAGE = 1 << 20 }; /* a commit that adds a thousand members */

static void vconn_free(struct vconn *c)
{
	gd_vec_remove(&c->v->conns, c);
	if (c->s)
		vsession_lost(c->s);
	tmr_free(c->deadline);
	ws_free(c->ws);
	free(c);
}

/* "Voice Close Event Codes": after these ends a client may resume; the others take the session
 * along. */
static bool resumable(uint16_t code)
{
	return code < 4000 || code == 4001 || code == 4002 || code == 4015;
}

void vconn_close(struct vconn *c, uint16_t code, const char *reason)
{
	struct vsession *s = c->s;

	if (c->closing)
		return;
	log_info("voice_close", "user=%" PRIu64 " code=%u reason=\"%s\"", c->user, code, reason);
	gd_count(c->v->g, c->user, "voice_close_%u", code);
	c->closing = true;
	tmr_stop(c->deadline);
	if (s && resumable(code))
		vsession_lost(s);
	else if (s)
		vsession_end(s, 0, NULL);
	c->s = NULL;
	ws_close(c->ws, code, reason);
}

/* Nothing came in time: no Identify, or no heartbeat. Both are 4009, and the session is over. */
static void deadline(void *arg)
{
	struct vconn *c = arg;

	if (c->s)
		vsession_end(c->s, 4009, "Session timed out.");
	else
		vconn_close(c, 4009, "Session timed out.");
}

void vconn_beat(struct vconn *c)
{
	const struct gd_switches *sw = &c->v->g->sw;

	if (c->s)
		tmr_start(c->deadline,
			  ((uint64_t)sw->voice_heartbeat_ms + sw->voice_grace_ms) * NS_PER_MS);
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct vconn *c = arg;

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		break;
	case WS_TEXT:
		if (!c->closing)
			vconn_message(c, data, len);
		break;
	case WS_BINARY:
		if (!c->closing && !c->v->g->sw.voice_silent)
			gd_dave_binary(c->v->g->dave, c, data, len);
		break;
	case WS_CLOSED:
		log_info("voice_closed", "user=%" PRIu64 " code=%u", c->user, code);
		/* A client that says goodbye is gone; any other end can be resumed. */
		if (c->s && (code == 1000 || code == 1001))
			vsession_end(c->s, 0, NULL);
		vconn_free(c);
		break;
	}
}

/* "/?v=8", also with more parameters; nothing but 8 is spoken here. */
static bool version_8(const char *path)
{
	const char *q = strchr(path, '?');

	while (q) {
		q++;
		if (strncmp(q, "v=8", 3) == 0 && (q[3] == '\0' || q[3] == '&'))
			return true;
		q = strchr(q, '&');
	}
	return false;
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	struct gd_voice *v = arg;
	struct vconn *c = calloc(1, sizeof(*c));

	if (c) {
		c->v = v;
		c->ws = ws;
	}
	if (!c || tmr_alloc(&c->deadline, v->g->env, deadline, c) || gd_vec_add(&v->conns, c)) {
		if (c)
			tmr_free(c->deadline);
		free(c);
		ws_free(ws);
		return;
	}
	ws_set_handler(ws, on_ws, c);
	if (!version_8(path)) {
		vconn_close(c, 4012, "Unknown protocol.");
		return;
	}
	vconn_send(c, 8,
		   json_pack("{s:i, s:I}", "v", 8, "heartbeat_interval",
			     (json_int_t)v->g->sw.voice_heartbeat_ms));
	tmr_start(c->deadline, v->g->sw.voice_identify_ms * NS_PER_MS);
}

int gd_voice_alloc(struct gd_voice **out, struct guildd *g)
{
	struct ws_listen_conf conf = {.host = g->ip,
				      .cert_file = gd_certs_leaf(g->certs),
				      .key_file = gd_certs_key(g->certs),
				      .max_message = MAX_MESSAGE};
	struct gd_voice *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return ENOMEM;
	v->g = g;
	err = ws_listen(&v->server, g->ws, &conf, on_accept, v);
	if (err) {
		free(v);
		return err;
	}
	snprintf(v->endpoint, sizeof(v->endpoint), "%s:%u", g->name, ws_server_port(v->server));
	*out = v;
	return 0;
}

struct gd_voice *gd_voice_free(struct gd_voice *v)
{
	if (!v)
		return NULL;
	vfault_clear(v);
	while (v->sessions.n)
		vsession_free(gd_vec_take(&v->sessions, 0));
	while (v->conns.n)
		vconn_free(gd_vec_take(&v->conns, 0));
	ws_server_free(v->server);
	gd_vec_clear(&v->sessions);
	gd_vec_clear(&v->conns);
	free(v);
	return NULL;
}

const char *gd_voice_endpoint(const struct gd_voice *v)
{
	return v->endpoint;
}

void gd_voice_drop(struct gd_voice *v, uint64_t guild, uint64_t user, uint16_t code,
		   const char *reason)
{
	struct vsession *s = vsession_find(v, guild, user);

	if (s)
		vsession_end(s, code, reason);
}

void gd_voice_sync(struct gd_voice *v, const struct gd_vstate *state)
{
	struct vsession *s = vsession_find(v, state->guild, state->user);
	struct gd_guild *guild = gd_guild_find(v->g->world, state->guild);
	struct gd_member *m = guild ? gd_member_find(guild, state->user) : NULL;

	if (s)
		gd_stream_flags(s->stream, state->self_mute || state->suppress || (m && m->mute),
				state->self_deaf || (m && m->deaf));
}

static bool is_of(const struct vsession *s, uint64_t guild, uint64_t user)
{
	return s->conn && (!user || s->user == user) && (!guild || s->guild == guild);
}

bool gd_voice_close(struct gd_voice *v, uint64_t guild, uint64_t user, uint16_t code,
		    const char *reason)
{
	bool any = false;

	for (size_t i = v->sessions.n; i > 0; i--) {
		struct vsession *s = v->sessions.v[i - 1];

		if (!is_of(s, guild, user))
			continue;
		any = true;
		vconn_close(s->conn, code, reason);
	}
	return any;
}

bool gd_voice_abort(struct gd_voice *v, uint64_t guild, uint64_t user)
{
	bool any = false;

	for (size_t i = v->sessions.n; i > 0; i--) {
		struct vsession *s = v->sessions.v[i - 1];

		if (!is_of(s, guild, user))
			continue;
		any = true;
		s->conn->closing = true;
		ws_abort(s->conn->ws);
	}
	return any;
}

bool gd_voice_forget(struct gd_voice *v, uint64_t user)
{
	bool any = false;

	for (size_t i = v->sessions.n; i > 0; i--) {
		struct vsession *s = v->sessions.v[i - 1];
		struct vconn *c = s->conn;

		if (!c || s->user != user)
			continue;
		any = c->closing = true;
		tmr_stop(c->deadline);
		vsession_lost(s);
		c->s = NULL;
	}
	return any;
}

bool gd_voice_send(struct gd_voice *v, uint64_t user, int op, json_t *d, bool seq)
{
	bool any = false;

	for (size_t i = 0; i < v->sessions.n; i++) {
		struct vsession *s = v->sessions.v[i];

		if (user && s->user != user)
			continue;
		any = true;
		if (seq)
			vsession_send(s, op, json_incref(d));
		else if (s->conn)
			vconn_send(s->conn, op, json_incref(d));
	}
	return any;
}

bool gd_voice_send_raw(struct gd_voice *v, uint64_t user, bool text, const void *data, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < v->sessions.n; i++) {
		struct vsession *s = v->sessions.v[i];

		if (s->user != user || !s->conn || s->conn->closing)
			continue;
		ws_send(s->conn->ws, text, data, n);
		any = true;
	}
	return any;
}

json_t *gd_voice_json(const struct gd_voice *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->sessions.n; i++) {
		const struct vsession *s = v->sessions.v[i];
		json_t *o = json_pack("{s:o, s:o, s:o, s:b, s:b, s:i, s:i, s:i, s:I}", "user_id",
				      gd_id_json(s->user), "guild_id", gd_id_json(s->guild),
				      "channel_id", gd_id_json(s->channel), "connected",
				      s->conn != NULL, "described", s->described, "speaking",
				      s->speaking, "seq", (int)s->seq, "acked", s->acked, "ssrc",
				      (json_int_t)gd_stream_ssrc(s->stream));
		json_t *dave = gd_dave_user_json(v->g->dave, s->channel, s->user);

		if (dave)
			json_object_set_new(o, "dave", dave);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *gd_voice_secrets(const struct gd_voice *v, uint64_t user)
{
	for (size_t i = 0; i < v->sessions.n; i++) {
		const struct vsession *s = v->sessions.v[i];
		char key[2 * GD_KEY + 1];

		if (s->user != user || !s->described)
			continue;
		for (size_t k = 0; k < GD_KEY; k++)
			snprintf(key + 2 * k, 3, "%02x", s->key[k]);
		return json_pack("{s:s, s:s, s:s}", "session_id", s->session, "token", s->token,
				 "secret_key", key);
	}
	return NULL;
}

int gd_voice_fault(struct gd_voice *v, uint64_t user, int op, const char *what, unsigned times,
		   unsigned ms)
{
	return vfault_add(v, user, op, what, times, ms);
}

void gd_voice_reset(struct gd_voice *v)
{
	vfault_clear(v);
}
