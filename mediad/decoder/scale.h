/* Scales one plane of a picture to another size: each sample of the result is the average of the
 * area that it covers, so that nothing flickers where a picture becomes much smaller. Pure. */
#ifndef MEDIAD_DECODER_SCALE_H
#define MEDIAD_DECODER_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCALE_SIDE_MAX = 8192, SCALE_DEPTH_MAX = 16 };

/* The values that a result may have, where the source uses all of its own. */
enum scale_range { SCALE_AS_IT_IS, SCALE_LUMA, SCALE_CHROMA };

struct scale_conf {
	unsigned width, height; /* of the source: 1 to SCALE_SIDE_MAX samples */
	unsigned out_width, out_height;
	/* Bits of a sample of the source, 8 to SCALE_DEPTH_MAX: one byte, or two in this machine's
	 * order. Those of the result have 8. */
	unsigned depth;
	enum scale_range range;
};

struct scale;
/* EINVAL, ENOMEM. Caller owns *out. */
int scale_alloc(struct scale **out, const struct scale_conf *conf);
struct scale *scale_free(struct scale *s);
/* Strides in bytes; that of the source may be negative, as where a picture is stored bottom up. */
void scale_run(const struct scale *s, const uint8_t *in, ptrdiff_t stride, uint8_t *out,
	       ptrdiff_t out_stride);

/* Turns a plane of width × height bytes clockwise by so many quarters of a turn; out has its sides
 * exchanged where that number is odd. */
void scale_turn(const uint8_t *in, ptrdiff_t stride, unsigned width, unsigned height,
		unsigned quarters, uint8_t *out, ptrdiff_t out_stride);

#endif
