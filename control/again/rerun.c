#include "control/again/rerun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/inside.h"
#include "control/room/journal.h"
#include "proto/base/time.h"

/* As near as what began at the same time is, ns. */
enum { NEAR_MS = 2000 };
#define NOBODY 0xffffffffu

struct run {
	struct rerun *out;
	const struct rerun_conf *conf;
	const struct rerun *base;
	struct settings *settings;
	char name[64];
	struct room *room;
	bool changed; /* the settings, since they were read last */
	struct room_effects fx;
};

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* ---- numbers ---- */

static uint32_t utterance_now(const struct run *r, uint32_t was)
{
	const struct rerun_start *then = NULL;
	uint64_t near = NEAR_MS * NS_PER_MS;
	uint32_t id = NOBODY;

	for (size_t i = 0; i < r->base->n_starts && !then; i++)
		if (r->base->start[i].utterance == was)
			then = &r->base->start[i];
	for (size_t i = 0; then && i < r->out->n_starts; i++) {
		const struct rerun_start *s = &r->out->start[i];

		if (s->user == then->user && apart(s->at, then->at) < near) {
			near = apart(s->at, then->at);
			id = s->utterance;
		}
	}
	return id;
}

static uint32_t turn_now(const struct run *r, uint32_t was)
{
	const struct room_turn *then = NULL;
	uint64_t near = NEAR_MS * NS_PER_MS;
	uint32_t id = NOBODY;

	for (size_t i = 0; i < r->base->n_turns && !then; i++)
		if (r->base->turn[i].id == was)
			then = &r->base->turn[i];
	for (unsigned i = 0; then && i < ROOM_TURNS; i++) {
		const struct room_turn *t = &r->room->turns.turn[i];

		if (t->phase != ROOM_PHASE_FREE && t->user == then->user &&
		    apart(t->born_at, then->born_at) < near) {
			near = apart(t->born_at, then->born_at);
			id = t->id;
		}
	}
	return id;
}

const struct room_turn *rerun_same(const struct rerun *r, const struct room_turn *turn)
{
	const struct room_turn *found = NULL;
	uint64_t near = NEAR_MS * NS_PER_MS;

	for (size_t i = 0; i < r->n_turns; i++)
		if (r->turn[i].user == turn->user &&
		    apart(r->turn[i].born_at, turn->born_at) < near) {
			near = apart(r->turn[i].born_at, turn->born_at);
			found = &r->turn[i];
		}
	return found;
}

/* ---- steps ---- */

static int keep(void **list, size_t *n, size_t max, size_t size, const void *one)
{
	/* Grows at every power of two. */
	if (*n == max)
		return EBADMSG;
	if ((*n & (*n - 1)) == 0) {
		void *grown = realloc(*list, (*n ? 2 * *n : 1) * size);

		if (!grown)
			return ENOMEM;
		*list = grown;
	}
	memcpy((char *)*list + (*n)++ * size, one, size);
	return 0;
}

static int saw(struct run *r, const struct room_effect *e, uint64_t now)
{
	struct rerun *out = r->out;
	struct rerun_start start = {.user = e->user, .at = now, .utterance = e->utterance};

	if (e->type == ROOM_DO_ASR_START)
		return keep((void **)&out->start, &out->n_starts, RERUN_UTTERANCES, sizeof start,
			    &start);
	if (e->type == ROOM_DO_RECORD)
		return keep((void **)&out->turn, &out->n_turns, RERUN_TURNS, sizeof *out->turn,
			    e->record);
	return 0;
}

static int step(struct run *r, const struct room_journal_record *rec)
{
	struct room_event ev = rec->event;
	int err = 0;

	if (!r->room) {
		err = room_alloc(&r->room, r->settings, *r->name ? r->name : "Parley");
		r->out->began_at = rec->now;
	}
	if (err)
		return err;
	if (r->base && ev.utterance)
		ev.utterance = utterance_now(r, ev.utterance);
	if (r->base && ev.turn)
		ev.turn = turn_now(r, ev.turn);
	room_step(r->room, &ev, rec->now, &r->fx);
	r->out->steps++;
	r->out->ended_at = rec->now;
	r->out->sum = room_journal_sum(r->out->sum, &r->fx);
	for (size_t i = 0; i < r->fx.n && !err; i++)
		err = saw(r, &r->fx.v[i], rec->now);
	return err;
}

