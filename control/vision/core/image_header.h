/* The headers of JPEG, PNG and WebP pictures: what a picture claims to be, before a decoder sees
 * it.
 *
 * JPEG: ITU-T T.81 B.1 and B.2; PNG: section 11.2.2 of the W3C's recommendation; WebP: RFC 9649
 * sections 2.3 to 2.7. Nothing is allocated; beyond the header, only the scans of a JPEG are
 * counted. Pure. */
#ifndef CONTROL_VISION_CORE_IMAGE_HEADER_H
#define CONTROL_VISION_CORE_IMAGE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/image.def"

enum {
	IMAGE_BYTES_MAX = 8 << 20,	 /* of a whole encoded picture */
	IMAGE_SIDE_MAX = 16384,		 /* pixels of its width, and of its height */
	IMAGE_PIXELS_MAX = 40 * 1000000, /* of both */
	/* Scans of a JPEG: encoders make about ten of a picture in colours, of any size. */
	IMAGE_SCANS_MAX = 100,
	IMAGE_SCAN_PIXELS_MAX = 12 * IMAGE_PIXELS_MAX /* pixels of all its scans together */
};

/* IMAGE_KEY_FRAME: of a video (frame_header.h), which has no media type here. */
enum image_kind { IMAGE_JPEG, IMAGE_PNG, IMAGE_WEBP, IMAGE_KINDS, IMAGE_KEY_FRAME = IMAGE_KINDS };

enum image_reason {
#define REASON_(NAME, name, text) IMAGE_##NAME,
	IMAGE_REASONS(REASON_)
#undef REASON_
		IMAGE_REASON_COUNT
};

struct image_header {
	enum image_kind kind;
	uint32_t width, height;
};

/* IMAGE_OK, NOT_A_PICTURE, DAMAGED, TOO_LARGE or UNSUPPORTED; *out is written only for OK. */
enum image_reason image_header_read(struct image_header *out, const uint8_t *p, size_t n);

/* "image/jpeg" … */
const char *image_media_type(enum image_kind kind);
/* False: it is the media type of none; parameters after a semicolon are ignored. */
bool image_kind_of(const char *media_type, size_t n, enum image_kind *out);

const char *image_reason_name(enum image_reason reason);
const char *image_reason_text(enum image_reason reason);

#endif
