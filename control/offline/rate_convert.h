/* Streaming resampler for 16-bit mono sound (libsamplerate). Not thread-safe. */
#ifndef OFFLINE_RATE_CONVERT_H
#define OFFLINE_RATE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_convert;

/* fine: the medium sinc filter, for listeners; otherwise the fastest one, for recognisers. ENOMEM.
 */
int rate_convert_alloc(struct rate_convert **out, unsigned from, unsigned to, bool fine);
struct rate_convert *rate_convert_free(struct rate_convert *r);
/* Forgets earlier input. */
void rate_convert_reset(struct rate_convert *r);
/* Consumes all input; last flushes the delayed samples. *out is borrowed until the next call. EIO,
 * ENOMEM. */
int rate_convert_run(struct rate_convert *r, const int16_t *in, size_t n, bool last,
		     const int16_t **out, size_t *out_n);

#endif
