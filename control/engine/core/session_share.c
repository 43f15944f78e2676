#include "control/engine/core/session_share.h"

static struct session_share_one *find(struct session_share *s, uint32_t utterance)
{
	for (unsigned i = 0; utterance && i < SESSION_SHARES; i++)
		if (s->v[i].state && s->v[i].utterance == utterance)
			return &s->v[i];
	return NULL;
}

uint32_t session_share_holder(const struct session_share *s)
{
	for (unsigned i = 0; i < SESSION_SHARES; i++)
		if (s->v[i].state >= SESSION_SHARE_HOLDS)
			return s->v[i].utterance;
	return 0;
}

uint32_t session_share_of(const struct session_share *s, uint64_t user)
{
	for (unsigned i = 0; i < SESSION_SHARES; i++)
		if (s->v[i].state && s->v[i].user == user)
			return s->v[i].utterance;
	return 0;
}

uint64_t session_share_user(const struct session_share *s, uint32_t utterance)
{
	for (unsigned i = 0; i < SESSION_SHARES; i++)
		if (s->v[i].state && s->v[i].utterance == utterance)
			return s->v[i].user;
	for (unsigned i = 0; i < SESSION_SHARE_PAST; i++)
		if (s->past[i].utterance == utterance)
			return s->past[i].user;
	return 0;
}

bool session_share_start(struct session_share *s, uint64_t user, uint32_t utterance)
{
	struct session_share_one *to = NULL;

	for (unsigned i = 0; i < SESSION_SHARES && !to; i++)
		if (!s->v[i].state)
			to = &s->v[i];
	if (!to)
		return false;
	*to = (struct session_share_one){.state = SESSION_SHARE_KEEPS,
					 .user = user,
					 .order = ++s->order,
					 .utterance = utterance};
	return true;
}

enum session_share_state session_share_sound(struct session_share *s, uint32_t utterance,
					     size_t bytes)
{
	struct session_share_one *x = find(s, utterance);

	if (!x || x->state == SESSION_SHARE_OWED)
		return SESSION_SHARE_NONE;
	if (x->state != SESSION_SHARE_HOLDS) {
		x->kept += bytes;
		if (x->kept > SESSION_SHARE_KEPT)
			x->kept = SESSION_SHARE_KEPT;
	}
	return x->state;
}

bool session_share_promoted(struct session_share *s, uint32_t utterance)
{
	struct session_share_one *x = find(s, utterance);

	if (!x || x->state != SESSION_SHARE_KEEPS)
		return false;
	x->state = session_share_holder(s) ? SESSION_SHARE_WAITS : SESSION_SHARE_HOLDS;
	return x->state == SESSION_SHARE_HOLDS;
}

bool session_share_ended(struct session_share *s, uint32_t utterance)
{
	struct session_share_one *x = find(s, utterance);

	if (!x)
		return false;
	x->ended = true;
	if (x->state != SESSION_SHARE_HOLDS)
		return false;
	x->state = SESSION_SHARE_OWED;
	return true;
}

uint32_t session_share_over(struct session_share *s, uint32_t utterance, bool *ended)
{
	struct session_share_one *x = find(s, utterance), *next = NULL;
	bool held = x && x->state >= SESSION_SHARE_HOLDS;

	if (x) {
		s->past[s->past_n % SESSION_SHARE_PAST].user = x->user;
		s->past[s->past_n++ % SESSION_SHARE_PAST].utterance = utterance;
		*x = (struct session_share_one){0};
	}
	for (unsigned i = 0; held && i < SESSION_SHARES; i++) {
		x = &s->v[i];
		if (x->state == SESSION_SHARE_WAITS && x->kept && (!next || x->order < next->order))
			next = x;
	}
	if (!next)
		return 0;
	next->state = next->ended ? SESSION_SHARE_OWED : SESSION_SHARE_HOLDS;
	*ended = next->ended;
	return next->utterance;
}
