/* Decodes a video and encodes it again, for files that a stream cannot send as they are stored: the
 * work of a jailed decoder process.
 *
 * What comes out is VP8 of at most CONVERT_LONG by CONVERT_SHORT pixels (or upright) and
 * CONVERT_FPS frames a second, in the order in which frames are shown, at the times of the source.
 * Turned pictures are turned upright, and pixels that are not square made so. */
#ifndef MEDIAD_DECODER_CONVERT_H
#define MEDIAD_DECODER_CONVERT_H

#include <libavutil/rational.h>
#include <stdbool.h>
#include <stdint.h>

#include "mediad/decoder/lead.h"
#include "mediad/music/decoder_wire.h"
#include "mediad/music/video_ring.h"

struct AVCodecParameters;
struct AVPacket;
struct convert;

enum {
	CONVERT_LONG = 1280,
	CONVERT_SHORT = 720,
	CONVERT_FPS = 30,
	CONVERT_KEY_MS = 2000, /* viewers who come wait for a key frame */
	CONVERT_BITRATE_MAX = 2500000,
	CONVERT_BITRATE_MIN = 400000,
	CONVERT_SOURCE_PIXELS = 4096 * 2304,
};

struct convert_conf {
	const struct AVCodecParameters *codec; /* borrowed until convert_open returns */
	AVRational time_base;		       /* of packets */
	AVRational aspect;		       /* of a pixel; 0/1: not known */
	unsigned quarters;  /* turns clockwise by which the picture has to be shown */
	uint8_t fps;	    /* of the source */
	bool order_is_told; /* by codec->video_delay; otherwise frames show it */
	int64_t origin;	    /* the beginning of the source, in its time base */
	uint64_t start_us;  /* frames before it are left out */
	/* A unit comes out, and is borrowed until return. A reason ends the work. */
	enum decoder_reason (*unith)(const struct video_unit *unit, const uint8_t *bytes,
				     void *arg);
	void *arg;
};

/* DECODER_REASON_VIDEO_CODEC: it cannot be decoded here; VIDEO_SIZE: it has more than
 * CONVERT_SOURCE_PIXELS. Caller owns *out, which is set on failure as well. */
enum decoder_reason convert_open(struct convert **out, const struct convert_conf *conf);
struct convert *convert_free(struct convert *c);
/* NULL: no packet follows; the rest comes out. */
enum decoder_reason convert_put(struct convert *c, const struct AVPacket *packet);
/* LEAD_KEYS saves no more than LEAD_THIRD where key frames are far apart. */
void convert_save(struct convert *c, enum lead_saving saving);
/* Shows frames before conf.start_us as well from now on, because decoding up to it takes too long.
 */
void convert_give_up_start(struct convert *c);
/* Width, height, rate and bitrate of what comes out, once there is any. */
void convert_describe(const struct convert *c, struct decoder_video *out);

#endif
