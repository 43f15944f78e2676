/* Which words of the bot were audible when: of the answer that plays, by its playout position
 * (playout_position.h), and of the two answers before it, as if they had been spoken evenly. The
 * echo filter (hearing/echo_filter.h) compares transcripts with them.
 *
 * A pause of the playback counts from the effect that pauses it to the one that resumes it. Words
 * of the control before this one are not known. For control/room/answer only. */
#ifndef CONTROL_ROOM_ANSWER_PLAYED_WORDS_H
#define CONTROL_ROOM_ANSWER_PLAYED_WORDS_H

#include "control/room/base/context.h"

enum { ROOM_PLAYED_ANSWERS = 2 };

struct room_played_words {
	unsigned newest;
	struct {
		uint64_t from, to; /* ns; to = 0: none */
		char text[ROOM_TEXT_MAX];
	} ended[ROOM_PLAYED_ANSWERS];
};

/* The turn ends: turn->answer holds what was played of its answer. */
void room_played_words_keep(struct room_played_words *p, const struct room_context *context,
			    const struct room_turn *turn);

#endif