static int set(struct run *r, const struct room_journal_record *rec)
{
	char name[64], value[8192];

	if (rec->text.n >= sizeof name || rec->value.n >= sizeof value)
		return EBADMSG;
	memcpy(name, rec->text.p, rec->text.n);
	name[rec->text.n] = '\0';
	memcpy(value, rec->value.p, rec->value.n);
	value[rec->value.n] = '\0';
	/* A setting that is no more, or whose range is another now, is what it can be. */
	settings_set(r->settings, name, value);
	return 0;
}

static int take(struct run *r, const struct room_journal_record *rec)
{
	switch (rec->what) {
	case ROOM_JOURNAL_NAME:
		if (rec->text.n >= sizeof r->name)
			return EBADMSG;
		memcpy(r->name, rec->text.p, rec->text.n);
		return 0;
	case ROOM_JOURNAL_SETTING:
		return set(r, rec);
	case ROOM_JOURNAL_EVENT:
		return step(r, rec);
	case ROOM_JOURNAL_SUM:
		r->out->whole = true;
		r->out->said_steps = rec->steps;
		r->out->said_sum = rec->sum;
		return 0;
	}
	return EBADMSG;
}

static bool is_over(const struct run *r, const struct room_journal_record *rec)
{
	const struct rerun_conf *c = r->conf;

	return rec->what == ROOM_JOURNAL_EVENT &&
	       ((c->turn && rerun_turn(r->out, c->turn)) || (c->until && rec->now > c->until));
}

/* The settings of the journal are those of the rerun, but for the change. */
static int change_settings(struct run *r, const struct room_journal_record *rec)
{
	if (rec->what == ROOM_JOURNAL_SETTING)
		r->changed = false;
	if (rec->what != ROOM_JOURNAL_EVENT || r->changed || !r->conf->change)
		return 0;
	r->changed = true;
	return r->conf->change(r->settings, r->conf->arg);
}

static int run_records(struct run *r)
{
	static const char first[] = ROOM_JOURNAL_FIRST;
	const size_t head = sizeof first - 1;
	struct room_journal_record rec;
	struct rd in;
	int err = 0;

	if (r->conf->n < head || memcmp(r->conf->data, first, head) != 0)
		return EBADMSG;
	in = rd_of((const uint8_t *)r->conf->data + head, r->conf->n - head);
	while (!err && (err = room_journal_read(&in, &rec)) == 0) {
		if (is_over(r, &rec))
			return 0;
		err = change_settings(r, &rec);
		if (!err)
			err = take(r, &rec);
	}
	return err == ENODATA ? 0 : err;
}

int rerun_bytes(struct rerun *out, const struct rerun_conf *conf)
{
	struct run *r = calloc(1, sizeof *r);
	int err;

	*out = (struct rerun){0};
	if (!r)
		return ENOMEM;
	r->out = out;
	r->conf = conf;
	r->base = conf->base;
	err = settings_alloc(&r->settings);
	if (!err)
		err = run_records(r);
	room_free(r->room);
	settings_free(r->settings);
	free(r);
	if (err)
		rerun_clear(out);
	return err;
}

const struct room_turn *rerun_turn(const struct rerun *r, uint32_t turn)
{
	for (size_t i = r->n_turns; i-- > 0;)
		if (r->turn[i].id == turn)
			return &r->turn[i];
	return NULL;
}

const struct room_decision *rerun_decision(const struct room_turn *turn, enum room_rule rule)
{
	const struct room_decision *d = NULL;

	for (unsigned i = 0; i < turn->decisions && i < ROOM_CHAIN; i++)
		if (turn->decision[i].rule == rule)
			d = &turn->decision[i];
	return d;
}

bool rerun_is_same(const struct room_turn *was, const struct room_turn *is)
{
	for (unsigned k = 0; k < ROOM_RULE_COUNT; k++) {
		const struct room_decision *a = rerun_decision(was, (enum room_rule)k),
					   *b = rerun_decision(is, (enum room_rule)k);

		if (!a != !b || (a && b && a->yes != b->yes))
			return false;
	}
	return was->reason == is->reason;
}

void rerun_clear(struct rerun *r)
{
	free(r->turn);
	free(r->start);
	*r = (struct rerun){0};
}
