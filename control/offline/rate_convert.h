/* Resampling of 16 bit mono sound as it flows, by libsamplerate. Not for several threads at once.
 */
#ifndef OFFLINE_RATE_CONVERT_H
#define OFFLINE_RATE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_convert;

/* fine: the medium sinc filter, for people's ears; else the fastest, for recognisers. ENOMEM. */
int rate_convert_alloc(struct rate_convert **out, unsigned from, unsigned to, bool fine);
struct rate_convert *rate_convert_free(struct rate_convert *r);
/* Forgets what came before. */
void rate_convert_reset(struct rate_convert *r);
/* All of in is taken; last flushes what is withheld. *out is borrowed until the next call. EIO,
 * ENOMEM. */
int rate_convert_run(struct rate_convert *r, const int16_t *in, size_t n, bool last,
		     const int16_t **out, size_t *out_n);

#endif
