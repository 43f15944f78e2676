/* Voices over the bot without any words: nothing is transcribed or asked for, sound alone decides.
 * The asker takes over, says a backchannel, coughs, laughs, or talks to somebody else; levels and
 * lengths are drawn from distributions of the kind that the literature reports (decision 69). In
 * the simulated room, with syllables instead of a steady tone.
 *
 *   kind         length, ms                level against their own, dB
 *   takeover     until the bot stops       N(+2.5, 3)
 *   backchannel  lognormal, median 420     N(-4, 3)
 *   cough        250 to 500                N(+3, 4)
 *   laughter     lognormal, median 900     N(-1, 4)
 *   aside        lognormal, median 1700    N(-4, 3), six in ten within an exchange
 *
 *   WORDLESS_EACH=400 WORDLESS_SEED=1 WORDLESS_CREDIT=250 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/room/stage.h"

enum { EACH_MAX = 4000, TAKEOVER_MS = 5000, AFTER_MS = 1000 };
enum kind { TAKEOVER, BACKCHANNEL, COUGH, LAUGHTER, ASIDE, KINDS };

static const char *const kinds[KINDS] = {"takeover", "backchannel", "cough", "laughter", "aside"};

struct trial {
	uint64_t random;
	bool speaks;
	uint64_t began_at, ducked_at, cut_at, paused_at;
};

struct outcome {
	double cut_ms[EACH_MAX], duck_ms[EACH_MAX];
	unsigned of[KINDS], cut[KINDS], ducked;
};

/* A quiet room: noise of -66 dBFS. */
static void fill(int16_t *samples, void *arg)
{
	struct trial *t = arg;

	for (unsigned i = 0; i < STAGE_FRAME; i++)
		samples[i] = (int16_t)(random_next(&t->random) % 57) - 28;
}

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	struct trial *t = arg;

	if (ev->type == ROOM_SAY_STARTED) {
		t->speaks = true;
		t->began_at = now;
	} else if (ev->type == ROOM_SAY_DRAINED || ev->type == ROOM_SAY_STOPPED) {
		t->speaks = false;
	}
	for (size_t i = 0; i < fx->n; i++) {
		if (fx->v[i].type == ROOM_DO_SAY_STOP && !t->cut_at)
			t->cut_at = now;
		else if (fx->v[i].type == ROOM_DO_SAY_GAIN && !t->ducked_at)
			t->ducked_at = now;
		else if (fx->v[i].type == ROOM_DO_SAY_PAUSE && !t->paused_at)
			t->paused_at = now;
	}
}

static unsigned amplitude_of(double own, double db)
{
	double amp = own * pow(10, db / 20);

	return amp < 30000 ? (unsigned)amp : 30000;
}

/* Speech of this length at this level; laughter in bursts. */
static void make_sound(struct stage *s, struct trial *t, enum kind kind, double own)
{
	static const struct {
		double level, deviation;
	} levels[KINDS] = {{2.5, 3}, {-4, 3}, {3, 4}, {-1, 4}, {-4, 3}};
	unsigned amp = amplitude_of(
		own, random_normal(&t->random, levels[kind].level, levels[kind].deviation));
	unsigned ms = kind == TAKEOVER	    ? TAKEOVER_MS
		      : kind == BACKCHANNEL ? (unsigned)random_lognormal(&t->random, 420, 0.45)
		      : kind == COUGH	    ? (unsigned)random_uniform(&t->random, 250, 500)
		      : kind == LAUGHTER    ? (unsigned)random_lognormal(&t->random, 900, 0.5)
					    : (unsigned)random_lognormal(&t->random, 1700, 0.4);
	unsigned burst = kind == LAUGHTER ? 120 : 100, gap = kind == LAUGHTER ? 80 : 0;

	for (unsigned done = 0; done < ms && !t->cut_at; done += burst + gap) {
		if (!done || gap)
			stage_speaks(s, 1, "", amp);
		stage_run(s, stage_now(s) + burst * NS_PER_MS);
		if (!gap)
			continue;
		stage_stops(s, 1);
		stage_run(s, stage_now(s) + gap * NS_PER_MS);
	}
	stage_stops(s, 1);
}

