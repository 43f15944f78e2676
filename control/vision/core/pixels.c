#include "control/vision/core/pixels.h"

#include <stdbool.h>

enum { RED = 299, GREEN = 587, BLUE = 114, WHITE = 255 };

void pixels_fit(uint32_t width, uint32_t height, unsigned side, uint32_t *out_width,
		uint32_t *out_height)
{
	uint32_t longer = width > height ? width : height;

	*out_width = width;
	*out_height = height;
	if (longer <= side)
		return;
	*out_width = (uint32_t)(((uint64_t)width * side + longer / 2) / longer);
	*out_height = (uint32_t)(((uint64_t)height * side + longer / 2) / longer);
	*out_width += !*out_width;
	*out_height += !*out_height;
}

/* Sums of the pixels of one new pixel, each multiplied by 255. */
struct sums {
	uint64_t v[3], n;
};

static struct sums sum_area(const struct pixels *from, const uint32_t x[2], const uint32_t y[2])
{
	struct sums s = {{0}, 0};
	unsigned channels = from->channels;

	for (uint32_t row = y[0]; row < y[1]; row++) {
		const uint8_t *p = from->p + ((size_t)row * from->width + x[0]) * channels;

		for (uint32_t col = x[0]; col < x[1]; col++, p += channels) {
			unsigned opacity = channels == 4 ? p[3] : WHITE;
			unsigned under = (WHITE - opacity) * WHITE;

			for (unsigned i = 0; i < 3; i++)
				s.v[i] += p[i] * opacity + under;
		}
	}
	s.n = (uint64_t)(x[1] - x[0]) * (y[1] - y[0]) * WHITE;
	return s;
}

/* Where the area of the i-th of n new pixels lies in `all` old ones; never empty. */
static void find_range(uint32_t i, uint32_t n, uint32_t all, uint32_t out[2])
{
	out[0] = (uint32_t)((uint64_t)i * all / n);
	out[1] = (uint32_t)((uint64_t)(i + 1) * all / n);
	if (out[1] == out[0])
		out[1]++;
}

/* The mean colour of the area, as one byte of brightness or three of colour. */
static uint8_t *put_mean(uint8_t *p, const struct sums *s, bool grey)
{
	if (grey)
		*p++ = (uint8_t)((RED * s->v[0] + GREEN * s->v[1] + BLUE * s->v[2]) /
				 (1000 * s->n));
	for (unsigned i = 0; i < 3 && !grey; i++)
		*p++ = (uint8_t)((s->v[i] + s->n / 2) / s->n);
	return p;
}

static void shrink(const struct pixels *from, struct pixels *to, bool grey)
{
	uint8_t *p = to->p;

	for (uint32_t row = 0; row < to->height; row++) {
		uint32_t x[2], y[2];

		find_range(row, to->height, from->height, y);
		for (uint32_t col = 0; col < to->width; col++) {
			struct sums s;

			find_range(col, to->width, from->width, x);
			s = sum_area(from, x, y);
			p = put_mean(p, &s, grey);
		}
	}
}

void pixels_shrink(const struct pixels *from, struct pixels *to)
{
	shrink(from, to, false);
}

void pixels_shrink_to_grey(const struct pixels *from, struct pixels *to)
{
	shrink(from, to, true);
}
