/* Follow-ups: who may go on without saying the bot's name, because of unfinished work.
 *
 *   cause            begins                       ends
 *   a tool           it works for a user's turn   tool_follow_ms after its output, or 120 s
 *   a job            a tool goes on after its     its end
 *                    turn
 *   an interruption  a user spoke over an answer  after cut_follow_ms, or with the next answer
 *                                                 that was played
 *
 * A time of 0 means that there is none. */
#ifndef CONTROL_ROOM_FLOOR_FOLLOWUP_H
#define CONTROL_ROOM_FLOOR_FOLLOWUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room_context;
struct room_event;
struct room_turn;
struct settings;

enum { ROOM_INTERRUPTED_TEXT = 240, ROOM_JOB_OWNERS = 16 };

struct room_followup {
	uint64_t tool_user, tool_until;
	unsigned tools; /* tools at work */
	struct {
		uint64_t user;
		uint32_t n; /* 0: free */
	} jobs[ROOM_JOB_OWNERS];
	uint64_t cut_user, cut_at;
	uint32_t interrupting_utterance;
	char cut_said[ROOM_INTERRUPTED_TEXT]; /* what was heard of the answer */
};

void room_followup_tool(struct room_followup *f, const struct settings *s, bool on, uint64_t user,
			uint64_t now);
/* ROOM_TOOL, ROOM_TOOL_JOBS. */
void room_followup_on_event(struct room_followup *f, const struct room_context *context,
			    const struct room_event *ev);
/* turn->interrupted_by interrupted an answer. */
void room_followup_interrupted(struct room_followup *f, const struct room_turn *turn, uint64_t now);
/* An answer was played: earlier interruptions no longer matter. */
void room_followup_answered(struct room_followup *f);

/* When the running tools are given up at the latest; 0: none runs. */
uint64_t room_followup_tools_until(const struct room_followup *f, uint64_t now);
/* The user for whom a tool works or worked lately, or 0. */
uint64_t room_followup_tool_owner(const struct room_followup *f, uint64_t now);
/* Number of tool jobs that run for this user; user 0: for anybody. */
unsigned room_followup_jobs(const struct room_followup *f, uint64_t user);
/* ms since this user interrupted an answer, or UINT64_MAX. */
uint64_t room_followup_interrupted_since(const struct room_followup *f, const struct settings *s,
					 uint64_t user, uint64_t now);

/* True if this utterance interrupted an answer. */
bool room_followup_interrupted_with(const struct room_followup *f, const struct settings *s,
				    uint64_t user, uint32_t utterance, uint64_t now);
/* A line for the brain that tells where the turn's speaker interrupted it, with its line break;
 * empty, and 0, if nobody did. */
size_t room_followup_recovery(const struct room_followup *f, const struct settings *s,
			      const struct room_turn *turn, uint64_t now, char *buf, size_t size);
/* The utterance that interrupted the last answer, and when; 0 = none. */
uint64_t room_followup_interrupted_at(const struct room_followup *f);
uint32_t room_followup_interruption(const struct room_followup *f);

#endif
