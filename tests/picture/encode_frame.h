/* Key frames as encoders of streams make them, for tests. */
#ifndef TESTS_PICTURE_ENCODE_FRAME_H
#define TESTS_PICTURE_ENCODE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/frame_header.h"

/* What a frame shows: this brightness (0 to 255) with a darker right half, and above that a number
 * as tests/standins/picture.h reads it; 0: none. */
struct frame_scene {
	unsigned width, height;
	uint8_t brightness;
	unsigned number;
};
/* The first frame of a video by libav, into FRAME_BYTES_MAX bytes; key false: the second one, which
 * needs the first. Returns its length, 0 without such an encoder. */
size_t frame_encode(uint8_t *out, enum frame_codec codec, const struct frame_scene *scene,
		    bool key);

#endif
