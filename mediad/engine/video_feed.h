/* Video on its way from a decoder's ring to its stream, as an input of the loop thread: read in a
 * live run, taken from the journal on replay.
 *
 * Whoever wants a unit asks for it; it comes in a later step. Everything runs on env's thread. */
#ifndef MEDIAD_ENGINE_VIDEO_FEED_H
#define MEDIAD_ENGINE_VIDEO_FEED_H

#include "mediad/music/video_ring.h"

struct env;
struct video_feed;

/* The unit that was asked for; bytes are borrowed until return. NULL: no more will come, and broken
 * says whether the ring cannot be read. */
typedef void(video_feed_h)(const struct video_unit *unit, const uint8_t *bytes, bool broken,
			   void *arg);

/* ring: borrowed. ENOMEM. Caller owns *out. */
int video_feed_alloc(struct video_feed **out, struct env *env, struct video_ring *ring,
		     video_feed_h *h, void *arg);
/* May be called by the handler. */
struct video_feed *video_feed_free(struct video_feed *f);
/* Asks for the next unit. */
void video_feed_ask(struct video_feed *f);

#endif
