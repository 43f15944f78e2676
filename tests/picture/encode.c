#include "tests/picture/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

#include "tests/random.h"

enum { RECTANGLES = 12, QUALITY = 80 };

/* Red, green, blue and opacity. */
static uint8_t *paint(unsigned width, unsigned height, uint64_t seed)
{
	uint8_t *p = malloc((size_t)width * height * 4);

	if (!p)
		return NULL;
	memset(p, 255, (size_t)width * height * 4);
	for (unsigned i = 0; i < RECTANGLES; i++) {
		unsigned x = random_below(&seed, width), y = random_below(&seed, height);
		unsigned w = 1 + random_below(&seed, width), h = 1 + random_below(&seed, height);
		uint32_t colour = (uint32_t)random_next(&seed);

		for (unsigned row = y; row < y + h && row < height; row++)
			for (unsigned col = x; col < x + w && col < width; col++)
				memcpy(p + ((size_t)row * width + col) * 4, &colour, 3);
	}
	return p;
}

static size_t encode_jpeg(uint8_t *out, enum picture_format format, const uint8_t *rgba,
			  unsigned width, unsigned height)
{
	unsigned channels = format == PICTURE_JPEG_GREY ? 1 : 3;
	struct jpeg_compress_struct j;
	struct jpeg_error_mgr errors;
	unsigned long n = PICTURE_BYTES_MAX;
	unsigned char *to = out;
	uint8_t *row = malloc((size_t)width * 3);

	if (!row)
		return 0;
	j.err = jpeg_std_error(&errors);
	jpeg_create_compress(&j);
	jpeg_mem_dest(&j, &to, &n);
	j.image_width = width;
	j.image_height = height;
	j.input_components = (int)channels;
	j.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(&j);
	jpeg_set_quality(&j, QUALITY, TRUE);
	if (format == PICTURE_JPEG_PROGRESSIVE)
		jpeg_simple_progression(&j);
	jpeg_start_compress(&j, TRUE);
	while (j.next_scanline < height) {
		const uint8_t *from = rgba + (size_t)j.next_scanline * width * 4;

		for (unsigned i = 0; i < width; i++)
			memcpy(row + (size_t)i * channels, from + (size_t)i * 4, channels);
		jpeg_write_scanlines(&j, (JSAMPARRAY)&row, 1);
	}
	jpeg_finish_compress(&j);
	jpeg_destroy_compress(&j);
	free(row);
	return to == out ? n : 0;
}

static size_t encode_png(uint8_t *out, enum picture_format format, const uint8_t *rgba,
			 unsigned width, unsigned height)
{
	png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height};
	png_alloc_size_t n = PICTURE_BYTES_MAX;
	uint8_t *copy = malloc((size_t)width * height * 4);
	int ok;

	if (!copy)
		return 0;
	memcpy(copy, rgba, (size_t)width * height * 4);
	for (size_t i = 3; format == PICTURE_PNG_ALPHA && i < (size_t)width * height * 4; i += 4)
		copy[i] = (uint8_t)i;
	image.format = PNG_FORMAT_RGBA;
	ok = png_image_write_to_memory(&image, out, &n, 0, copy, 0, NULL);
	free(copy);
	return ok ? n : 0;
}

static size_t encode_webp(uint8_t *out, enum picture_format format, const uint8_t *rgba,
			  unsigned width, unsigned height)
{
	uint8_t *made = NULL;
	int stride = (int)width * 4;
	size_t n = format == PICTURE_WEBP
			   ? WebPEncodeRGBA(rgba, (int)width, (int)height, stride, QUALITY, &made)
			   : WebPEncodeLosslessRGBA(rgba, (int)width, (int)height, stride, &made);

	if (n > PICTURE_BYTES_MAX)
		n = 0;
	if (n)
		memcpy(out, made, n);
	WebPFree(made);
	return n;
}

size_t picture_encode(uint8_t out[PICTURE_BYTES_MAX], enum picture_format format, unsigned width,
		      unsigned height, uint64_t seed)
{
	uint8_t *rgba = paint(width, height, seed);
	size_t n = 0;

	if (!rgba)
		return 0;
	if (format <= PICTURE_JPEG_GREY)
		n = encode_jpeg(out, format, rgba, width, height);
	else if (format <= PICTURE_PNG_ALPHA)
		n = encode_png(out, format, rgba, width, height);
	else
		n = encode_webp(out, format, rgba, width, height);
	free(rgba);
	return n;
}
