/* Reads the video of a source into its ring: the work of a decoder process.
 *
 * Positions count from the earlier one of picture and sound. Of a sound that begins later than its
 * picture, opened.video.sound_ms tells by how much.
 *
 * libav takes the container apart, MP4 or Matroska. H.264 of 8 bits, VP8 and AV1 that viewers of a
 * stream can follow (sendable.h) stay as they are stored, in the form of streams
 * (mediad/video/stored.h). What they cannot follow, such as B-frames, is decoded and encoded again
 * (convert.h); of that frames are left out before it falls behind its viewers (lead.h). */
#ifndef MEDIAD_DECODER_FILM_H
#define MEDIAD_DECODER_FILM_H

#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct video_ring;

struct film_conf {
	int fd; /* the source: a file, or a fetcher's socket */
	enum decoder_source_kind kind;
	/* 48 kHz frame. A video that stays as it is begins with a key frame before it, and so may
	 * one that is encoded again, if it takes long to decode up to there. */
	uint64_t start;
	struct video_ring *ring;  /* borrowed */
	uint64_t (*clockh)(void); /* ns, monotonic; NULL: CLOCK_MONOTONIC. Tests set it. */
	/* ns of CPU time that this process has used; NULL: CLOCK_PROCESS_CPUTIME_ID. Tests set it.
	 */
	uint64_t (*cpuh)(void);
	/* Called once, when some frames are in the ring, or all of a shorter video. `opened` is
	 * borrowed until return. */
	void (*openedh)(const struct decoder_opened *opened, void *arg);
	void *arg;
};

struct film_job;
/* The steps of film_run. Caller owns *out, which is set on failure as well; conf outlives it. */
enum decoder_reason film_open(struct film_job **out, const struct film_conf *conf);
/* Takes one packet of the source. DECODER_REASON_END: it was the last one. */
enum decoder_reason film_step(struct film_job *f);
struct film_job *film_close(struct film_job *f);

/* Returns DECODER_REASON_END when the whole video is in the ring, or the reason of a failure.
 * Sleeps while the ring is full. */
enum decoder_reason film_run(const struct film_conf *conf);

#endif
