/* Decodes one picture and makes the smaller ones, in a jailed process that ends with it: errors end
 * the process. Nothing here may be called outside of such a process. */
#ifndef CONTROL_VISION_IMAGED_DECODE_H
#define CONTROL_VISION_IMAGED_DECODE_H

#include "control/vision/core/image_wire.h"
#include "control/vision/core/pixels.h"
#include "proto/base/cursor.h"

/* What the child writes to its parent before its pictures, grey first. */
struct decoded_head {
	uint32_t width, height, grey_width, grey_height, jpeg;
};

/* Each decodes a whole picture; h is what its header claimed. The longer side of *out is at least
 * `side`, unless the picture is smaller. Ends the process if it cannot. */
void decode_jpeg(struct slice in, const struct image_header *h, unsigned side, struct pixels *out);
void decode_png(struct slice in, const struct image_header *h, struct pixels *out);
void decode_webp(struct slice in, const struct image_header *h, struct pixels *out);

/* A JPEG of at most IMAGE_JPEG_MAX bytes, of this quality or a lower one. */
void encode_jpeg(const struct pixels *in, unsigned quality, struct slice *out);

/* Decodes, scales, writes head and pictures to the descriptor, and ends the process with an
 * image_reason. */
_Noreturn void decode_and_exit(struct slice in, const struct image_limits *limits, int fd);

/* Memory, or the end of the process. */
void *decode_alloc(size_t n);
_Noreturn void decode_fail(enum image_reason reason);

#endif
