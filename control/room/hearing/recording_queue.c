#include "control/room/hearing/recording_queue.h"

#include "proto/base/time.h"

static bool can_join(const struct room_recording *t, uint64_t user, int end, uint32_t ms,
		     uint64_t now)
{
	return t->user == user && t->end == end && t->n < ROOM_RECORDING_PARTS &&
	       now <= t->ended_at + ROOM_RECORDING_COALESCE_MS * NS_PER_MS &&
	       t->ms + ms <= ROOM_RECORDING_MAX_MS;
}

struct room_recording_out room_recording_add(struct room_recording_queue *l, uint64_t user,
					     uint32_t utterance, int end, uint32_t ms, uint64_t now)
{
	struct room_recording t = {.user = user,
				   .ended_at = now,
				   .end = end,
				   .ms = ms,
				   .n = 1,
				   .utterance = {utterance}};
	struct room_recording_out out = {0};

	if (!l->running.n) {
		l->running = t;
		out.run = true;
	} else if (l->waiting.n && can_join(&l->waiting, user, end, ms, now)) {
		l->waiting.utterance[l->waiting.n++] = utterance;
		l->waiting.ms += ms;
		l->waiting.ended_at = now;
	} else {
		out.dropped = l->waiting;
		l->waiting = t;
	}
	return out;
}

bool room_recording_cancel(struct room_recording_queue *l, uint64_t user, uint32_t utterance)
{
	struct room_recording *t = &l->waiting;
	unsigned left = 0, n = t->n;

	if (t->user != user)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (t->utterance[i] != utterance)
			t->utterance[left++] = t->utterance[i];
	t->n = left;
	if (!left)
		*t = (struct room_recording){0};
	return left < n;
}

struct room_recording_out room_recording_done(struct room_recording_queue *l, uint64_t now)
{
	struct room_recording_out out = {0};

	l->running = (struct room_recording){0};
	if (!l->waiting.n)
		return out;
	if (now > l->waiting.ended_at + ROOM_RECORDING_STALE_MS * NS_PER_MS) {
		out.dropped = l->waiting;
	} else {
		l->running = l->waiting;
		out.run = true;
	}
	l->waiting = (struct room_recording){0};
	return out;
}
