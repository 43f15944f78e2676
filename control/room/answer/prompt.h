/* What the brain is told besides the question: one builder for the instructions of a voice model and of a model that keeps
 * none, of sections in a fixed order, each with its limit; and the conversation before the question, as messages.
 *
 *   section        voice model   text model   limit
 *   persona        yes           yes          what the rest leaves of context_bytes
 *   name           yes           yes
 *   people         yes           yes          12
 *   moments        -             yes          what happened lately (moments.h)
 *   conversation   yes           yes          context_turns lines of 1200 bytes, the newest
 *
 * The question always has its place (420 bytes of context_bytes); of the conversation the newest lines that fit are told. A
 * voice model has the conversation in its session; the lines go along for a session that has to begin anew.
 *
 * The instructions follow the room:
 *
 *   state       input                         next        does
 *   KNOWN       something changed             DIRTY       waits context_refresh_ms for more (at first: not)
 *   DIRTY       that time passed, new text    IN_FLIGHT   INSTRUCT
 *   DIRTY       that time passed, same text   KNOWN       nothing
 *   IN_FLIGHT   something changed             IN_FLIGHT   remembers it
 *   IN_FLIGHT   INSTRUCTED, or 5 s            KNOWN, or DIRTY and due at once
 *
 * For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_PROMPT_H
#define CONTROL_ROOM_ANSWER_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/floor/followup.h"
#include "control/room/turn/turn.h"

struct room;
struct room_effect;
struct room_event;

enum {
	ROOM_PROMPT_MAX = 8192,
	ROOM_PROMPT_PEOPLE = 12,
	ROOM_PROMPT_NOW = 420,
	/* Of a question: who spoke over what, and every segment with its name. */
	ROOM_LINE_MAX = ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8) +
			ROOM_INTERRUPTED_TEXT + ROOM_NAME_MAX + 64,
};

struct room_instructions_refresh {
	bool told; /* once */
	bool dirty, in_flight;
	uint64_t due, until; /* of dirty, of in_flight */
};

/* Something of what the instructions say changed. */
void room_instructions_changed(struct room *room);
void room_instructions_tick(struct room *room);
void room_instructions_on_event(struct room *room, const struct room_event *ev);
uint64_t room_instructions_deadline(const struct room *room);
/* The brain does not know all of it yet. */
bool room_instructions_pending(const struct room *room);
/* The same, and it is told now what it does not know. False while that is on its way. */
bool room_instructions_flush(struct room *room);

/* The instructions: of a voice model when turn is NULL, else of a text model for this turn. Always terminated; its
 * length. */
size_t room_prompt_build(const struct room *room, const struct room_turn *turn, char *buf,
			 size_t size);
/* Fills in an ASK: the question, its instructions when the brain keeps none, and the conversation before it. */
void room_prompt_ask(struct room *room, const struct room_turn *turn, struct room_effect *e);

void room_clean_name(const char *from, size_t n, char *to, size_t size);
/* Appends with one blank between; cut at the size, at the end of a UTF-8 character. */
void room_append(char *to, size_t size, const char *text, size_t n);

#endif
