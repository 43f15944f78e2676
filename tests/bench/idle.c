/* How soon a voice session that was closed because nobody used it has its next question:
 * idle_wake_ms.
 *
 * guildd, the bot's mediad and control run unmodified (rooms.h), with one room. The voice is a
 * script in this process (brain.h) that opens a session and gives the words of an utterance at
 * once, so nothing is to be taken off. It sends each answer in one burst and then has nothing to do
 * for longer than voice_idle_s: control closes the session while the answer is still played, and
 * the member's next utterance wakes it.
 *
 *   wake   from the commit that the transcriber reads to the response.create that it reads in the
 * new session, after the items of what was said before
 *
 *   BENCH_ASKS=n      sessions that are woken (20) */
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"

#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_MS = 4000, LISTEN_MS = 2500 };

/* A session's first question, behind an earlier one's history. */
static bool is_woken(const struct brain_asked *asked, size_t i)
{
	return i > 0 && !asked[i].before && asked[i].committed > asked[i - 1].at;
}

static size_t count_woken(struct brain *b)
{
	size_t n, count = 0;
	const struct brain_asked *asked = brain_asked(b, &n);

	for (size_t i = 0; i < n; i++)
		count += is_woken(asked, i);
	return count;
}

static void figures(struct brain *b)
{
	size_t n, count = 0;
	const struct brain_asked *asked = brain_asked(b, &n);
	double *ms = calloc(n + 1, sizeof *ms);
	unsigned fewest = ~0u;

	if (!ms)
		bench_die("out of memory");
	for (size_t i = 0; i < n; i++) {
		if (!is_woken(asked, i))
			continue;
		ms[count++] = (double)(asked[i].at - asked[i].committed) / 1e6;
		fewest = asked[i].items < fewest ? asked[i].items : fewest;
	}
	/* The question is an item; one more at least was said before. */
	if (!count || fewest < 2)
		bench_die("%zu sessions were woken, one with %u items (logs in %s)", count, fewest,
			  rooms_folder());
	bench_raw("idle_wake_ms", ms, count);
	bench_row_more("idle_wake_ms", bench_quantile(ms, count, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"least_items\": %u",
		       bench_quantile(ms, count, 0.5), bench_quantile(ms, count, 1), count, fewest);
	free(ms);
}

int main(void)
{
	static const char *const settings[] = {"PARLEY_VOICE_IDLE_S=1", NULL};
	unsigned asks = rooms_number("BENCH_ASKS", 20, 10000);
	struct env *env = rooms_open(1);
	static char config[512];
	struct rooms_conf conf = {.settings = settings, .config = config, .listen_ms = LISTEN_MS};
	struct brain *b;

	brain_alloc(&b, env, "parley and now what", ANSWER_MS, false);
	snprintf(config, sizeof config,
		 "{\"providers\": [{\"name\": \"voice\", \"url\": \"%s\"}],"
		 "\"roles\": {\"voice\": [\"voice\"], \"transcribe\": [\"voice\"]}}",
		 brain_url(b));
	rooms_begin(&conf);
	for (unsigned s = 0; count_woken(b) < asks; s++) {
		if (s > 60 + 10 * asks)
			bench_die("only %zu sessions were woken (logs in %s)", count_woken(b),
				  rooms_folder());
		rooms_run(1000);
	}
	rooms_end();
	figures(b);
	brain_free(b);
	rooms_close();
	return 0;
}
