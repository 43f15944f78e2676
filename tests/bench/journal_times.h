/* Times of a room's events and effects, and of messages that mediad read, from the programs' own
 * journals: the room's (PARLEY_ROOM_JOURNALS), which is replayed for its effects, and mediad's
 * (--journal). All times are CLOCK_MONOTONIC in ns. */
#ifndef TESTS_BENCH_JOURNAL_TIMES_H
#define TESTS_BENCH_JOURNAL_TIMES_H

#include <stddef.h>
#include <stdint.h>

/* A question to the provider. */
struct journal_times_ask {
	uint32_t turn;
	uint64_t heard; /* control read the last frame of the utterance */
	uint64_t told;	/* the event or timer that made the room ask */
};

/* An answer that an interruption stopped. */
struct journal_times_cut {
	uint32_t turn;
	uint64_t heard; /* control read the frame that confirmed the interruption */
};

struct journal_times {
	struct journal_times_ask *ask;
	struct journal_times_cut *cut;
	size_t asks, cuts;
};

/* Reads the room's journal of this guild in this folder. Exits if the replay differs from the
 * recording. */
void journal_times_room(struct journal_times *out, const char *folder, uint64_t guild);
void journal_times_clear(struct journal_times *s);

/* The times at which mediad read each SAY_STOP of this guild's call, in order. Caller frees *out.
 */
size_t journal_times_stops(uint64_t **out, const char *journal, uint64_t guild);

#endif
