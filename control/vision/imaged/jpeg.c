#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "control/vision/imaged/decode.h"

enum { LOWER_QUALITY = 2, LOWEST_QUALITY = 10 };

static _Noreturn void on_error(j_common_ptr j)
{
	(void)j;
	decode_fail(IMAGE_DAMAGED);
}

/* Warnings and traces of the library: damaged parts are grey, and nobody reads this. */
static void on_message(j_common_ptr j, int level)
{
	(void)j, (void)level;
}

static void use_errors(struct jpeg_error_mgr *e)
{
	jpeg_std_error(e);
	e->error_exit = on_error;
	e->emit_message = on_message;
}

/* The decoder halves, quarters or eighths the picture at nearly no cost. */
static unsigned choose_eighths(const struct image_header *h, unsigned side)
{
	uint32_t longer = h->width > h->height ? h->width : h->height;
	unsigned eighths = 8;

	while (eighths > 1 && longer / 8 * (eighths / 2) >= side)
		eighths /= 2;
	return eighths;
}

void decode_jpeg(struct slice in, const struct image_header *h, unsigned side, struct pixels *out)
{
	struct jpeg_decompress_struct j;
	struct jpeg_error_mgr errors;
	size_t row;

	j.err = &errors;
	use_errors(&errors);
	jpeg_create_decompress(&j);
	jpeg_mem_src(&j, in.p, in.n);
	jpeg_read_header(&j, TRUE);
	if (j.image_width != h->width || j.image_height != h->height)
		decode_fail(IMAGE_DAMAGED);
	j.out_color_space = JCS_RGB;
	j.scale_num = choose_eighths(h, side);
	j.scale_denom = 8;
	jpeg_start_decompress(&j);
	if (j.output_components != 3)
		decode_fail(IMAGE_UNSUPPORTED);
	row = (size_t)j.output_width * 3;
	*out = (struct pixels){j.output_width, j.output_height, 3,
			       decode_alloc(row * j.output_height)};
	while (j.output_scanline < j.output_height) {
		JSAMPROW at = out->p + row * j.output_scanline;

		jpeg_read_scanlines(&j, &at, 1);
	}
	jpeg_destroy_decompress(&j);
}

static void encode_once(const struct pixels *in, unsigned quality, unsigned char **out,
			unsigned long *n)
{
	struct jpeg_compress_struct j;
	struct jpeg_error_mgr errors;

	j.err = &errors;
	use_errors(&errors);
	jpeg_create_compress(&j);
	jpeg_mem_dest(&j, out, n);
	j.image_width = in->width;
	j.image_height = in->height;
	j.input_components = 3;
	j.in_color_space = JCS_RGB;
	jpeg_set_defaults(&j);
	jpeg_set_quality(&j, (int)quality, TRUE);
	jpeg_start_compress(&j, TRUE);
	while (j.next_scanline < j.image_height) {
		JSAMPROW at = in->p + (size_t)j.next_scanline * in->width * 3;

		jpeg_write_scanlines(&j, &at, 1);
	}
	jpeg_finish_compress(&j);
	jpeg_destroy_compress(&j);
}

void encode_jpeg(const struct pixels *in, unsigned quality, struct slice *out)
{
	for (; quality >= LOWEST_QUALITY; quality /= LOWER_QUALITY) {
		unsigned char *p = NULL;
		unsigned long n = 0;

		encode_once(in, quality, &p, &n);
		if (n <= IMAGE_JPEG_MAX) {
			*out = (struct slice){p, n};
			return;
		}
		free(p);
	}
	decode_fail(IMAGE_TOO_LARGE);
}
