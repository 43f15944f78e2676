/* How many packets are late while music plays: music_late_ratio. Fifty calls play music, with
 * speech over it, for some seconds; then a bare pacer sends as many streams of stereo music that it
 * encodes and seals by library calls, alternating. A packet is late when it arrives more than 10 ms
 * after its place in the rhythm of its call, which the packet that came earliest sets. A deadline
 * that its sender skips, as mediad does after a stall, counts as a late packet of both: it shows as
 * RTP time that passes between two packets whose sequence numbers follow each other.
 *
 *   music_late [SECONDS [TURNS]]      of a turn (8), turns (2) of each; 30 120: an hour of each
 *
 * What else the machine does hits both alike if the turns are short. Says on standard error what
 * each turn has counted, and each minute how far a long one is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mediad/engine/engine.h"
#include "proto/base/time.h"
#include "tests/bench/bare_pacer.h"
#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum {
	CALLS = 50,
	SECONDS = 8,
	TURNS = 2,
	SETTLE_MS = 1500,
	FILE_S = 30,
	LATE_MS = 10,
	SLICE_S = 60,
	PER_SECOND = 50,
	FRAME = MUSIC_RATE / PER_SECOND,
};

/* Of one turn; the far end's thread writes while it runs. */
static struct {
	uint32_t *place[CALLS];
	uint16_t *seq[CALLS];
	uint64_t *at[CALLS];
	size_t n[CALLS], cap;
} notes;

struct count {
	size_t packets, late, skipped;
};

static unsigned turns = TURNS;
static struct music_stage *stage;
static char names[MUSIC_FORMATS][16];

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	size_t i;

	(void)arg, (void)n;
	if (call >= CALLS || notes.n[call] == notes.cap)
		return;
	i = notes.n[call]++;
	notes.at[call][i] = at;
	notes.seq[call][i] = (uint16_t)(p[2] << 8 | p[3]);
	notes.place[call][i] =
		(uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 | (uint32_t)p[6] << 8 | p[7];
}

/* Time of a packet less that of its place since the first one, in ns. */
static int64_t offset_of(unsigned call, size_t i)
{
	int64_t frames = (int32_t)(notes.place[call][i] - notes.place[call][0]);

	return (int64_t)(notes.at[call][i] - notes.at[call][0]) -
	       frames * (int64_t)NS_PER_S / MUSIC_RATE;
}

/* Deadlines without a packet before this one. A packet that the network lost leaves a gap in the
 * sequence numbers as well. */
static size_t count_skipped(unsigned call, size_t i)
{
	uint16_t steps = (uint16_t)(notes.seq[call][i] - notes.seq[call][i - 1]);
	uint32_t frames = (notes.place[call][i] - notes.place[call][i - 1]) / FRAME;

	return steps == 1 && frames <= INT32_MAX / FRAME && frames ? frames - 1 : 0;
}

static void count_late(struct count *c)
{
	for (unsigned call = 0; call < CALLS; call++) {
		int64_t first = 0;

		for (size_t i = 0; i < notes.n[call]; i++)
			first = offset_of(call, i) < first ? offset_of(call, i) : first;
		for (size_t i = 0; i < notes.n[call]; i++)
			c->late += offset_of(call, i) - first > (int64_t)(LATE_MS * NS_PER_MS);
		for (size_t i = 1; i < notes.n[call]; i++)
			c->skipped += count_skipped(call, i);
		c->packets += notes.n[call];
	}
}

/* who: for people; c: of all turns of that sender so far. */
static void measure(struct count *c, const char *who, unsigned seconds)
{
	static unsigned turn;

	turn++;
	plane_run(music_stage_plane(stage), SETTLE_MS);
	memset(notes.n, 0, sizeof notes.n);
	music_stage_packets(stage, on_packet, NULL);
	for (unsigned left = seconds, s; left; left -= s) {
		s = left < SLICE_S ? left : SLICE_S;
		plane_run(music_stage_plane(stage), s * 1000);
		if (seconds > SLICE_S)
			fprintf(stderr, "music_late: turn %u of %u, %s: %u of %u s\n", turn,
				2 * turns, who, seconds - left + s, seconds);
	}
	music_stage_packets(stage, NULL, NULL);
	count_late(c);
	fprintf(stderr,
		"music_late: turn %u of %u, %s: %zu late, %zu skipped, %zu packets so far\n", turn,
		2 * turns, who, c->late, c->skipped, c->packets);
}

