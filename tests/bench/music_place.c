/* Where music begins that is opened in its middle, as after a restart or a seek: resume_place_ms,
 * the error of the sound at the far end against the position that MUSIC_PLAY asked for, the worst
 * over files of a folder in all formats and over the web in those that are compressed, and over an
 * MP3 file with several rates in both ways. The sound is a rising tone, whose pitch tells the
 * place. An MP3 file of the web with several rates is exact in its first megabyte alone (decision
 * record 195); this one has no second one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum { LENGTH_S = 100, PLACE_S = 80, HEARD_S = 2, WINDOW = MUSIC_RATE / 2, SKIPPED = 4800 };

static const struct music_format several_rates = {"mp3", "mp3", "libmp3lame", 44100};

static struct music_stage *stage;

/* The phase of a tone that rises by RISE Hz a second. */
#define BASE 400.0
#define RISE 30.0

static double phase_at(double t)
{
	return 2 * M_PI * (BASE * t + RISE * t * t / 2);
}

static double rising(double t, int channel)
{
	(void)channel;
	return 0.4 * sin(phase_at(t));
}

/* How alike the window and the sound from this second on are: 0 to 1. */
static double compare(const int16_t *pcm, double from)
{
	double re = 0, im = 0, energy = 1e-9;

	for (int i = 0; i < WINDOW; i += 2) {
		double x = pcm[i], p = phase_at(from + (double)i / MUSIC_RATE);

		re += x * cos(p);
		im += x * sin(p);
		energy += x * x;
	}
	return hypot(re, im) / sqrt(energy * WINDOW / 4.0);
}

/* Returns the second of the file that the window begins with: by coarse steps all over the file,
 * and by fine ones around the best. */
static double find_place(const int16_t *pcm)
{
	double best = 0, at = 0, step = 0.02;

	for (double t = 0; t < LENGTH_S; t += step) {
		double alike = compare(pcm, t);

		if (alike > best) {
			best = alike;
			at = t;
		}
	}
	for (; step > 1e-4; step /= 4)
		for (int k = -4; k <= 4; k++) {
			double alike = compare(pcm, at + k * step / 4);

			if (alike > best) {
				best = alike;
				at += k * step / 4;
				k = -5;
			}
		}
	return best > 0.5 ? at : -LENGTH_S;
}

/* Plays a file from PLACE_S on; returns the error in ms. */
static double start_at(const char *name)
{
	uint32_t music;
	const int16_t *pcm;
	size_t frames;
	double error;

	music_record(stage, 0, HEARD_S);
	music = music_play_at(stage, 0, name, (uint64_t)PLACE_S * MUSIC_RATE);
	plane_run(music_stage_plane(stage), (HEARD_S + 1) * 1000);
	pcm = music_recorded(stage, 0, &frames);
	if (frames < SKIPPED + WINDOW)
		bench_die("%s is not heard", name);
	/* The encoder settles in the first frames. */
	error = find_place(pcm + SKIPPED) - PLACE_S - (double)SKIPPED / MUSIC_RATE;

	music_stop(stage, 0, music);
	plane_run(music_stage_plane(stage), 500);
	return 1000 * fabs(error);
}

int main(void)
{
	double errors[2 * MUSIC_FORMATS + 2];
	unsigned n = 0;
	char name[32];

	music_stage_alloc(&stage, 1, 0);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		const char *file;

		snprintf(name, sizeof name, "%u", f);
		file = music_make(
			stage, name, &music_formats[f],
			(struct sound){.samples = (int64_t)LENGTH_S * music_formats[f].rate,
				       .signal = rising});
		errors[n++] = start_at(file);
		if (strcmp(music_formats[f].ending, "flac") == 0)
			continue;
		snprintf(name, sizeof name, "/ranges/%s", file);
		errors[n++] = start_at(name);
	}
	music_make(stage, "rates", &several_rates,
		   (struct sound){.samples = (int64_t)LENGTH_S * several_rates.rate,
				  .signal = rising,
				  .varies = true});
	errors[n++] = start_at("rates.mp3");
	errors[n++] = start_at("/ranges/rates.mp3");
	bench_raw("resume_place_ms", errors, n);
	bench_row_more("resume_place_ms", bench_quantile(errors, n, 1), "ms",
		       "\"median\": %.2f, \"files\": %u", bench_median(errors, n), n);
	music_stage_free(stage);
	return 0;
}
