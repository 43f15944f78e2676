/* A stream of PCM from one rate to another, whole at the seams (libsamplerate, SINC_MEDIUM; to
 * twice the rate twice.h).
 *
 * However the input is cut, the output is the same. The converter withholds its last millisecond or
 * two until more input comes or the end is told. From n input samples come exactly ceil(n * to /
 * from) in all. For the loop thread: one playback, one resampler. Equal rates pass through
 * untouched. */
#ifndef MEDIAD_AUDIO_RESAMPLE_H
#define MEDIAD_AUDIO_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resample;

/* Rates 8000..48000. EINVAL, ENOMEM. Caller owns *out. */
int resample_alloc(struct resample **out, uint32_t from, uint32_t to);
struct resample *resample_free(struct resample *r);

/* The most samples that one call with n input samples can make. */
size_t resample_most(const struct resample *r, size_t n);
/* Converts all n samples of `in`; `end` flushes (afterwards EPIPE). cap must be at least
 * resample_most(r, n), else EMSGSIZE and nothing happened. *made gets the count. EIO when the
 * library fails. Allocates nothing. */
int resample_run(struct resample *r, const int16_t *in, size_t n, bool end, int16_t *out,
		 size_t cap, size_t *made);

/* How many input samples the first `out` output samples stand for: floor(out * from / to), at most
 * what came in. Exact and monotone; the whole output stands for the whole input. */
uint64_t resample_source(const struct resample *r, uint64_t out);
/* The same without a stream: for the credit of a playback. */
uint64_t resample_scale(uint64_t out, uint32_t from, uint32_t to);

#endif
