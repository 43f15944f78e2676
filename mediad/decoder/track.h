/* Decodes one track into its ring: the work of a decoder process. */
#ifndef MEDIAD_DECODER_TRACK_H
#define MEDIAD_DECODER_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "mediad/music/decoder_wire.h"
#include "mediad/music/track_ring.h"

struct track_ring;

enum { TRACK_LEAD = TRACK_RING_RATE / 50 };

struct track_conf {
	int fd; /* the source: a file, or a fetcher's socket */
	enum decoder_source_kind kind;
	uint64_t start;		 /* frame */
	bool measure;		 /* the levels, if tags do not give them */
	struct track_ring *ring; /* borrowed */
	/* Called once, when TRACK_LEAD frames are in the ring, or all of a shorter track: whoever
	 * is told can play at once. `opened` is borrowed until return. */
	void (*openedh)(const struct decoder_opened *opened, void *arg);
	/* Called when measured levels are better known than before. */
	void (*levelsh)(const struct decoder_levels *levels, void *arg);
	/* Called, after openedh, with "Artist - Title" of another song that the source has begun.
	 */
	void (*titleh)(const char *title, void *arg);
	void *arg;
};

/* Returns when the whole track is in the ring, or the reason of a failure. Sleeps while the ring is
 * full. */
enum decoder_reason track_decode(const struct track_conf *conf);

#endif
