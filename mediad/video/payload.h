/* RTP payload formats of video: cuts an encoded frame into payloads, and joins the payloads of a
 * frame again.
 *
 * H.264: RFC 6184 in packetization mode 1 (single NAL units, STAP-A, FU-A). VP8: RFC 7741. AV1: the
 * Alliance's "RTP Payload Format For AV1", version 1.0. A frame is what one RTP time stands for: of
 * H.264 an access unit in Annex B form, of AV1 a temporal unit without its delimiter.
 *
 * Frames are mostly encrypted end to end, so nothing here reads more than DAVE leaves clear
 * (mediad/dave/frame.h), and a frame in the form that DAVE sends comes back byte for byte: start
 * codes of four bytes, and a size in every AV1 unit but the last. */
#ifndef MEDIAD_VIDEO_PAYLOAD_H
#define MEDIAD_VIDEO_PAYLOAD_H

#include "mediad/video/codec.h"
#include "proto/base/cursor.h"

/* ---- sending ---- */
enum { VIDEO_PAYLOAD_MIN = 16 }; /* the smallest payload size that a packetizer accepts */

/* Plain memory of its owner. Borrows the frame until the last payload is written. */
struct video_packetizer {
	enum video_codec codec;
	const uint8_t *frame;
	size_t n, cap;
	size_t at;	   /* of H.264 and AV1 the next unit, of VP8 the next byte */
	struct slice unit; /* H.264: the unit in work. AV1: its payload */
	size_t sent;	   /* bytes of the unit that are in earlier payloads */
	uint8_t head[2];   /* AV1: header and extension of the unit, without a size */
	unsigned n_head;
	bool first;	     /* no payload was written yet */
	bool sequence;	     /* AV1: the frame begins a coded video sequence */
	uint16_t picture_id; /* VP8: of this frame, 15 bits; the owner counts them */
};

/* Begins a frame of n bytes, to be cut into payloads of at most cap bytes. Returns EINVAL for a cap
 * below VIDEO_PAYLOAD_MIN, EBADMSG when the frame is not of this codec. */
int video_packetizer_start(struct video_packetizer *p, enum video_codec codec, const uint8_t *frame,
			   size_t n, size_t cap);
/* Writes the next payload to out (cap bytes). *last: it ends the frame, whose packet has the RTP
 * marker. Returns false when the frame has ended before. */
bool video_packetizer_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last);

/* ---- receiving ---- */
/* Plain memory of its owner. */
struct video_depacketizer {
	enum video_codec codec;
	uint8_t *out;
	size_t cap, n;
	bool key;      /* the frame can be decoded without earlier frames */
	bool any;      /* a payload was added */
	bool open;     /* H.264, AV1: the newest unit continues in the next payload */
	uint8_t type;  /* H.264: of the open unit */
	size_t unit;   /* AV1: where the newest unit begins in out */
	bool has_unit; /* AV1 */
};

/* Begins a frame, which is written to out (cap bytes, borrowed). */
void video_depacketizer_start(struct video_depacketizer *d, enum video_codec codec, uint8_t *out,
			      size_t cap);
/* Adds the next payload of the frame. Returns EBADMSG when it is malformed or does not follow the
 * one before, EMSGSIZE when the frame does not fit; the frame is lost then. */
int video_depacketizer_add(struct video_depacketizer *d, const uint8_t *p, size_t n);
/* Ends the frame: d->n bytes, d->key. Returns EBADMSG when it is incomplete. */
int video_depacketizer_end(struct video_depacketizer *d);

/* True if a payload can only be the first of a frame; of H.264, of one that begins with a delimiter
 * or a parameter set, as key frames do. */
bool video_payload_begins_frame(enum video_codec codec, const uint8_t *p, size_t n);

#endif
