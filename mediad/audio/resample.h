/* Converts a PCM stream from one sample rate to another without seams (libsamplerate, SINC_MEDIUM;
 * doubling uses upsampler.h).
 *
 * The output does not depend on how the input is cut into calls. The converter withholds its last
 * one or two milliseconds until more input comes or the end is declared. n input samples give
 * exactly ceil(n * to / from) output samples in total. For the loop thread; one resampler per
 * playback. Equal rates pass through unchanged. */
#ifndef MEDIAD_AUDIO_RESAMPLE_H
#define MEDIAD_AUDIO_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resample;

/* Rates are 8000..48000. Returns EINVAL or ENOMEM. The caller owns *out. */
int resample_alloc(struct resample **out, uint32_t from, uint32_t to);
struct resample *resample_free(struct resample *r);

/* The most samples that one call with n input samples can return. */
size_t resample_output_max(const struct resample *r, size_t n);
/* Converts all n samples of `in`; `end` flushes, and later calls return EPIPE. cap must be at least
 * resample_output_max(r, n); otherwise EMSGSIZE is returned and nothing happens. *made gets the
 * count. Returns EIO when the library fails. Allocates nothing. */
int resample_run(struct resample *r, const int16_t *in, size_t n, bool end, int16_t *out,
		 size_t cap, size_t *made);

/* The number of input samples that the first `out` output samples stand for: floor(out * from /
 * to), at most the input so far. Exact and monotone; the whole output stands for the whole input.
 */
uint64_t resample_input_of(const struct resample *r, uint64_t out);
/* The same without a stream, for the credit of a playback. */
uint64_t resample_scale(uint64_t out, uint32_t from, uint32_t to);

#endif
