/* The headers of video key frames: whether one is there, and its size, before a decoder sees it.
 *
 * H.264: ITU-T H.264 section 7.3.2.1.1, in the byte stream of annex B; VP8: RFC 6386 section 9.1;
 * AV1: the bitstream specification, sections 5.3 to 5.9, units with sizes but for the last. Nothing
 * is allocated. Pure. */
#ifndef CONTROL_VISION_CORE_FRAME_HEADER_H
#define CONTROL_VISION_CORE_FRAME_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/image_header.h"

enum {
	FRAME_BYTES_MAX = 1 << 20,	/* of a whole key frame */
	FRAME_PIXELS_MAX = 4096 * 2304, /* of its width and height: level 5.1 of H.264 */
};

/* FRAME_NONE: no frame of a video but a picture with a header of its own. */
enum frame_codec { FRAME_NONE, FRAME_H264, FRAME_VP8, FRAME_AV1, FRAME_CODECS };

/* As image_header_read, which serves FRAME_NONE. NOT_A_PICTURE: it is no key frame. UNSUPPORTED:
 * its samples are not 8 bits in 4:2:0. */
enum image_reason frame_header_read(struct image_header *out, enum frame_codec codec,
				    const uint8_t *p, size_t n);

#endif
