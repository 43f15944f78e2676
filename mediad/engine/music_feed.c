#include "mediad/engine/music_feed.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/cursor.h"

enum { ENDED = 1, BROKEN = 2 }; /* bits of an input's kind */

static void write_head(void *buf, uint32_t stream, uint32_t lane)
{
	struct wr w = wr_of(buf, MUSIC_FEED_HEAD);

	wr_be(&w, stream, 4);
	wr_be(&w, lane, 4);
}

size_t music_feed_read(struct music_lane *lane, unsigned stream, int16_t buf[MUSIC_FEED_MAX / 2],
		       uint8_t *kind)
{
	const struct music_source *source = music_lane_source(lane);
	const struct playout *p = music_lane_playout(lane);
	size_t n = 0;

	*kind = 0;
	if (!source->read || playout_may_write(p, 1))
		return 0;
	if (source->read(source->arg, buf + MUSIC_FEED_HEAD / 2, playout_room(p), &n)) {
		*kind = BROKEN;
		n = 0;
	} else if (source->ended(source->arg)) {
		*kind = ENDED;
	}
	if (!n && !*kind)
		return 0;
	write_head(buf, stream, music_lane_id(lane));
	return MUSIC_FEED_HEAD + n * MUSIC_FEED_FRAME;
}

bool music_feed_parse(uint8_t kind, const uint8_t *data, size_t len, struct music_feed *out)
{
	struct rd r = rd_of(data, len);
	size_t n;

	out->stream = (uint32_t)rd_be(&r, 4);
	out->lane = (uint32_t)rd_be(&r, 4);
	n = rd_left(&r);
	if (!r.ok || n % MUSIC_FEED_FRAME || n > sizeof out->pcm)
		return false;
	out->ended = kind & ENDED;
	out->broken = kind & BROKEN;
	out->n = n / MUSIC_FEED_FRAME;
	memcpy(out->pcm, data + MUSIC_FEED_HEAD, n);
	return true;
}

size_t music_feed_describe(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	struct rd r = rd_of(data, len);
	unsigned stream = (unsigned)rd_be(&r, 4), lane = (unsigned)rd_be(&r, 4);

	return (size_t)snprintf(text, size, "music line=%u lane=%u frames=%zu flags=%u", stream,
				lane, rd_left(&r) / MUSIC_FEED_FRAME, kind);
}
