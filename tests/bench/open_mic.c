/* An open microphone that sends hiss, a fan or music without pause, at -35 to -20 dBFS, for ten
 * minutes; once somebody asks a question over it, 8 to 15 dB louder than the background. Counts how
 * often the answer begins within 2 s of the end of the question, with transcripts after 150 ms and
 * a model of 300 ms, how many answers the background cuts, and how much audio speech-to-text got.
 *
 *   OPEN_MIC_CALLS=200 OPEN_MIC_SEED=1 OPEN_MIC_SHOW=1 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/room/stage.h"

enum { LOOP = 20 * ROOM_RATE, CALL_S = 600, ANSWER_WITHIN_MS = 2000, VOICES = 3 };
enum kind { HISS, FAN, MUSIC, KINDS };

static const char *const kinds[KINDS] = {"hiss", "fan", "music"};

struct call {
	uint64_t random;
	int16_t loop[LOOP];
	unsigned at;
	uint64_t started_at; /* the answer */
	uint64_t sent;	     /* samples to speech-to-text */
	bool cut;	     /* the answer was stopped, though nobody speaks over it */
};

static double noise(struct call *c)
{
	return random_uniform(&c->random, -1, 1) + random_uniform(&c->random, -1, 1) +
	       random_uniform(&c->random, -1, 1);
}

static void make_hiss(struct call *c, double *out)
{
	for (unsigned i = 0; i < LOOP; i++)
		out[i] = noise(c);
}

/* Noise below about 400 Hz, a hum of its blades, and a slow swell. */
static void make_fan(struct call *c, double *out)
{
	double low = 0, hum = random_uniform(&c->random, 80, 140);

	for (unsigned i = 0; i < LOOP; i++) {
		double t = (double)i / ROOM_RATE;

		low += 0.1 * (noise(c) - low);
		out[i] = (low + 0.1 * sin(2 * M_PI * hum * t)) * (1 + 0.15 * sin(2 * M_PI * t / 4));
	}
}

/* Three voices of notes that are struck and decay, each at its own pace. */
static void make_music(struct call *c, double *out)
{
	memset(out, 0, LOOP * sizeof *out);
	for (unsigned v = 0; v < VOICES; v++) {
		double beat = random_uniform(&c->random, 0.2, 0.6),
		       decay = random_uniform(&c->random, 0.3, 1.2);
		double pitch = 0, loud = 0;
		unsigned struck = 0, length = 0;

		for (unsigned i = 0; i < LOOP; i++) {
			double t;

			if (i >= struck + length) {
				struck = i;
				length = (unsigned)(beat * ROOM_RATE) *
					 (1 + (unsigned)random_uniform(&c->random, 0, 2));
				pitch = 110 * pow(2, floor(random_uniform(&c->random, 0, 36)) / 12);
				loud = random_uniform(&c->random, 0.4, 1);
			}
			t = (double)(i - struck) / ROOM_RATE;
			out[i] += loud * exp(-t / decay) * fmin(1, t / 0.01) *
				  (sin(2 * M_PI * pitch * t) + 0.5 * sin(4 * M_PI * pitch * t));
		}
	}
}

/* Scales it to this level. */
static void make_loop(struct call *c, enum kind kind, double dbfs)
{
	static double x[LOOP];
	double sum = 0, by;

	if (kind == HISS)
		make_hiss(c, x);
	else if (kind == FAN)
		make_fan(c, x);
	else
		make_music(c, x);
	for (unsigned i = 0; i < LOOP; i++)
		sum += x[i] * x[i];
	by = 32768 * pow(10, dbfs / 20) / sqrt(sum / LOOP);
	for (unsigned i = 0; i < LOOP; i++)
		c->loop[i] = (int16_t)fmax(-32768, fmin(32767, x[i] * by));
}

