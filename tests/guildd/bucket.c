#include "tests/guildd/bucket.h"

#include <stddef.h>

struct gd_bucket_answer gd_bucket_take(struct gd_bucket *b, uint64_t now)
{
	struct gd_bucket_answer a = {.limit = b->limit};

	if (!b->used || now - b->start >= b->window_ns) {
		b->start = now;
		b->used = 0;
	}
	a.allowed = b->used < b->limit;
	if (a.allowed)
		b->used++;
	a.remaining = b->limit - b->used;
	a.reset_after_ns = b->start + b->window_ns - now;
	return a;
}

/* FNV-1a with a mark between the texts. */
uint64_t gd_bucket_hash(const char *const *texts, unsigned n)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (unsigned i = 0; i < n; i++) {
		for (const char *p = texts[i]; p && *p; p++)
			h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
		h = (h ^ 0xff) * 0x100000001b3ull;
	}
	return h;
}
