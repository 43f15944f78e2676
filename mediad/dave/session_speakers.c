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

/* Present evidence that our keys are right, and budgets, stay. Otherwise many speakers could push
 * them out. */
static bool may_make_room(const struct dave_session *s, const struct dave_heal_speaker *p,
			  uint64_t now)
{
	return !is_heard(s, p, now) && !is_charged(p, now) &&
	       !(p->given_up && dave_session_has_user(s, p->user));
}

/* Returns the entry to be given up: the one without news for longest, but reports of outages are
 * given up last. NULL: there is none. */
static struct dave_heal_speaker *find_room(const struct dave_session *s, uint64_t now)
{
	struct dave_heal_speaker *best = NULL;

	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++) {
		struct dave_heal_speaker *p = &s->conf.heal->speakers[i];
		bool lost = is_recent(p->lost_at, now);

		if (!p->user)
			return p;
		if (!may_make_room(s, p, now))
			continue;
		if (!best || lost < is_recent(best->lost_at, now) ||
		    (lost == is_recent(best->lost_at, now) && p->at < best->at))
			best = p;
	}
	return best;
}

/* Returns NULL when there is no room. */
static struct dave_heal_speaker *note_speaker(struct dave_session *s, uint64_t user, uint64_t now)
{
	struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	if (!p)
		p = find_room(s, now);
	if (!p)
		return NULL;
	if (p->user != user)
		*p = (struct dave_heal_speaker){.user = user};
	p->at = now;
	return p;
}

void dave_speakers_heard(struct dave_session *s, uint64_t now, uint64_t user, uint64_t serial)
{
	struct dave_heal_speaker *p = note_speaker(s, user, now);

	if (!p)
		return;
	p->heard_at = now;
	p->proved = serial > p->proved ? serial : p->proved;
	p->lost_at = 0;
	p->given_up = false;
}

void dave_speakers_lost(struct dave_session *s, uint64_t now, uint64_t user)
{
	struct dave_heal_speaker *p = note_speaker(s, user, now);

	if (p)
		p->lost_at = now;
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
	p->given_up = false;
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

bool dave_speakers_charge(struct dave_session *s, uint64_t now)
{
	struct dave_heal_state *l = s->conf.heal;
	bool allowed = false;

	if (!has_budget(&l->single, &l->single_since, now, DAVE_SINGLE_A_DAY, 24 * 3600))
		return false;
	for (size_t i = 0; i < s->n_undecryptable; i++) {
		struct dave_heal_speaker *p = note_speaker(s, s->undecryptable[i].user, now);

		if (!p || !has_budget(&p->rekeys, &p->rekeys_since, now, DAVE_SINGLE_AN_HOUR, 3600))
			continue;
		p->rekeys++;
		allowed = true;
	}
	l->single += allowed;
	return allowed;
}

void dave_speakers_give_up(struct dave_session *s, uint64_t now, uint64_t user)
{
	struct dave_heal_speaker *p = note_speaker(s, user, now);

	if (p)
		p->given_up = true;
}
