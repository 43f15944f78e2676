/* The instructions of a voice model follow the room:
 *
 *   state      input                        next         effect
 *   KNOWN      a change                     DIRTY        waits context_refresh_ms (the first time:
 *                                                        not)
 *   DIRTY      that time passed, new text   IN_FLIGHT    INSTRUCT
 *   DIRTY      that time passed, same text  KNOWN        none
 *   IN_FLIGHT  a change                     IN_FLIGHT    remembered
 *   IN_FLIGHT  INSTRUCTED of it, or 5 s     KNOWN/DIRTY  DIRTY is due at once
 *
 * Their text is built by the prompt (prompt.h). For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_INSTRUCTIONS_H
#define CONTROL_ROOM_ANSWER_INSTRUCTIONS_H

#include "control/room/answer/prompt.h"
#include "control/room/base/context.h"

struct room_instructions {
	bool told; /* once */
	bool dirty, in_flight;
	uint32_t number;	    /* of the newest text */
	uint64_t due, until;	    /* of dirty, of in_flight */
	char text[ROOM_PROMPT_MAX]; /* as sent last */
};

void room_instructions_tick(struct room_instructions *f, struct room_context *context);
void room_instructions_on_event(struct room_instructions *f, const struct room_context *context,
				const struct room_event *ev);
uint64_t room_instructions_deadline(const struct room_instructions *f,
				    const struct room_context *context);

#endif
