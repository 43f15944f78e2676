/* How the room behaves among people (tests/conversations), in figures: rows of wordings and seeds
 * that were not used while it was tuned; on standard error the same beside a bot without a room and
 * an oracle, with the interval in which the share lies at 95 % and the least and most of GROUPS
 * groups of seeds. Four times:
 *
 *   ""          interim transcripts arrive while a member speaks
 *   _noisy      the same, and one word in ten is misrecognised
 *   _late       words come CONV_ASR (400) ms after a commit; the room may request interim
 * transcripts (interim_request.h) _wordless   words come after the end of an utterance only, as
 * late
 *
 *   CONV_SEED=3000 CONV_SEEDS=240 CONV_EPISODES=80 CONV_SET=F CONV_PARTIALS=300
 *   CONV_ONLY=_noisy CONV_SHOW=1 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/conversations/conversation.h"

static unsigned number(const char *env, unsigned otherwise)
{
	const char *text = getenv(env);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static double quantile(const uint32_t *v, unsigned n, double q)
{
	static double x[4096];

	for (unsigned i = 0; i < n; i++)
		x[i] = v[i];
	return bench_quantile(x, n, q);
}

enum { GROUPS = 6, LATE_MS = 400 /* the delay of a provider over the network */ };

/* Wilson's interval. */
static void interval(const struct conversation_share *s, double *low, double *high)
{
	const double z = 1.96;
	double n = s->of ? s->of : 1, p = conversation_rate(s);
	double mid = p + z * z / (2 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	*low = (mid - half) / (1 + z * z / n);
	*high = (mid + half) / (1 + z * z / n);
}

static double of_group(const struct conversation_share *now,
		       const struct conversation_share *before)
{
	struct conversation_share s = {now->right - before->right, now->of - before->of};

	return conversation_rate(&s);
}

static void print_row(const char *name, const struct conversation_score *score, unsigned i,
		      const double *least, const double *most)
{
	const struct conversation_share *room = &score[CONVERSATION_ROOM].row[i];
	double without = conversation_rate(&score[CONVERSATION_BASELINE].row[i]);
	double oracle = conversation_rate(&score[CONVERSATION_ORACLE].row[i]), low, high;

	interval(room, &low, &high);
	fprintf(stderr,
		"%-26s room %.3f (%.3f to %.3f of %u; by seeds %.3f to %.3f)  without %.3f  "
		"oracle %.3f\n",
		name, conversation_rate(room), low, high, room->of, *least, *most, without, oracle);
	bench_row_more(name, conversation_rate(room), "",
		       "\"n\": %u, \"low\": %.3f, \"high\": %.3f, \"without\": %.3f, "
		       "\"oracle\": %.3f",
		       room->of, low, high, without, oracle);
}

static void run(const char *suffix, unsigned misheard, unsigned partial_ms, bool looks)
{
	static const char *const rows[CONVERSATION_ROWS] = {"backchannel", "tic", "aside", "yield"};
	static struct conversation_score score[CONVERSATION_BOTS];
	const char *set = getenv("CONV_SET"), *only = getenv("CONV_ONLY");
	unsigned seeds = number("CONV_SEEDS", 240);
	struct conversation_conf conf = {.misheard = misheard,
					 .episodes = number("CONV_EPISODES", 80),
					 .partial_ms = partial_ms,
					 .asr_ms = number("CONV_ASR", partial_ms ? 0 : LATE_MS),
					 .no_looks = !looks,
					 .show = number("CONV_SHOW", 0),
					 .set = set && *set >= 'A' && *set < 'A' + CONVERSATION_SETS
							? (enum conversation_set)(*set - 'A')
							: CONVERSATION_F};
	struct conversation_score *room = &score[CONVERSATION_ROOM];
	double least[CONVERSATION_ROWS] = {0}, most[CONVERSATION_ROWS] = {0};
	char name[64];

	if (only && strcmp(only, suffix) != 0)
		return;
	memset(score, 0, sizeof score);
	for (unsigned g = 0; g < GROUPS; g++) {
		struct conversation_share before[CONVERSATION_ROWS];

		memcpy(before, room->row, sizeof before);
		for (unsigned i = seeds * g / GROUPS; i < seeds * (g + 1) / GROUPS; i++) {
			conf.seed = number("CONV_SEED", 3000) + i;
			conf.people = 2 + i % 7;
			BENCH_OK(conversation_run(&conf, score));
		}
		for (unsigned i = 0; i < CONVERSATION_ROWS; i++) {
			double rate = of_group(&room->row[i], &before[i]);

			least[i] = g && least[i] < rate ? least[i] : rate;
			most[i] = g && most[i] > rate ? most[i] : rate;
		}
	}
	for (unsigned i = 0; i < CONVERSATION_ROWS; i++) {
		snprintf(name, sizeof name, "conv_%s%s", rows[i], suffix);
		print_row(name, score, i, &least[i], &most[i]);
	}
	fprintf(stderr,
		"questions taken up %.3f of %u, not before they were over %.3f; to the brain %.0f "
		"ms, p95 %.0f; "
		"yields %.0f ms, p95 %.0f\n",
		conversation_rate(&room->asked), room->asked.of, conversation_rate(&room->quiet),
		quantile(room->delay_ms, room->delays, 0.5),
		quantile(room->delay_ms, room->delays, 0.95),
		quantile(room->yield_ms, room->yields, 0.5),
		quantile(room->yield_ms, room->yields, 0.95));
}

static void calls(const char *name, const struct conversation_share *s)
{
	fprintf(stderr, "%-26s %.3f of %u\n", name, conversation_rate(s), s->of);
	bench_row_more(name, conversation_rate(s), "", "\"n\": %u", s->of);
}

int main(void)
{
	struct conversation_share heard, left;
	unsigned partial_ms = number("CONV_PARTIALS", 300);

	run("", 0, partial_ms, true);
	run("_noisy", 100, partial_ms, true);
	run("_late", 0, 0, true);
	run("_wordless", 0, 0, false);
	conversation_calls(&heard, &left);
	calls("address_heard", &heard);
	calls("address_left", &left);
	return 0;
}
