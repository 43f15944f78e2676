/* How soon music is heard: music_start_local_ms and music_start_http_ms, from MUSIC_PLAY to the
 * first packet with sound at the far end, for every format in turn, with the loudness measured as
 * in production. The web server answers each request after 50 ms; each play makes at least one.
 * Beside it stands, in turn, how long a process that is forked, and that has libav alone, takes
 * until it has the first frame of the same source.
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

static struct start {
	struct music_stage *stage;
	uint64_t since;
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
	music_stage_free(start.stage);
	return 0;
}
