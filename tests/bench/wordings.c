/* The text rows: the untouched half of the wordings (tests/conversations/wordings.h) played to the
 * room, in figures; on standard error the whole table with its baselines, by language, and the same
 * of the tuned half.
 *
 *   WORDINGS_STEP=1   plays every so many-th wording */
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/conversations/wordings.h"

static void print_row(const char *name, const struct wordings_share *s,
		      const struct wordings_share *baseline)
{
	double low, high;

	wordings_interval(s, &low, &high);
	bench_row_more(name, wordings_rate(s), "",
		       "\"n\": %u, \"low\": %.3f, \"high\": %.3f, \"length\": %.3f, \"name\": "
		       "%.3f, \"always\": %.3f, \"never\": %.3f",
		       s->of, low, high, wordings_rate(&baseline[WORDINGS_BASELINE_LENGTH]),
		       wordings_rate(&baseline[WORDINGS_BASELINE_NAME]),
		       wordings_rate(&baseline[WORDINGS_BASELINE_ALWAYS]),
		       wordings_rate(&baseline[WORDINGS_BASELINE_NEVER]));
}

static void print_rows(const struct wordings_score *s)
{
	static const struct {
		const char *name;
		enum wordings_class class;
	} rows[] = {{"text_backchannel", WORDINGS_BACKCHANNEL},
		    {"text_tic", WORDINGS_TIC},
		    {"text_aside", WORDINGS_ASIDE},
		    {"text_of_the_bot", WORDINGS_OF_THE_BOT},
		    {"text_yield", WORDINGS_TAKEOVER},
		    {"text_followup", WORDINGS_FOLLOWUP},
		    {"text_named", WORDINGS_NAMED}};
	struct wordings_share lost = s->row[WORDINGS_CORRECTION][WORDINGS_LANGUAGE_COUNT];
	struct wordings_share baseline[WORDINGS_BASELINES_COUNT];
	double best = 0;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		print_row(rows[i].name, &s->row[rows[i].class][WORDINGS_LANGUAGE_COUNT],
			  s->baseline[rows[i].class]);
	lost.right = lost.of - lost.right;
	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++) {
		baseline[b] = s->baseline[WORDINGS_CORRECTION][b];
		baseline[b].right = baseline[b].of - baseline[b].right;
		best = s->matched.baseline[b] > best ? s->matched.baseline[b] : best;
	}
	print_row("text_short_lost", &lost, baseline);
	bench_row_more("text_matched", s->matched.value, "",
		       "\"n\": %u, \"low\": %.3f, \"high\": %.3f, \"best_baseline\": %.3f",
		       s->matched.takeovers + s->matched.backchannels, s->matched.low,
		       s->matched.high, best);
	bench_row("text_margin", 100 * (s->matched.value - best), "points");
}

int main(void)
{
	static struct wordings_score score;
	const char *step = getenv("WORDINGS_STEP");
	size_t n = step ? strtoul(step, NULL, 10) : 1;

	for (int untouched = 0; untouched < 2; untouched++) {
		struct wordings w;

		BENCH_OK(wordings_load(&w, untouched ? "tests/conversations/wordings/untouched"
						     : "tests/conversations/wordings/tuned"));
		BENCH_OK(wordings_score(&score, &w, n ? n : 1, NULL));
		wordings_print(stderr, untouched ? "untouched" : "tuned", &score);
		if (untouched)
			print_rows(&score);
		wordings_free(&w);
	}
	return 0;
}
