/* The memory of a track that plays: music_rss_kb, of the worst format when it plays alone. Each is
 * the proportional set size of mediad and of all processes of decoderd with the track, less that
 * without. Beside it stands the mean of a hundred, which share what libav needs once.
 *
 *   music_rss [TRACKS]      instead of a hundred */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum {
	TRACKS = 100,
	SECONDS = 60,
	SETTLE_MS = 6000,
	ALONE_MS = 2500,
	STOP_MS = 500,
	PROCESSES = 4096
};

static struct music_stage *stage;

static uint64_t pss_of(int pid)
{
	char path[64], line[256];
	unsigned kb = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Pss: %u", &kb) == 1)
			break;
	if (f)
		fclose(f);
	if (!kb)
		bench_die("%s cannot be read: decoder processes show it to root alone", path);
	return kb;
}

static unsigned measure_all(void)
{
	return (unsigned)music_stage_sum(stage, pss_of);
}

static uint32_t play(unsigned call, unsigned format)
{
	char name[64];

	snprintf(name, sizeof name, "%u.%s", format, music_formats[format].ending);
	return music_play(stage, call, name, 1600);
}

/* One track of a format, in kB. */
static unsigned measure_alone(unsigned format)
{
	unsigned none = measure_all(), one;
	uint32_t music = play(0, format);

	plane_run(music_stage_plane(stage), ALONE_MS);
	one = measure_all();
	music_stop(stage, 0, music);
	plane_run(music_stage_plane(stage), STOP_MS);
	return one > none ? one - none : 0;
}

/* A second of music in each call: the mixer and its encoder stay with the call. */
static void warm_up(unsigned calls)
{
	uint32_t music;

	for (unsigned i = 0; i < calls; i++) {
		music = music_play(stage, i, "1.flac", 0);
		plane_run(music_stage_plane(stage), 5);
		music_stop(stage, i, music);
	}
	plane_run(music_stage_plane(stage), 2000);
}

int main(int argc, char **argv)
{
	unsigned tracks = argc > 1 ? (unsigned)atoi(argv[1]) : TRACKS, none, all;
	double alone[MUSIC_FORMATS];
	char name[8], text[512] = "";
	size_t n = 0;

	if (tracks < 2 || tracks > FAR_END_CALLS)
		bench_die("usage: music_rss [TRACKS]");
	music_stage_alloc(&stage, tracks, 0);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		snprintf(name, sizeof name, "%u", f);
		music_make(stage, name, &music_formats[f],
			   (struct sound){.samples = (int64_t)SECONDS * music_formats[f].rate});
	}
	warm_up(tracks);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		alone[f] = measure_alone(f);
		n += (size_t)snprintf(text + n, sizeof text - n, ", \"%s_%d\": %.0f",
				      music_formats[f].ending, music_formats[f].rate, alone[f]);
	}
	none = measure_all();
	for (unsigned i = 0; i < tracks; i++) {
		play(i, i % MUSIC_FORMATS);
		plane_run(music_stage_plane(stage), 20);
	}
	plane_run(music_stage_plane(stage), SETTLE_MS);
	all = measure_all();
	bench_row_more("music_rss_kb", bench_quantile(alone, MUSIC_FORMATS, 1), "kB",
		       "\"each_of_%u\": %.0f, \"without\": %u%s", tracks,
		       (double)(all - none) / tracks, none, text);
	music_stage_free(stage);
	return 0;
}
