#include "control/music/policy.h"

enum rule { LISTEN, ADD, OWN, SKIP, PRESENT, ALL };

static const enum rule rules[] = {
#define A(ACT, RULE) [MUSIC_ACT_##ACT] = RULE,
	MUSIC_ACTS(A)
#undef A
};

bool music_policy_is_dj(const struct music_person *person)
{
	return person->dj_role || person->manages_channels || person->alone;
}

enum music_verdict music_policy_judge(enum music_control control, enum music_act act,
				      const struct music_person *person, uint64_t requester)
{
	bool dj = music_policy_is_dj(person);
	bool own = requester == person->user || requester == 0;

	if (rules[act] == LISTEN || control == MUSIC_CONTROL_EVERYONE || dj)
		return MUSIC_ALLOWED;
	if (control == MUSIC_CONTROL_DJ)
		return MUSIC_NEEDS_DJ;
	if (rules[act] == ADD || (rules[act] != ALL && own))
		return MUSIC_ALLOWED;
	return rules[act] == SKIP ? MUSIC_NEEDS_VOTE : MUSIC_NEEDS_DJ;
}

static bool has_user(const uint64_t *users, size_t n, uint64_t user)
{
	for (size_t i = 0; i < n; i++)
		if (users[i] == user)
			return true;
	return false;
}

struct music_tally music_votes_count(const struct music_votes *v, uint64_t start,
				     const uint64_t *listeners, size_t n)
{
	struct music_tally t = {0};

	t.needed = (unsigned)((n * MUSIC_VOTE_PERCENT + 99) / 100);
	for (unsigned i = 0; v->start == start && i < v->n; i++)
		t.votes += has_user(listeners, n, v->user[i]);
	t.passed = t.votes && t.votes >= t.needed;
	return t;
}

struct music_tally music_vote_skip(struct music_votes *v, uint64_t start, uint64_t user,
				   const uint64_t *listeners, size_t n)
{
	if (v->start != start) {
		v->start = start;
		v->n = 0;
	}
	if (v->n < MUSIC_VOTES && !has_user(v->user, v->n, user))
		v->user[v->n++] = user;
	return music_votes_count(v, start, listeners, n);
}
