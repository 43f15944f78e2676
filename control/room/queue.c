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

uint64_t room_held_until(const struct room *room, const struct room_turn *turn)
{
	const struct settings *s = room->settings;
	uint64_t from = turn->queued_at > room->free_at ? turn->queued_at : room->free_at;
	uint64_t most = from + s->hold_ms * ROOM_MS, until = 0;

	for (unsigned i = 0; i < ROOM_SPEAKERS; i++) {
		const struct room_speaker *sp = &room->speaker[i];
		uint64_t pause = sp->capture.voice_at + s->barge_in_gap_ms * ROOM_MS;

		if (sp->used && room_capture_live(&sp->capture, s, room->now) &&
		    (sp->user == turn->user || !turn->named) && pause > until)
			until = pause;
	}
	return until < most ? until : most;
}

void room_drain(struct room *room)
{
	struct room_turn *next = NULL;
	uint64_t waited;

	if (room->active || !room->up)
		return;
	for (unsigned i = 0; i < ROOM_TURNS; i++) {
		struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_QUEUED && room->now >= room_held_until(room, t) &&
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
