#include "control/room/share.h"

#define MS 1000000ull

static struct room_share_user *of(struct room_share *s, uint64_t user)
{
	for (unsigned i = 0; user && i < ROOM_SHARE_USERS; i++)
		if (s->v[i].state && s->v[i].user == user)
			return &s->v[i];
	return NULL;
}

static const struct room_share_user *holder(const struct room_share *s)
{
	for (unsigned i = 0; i < ROOM_SHARE_USERS; i++)
		if (s->v[i].state >= ROOM_SHARE_HOLDS)
			return &s->v[i];
	return NULL;
}

uint32_t room_share_of(const struct room_share *s, uint64_t user)
{
	for (unsigned i = 0; user && i < ROOM_SHARE_USERS; i++)
		if (s->v[i].state && s->v[i].user == user)
			return s->v[i].utterance;
	return 0;
}

uint64_t room_share_holder(const struct room_share *s)
{
	const struct room_share_user *u = holder(s);

	return u ? u->user : 0;
}

bool room_share_start(struct room_share *s, uint64_t user, uint32_t utterance)
{
	struct room_share_user *u = of(s, user);

	for (unsigned i = 0; !u && i < ROOM_SHARE_USERS; i++)
		if (!s->v[i].state)
			u = &s->v[i];
	if (!u || u->state >= ROOM_SHARE_HOLDS)
		return false;
	*u = (struct room_share_user){ROOM_SHARE_KEEPS, user, ++s->order, utterance, 0, false};
	return true;
}

enum room_share_state room_share_sound(struct room_share *s, uint64_t user, uint32_t utterance,
				       size_t bytes)
{
	struct room_share_user *u = of(s, user);

	if (!u || u->utterance != utterance || u->state == ROOM_SHARE_OWED)
		return ROOM_SHARE_NONE;
	if (u->state != ROOM_SHARE_HOLDS) {
		u->kept += bytes;
		if (u->kept > ROOM_SHARE_KEPT)
			u->kept = ROOM_SHARE_KEPT;
	}
	return u->state;
}

bool room_share_promoted(struct room_share *s, uint64_t user, uint32_t utterance)
{
	struct room_share_user *u = of(s, user);

	if (!u || u->utterance != utterance || u->state != ROOM_SHARE_KEEPS)
		return false;
	u->state = holder(s) ? ROOM_SHARE_WAITS : ROOM_SHARE_HOLDS;
	return u->state == ROOM_SHARE_HOLDS;
}

bool room_share_ended(struct room_share *s, uint64_t user, uint32_t utterance, uint64_t now)
{
	struct room_share_user *u = of(s, user);

	if (!u || u->utterance != utterance)
		return false;
	u->ended = true;
	if (u->state != ROOM_SHARE_HOLDS)
		return false;
	u->state = ROOM_SHARE_OWED;
	s->owed_at = now;
	return true;
}

uint64_t room_share_over(struct room_share *s, uint64_t user, uint32_t *utterance, bool *ended,
			 uint64_t now)
{
	struct room_share_user *u = of(s, user), *next = NULL;
	bool held = u && u->state >= ROOM_SHARE_HOLDS;

	if (u)
		*u = (struct room_share_user){0};
	for (unsigned i = 0; held && i < ROOM_SHARE_USERS; i++) {
		struct room_share_user *x = &s->v[i];

		if (x->state == ROOM_SHARE_WAITS && x->kept && (!next || x->order < next->order))
			next = x;
	}
	if (!next)
		return 0;
	next->state = next->ended ? ROOM_SHARE_OWED : ROOM_SHARE_HOLDS;
	s->owed_at = now;
	*utterance = next->utterance;
	*ended = next->ended;
	return next->user;
}

uint64_t room_share_deadline(const struct room_share *s)
{
	const struct room_share_user *u = holder(s);

	return u && u->state == ROOM_SHARE_OWED ? s->owed_at + ROOM_SHARE_WAIT_MS * MS : UINT64_MAX;
}
