#include "tests/guildd/voice_session.h"

#include "tests/guildd/objects.h"
#include "tests/guildd/history.h"
#include "tests/guildd/voice_fault.h"
#include "tests/guildd/voice_video.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <inttypes.h>

static void send_raw(struct vconn *c, bool text, const void *data, size_t len)
{
	if (!c->closing)
		ws_send(c->ws, text, data, len);
}

void vconn_send(struct vconn *c, int op, json_t *d)
{
	json_t *o = json_pack("{s:i, s:o}", "op", op, "d", d);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (text)
		send_raw(c, true, text, strlen(text));
	free(text);
	json_decref(o);
}

static void keep(struct vsession *s, bool text, const void *data, size_t len)
{
	struct vmessage *m = malloc(sizeof(*m) + len);

	if (!m)
		return;
	m->seq = s->seq;
	m->text = text;
	m->len = len;
	memcpy(m->data, data, len);
	if (s->messages.n == GD_VOICE_BUFFER)
		free(gd_vec_take(&s->messages, 0));
	if (gd_vec_add(&s->messages, m))
		free(m);
}

void vsession_send(struct vsession *s, int op, json_t *d)
{
	struct vfault f = vfault_take(s->v, s->user, op, false);

	if (f.what == VFAULT_DELAY)
		vfault_later(s, f.ms, op, d, (struct slice){0});
	if (f.what == VFAULT_DELAY || f.what == VFAULT_SKIP)
		json_decref(d);
	else
		vsession_number(s, op, d, &f);
}

void vsession_send_binary(struct vsession *s, uint8_t op, struct slice payload)
{
	struct vfault f = vfault_take(s->v, s->user, op, true);

	if (f.what == VFAULT_DELAY)
		vfault_later(s, f.ms, op, NULL, payload);
	else if (f.what != VFAULT_SKIP)
		vsession_number_binary(s, op, payload, &f);
}

static void count_up(struct vsession *s)
{
	s->seq++;
	s->wrapped = s->wrapped || s->seq == 0;
}

/* Sends the message with the number s->seq, unless a fault stands in the way. */
static void transmit(struct vsession *s, bool text, uint8_t *data, size_t len,
		     const struct vfault *f)
{
	keep(s, text, data, len);
	if (!s->conn)
		return;
	if (f->what == VFAULT_HOLD && !s->holding) {
		s->holding = true;
		s->held = s->seq;
		tmr_start(s->hold, f->ms * NS_PER_MS);
	}
	if (s->holding || f->what == VFAULT_LOSE)
		return;
	if (f->what == VFAULT_CORRUPT)
		data[len - 1] ^= 0xff; /* what is kept for a Resume is right */
	send_raw(s->conn, text, data, len);
}

static void hold_over(void *arg)
{
	struct vsession *s = arg;

	s->holding = false;
	for (size_t i = 0; s->conn && i < s->messages.n; i++) {
		const struct vmessage *m = s->messages.v[i];

		if ((int16_t)(m->seq - s->held) >= 0)
			send_raw(s->conn, m->text, m->data, m->len);
	}
}

void vsession_number(struct vsession *s, int op, json_t *d, const struct vfault *f)
{
	json_t *o = json_pack("{s:i, s:o, s:i}", "op", op, "d", d, "seq", (uint16_t)(s->seq + 1));
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (text) {
		count_up(s);
		transmit(s, true, (uint8_t *)text, strlen(text), f);
	}
	free(text);
	json_decref(o);
}

void vsession_number_binary(struct vsession *s, uint8_t op, struct slice payload,
			    const struct vfault *f)
{
	size_t len = 3 + payload.n;
	uint8_t *buf = malloc(len);
	struct wr w = wr_of(buf, buf ? len : 0);

	wr_be(&w, (uint16_t)(s->seq + 1), 2);
	wr_be(&w, op, 1);
	wr_bytes(&w, payload.p, payload.n);
	if (w.ok) {
		count_up(s);
		transmit(s, false, buf, len, f);
	}
	free(buf);
}

