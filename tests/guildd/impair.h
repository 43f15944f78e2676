/* Network impairment: which packets are lost, duplicated or delayed. Pure and seeded, so a run can
 * be repeated. */
#ifndef GUILDD_IMPAIR_H
#define GUILDD_IMPAIR_H

#include <stdbool.h>
#include <stdint.h>

struct gd_impair_conf {
	uint32_t loss_permille, dup_permille, reorder_permille;
	uint32_t reorder_ms, delay_ms, jitter_ms;
};

struct gd_impair {
	uint64_t state;
};

void gd_impair_seed(struct gd_impair *im, uint64_t seed);
/* Draws only when something can be lost. */
bool gd_impair_lost(struct gd_impair *im, uint32_t permille);
/* When one packet arrives: 0, 1 or 2 delays in ns. Returns how many. */
unsigned gd_impair_plan(struct gd_impair *im, const struct gd_impair_conf *conf,
			uint64_t delays[2]);

#endif
