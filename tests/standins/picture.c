#include "tests/standins/picture.h"

#include "proto/base/fnv.h"
#include "tests/standins/sound.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

enum { SIDE_MAX = 8192, CELLS = 16, DARK = 80, LIGHT = 176 };

/* Grey samples. */
struct grey {
	uint8_t *p;
	unsigned w, h;
};

/* ---- decoding ---- */

struct failure {
	struct jpeg_error_mgr base; /* first */
	jmp_buf at;
};

static void jpeg_failed(j_common_ptr j)
{
	longjmp(((struct failure *)j->err)->at, 1);
}

static void jpeg_silent(j_common_ptr j, int level)
{
	(void)j;
	(void)level;
}

static bool read_jpeg(const uint8_t *data, size_t n, struct grey *volatile g)
{
	struct jpeg_decompress_struct j;
	struct failure f;
	volatile bool ok = false;

	j.err = jpeg_std_error(&f.base);
	f.base.error_exit = jpeg_failed;
	f.base.emit_message = jpeg_silent;
	jpeg_create_decompress(&j);
	if (!setjmp(f.at)) {
		jpeg_mem_src(&j, data, n);
		jpeg_read_header(&j, TRUE);
		j.out_color_space = JCS_GRAYSCALE;
		jpeg_start_decompress(&j);
		g->w = j.output_width;
		g->h = j.output_height;
		if (g->w <= SIDE_MAX && g->h <= SIDE_MAX) {
			g->p = calloc(g->w, g->h);
			while (g->p && j.output_scanline < g->h) {
				JSAMPROW row = g->p + (size_t)j.output_scanline * g->w;

				jpeg_read_scanlines(&j, &row, 1);
			}
			jpeg_finish_decompress(&j);
			ok = g->p != NULL;
		}
	}
	jpeg_destroy_decompress(&j);
	return ok;
}

static bool read_png(const uint8_t *data, size_t n, struct grey *g)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	bool ok = png_image_begin_read_from_memory(&image, data, n) && image.width <= SIDE_MAX &&
		  image.height <= SIDE_MAX;

	image.format = PNG_FORMAT_GRAY;
	if (ok) {
		g->w = image.width;
		g->h = image.height;
		g->p = calloc(g->w, g->h);
		ok = g->p && png_image_finish_read(&image, NULL, g->p, 0, NULL);
	}
	png_image_free(&image);
	return ok;
}

/* ---- the number ---- */

static unsigned cell_mean(const struct grey *g, unsigned cell)
{
	/* Not its edges, which scaling blurs. */
	unsigned w = g->w / CELLS, x0 = cell * g->w / CELLS + w / 4, y0 = g->h / 32, y1 = g->h / 10;
	uint64_t sum = 0, n = 0;

	for (unsigned y = y0; y < y1; y++)
		for (unsigned x = x0; x < x0 + w / 2; x++, n++)
			sum += g->p[(size_t)y * g->w + x];
	return n ? (unsigned)(sum / n) : 128;
}

static bool read_number(const struct grey *g, unsigned *number)
{
	*number = 0;
	for (unsigned i = 0; i < CELLS; i++) {
		unsigned mean = cell_mean(g, i);

		if ((mean > DARK && mean < LIGHT) || (i == 0 && mean < LIGHT) ||
		    (i == CELLS - 1 && mean > DARK))
			return false;
		if (i > 0 && i < CELLS - 1)
			*number = *number << 1 | (mean >= LIGHT);
	}
	return true;
}

/* ---- the words ---- */

static bool begins(const uint8_t *data, size_t n, const char *magic, size_t size)
{
	return n >= size && memcmp(data, magic, size) == 0;
}

static bool describe(const char *type, const uint8_t *data, size_t n, char out[SI_PICTURE_MAX])
{
	struct grey g = {0};
	bool jpeg = strcmp(type, "image/jpeg") == 0, png = strcmp(type, "image/png") == 0, ok;
	char size[32] = "", frame[24] = "";
	unsigned number;

	if (jpeg)
		ok = read_jpeg(data, n, &g);
	else if (png)
		ok = read_png(data, n, &g);
	else
		ok = (strcmp(type, "image/webp") == 0 && begins(data, n, "RIFF", 4)) ||
		     (strcmp(type, "image/gif") == 0 && begins(data, n, "GIF8", 4));
	if (ok && g.p) {
		snprintf(size, sizeof size, " %ux%u", g.w, g.h);
		if (read_number(&g, &number))
			snprintf(frame, sizeof frame, " frame %u", number);
	}
	free(g.p);
	snprintf(out, SI_PICTURE_MAX, "%.24s%s%s hash %016llx", type, size, frame,
		 (unsigned long long)fnv_bytes(0, data, n));
	return ok;
}

bool si_picture_read(const char *type, const char *base64, size_t n, char out[SI_PICTURE_MAX])
{
	size_t size;
	uint8_t *data = si_unbase64(base64, n, &size);
	bool ok = data && size && describe(type, data, size, out);

	free(data);
	return ok;
}

bool si_picture_url(const char *url, char out[SI_PICTURE_MAX])
{
	char type[32];
	const char *at = strchr(url, ',');
	size_t n;

	if (strncmp(url, "data:", 5) != 0 || !at || at - url < 7 || strncmp(at - 7, ";base64", 7))
		return false;
	n = (size_t)(at - 7 - (url + 5));
	if (n >= sizeof type)
		return false;
	memcpy(type, url + 5, n);
	type[n] = '\0';
	return si_picture_read(type, at + 1, strlen(at + 1), out);
}
