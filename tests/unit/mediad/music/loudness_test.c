/* The signals of EBU Tech 3341 whose integrated loudness is known, made here. */
#include "mediad/music/loudness.h"

#include <math.h>

#include "tests/test.h"

enum { RATE = 48000, BLOCK = 4801 };

/* Adds a tone of 1 kHz with this level in dBFS to both channels. */
static void add_tone(struct loudness *l, double level, double seconds)
{
	static int16_t pcm[2 * BLOCK];
	const double scale = 32768 * pow(10, level / 20);
	const size_t end = (size_t)(seconds * RATE);

	for (size_t at = 0; at < end;) {
		size_t n = end - at < BLOCK ? end - at : BLOCK;

		for (size_t i = 0; i < n; i++)
			pcm[2 * i] = pcm[2 * i + 1] = (int16_t)lrint(
				scale * sin(2 * M_PI * 1000 * (double)(at + i) / RATE));
		loudness_add(l, pcm, n);
		at += n;
	}
}

struct part {
	double level, seconds; /* seconds 0: the end */
};

static double measure(const struct part *parts)
{
	struct loudness *l = NULL;
	double lufs = 0;

	if (loudness_alloc(&l))
		return 0;
	for (; parts->seconds > 0; parts++)
		add_tone(l, parts->level, parts->seconds);
	if (!loudness_integrated(l, &lufs))
		lufs = 0;
	loudness_free(l);
	return lufs;
}

TEST(loudness_of_the_signals_of_ebu_tech_3341)
{
	static const struct part cases[][6] = {
		{{-23, 20}},
		{{-33, 20}},
		{{-36, 10}, {-23, 60}, {-36, 10}},
		{{-72, 10}, {-36, 10}, {-23, 60}, {-36, 10}, {-72, 10}},
		{{-26, 20}, {-20, 20.1}, {-26, 20}},
	};
	static const double want[] = {-23, -33, -23, -23, -23};

	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
		CHECK(fabs(measure(cases[i]) - want[i]) <= 0.1);
}

TEST(loudness_of_silence_and_of_short_sound_is_unknown)
{
	struct loudness *l = NULL;
	int16_t none[2 * 960] = {0};
	double lufs;

	CHECK_INT(loudness_alloc(&l), 0);
	CHECK(isinf(loudness_peak(l)));
	for (int i = 0; i < 100; i++)
		loudness_add(l, none, 960);
	CHECK(!loudness_integrated(l, &lufs));
	add_tone(l, -75, 1);
	CHECK(!loudness_integrated(l, &lufs));
	l = loudness_free(l);
	CHECK_INT(loudness_alloc(&l), 0);
	add_tone(l, -10, 0.39);
	CHECK(!loudness_integrated(l, &lufs));
	CHECK(fabs(loudness_peak(l) + 10) < 0.1);
	add_tone(l, -10, 0.02);
	CHECK(loudness_integrated(l, &lufs));
	loudness_free(l);
}

/* Places of a track that are measured one after the other count as if each stood alone. */
TEST(loudness_of_separate_places)
{
	struct loudness *l = NULL;
	double lufs = 0;

	CHECK_INT(loudness_alloc(&l), 0);
	add_tone(l, -60, 0.39);
	loudness_break(l);
	add_tone(l, -20, 0.39);
	CHECK(!loudness_integrated(l, &lufs));
	loudness_break(l);
	add_tone(l, -20, 0.5);
	CHECK(loudness_integrated(l, &lufs) && fabs(lufs + 20) <= 0.2);
	CHECK_INT(loudness_frames(l), 2 * (RATE * 39 / 100) + RATE / 2);
	loudness_free(l);
}

/* The loudest sound that exists stays within the table of blocks. */
TEST(loudness_of_full_scale_noise)
{
	struct loudness *l = NULL;
	static int16_t pcm[2 * RATE];
	double lufs = 0;

	CHECK_INT(loudness_alloc(&l), 0);
	for (int i = 0; i < 2 * RATE; i++)
		pcm[i] = i / 2 % 12 < 6 ? INT16_MAX : INT16_MIN;
	for (int i = 0; i < 3; i++)
		loudness_add(l, pcm, RATE);
	CHECK(loudness_integrated(l, &lufs) && lufs > 3 && lufs < 6);
	CHECK(fabs(loudness_peak(l)) < 0.01);
	loudness_free(l);
}

TEST_OOM(loudness_survives_failing_allocation)
{
	struct loudness *l = NULL;
	int err = loudness_alloc(&l);

	CHECK_OOM(err, loudness_free(l));
	loudness_free(l);
}
