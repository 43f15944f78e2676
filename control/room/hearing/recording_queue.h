/* The queue of recordings for batch transcription: one runs at a time, one waits.
 *
 *   state    input                                      next
 *   IDLE     an utterance ended                         RUNNING: it is transcribed
 *   RUNNING  an utterance ended                         it waits, if none waits
 *   RUNNING  another of the same user, same kind of     it joins the waiting recording
 *            end, within 1200 ms, 8 s together at most
 *   RUNNING  any other                                  it replaces the waiting one, which gets no
 *                                                       transcript
 *   RUNNING  a transcript, or a failure                 the waiting one runs, unless it is older
 *                                                       than 4500 ms
 *
 * The shell keeps the audio; the queue knows only its length. */
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

/* The result for an utterance, and the recording it displaced. */
struct room_recording_out {
	bool run;		       /* the running recording is to be transcribed now */
	struct room_recording dropped; /* gets no transcript; n = 0: none was dropped */
};

struct room_recording_out room_recording_add(struct room_recording_queue *l, uint64_t user,
					     uint32_t utterance, int end, uint32_t ms,
					     uint64_t now);
/* The utterance is no longer wanted. Returns true if it was waiting and will not run. */
bool room_recording_cancel(struct room_recording_queue *l, uint64_t user, uint32_t utterance);
/* The running recording is finished. */
struct room_recording_out room_recording_done(struct room_recording_queue *l, uint64_t now);

#endif
