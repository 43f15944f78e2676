/* Key frames as encoders of streams make them, for tests. */
#ifndef TESTS_PICTURE_ENCODE_FRAME_H
#define TESTS_PICTURE_ENCODE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/frame_header.h"

/* The first frame of a video of this brightness (0 to 255) with a darker right half, by libav, into
 * FRAME_BYTES_MAX bytes; key false: the second one, which needs the first. Returns its length, 0
 * without such an encoder. */
size_t frame_encode(uint8_t *out, enum frame_codec codec, unsigned width, unsigned height,
		    uint8_t brightness, bool key);

#endif
