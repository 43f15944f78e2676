/* How soon the next provider answers when one dies in the middle of a question: failover_ms.
 *
 * guildd, the bot's mediad and control run unmodified (rooms.h). The voice is served by two
 * scripts in this process (brain.h): the first drops its connection 50 ms after each question, the
 * second answers at once. The second also transcribes. A first provider that is connected again is
 * preferred again, so it gets, and drops, many questions.
 *
 *   failover  from the dropped connection to the first sound that the second provider sends for the
 *             same turn
 *
 *   BENCH_ASKS=n      dropped questions (40)      BENCH_ROOMS=n      rooms at a time (4) */
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOMS = 8, ANSWER_MS = 4000, DROP_MS = 50, FIT_MS = 10000 };

/* The first answer of the second provider to that turn after the drop; rooms count turns alike, so
 * it is the nearest, and only once. 0: none. */
static uint64_t answered(const struct brain_asked *drop, const struct brain_asked *asked, size_t n,
			 bool *taken)
{
	for (size_t i = 0; i < n; i++)
		if (!taken[i] && asked[i].turn == drop->turn && asked[i].at >= drop->dropped &&
		    asked[i].at < drop->dropped + FIT_MS * NS_PER_MS && asked[i].sound) {
			taken[i] = true;
			return asked[i].sound;
		}
	return 0;
}

static void figures(struct brain *first, struct brain *second)
{
	size_t n, m, count = 0, drops = 0;
	const struct brain_asked *drop = brain_asked(first, &n), *asked = brain_asked(second, &m);
	double *ms = calloc(n + 1, sizeof *ms);
	bool *taken = calloc(m + 1, sizeof *taken);

	if (!ms || !taken)
		bench_die("out of memory");
	for (size_t i = 0; i < n; i++) {
		uint64_t at;

		if (!drop[i].dropped)
			continue;
		drops++;
		at = answered(&drop[i], asked, m, taken);
		if (at)
			ms[count++] = (double)(at - drop[i].dropped) / 1e6;
	}
	if (!count)
		bench_die("nobody took over (logs in %s)", rooms_folder());
	bench_raw("failover_ms", ms, count);
	bench_row_more("failover_ms", bench_quantile(ms, count, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"of\": %zu",
		       bench_quantile(ms, count, 0.5), bench_quantile(ms, count, 1), count, drops);
	free(ms);
	free(taken);
}

int main(void)
{
	unsigned asks = rooms_number("BENCH_ASKS", 40, 10000);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 4, ROOMS));
	static char config[512];
	struct rooms_conf conf = {.config = config};
	struct brain *first, *second;
	size_t n = 0;

	brain_alloc(&first, env, "nothing", ANSWER_MS, true);
	brain_drops(first, DROP_MS);
	brain_alloc(&second, env, "parley and now what", ANSWER_MS, true);
	snprintf(config, sizeof config,
		 "{\"providers\": [{\"name\": \"first\", \"url\": \"%s\"},"
		 "{\"name\": \"second\", \"url\": \"%s\"}],"
		 "\"roles\": {\"voice\": [\"first\", \"second\"], \"transcribe\": [\"second\"]}}",
		 brain_url(first), brain_url(second));
	rooms_begin(&conf);
	for (unsigned s = 0; n < asks; s++) {
		if (s > 60 + 10 * asks)
			bench_die("only %zu questions (logs in %s)", n, rooms_folder());
		rooms_run(1000);
		brain_asked(first, &n);
	}
	rooms_run(2000);
	rooms_end();
	figures(first, second);
	brain_free(first);
	brain_free(second);
	rooms_close();
	return 0;
}
