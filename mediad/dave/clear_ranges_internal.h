/* Building a plan part by part; inside of the planning modules. */
#ifndef MEDIAD_DAVE_CLEAR_RANGES_INTERNAL_H
#define MEDIAD_DAVE_CLEAR_RANGES_INTERNAL_H

#include "mediad/dave/frame.h"

struct range_builder {
	struct dave_clear_ranges *ranges;
	uint8_t *out;
	size_t cap;
	int err; /* the first one; later parts do nothing */
};

/* Appends bytes that stay readable, as one range with those before them, or that are to be sealed.
 */
void range_builder_clear(struct range_builder *p, const uint8_t *bytes, size_t n);
void range_builder_encrypt(struct range_builder *p, const uint8_t *bytes, size_t n);

/* EBADMSG. */
int find_h264_ranges(struct range_builder *p, const uint8_t *frame, size_t n);
int find_h265_ranges(struct range_builder *p, const uint8_t *frame, size_t n);
int find_av1_ranges(struct range_builder *p, const uint8_t *frame, size_t n);

#endif
