/* The protocol frame of DAVE: which parts of an encoded frame stay readable, and the supplement
 * behind it.
 *
 *   interleaved frame | tag 8 | ULEB128 nonce | (ULEB128 offset, size)* of clear ranges | u8
 * supplement size | FA FA
 *
 * Source: DAVE protocol 1.1, "Frame Encryption"; limits as in Discord's libdave. */
#ifndef MEDIAD_DAVE_FRAME_H
#define MEDIAD_DAVE_FRAME_H

#include "proto/base/cursor.h"

enum {
	DAVE_TAG = 8,
	DAVE_TAIL = 3, /* size and magic */
	DAVE_MAGIC = 0xfa,
	DAVE_FRAME_MIN = 11,
	DAVE_SUPPLEMENT_MAX = 255,
	DAVE_RANGES_MAX = 128,	 /* as many as a supplement could hold */
	DAVE_OPUS_OVERHEAD = 16, /* at most, of an Opus frame */
};

enum dave_codec { DAVE_OPUS, DAVE_VP8, DAVE_VP9, DAVE_H264, DAVE_H265, DAVE_AV1, DAVE_UNKNOWN };

struct dave_range {
	uint32_t at, n;
};

/* The silence that servers send for a source that is muted; it passes in the clear. */
bool dave_is_silence(const uint8_t *frame, size_t n);

struct dave_frame {
	struct slice body; /* interleaved */
	struct slice tag;
	uint32_t nonce;
	uint32_t n_ranges;
	struct dave_range range[DAVE_RANGES_MAX];
};
/* False: not a protocol frame. Strict: ranges ascending, apart, inside the body; numbers in 32
 * bits. Slices point into frame. */
bool dave_frame_parse(struct dave_frame *out, const uint8_t *frame, size_t n);

/* What an encoder's frame must leave readable. Video frames are rewritten where the format asks for
 * it (start codes of four bytes, AV1 sizes): `out` (cap bytes, not overlapping frame) takes the
 * frame to be sealed, at most 5 / 4 * n bytes. EBADMSG: not a frame of this codec, to be sealed
 * whole; EMSGSIZE: cap; EOVERFLOW: more ranges than a supplement holds. */
struct dave_clear_ranges {
	size_t n; /* bytes in out */
	uint32_t n_ranges;
	struct dave_range range[DAVE_RANGES_MAX];
};
int dave_find_clear_ranges(struct dave_clear_ranges *ranges, enum dave_codec codec,
			   const uint8_t *frame, size_t n, uint8_t *out, size_t cap);
/* H.264 and H.265: whether bytes that were sealed imitate a start code, also together with a clear
 * range beside them or in the supplement. sealed: n bytes, the whole protocol frame. */
bool dave_imitates_start_code(const struct dave_clear_ranges *ranges, const uint8_t *sealed,
			      size_t n);

#endif
