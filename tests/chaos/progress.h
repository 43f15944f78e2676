/* The seeds that were played, in a file, so that an interrupted run continues where it stopped. A
 * line a seed: number, name of the broken invariant or "none", milliseconds until all was well. The
 * first line has a hash of the programs; results of other programs are discarded. */
#ifndef TESTS_CHAOS_PROGRESS_H
#define TESTS_CHAOS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress;

struct progress_seed {
	uint64_t seed;
	unsigned broken; /* of enum chaos_invariant */
	unsigned settle_ms;
};

/* bin: the folder of the programs. Reads path, or begins it anew. ENOMEM, errors of files. */
int progress_alloc(struct progress **out, const char *path, const char *bin);
/* NULL accepted. */
void progress_free(struct progress *p);
/* NULL: not played yet. Borrowed until the next call. p may be NULL. */
const struct progress_seed *progress_find(const struct progress *p, uint64_t seed);
/* Written at once, as one line. p may be NULL. */
void progress_add(struct progress *p, const struct progress_seed *s);
/* Everything was played: the next run starts from the beginning. p may be NULL. */
void progress_complete(struct progress *p);

#endif
