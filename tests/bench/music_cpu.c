/* What music costs: music_cpu_ms, the CPU time of mediad and of all processes of decoderd for a
 * second of music in a call, for MP3; the same for the other formats beside it, and the bare calls
 * of the libraries: the stereo encoder alone, and encryption alone, which is all that remains when
 * Opus packets are passed through.
 *
 * It plays as control orders it, at a loudness target, in files without tags. So each playing
 * begins with work that is done once: a decoder is started and the file is measured as a whole.
 * That is spread over the length of the file, which is that of a short song.
 *
 *   music_cpu [SECONDS [FORMAT [FILE]]]      of each format (default 3), or of one: the number in
 * music_formats, whose music is also written to FILE */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mediad/audio/encoder.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bare.h"
#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum {
	CALLS = 16,
	SECONDS = 3,
	FILE_S = 60,
	APART_MS = 20,
	SETTLE_MS = 4000,
	LOUDNESS = 1600, /* control/jukebox */
	MP3 = 4,
	FRAMES = 500,
};

/* CPU time in ms: once a playing, and for a second of it. */
struct cost {
	double start, second;
};

static struct music_stage *stage;

/* CPU time of a process in ns. */
static uint64_t cpu_of(int pid)
{
	struct timespec ts = {0};
	clockid_t clock;

	/* A process that has ended counts no more. */
	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ns_of_timespec(&ts);
}

/* Of one call. */
static struct cost measure(unsigned format, unsigned seconds)
{
	const double settled_s = (CALLS * SETTLE_MS + APART_MS * CALLS * (CALLS + 1) / 2) / 1000.0;
	struct plane *p = music_stage_plane(stage);
	uint32_t musics[CALLS];
	uint64_t begin, from, to;
	struct cost cost;
	char name[16];

	snprintf(name, sizeof name, "%u.%s", format, music_formats[format].ending);
	begin = music_stage_sum(stage, cpu_of);
	for (unsigned i = 0; i < CALLS; i++) {
		musics[i] = music_play(stage, i, name, LOUDNESS);
		plane_run(p, APART_MS);
	}
	plane_run(p, SETTLE_MS);
	from = music_stage_sum(stage, cpu_of);
	plane_run(p, seconds * 1000);
	to = music_stage_sum(stage, cpu_of);
	for (unsigned i = 0; i < CALLS; i++)
		music_stop(stage, i, musics[i]);
	plane_run(p, 500);
	cost.second = (double)(to - from) / 1e6 / seconds / CALLS;
	cost.start = ((double)(from - begin) / 1e6 - cost.second * settled_s) / CALLS;
	return cost;
}

static void measure_bare(double *encode, double *seal)
{
	static int16_t pcm[2 * RTP_FRAME];
	struct bare_sender *m;
	uint64_t encoded = 0, sealed = 0;
	uint8_t out[UDP_MAX_PACKET];
	size_t n;

	bare_sender_alloc_stereo(&m, 1, ENCODER_COMPLEXITY);
	for (unsigned k = 0; k < FRAMES; k++) {
		for (unsigned i = 0; i < 2 * RTP_FRAME; i++)
			pcm[i] = (int16_t)(32767 * sound_signal((double)(k * RTP_FRAME + i / 2) /
									MUSIC_RATE,
								(int)i % 2));
		encoded += bare_sender_encode_stereo(m, pcm);
		sealed += bare_sender_seal(m, out, &n);
	}
	bare_sender_free(m);
	*encode = (double)encoded / 1e6 / (FRAMES / 50);
	*seal = (double)sealed / 1e6 / (FRAMES / 50);
}

static void write_file(const char *path, unsigned format)
{
	const struct music_format *f = &music_formats[format];
	const struct sound sound = {.path = path,
				    .format = f->format,
				    .codec = f->codec,
				    .rate = f->rate,
				    .channels = 2,
				    .samples = (int64_t)FILE_S * f->rate};

	if (!sound_write(&sound))
		bench_die("%s cannot be written", path);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : SECONDS,
		 only = argc > 2 ? (unsigned)atoi(argv[2]) : MUSIC_FORMATS;
	double ms, value = 0, encode, seal;
	struct cost cost, shown = {0};
	char name[8], text[512] = "";
	size_t n = 0;

	if (!seconds || seconds > FILE_S - 10 || only > MUSIC_FORMATS ||
	    (argc > 3 && only == MUSIC_FORMATS))
		bench_die("usage: music_cpu [SECONDS [FORMAT [FILE]]]");
	if (argc > 3)
		write_file(argv[3], only);
	music_stage_alloc(&stage, CALLS, 0);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		if (only < MUSIC_FORMATS && f != only)
			continue;
		snprintf(name, sizeof name, "%u", f);
		music_make(stage, name, &music_formats[f],
			   (struct sound){.samples = (int64_t)FILE_S * music_formats[f].rate});
		cost = measure(f, seconds);
		ms = cost.second + cost.start / FILE_S;
		if (f == MP3 || f == only) {
			value = ms;
			shown = cost;
		}
		n += (size_t)snprintf(text + n, sizeof text - n, ", \"%s_%d\": %.2f",
				      music_formats[f].ending, music_formats[f].rate, ms);
	}
	measure_bare(&encode, &seal);
	bench_row_more("music_cpu_ms", value, "ms/s",
		       "\"second\": %.2f, \"start\": %.1f, \"bare_encoder\": %.2f, "
		       "\"bare_encryption\": %.2f%s",
		       shown.second, shown.start, encode, seal, text);
	music_stage_free(stage);
	return 0;
}
