#include "control/room/hearing/long_capture.h"

#include "control/room/hearing/hallucination_filter.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"

struct room_piece *room_bank_place(struct room_turn *turn)
{
	struct room_piece *first = &turn->piece[0];

	if (turn->pieces == ROOM_PIECES && first->done) {
		room_segment_add(turn, turn->user, turn->name, first->utterance, first->text);
		turn->pieces--;
		memmove(first, first + 1, turn->pieces * sizeof *first);
	}
	return turn->pieces < ROOM_PIECES ? &turn->piece[turn->pieces++] : NULL;
}

static bool holds_words(const struct room_turn *turn)
{
	for (unsigned i = 0; i < turn->pieces; i++)
		if (turn->piece[i].done && room_hallucination_words(turn->piece[i].text))
			return true;
	return turn->segments > 0;
}

bool room_bank_flush(struct room *room, struct room_turn *turn)
{
	if ((turn->phase != ROOM_PHASE_HEARING && turn->phase != ROOM_PHASE_TRANSCRIBING) ||
	    !holds_words(turn))
		return false;
	room_asr_abandon(room, turn);
	room_turn_heard(room, turn);
	return true;
}
