/* How soon music is heard: music_start_local_ms and music_start_http_ms, from MUSIC_PLAY to the
 * first packet with sound at the far end, for every format in turn, with the loudness measured as
 * in production. The web server answers each request after 50 ms; each play makes at least one.
 *
 *   music_start [STARTS]      so many of each kind (default 64) */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum { STARTS = 64, STARTS_MAX = 100000, SECONDS = 30, DELAY_MS = 50, LOUDNESS = 1600 };

static struct wait {
	struct music_stage *stage;
	uint64_t since;
} wait;

static bool is_heard(void *arg)
{
	const struct wait *w = arg;

	return music_first_sound(w->stage, 0, w->since) != 0;
}

static bool has_ended(void *arg)
{
	const struct wait *w = arg;

	return music_state(w->stage, 0)->phase == MEDIA_MUSIC_PHASE_ENDED;
}

/* Plays a file and stops it again; returns the time until it was heard, in ms. */
static double start_once(const char *name)
{
	struct plane *p = music_stage_plane(wait.stage);
	uint32_t music;

	wait.since = music_clock();
	is_heard(&wait);
	music = music_play(wait.stage, 0, name, LOUDNESS);
	plane_until(p, is_heard, &wait, 10000, "music is heard");
	music_stop(wait.stage, 0, music);
	plane_until(p, has_ended, &wait, 5000, "music has ended");
	plane_run(p, 150);
	return (double)(music_first_sound(wait.stage, 0, wait.since) - wait.since) / 1e6;
}

static void start_row(const char *row, const char *folder, unsigned starts)
{
	double *ms = calloc(starts, sizeof *ms);
	unsigned requests = music_stage_requests(wait.stage);
	char name[64];

	if (!ms)
		bench_die("out of memory");
	for (unsigned i = 0; i < starts; i++) {
		unsigned f = i % MUSIC_FORMATS;

		snprintf(name, sizeof name, "%s%u.%s", folder, f, music_formats[f].ending);
		ms[i] = start_once(name);
	}
	bench_raw(row, ms, starts);
	requests = music_stage_requests(wait.stage) - requests;
	bench_row_more(row, bench_quantile(ms, starts, 0.95), "ms",
		       "\"p50\": %.1f, \"max\": %.1f, \"starts\": %u, \"requests\": %.1f, "
		       "\"delay_ms\": %d",
		       bench_median(ms, starts), bench_quantile(ms, starts, 1), starts,
		       (double)requests / starts, requests ? DELAY_MS : 0);
	free(ms);
}

int main(int argc, char **argv)
{
	unsigned starts = argc > 1 ? (unsigned)atoi(argv[1]) : STARTS;
	char name[8];

	if (!starts || starts > STARTS_MAX)
		bench_die("usage: music_start [STARTS]");
	music_stage_alloc(&wait.stage, 1, DELAY_MS);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		snprintf(name, sizeof name, "%u", f);
		music_make(wait.stage, name, &music_formats[f],
			   (struct sound){.samples = (int64_t)SECONDS * music_formats[f].rate});
	}
	start_row("music_start_local_ms", "", starts);
	start_row("music_start_http_ms", "/ranges/", starts);
	music_stage_free(wait.stage);
	return 0;
}
