#include "control/room/hearing/long_capture.h"

#include <string.h>

#include "control/room/base/hearing.h"
#include "control/room/base/turn.h"
#include "control/room/hearing/hallucination_filter.h"
#include "control/room/hearing/transcript.h"
#include "control/room/turn/segment.h"

struct room_capture_chunk *room_long_capture_add(struct room_turn *turn)
{
	struct room_capture_chunk *first = &turn->chunk[0];

	if (turn->chunks == ROOM_CAPTURE_CHUNKS && first->done) {
		room_segment_add(turn, turn->user, turn->name, first->utterance, first->text);
		turn->chunks--;
		memmove(first, first + 1, turn->chunks * sizeof *first);
	}
	return turn->chunks < ROOM_CAPTURE_CHUNKS ? &turn->chunk[turn->chunks++] : NULL;
}

static bool has_any_words(const struct room_turn *turn)
{
	for (unsigned i = 0; i < turn->chunks; i++)
		if (turn->chunk[i].done && room_has_words(turn->chunk[i].text))
			return true;
	return turn->segments > 0;
}

bool room_long_capture_flush(struct room_context *context, struct room_turn *turn)
{
	if ((turn->phase != ROOM_PHASE_HEARING && turn->phase != ROOM_PHASE_TRANSCRIBING) ||
	    !has_any_words(turn))
		return false;
	room_asr_abandon(context, turn);
	room_asr_end_capture(context, turn);
	return true;
}
