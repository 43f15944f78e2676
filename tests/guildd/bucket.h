/* REST rate limits ("Rate Limits"): fixed windows per route and major id. Pure. */
#ifndef GUILDD_BUCKET_H
#define GUILDD_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct gd_bucket {
	uint64_t key; /* route and major id */
	unsigned limit;
	uint64_t window_ns;
	uint64_t start; /* of the running window; 0 = none yet */
	unsigned used;
};

struct gd_bucket_answer {
	bool allowed;
	unsigned limit, remaining;
	uint64_t reset_after_ns;
};

/* Takes one from the bucket at this time. */
struct gd_bucket_answer gd_bucket_take(struct gd_bucket *b, uint64_t now);
/* Hash of up to n texts, for keys and bucket names. NULL texts count as "". */
uint64_t gd_bucket_hash(const char *const *texts, unsigned n);

#endif
