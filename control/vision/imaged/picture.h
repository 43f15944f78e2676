/* One picture: a child in the jail decodes it, and its parent believes nothing of what comes back
 * until it was checked. */
#ifndef CONTROL_VISION_IMAGED_PICTURE_H
#define CONTROL_VISION_IMAGED_PICTURE_H

#include "control/vision/core/image_wire.h"
#include "proto/base/cursor.h"

enum { PICTURE_CPU_S = 3, PICTURE_WALL_MS = 8000 };

/* Fills *out but for its id; the pictures lie in memory, which has PICTURE_MEMORY bytes. */
enum { PICTURE_MEMORY = 32 + IMAGE_GREY_SIDE * IMAGE_GREY_SIDE + IMAGE_JPEG_MAX };
void picture_decode(struct image_result *out, uint8_t *memory, struct slice in,
		    const struct image_limits *limits);

#endif
