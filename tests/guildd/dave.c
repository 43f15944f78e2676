#include "tests/guildd/dave.h"

#include "tests/guildd/golive.h"
#include "tests/guildd/voice_session.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"

#include <inttypes.h>

enum { TAIL_MIN = 12 }; /* tag 8, nonce 1, size 1, FA FA */

struct room {
	struct gd_dave *d;
	struct gd_group *group;
	struct tmr *tmr;
};

struct gd_dave {
	struct guildd *g;
	struct gd_vec rooms;
};

static struct room *find(const struct gd_dave *d, uint64_t channel)
{
	for (size_t i = 0; i < d->rooms.n; i++) {
		struct room *r = d->rooms.v[i];

		if (gd_group_channel(r->group) == channel)
			return r;
	}
	return NULL;
}

static struct vsession *session_of(const struct room *r, uint64_t user)
{
	const struct gd_vec *all = &r->d->g->voice->sessions;

	for (size_t i = 0; i < all->n; i++) {
		struct vsession *s = all->v[i];

		if (s->user == user && s->channel == gd_group_channel(r->group))
			return s;
	}
	return NULL;
}

static void send_binary(void *arg, uint64_t user, uint8_t op, struct slice payload)
{
	struct room *r = arg;
	struct vsession *s = session_of(r, user);

	if (!s)
		return;
	gd_count(r->d->g, user, "dave_sent_%u", op);
	vsession_send_binary(s, op, payload);
}

static void send_json(void *arg, uint64_t user, int op, unsigned version, unsigned n)
{
	struct room *r = arg;
	struct vsession *s = session_of(r, user);
	json_t *d;

	if (!s)
		return;
	gd_count(r->d->g, user, "dave_sent_%d", op);
	if (op == 22)
		d = json_pack("{s:i}", "transition_id", (int)n);
	else if (op == 21)
		d = json_pack("{s:i, s:i}", "protocol_version", (int)version, "transition_id",
			      (int)n);
	else
		d = json_pack("{s:i, s:i, s:i}", "transition_id", 0, "epoch", (int)n,
			      "protocol_version", (int)version);
	vsession_send(s, op, d);
}

static void count(void *arg, uint64_t user, const char *what)
{
	struct room *r = arg;

	log_info("dave", "channel=%" PRIu64 " user=%" PRIu64 " what=%s", gd_group_channel(r->group),
		 user, what);
	gd_count(r->d->g, user, "%s", what);
}

static const struct gd_group_h handler = {send_binary, send_json, count};

static struct room *room_free(struct room *r)
{
	if (!r)
		return NULL;
	gd_vec_remove(&r->d->rooms, r);
	gd_group_free(r->group);
	tmr_free(r->tmr);
	free(r);
	return NULL;
}

/* After each step: an empty channel is forgotten, else time is kept. */
static void settle(struct room *r)
{
	uint64_t due = gd_group_due(r->group);

	if (gd_group_empty(r->group))
		room_free(r);
	else if (due == UINT64_MAX)
		tmr_stop(r->tmr);
	else
		tmr_start_at(r->tmr, due);
}

static void due(void *arg)
{
	struct room *r = arg;

	gd_group_tick(r->group, env_now(r->d->g->env));
	settle(r);
}

static struct room *room_of(struct gd_dave *d, uint64_t channel)
{
	struct room *r = find(d, channel);

	if (r || !gd_dave_spoken(d->g, channel))
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->d = d;
	if (gd_group_alloc(&r->group, channel, &d->g->sw, &handler, r) ||
	    tmr_alloc(&r->tmr, d->g->env, due, r) || gd_vec_add(&d->rooms, r))
		return room_free(r);
	return r;
}

int gd_dave_alloc(struct gd_dave **out, struct guildd *g)
{
	struct gd_dave *d = calloc(1, sizeof(*d));

	if (!d)
		return ENOMEM;
	d->g = g;
	*out = d;
	return 0;
}

struct gd_dave *gd_dave_free(struct gd_dave *d)
{
	if (!d)
		return NULL;
	while (d->rooms.n)
		room_free(gd_vec_take(&d->rooms, d->rooms.n - 1));
	gd_vec_clear(&d->rooms);
	free(d);
	return NULL;
}

bool gd_dave_spoken(const struct guildd *g, uint64_t channel)
{
	const struct gd_golive *stream = gd_golive_of_channel(g, channel);
	const struct gd_channel *c =
		gd_channel_find(g->world, stream ? gd_golive_parent(stream) : channel);

	return g->sw.dave_version && c && c->type != GD_CHANNEL_STAGE;
}

