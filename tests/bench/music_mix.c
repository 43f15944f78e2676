/* What the mixer does to music, in the Opus packets at the far end: duck_attack_ms and
 * duck_error_db under an answer, music_loudness_lu, the error against -16 LUFS over twenty files
 * without tags, and music_loudness_long_lu, the same of files that are too long to be read before
 * they sound: the error of their gain after their first seconds.
 *
 *   music_mix            both
 *   music_mix --duck, music_mix --loudness      one of them */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/music/loudness.h"
#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum {
	CALLS = 10,
	SAY_RATE = 24000,
	SAY_HZ = 200,
	MUSIC_HZ = 3000,
	WINDOW = MUSIC_RATE / 100,
	DUCK_S = 8,
	FILES = 20,
	FILE_S = 20,
	LONG_FILES = 4,
	LONG_S = 300,
	LONG_HEARD_S = 40,
	TARGET = 1600,
};

#define DUCKED 0.150 /* as music_play asks for */

static struct music_stage *stage;

/* ---- ducking ---- */

static double tone(double t, int channel)
{
	(void)channel;
	return 0.4 * sin(2 * M_PI * MUSIC_HZ * t);
}

/* Says two seconds of a low tone, which does not touch the level of the high one. */
static void say(unsigned call)
{
	static int16_t pcm[SAY_RATE / 10];
	struct media_msg msg = {.type = MEDIA_SAY_OPEN};

	msg.say_open = (struct media_say_open){
		.call = call, .gen = 1, .playback = 1, .rate = SAY_RATE, .gain = 1000};
	plane_send(music_stage_plane(stage), &msg);
	for (unsigned k = 0; k < 20; k++) {
		for (unsigned i = 0; i < SAY_RATE / 10; i++)
			pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * SAY_HZ * i / SAY_RATE));
		msg = (struct media_msg){.type = MEDIA_SAY};
		msg.say = (struct media_say){.call = call,
					     .gen = 1,
					     .playback = 1,
					     .seq = k,
					     .pcm = {(const uint8_t *)pcm, sizeof pcm}};
		plane_send(music_stage_plane(stage), &msg);
	}
	msg = (struct media_msg){.type = MEDIA_SAY_END};
	msg.say_end = (struct media_say_end){.call = call, .gen = 1, .playback = 1};
	plane_send(music_stage_plane(stage), &msg);
}

static double level(const int16_t *pcm, double hz)
{
	double amplitude, phase;

	music_tone(pcm, WINDOW, hz, &amplitude, &phase);
	return 20 * log10(amplitude + 1e-9);
}

struct ducked {
	double attack_ms, error_db, codec_db;
};

/* Compares the music before the answer with the music in its middle, and finds the first 10 ms in
 * which it is within half a decibel of that. */
static void judge_duck(struct ducked *out, const int16_t *pcm, size_t frames)
{
	size_t said = 0, low = 0, n = frames / WINDOW;
	double full, down;

	while (said < n && level(pcm + said * WINDOW, SAY_HZ) < -30)
		said++;
	if (said < 50 || said + 100 > n)
		bench_die("the answer is not where it should be");
	full = level(pcm + (said - 30) * WINDOW, MUSIC_HZ);
	down = level(pcm + (said + 100) * WINDOW, MUSIC_HZ);
	low = said > 30 ? said - 30 : 0;
	while (low < n && level(pcm + low * WINDOW, MUSIC_HZ) > down + 0.5)
		low++;
	out->attack_ms = low > said ? 10.0 * (double)(low - said) : 0;
	out->error_db = fabs(down - full - 20 * log10(DUCKED));
	out->codec_db = fabs(full - 20 * log10(0.4));
}

static void duck_rows(void)
{
	double attack[CALLS], error[CALLS], codec[CALLS];
	struct ducked d;
	const char *name =
		music_make(stage, "tone", &music_formats[1],
			   (struct sound){.samples = (int64_t)DUCK_S * MUSIC_RATE, .signal = tone});
	uint32_t musics[CALLS];
	size_t frames;

	for (unsigned c = 0; c < CALLS; c++) {
		music_record(stage, c, DUCK_S);
		musics[c] = music_play(stage, c, name, 0);
	}
	plane_run(music_stage_plane(stage), 2000);
	for (unsigned c = 0; c < CALLS; c++) {
		say(c);
		plane_run(music_stage_plane(stage), 7);
	}
	plane_run(music_stage_plane(stage), 3000);
	for (unsigned c = 0; c < CALLS; c++) {
		const int16_t *pcm = music_recorded(stage, c, &frames);

		judge_duck(&d, pcm, frames);
		attack[c] = d.attack_ms;
		error[c] = d.error_db;
		codec[c] = d.codec_db;
		/* What still sounds would be in the next recording. */
		music_stop(stage, c, musics[c]);
	}
	bench_raw("duck_attack_ms", attack, CALLS);
	bench_raw("duck_error_db", error, CALLS);
	bench_row_more("duck_attack_ms", bench_quantile(attack, CALLS, 1), "ms",
		       "\"answers\": %d, \"grain_ms\": 10", CALLS);
	bench_row_more("duck_error_db", bench_quantile(error, CALLS, 1), "dB",
		       "\"answers\": %d, \"codec_alone_db\": %.2f", CALLS,
		       bench_quantile(codec, CALLS, 1));
	plane_run(music_stage_plane(stage), 1500);
}

/* ---- loudness ---- */

static double file_gain, file_quiet; /* of the file that is made */
static double file_s = FILE_S;

