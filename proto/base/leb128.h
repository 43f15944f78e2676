/* ULEB128, the numbers of DAVE supplements and of AV1 units: seven bits per byte, lowest first,
 * with the top bit set while more bytes follow. */
#ifndef PROTO_BASE_LEB128_H
#define PROTO_BASE_LEB128_H

#include "proto/base/cursor.h"

enum { LEB128_MAX = 5 }; /* bytes that a 32-bit number needs */

static inline unsigned leb128_size(uint32_t v)
{
	unsigned n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

/* Returns the position after it. */
static inline uint8_t *leb128_write(uint8_t *p, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Clears r->ok when the number is truncated, longer than `max` bytes (at most 8) or over 32 bits.
 * Accepts a longer form than the number needs. */
static inline uint32_t leb128_read(struct rd *r, unsigned max)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < max; i++) {
		const uint8_t *p = rd_bytes(r, 1);

		if (!p)
			return 0;
		v |= (uint64_t)(*p & 0x7f) << (7 * i);
		if (*p & 0x80)
			continue;
		if (v > UINT32_MAX)
			break;
		return (uint32_t)v;
	}
	r->ok = false;
	return 0;
}

#endif
