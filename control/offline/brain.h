/* The rule brain: one line in, one answer out. Between lines it keeps facts and its last answer.
 *
 * Pure: local time, a random number and the people in the room are passed in. Answers are plain
 * sentences with numbers in words, because they are spoken. */
#ifndef OFFLINE_BRAIN_H
#define OFFLINE_BRAIN_H

#include "control/offline/rules.h"

#include <stdint.h>
#include <time.h>

struct brain;

enum { ROOM_MAX = 32, ROOM_NAME_SIZE = 64, BRAIN_ANSWER_SIZE = 1024 };

struct brain_room {
	unsigned n;
	char name[ROOM_MAX][ROOM_NAME_SIZE];
};

struct brain_moment {
	struct tm local;	       /* local time, broken down */
	uint64_t random;	       /* fresh for every answer */
	const struct brain_room *room; /* NULL or empty: not known */
	bool alone;		       /* nothing is kept from one answer to the next */
};

/* rules is borrowed. ENOMEM. Caller owns *out. */
int brain_alloc(struct brain **out, const struct rules *rules);
struct brain *brain_free(struct brain *b);

/* Answers one line ("[Alice]: what time is it"; the name in front is optional), or several lines,
 * as when people ask at the same time: then it answers those it understood. buf takes
 * BRAIN_ANSWER_SIZE bytes at most and is always terminated. ENOMEM. */
int brain_answer(struct brain *b, const char *text, const struct brain_moment *now, char *buf,
		 size_t size, enum intent *intent);

/* A call of a tool in place of an answer. */
struct brain_call {
	char tool[32], arguments[512]; /* a JSON object as text */
};
typedef bool(brain_tool_h)(const char *name, void *arg);

/* True: the line is answered by the output of a tool, which is known. */
bool brain_wants_tool(struct brain *b, const char *text, brain_tool_h *known, void *arg,
		      struct brain_call *out);
/* True if a person says yes. Whether it counts is for the client to decide. */
bool brain_hears_yes(const struct brain *b, const char *text);
/* It said this, for "say that again". */
void brain_said(struct brain *b, const char *text);

/* Takes over the names of a line `people in the room: Alice, Bob` anywhere in text; false when
 * there is none. */
bool brain_room_parse(struct brain_room *room, const char *text);

#endif