/* Chords with a beat, whose first quarter is quieter: an introduction. */
static double piece(double t, int channel)
{
	double beat = 0.6 + 0.4 * sin(2 * M_PI * 1.7 * t), x = 0;

	(void)channel;
	for (int k = 1; k <= 4; k++)
		x += sin(2 * M_PI * 220 * k * t + k) / k;
	return (t < file_s / 4.0 ? file_quiet : 1) * file_gain * beat * x;
}

static double measure(const int16_t *pcm, size_t frames)
{
	struct loudness *l;
	int16_t both[2 * 960];
	double lufs = 0;

	BENCH_OK(loudness_alloc(&l));
	for (size_t at = 0; at + 960 <= frames; at += 960) {
		for (size_t i = 0; i < 960; i++)
			both[2 * i] = both[2 * i + 1] = pcm[at + i];
		loudness_add(l, both, 960);
	}
	loudness_integrated(l, &lufs);
	loudness_free(l);
	return lufs;
}

static void loudness_row(void)
{
	double error[FILES], before[FILES], worst_before;
	char name[16];

	for (unsigned i = 0; i < FILES; i++) {
		const struct music_format *f = &music_formats[i % MUSIC_FORMATS];

		file_gain = 0.4 * pow(10, -0.7 * (double)(i * 7 % FILES) / 20);
		file_quiet = i % 3 ? 0.2 : 1;
		snprintf(name, sizeof name, "piece%u", i);
		music_record(stage, i, FILE_S + 2);
		music_play(stage, i,
			   music_make(stage, name, f,
				      (struct sound){.samples = (int64_t)FILE_S * f->rate,
						     .signal = piece}),
			   TARGET);
	}
	plane_run(music_stage_plane(stage), (FILE_S + 1) * 1000);
	for (unsigned i = 0; i < FILES; i++) {
		static int16_t pcm[FILE_S * MUSIC_RATE];
		size_t frames;
		const int16_t *heard = music_recorded(stage, i, &frames);

		error[i] = fabs(measure(heard, frames) + TARGET / 100.0);
		file_gain = 0.4 * pow(10, -0.7 * (double)(i * 7 % FILES) / 20);
		file_quiet = i % 3 ? 0.2 : 1;
		for (int k = 0; k < FILE_S * MUSIC_RATE; k++)
			pcm[k] = (int16_t)lrint(32767 * piece((double)k / MUSIC_RATE, 0));
		before[i] = fabs(measure(pcm, FILE_S * MUSIC_RATE) + TARGET / 100.0);
	}
	bench_raw("music_loudness_lu", error, FILES);
	worst_before = bench_quantile(before, FILES, 1);
	bench_row_more("music_loudness_lu", bench_quantile(error, FILES, 1), "LU",
		       "\"median\": %.2f, \"files\": %d, \"as_they_are\": %.1f",
		       bench_median(error, FILES), FILES, worst_before);
}

/* Loudness of a part of the piece as it is. */
static double measure_piece(unsigned from_s, unsigned to_s)
{
	const size_t n = (size_t)(to_s - from_s) * MUSIC_RATE;
	int16_t *pcm = malloc(n * sizeof *pcm);
	double lufs;

	if (!pcm)
		bench_die("out of memory");
	for (size_t k = 0; k < n; k++)
		pcm[k] = (int16_t)lrint(32767 * piece(from_s + (double)k / MUSIC_RATE, 0));
	lufs = measure(pcm, n);
	free(pcm);
	return lufs;
}

static void set_long_piece(unsigned i)
{
	file_gain = 0.4 * pow(10, -3.0 * i / 20);
	file_quiet = i % 2 ? 0.3 : 1;
}

static void long_loudness_row(void)
{
	static const unsigned formats[LONG_FILES] = {1, 3, 6, 2}; /* FLAC, MP3, AAC, Opus */
	double error[LONG_FILES];
	char name[16];

	file_s = LONG_S;
	for (unsigned i = 0; i < LONG_FILES; i++) {
		const struct music_format *f = &music_formats[formats[i]];

		set_long_piece(i);
		snprintf(name, sizeof name, "long%u", i);
		music_make(stage, name, f,
			   (struct sound){.samples = (int64_t)LONG_S * f->rate, .signal = piece});
	}
	for (unsigned i = 0; i < LONG_FILES; i++) {
		snprintf(name, sizeof name, "long%u.%s", i, music_formats[formats[i]].ending);
		music_record(stage, i, LONG_HEARD_S);
		music_play(stage, i, name, TARGET);
	}
	plane_run(music_stage_plane(stage), (LONG_HEARD_S + 2) * 1000);
	for (unsigned i = 0; i < LONG_FILES; i++) {
		size_t frames;
		const int16_t *heard = music_recorded(stage, i, &frames);
		double gain;

		set_long_piece(i);
		gain = measure(heard, frames) - measure_piece(0, LONG_HEARD_S);
		error[i] = fabs(measure_piece(0, LONG_S) + gain + TARGET / 100.0);
	}
	bench_raw("music_loudness_long_lu", error, LONG_FILES);
	bench_row_more("music_loudness_long_lu", bench_quantile(error, LONG_FILES, 1), "LU",
		       "\"median\": %.2f, \"files\": %d, \"minutes\": %d",
		       bench_median(error, LONG_FILES), LONG_FILES, LONG_S / 60);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	music_stage_alloc(&stage, FILES, 0);
	if (strcmp(what, "--loudness") != 0)
		duck_rows();
	if (strcmp(what, "--duck") != 0) {
		loudness_row();
		long_loudness_row();
	}
	music_stage_free(stage);
	return 0;
}
