#include "control/room/hearing/signal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__
/* Adds eight samples at a time. Returns the number of bytes used. */
static size_t add_eights(struct room_signal *sig, struct slice pcm, uint32_t active)
{
	enum {
		ROUND = 8 * 2,
		MOST = 4096 /* rounds before a SIMD lane of the count could overflow */
	};
	size_t rounds = pcm.n / ROUND < MOST ? pcm.n / ROUND : MOST;
	__m128i none = _mm_setzero_si128(), high = none, low = none, count = none, sum = none;
	__m128i from = _mm_set1_epi16((int16_t)(active - 1)),
		to = _mm_set1_epi16((int16_t)(1 - (int32_t)active));
	int16_t peak[16], counts[8];
	uint64_t sums[2];

	for (size_t i = 0; i < rounds; i++) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(pcm.p + i * ROUND));
		__m128i squares = _mm_madd_epi16(v, v); /* of two samples each, below 2^32 */

		high = _mm_max_epi16(high, v);
		low = _mm_min_epi16(low, v);
		count = _mm_sub_epi16(
			count, _mm_or_si128(_mm_cmpgt_epi16(v, from), _mm_cmpgt_epi16(to, v)));
		sum = _mm_add_epi64(sum, _mm_unpacklo_epi32(squares, none));
		sum = _mm_add_epi64(sum, _mm_unpackhi_epi32(squares, none));
	}
	_mm_storeu_si128((__m128i *)(void *)peak, high);
	_mm_storeu_si128((__m128i *)(void *)(peak + 8), low);
	_mm_storeu_si128((__m128i *)(void *)counts, count);
	_mm_storeu_si128((__m128i *)(void *)sums, sum);
	for (unsigned i = 0; i < 16; i++) {
		uint32_t a = (uint32_t)(peak[i] < 0 ? -(int32_t)peak[i] : peak[i]);

		if (a > sig->peak)
			sig->peak = a;
	}
	for (unsigned i = 0; i < 8; i++)
		sig->active += (uint64_t)counts[i];
	sig->sum_sq += sums[0] + sums[1];
	sig->samples += rounds * 8;
	return rounds * ROUND;
}
#else
static size_t add_eights(struct room_signal *sig, struct slice pcm, uint32_t active)
{
	(void)sig, (void)pcm, (void)active;
	return 0;
}
#endif

void room_signal_add(struct room_signal *sig, struct slice pcm, uint32_t active)
{
	/* Thresholds that no SIMD lane can hold are left to the loop below. */
	size_t done = active && active <= INT16_MAX ? add_eights(sig, pcm, active) : 0;

	for (size_t i = done; i + 1 < pcm.n; i += 2) {
		int32_t v = (int16_t)(pcm.p[i] | pcm.p[i + 1] << 8);
		uint32_t a = (uint32_t)(v < 0 ? -v : v);

		sig->samples++;
		sig->sum_sq += (uint64_t)a * a;
		if (a >= active)
			sig->active++;
		if (a > sig->peak)
			sig->peak = a;
	}
}

void room_signal_merge(struct room_signal *sig, const struct room_signal *more)
{
	sig->samples += more->samples;
	sig->active += more->active;
	sig->sum_sq += more->sum_sq;
	if (more->peak > sig->peak)
		sig->peak = more->peak;
}

uint32_t room_signal_rms(const struct room_signal *sig)
{
	uint64_t mean = sig->samples ? sig->sum_sq / sig->samples : 0;
	uint64_t root = 0;

	/* Integer square root, bit by bit: the same on every machine. */
	for (uint64_t bit = 1ull << 15; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= mean)
			root |= bit;
	return (uint32_t)root;
}

uint32_t room_signal_active(const struct room_signal *sig)
{
	return sig->samples ? (uint32_t)(sig->active * 1000 / sig->samples) : 0;
}
