/* Resampling of 16 bit mono sound as it flows, by libsamplerate. Not for several threads at once.
 */
#ifndef OFFLINE_RESAMPLE_H
#define OFFLINE_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resample;

/* fine: the medium sinc filter, for people's ears; else the fastest, for recognisers. ENOMEM. */
int resample_alloc(struct resample **out, unsigned from, unsigned to, bool fine);
struct resample *resample_free(struct resample *r);
/* Forgets what came before. */
void resample_reset(struct resample *r);
/* All of in is taken; last flushes what is withheld. *out is borrowed until the next call. EIO,
 * ENOMEM. */
int resample_run(struct resample *r, const int16_t *in, size_t n, bool last, const int16_t **out,
		 size_t *out_n);

#endif
