/* Admitted turns wait here for the floor: one at a time, in the order they came, one a speaker
 * (admission merges).
 *
 * A turn is held while its own speaker goes on (there is more to come), and, unless the bot was
 * named, while somebody else is speaking; at most hold_ms. Only confirmed live speech holds, so a
 * humming microphone does not. */
#include "control/room/inside.h"

void room_enqueue(struct room *room, struct room_turn *turn)
{
	turn->phase = ROOM_PHASE_QUEUED;
	turn->queued_at = room->now;
	turn->order = ++room->order;
	turn->deadline = room->now + room->settings->queue_expire_ms * ROOM_MS;
}

static bool held(struct room *room, const struct room_turn *turn)
{
	if (room->now >= turn->queued_at + room->settings->hold_ms * ROOM_MS)
		return false;
	for (unsigned i = 0; i < ROOM_SPEAKERS; i++) {
		const struct room_speaker *sp = &room->speaker[i];

		if (sp->used && room_capture_live(&sp->capture, room->settings, room->now) &&
		    (sp->user == turn->user || !turn->named))
			return true;
	}
	return false;
}

void room_drain(struct room *room)
{
	struct room_turn *next = NULL;
	uint64_t waited;

	if (room->active || !room->up)
		return;
	for (unsigned i = 0; i < ROOM_TURNS; i++) {
		struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_QUEUED && !held(room, t) &&
		    (!next || t->order < next->order))
			next = t;
	}
	if (!next)
		return;
	room_decide(next, ROOM_RULE_MUTED, !room->muted, room->muted, 0);
	if (room->muted) {
		room_turn_end(room, next, ROOM_REASON_MUTED);
		room_drain(room);
		return;
	}
	waited = (room->now - next->queued_at) / ROOM_MS;
	room_decide(next, ROOM_RULE_ROOM_QUIET, true, (int64_t)waited, room->settings->hold_ms);
	room_ask(room, next);
}
