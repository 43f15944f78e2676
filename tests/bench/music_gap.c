/* Whether tracks follow each other without a gap: music_gap_samples, the samples that are missing
 * or doubled at the joints of tracks of a second, over FLAC, Opus, MP3 and AAC with their delay
 * tags, as they arrive at the far end. Vorbis is left out: libav 5.1 drops the first 128 samples of
 * a file that is a single page, as so short ones are; at three seconds it is exact.
 *
 * A track holds whole periods of two tones, so a track that follows itself goes on with both. Their
 * phases before and after each joint give the samples that it lost or gained; the lower tone tells
 * apart what is ambiguous in the higher one. Samples that left by mediad's own account are compared
 * with those of the files.
 *
 *   music_gap [JOINTS]      default 1000 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/music_stage.h"
#include "tests/bench/plane.h"

enum {
	CALLS = 21,
	FORMATS = MUSIC_FORMATS - 1,
	JOINTS = 1000,
	JOINTS_MAX = 100000,
	TRACK = MUSIC_RATE,
	LOW_HZ = 50,
	HIGH_HZ = 450,
	LOOKAHEAD = 312, /* of the Opus encoder: so much later everything is at the far end */
	EDGE = MUSIC_RATE / 50,
	WINDOW = MUSIC_RATE / 5,
};

static struct music_stage *stage;
static unsigned wanted; /* joints of each call */
static struct {
	char name[16];
	unsigned started, ended; /* tracks */
	uint32_t newest, ready;	 /* music that has started, and that has been opened */
	unsigned late;		 /* tracks that were not open when the one before had ended */
	uint64_t sent;		 /* frames of tracks that have ended */
} calls[CALLS];

static double tones(double t, int channel)
{
	(void)channel;
	return 0.3 * sin(2 * M_PI * LOW_HZ * t) + 0.3 * sin(2 * M_PI * HIGH_HZ * t);
}

/* Prepares the next track once one has started. */
static void on_state(unsigned call, const struct music_state *s, void *arg)
{
	(void)arg;
	if (s->phase == MEDIA_MUSIC_PHASE_PLAYING && s->music > calls[call].newest) {
		calls[call].newest = s->music;
		if (++calls[call].started <= wanted)
			music_next(stage, call, calls[call].name, 0);
	} else if (s->phase == MEDIA_MUSIC_PHASE_READY) {
		calls[call].ready = s->music;
	} else if (s->phase == MEDIA_MUSIC_PHASE_ENDED) {
		calls[call].late += calls[call].ended < wanted && calls[call].ready <= s->music;
		calls[call].ended++;
		calls[call].sent += s->position;
	}
}

static bool is_over(void *arg)
{
	(void)arg;
	for (unsigned c = 0; c < CALLS; c++)
		if (calls[c].ended <= wanted)
			return false;
	return true;
}

/* Phase at the begin of the window, relative to that of the tone at this place. */
static double phase_at(const int16_t *pcm, size_t at, double hz)
{
	double amplitude, phase;

	music_tone(pcm + at, WINDOW, hz, &amplitude, &phase);
	return phase - 2 * M_PI * hz * (double)at / MUSIC_RATE;
}

/* Samples by which a tone after a joint is off from the one before, within half a period. */
static double slip(const int16_t *pcm, size_t joint, double hz)
{
	double turn = phase_at(pcm, joint + EDGE, hz) - phase_at(pcm, joint - EDGE - WINDOW, hz);

	return remainder(turn, 2 * M_PI) / (2 * M_PI * hz) * MUSIC_RATE;
}

struct judged {
	double samples, worst;
	unsigned joints, silences, late;
};

static void judge(struct judged *j, unsigned call)
{
	size_t frames;
	const int16_t *pcm = music_recorded(stage, call, &frames);

	for (unsigned k = 1; k <= wanted; k++) {
		size_t joint = (size_t)k * TRACK + LOOKAHEAD;
		double high, low, period = (double)MUSIC_RATE / HIGH_HZ;

		if (joint + EDGE + WINDOW > frames)
			bench_die("call %u: the recording ends at joint %u of %u", call, k, wanted);
		high = slip(pcm, joint, HIGH_HZ);
		low = slip(pcm, joint, LOW_HZ);
		/* Of the slips that the higher tone allows, the one next to that of the lower. */
		high += period * round((low - high) / period);
		j->samples += fabs(round(high));
		j->worst = fmax(j->worst, fabs(high));
		j->joints++;
	}
	j->samples += fabs((double)calls[call].sent - (double)TRACK * (wanted + 1));
	j->late += calls[call].late;
	j->silences += music_silences(stage, call);
	j->samples += music_silences(stage, call) * 960.0;
}

int main(int argc, char **argv)
{
	unsigned joints = argc > 1 ? (unsigned)atoi(argv[1]) : JOINTS;
	struct judged judged = {0};

	if (!joints || joints > JOINTS_MAX)
		bench_die("usage: music_gap [JOINTS]");
	wanted = (joints + CALLS - 1) / CALLS;
	music_stage_alloc(&stage, CALLS, 0);
	music_stage_states(stage, on_state, NULL);
	for (unsigned c = 0; c < CALLS; c++) {
		const struct music_format *f = &music_formats[c % FORMATS];
		char name[8];

		snprintf(name, sizeof name, "%u", c % FORMATS);
		snprintf(calls[c].name, sizeof calls[c].name, "%s.%s", name, f->ending);
		if (c < FORMATS)
			music_make(stage, name, f,
				   (struct sound){.samples = f->rate, .signal = tones});
	}
	for (unsigned c = 0; c < CALLS; c++) {
		music_record(stage, c, wanted + 4);
		music_play(stage, c, calls[c].name, 0);
		plane_run(music_stage_plane(stage), 15);
	}
	plane_until(music_stage_plane(stage), is_over, NULL, (wanted + 30) * 1000,
		    "all tracks have ended");
	plane_run(music_stage_plane(stage), 500);
	for (unsigned c = 0; c < CALLS; c++)
		judge(&judged, c);
	bench_row_more("music_gap_samples", judged.samples, "samples",
		       "\"joints\": %u, \"formats\": %d, \"worst_phase\": %.2f, \"silences\": %u, "
		       "\"late_tracks\": %u",
		       judged.joints, FORMATS, judged.worst, judged.silences, judged.late);
	music_stage_free(stage);
	return 0;
}
