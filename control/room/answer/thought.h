/* Words of the bot's own: a greeting on arrival, a thought in a long silence.
 *
 *   kind      condition                                                   at most
 *   greeting  greet; people are present, nobody spoke in the second       once a call
 *             since it came
 *   thought   volition and thought_eagerness allow it; silence for        every thought_interval_s
 *             thought_silence_s
 *
 * Both need a free floor, no live speech, no waiting or transcribing turn, no music, an audible
 * bot, no guest mode and no command-only mode; otherwise they are tried again after retry_ms. The
 * probability of a thought is the eagerness in percent, drawn from the time and the number of
 * thoughts, so that a replay draws the same; a thought counts as an offer of volition. Speech that
 * begins before the thought is heard withdraws it. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_THOUGHT_H
#define CONTROL_ROOM_ANSWER_THOUGHT_H

#include "control/room/base/context.h"

struct room_thought {
	bool greeted;	   /* or it is too late for a greeting */
	uint64_t look_at;  /* not before */
	uint64_t quiet_at; /* nothing was said since */
	unsigned drawn;	   /* draws so far */
};

/* up_at: when the call came up first; 0 = never. */
void room_thought_tick(struct room_thought *th, struct room_context *context, uint64_t up_at);
uint64_t room_thought_deadline(const struct room_thought *th, const struct room_context *context,
			       uint64_t up_at);

#endif
