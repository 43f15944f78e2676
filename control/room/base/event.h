/* The events and effects of the room: the input and output of every machine.
 *
 * Ownership: strings and samples in an event are borrowed for the step. Those in effects live
 * until the next step (samples: as long as the event's). */
#ifndef CONTROL_ROOM_BASE_EVENT_H
#define CONTROL_ROOM_BASE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/base/events.def"
#include "proto/base/cursor.h"

struct room_turn;
struct words;

enum {
	ROOM_RATE = 24000, /* of all audio in the room, samples a second */
	ROOM_EFFECTS = 1024,
};

/* ROOM_CALL, ROOM_MEMBER, ...: the rows of events.def. */
enum room_event_type {
#define X(NAME, name, text) ROOM_##NAME,
	ROOM_EVENTS(X)
#undef X
};

/* SPEAK and its audio: words that bridge the work of a voice model's tools. */
#define ROOM_LINE_CHUNK UINT32_MAX

struct room_event {
	enum room_event_type type;
#define N(type, member) type member;
#define T(member)	struct slice member;
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
};

enum room_effect_type {
#define X(NAME, name, text) ROOM_DO_##NAME,
	ROOM_EFFECT_ROWS(X)
#undef X
};

enum {
#define X(NAME, name, text) +1
	ROOM_EVENT_COUNT = 0 ROOM_EVENTS(X),
	ROOM_DO_COUNT = 0 ROOM_EFFECT_ROWS(X),
#undef X
};

/* The follow-up that a tool's output requests (ROOM_TOOL). */
enum room_tool_follow {
	ROOM_TOOL_GOES_ON, /* the brain goes on with the output */
	ROOM_TOOL_QUIET,   /* it does not; what it said is its answer */
	ROOM_TOOL_SILENCE, /* nothing is said in this turn */
};

/* One line of the conversation before a question. */
struct room_message {
	bool bot;
	uint64_t user;	  /* who said it; 0: unknown, or the bot */
	uint32_t turn;	  /* of the session; 0: none */
	uint64_t message; /* of Discord, that TYPED told; 0: it was spoken */
	const char *speaker, *text;
};

struct room_effect {
	enum room_effect_type type;
	uint64_t user;
	uint32_t utterance, turn, chunk, ms, gain;
	struct slice pcm;
	const char *text;
	bool opens; /* of an ASR_START: the speaker had no session */
	/* of an ASK: the instructions if the brain keeps none, else NULL; and the conversation
	 * before, oldest first */
	const char *instructions;
	size_t stable; /* bytes of the instructions that seldom change */
	/* of an ASK: what the memory has about it, for a brain that keeps its instructions; "" */
	const char *memory;
	bool quotes; /* of an ASK: the memory has something about it */
	/* of an ASK and an ASK_AGAIN: the conversation has written words of people who are not in
	 * the room, or an answer in writing that may repeat them */
	bool writings;
	bool titles; /* of both: the brain is told titles of music, which strangers gave */
	const struct room_message *history;
	size_t history_n;
	const struct words *words; /* the storage of a TELL's `text` */
	const struct room_turn *record;
};

struct room_effects {
	size_t n;
	struct room_effect v[ROOM_EFFECTS];
};

#endif
