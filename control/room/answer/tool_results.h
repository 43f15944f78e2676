/* Results of tools: short notes for the next questions, and results of jobs that are told when
 * the floor is free.
 *
 *   result     input                                          next
 *   WAITING    the floor is free                              TELLING: a turn of the bot's own
 *   WAITING    ROOM_RESULT_S                                  a note
 *   TELLING    somebody spoke before it was heard             WAITING
 *   TELLING    the turn ended otherwise                       forgotten
 *
 * An operator's words to say, and a member's question in writing, are such results, too, except
 * that they never become a note; the question goes when its writer's consent does.
 * A person's question that waits comes first. Notes stand in the instructions, so a result that is
 * text of strangers leaves only the name of its tool there. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_TOOL_RESULTS_H
#define CONTROL_ROOM_ANSWER_TOOL_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room_context;
struct room_event;

enum { ROOM_TOOL_NOTES = 4, ROOM_TOOL_NOTE_MAX = 224, ROOM_RESULTS = 4, ROOM_RESULT_MAX = 1024 };
enum { ROOM_RESULT_S = 120 };

struct room_tool_results {
	char note[ROOM_TOOL_NOTES][ROOM_TOOL_NOTE_MAX]; /* a ring */
	unsigned notes;
	struct room_result {
		uint64_t since;	 /* 0: free */
		uint32_t turn;	 /* TELLING; 0: WAITING */
		bool tainted;	 /* text of strangers */
		bool order;	 /* an operator's words */
		uint64_t number; /* ... of that order; 0: nobody asks after it */
		uint64_t writer; /* of a question in writing; 0: it is none */
		char text[ROOM_RESULT_MAX];
	} result[ROOM_RESULTS];
	uint64_t look_at; /* not before */
};

/* TOOL, TOOL_RESULT, WITHDRAWN, ORDER, WRITTEN. */
void room_tool_results_on_event(struct room_tool_results *r, struct room_context *context,
				const struct room_event *ev);
void room_tool_results_tick(struct room_tool_results *r, struct room_context *context);
uint64_t room_tool_results_deadline(const struct room_tool_results *r,
				    const struct room_context *context);
/* True if the order of this number waits for its turn, or is being told. */
bool room_tool_results_holds(const struct room_tool_results *r, uint64_t order);
/* The newest notes, each with its line break, oldest first. Always terminated. */
void room_tool_results_text(const struct room_tool_results *r, char *buf, size_t size);

#endif
