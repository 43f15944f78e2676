/* Speech-to-text of whole recordings: one at a time, and nobody waits for words that are too old.
 *
 *   state     input                                                next
 *   IDLE      an utterance ended                                   RUNNING: it is transcribed
 *   RUNNING   another ended                                        it waits; one waits at most
 *   RUNNING   one more: same user, same end, within 1200 ms,       goes into the one that waits
 *             8 s together at most
 *   RUNNING   one more of anything else                            takes the place of the one that
 * waits, which has no words RUNNING   words, or it failed                                  the one
 * that waits runs; older than 4500 ms: no words
 *
 * The sound stays with the shell; here are only its lengths. */
#ifndef CONTROL_ROOM_HEARING_RECORDING_QUEUE_H
#define CONTROL_ROOM_HEARING_RECORDING_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ROOM_RECORDING_COALESCE_MS = 1200,
	ROOM_RECORDING_MAX_MS = 8000,
	ROOM_RECORDING_STALE_MS = 4500,
	ROOM_RECORDING_PARTS = 8
};

struct room_recording {
	uint64_t user, ended_at; /* user 0: none */
	int end;		 /* enum room_capture_end */
	uint32_t ms;
	unsigned n;
	uint32_t utterance[ROOM_RECORDING_PARTS]; /* coalesced, in order */
};

struct room_recording_queue {
	struct room_recording running, waiting;
};

/* What becomes of an utterance, and of what it displaced. */
struct room_recording_out {
	bool run;		       /* lane->running is to be transcribed now */
	struct room_recording dropped; /* has no words; n = 0: nothing was dropped */
};

struct room_recording_out room_recording_add(struct room_recording_queue *l, uint64_t user,
					     uint32_t utterance, int end, uint32_t ms,
					     uint64_t now);
/* It is not wanted any more. True: it waited, and does not run. */
bool room_recording_cancel(struct room_recording_queue *l, uint64_t user, uint32_t utterance);
/* The one that ran is done. */
struct room_recording_out room_recording_done(struct room_recording_queue *l, uint64_t now);

#endif
