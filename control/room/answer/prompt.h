/* The prompt: everything the brain is told besides the question. One builder makes the
 * instructions of a voice model and those of a text model without memory, from sections in a fixed
 * order, each with its limit; the conversation before the question goes along as messages.
 *
 *   section        voice model   text model   limit
 *   persona        yes           yes          what the other sections leave of context_bytes
 *   name           yes           yes
 *   contract       -             yes          left out of a small context (prompts.def)
 *   sounds         -             yes          40, 800 bytes, within the contract (soundboard.h)
 *   people         yes           yes          12
 *   summary        -             yes          1200 bytes (compaction.h)
 *   memory         as a message  yes          2400 bytes, whole (retrieval.h)
 *   moments        -             yes          room moments (moments.h)
 *   conversation   yes           yes          the newest context_turns lines of 1200 bytes
 *
 * The question always has its place (420 bytes of context_bytes); of the conversation the newest
 * lines that fit are told. A voice model keeps the conversation in its session; the messages are
 * for a session that has to begin anew. When instructions are sent is in instructions.h.
 *
 * For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_PROMPT_H
#define CONTROL_ROOM_ANSWER_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/floor/followup.h"
#include "control/room/base/turn.h"

struct room_context;
struct room_effect;

enum {
	ROOM_PROMPT_MAX = 8192,
	ROOM_PROMPT_PEOPLE = 12,
	ROOM_PROMPT_NOW = 420,
	/* limit of a question: who interrupted what, and every segment with its name */
	ROOM_LINE_MAX = ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8) +
			ROOM_INTERRUPTED_TEXT + ROOM_NAME_MAX + 64,
};

/* Builds the instructions of a voice model. Always terminated; returns the length. */
size_t room_prompt_instructions(const struct room_context *context, char *buf, size_t size);
/* Fills in an ASK: the question, the instructions if the brain keeps none, and the conversation
 * before it. */
void room_prompt_ask(struct room_context *context, const struct room_turn *turn,
		     struct room_effect *e);
/* The same of `writings` and `titles` alone: of an ASK_AGAIN, before which more may have been
 * written. */
void room_prompt_writings(const struct room_context *context, struct room_effect *e);
/* ns: the time of the oldest line of the conversation in the prompt of a text model, if it were
 * asked now without quotes of the memory; 0: there is none. */
uint64_t room_prompt_told_since(const struct room_context *context);

#endif
