/* Who may go on without saying the bot's name, because something of theirs is not finished:
 *
 *   what        begins                                    ends
 *   a tool      it works for a user's turn                its output is there and tool_follow_ms
 * passed, or 120 s a cut       a user spoke over an answer               35 s, or an answer that
 * was heard after it
 *
 * A time of 0 means that there is none. */
#ifndef CONTROL_ROOM_FLOOR_FOLLOWUP_H
#define CONTROL_ROOM_FLOOR_FOLLOWUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room_turn;
struct settings;

enum { ROOM_INTERRUPTED_TEXT = 240 };

struct room_followup {
	uint64_t tool_user, tool_until;
	unsigned tools; /* that work now */
	uint64_t cut_user, cut_at;
	uint32_t interrupting_utterance;
	char cut_said[ROOM_INTERRUPTED_TEXT]; /* what was heard of the answer */
};

void room_followup_tool(struct room_followup *f, const struct settings *s, bool on, uint64_t user,
			uint64_t now);
/* An answer was spoken over by turn->interrupted_by. */
void room_followup_interrupted(struct room_followup *f, const struct room_turn *turn, uint64_t now);
/* An answer was heard: what was cut before is of no matter any more. */
void room_followup_answered(struct room_followup *f);

/* Until when a tool works at the latest; 0: none does. */
uint64_t room_followup_tools_until(const struct room_followup *f, uint64_t now);
/* The user for whom a tool works or worked lately, or 0. */
uint64_t room_followup_tool_owner(const struct room_followup *f, uint64_t now);
/* ms since this user cut an answer, or UINT64_MAX. */
uint64_t room_followup_interrupted_since(const struct room_followup *f, const struct settings *s,
					 uint64_t user, uint64_t now);

/* Whether it was this utterance that cut an answer. */
bool room_followup_interrupted_with(const struct room_followup *f, const struct settings *s,
				    uint64_t user, uint32_t utterance, uint64_t now);
/* A line for the brain about where the turn's speaker cut it off, with its line break; nothing, and
 * 0, when they did not.
 */
size_t room_followup_recovery(const struct room_followup *f, const struct settings *s,
			      const struct room_turn *turn, uint64_t now, char *buf, size_t size);

#endif
