#include "control/room/share.h"

static struct room_share_one *find(struct room_share *s, uint32_t utterance)
{
	for (unsigned i = 0; utterance && i < ROOM_SHARES; i++)
		if (s->v[i].state && s->v[i].utterance == utterance)
			return &s->v[i];
	return NULL;
}

uint32_t room_share_holder(const struct room_share *s)
{
	for (unsigned i = 0; i < ROOM_SHARES; i++)
		if (s->v[i].state >= ROOM_SHARE_HOLDS)
			return s->v[i].utterance;
	return 0;
}

uint32_t room_share_of(const struct room_share *s, uint64_t user)
{
	for (unsigned i = 0; i < ROOM_SHARES; i++)
		if (s->v[i].state && s->v[i].user == user)
			return s->v[i].utterance;
	return 0;
}

uint64_t room_share_user(const struct room_share *s, uint32_t utterance)
{
	for (unsigned i = 0; i < ROOM_SHARES; i++)
		if (s->v[i].state && s->v[i].utterance == utterance)
			return s->v[i].user;
	for (unsigned i = 0; i < ROOM_SHARE_PAST; i++)
		if (s->past[i].utterance == utterance)
			return s->past[i].user;
	return 0;
}

bool room_share_start(struct room_share *s, uint64_t user, uint32_t utterance)
{
	struct room_share_one *to = NULL;

	for (unsigned i = 0; i < ROOM_SHARES && !to; i++)
		if (!s->v[i].state)
			to = &s->v[i];
	if (!to)
		return false;
	*to = (struct room_share_one){.state = ROOM_SHARE_KEEPS,
				      .user = user,
				      .order = ++s->order,
				      .utterance = utterance};
	return true;
}

enum room_share_state room_share_sound(struct room_share *s, uint32_t utterance, size_t bytes)
{
	struct room_share_one *x = find(s, utterance);

	if (!x || x->state == ROOM_SHARE_OWED)
		return ROOM_SHARE_NONE;
	if (x->state != ROOM_SHARE_HOLDS) {
		x->kept += bytes;
		if (x->kept > ROOM_SHARE_KEPT)
			x->kept = ROOM_SHARE_KEPT;
	}
	return x->state;
}

bool room_share_promoted(struct room_share *s, uint32_t utterance)
{
	struct room_share_one *x = find(s, utterance);

	if (!x || x->state != ROOM_SHARE_KEEPS)
		return false;
	x->state = room_share_holder(s) ? ROOM_SHARE_WAITS : ROOM_SHARE_HOLDS;
	return x->state == ROOM_SHARE_HOLDS;
}

bool room_share_ended(struct room_share *s, uint32_t utterance)
{
	struct room_share_one *x = find(s, utterance);

	if (!x)
		return false;
	x->ended = true;
	if (x->state != ROOM_SHARE_HOLDS)
		return false;
	x->state = ROOM_SHARE_OWED;
	return true;
}

uint32_t room_share_over(struct room_share *s, uint32_t utterance, bool *ended)
{
	struct room_share_one *x = find(s, utterance), *next = NULL;
	bool held = x && x->state >= ROOM_SHARE_HOLDS;

	if (x) {
		s->past[s->past_n % ROOM_SHARE_PAST].user = x->user;
		s->past[s->past_n++ % ROOM_SHARE_PAST].utterance = utterance;
		*x = (struct room_share_one){0};
	}
	for (unsigned i = 0; held && i < ROOM_SHARES; i++) {
		x = &s->v[i];
		if (x->state == ROOM_SHARE_WAITS && x->kept && (!next || x->order < next->order))
			next = x;
	}
	if (!next)
		return 0;
	next->state = next->ended ? ROOM_SHARE_OWED : ROOM_SHARE_HOLDS;
	*ended = next->ended;
	return next->utterance;
}
