/* Ring of decoded sound in shared memory: a decoder process writes, mediad's audio thread reads.
 *
 * Sound is stereo int16 at 48 kHz; a frame is one sample of both channels. One ring holds two
 * seconds of one track. Neither side wakes the other: the reader polls at its clock, the writer
 * sleeps while the ring is full.
 *
 * The writer may be hostile. The reader loads each shared word once, keeps its own index, and
 * treats a fill level above the capacity as a broken track. The reader's index is in memory that
 * the writer can lose the right to write to, so that it cannot pretend to have nothing to do. The
 * samples themselves can be anything.
 *
 * Beside the sound are its analyses, for the visualizer, one for every ANALYSIS_STEP frames. The
 * writer makes them only while the reader's process watches, and of sound that is still to be read.
 *
 * A handle belongs to one side and one thread; the memory belongs to the caller and outlives it. */
#ifndef MEDIAD_MUSIC_TRACK_RING_H
#define MEDIAD_MUSIC_TRACK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/music/analysis.h"

struct track_ring;

enum {
	TRACK_RING_RATE = 48000,
	TRACK_RING_CHANNELS = 2,
	TRACK_RING_FRAMES = 96000,
	/* Bytes of shared memory for one ring, and of those before the reader's index: multiples of
	 * every page size up to 64 KiB. */
	TRACK_RING_MEMORY = 8 * 65536,
	TRACK_RING_READER = 7 * 65536,
};

/* memory: TRACK_RING_MEMORY bytes, aligned to a page; borrowed. NULL on replay: a ring that stays
 * empty. EINVAL, ENOMEM. Caller owns *out. */
int track_ring_alloc(struct track_ring **out, void *memory);
struct track_ring *track_ring_free(struct track_ring *r);
/* Empties the ring for another track, and forgets how it was buffered. Only while the other side
 * does not use it. */
void track_ring_reset(struct track_ring *r);

/* Maps the pages of an empty ring, so that no reader's thread takes a page fault while it copies
 * sound. Only while the other side does not use it. */
void track_ring_populate(struct track_ring *r);

/* The reader gets nothing until so many frames are there, TRACK_RING_FRAMES at most, and again once
 * it has read them all, unless the end is set: for a source that brings sound only as fast as it
 * plays. Before the first read. */
void track_ring_buffer(struct track_ring *r, size_t frames);

/* The writer is to make analyses from now on, or no longer: not of the reader's thread. A reset
 * ends it. */
void track_ring_watch(struct track_ring *r, bool on);
/* Copies the analysis of the frame `at`, a multiple of ANALYSIS_STEP counted since the reset.
 * False: there is none. Of any thread of the reader's process. */
bool track_ring_analysis(const struct track_ring *r, uint64_t at, struct analysis *out);

/* ---- reader; no system call, no allocation ---- */

/* Copies at most `frames` frames to pcm and sets *got. EPROTO: the indices are impossible; so is
 * every later read until the reset. */
int track_ring_read(struct track_ring *r, int16_t *pcm, size_t frames, size_t *got);
/* Frames that can be read now; 0 for impossible indices. */
size_t track_ring_ready(const struct track_ring *r);
/* True if the writer has set the end and every frame before it was read. Otherwise an empty ring
 * means that the decoder is late. */
bool track_ring_ended(const struct track_ring *r);
/* Sets the end after the last frame that was written, in place of a writer that has died. */
void track_ring_cut(struct track_ring *r);

/* ---- writer ---- */

/* Copies as many of `frames` frames as fit; returns their number. */
size_t track_ring_write(struct track_ring *r, const int16_t *pcm, size_t frames);
/* Frames that fit now. */
size_t track_ring_room(const struct track_ring *r);
/* Sets the end after the last frame that was written. */
void track_ring_end(struct track_ring *r);
/* Takes from this process the right to write what is the reader's in this memory. errno. */
int track_ring_guard(void *memory);

/* True if analyses are wanted. */
bool track_ring_watched(const struct track_ring *r);
/* Puts the analysis of the frame `at`, a multiple of ANALYSIS_STEP, in the place of an older one.
 */
void track_ring_put_analysis(struct track_ring *r, uint64_t at, const struct analysis *a);
/* Copies frames that were written, the newest TRACK_RING_FRAMES at most, from the frame `from` on.
 * Returns their number. */
size_t track_ring_copy(const struct track_ring *r, uint64_t from, int16_t *pcm, size_t frames);

/* ---- observer ---- */

/* Frames that were read since the reset, as the reader says. */
uint64_t track_ring_taken(const struct track_ring *r);

/* Frames that were written since the reset, as the writer says. */
uint64_t track_ring_written(const struct track_ring *r);
/* True if nothing fits into the ring: the writer has nothing to do. */
bool track_ring_rests(const struct track_ring *r);

#endif
