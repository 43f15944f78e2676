/* How soon music is heard: music_start_local_ms and music_start_http_ms, from MUSIC_PLAY to the
 * first packet with sound at the far end, for every format in turn, with the loudness measured as
 * in production; music_start_long_ms, the same for an MP3 file of half an hour with several rates,
 * whose places libav finds by reading all before them; and music_skip_ms, from a MUSIC_STOP to the
 * first sample of what was prepared, from the web. The web server answers each request after 50 ms;
 * each play makes at least one. Beside it stands, in turn, how long a process that is forked, and
 * that has libav alone, takes until it has the first frame of the same source.
 *
 *   music_start [STARTS]      so many of each kind (default 64) */
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum { STARTS = 64, STARTS_MAX = 100000, SECONDS = 30, DELAY_MS = 50, LOUDNESS = 1600 };
enum { LONG_S = 1800, SKIPS = 16 };

static struct start {
	struct music_stage *stage;
	uint64_t since;
	uint32_t next; /* the music that was prepared */
	bool ready;
	uint64_t skipped; /* when it began; 0: it has not */
} start;

static bool is_heard(void *arg)
{
	const struct start *w = arg;

	return music_first_sound(w->stage, 0, w->since) != 0;
}

static bool has_ended(void *arg)
{
	const struct start *w = arg;

	return music_state(w->stage, 0)->phase == MEDIA_MUSIC_PHASE_ENDED;
}

/* Plays a file and stops it again; returns the time until it was heard, in ms. */
static double start_once(const char *name)
{
	struct plane *p = music_stage_plane(start.stage);
	uint32_t music;

	start.since = music_clock();
	is_heard(&start);
	music = music_play(start.stage, 0, name, LOUDNESS);
	plane_until(p, is_heard, &start, 10000, "music is heard");
	music_stop(start.stage, 0, music);
	plane_until(p, has_ended, &start, 5000, "music has ended");
	plane_run(p, 150);
	return (double)(music_first_sound(start.stage, 0, start.since) - start.since) / 1e6;
}

/* ---- libav alone ---- */

static bool decode_first(AVFormatContext *fmt)
{
	const AVCodec *codec = NULL;
	int at = av_find_best_stream(fmt, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);
	AVCodecContext *c = at < 0 ? NULL : avcodec_alloc_context3(codec);
	AVPacket *packet = av_packet_alloc();
	AVFrame *frame = av_frame_alloc();

	if (!c || !packet || !frame ||
	    avcodec_parameters_to_context(c, fmt->streams[at]->codecpar) < 0)
		return false;
	c->thread_count = 1;
	if (avcodec_open2(c, codec, NULL))
		return false;
	while (av_read_frame(fmt, packet) >= 0) {
		avcodec_send_packet(c, packet);
		av_packet_unref(packet);
		if (avcodec_receive_frame(c, frame) == 0)
			return true;
	}
	return false;
}

