/* Times of a room's events and effects, and of messages that mediad read, from the programs' own
 * journals: the room's (PARLEY_ROOM_JOURNALS), which is replayed for its effects, and mediad's
 * (--journal). All times are CLOCK_MONOTONIC in ns. */
#ifndef TESTS_BENCH_JOURNAL_TIMES_H
#define TESTS_BENCH_JOURNAL_TIMES_H

#include <stddef.h>
#include <stdint.h>

/* An utterance that the room committed. */
struct journal_times_utterance {
	uint32_t utterance;
	uint64_t speech; /* arrival of its last packet with speech */
	uint64_t delay;	 /* the endpointing delay from there, ns */
	unsigned number; /* of its transcript (brain.h); 0: none */
};

/* A question to the provider. */
struct journal_times_ask {
	uint32_t turn;
	unsigned number; /* of the transcript that it answers */
	uint64_t told;	 /* the event or timer that made the room ask */
};

/* An answer that an interruption stopped. */
struct journal_times_cut {
	uint32_t turn;
	uint64_t heard; /* control read the frame that confirmed the interruption */
};

struct journal_times {
	struct journal_times_utterance *utterance;
	struct journal_times_ask *ask;
	struct journal_times_cut *cut;
	size_t utterances, asks, cuts;
};

/* Reads the room's journal of this guild in this folder. Exits if the replay differs from the
 * recording. */
void journal_times_room(struct journal_times *out, const char *folder, uint64_t guild);
void journal_times_clear(struct journal_times *s);

/* How long after each interruption of this room the first of these n times came, in ms. Times later
 * than a second have another cause. ms has room for every interruption; returns how many it got. */
size_t journal_times_after_cuts(unsigned room, const uint64_t *at, size_t n, double *ms);

/* The times at which mediad read each SAY_STOP of this guild's call, in order. Caller frees *out.
 */
size_t journal_times_stops(uint64_t **out, const char *journal, uint64_t guild);

#endif
