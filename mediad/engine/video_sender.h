/* The video that the owner of a stream sends: frames encrypted end to end, cut into packets, paced,
 * and sent again to viewers who miss some.
 *
 * Belongs to a call stream that the loop thread drives (loop_stream.h); everything runs there, so
 * it may allocate. Frames wait in a queue of at most VIDEO_QUEUE bytes; beyond it, and while
 * nothing can be sent, they are dropped, and then all up to the next key frame. A scene of more
 * than the bitrate leaves as fast as it must, so that nothing waits longer than
 * VIDEO_QUEUE_MS. Times in ns. */
#ifndef MEDIAD_ENGINE_VIDEO_SENDER_H
#define MEDIAD_ENGINE_VIDEO_SENDER_H

#include "mediad/engine/call_stream.h"
#include "mediad/video/assembler.h"
#include "proto/rtcp.h"

enum {
	VIDEO_QUEUE = 2 << 20,
	VIDEO_SENDER_PAYLOAD = 1150, /* bytes of one packet, at most */
	VIDEO_PACE_PERCENT = 250,    /* a key frame may leave so much faster than the bitrate */
	VIDEO_QUEUE_MS = 200,
	/* After a key frame viewers get no other one for so long: one who lost it asks again. */
	VIDEO_KEY_SPACING_MS = 500,
	VIDEO_BITRATE_MIN = 100000,
	VIDEO_BITRATE_MAX = 20000000,
};

struct video_sender_state {
	bool sending;	/* frames are sent; else they are dropped */
	bool wants_key; /* the next frame must be a key frame */
	uint32_t frames, dropped, again;
	size_t queued;
};

/* The state has changed, apart from its numbers. */
typedef void(video_state_h)(void *arg);

struct video_sender;
/* cs outlives it. Returns ENOMEM. The caller owns *out. */
int video_sender_alloc(struct video_sender **out, struct call_stream *cs, video_state_h *stateh,
		       void *arg);
struct video_sender *video_sender_free(struct video_sender *v);

/* Sends with these SSRCs from now on. Returns EINVAL for VIDEO_NONE or SSRC 0, ENOMEM. */
int video_sender_start(struct video_sender *v, enum video_codec codec, uint32_t ssrc,
		       uint32_t rtx_ssrc);
/* Bits per second, brought between VIDEO_BITRATE_MIN and _MAX. */
void video_sender_set_bitrate(struct video_sender *v, uint32_t bitrate);
/* Drops what waits; nothing is sent before the next start. */
void video_sender_stop(struct video_sender *v);
/* Queues a frame, which is copied. Returns false when it was dropped. */
bool video_sender_put(struct video_sender *v, struct slice frame, uint32_t ts, bool key);
/* A viewer's feedback: missing packets, a request for a key frame. */
void video_sender_feedback(struct video_sender *v, const struct rtcp_packet *p);
void video_sender_tick(struct video_sender *v, uint64_t now);
/* When that is due; UINT64_MAX: never. */
uint64_t video_sender_next(const struct video_sender *v);
struct video_sender_state video_sender_state(const struct video_sender *v);

#endif
