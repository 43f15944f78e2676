/* Words of the bot's own: a greeting on arrival, a thought or a summary in a long silence.
 *
 *   kind      condition                                                   at most
 *   greeting  greet; people are present, nobody spoke since it came,      once a call; a second
 *             a second ago                                                time if it was silent
 *   summary   summary_silence_s of silence after at least 4 lines that    once a silence
 *             no spoken summary had
 *   thought   volition and thought_eagerness allow it; silence for        every thought_interval_s
 *             thought_silence_s
 *
 * The greeting is a turn that passes admission (rule greeting); the others ask the brain at once.
 *
 * All need a free floor, no live speech, no waiting or transcribing turn, no music, an audible
 * bot, no guest mode and no command-only mode; otherwise they are tried again after retry_ms. The
 * probability of a thought is the eagerness in percent, drawn from the time and the number of
 * thoughts, so that a replay draws the same; a thought counts as an offer of volition. Speech that
 * begins before the thought is heard withdraws it. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_THOUGHT_H
#define CONTROL_ROOM_ANSWER_THOUGHT_H

#include "control/room/base/context.h"

enum { ROOM_GREETINGS = 2 };

struct room_thought {
	uint32_t greeting;  /* the turn that greets, 0 = none */
	unsigned greetings; /* attempts so far; ROOM_GREETINGS also when it is too late */
	uint64_t summed_at; /* the lines until then had a spoken summary */
	uint64_t look_at;   /* not before */
	uint64_t quiet_at;  /* nothing was said since */
	unsigned drawn;	    /* draws so far */
	uint32_t turn;	    /* the turn of its own words that is under way; 0: none */
	uint64_t tried_at;  /* when it last was to say something; 0: never */
	uint64_t heard_at;  /* when such words were last heard; 0: never */
};

/* Somebody is there to hear the bot, and the floor is free; music may play. */
bool room_thought_has_floor(const struct room_context *context);
/* The same without music. */
bool room_thought_is_quiet(const struct room_context *context);
/* The conditions of a thought besides time: the floor is free, and nobody waits for it. */
bool room_thought_may_speak(const struct room_context *context);
/* ns: nobody spoke and the bot did not answer since; up_at: when the call came up. */
uint64_t room_thought_quiet_since(const struct room_context *context, uint64_t up_at);
/* True with this probability, drawn from the time and the number of the draw. */
bool room_thought_draw(const struct room_context *context, unsigned number, unsigned percent);
/* up_at: when the call came up first; 0 = never. */
void room_thought_tick(struct room_thought *th, struct room_context *context, uint64_t up_at);
/* When it is to say something of its own next, if nobody speaks; UINT64_MAX: never. */
uint64_t room_thought_due(const struct room_thought *th, const struct room_context *context,
			  uint64_t up_at);
uint64_t room_thought_deadline(const struct room_thought *th, const struct room_context *context,
			       uint64_t up_at);

#endif
