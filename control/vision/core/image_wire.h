/* What control and imaged say to each other: a request is a line and the bytes of a picture behind
 * it, a result one line with its pictures in base64. Pure. */
#ifndef CONTROL_VISION_CORE_IMAGE_WIRE_H
#define CONTROL_VISION_CORE_IMAGE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/frame_header.h"

enum {
	IMAGE_REQUEST_MAX = 64,	       /* bytes of a request's line, with NUL */
	IMAGE_SMALLEST = 64,	       /* pixels: limits.side at least */
	IMAGE_LARGEST = 2048,	       /* and at most */
	IMAGE_GREY_SIDE = 256,	       /* the longer side of the grey picture at most */
	IMAGE_JPEG_MAX = 640 << 10,    /* bytes of the scaled picture */
	IMAGE_RESULT_MAX = 1000 * 1024 /* bytes of a result's line */
};

/* The scaled picture that is wanted: its longer side at most, in pixels, and the quality of the
 * JPEG, 1 to 100; and what is sent. */
struct image_limits {
	unsigned side, quality;
	enum frame_codec codec;
};

struct image_request {
	uint32_t id; /* never 0 */
	size_t bytes;
	struct image_limits limits;
};

/* With the newline; returns its length. */
size_t image_request_write(const struct image_request *r, char out[IMAGE_REQUEST_MAX]);
/* line: without the newline, NUL-terminated. EBADMSG. */
int image_request_read(struct image_request *out, const char *line);

struct image_result {
	uint32_t id;
	enum image_reason reason;    /* of all but OK nothing else is set */
	struct image_header picture; /* as it came */
	uint32_t width, height;	     /* of the scaled one */
	const uint8_t *jpeg;
	size_t n;
	uint32_t grey_width, grey_height;
	const uint8_t *grey; /* grey_width × grey_height: its brightness, the smaller picture */
};

/* True if sizes and dimensions agree with each other and with the limits of this file. */
bool image_result_valid(const struct image_result *r);
/* The line with its newline, at most IMAGE_RESULT_MAX bytes; *n: its length. r must be valid.
 * ENOMEM. Caller frees *out. */
int image_result_write(const struct image_result *r, char **out, size_t *n);
/* *memory holds what *out points to; the caller frees it with free(), NULL without pictures.
 * EBADMSG, ENOMEM. */
int image_result_read(struct image_result *out, void **memory, const char *line, size_t n);

#endif
