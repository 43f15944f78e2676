/* How the room behaves among people (tests/conversations), in figures: rows of wordings and seeds
 * that were not used while it was tuned; on standard error the same beside a bot without a room and
 * an oracle.
 *
 *   CONV_SEED=3000 CONV_SEEDS=60 CONV_EPISODES=80 CONV_SET=D CONV_PARTIALS=300 */
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

static void run(const char *suffix, unsigned misheard)
{
	static const char *const rows[CONVERSATION_ROWS] = {"backchannel", "tic", "aside", "yield"};
	static struct conversation_score score[CONVERSATION_BOTS];
	const char *set = getenv("CONV_SET");
	struct conversation_conf conf = {.misheard = misheard,
					 .episodes = number("CONV_EPISODES", 80),
					 .partial_ms = number("CONV_PARTIALS", 300),
					 .set = set && *set >= 'A' && *set <= 'D'
							? (enum conversation_set)(*set - 'A')
							: CONVERSATION_D};
	struct conversation_score *room = &score[CONVERSATION_ROOM];
	char name[64];

	memset(score, 0, sizeof score);
	for (unsigned i = 0; i < number("CONV_SEEDS", 60); i++) {
		conf.seed = number("CONV_SEED", 3000) + i;
		conf.people = 2 + i % 7;
		BENCH_OK(conversation_run(&conf, score));
	}
	for (unsigned i = 0; i < CONVERSATION_ROWS; i++) {
		snprintf(name, sizeof name, "conv_%s%s", rows[i], suffix);
		fprintf(stderr, "%-24s room %.3f  without %.3f  oracle %.3f  (%u)\n", name,
			conversation_rate(&room->row[i]),
			conversation_rate(&score[CONVERSATION_BASELINE].row[i]),
			conversation_rate(&score[CONVERSATION_ORACLE].row[i]), room->row[i].of);
		bench_row_more(name, conversation_rate(&room->row[i]), "",
			       "\"n\": %u, \"without\": %.3f, \"oracle\": %.3f", room->row[i].of,
			       conversation_rate(&score[CONVERSATION_BASELINE].row[i]),
			       conversation_rate(&score[CONVERSATION_ORACLE].row[i]));
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

int main(void)
{
	run("", 0);
	run("_noisy", 100);
	return 0;
}
