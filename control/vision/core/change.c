#include "control/vision/core/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

enum {
	BLOCKS = (IMAGE_GREY_SIDE + CHANGE_BLOCK - 1) / CHANGE_BLOCK,
	POINTER_PLACES = 3, /* where the pointer was and is, and a cursor that blinks */
	POINTER_BLOCKS = 2, /* a side */
	/* In pixels. A pointer that moved by less than its size leaves twice of it. */
	PIXEL_DIFFERENCE = 16,
	POINTER_WIDTH = 10,
	POINTER_HEIGHT = 14,
	LETTERS_WIDTH = 6, /* what is so wide or wider, and so high or lower, is letters */
	LETTERS_HEIGHT = 4,
	GAP = 2, /* pixels so near to each other belong together */
	ROW_WORDS = (IMAGE_GREY_SIDE + 63) / 64,
	HISTOGRAM_WEIGHT = 2
};

struct blocks {
	unsigned width, height;
	bool differs[BLOCKS][BLOCKS];
};

static bool block_differs(const uint8_t *a, const uint8_t *b, uint32_t width, uint32_t height,
			  uint32_t x, uint32_t y)
{
	uint32_t end_x = x + CHANGE_BLOCK < width ? x + CHANGE_BLOCK : width;
	uint32_t end_y = y + CHANGE_BLOCK < height ? y + CHANGE_BLOCK : height;
	unsigned sum = 0;

	for (uint32_t row = y; row < end_y; row++)
		for (uint32_t col = x; col < end_x; col++) {
			size_t i = (size_t)row * width + col;

			sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
		}
	return sum >= CHANGE_BLOCK_DIFFERENCE * (end_x - x) * (end_y - y);
}

/* Returns how many differ. */
static unsigned compare_blocks(struct blocks *b, const struct change *c, const uint8_t *grey)
{
	unsigned n = 0;

	b->width = (c->width + CHANGE_BLOCK - 1) / CHANGE_BLOCK;
	b->height = (c->height + CHANGE_BLOCK - 1) / CHANGE_BLOCK;
	for (unsigned y = 0; y < b->height; y++)
		for (unsigned x = 0; x < b->width; x++) {
			b->differs[y][x] = block_differs(c->key, grey, c->width, c->height,
							 x * CHANGE_BLOCK, y * CHANGE_BLOCK);
			n += b->differs[y][x];
		}
	return n;
}

/* Clears a square of POINTER_BLOCKS whose upper row has this block, and whose lower row may begin
 * to the left of it. */
static void clear_place(struct blocks *b, unsigned x, unsigned y)
{
	unsigned left = x && y + 1 < b->height && b->differs[y + 1][x - 1] ? x - 1 : x;

	for (unsigned row = y; row < y + POINTER_BLOCKS && row < b->height; row++)
		for (unsigned col = left; col < left + POINTER_BLOCKS && col < b->width; col++)
			b->differs[row][col] = false;
}

/* Nothing differs outside of a few small places. */
static bool is_pointer(struct blocks *b)
{
	unsigned places = 0;

	for (unsigned y = 0; y < b->height; y++)
		for (unsigned x = 0; x < b->width; x++) {
			if (!b->differs[y][x])
				continue;
			if (++places > POINTER_PLACES)
				return false;
			clear_place(b, x, y);
		}
	return true;
}

/* The pixels that differ, a bit for each. */
struct pixel_map {
	unsigned width, height;
	uint64_t rows[IMAGE_GREY_SIDE][ROW_WORDS];
};

/* x0, y0: within; x1, y1: beyond it. */
struct box {
	unsigned x0, y0, x1, y1;
};

static bool pixel_is_set(const struct pixel_map *m, unsigned x, unsigned y)
{
	return m->rows[y][x / 64] >> x % 64 & 1;
}

static void compare_pixels(struct pixel_map *m, const struct change *c, const uint8_t *grey)
{
	*m = (struct pixel_map){.width = c->width, .height = c->height};
	for (unsigned y = 0; y < m->height; y++)
		for (unsigned x = 0; x < m->width; x++) {
			size_t i = (size_t)y * m->width + x;

			if (abs(c->key[i] - grey[i]) >= PIXEL_DIFFERENCE)
				m->rows[y][x / 64] |= UINT64_C(1) << x % 64;
		}
}

static struct box widen(const struct pixel_map *m, const struct box *b)
{
	return (struct box){b->x0 > GAP ? b->x0 - GAP : 0, b->y0 > GAP ? b->y0 - GAP : 0,
			    b->x1 + GAP < m->width ? b->x1 + GAP : m->width,
			    b->y1 + GAP < m->height ? b->y1 + GAP : m->height};
}