/* A track that has ended begins again. */
static void on_state(unsigned call, const struct music_state *s, void *arg)
{
	static uint32_t newest[CALLS];

	if (s->phase != MEDIA_MUSIC_PHASE_PLAYING || s->music <= newest[call])
		return;
	newest[call] = s->music;
	if (*(bool *)arg)
		music_next(stage, call, names[call % MUSIC_FORMATS], 1600);
}

static void measure_ours(struct count *c, unsigned seconds)
{
	struct plane *p = music_stage_plane(stage);
	static uint32_t playback;
	bool on = true;

	music_stage_states(stage, on_state, &on);
	for (unsigned i = 0; i < CALLS; i++) {
		music_play(stage, i, names[i % MUSIC_FORMATS], 1600);
		plane_say(p, i, ++playback);
		plane_run(p, 15);
	}
	measure(c, "mediad", seconds);
	on = false;
	for (unsigned i = 0; i < CALLS; i++) {
		plane_stop(p, i, playback - CALLS + 1 + i);
		music_next(stage, i, NULL, 0);
		music_stop(stage, i, music_state(stage, i)->music);
	}
	plane_run(p, 1000);
	music_stage_states(stage, NULL, NULL);
}

static void measure_bare(struct count *c, unsigned seconds)
{
	struct plane *p = music_stage_plane(stage);
	long threads = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	struct bare_pacer_conf conf = {.port = far_end_port(plane_far(p)),
				       .calls = CALLS,
				       .threads = threads < 1		     ? 1
						  : threads > ENGINE_THREADS ? ENGINE_THREADS
									     : (unsigned)threads,
				       .cpu = -1,
				       .music = true};

	bare_pacer_start(&conf);
	measure(c, "the bare pacer", seconds);
	bare_pacer_stop();
}

static void make_room(unsigned seconds)
{
	notes.cap = (size_t)(seconds + 2) * PER_SECOND * 2;
	for (unsigned i = 0; i < CALLS; i++) {
		notes.at[i] = malloc(notes.cap * sizeof *notes.at[i]);
		notes.place[i] = malloc(notes.cap * sizeof *notes.place[i]);
		notes.seq[i] = malloc(notes.cap * sizeof *notes.seq[i]);
		if (!notes.at[i] || !notes.place[i] || !notes.seq[i])
			bench_die("out of memory");
	}
}

static double share(const struct count *c)
{
	return ((double)(c->late + c->skipped) + 1) / ((double)(c->packets + c->skipped) + 1);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : SECONDS;
	struct count ours = {0}, bare = {0};
	char name[8];

	turns = argc > 2 ? (unsigned)atoi(argv[2]) : TURNS;
	if (!seconds || seconds > 36000 || !turns || turns > 3600)
		bench_die("usage: music_late [SECONDS [TURNS]]");
	make_room(seconds);
	music_stage_alloc(&stage, CALLS, 0);
	for (unsigned f = 0; f < MUSIC_FORMATS; f++) {
		const struct music_format *format = &music_formats[f];

		snprintf(name, sizeof name, "%u", f);
		snprintf(names[f], sizeof names[f], "%s",
			 music_make(stage, name, format,
				    (struct sound){.samples = (int64_t)FILE_S * format->rate}));
	}
	for (unsigned t = 0; t < turns; t++) {
		measure_ours(&ours, seconds);
		measure_bare(&bare, seconds);
	}
	/* One more in each count: a run without any late packet has a ratio as well. */
	bench_row_more("music_late_ratio", share(&ours) / share(&bare), "x",
		       "\"late\": %zu, \"skipped\": %zu, \"packets\": %zu, \"bare_late\": %zu, "
		       "\"bare_skipped\": %zu, \"bare_packets\": %zu",
		       ours.late, ours.skipped, ours.packets, bare.late, bare.skipped,
		       bare.packets);
	music_stage_free(stage);
	return 0;
}
