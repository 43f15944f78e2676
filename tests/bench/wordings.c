/* The text rows: the untouched half of the wordings (tests/conversations/wordings.h) played to the
 * room, in figures; on standard error the whole table with its baselines, by language, and the same
 * of the tuned half.
 *
 *   WORDINGS_STEP=1   plays every so many-th wording */
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/conversations/wordings.h"

static void print_row(const char *row, const char *suffix, const struct wordings_share *s,
		      const struct wordings_share *baseline)
{
	double low, high;
	char name[64];

	snprintf(name, sizeof name, "%s%s", row, suffix);
	wordings_interval(s, &low, &high);
	bench_row_more(name, wordings_rate(s), "",
		       "\"n\": %u, \"low\": %.3f, \"high\": %.3f, \"length\": %.3f, \"name\": "
		       "%.3f, \"always\": %.3f, \"never\": %.3f",
		       s->of, low, high, wordings_rate(&baseline[WORDINGS_BASELINE_LENGTH]),
		       wordings_rate(&baseline[WORDINGS_BASELINE_NAME]),
		       wordings_rate(&baseline[WORDINGS_BASELINE_ALWAYS]),
		       wordings_rate(&baseline[WORDINGS_BASELINE_NEVER]));
}

/* suffix: tells how the half was played. */
static void print_rows(const struct wordings_score *s, const char *suffix)
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
	char name[64];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		print_row(rows[i].name, suffix, &s->row[rows[i].class][WORDINGS_LANGUAGE_COUNT],
			  s->baseline[rows[i].class]);
	lost.right = lost.of - lost.right;
	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++) {
		baseline[b] = s->baseline[WORDINGS_CORRECTION][b];
		baseline[b].right = baseline[b].of - baseline[b].right;
		best = s->matched.baseline[b] > best ? s->matched.baseline[b] : best;
	}
	print_row("text_short_lost", suffix, &lost, baseline);
	snprintf(name, sizeof name, "text_matched%s", suffix);
	bench_row_more(name, s->matched.value, "",
		       "\"n\": %u, \"low\": %.3f, \"high\": %.3f, \"best_baseline\": %.3f",
		       s->matched.takeovers + s->matched.backchannels, s->matched.low,
		       s->matched.high, best);
	snprintf(name, sizeof name, "text_margin%s", suffix);
	bench_row(name, 100 * (s->matched.value - best), "points");
}

/* Rules alone, and with a stand-in for the interrupt classifier that errs in 10 % of the wordings,
 * or never. */
static const struct {
	const char *suffix;
	bool classified;
	struct wordings_classifier classifier;
} ways[] = {{"", false, {0}},
	    {"_classified", true, {.wrong = 100, .after_ms = WORDINGS_CLASSIFIER_MS}},
	    {"_classified_exactly", true, {.wrong = 0, .after_ms = WORDINGS_CLASSIFIER_MS}}};

static void play_half(const char *half, size_t step, bool figures)
{
	static struct wordings_score score;
	char folder[64], title[64];
	struct wordings w;

	snprintf(folder, sizeof folder, "tests/conversations/wordings/%s", half);
	BENCH_OK(wordings_load(&w, folder));
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		BENCH_OK(wordings_score(&score, &w, step,
					ways[i].classified ? &ways[i].classifier : NULL, NULL));
		snprintf(title, sizeof title, "%s%s", half, ways[i].suffix);
		wordings_print(stderr, title, &score);
		if (figures)
			print_rows(&score, ways[i].suffix);
	}
	wordings_free(&w);
}

int main(void)
{
	const char *step = getenv("WORDINGS_STEP");
	size_t n = step ? strtoul(step, NULL, 10) : 1;

	play_half("tuned", n ? n : 1, false);
	play_half("untouched", n ? n : 1, true);
	return 0;
}
