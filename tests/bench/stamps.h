/* Times of what a room was told and did, and of what mediad read, from the journals that the
 * programs keep by themselves: the room's (PARLEY_ROOM_JOURNALS), run once more for its effects,
 * and mediad's (--journal). All on CLOCK_MONOTONIC in ns. */
#ifndef TESTS_BENCH_STAMPS_H
#define TESTS_BENCH_STAMPS_H

#include <stddef.h>
#include <stdint.h>

/* A question put to the brain. */
struct stamps_ask {
	uint32_t turn;
	uint64_t heard; /* control read the frame of sound that was the last of the utterance */
	uint64_t told;	/* and this fact or time made the room ask */
};

/* An answer that a voice stopped. */
struct stamps_cut {
	uint32_t turn;
	uint64_t heard; /* control read the frame of sound that confirmed it */
};

struct stamps {
	struct stamps_ask *ask;
	struct stamps_cut *cut;
	size_t asks, cuts;
};

/* The room's journal in this folder that is of this guild. Dies when the rerun does not do what the
 * room did. */
void stamps_room(struct stamps *out, const char *folder, uint64_t guild);
void stamps_clear(struct stamps *s);

/* When mediad read each SAY_STOP for this guild's call, in order. Caller frees *out. */
size_t stamps_stops(uint64_t **out, const char *journal, uint64_t guild);

#endif
