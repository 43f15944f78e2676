#include "tests/guildd/impair.h"

#include <stdbool.h>

void gd_impair_seed(struct gd_impair *im, uint64_t seed)
{
	im->state = seed;
}

/* splitmix64: any seed will do, zero too. */
static uint64_t next(struct gd_impair *im)
{
	uint64_t z = im->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* One number is drawn for every question, asked or not, so that one switch does not shift the luck
 * of another. */
static bool chance(struct gd_impair *im, uint32_t permille)
{
	return next(im) % 1000 < permille;
}

bool gd_impair_lost(struct gd_impair *im, uint32_t permille)
{
	return permille && chance(im, permille);
}

unsigned gd_impair_plan(struct gd_impair *im, const struct gd_impair_conf *conf, uint64_t delays[2])
{
	bool lost = chance(im, conf->loss_permille);
	bool twice = chance(im, conf->dup_permille);
	bool late = chance(im, conf->reorder_permille);
	uint64_t jitter_us = (uint64_t)conf->jitter_ms * 1000;
	uint64_t us = (uint64_t)conf->delay_ms * 1000 + next(im) % (jitter_us + 1);

	if (lost)
		return 0;
	if (late)
		us += (uint64_t)conf->reorder_ms * 1000;
	delays[0] = us * 1000;
	delays[1] = delays[0];
	return twice ? 2 : 1;
}
