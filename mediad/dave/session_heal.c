#include "mediad/dave/session_inside.h"

#include <stdlib.h>

#include "proto/base/time.h"

/* The ladder: what is done when packets of somebody arrive and do not open.
 *
 *   RECOVER  op 31 and a new key package: the gateway removes us from the group and adds us again
 *   RESUME   only after a RECOVER, and only if the gateway's numbering skipped something: it comes
 * again REJOIN   a new session with fresh credentials
 *
 * A step waits until the one before had its time (cooldown), and longer each time; who was heard
 * again starts at the first step, and after a quiet time without waiting. */

enum { COOLDOWN_FIRST_MS = 10000, COOLDOWN_SECOND_MS = 60000, COOLDOWN_MAX_MS = 3600000 };

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- who is not heard ---- */

/* Index of the user, or where he belongs. */
static size_t place(const struct dave_session *s, uint64_t user)
{
	size_t lo = 0, hi = s->n_deaf;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->deaf[mid].user < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void deafened(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = place(s, user);

	if (i < s->n_deaf && s->deaf[i].user == user) {
		if (now - s->deaf[i].at > 2 * DAVE_EVIDENCE_MS * NS_PER_MS)
			s->deaf[i].since = now;
		s->deaf[i].at = now;
		return;
	}
	if (s->n_deaf == s->cap_deaf) {
		size_t cap = s->cap_deaf ? 2 * s->cap_deaf : 8;
		struct dave_deaf *p =
			cap <= DAVE_USERS_MAX * 2 ? realloc(s->deaf, cap * sizeof *p) : NULL;

		/* He will be told again. */
		if (!p)
			return;
		s->deaf = p;
		s->cap_deaf = cap;
	}
	memmove(s->deaf + i + 1, s->deaf + i, (s->n_deaf++ - i) * sizeof *s->deaf);
	s->deaf[i] = (struct dave_deaf){user, now, now};
}

/* With keys of before one may still be heard that is out of the group. */
static bool outside(const struct dave_session *s)
{
	return s->status.version > 0 && !s->in_group;
}

/* Everybody is heard: the next spell starts at the ladder's foot. */
static void healed(struct dave_session *s, uint64_t now)
{
	if (s->conf.ladder->last == DAVE_HEAL_NONE || outside(s))
		return;
	s->conf.ladder->last = DAVE_HEAL_NONE;
	s->conf.ladder->healed_at = now;
	s->recovered = s->resumed = false;
}

void dave_heal_gone(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = place(s, user);

	if (i == s->n_deaf || s->deaf[i].user != user)
		return;
	memmove(s->deaf + i, s->deaf + i + 1, (--s->n_deaf - i) * sizeof *s->deaf);
	if (!s->n_deaf)
		healed(s, now);
}

/* Nobody adds us again without a key package; but the gateway may be about to make the group anew,
 * and tell us. */
void dave_heal_removed(struct dave_session *s, uint64_t now)
{
	s->epoch_by = DAVE_NEVER;
	s->welcome_by = now + DAVE_JOIN_GRACE_MS * NS_PER_MS;
}

void dave_heal_group(struct dave_session *s, const struct dave_epoch *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_deaf; i++)
		if (dave_epoch_find(e, s->deaf[i].user))
			s->deaf[n++] = s->deaf[i];
	s->n_deaf = n;
}

void dave_heal_proof(struct dave_session *s, uint64_t now)
{
	if (!s->n_deaf)
		healed(s, now);
}

/* How many of n there are left when one goes in each `every_ms`. */
static uint32_t leaked(uint32_t n, uint64_t *at, uint64_t now, uint32_t every_ms)
{
	uint64_t gone = (now - *at) / (every_ms * NS_PER_MS);

	*at += gone * every_ms * NS_PER_MS;
	return gone < n ? n - (uint32_t)gone : 0;
}

/* A quiet time as long as half of the wait makes the wait void; but not again and again, or whoever
 * makes us deaf for a moment at a time could have the group re-keyed without end. */
static void calm(struct dave_session *s, uint64_t now)
{
	struct dave_ladder *l = s->conf.ladder;

	l->steps = leaked(l->steps, &l->steps_at, now, DAVE_STEP_MS);
	if (!s->n_deaf && !outside(s) && l->steps < DAVE_STEPS_MAX && l->last == DAVE_HEAL_NONE &&
	    l->cooldown_ms && now - l->healed_at >= l->cooldown_ms * NS_PER_MS / 2) {
		l->cooldown_ms = 0;
		l->not_before = 0;
	}
}

void dave_session_hears(struct dave_session *s, uint64_t now, uint64_t user, bool hears)
{
	calm(s, now);
	if (hears) {
		dave_heal_gone(s, now, user);
		dave_heal_proof(s, now);
	} else if (s->status.known && s->status.version > 0) {
		deafened(s, now, user);
	}
	dave_heal_timer(s, now);
	dave_session_settle(s, now);
}

/* ---- steps ---- */

static void recover(struct dave_session *s, uint16_t id)
{
	dave_send_text(s, DAVE_OP_INVALID, id);
	s->want_rekey = true;
	s->epoch_by = s->welcome_by = DAVE_NEVER;
}

static void took(struct dave_ladder *l, uint64_t now, enum dave_heal step)
{
	if (l->cooldown_ms == 0)
		l->cooldown_ms = COOLDOWN_FIRST_MS;
	else if (l->cooldown_ms < COOLDOWN_SECOND_MS)
		l->cooldown_ms = COOLDOWN_SECOND_MS;
	else
		l->cooldown_ms = (uint32_t)sooner(2 * (uint64_t)l->cooldown_ms, COOLDOWN_MAX_MS);
	l->not_before = now + l->cooldown_ms * NS_PER_MS;
	l->last = step;
	l->steps++;
}

