/* Analyses of music for the visualizer: of known sound, and those of decoderd's jail. */
#include "mediad/decoder/analyser.h"

#include <errno.h>
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "mediad/music/track_ring.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/decoder/sound.h"
#include "tests/test.h"

enum { MIDDLE = 10 * ANALYSIS_STEP };

static alignas(4096) uint8_t memory[TRACK_RING_MEMORY];

/* Writes a second of a sine, its channels at these levels, and analyses it. */
static bool analyse_sine(double hz, double left, double right, struct analysis *out)
{
	static int16_t pcm[2 * RATE];
	struct analyser *a = NULL;
	struct track_ring *r = NULL;
	bool found = false;

	for (int i = 0; i < RATE; i++) {
		const double s = sin(2 * M_PI * hz * i / RATE);

		pcm[2 * i] = (int16_t)lrint(32767 * left * s);
		pcm[2 * i + 1] = (int16_t)lrint(32767 * right * s);
	}
	if (!track_ring_alloc(&r, memory) && !analyser_alloc(&a, r)) {
		track_ring_reset(r);
		track_ring_watch(r, true);
		track_ring_write(r, pcm, RATE);
		analyser_run(a, false);
		found = track_ring_analysis(r, MIDDLE, out);
		track_ring_reset(r);
	}
	analyser_free(a);
	track_ring_free(r);
	return found;
}

static int loudest(const struct analysis *a)
{
	int best = 0;

	for (int b = 1; b < ANALYSIS_BANDS; b++)
		if (a->bands[b] > a->bands[best])
			best = b;
	return best;
}

TEST(a_sine_is_in_its_band_alone)
{
	for (int b = 2; b < ANALYSIS_BANDS - 1; b += 3) {
		const double hz = ANALYSIS_LOWEST * pow(2, (double)b / ANALYSIS_BANDS_AN_OCTAVE);
		struct analysis a;

		CHECK(analyse_sine(hz, 1, 1, &a));
		/* Below 60 Hz two bands are as near as two bins of the transform. */
		CHECK(abs(loudest(&a) - b) <= (hz < 60));
		/* Within 2 dB of full scale, and 40 dB less an octave above. */
		CHECK(a.bands[loudest(&a)] >= 248);
		if (b + ANALYSIS_BANDS_AN_OCTAVE < ANALYSIS_BANDS && hz > 60)
			CHECK(a.bands[b + ANALYSIS_BANDS_AN_OCTAVE] < 255 * 38 / 78);
	}
}

TEST(a_sine_of_1_khz_lights_the_band_of_1_khz)
{
	const int b = (int)lround(ANALYSIS_BANDS_AN_OCTAVE * log2(1000 / ANALYSIS_LOWEST));
	struct analysis a, soft;

	CHECK(analyse_sine(1000, 1, 1, &a));
	CHECK_INT(loudest(&a), b);
	/* 20 dB less in both channels, and 3 dB less with one of them alone. */
	CHECK(analyse_sine(1000, 0.1, 0.1, &soft));
	CHECK(abs(a.bands[b] - soft.bands[b] - 255 * 20 / 78) <= 1);
	CHECK(analyse_sine(1000, 1, 0, &soft));
	CHECK(abs(a.bands[b] - soft.bands[b] - 255 * 3 / 78) <= 1);
	/* Channels of opposite phase cancel in the wave, and not in the bands. */
	CHECK(analyse_sine(1000, 1, -1, &soft));
	CHECK(abs(a.bands[b] - soft.bands[b]) <= 1);
}

TEST(silence_is_zero)
{
	static const struct analysis none;
	struct analysis a;

	CHECK(analyse_sine(1000, 0, 0, &a));
	CHECK(memcmp(&a, &none, sizeof a) == 0);
}

TEST(a_vectorscope_shows_mono_as_a_vertical_line)
{
	struct analysis a;
	int high = 0;

	CHECK(analyse_sine(440, 0.5, 0.5, &a));
	for (int i = 0; i < ANALYSIS_POINTS; i++) {
		CHECK_INT(a.scope[i][0], 0);
		high = a.scope[i][1] > high ? a.scope[i][1] : high;
	}
	CHECK(abs(high - 63) <= 2);
	/* Opposite channels: a horizontal one. The left one alone: a diagonal. */
	CHECK(analyse_sine(440, 0.5, -0.5, &a));
	for (int i = 0; i < ANALYSIS_POINTS; i++)
		CHECK(abs(a.scope[i][1]) <= 1);
	CHECK(analyse_sine(440, 0.5, 0, &a));
	for (int i = 0; i < ANALYSIS_POINTS; i++)
		CHECK(abs(a.scope[i][0] + a.scope[i][1]) <= 1);
}

