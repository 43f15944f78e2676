/* The CPU cost of the room: one step, and an hour.
 *
 * Twelve people; eight utterances a minute, 2.5 s each, every second one with the bot's name; each
 * such question is answered with enough sound that the bot speaks a fifth of the time; now and then
 * somebody says mhm over it. The steps of ten minutes of that are recorded, run again one by one
 * and timed. Then hours of it are played, world included. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/room/stage.h"

enum {
	PEOPLE = 12,
	EVERY_MS = 7500,
	SPOKEN_MS = 2500,
	ANSWER_MS = 3000,
	STEPS = 60000,
	HOURS = 4,
	TURNS = 5
};

static struct step {
	struct room_event ev;
	uint64_t now;
} steps[STEPS];
static unsigned n_steps;

/* The stage owns what an event borrows; audio is one of few tones, text is copied. */
static void keep(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		 void *arg)
{
	struct step *s = &steps[n_steps];
	uint8_t *copy;

	(void)fx, (void)arg;
	if (n_steps == STEPS)
		return;
	n_steps++;
	*s = (struct step){.ev = *ev, .now = now};
	if (ev->text.n && (copy = malloc(ev->text.n))) {
		memcpy(copy, ev->text.p, ev->text.n);
		s->ev.text.p = copy;
	}
	if (ev->pcm.n && (copy = malloc(ev->pcm.n))) {
		memcpy(copy, ev->pcm.p, ev->pcm.n);
		s->ev.pcm.p = copy;
	}
}

static struct stage *open_stage(struct settings **settings, bool record)
{
	struct stage_conf conf = {.name = "Parley", .steppedh = record ? keep : NULL};
	struct stage *s = NULL;
	char name[16];

	BENCH_OK(settings_alloc(settings));
	BENCH_OK(settings_set(*settings, "guest", "off"));
	conf.settings = *settings;
	BENCH_OK(stage_alloc(&s, &conf));
	for (unsigned i = 0; i < PEOPLE; i++) {
		snprintf(name, sizeof name, "person%u", i);
		stage_join(s, name, false);
	}
	stage_brain_answers(s, "it is a quarter past four in the afternoon and the sun is still up",
			    ANSWER_MS, 600);
	return s;
}

static void talk(struct stage *s, unsigned minutes)
{
	uint64_t at = stage_now(s);

	for (unsigned i = 0; i < minutes * 60000 / EVERY_MS; i++) {
		uint64_t user = 1 + i * 5 % PEOPLE;

		stage_says(s, user,
			   i % 2 ? "and what did you do then on the way home"
				 : "parley what time is it now",
			   SPOKEN_MS, STAGE_LOUD);
		stage_run(s, at + 5500 * NS_PER_MS);
		if (i % 4 == 0)
			stage_says(s, 1 + (i + 3) % PEOPLE, "mhm", 440, STAGE_LOUD);
		at += EVERY_MS * NS_PER_MS;
		stage_run(s, at);
	}
}

static void one_step(void)
{
	static double us[STEPS];
	struct room_effects *fx = calloc(1, sizeof *fx);
	struct settings *settings = NULL;
	struct stage *s = open_stage(&settings, true);
	struct room *room = NULL;
	size_t used;

	talk(s, 10);
	stage_free(s);
	if (!fx)
		bench_die("out of memory");
	/* The first time warms up, the second counts. */
	for (unsigned turn = 0; turn < 2; turn++) {
		BENCH_OK(room_alloc(&room, settings, "Parley"));
		used = mallinfo2().uordblks;
		for (unsigned i = 0; i < n_steps; i++) {
			uint64_t from = bench_clock();

			room_step(room, &steps[i].ev, steps[i].now, fx);
			us[i] = (double)(bench_clock() - from) / 1000;
		}
		if (mallinfo2().uordblks != used)
			bench_die("room_step allocated");
		room = room_free(room);
	}
	bench_raw("room_step_us", us, n_steps);
	bench_row_more("room_step_us", bench_quantile(us, n_steps, 0.5), "us",
		       "\"p99\": %.3f, \"steps\": %u", bench_quantile(us, n_steps, 0.99), n_steps);
	settings_free(settings);
	free(fx);
}

static void hours(void)
{
	double per_minute[TURNS];

	for (unsigned i = 0; i < TURNS; i++) {
		struct settings *settings = NULL;
		struct stage *s = open_stage(&settings, false);
		uint64_t from = bench_cpu();

		talk(s, 60 * HOURS);
		per_minute[i] = HOURS * 60e9 / (double)(bench_cpu() - from);
		stage_free(s);
		settings_free(settings);
	}
	bench_raw("room_hours_per_minute", per_minute, TURNS);
	bench_row("room_hours_per_minute", bench_median(per_minute, TURNS), "");
}

int main(void)
{
	one_step();
	hours();
	return 0;
}
