/* The RTP header extensions that Discord's clients send with video (one-byte elements, RFC 8285):
 * reads the ones that concern a receiver, and writes those of a stream of ours.
 *
 * The ids are those of the native UDP transport; the WebRTC one numbers them otherwise. */
#ifndef MEDIAD_VIDEO_EXTENSIONS_H
#define MEDIAD_VIDEO_EXTENSIONS_H

#include "proto/rtp.h"

enum video_extension {
	VIDEO_EXT_SEND_TIME = 3,     /* 24 bits of seconds, 18 of them fraction */
	VIDEO_EXT_ORIENTATION = 4,   /* 3GPP TS 26.114: quarter turns, flip, camera */
	VIDEO_EXT_TRANSPORT_SEQ = 5, /* a number across all streams of a transport */
	VIDEO_EXT_PLAYOUT_DELAY = 6, /* 12 bits each of least and most delay, in 10 ms */
	VIDEO_EXT_CONTENT_TYPE = 7,  /* 1: a screen */
	VIDEO_EXT_RID = 11,	     /* RFC 8852 */
	VIDEO_EXT_REPAIRED_RID = 12,
};

enum {
	VIDEO_RID_MAX = 16,
	VIDEO_DELAY_STEP_MS = 10,
	VIDEO_EXT_MAX = 16, /* bytes that video_extensions_write needs at most */
};

struct video_extensions {
	unsigned turns; /* quarter turns clockwise that show the picture upright, 0..3 */
	bool screen;	/* the content is a screen, not a camera */
	bool has_delay; /* of playout */
	unsigned delay_min_ms, delay_max_ms;
	struct slice rid; /* the layer of a simulcast; n 0: none. Of a retransmission: of what */
};

/* Reads the body of an extension; what is malformed or unknown is left out. Slices point into
 * body. */
void video_extensions_read(struct video_extensions *out, uint16_t profile, const uint8_t *body,
			   size_t n);
/* Writes content type and playout delay, padded to words of 32 bits. Returns EMSGSIZE; EINVAL for a
 * delay above 40.95 s. */
int video_extensions_write(const struct video_extensions *e, uint8_t *buf, size_t cap, size_t *len);

#endif
