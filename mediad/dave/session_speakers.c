/* What healing knows about single speakers, across sessions of a call: who is heard, for whom keys
 * were requested, and who was given up. */
#include "mediad/dave/session_internal.h"
#include "proto/base/time.h"

static struct dave_heal_speaker *find_speaker(struct dave_heal_state *l, uint64_t user)
{
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		if (l->speakers[i].user == user)
			return &l->speakers[i];
	return NULL;
}

/* Whoever is heard is evidence, which many others must not push out. */
static bool makes_room_before(const struct dave_heal_speaker *a, const struct dave_heal_speaker *b)
{
	return a->heard == b->heard ? a->at < b->at : b->heard;
}

/* When there is no room, the speaker of whom nothing was noted for longest makes room. */
static struct dave_heal_speaker *note_speaker(struct dave_heal_state *l, uint64_t user,
					      uint64_t now)
{
	struct dave_heal_speaker *p = find_speaker(l, user);

	if (!p) {
		p = &l->speakers[0];
		for (unsigned i = 1; i < DAVE_HEAL_SPEAKERS; i++)
			if (makes_room_before(&l->speakers[i], p))
				p = &l->speakers[i];
		*p = (struct dave_heal_speaker){.user = user};
	}
	p->at = now;
	return p;
}

void dave_speakers_heard(struct dave_session *s, uint64_t now, uint64_t user)
{
	struct dave_heal_speaker *p = note_speaker(s->conf.heal, user, now);

	p->heard = true;
	p->given_up = false;
}

void dave_speakers_not_heard(struct dave_session *s, uint64_t user)
{
	struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	if (p)
		p->heard = false;
}

void dave_speakers_left(struct dave_session *s, uint64_t user)
{
	struct dave_heal_speaker *p = find_speaker(s->conf.heal, user);

	if (p)
		p->heard = p->given_up = false;
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

bool dave_speakers_any_heard(const struct dave_session *s)
{
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		if (s->conf.heal->speakers[i].heard &&
		    dave_session_has_user(s, s->conf.heal->speakers[i].user))
			return true;
	return false;
}

/* Whether a count of at most `most` in `period_s` has room, and begins a new period if one is due.
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
		struct dave_heal_speaker *p = note_speaker(l, s->undecryptable[i].user, now);

		if (!has_budget(&p->rekeys, &p->rekeys_since, now, DAVE_SINGLE_AN_HOUR, 3600))
			continue;
		p->rekeys++;
		allowed = true;
	}
	l->single += allowed;
	return allowed;
}

void dave_speakers_give_up(struct dave_session *s, uint64_t now, uint64_t user)
{
	note_speaker(s->conf.heal, user, now)->given_up = true;
}