static void step_recover(struct dave_session *s, uint64_t now)
{
	s->recovered = true;
	s->conf.ladder->recovers++;
	took(s->conf.ladder, now, DAVE_HEAL_RECOVER);
	recover(s, s->last_id);
}

static void step_resume(struct dave_session *s, uint64_t now)
{
	s->resumed = true;
	s->gap = false;
	s->conf.ladder->resumes++;
	took(s->conf.ladder, now, DAVE_HEAL_RESUME);
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_RESUME}, s->conf.arg);
}

static void step_rejoin(struct dave_session *s, uint64_t now)
{
	s->rejoining = true;
	s->conf.ladder->rejoins++;
	took(s->conf.ladder, now, DAVE_HEAL_REJOIN);
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_REJOIN}, s->conf.arg);
}

static void step(struct dave_session *s, uint64_t now)
{
	if (s->lost || s->hopeless)
		step_rejoin(s, now);
	else if (!s->recovered)
		step_recover(s, now);
	else if (s->gap && !s->resumed)
		step_resume(s, now);
	else
		step_rejoin(s, now);
}

/* Each is answered, but not for ever: when the answers do not help either, only another session
 * does, unless an epoch comes after all. */
static void answer(struct dave_session *s, uint64_t now, uint16_t id)
{
	struct dave_ladder *l = s->conf.ladder;

	s->last_id = id;
	s->epoch_by = DAVE_NEVER;
	l->failures = leaked(l->failures, &l->failures_at, now, DAVE_FAILURE_MS);
	if (l->failures >= DAVE_FAILURES_MAX || s->answers == DAVE_ANSWERS_MAX) {
		s->hopeless = true;
		return;
	}
	l->failures++;
	s->answers++;
	recover(s, id);
}

/* ---- when ---- */

static bool endless(const struct dave_deaf *d)
{
	return d->at - d->since >= DAVE_ENDLESS_MS * NS_PER_MS;
}

/* The latest word about a speaker who is not heard though nothing explains it. 0: none. */
static uint64_t evidence(const struct dave_session *s)
{
	uint64_t at = 0;

	for (size_t i = 0; i < s->n_deaf; i++)
		if (s->deaf[i].at > s->changed_at || endless(&s->deaf[i]))
			at = later(at, s->deaf[i].at);
	return at;
}

/* A transition that waits explains deafness for a while. */
static uint64_t pending_until(const struct dave_session *s)
{
	for (size_t i = 0; i < s->n_deaf; i++)
		if (endless(&s->deaf[i]))
			return 0;
	return s->n_pending ? s->pending[s->n_pending - 1].at + DAVE_PENDING_MS * NS_PER_MS : 0;
}

/* When the next step is due, as far as is known now. */
static uint64_t step_at(const struct dave_session *s)
{
	uint64_t not_before = s->conf.ladder->not_before, heard_of, at;

	if (s->rejoining)
		return DAVE_NEVER;
	if (s->lost || (s->hopeless && !s->offline))
		return not_before;
	heard_of = evidence(s);
	if (!heard_of || s->status.version == 0 || s->offline || dave_session_busy(s))
		return DAVE_NEVER;
	at = later(later(heard_of, not_before), later(s->join_until, pending_until(s)));
	return at <= heard_of + DAVE_EVIDENCE_MS * NS_PER_MS ? at : DAVE_NEVER;
}

/* What is under way may bring it. */
static uint64_t epoch_by(const struct dave_session *s)
{
	return s->offline || dave_session_busy(s) ? DAVE_NEVER : s->epoch_by;
}

/* The same; and it is a step of the ladder, so its time must have come. Nobody need have spoken:
 * who is in no group is not heard either. */
static uint64_t welcome_by(const struct dave_session *s)
{
	if (s->welcome_by == DAVE_NEVER || s->offline || s->rejoining || dave_session_busy(s))
		return DAVE_NEVER;
	return later(s->welcome_by, s->conf.ladder->not_before);
}

void dave_heal_timer(struct dave_session *s, uint64_t now)
{
	calm(s, now);
	if (step_at(s) <= now)
		step(s, now);
	if (epoch_by(s) <= now)
		answer(s, now, s->last_id);
	if (welcome_by(s) <= now) {
		s->welcome_by = DAVE_NEVER;
		if (s->n_user > 1)
			step(s, now);
	}
}

uint64_t dave_heal_deadline(const struct dave_session *s)
{
	return sooner(step_at(s), sooner(epoch_by(s), welcome_by(s)));
}

/* ---- messages ---- */

void dave_heal_invalid(struct dave_session *s, uint64_t now, uint16_t id)
{
	s->conf.ladder->invalid++;
	answer(s, now, id);
}

/* The first commit that fits is announced at once, whose ever it is. */
void dave_heal_proposed(struct dave_session *s, uint64_t now, bool refused, bool committed)
{
	uint64_t by = now + (refused ? DAVE_REFUSED_MS : DAVE_ANNOUNCE_MS) * NS_PER_MS;

	s->conf.ladder->invalid += refused;
	s->epoch_by = refused || committed ? sooner(s->epoch_by, by) : DAVE_NEVER;
}

void dave_heal_lost(struct dave_session *s)
{
	s->lost = true;
}

void dave_session_gap(struct dave_session *s, uint64_t now)
{
	s->gap = true;
	dave_session_settle(s, now);
}
