#include "control/vision/core/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

enum {
	BLOCKS = (IMAGE_GREY_SIDE + CHANGE_BLOCK - 1) / CHANGE_BLOCK,
	POINTER_PLACES = 3, /* where the pointer was and is, and a cursor that blinks */
	POINTER_BLOCKS = 2, /* a side */
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

static unsigned measure_change(const struct change *c, const uint8_t *grey)
{
	struct blocks b;
	unsigned n = compare_blocks(&b, c, grey);
	unsigned share = (n * CHANGE_WHOLE + b.width * b.height / 2) / (b.width * b.height);
	unsigned histograms = compare_histograms(c, grey) / HISTOGRAM_WEIGHT;

	if (is_pointer(&b))
		share = 0;
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
	unsigned share = first ? CHANGE_WHOLE : measure_change(c, p->grey);
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