/* Returns the time in ms. */
static double start_bare(const char *name)
{
	uint64_t begin = music_clock();
	AVFormatContext *fmt = NULL;
	char address[256];
	int status = 0;
	pid_t pid;

	music_stage_address(start.stage, name, address, sizeof address);
	pid = fork();
	if (!pid) {
		av_log_set_level(AV_LOG_QUIET);
		_exit(avformat_open_input(&fmt, address, NULL, NULL) ||
		      avformat_find_stream_info(fmt, NULL) < 0 || !decode_first(fmt));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bench_die("libav alone cannot read %s", address);
	return (double)(music_clock() - begin) / 1e6;
}

/* ---- the rows ---- */

static void start_row(const char *row, const char *folder, unsigned starts)
{
	double *ms = calloc(starts, sizeof *ms), *bare = calloc(starts, sizeof *bare);
	unsigned requests = 0, before;
	char name[64];

	if (!ms || !bare)
		bench_die("out of memory");
	for (unsigned i = 0; i < starts; i++) {
		unsigned f = i % MUSIC_FORMATS;

		snprintf(name, sizeof name, "%s%u.%s", folder, f, music_formats[f].ending);
		before = music_stage_requests(start.stage);
		ms[i] = start_once(name);
		requests += music_stage_requests(start.stage) - before;
		bare[i] = start_bare(name);
	}
	bench_raw(row, ms, starts);
	bench_row_more(row, bench_quantile(ms, starts, 0.95), "ms",
		       "\"p50\": %.1f, \"max\": %.1f, \"starts\": %u, \"requests\": %.1f, "
		       "\"delay_ms\": %d, \"bare_p50\": %.1f, \"bare_p95\": %.1f",
		       bench_median(ms, starts), bench_quantile(ms, starts, 1), starts,
		       (double)requests / starts, requests ? DELAY_MS : 0,
		       bench_median(bare, starts), bench_quantile(bare, starts, 0.95));
	free(ms);
	free(bare);
}

static void start_long_row(unsigned starts)
{
	static const struct music_format f = {"mp3", "mp3", "libmp3lame", 44100};
	double *ms = calloc(starts, sizeof *ms);

	if (!ms)
		bench_die("out of memory");
	music_make(start.stage, "long", &f,
		   (struct sound){.samples = (int64_t)LONG_S * f.rate, .varies = true});
	for (unsigned i = 0; i < starts; i++)
		ms[i] = start_once("long.mp3");
	bench_raw("music_start_long_ms", ms, starts);
	bench_row_more("music_start_long_ms", bench_quantile(ms, starts, 0.95), "ms",
		       "\"p50\": %.1f, \"max\": %.1f, \"starts\": %u, \"minutes\": %d",
		       bench_median(ms, starts), bench_quantile(ms, starts, 1), starts,
		       LONG_S / 60);
	free(ms);
}

/* ---- skips ---- */

static void on_state(unsigned call, const struct music_state *state, void *arg)
{
	struct start *w = arg;

	(void)call;
	if (state->music != w->next)
		return;
	w->ready = w->ready || state->phase == MEDIA_MUSIC_PHASE_READY;
	if (state->phase == MEDIA_MUSIC_PHASE_PLAYING && !w->skipped)
		w->skipped = music_clock();
}

static bool is_ready(void *arg)
{
	const struct start *w = arg;

	return w->ready;
}

static bool is_skipped(void *arg)
{
	const struct start *w = arg;

	return w->skipped != 0;
}

static void skip_row(void)
{
	struct plane *p = music_stage_plane(start.stage);
	double ms[SKIPS];
	uint32_t music;
	uint64_t since;
	char name[64];

	music_stage_states(start.stage, on_state, &start);
	start.since = music_clock();
	is_heard(&start);
	music = music_play(start.stage, 0, "0.flac", LOUDNESS);
	plane_until(p, is_heard, &start, 10000, "music is heard");
	for (unsigned i = 0; i < SKIPS; i++) {
		unsigned f = 2 + i % (MUSIC_FORMATS - 2);

		snprintf(name, sizeof name, "/ranges/%u.%s", f, music_formats[f].ending);
		start.ready = false;
		start.skipped = 0;
		start.next = music_next(start.stage, 0, name, LOUDNESS);
		plane_until(p, is_ready, &start, 10000, "the next music is ready");
		plane_run(p, 300);
		since = music_clock();
		music_stop(start.stage, 0, music);
		plane_until(p, is_skipped, &start, 10000, "the next music plays");
		ms[i] = (double)(start.skipped - since) / 1e6;
		music = start.next;
	}
	bench_raw("music_skip_ms", ms, SKIPS);
	bench_row_more("music_skip_ms", bench_quantile(ms, SKIPS, 0.95), "ms",
		       "\"p50\": %.1f, \"max\": %.1f, \"skips\": %d", bench_median(ms, SKIPS),
		       bench_quantile(ms, SKIPS, 1), SKIPS);
}

int main(int argc, char **argv)
{
	unsigned starts = argc > 1 ? (unsigned)atoi(argv[1]) : STARTS;
	char name[8];

	if (!starts || starts > STARTS_MAX)
		bench_die("usage: music_start [STARTS]");
	music_stage_alloc(&start.stage, 1, DELAY_MS);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		snprintf(name, sizeof name, "%u", f);
		music_make(start.stage, name, &music_formats[f],
			   (struct sound){.samples = (int64_t)SECONDS * music_formats[f].rate});
	}
	start_row("music_start_local_ms", "", starts);
	start_row("music_start_http_ms", "/ranges/", starts);
	start_long_row(starts < SKIPS ? starts : SKIPS);
	skip_row();
	music_stage_free(start.stage);
	return 0;
}
