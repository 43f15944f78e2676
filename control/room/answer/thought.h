/* Words of the bot's own accord: a hello when it came, a thought into a long silence.
 *
 *   kind       when                                                                            at
 * most greeting   greet; people are there, and nobody has spoken in the second since it came once a
 * call thought    volition and thought_eagerness let it; silence for thought_silence_s every
 * thought_interval_s
 *
 * Both want the floor free, nobody speaking, nothing waiting or being transcribed, no music, the
 * bot audible, no guest and not command-only; when something of this is missing they look again
 * after retry_ms. A thought has the eagerness as its probability in a hundred, drawn from the time
 * and the count of thoughts, so that a replay draws the same; and it counts as an offer of
 * volition. Somebody who begins to speak before it is heard takes it back. For control/room only.
 */
#ifndef CONTROL_ROOM_ANSWER_THOUGHT_H
#define CONTROL_ROOM_ANSWER_THOUGHT_H

#include "control/room/room.h"

struct room_thought {
	bool greeted;	   /* or it is too late for it */
	uint64_t look_at;  /* not before */
	uint64_t quiet_at; /* nothing was said since */
	unsigned drawn;	   /* thoughts that were thought of */
	unsigned spoken;
};

/* Somebody speaks, or spoke. */
void room_thought_on_speech(struct room *room);
void room_thought_tick(struct room *room);
uint64_t room_thought_deadline(const struct room *room);

#endif
