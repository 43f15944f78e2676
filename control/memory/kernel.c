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

static uint16_t count_plain(const uint64_t *a, const uint64_t *b, size_t words)
{
	uint16_t sum = 0;

	for (size_t i = 0; i < words; i++)
		sum = (uint16_t)(sum + __builtin_popcountll(a[i] ^ b[i]));
	return sum;
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

	for (size_t i = 0; i < n; i += KERNEL_STEP) {
		__m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(b + i));

		sum = _mm256_add_epi32(sum, _mm256_madd_epi16(load_bytes(a + i), y));
	}
	return add_lanes(sum);
}

__attribute__((target("popcnt"))) static uint16_t count_popcnt(const uint64_t *a, const uint64_t *b,
							       size_t words)
{
	uint16_t sum = 0;

	for (size_t i = 0; i < words; i++)
		sum = (uint16_t)(sum + __builtin_popcountll(a[i] ^ b[i]));
	return sum;
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

int32_t kernel_dot_wide(const int8_t *a, const int16_t *b, size_t n)
{
#if HAVE_AVX2
	if (has_avx2())
		return dot_wide_avx2(a, b, n);
#endif
	return dot_wide_plain(a, b, n);
}

uint16_t kernel_distance(const uint64_t *a, const uint64_t *b, size_t words)
{
#if HAVE_AVX2
	if (has_avx2())
		return count_popcnt(a, b, words);
#endif
	return count_plain(a, b, words);
}
