/* The video that a viewer of a stream receives: packets of the users who are watched, joined to
 * frames, decrypted and passed on. Asks for missing packets and for key frames.
 *
 * Belongs to a call stream that the loop thread drives (loop_stream.h); everything runs there, so
 * it may allocate. A watched user costs 2.5 MB from the first packet on, and one frame of
 * VIDEO_FRAME_MAX is decrypted at a time. Times in ns. */
#ifndef MEDIAD_ENGINE_VIDEO_RECEIVER_H
#define MEDIAD_ENGINE_VIDEO_RECEIVER_H

#include "mediad/engine/call_stream.h"
#include "mediad/video/assembler.h"

enum {
	VIDEO_SOURCES = 4,     /* users who are watched at a time */
	VIDEO_CODEC_MS = 1000, /* a user has one codec for so long; packets of others are dropped */
};

/* A frame that was decrypted. Borrowed until the handler returns. */
struct received_frame {
	uint64_t user, at; /* at: arrival of its last packet */
	enum video_codec codec;
	struct slice bytes;
	uint32_t ts;
	bool key;
};
typedef void(received_frame_h)(const struct received_frame *f, void *arg);
/* The first packet of a user came, or the first of another codec; at most every VIDEO_CODEC_MS. */
typedef void(received_codec_h)(uint64_t user, enum video_codec codec, void *arg);

struct video_receiver;
/* cs outlives it. Returns ENOMEM. The caller owns *out. */
int video_receiver_alloc(struct video_receiver **out, struct call_stream *cs,
			 received_frame_h *frameh, received_codec_h *codech, void *arg);
struct video_receiver *video_receiver_free(struct video_receiver *r);

/* Watches a user's SSRCs, in place of the user's earlier ones. every: all frames, else key frames
 * alone. rtx_ssrc: of retransmissions, 0: none. Returns EINVAL for SSRC 0 or one that is watched
 * for another user, ENOSPC. */
int video_receiver_watch(struct video_receiver *r, uint64_t user, uint32_t ssrc, uint32_t rtx_ssrc,
			 bool every);
void video_receiver_unwatch(struct video_receiver *r, uint64_t user);
/* Asks the user for a key frame, as soon as the last request is VIDEO_KEY_REQUEST_MS old. */
void video_receiver_request_key(struct video_receiver *r, uint64_t user);
/* The session has ended: nobody is watched. */
void video_receiver_end_session(struct video_receiver *r);
/* Another transport key: counters begin anew. */
void video_receiver_new_key(struct video_receiver *r);

/* True if a datagram is RTP of a payload type of ours; it was handled then. Decrypts in place. */
bool video_receiver_input(struct video_receiver *r, uint8_t *p, size_t n);
void video_receiver_tick(struct video_receiver *r, uint64_t now);
/* When that is due; UINT64_MAX: never. */
uint64_t video_receiver_next(const struct video_receiver *r);
/* NULL: the user is not watched, or nothing came yet. */
const struct video_assembler_stats *video_receiver_stats(const struct video_receiver *r,
							 uint64_t user);

#endif
