/* The protocol frame of DAVE: which ranges of an encoded frame stay clear, and the supplement after
 * it.
 *
 * interleaved frame | tag 8 | ULEB128 nonce | (ULEB128 offset, size)* of clear ranges |
 *
 * u8 supplement size | FA FA
 *
 * Source: DAVE protocol 1.1, "Frame Encryption"; limits as in Discord's libdave. */
#ifndef MEDIAD_DAVE_FRAME_H
#define MEDIAD_DAVE_FRAME_H

#include "proto/base/cursor.h"

enum {
	DAVE_TAG = 8,
	DAVE_TAIL = 3, /* supplement size and magic */
	DAVE_MAGIC = 0xfa,
	DAVE_FRAME_MIN = 11,
	DAVE_SUPPLEMENT_MAX = 255,
	DAVE_RANGES_MAX = 128,	 /* the most that a supplement can hold */
	DAVE_OPUS_OVERHEAD = 16, /* upper bound for an Opus frame */
};

enum dave_codec { DAVE_OPUS, DAVE_VP8, DAVE_VP9, DAVE_H264, DAVE_H265, DAVE_AV1, DAVE_UNKNOWN };

struct dave_range {
	uint32_t at, n;
};

/* The silence frame that servers send for a muted source; it is sent in the clear. */
bool dave_is_silence(const uint8_t *frame, size_t n);

struct dave_frame {
	struct slice body; /* interleaved */
	struct slice tag;
	uint32_t nonce;
	uint32_t n_ranges;
	struct dave_range range[DAVE_RANGES_MAX];
};
/* Returns false when it is not a protocol frame. Strict: ranges must ascend, be apart and lie
 * inside the body; numbers must fit into 32 bits. Slices point into frame. */
bool dave_frame_parse(struct dave_frame *out, const uint8_t *frame, size_t n);

/* The ranges of an encoder's frame that must stay clear. Video frames are rewritten where the
 * format requires it (start codes of four bytes, AV1 sizes): `out` (cap bytes, not overlapping
 * frame) receives the frame to be encrypted, at most 5 / 4 * n bytes. Returns EBADMSG when it is
 * not a frame of this codec and is to be encrypted whole, EMSGSIZE when cap is too small, EOVERFLOW
 * when there are more ranges than a supplement holds. */
struct dave_clear_ranges {
	size_t n; /* bytes in out */
	uint32_t n_ranges;
	struct dave_range range[DAVE_RANGES_MAX];
};
int dave_find_clear_ranges(struct dave_clear_ranges *ranges, enum dave_codec codec,
			   const uint8_t *frame, size_t n, uint8_t *out, size_t cap);
/* For H.264 and H.265: whether encrypted bytes form a start code, alone, with an adjacent clear
 * range, or in the supplement. sealed: n bytes, the whole protocol frame. */
bool dave_imitates_start_code(const struct dave_clear_ranges *ranges, const uint8_t *sealed,
			      size_t n);

#endif