unsigned gd_dave_version(struct gd_dave *d, const struct vsession *s)
{
	const struct room *r = room_of(d, s->channel);

	return r ? gd_group_version(r->group, s->max_dave) : 0;
}

void gd_dave_described(struct gd_dave *d, const struct vsession *s)
{
	struct room *r = find(d, s->channel);

	if (!r)
		return;
	if (gd_group_join(r->group, s->user, s->max_dave, env_now(d->g->env)))
		log_warn("dave_join", "user=%" PRIu64 " error=\"out of memory\"", s->user);
	settle(r);
}

void gd_dave_left(struct gd_dave *d, uint64_t channel, uint64_t user)
{
	struct room *r = find(d, channel);

	if (!r)
		return;
	gd_group_leave(r->group, user, env_now(d->g->env));
	settle(r);
}

void gd_dave_binary(struct gd_dave *d, struct vconn *c, const uint8_t *data, size_t len)
{
	struct slice payload = {data + 1, len ? len - 1 : 0};
	struct room *r = c->s ? find(d, c->s->channel) : NULL;
	uint64_t now = env_now(d->g->env);
	int err;

	if (!c->s || !c->s->max_dave || !len) {
		vconn_close(c, c->s ? 4002 : 4003,
			    c->s ? "Failed to decode payload." : "Not authenticated.");
		return;
	}
	gd_count(d->g, c->user, "voice_op_%u", data[0]);
	if (data[0] != 26 && data[0] != 28) {
		vconn_close(c, 4001, "Unknown opcode.");
		return;
	}
	if (!r) {
		gd_count(d->g, c->user, "dave_unasked");
		return;
	}
	err = data[0] == 26 ? gd_group_key_package(r->group, c->user, payload, now)
			    : gd_group_commit(r->group, c->user, payload, now);
	settle(r);
	if (err)
		vconn_close(c, 4020, "Bad request.");
}

void gd_dave_ready(struct gd_dave *d, const struct vsession *s, uint16_t transition)
{
	struct room *r = find(d, s->channel);

	if (!r)
		return;
	gd_group_ready(r->group, s->user, transition, env_now(d->g->env));
	settle(r);
}

void gd_dave_invalid(struct gd_dave *d, struct vsession *s, uint16_t transition)
{
	struct room *r = find(d, s->channel);

	if (!r)
		return;
	if (d->g->sw.dave_op31_close) {
		vsession_end(s, 4006, "Session is no longer valid.");
		return;
	}
	gd_group_invalid(r->group, s->user, transition, env_now(d->g->env));
	settle(r);
}

enum gd_seal gd_dave_seal(const struct gd_dave *d, uint64_t channel, uint64_t user)
{
	const struct room *r = find(d, channel);

	return r ? gd_group_seal(r->group, user, env_now(d->g->env)) : GD_SEAL_NONE;
}

bool gd_dave_sealed(struct slice frame)
{
	const uint8_t *end = frame.p + frame.n;

	return frame.n >= TAIL_MIN && end[-1] == 0xfa && end[-2] == 0xfa && end[-3] >= TAIL_MIN &&
	       end[-3] <= frame.n;
}

int gd_dave_fault(struct gd_dave *d, uint64_t channel, const char *what, uint64_t value)
{
	struct room *r = find(d, channel);
	int err = 0;

	if (!r)
		return ENOENT;
	if (strcmp(what, "new_sender") == 0)
		err = gd_group_new_sender(r->group);
	else if (strcmp(what, "stale_proposal") == 0)
		gd_group_stale_proposal(r->group);
	else if (strcmp(what, "reinit") == 0)
		gd_group_reinit(r->group, env_now(d->g->env));
	else if (strcmp(what, "next_transition") == 0)
		gd_group_next_transition(r->group, (uint16_t)value);
	else if (strcmp(what, "clear") == 0)
		gd_group_clear(r->group, value != 0, env_now(d->g->env));
	else
		err = EINVAL;
	settle(r);
	return err;
}

json_t *gd_dave_json(const struct gd_dave *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->rooms.n; i++)
		json_array_append_new(list,
				      gd_group_json(((const struct room *)d->rooms.v[i])->group));
	return list;
}

json_t *gd_dave_channel_json(const struct gd_dave *d, uint64_t channel)
{
	const struct room *r = find(d, channel);

	return r ? gd_group_json(r->group) : NULL;
}

json_t *gd_dave_user_json(const struct gd_dave *d, uint64_t channel, uint64_t user)
{
	const struct room *r = find(d, channel);

	return r ? gd_group_user_json(r->group, user) : NULL;
}
