/* Compaction: what no longer fits into the context of a text model stays known as a summary.
 *
 *   state    input                                          next     effect
 *   IDLE     ROOM_COMPACT_LINES lines are older than those  ASKED    COMPACT: the summary so far
 *            that are told, and in no summary                        and these lines
 *   ASKED    SUMMARY, yes                                   IDLE     it replaces the summary
 *   ASKED    SUMMARY, no, or 30 s                           IDLE     the next one after 60 s
 *   any      WITHDRAWN, EDITED of a line that it holds       IDLE     the summary is forgotten; the
 * next one after 1, 2, 4 … 16 min, and after 1 min again if nothing was forgotten for 32 min
 *
 * A request holds as many lines as have a place in its prompt, ten at least.
 * It knows whether words of people outside the room went into it, for as long as there is a summary
 * that began with them. Lines that the setting `overhear` withholds are in no summary. Only the
 * reply path brain needs one: a voice model keeps its conversation. For control/room only. */
#ifndef CONTROL_ROOM_TURN_COMPACTION_H
#define CONTROL_ROOM_TURN_COMPACTION_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ROOM_COMPACT_LINES = 10, /* at least so many at a time */
	ROOM_COMPACT_LINE = 400, /* bytes of a line that the summary is made of */
	ROOM_COMPACT_SUMMARY = 1200,
	ROOM_COMPACT_PROMPT = 8192,
};

struct room_context;
struct room_event;

struct room_compaction {
	bool asked;
	uint32_t number;      /* of the newest question */
	uint64_t until;	      /* time of the newest line that the summary holds; ns, 0: none */
	uint64_t asked_until; /* the same for the requested summary */
	uint64_t forgot_at;   /* ns: when a summary was forgotten */
	uint64_t pause;	      /* ns: after that; 0: none ever was */
	uint64_t over_at;     /* ASKED: waited for until then; IDLE: not before */
	bool outside;	      /* the summary is of written words of people outside, too */
	bool asked_outside;   /* the same of the requested one */
	char summary[ROOM_COMPACT_SUMMARY + 1];
};

void room_compaction_on_event(struct room_compaction *c, const struct room_context *context,
			      const struct room_event *ev);
void room_compaction_tick(struct room_compaction *c, struct room_context *context);
uint64_t room_compaction_deadline(const struct room_compaction *c,
				  const struct room_context *context);
/* "" while there is none. */
const char *room_compaction_summary(const struct room_compaction *c);
/* True if written words of somebody who was not in the room, or an answer of the bot in writing
 * that may repeat such words, went into the summary. */
bool room_compaction_is_outside(const struct room_compaction *c);

#endif
