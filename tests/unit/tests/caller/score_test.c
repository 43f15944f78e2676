#include "tests/caller/score.h"
#include "tests/test.h"

#include <math.h>

static void chirp(int16_t *x, size_t n, double from, double to, int16_t amp)
{
	double phase = 0;

	for (size_t i = 0; i < n; i++) {
		phase += 2 * M_PI * (from + (to - from) * (double)i / (double)n) / 24000;
		x[i] = (int16_t)(amp * sin(phase));
	}
}

TEST(score_finds_the_said_in_the_heard)
{
	static int16_t ref[12000], got[36000];
	long lag;

	chirp(ref, 12000, 200, 1500, 8000);
	memcpy(got + 7777, ref, sizeof ref);
	CHECK(score_correlation(ref, 12000, got, 36000, &lag) > 0.99);
	CHECK_INT(lag, 7777);
	for (int i = 0; i < 36000; i++)
		got[i] = (int16_t)(got[i] / 4);
	CHECK(score_correlation(ref, 12000, got, 36000, &lag) > 0.99);
}

TEST(score_other_sound_is_low)
{
	static int16_t ref[12000], got[36000];
	uint32_t s = 1;
	long lag;

	chirp(ref, 12000, 200, 1500, 8000);
	for (int i = 0; i < 36000; i++) {
		s = s * 1664525 + 1013904223;
		got[i] = (int16_t)(s >> 18);
	}
	CHECK(score_correlation(ref, 12000, got, 36000, &lag) < 0.3);
	memset(got, 0, sizeof got);
	CHECK(score_correlation(ref, 12000, got, 36000, &lag) == 0);
	CHECK(score_correlation(ref, 0, got, 36000, &lag) == 0);
}

TEST(score_counts_words_in_order)
{
	CHECK(score_words("It is ten past four.", "it is ten past four") == 1);
	CHECK(score_words("It is ten past four.", "is that tan past four") > 0.59);
	CHECK(score_words("It is ten past four.", "") == 0);
	CHECK(score_words("one two", "two one") == 0.5);
}