static void fill(int16_t *samples, void *arg)
{
	struct call *c = arg;

	memcpy(samples, c->loop + c->at, STAGE_FRAME * sizeof *samples);
	c->at = (c->at + STAGE_FRAME) % LOOP;
}

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	struct call *c = arg;

	if (ev->type == ROOM_SAY_STARTED && !c->started_at)
		c->started_at = now;
	for (size_t i = 0; i < fx->n; i++) {
		if (fx->v[i].type == ROOM_DO_ASR_APPEND)
			c->sent += fx->v[i].pcm.n / 2;
		else if (fx->v[i].type == ROOM_DO_SAY_STOP || fx->v[i].type == ROOM_DO_SAY_PAUSE)
			c->cut = true;
	}
}

/* The root mean square of the syllables of a stage is 0.66 of their amplitude. */
static unsigned amplitude(double dbfs)
{
	double amp = 32768 * pow(10, dbfs / 20) / 0.66;

	return amp < 24000 ? (unsigned)amp : 24000;
}

struct total {
	double sent_s;
	unsigned right, cut, of[KINDS], by[KINDS];
};

static void answer_one(uint64_t seed, enum kind kind, struct total *total, bool show)
{
	static struct call c;
	struct stage_conf conf = {.name = "Parley", .steppedh = stepped, .arg = &c};
	struct settings *settings = NULL;
	struct stage *s = NULL;
	double dbfs, over;
	uint64_t end;
	bool answered;

	memset(&c, 0, sizeof c);
	c.random = seed * 0x2545f4914f6cdd1dull + 11;
	dbfs = random_uniform(&c.random, -35, -20);
	over = random_uniform(&c.random, 8, 15);
	make_loop(&c, kind, dbfs);
	BENCH_OK(settings_alloc(&settings));
	BENCH_OK(settings_set(settings, "guest", "off"));
	conf.settings = settings;
	BENCH_OK(stage_alloc(&s, &conf));
	stage_join(s, "alice", false);
	stage_join(s, "bob", false);
	stage_brain_answers(s, "it is a quarter past four in the afternoon", 3000, 300);
	stage_open_microphone(s, 1, fill, &c);
	stage_run(s,
		  stage_now(s) + (uint64_t)random_uniform(&c.random, 10, CALL_S - 20) * NS_PER_S);
	end = stage_now(s) +
	      stage_says(s, 1, "parley what time is it over there", 0, amplitude(dbfs + over)) *
		      NS_PER_MS;
	stage_run(s, end + ANSWER_WITHIN_MS * NS_PER_MS);
	answered = c.started_at > end;
	stage_run(s, STAGE_START + CALL_S * NS_PER_S);
	total->sent_s += (double)c.sent / ROOM_RATE;
	total->of[kind]++;
	total->by[kind] += answered;
	total->right += answered;
	total->cut += c.cut;
	if (show)
		fprintf(stderr,
			"%s %.1f dBFS, question %.1f dB over it: %s %.0f ms%s, %.1f s sent\n",
			kinds[kind], dbfs, over, answered ? "answered after" : "NOT",
			answered ? (double)(c.started_at - end) / NS_PER_MS : 0,
			c.cut ? ", cut" : "", (double)c.sent / ROOM_RATE);
	stage_free(s);
	settings_free(settings);
}

static unsigned number(const char *env, unsigned otherwise)
{
	const char *text = getenv(env);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

int main(void)
{
	unsigned calls = number("OPEN_MIC_CALLS", 200);
	struct total t = {0};

	for (unsigned i = 0; i < calls; i++)
		answer_one(number("OPEN_MIC_SEED", 1) + i, (enum kind)(i % KINDS), &t,
			   number("OPEN_MIC_SHOW", 0));
	bench_row_more("open_mic_answered", (double)t.right / calls, "",
		       "\"n\": %u, \"hiss\": %.3f, \"fan\": %.3f, \"music\": %.3f, \"cut\": %u",
		       calls, (double)t.by[HISS] / t.of[HISS], (double)t.by[FAN] / t.of[FAN],
		       (double)t.by[MUSIC] / t.of[MUSIC], t.cut);
	bench_row_more("open_mic_sent", t.sent_s / (calls * CALL_S), "", "\"n\": %u", calls);
	return 0;
}