/* Takes in what is near to it. Returns whether anything was. */
static bool grow(const struct pixel_map *m, struct box *b)
{
	struct box near = widen(m, b), old = *b;

	for (unsigned y = near.y0; y < near.y1; y++)
		for (unsigned x = near.x0; x < near.x1; x++) {
			if (!pixel_is_set(m, x, y))
				continue;
			b->x0 = x < b->x0 ? x : b->x0;
			b->x1 = x + 1 > b->x1 ? x + 1 : b->x1;
			b->y0 = y < b->y0 ? y : b->y0;
			b->y1 = y + 1 > b->y1 ? y + 1 : b->y1;
		}
	return b->x0 != old.x0 || b->x1 != old.x1 || b->y0 != old.y0 || b->y1 != old.y1;
}

/* Of another shape than a pointer, a cursor, a spinner. */
static bool is_content(const struct box *b)
{
	unsigned width = b->x1 - b->x0, height = b->y1 - b->y0;

	return width > POINTER_WIDTH || height > POINTER_HEIGHT ||
	       (width >= LETTERS_WIDTH && height <= LETTERS_HEIGHT);
}

/* True if the place of this pixel has content; else it is cleared. */
static bool place_is_content(struct pixel_map *m, unsigned x, unsigned y)
{
	struct box b = {x, y, x + 1, y + 1};

	while (grow(m, &b))
		if (b.x1 - b.x0 > POINTER_WIDTH || b.y1 - b.y0 > POINTER_HEIGHT)
			return true;
	for (unsigned row = b.y0; row < b.y1; row++)
		for (unsigned col = b.x0; col < b.x1; col++)
			m->rows[row][col / 64] &= ~(UINT64_C(1) << col % 64);
	return is_content(&b);
}

/* A word that took the place of another one changes few blocks, as a pointer does: its shape
 * tells. */
static bool words_differ(const struct change *c, const uint8_t *grey)
{
	struct pixel_map m;

	compare_pixels(&m, c, grey);
	for (unsigned y = 0; y < m.height; y++)
		for (unsigned x = 0; x < m.width; x++)
			if (pixel_is_set(&m, x, y) && place_is_content(&m, x, y))
				return true;
	return false;
}

/* In thousandths: 1000 for pictures that have no brightness in common. */
static unsigned compare_histograms(const struct change *c, const uint8_t *grey)
{
	int bins[CHANGE_BINS] = {0};
	size_t n = (size_t)c->width * c->height;
	unsigned apart = 0;

	for (size_t i = 0; i < n; i++) {
		bins[c->key[i] * CHANGE_BINS / 256]++;
		bins[grey[i] * CHANGE_BINS / 256]--;
	}
	for (unsigned i = 0; i < CHANGE_BINS; i++)
		apart += (unsigned)abs(bins[i]);
	return (unsigned)(apart * (uint64_t)CHANGE_WHOLE / (2 * n));
}

/* Words count as much as the floor. */
static unsigned measure_change(const struct change *c, const struct change_rules *rules,
			       const uint8_t *grey)
{
	struct blocks b;
	unsigned n = compare_blocks(&b, c, grey);
	unsigned share = (n * CHANGE_WHOLE + b.width * b.height / 2) / (b.width * b.height);
	unsigned histograms = compare_histograms(c, grey) / HISTOGRAM_WEIGHT;

	if (is_pointer(&b))
		share = !words_differ(c, grey) ? 0 : share > rules->floor ? share : rules->floor;
	return share > histograms ? share : histograms;
}

static int keep_key(struct change *c, const struct change_picture *p)
{
	size_t n = (size_t)p->width * p->height;

	if (!c->key || c->width != p->width || c->height != p->height) {
		uint8_t *key = malloc(n);

		if (!key)
			return ENOMEM;
		change_clear(c);
		c->key = key;
		c->width = p->width;
		c->height = p->height;
	}
	memcpy(c->key, p->grey, n);
	c->at = p->at;
	return 0;
}

static enum change_kind judge_change(const struct change *c, const struct change_rules *rules,
				     unsigned share, uint64_t now)
{
	if (share >= rules->threshold && now - c->at >= rules->least)
		return CHANGE_LARGE;
	return share >= rules->floor && share && now - c->at >= rules->slow ? CHANGE_SMALL
									    : CHANGE_NONE;
}

int change_feed(struct change *c, const struct change_rules *rules, const struct change_picture *p,
		struct change_found *found)
{
	bool first = !c->key || c->width != p->width || c->height != p->height;
	unsigned share = first ? CHANGE_WHOLE : measure_change(c, rules, p->grey);
	enum change_kind kind = first ? CHANGE_FIRST : judge_change(c, rules, share, p->at);
	int err = kind == CHANGE_NONE ? 0 : keep_key(c, p);

	if (!err)
		*found = (struct change_found){kind, share};
	return err;
}

void change_clear(struct change *c)
{
	if (c->key)
		sodium_memzero(c->key, (size_t)c->width * c->height);
	free(c->key);
	*c = (struct change){0};
}
