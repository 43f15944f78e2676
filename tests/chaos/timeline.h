/* Judges the positions of music that plays its tracks over and over: it may stand still while
 * something is broken, but never goes back, leaves nothing out, and is never ahead of the clock.
 *
 * It may be kept in shared memory, so that it outlives the one who plays. Pure; plain memory,
 * zeroed before use. */
#ifndef TESTS_CHAOS_TIMELINE_H
#define TESTS_CHAOS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum timeline_fault { TIMELINE_NO_FAULT, TIMELINE_BACK, TIMELINE_AHEAD, TIMELINE_OTHER_TRACK };

struct timeline {
	bool begun, fresh; /* fresh: nothing was played since timeline_begin */
	unsigned track;	   /* of the newest position */
	uint64_t laps_ms;  /* of the tracks that were passed */
	uint64_t at_ms;	   /* the newest position, from the first track's beginning on */
	int64_t lead_ms;   /* how far it was ahead of the clock at most */
};

/* The length of each track, and how many there are, are the same in each call. position_ms: within
 * the track. */
enum timeline_fault timeline_note(struct timeline *t, unsigned tracks, unsigned length_ms,
				  unsigned track, uint64_t position_ms, uint64_t now_ms);
/* Music begins anew after it was gone: where it was, behind the clock now, and may not catch up. */
void timeline_begin(struct timeline *t);

#endif
