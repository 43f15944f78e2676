#include "mediad/decoder/picture.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLACK = 26, /* luma of the dashboard's dark ground */
	GREY = 128, /* chroma without colour */
	BRIGHT = 170,
	GREEN_U = 112,
	GREEN_V = 76,
	BAR = PICTURE_WIDTH / ANALYSIS_BANDS,
	ROW = PICTURE_HEIGHT / ANALYSIS_BANDS,
	STEP = 4,      /* by which a spectrum moves */
	FALL = 12,     /* of a bar, in each analysis */
	QUIETEST = 10, /* of 128: softer music is not drawn any larger */
	DOT = 4,
	MIDDLE_X = PICTURE_WIDTH / 2,
	MIDDLE_Y = PICTURE_HEIGHT / 2,
	REACH = PICTURE_HEIGHT * 9 / 20,
};

static void clear(struct picture *p)
{
	memset(p->y, BLACK, sizeof p->y);
	memset(p->u, GREY, sizeof p->u);
	memset(p->v, GREY, sizeof p->v);
}

void picture_init(struct picture *p, enum picture_mode mode)
{
	memset(p, 0, sizeof *p);
	p->mode = mode < PICTURE_MODES ? mode : PICTURE_CQT;
	clear(p);
}

/* Fills pixels [x, x + w) × [y, y + h), as far as they are in the picture, with a share of 255 of
 * the colour. */
static void fill(struct picture *p, int x, int y, int w, int h, int share)
{
	const int x2 = x + w < PICTURE_WIDTH ? x + w : PICTURE_WIDTH,
		  y2 = y + h < PICTURE_HEIGHT ? y + h : PICTURE_HEIGHT;

	x = x < 0 ? 0 : x;
	y = y < 0 ? 0 : y;
	for (int row = y; row < y2; row++)
		for (int at = x; at < x2; at++) {
			const int chroma = row / 2 * (PICTURE_WIDTH / 2) + at / 2;

			p->y[row * PICTURE_WIDTH + at] =
				(uint8_t)(BLACK + (BRIGHT - BLACK) * share / 255);
			p->u[chroma] = (uint8_t)(GREY + (GREEN_U - GREY) * share / 255);
			p->v[chroma] = (uint8_t)(GREY + (GREEN_V - GREY) * share / 255);
		}
}

static void draw_bars(struct picture *p, const struct analysis *a)
{
	clear(p);
	for (int b = 0; b < ANALYSIS_BANDS; b++) {
		const int fallen = p->bars[b] > FALL ? p->bars[b] - FALL : 0;
		int h;

		p->bars[b] = a->bands[b] > fallen ? a->bands[b] : (uint8_t)fallen;
		h = p->bars[b] * PICTURE_HEIGHT / 255;
		fill(p, b * BAR + 1, PICTURE_HEIGHT - h, BAR - 2, h, 255);
	}
}

static void move_left(uint8_t *plane, int width, int height, int step)
{
	for (int row = 0; row < height; row++)
		memmove(plane + row * width, plane + row * width + step, (size_t)(width - step));
}

/* Low tones are at the bottom, the newest at the right. */
static void draw_spectrum(struct picture *p, const struct analysis *a)
{
	move_left(p->y, PICTURE_WIDTH, PICTURE_HEIGHT, STEP);
	move_left(p->u, PICTURE_WIDTH / 2, PICTURE_HEIGHT / 2, STEP / 2);
	move_left(p->v, PICTURE_WIDTH / 2, PICTURE_HEIGHT / 2, STEP / 2);
	for (int b = 0; b < ANALYSIS_BANDS; b++)
		fill(p, PICTURE_WIDTH - STEP, PICTURE_HEIGHT - (b + 1) * ROW, STEP, ROW,
		     a->bands[b]);
}

/* Softer music is drawn larger, up to a limit; the scale falls at once and rises slowly. */
static void follow_peak(struct picture *p, const int8_t *points, int n)
{
	/* Rounded up: else it would stay at 49 for ever. */
	p->peak -= (p->peak + 49) / 50;
	for (int i = 0; i < n; i++)
		if (abs(points[i]) > p->peak)
			p->peak = abs(points[i]);
	if (p->peak < QUIETEST)
		p->peak = QUIETEST;
}

static int height_of(const struct picture *p, int8_t point)
{
	return MIDDLE_Y - point * REACH / p->peak;
}

static void draw_wave(struct picture *p, const struct analysis *a)
{
	const int step = PICTURE_WIDTH / ANALYSIS_POINTS;

	clear(p);
	follow_peak(p, a->wave, ANALYSIS_POINTS);
	for (int i = 0; i < ANALYSIS_POINTS; i++) {
		const int y = height_of(p, a->wave[i]),
			  before = i ? height_of(p, a->wave[i - 1]) : y,
			  top = y < before ? y : before, bottom = y < before ? before : y;

		fill(p, i * step, top - 1, step, bottom - top + 3, 255);
	}
}

static void draw_scope(struct picture *p, const struct analysis *a)
{
	clear(p);
	follow_peak(p, a->scope[0], 2 * ANALYSIS_POINTS);
	for (int i = 0; i < ANALYSIS_POINTS; i++)
		fill(p, MIDDLE_X + a->scope[i][0] * REACH / p->peak - DOT / 2,
		     height_of(p, a->scope[i][1]) - DOT / 2, DOT, DOT, 255);
}

void picture_draw(struct picture *p, const struct analysis *a)
{
	static void (*const draw[])(struct picture * p, const struct analysis *a) = {
		[PICTURE_CQT] = draw_bars,
		[PICTURE_SPECTRUM] = draw_spectrum,
		[PICTURE_WAVES] = draw_wave,
		[PICTURE_VECTORSCOPE] = draw_scope};

	draw[p->mode](p, a);
}