TEST(a_wave_begins_where_it_rises)
{
	struct analysis a;

	CHECK(analyse_sine(300, 1, 1, &a));
	CHECK(a.wave[0] >= 0 && a.wave[0] < 16 && a.wave[2] > a.wave[0]);
	CHECK(analyse_sine(300, 1, 0, &a));
	for (int i = 0; i < ANALYSIS_POINTS; i++)
		CHECK(abs(a.wave[i]) <= 64);
}

/* A ring that is full, one whose sound was read, and the end of a track. */
TEST(analyses_are_made_of_what_is_still_to_be_played)
{
	static int16_t pcm[2 * TRACK_RING_FRAMES];
	struct analyser *a = NULL;
	struct track_ring *r = NULL, *reader = NULL;
	struct analysis out;
	size_t got;

	CHECK_INT(track_ring_alloc(&r, memory), 0);
	CHECK_INT(track_ring_alloc(&reader, memory), 0);
	track_ring_reset(reader);
	track_ring_watch(reader, true);
	CHECK_INT(analyser_alloc(&a, r), 0);
	CHECK_INT(track_ring_write(r, pcm, TRACK_RING_FRAMES), TRACK_RING_FRAMES);
	CHECK_INT(track_ring_read(reader, pcm, 2 * ANALYSIS_STEP - 1, &got), 0);
	CHECK_INT(track_ring_write(r, pcm, 100), 100);
	analyser_run(a, false);
	CHECK(!track_ring_analysis(reader, ANALYSIS_STEP, &out));
	CHECK(track_ring_analysis(reader, 2 * ANALYSIS_STEP, &out));
	/* 47 steps and 5860 frames: the sound around the last one is not there yet. */
	CHECK(track_ring_analysis(reader, 47 * ANALYSIS_STEP, &out));
	CHECK(!track_ring_analysis(reader, 48 * ANALYSIS_STEP, &out));
	analyser_run(a, true);
	CHECK(track_ring_analysis(reader, 49 * ANALYSIS_STEP, &out));
	CHECK(track_ring_analysis(reader, 50 * ANALYSIS_STEP, &out));
	CHECK(!track_ring_analysis(reader, 51 * ANALYSIS_STEP, &out));
	analyser_free(a);
	track_ring_reset(reader);
	track_ring_free(reader);
	track_ring_free(r);
}

TEST_OOM(an_analyser_without_memory_is_none)
{
	struct analyser *a = NULL;
	struct track_ring *r = NULL;

	if (track_ring_alloc(&r, memory))
		return;
	if (analyser_alloc(&a, r))
		CHECK(a == NULL);
	analyser_free(a);
	track_ring_free(r);
}

/* Waits until decoderd has analysed this frame of slot 0. */
static bool await_analysis(struct deck *d, uint64_t at, struct analysis *out)
{
	struct decoder_msg msg;

	for (int i = 0; i < 200; i++) {
		if (track_ring_analysis(d->ring[0], at, out))
			return true;
		deck_receive(d, &msg, 20);
	}
	return false;
}

static double sine(double t, int channel)
{
	(void)channel;
	return 0.5 * sin(2 * M_PI * 1000 * t);
}

/* The transform of libav makes no system call that the jail forbids. */
TEST(decoderd_analyses_a_track_once_it_is_watched)
{
	const int b = (int)lround(ANALYSIS_BANDS_AN_OCTAVE * log2(1000 / ANALYSIS_LOWEST));
	struct sound s = {.format = "flac",
			  .codec = "flac",
			  .rate = RATE,
			  .channels = 2,
			  .samples = 4L * RATE,
			  .signal = sine};
	struct analysis a;
	struct played p;
	struct deck d;

	CHECK(deck_open(&d));
	s.path = deck_path(&d, "sine.flac");
	CHECK(sound_write(&s));
	CHECK(deck_start(&d, 0, "sine.flac", 0));
	deck_play(&d, 0, &p, 100);
	CHECK(!track_ring_analysis(d.ring[0], MIDDLE, &a));
	track_ring_watch(d.ring[0], true);
	CHECK(await_analysis(&d, MIDDLE, &a));
	CHECK_INT(loudest(&a), b);
	free(p.pcm);
	/* To its end, unless that is taken before it could be analysed. */
	deck_play(&d, 0, &p, (size_t)4 * RATE - 100 - (size_t)2 * ANALYSIS_STEP);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK(track_ring_analysis(d.ring[0], (4L * RATE - 1) / ANALYSIS_STEP * ANALYSIS_STEP, &a));
	free(p.pcm);
	deck_close(&d);
}
