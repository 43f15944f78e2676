/* Retrieval: what the long-term memory has about a speaker's words enters the prompt of their turn.
 *
 *   state      input                                        next       effect
 *   IDLE       an interim transcript for the bot, of        ASKED      RETRIEVE: the words so far
 *              ROOM_RETRIEVAL_WORDS words at least
 *   any        the words of the queued turn are others      ASKED      RETRIEVE: those words
 *   ASKED      RETRIEVED of the newest number               READY      the queued turn is asked
 *   ASKED      memory_wait_ms since the turn was queued     ASKED      the turn is asked without
 *   any        the turn that was asked with it has ended,   IDLE
 *              or the settings changed, or a consent was withdrawn, or a message was edited
 *
 * A slice serves every ask of the same speaker about the same words and is not retrieved again for
 * them, as long as the same people listen: it may hold facts that the speaker told the bot alone.
 * An answer with such facts stays in the model's conversation, so every later answer may quote
 * them, too, until that person is no longer alone with the bot (MEMBER). The turn's record tells
 * which facts and lines its prompt held, or that they came too late. While the bot has no memory
 * (MEMORY) nothing is retrieved and nothing waits. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_RETRIEVAL_H
#define CONTROL_ROOM_ANSWER_RETRIEVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/base/turn.h"

struct room_context;
struct room_event;

enum {
	ROOM_RETRIEVAL_WORDS = 3,
	ROOM_RETRIEVAL_ITEMS = 16, /* facts, lines and summaries of a slice */
	ROOM_RETRIEVAL_MAX = 2400, /* bytes of a slice */
};

struct room_retrieval {
	bool present;	   /* there is a memory */
	uint32_t searched; /* the last turn that waited for a search; 0: none did */
	bool ready;	   /* the newest request was answered */
	bool failed;	   /* ... by a search that failed */
	uint32_t number;
	char words[ROOM_TEXT_MAX]; /* of the newest request; "" for none */
	uint64_t user;		   /* who said them */
	uint64_t audience;	   /* the people who listened then, as a hash */
	uint32_t turn;		   /* asked with the slice; 0: none yet */
	uint64_t private_to; /* models have been told facts of this person's own memory; 0: nobody's
			      */
	char slice[ROOM_RETRIEVAL_MAX + 1];
	unsigned items;
	struct {
		enum room_rule rule; /* MEMORY_FACT, MEMORY_LINE or MEMORY_SUMMARY */
		bool private;	     /* a fact of the speaker's own memory */
		uint32_t id;
	} item[ROOM_RETRIEVAL_ITEMS];
};

/* MEMORY, RETRIEVED, PRIVATE_TOLD, MEMBER, SETTINGS, WITHDRAWN, EDITED, and interim transcripts. */
void room_retrieval_on_event(struct room_retrieval *r, struct room_context *context,
			     const struct room_event *ev);
/* Begins the retrieval for the turn that waits in the queue. */
void room_retrieval_tick(struct room_retrieval *r, struct room_context *context);
/* The turn is asked now: adds the facts and lines of its slice, and how many recalled
 * lines the history has, to its decisions. An erasure finds answers by them that may quote. */
void room_retrieval_note(const struct room_context *context, struct room_turn *turn);
/* The slice for this turn, "" for none. Borrowed until the next event. */
const char *room_retrieval_slice(const struct room_context *context, const struct room_turn *turn);

#endif
