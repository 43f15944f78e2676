/* Pictures for tests: a scene of a seed, encoded by the libraries that imaged decodes with. */
#ifndef TESTS_PICTURE_ENCODE_H
#define TESTS_PICTURE_ENCODE_H

#include <stddef.h>
#include <stdint.h>

enum { PICTURE_BYTES_MAX = 4 << 20 };
enum picture_format {
	PICTURE_JPEG,
	PICTURE_JPEG_PROGRESSIVE,
	PICTURE_JPEG_GREY,
	PICTURE_PNG,
	PICTURE_PNG_ALPHA,
	PICTURE_WEBP,
	PICTURE_WEBP_LOSSLESS,
	PICTURE_FORMATS
};

/* Coloured rectangles of a seed on white; returns the bytes written to out, 0 for a failure. */
size_t picture_encode(uint8_t out[PICTURE_BYTES_MAX], enum picture_format format, unsigned width,
		      unsigned height, uint64_t seed);

#endif
