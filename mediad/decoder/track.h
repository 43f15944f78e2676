/* Decodes one track into its ring: the work of a decoder process.
 *
 * libav finds the format among an allow-list of demuxers and decoders and opens nothing by itself.
 * The sound becomes stereo int16 at 48 kHz, without the encoder delay and padding that the file
 * declares, and starts at the frame that was asked for. */
#ifndef MEDIAD_DECODER_TRACK_H
#define MEDIAD_DECODER_TRACK_H

#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct track_ring;

struct track_conf {
	int fd; /* the source: a file, or a fetcher's socket */
	enum decoder_source_kind kind;
	uint64_t start;		 /* frame */
	struct track_ring *ring; /* borrowed */
	/* Called once, before the first frame is written. `opened` is borrowed until return. */
	void (*openedh)(const struct decoder_opened *opened, void *arg);
	void *arg;
};

/* Once per process, before the jail: what libav would load from files later. */
void track_prepare(void);
/* Returns when the whole track is in the ring, or the reason of a failure. Sleeps while the ring is
 * full. */
enum decoder_reason track_decode(const struct track_conf *conf);

#endif
