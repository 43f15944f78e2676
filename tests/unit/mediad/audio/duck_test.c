#include "mediad/audio/duck.h"

#include <math.h>

#include "tests/test.h"

enum { FRAME = 960 };

static struct duck duck;
static float gains[FRAME * 100];

/* Runs frames of constant sound; gains gets the gain of each sample. */
static void run(unsigned frames, bool speech)
{
	static float right[FRAME];

	for (unsigned f = 0; f < frames; f++) {
		float *left = gains + (size_t)f * FRAME;

		for (int i = 0; i < FRAME; i++)
			left[i] = right[i] = 1;
		duck_begin_frame(&duck, speech, true);
		duck_run(&duck, left, right, FRAME);
		CHECK_MEM(right, sizeof right, left, sizeof right);
	}
}

static double decibel(double gain)
{
	return 20 * log10(gain);
}

static void check_ramp(double from, double to, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		double want = from + (to - from) * (i + 1) / samples, is = decibel(gains[i]);

		if (fabs(is - want) > 0.1)
			test_fail(__FILE__, __LINE__, "sample %u: %.2f dB, not %.2f", i, is, want);
	}
}

enum { ATTACK_MS = 80, RELEASE_MS = 600, HELD = 30, RELEASE = RELEASE_MS / 20 };

static void set_depth(uint16_t depth)
{
	struct duck_conf conf = DUCK_DEFAULT;

	conf.depth = depth;
	duck_set(&duck, &conf);
}

/* 80 ms down, 600 ms there after the last speech, and 600 ms up, straight in dB, and not a sample
 * longer. */
TEST(duck_ramps)
{
	double depth = decibel(0.15);

	duck_init(&duck);
	run(1, false);
	CHECK(gains[0] == 1 && gains[FRAME - 1] == 1);
	run(4, true);
	check_ramp(0, depth, ATTACK_MS * 48);
	CHECK(gains[4 * FRAME - 1] == 0.15f);
	run(HELD, false);
	for (size_t i = 0; i < (size_t)HELD * FRAME; i++)
		CHECK(gains[i] == 0.15f);
	run(RELEASE + 1, false);
	check_ramp(depth, 0, RELEASE_MS * 48);
	CHECK(gains[(RELEASE + 1) * FRAME - 1] == 1);
}

/* Between the sentences of an answer the music stays down. */
TEST(duck_does_not_pump_between_sentences)
{
	duck_init(&duck);
	run(6, true);
	for (int sentence = 0; sentence < 3; sentence++) {
		run(HELD, false);
		CHECK(gains[HELD * FRAME - 1] == 0.15f);
		run(1, true);
		CHECK(!duck_holds_speech(&duck) && gains[FRAME - 1] == 0.15f);
	}
}

TEST(duck_holds_speech_until_music_is_down)
{
	duck_init(&duck);
	for (int i = 0; i < 5; i++) {
		run(1, true);
		CHECK(duck_holds_speech(&duck) == (i < 4));
	}
	run(HELD + 1, false);
	CHECK(!duck_holds_speech(&duck));
	run(1, true); /* the release had begun: the attack is as much shorter */
	CHECK(duck_holds_speech(&duck));
	run(1, true);
	CHECK(!duck_holds_speech(&duck));
}

/* Music that starts under speech is down from its first sample. */
TEST(duck_moves_at_once_without_music)
{
	duck_init(&duck);
	duck_begin_frame(&duck, true, false);
	CHECK(!duck_holds_speech(&duck) && duck.gain == 0.15f);
	duck_begin_frame(&duck, false, false);
	CHECK(duck.gain == 1);
}

TEST(duck_depths)
{
	duck_init(&duck);
	set_depth(DUCK_UNITY);
	run(1, true);
	CHECK(gains[0] == 1 && !duck_holds_speech(&duck));
	set_depth(0);
	run(4, true);
	CHECK(gains[4 * FRAME - 1] == 0);
	run(HELD + RELEASE, false);
	CHECK(gains[(HELD + RELEASE) * FRAME - 1] > 0.99f);
	set_depth(500);
	run(5, true);
	set_depth(800); /* deeper than wanted now */
	run(80, true);
	run(80, true);
	CHECK(gains[80 * FRAME - 1] == 0.8f);
	CHECK(!duck_holds_speech(&duck));
}

TEST(duck_times_that_are_set)
{
	const struct duck_conf conf = {
		.depth = 150, .attack_ms = 200, .hold_ms = 100, .release_ms = 400};
	double depth = decibel(0.15);

	duck_init(&duck);
	duck_set(&duck, &conf);
	run(1, false);
	run(10, true);
	check_ramp(0, depth, 200 * 48);
	CHECK(gains[10 * FRAME - 1] == 0.15f);
	run(5, false);
	CHECK(gains[5 * FRAME - 1] == 0.15f);
	run(21, false);
	check_ramp(depth, 0, 400 * 48);
	CHECK(gains[21 * FRAME - 1] == 1);
	/* Nobody has spoken: a longer hold lowers nothing. */
	duck_set(&duck, &DUCK_DEFAULT);
	run(2, false);
	CHECK(gains[0] == 1 && gains[2 * FRAME - 1] == 1);
}

TEST(duck_times_of_none_are_the_next_sample)
{
	const struct duck_conf conf = {.depth = 150};

	duck_init(&duck);
	duck_set(&duck, &conf);
	run(2, true);
	CHECK(gains[0] == 0.15f && !duck_holds_speech(&duck));
	run(1, false);
	CHECK(gains[0] == 1);
}

TEST(duck_frame_that_is_taken_back)
{
	duck_init(&duck);
	run(2, true);
	duck_undo(&duck);
	run(3, true);
	check_ramp(decibel(0.15) / 4, decibel(0.15), 3 * FRAME);
	run(HELD, false);
	duck_undo(&duck);
	run(1, false);
	CHECK(gains[FRAME - 1] == 0.15f);
}
