/* Music on its way from its source to a lane, as an input of an audio thread: read in a live run,
 * taken from the journal on replay. Pure. */
#ifndef MEDIAD_ENGINE_MUSIC_FEED_H
#define MEDIAD_ENGINE_MUSIC_FEED_H

#include "mediad/audio/music_lane.h"

enum {
	MUSIC_FEED_HEAD = 8, /* bytes: the stream's index, the lane's id */
	MUSIC_FEED_FRAME = 2 * sizeof(int16_t),
	MUSIC_FEED_MAX = MUSIC_FEED_HEAD + MUSIC_LANE_CAPACITY * MUSIC_FEED_FRAME,
};

struct music_feed {
	uint32_t stream, lane;
	bool ended;  /* no more will come */
	bool broken; /* the source cannot be read */
	size_t n;    /* frames */
	int16_t pcm[2 * MUSIC_LANE_CAPACITY];
};

/* Reads as much from the lane's source as the lane has room for. Returns the length of the input in
 * buf, 0: nothing is to be delivered. */
size_t music_feed_read(struct music_lane *lane, unsigned stream, int16_t buf[MUSIC_FEED_MAX / 2],
		       uint8_t *kind);
/* Returns false when it is malformed. */
bool music_feed_parse(uint8_t kind, const uint8_t *data, size_t len, struct music_feed *out);
/* Describes an input in a journal of shapes, without its sound: an env_shape_h. */
size_t music_feed_describe(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size);

#endif
