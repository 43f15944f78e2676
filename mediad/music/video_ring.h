/* Ring of encoded video in shared memory: a decoder process writes, mediad's loop thread reads.
 *
 * A unit is one frame as a stream sends it: H.264 in Annex B with start codes of four bytes and its
 * parameters before each key frame, VP8 as in IVF, AV1 a temporal unit without its delimiter. Units
 * have at most MEDIA_VIDEO_FRAME_MAX bytes and come in the order in which they are shown. Neither
 * side wakes the other: the reader polls at its clock, the writer sleeps while there is no room.
 *
 * The writer may be hostile. The reader loads each shared word once, copies a unit before it looks
 * at it, keeps its own index, and treats impossible indices and sizes as a broken source. The
 * reader's index is in memory that the writer can lose the right to write to.
 *
 * A handle belongs to one side and one thread; the memory belongs to the caller and outlives it. */
#ifndef MEDIAD_MUSIC_VIDEO_RING_H
#define MEDIAD_MUSIC_VIDEO_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/music/analysis.h"

struct video_ring;

enum {
	VIDEO_RING_BYTES = 4 << 20,
	VIDEO_RING_UNIT_MAX = 1 << 20,
	/* Bytes of shared memory for one ring, and of those before the reader's index: multiples of
	 * every page size up to 64 KiB. */
	VIDEO_RING_READER = VIDEO_RING_BYTES + 65536,
	VIDEO_RING_MEMORY = VIDEO_RING_READER + 65536,
};

struct video_unit {
	uint64_t at_us; /* when it is shown, after the beginning of its source */
	bool key;
	size_t n; /* bytes */
};

/* memory: VIDEO_RING_MEMORY bytes, aligned to a page; borrowed. NULL on replay: a ring that stays
 * empty. EINVAL, ENOMEM. Caller owns *out. */
int video_ring_alloc(struct video_ring **out, void *memory);
struct video_ring *video_ring_free(struct video_ring *r);
/* Empties the ring for another source. Only while the other side does not use it. */
void video_ring_reset(struct video_ring *r);

/* ---- reader ---- */

/* Copies the next unit to buf, which holds VIDEO_RING_UNIT_MAX bytes. EAGAIN: there is none.
 * EPROTO: the writer is broken; so is every later read until the reset. */
int video_ring_read(struct video_ring *r, struct video_unit *unit, uint8_t *buf);
/* True if the writer has set the end and every unit before it was read. */
bool video_ring_ended(const struct video_ring *r);
/* Sets the end after what was written, in place of a writer that has died. */
void video_ring_cut(struct video_ring *r);

/* Gives the writer, one that draws (mediad/decoder/visualizer.h), an analysis of what is heard. */
void video_ring_feed(struct video_ring *r, const struct analysis *a);

/* ---- writer ---- */

/* Takes the next analysis, or the newest one if it missed some. *taken: 0 at first, and the
 * caller's. False: there is none yet. */
bool video_ring_take(const struct video_ring *r, uint64_t *taken, struct analysis *out);

/* Returns false while there is no room. unit->n: 1 to VIDEO_RING_UNIT_MAX. */
bool video_ring_write(struct video_ring *r, const struct video_unit *unit, const uint8_t *bytes);
/* Bytes that the reader has taken since the reset. */
uint64_t video_ring_taken(const struct video_ring *r);
void video_ring_end(struct video_ring *r);
/* Takes from this process the right to write what is the reader's in this memory. errno. */
int video_ring_guard(void *memory);

/* ---- observer ---- */

/* Bytes that were written since the reset, as the writer says. */
uint64_t video_ring_written(const struct video_ring *r);
/* True if a large unit has no room: the writer has nothing to do. */
bool video_ring_rests(const struct video_ring *r);

#endif
