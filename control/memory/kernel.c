#include "control/memory/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AVX2 1
#else
#define HAVE_AVX2 0
#endif

static bool plain_only;

void kernel_use_plain(bool plain)
{
	plain_only = plain;
}

static int32_t dot_plain(const int8_t *a, const int8_t *b, size_t n)
{
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static int32_t dot_wide_plain(const int8_t *a, const int16_t *b, size_t n)
{
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void dots_wide_plain(int32_t *out, const int8_t *a, const int16_t *b, size_t n, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = dot_wide_plain(a, b + i * n, n);
}

static void distances_plain(uint16_t *out, const uint64_t *rows, const uint64_t *b, size_t words,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		out[i] = 0;
		for (size_t w = 0; w < words; w++)
			out[i] = (uint16_t)(out[i] +
					    __builtin_popcountll(rows[i * words + w] ^ b[w]));
	}
}

#if HAVE_AVX2
__attribute__((target("avx2"))) static int32_t add_lanes(__m256i v)
{
	__m128i x = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
	x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1));
	return _mm_cvtsi128_si32(x);
}

__attribute__((target("avx2"))) static __m256i load_bytes(const int8_t *p)
{
	return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

__attribute__((target("avx2"))) static __m256i load_wide(const int16_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

__attribute__((target("avx2"))) static int32_t dot_avx2(const int8_t *a, const int8_t *b, size_t n)
{
	__m256i sum = _mm256_setzero_si256();

	for (size_t i = 0; i < n; i += KERNEL_STEP)
		sum = _mm256_add_epi32(sum,
				       _mm256_madd_epi16(load_bytes(a + i), load_bytes(b + i)));
	return add_lanes(sum);
}

__attribute__((target("avx2"))) static int32_t dot_wide_avx2(const int8_t *a, const int16_t *b,
							     size_t n)
{
	__m256i sum = _mm256_setzero_si256();

	for (size_t i = 0; i < n; i += KERNEL_STEP)
		sum = _mm256_add_epi32(sum, _mm256_madd_epi16(load_bytes(a + i), load_wide(b + i)));
	return add_lanes(sum);
}

/* Four columns at a time: the row is widened once for them, and their sums are added together. */
__attribute__((target("avx2"))) static void dot_4_avx2(int32_t out[4], const int8_t *a,
						       const int16_t *b, size_t n)
{
	__m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
	__m128i x;

	for (size_t i = 0; i < n; i += KERNEL_STEP) {
		__m256i row = load_bytes(a + i);
		const int16_t *p = b + i;

		s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(row, load_wide(p)));
		s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(row, load_wide(p + n)));
		s2 = _mm256_add_epi32(s2, _mm256_madd_epi16(row, load_wide(p + 2 * n)));
		s3 = _mm256_add_epi32(s3, _mm256_madd_epi16(row, load_wide(p + 3 * n)));
	}
	s0 = _mm256_hadd_epi32(_mm256_hadd_epi32(s0, s1), _mm256_hadd_epi32(s2, s3));
	x = _mm_add_epi32(_mm256_castsi256_si128(s0), _mm256_extracti128_si256(s0, 1));
	_mm_storeu_si128((__m128i *)(void *)out, x);
}

__attribute__((target("avx2"))) static void dots_wide_avx2(int32_t *out, const int8_t *a,
							   const int16_t *b, size_t n, size_t count)
{
	size_t i = 0;

	for (; i + 4 <= count; i += 4)
		dot_4_avx2(out + i, a, b + i * n, n);
	for (; i < count; i++)
		out[i] = dot_wide_avx2(a, b + i * n, n);
}

__attribute__((target("popcnt"))) static void
distances_popcnt(uint16_t *out, const uint64_t *rows, const uint64_t *b, size_t words, size_t count)
{
	for (size_t i = 0; i < count; i++, rows += words) {
		unsigned sum = 0;

#pragma GCC unroll 8
		for (size_t w = 0; w < words; w++)
			sum += (unsigned)__builtin_popcountll(rows[w] ^ b[w]);
		out[i] = (uint16_t)sum;
	}
}

/* Each processor with AVX2 has POPCNT, too. */
static bool has_avx2(void)
{
	return !plain_only && __builtin_cpu_supports("avx2");
}
#endif

int32_t kernel_dot(const int8_t *a, const int8_t *b, size_t n)
{
#if HAVE_AVX2
	if (has_avx2())
		return dot_avx2(a, b, n);
#endif
	return dot_plain(a, b, n);
}

void kernel_dots_wide(int32_t *out, const int8_t *a, const int16_t *b, size_t n, size_t count)
{
#if HAVE_AVX2
	if (has_avx2()) {
		dots_wide_avx2(out, a, b, n, count);
		return;
	}
#endif
	dots_wide_plain(out, a, b, n, count);
}

void kernel_distances(uint16_t *out, const uint64_t *rows, const uint64_t *b, size_t words,
		      size_t count)
{
#if HAVE_AVX2
	if (has_avx2()) {
		distances_popcnt(out, rows, b, words, count);
		return;
	}
#endif
	distances_plain(out, rows, b, words, count);
}
