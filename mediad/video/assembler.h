/* Puts the packets of one video source into sequence order and joins them to frames.
 *
 * Packets lie in a table of fixed size, by sequence number. A frame is complete when its packets
 * are all there, from the first to the one with the RTP marker. A missing packet is asked for
 * (NACK) a few times; when it has not come in VIDEO_WAIT_MS, the frame is given up, and because
 * later frames are coded against it, they are dropped until the next key frame, which is asked for
 * (PLI).
 *
 * Allocates nothing after _alloc. Times in ns of the caller's clock. */
#ifndef MEDIAD_VIDEO_ASSEMBLER_H
#define MEDIAD_VIDEO_ASSEMBLER_H

#include "mediad/video/payload.h"

enum {
	VIDEO_PACKETS = 1024,	   /* of the table; a longer frame is lost. A power of two */
	VIDEO_PACKET_MAX = 1460,   /* bytes of a payload */
	VIDEO_FRAME_MAX = 1 << 20, /* bytes of a frame; a longer one is lost */
	VIDEO_WAIT_MS = 400,	   /* for a missing packet */
	VIDEO_REORDER_MS = 20, /* a packet may be overtaken for so long before it is asked for */
	VIDEO_NACK_MS = 40,    /* between two requests for a packet */
	VIDEO_NACKS = 5,       /* requests for one packet */
	VIDEO_NACK_MAX = 64,   /* packets in one request */
	VIDEO_KEY_REQUEST_MS = 1000, /* between two requests for a key frame */
	VIDEO_BACK = 64, /* how far the first packets of a source may be overtaken, in numbers */
	VIDEO_LATE_RUN = 32, /* this many packets below the table in a row: the sender restarted */
};

struct video_packet {
	uint16_t seq;
	uint32_t ts;
	bool marker;
	struct slice payload;
};

struct video_frame {
	struct slice bytes; /* valid until the next call of video_assembler_next */
	uint32_t ts;
	bool key;
};

struct video_assembler_stats {
	uint64_t packets, duplicate, late, restarts;
	uint64_t frames, keys;
	uint64_t lost;	      /* packets that never came */
	uint64_t malformed;   /* frames whose payloads do not fit together */
	uint64_t incomplete;  /* frames given up because packets are lost */
	uint64_t undecodable; /* complete frames dropped for want of a key frame */
};

struct video_assembler;
/* Returns ENOMEM, or EINVAL for VIDEO_NONE. About 2.5 MB. The caller owns *out. */
int video_assembler_alloc(struct video_assembler **out, enum video_codec codec);
/* Begins anew with another codec, in the same memory, which is wiped. */
void video_assembler_restart(struct video_assembler *a, enum video_codec codec);
/* Wipes what it held. */
struct video_assembler *video_assembler_free(struct video_assembler *a);

/* Takes a packet. Returns false when it was dropped: a duplicate, late, or longer than
 * VIDEO_PACKET_MAX. An empty payload stands for a packet of nothing but padding. */
bool video_assembler_put(struct video_assembler *a, const struct video_packet *p, uint64_t now);
/* Returns the next frame in order. False: none is complete. */
bool video_assembler_next(struct video_assembler *a, uint64_t now, struct video_frame *out);
/* Returns the number of packets that a NACK must name now, and their sequence numbers. The caller
 * sends it: they count as requested. */
unsigned video_assembler_missing(struct video_assembler *a, uint64_t now,
				 uint16_t seqs[VIDEO_NACK_MAX]);
/* True when a PLI must request a key frame now. The caller sends it: it counts as requested. */
bool video_assembler_wants_key(struct video_assembler *a, uint64_t now);
/* The frame taken last was useless, because it could not be decrypted or decoded: frames are
 * dropped until the next key frame. */
void video_assembler_refuse(struct video_assembler *a);
const struct video_assembler_stats *video_assembler_stats(const struct video_assembler *a);

#endif
