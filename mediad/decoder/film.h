/* Reads the video of a source into its ring, as it is stored: the work of a decoder process that
 * decodes nothing.
 *
 * libav takes the container apart; its frames become those of streams (mediad/video/stored.h).
 * H.264 of 8 bits, VP8 and AV1 of MP4 and Matroska alone, and only frames that are stored in the
 * order in which they are shown: viewers of a stream show each frame when it comes. */
#ifndef MEDIAD_DECODER_FILM_H
#define MEDIAD_DECODER_FILM_H

#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct video_ring;

struct film_conf {
	int fd; /* the source: a file, or a fetcher's socket */
	enum decoder_source_kind kind;
	uint64_t start;		 /* 48 kHz frame; the video begins with a key frame before it */
	struct video_ring *ring; /* borrowed */
	/* Called once, when some frames are in the ring, or all of a shorter video. `opened` is
	 * borrowed until return. */
	void (*openedh)(const struct decoder_opened *opened, void *arg);
	void *arg;
};

/* Returns DECODER_REASON_END when the whole video is in the ring, or the reason of a failure.
 * Sleeps while the ring is full. */
enum decoder_reason film_run(const struct film_conf *conf);

#endif
