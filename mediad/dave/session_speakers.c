/* Healing's knowledge of single speakers, across sessions of a call: when each was heard, how
 * often keys were requested for them, and whether they were given up. */
#include "mediad/dave/session_internal.h"
#include "proto/base/time.h"

static struct dave_heal_speaker *find_speaker(struct dave_heal_state *l, uint64_t user)
{
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		if (l->speakers[i].user == user)
			return &l->speakers[i];
	return NULL;
}

static bool is_charged(const struct dave_heal_speaker *p, uint64_t now)
{
	return p->rekeys && now - p->rekeys_since < 3600 * NS_PER_S;
}

static bool is_recent(uint64_t at, uint64_t now)
{
	return at && now - at < DAVE_ALONE_MS * NS_PER_MS;
}

/* True if this speaker proves that our keys are right. A decryption with the keys of an earlier
 * epoch does so for a while, because others need not speak in each one. */
static bool is_heard(const struct dave_session *s, const struct dave_heal_speaker *p, uint64_t now)
{
	uint64_t newest = s->n_epochs ? s->epochs[0].epoch->serial : UINT64_MAX;

	return p->heard_at && !p->lost_at && (p->proved == newest || is_recent(p->heard_at, now)) &&
	       dave_session_has_user(s, p->user);
}

/* The order in which entries make room. */
enum room {
	ROOM_SILENT,  /* neither heard nor lost */
	ROOM_LOST,    /* with a report of an outage */
	ROOM_ABSENT,  /* with a budget, of a member who left */
	ROOM_HEARD,   /* evidence that our keys are right, beyond half of the table */
	ROOM_CHARGED, /* with a budget, or given up */
	ROOM_NEVER,
};

static enum room rank_speaker(const struct dave_session *s, const struct dave_heal_speaker *p,
			      unsigned heard, uint64_t now)
{
	bool present = dave_session_has_user(s, p->user);

	if (is_heard(s, p, now))
		return heard > DAVE_HEAL_SPEAKERS / 2 ? ROOM_HEARD : ROOM_NEVER;
	if (is_charged(p, now) || (p->given_up && present))
		return present ? ROOM_CHARGED : ROOM_ABSENT;
	return is_recent(p->lost_at, now) ? ROOM_LOST : ROOM_SILENT;
}

static unsigned count_heard(const struct dave_session *s, uint64_t now)
{
	unsigned n = 0;

	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		n += is_heard(s, &s->conf.heal->speakers[i], now);
	return n;
}

/* Returns a free entry, or the one to be given up: of those that make room first, the one without
 * news for longest. There always is one, so nobody can fill the table at the cost of a newcomer.
 * A budget that is lost this way is still bounded by that of the call (rekey_budget.h). */
static struct dave_heal_speaker *find_room(const struct dave_session *s, uint64_t now)
{
	struct dave_heal_speaker *best = NULL;
	enum room first = ROOM_NEVER;
	unsigned heard = count_heard(s, now);

	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++) {
		struct dave_heal_speaker *p = &s->conf.heal->speakers[i];
		enum room rank;

		if (!p->user)
			return p;
		rank = rank_speaker(s, p, heard, now);
		if (rank < first || (rank == first && best && p->at < best->at)) {
			first = rank;
			best = p;
		}
	}
	return best;
}

static struct dave_heal_speaker *note_speaker(struct dave_session *s, uint64_t user, uint64_t now)
{
	struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	if (!p)
		p = find_room(s, now);
	if (p->user != user)
		*p = (struct dave_heal_speaker){.user = user};
	p->at = now;
	return p;
}

void dave_speakers_heard(struct dave_session *s, uint64_t now, uint64_t user, uint64_t serial)
{
	struct dave_heal_speaker *p = note_speaker(s, user, now);

	p->heard_at = now;
	p->proved = serial > p->proved ? serial : p->proved;
	p->lost_at = 0;
	p->given_up = false;
}

void dave_speakers_lost(struct dave_session *s, uint64_t now, uint64_t user)
{
	note_speaker(s, user, now)->lost_at = now;
}

static void forget_evidence(struct dave_heal_speaker *p)
{
	p->heard_at = p->proved = p->lost_at = 0;
}

void dave_speakers_left(struct dave_session *s, uint64_t user)
{
	struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	if (!p)
		return;
	forget_evidence(p);
	p->given_up = p->asked = false;
}

void dave_speakers_retry(struct dave_session *s)
{
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		s->conf.heal->speakers[i].given_up = false;
}

void dave_speakers_begin(struct dave_session *s)
{
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		forget_evidence(&s->conf.heal->speakers[i]);
	dave_speakers_retry(s);
}

bool dave_session_gave_up(const struct dave_session *s, uint64_t user)
{
	const struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	return user && p && p->given_up;
}

unsigned dave_speakers_given_up(const struct dave_session *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		n += s->conf.heal->speakers[i].given_up &&
		     dave_session_has_user(s, s->conf.heal->speakers[i].user);
	return n;
}

bool dave_speakers_blame_us(const struct dave_session *s, uint64_t now)
{
	unsigned lost = 0, present = 0;

	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++) {
		const struct dave_heal_speaker *p = &s->conf.heal->speakers[i];

		if (is_heard(s, p, now))
			return false;
		if (!is_recent(p->lost_at, now))
			continue;
		lost++;
		present += dave_session_has_user(s, p->user);
	}
	return lost > 1 || s->n_users - 1 <= present;
}

/* True if a count of at most `most` in `period_s` has room, and begins a new period if one is due.
 */
static bool has_budget(uint32_t *n, uint64_t *since, uint64_t now, uint32_t most, uint64_t period_s)
{
	if (!*n || now - *since >= period_s * NS_PER_S) {
		*n = 0;
		*since = now;
	}
	return *n < most;
}

static bool charge(struct dave_session *s, uint64_t now, uint64_t user)
{
	struct dave_heal_speaker *p = note_speaker(s, user, now);

	if (!has_budget(&p->rekeys, &p->rekeys_since, now, DAVE_SINGLE_AN_HOUR, 3600))
		return false;
	p->rekeys++;
	return true;
}

bool dave_speakers_charge_one(struct dave_session *s, uint64_t now, uint64_t user)
{
	struct rekey_budget *budget = &s->conf.heal->rekeys;
	bool allowed = rekey_budget_has_single(budget, now) && charge(s, now, user);

	/* Not for somebody who has left: who comes back is somebody new. */
	note_speaker(s, user, now)->asked = dave_session_has_user(s, user);
	if (allowed)
		rekey_budget_take_single(budget, now);
	return allowed;
}

bool dave_speakers_asked(const struct dave_session *s, uint64_t user)
{
	const struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	return p && p->asked;
}

bool dave_speakers_charge(struct dave_session *s, uint64_t now)
{
	struct rekey_budget *budget = &s->conf.heal->rekeys;
	bool allowed = false;

	if (!rekey_budget_has_single(budget, now))
		return false;
	for (size_t i = 0; i < s->n_undecryptable; i++)
		allowed |= charge(s, now, s->undecryptable[i].user);
	if (allowed)
		rekey_budget_take_single(budget, now);
	return allowed;
}

void dave_speakers_give_up(struct dave_session *s, uint64_t now, uint64_t user)
{
	note_speaker(s, user, now)->given_up = true;
}
