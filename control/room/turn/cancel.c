#include "control/room/turn/cancel.h"

#include <errno.h>
#include <stddef.h>

void room_cancel_init(struct room_cancel *c, const struct room_sinks *sinks)
{
	*c = (struct room_cancel){.sinks = *sinks, .bound = true};
}

static int at(const struct room_cancel *c, uint64_t floor)
{
	for (int i = 0; i < ROOM_FLOORS; i++)
		if (c->armed[i].floor == floor)
			return i;
	return -1;
}

static int entry_of(const struct room_cancel *c, const struct room_token *token)
{
	for (int i = 0; i < ROOM_FLOORS; i++)
		if (c->armed[i].floor && c->armed[i].token == token)
			return i;
	return -1;
}

void room_cancel_release(struct room_cancel *c, const struct room_token *token)
{
	int i = entry_of(c, token);

	if (i >= 0)
		c->armed[i].floor = 0;
}

/* ---- the sinks, in this order ---- */

static int evict(struct room_token *token, enum room_abort reason, void *arg)
{
	(void)reason;
	room_cancel_release(arg, token);
	return 0;
}

static int to_runtime(struct room_token *token, enum room_abort reason, void *arg)
{
	struct room_cancel *c = arg;

	if (!c->sinks.runtime || c->quiet == token->run)
		return 0;
	return c->sinks.runtime(token->run, reason, c->sinks.arg);
}

static int to_slot(struct room_token *token, enum room_abort reason, void *arg)
{
	struct room_cancel *c = arg;

	(void)reason;
	if (!c->sinks.slot || token->slot == ROOM_NO_SLOT)
		return 0;
	return c->sinks.slot(token->slot, c->sinks.arg);
}

static int to_speech(struct room_token *token, enum room_abort reason, void *arg)
{
	struct room_cancel *c = arg;

	(void)reason;
	return c->sinks.speech ? c->sinks.speech(token->run, c->sinks.arg) : 0;
}

/* ---- arming ---- */

int room_cancel_hang(struct room_cancel *c, struct room_token *token)
{
	static room_token_h *const order[] = {evict, to_runtime, to_slot, to_speech};
	uint32_t id[sizeof order / sizeof *order] = {0};
	int err = 0;

	for (size_t i = 0; i < sizeof order / sizeof *order && !err; i++)
		err = room_token_on(token, order[i], c, &id[i]);
	for (size_t i = 0; err && i < sizeof order / sizeof *order; i++)
		room_token_off(token, id[i]);
	return err;
}

int room_cancel_arm(struct room_cancel *c, uint64_t floor, struct room_token *token)
{
	int i, err;

	if (c->disposed)
		return EPIPE;
	if (!floor || room_token_aborted(token))
		return EINVAL;
	for (i = 0; i < ROOM_FLOORS; i++)
		if (c->armed[i].floor && c->armed[i].token->run == token->run)
			return EALREADY;
	room_cancel_abort(c, floor, ROOM_ABORT_EXTERNAL);
	i = at(c, 0);
	if (i < 0)
		return ENOSPC;
	err = token->n ? 0 : room_cancel_hang(c, token);
	if (err)
		return err;
	c->armed[i].floor = floor;
	c->armed[i].token = token;
	return 0;
}

struct room_token *room_cancel_current(const struct room_cancel *c, uint64_t floor)
{
	int i = floor ? at(c, floor) : -1;

	return i < 0 ? NULL : c->armed[i].token;
}

unsigned room_cancel_floors(const struct room_cancel *c, uint64_t *floors, unsigned max)
{
	unsigned n = 0;

	for (int i = 0; i < ROOM_FLOORS; i++) {
		if (!c->armed[i].floor)
			continue;
		if (n < max)
			floors[n] = c->armed[i].floor;
		n++;
	}
	return n;
}

/* ---- aborting ---- */

bool room_cancel_abort(struct room_cancel *c, uint64_t floor, enum room_abort reason)
{
	struct room_token *token = room_cancel_current(c, floor);

	return token && room_token_abort(token, reason);
}

bool room_cancel_revoke_eot(struct room_cancel *c, uint64_t floor)
{
	return room_cancel_abort(c, floor, ROOM_ABORT_EOT_REVOKED);
}

void room_cancel_bind(struct room_cancel *c, bool yes)
{
	c->bound = yes;
}

bool room_cancel_barge_in(struct room_cancel *c, uint64_t floor)
{
	return c->bound && room_cancel_abort(c, floor, ROOM_ABORT_BARGE_IN);
}

unsigned room_cancel_abort_all(struct room_cancel *c, enum room_abort reason)
{
	unsigned n = 0;

	for (int i = 0; i < ROOM_FLOORS; i++)
		if (c->armed[i].floor)
			n += room_token_abort(c->armed[i].token, reason);
	return n;
}

void room_cancel_runtime_ended(struct room_cancel *c, uint32_t run, const char *why)
{
	for (int i = 0; i < ROOM_FLOORS; i++)
		if (c->armed[i].floor && c->armed[i].token->run == run) {
			c->quiet = run;
			room_token_abort(c->armed[i].token, room_abort_of(why));
			c->quiet = 0;
			return;
		}
}

void room_cancel_clear(struct room_cancel *c)
{
	for (int i = 0; i < ROOM_FLOORS; i++)
		c->armed[i].floor = 0;
}

void room_cancel_dispose(struct room_cancel *c)
{
	c->disposed = true;
	room_cancel_abort_all(c, ROOM_ABORT_EXTERNAL);
}