static void play(struct outcome *o, uint64_t seed, enum kind kind)
{
	struct trial t = {.random = seed * 0x2545f4914f6cdd1dull + kind};
	struct stage_conf conf = {.name = "Parley", .steppedh = stepped, .arg = &t};
	const char *credit = getenv("WORDLESS_CREDIT");
	struct settings *settings = NULL;
	struct stage *s = NULL;
	double own = 32768 * pow(10, random_uniform(&t.random, -22, -14) / 20) / 0.66;
	uint64_t from;

	BENCH_OK(settings_alloc(&settings));
	BENCH_OK(settings_set(settings, "guest", "off"));
	BENCH_OK(settings_set(settings, "interim_ms", "0"));
	if (credit)
		BENCH_OK(settings_set(settings, "barge_in_credit_ms", credit));
	conf.settings = settings;
	BENCH_OK(stage_alloc(&s, &conf));
	stage_join(s, "alice", false);
	stage_join(s, "bob", false);
	stage_brain_answers(s, "this is a long story about a king and his horse", 12000, 300);
	stage_open_microphone(s, 1, fill, &t);
	stage_open_microphone(s, 2, fill, &t);
	stage_run(s, stage_now(s) + 4000 * NS_PER_MS);
	stage_says(s, 1, "parley please tell me a long story", 0, amplitude_of(own, 0));
	for (unsigned ms = 0; ms < 8000 && !t.speaks; ms += 20)
		stage_run(s, stage_now(s) + 20 * NS_PER_MS);
	if (!t.speaks)
		bench_die("the bot did not answer");
	stage_transcripts(s, 0, false, true);
	stage_run(s, stage_now(s) + (uint64_t)random_uniform(&t.random, 1600, 4000) * NS_PER_MS);
	if (kind == ASIDE && random_uniform(&t.random, 0, 1) < 0.6) {
		stage_says(s, 2, "", (unsigned)random_lognormal(&t.random, 1000, 0.4),
			   amplitude_of(own, -2));
		stage_run(s, stage_now(s) + 1400 * NS_PER_MS);
	}
	if (t.speaks && !t.cut_at) {
		t.ducked_at = 0;
		from = stage_now(s);
		make_sound(s, &t, kind, own);
		stage_run(s, stage_now(s) + AFTER_MS * NS_PER_MS);
		o->of[kind]++;
		if (kind == TAKEOVER && t.cut_at)
			o->cut_ms[o->cut[kind]] = (double)(t.cut_at - from) / NS_PER_MS;
		o->cut[kind] += t.cut_at > 0;
		if (kind == TAKEOVER && t.ducked_at)
			o->duck_ms[o->ducked++] = (double)(t.ducked_at - from) / NS_PER_MS;
	}
	stage_free(s);
	settings_free(settings);
}

static unsigned number(const char *env, unsigned otherwise)
{
	const char *text = getenv(env);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static double share(const struct outcome *o, enum kind kind)
{
	return o->of[kind] ? (double)o->cut[kind] / o->of[kind] : 0;
}

int main(void)
{
	static struct outcome o;
	unsigned each = number("WORDLESS_EACH", 400), seed = number("WORDLESS_SEED", 1);
	double wrong = 0;

	for (unsigned i = 0; i < each && i < EACH_MAX; i++)
		for (unsigned k = 0; k < KINDS; k++)
			play(&o, seed + i, (enum kind)k);
	for (unsigned k = BACKCHANNEL; k < KINDS; k++) {
		fprintf(stderr, "%s cut %.3f of %u\n", kinds[k], share(&o, (enum kind)k), o.of[k]);
		wrong += share(&o, (enum kind)k) / (KINDS - 1);
	}
	bench_row_more("duck_p99_ms", bench_quantile(o.duck_ms, o.ducked, 0.99), "ms",
		       "\"n\": %u, \"of\": %u", o.ducked, o.of[TAKEOVER]);
	bench_row_more("wordless_cut_p99_ms", bench_quantile(o.cut_ms, o.cut[TAKEOVER], 0.99), "ms",
		       "\"p50\": %.0f, \"n\": %u, \"of\": %u",
		       bench_quantile(o.cut_ms, o.cut[TAKEOVER], 0.5), o.cut[TAKEOVER],
		       o.of[TAKEOVER]);
	bench_row_more("wordless_yield", share(&o, TAKEOVER), "", "\"n\": %u", o.of[TAKEOVER]);
	bench_row_more("wordless_false_cut", wrong, "",
		       "\"backchannel\": %.3f, \"cough\": %.3f, \"laughter\": %.3f, "
		       "\"aside\": %.3f",
		       share(&o, BACKCHANNEL), share(&o, COUGH), share(&o, LAUGHTER),
		       share(&o, ASIDE));
	return 0;
}
