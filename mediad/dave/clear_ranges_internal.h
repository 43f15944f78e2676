/* Builds the clear ranges of a frame part by part; for the clear_ranges*.c files. */
#ifndef MEDIAD_DAVE_CLEAR_RANGES_INTERNAL_H
#define MEDIAD_DAVE_CLEAR_RANGES_INTERNAL_H

#include "mediad/dave/frame.h"

struct range_builder {
	struct dave_clear_ranges *ranges;
	uint8_t *out;
	size_t cap;
	int err; /* the first error; later calls do nothing */
};

/* Append bytes that stay clear, joined to a clear range right before them, or bytes that are to be
 * encrypted. */
void range_builder_clear(struct range_builder *p, const uint8_t *bytes, size_t n);
void range_builder_encrypt(struct range_builder *p, const uint8_t *bytes, size_t n);

/* Return EBADMSG when the frame is not of this codec. */
int find_h264_ranges(struct range_builder *p, const uint8_t *frame, size_t n);
int find_h265_ranges(struct range_builder *p, const uint8_t *frame, size_t n);
int find_av1_ranges(struct range_builder *p, const uint8_t *frame, size_t n);

#endif