void vsession_tell_others(struct vsession *s, int op, json_t *d)
{
	for (size_t i = 0; i < s->v->sessions.n; i++) {
		struct vsession *o = s->v->sessions.v[i];

		if (o != s && o->channel == s->channel)
			vsession_send(o, op, json_incref(d));
	}
}

bool vsession_replay(struct vsession *s, int seq, bool send)
{
	uint16_t next = (uint16_t)(seq + 1);

	/* A client that has nothing yet says -1, or 0 while there was no message of that number. */
	if (seq < 0 || (seq == 0 && !s->wrapped))
		next = s->first;
	if ((uint16_t)(s->seq + 1) == next)
		return true;
	for (size_t i = 0; i < s->messages.n; i++) {
		const struct vmessage *m = s->messages.v[i];

		if (m->seq != next)
			continue;
		for (; send && i < s->messages.n; i++) {
			m = s->messages.v[i];
			send_raw(s->conn, m->text, m->data, m->len);
		}
		return true;
	}
	return false;
}

struct vsession *vsession_find(struct gd_voice *v, uint64_t guild, uint64_t user)
{
	for (size_t i = 0; i < v->sessions.n; i++) {
		struct vsession *s = v->sessions.v[i];

		if (s->guild == guild && s->user == user)
			return s;
	}
	return NULL;
}

static void expired(void *arg)
{
	struct vsession *s = arg;

	gd_count(s->v->g, s->user, "voice_expired");
	vsession_end(s, 0, NULL);
}

/* The relay saw sound of a client that never sent op 5: Discord's "invalid SSRC" disconnect. */
static void unannounced(void *arg)
{
	struct vsession *s = arg;

	gd_count(s->v->g, s->user, "voice_unannounced");
	vsession_end(s, 4006, "Invalid SSRC.");
}

int vsession_alloc(struct vsession **out, struct gd_voice *v, const struct gd_vstate *lease)
{
	struct vsession *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return ENOMEM;
	s->first = (uint16_t)v->g->sw.voice_seq_first;
	s->seq = (uint16_t)(s->first - 1);
	s->acked = -1;
	s->v = v;
	s->guild = lease->guild;
	s->channel = lease->channel;
	s->user = lease->user;
	memcpy(s->session, lease->session, sizeof(s->session));
	memcpy(s->token, lease->token, sizeof(s->token));
	err = tmr_alloc(&s->expiry, v->g->env, expired, s);
	if (!err)
		err = tmr_alloc(&s->hold, v->g->env, hold_over, s);
	if (!err)
		err = gd_stream_alloc(&s->stream, v->g->relay, s->user, s->channel, unannounced, s);
	if (!err)
		err = gd_vec_add(&v->sessions, s);
	if (err) {
		vsession_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct vsession *vsession_free(struct vsession *s)
{
	if (!s)
		return NULL;
	gd_vec_remove(&s->v->sessions, s);
	if (s->conn)
		s->conn->s = NULL;
	gd_stream_free(s->stream);
	vvideo_free(s);
	tmr_free(s->expiry);
	tmr_free(s->hold);
	for (size_t i = 0; i < s->messages.n; i++)
		free(s->messages.v[i]);
	gd_vec_clear(&s->messages);
	free(s);
	return NULL;
}

void vsession_end(struct vsession *s, uint16_t code, const char *reason)
{
	struct vconn *c = s->conn;
	struct gd_dave *dave = s->v->g->dave;
	uint64_t channel = s->channel, user = s->user;
	json_t *d = json_pack("{s:o}", "user_id", gd_id_json(s->user));

	log_info("voice_end", "user=%" PRIu64 " code=%u", s->user, code);
	gd_history_add(s->v->g->history, "voice_down", s->user, s->channel);
	vsession_tell_others(s, 13, d);
	json_decref(d);
	vsession_free(s);
	gd_dave_left(dave, channel, user);
	if (c && code)
		vconn_close(c, code, reason);
}

void vsession_lost(struct vsession *s)
{
	gd_history_add(s->v->g->history, "voice_lost", s->user, s->channel);
	s->conn = NULL;
	s->holding = false;
	tmr_stop(s->hold);
	tmr_start(s->expiry, s->v->g->sw.voice_resume_ms * NS_PER_MS);
}
