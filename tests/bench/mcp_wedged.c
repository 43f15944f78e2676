/* mcp_wedged_p99_ms: ask_p99_ms (ask.c) while control has ten MCP servers, programs in their
 * sandboxes, of which one lists its tools and then reads and answers nothing, one floods its stdout
 * and one keeps a core busy.
 *
 *   BENCH_ASKS=n      questions in all (150)      BENCH_ROOMS=n      rooms at a time (4) */
#include "tests/bench/ask_times.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/journal_times.h"
#include "tests/bench/rooms.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	ANSWER_MS = 4000,
	ROOMS = 8,
	SERVERS = 10,
	HANGS = 3,
	SPINS = 5,
	FLOODS = 7,
	TIMES_MAX = 100000
};

static double ms[TIMES_MAX];

static void write_servers(char *to, size_t size)
{
	char *program = realpath("build/tests/mcp_server", NULL);
	size_t n;

	if (!program)
		bench_die("build/tests/mcp_server is not built");
	n = (size_t)snprintf(to, size, "{\"mcp_servers\":[");
	for (unsigned i = 0; i < SERVERS && n < size; i++)
		n += (size_t)snprintf(to + n, size - n,
				      "%s{\"name\":\"s%u\",\"command\":[\"%s\",\"%s\"],"
				      "\"read\":[\"%s\"]}",
				      i ? "," : "", i, program,
				      i == HANGS    ? "hangs"
				      : i == SPINS  ? "spins"
				      : i == FLOODS ? "floods"
						    : "good",
				      program);
	if (n < size)
		n += (size_t)snprintf(to + n, size - n, "]}");
	if (n >= size)
		bench_die("the settings file is too long");
	free(program);
}

static size_t times_of(unsigned room, const struct brain *brain, size_t most, double *to)
{
	struct journal_times s;
	size_t asks, n = 0;
	const struct brain_asked *asked = brain_asked(brain, &asks);
	char folder[96];
	unsigned conn;

	snprintf(folder, sizeof folder, "%s/rooms", rooms_folder());
	journal_times_room(&s, folder, rooms_guild(room));
	conn = ask_times_conn(&s, asked, asks);
	for (size_t i = 0; i < asks && n < most; i++)
		if (asked[i].conn == conn && ask_times_ms(&s, &asked[i], &to[n]))
			n++;
	journal_times_clear(&s);
	return n;
}

int main(void)
{
	unsigned asks = rooms_number("BENCH_ASKS", 150, TIMES_MAX / 2);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 4, ROOMS));
	static char url[160], config[8192];
	const char *settings[] = {url, NULL};
	struct rooms_conf conf = {.settings = settings, .config = config, .journals = true};
	struct brain *brain;
	size_t asked = 0, n = 0;

	write_servers(config, sizeof config);
	brain_alloc(&brain, env, "parley and now what", ANSWER_MS, true);
	snprintf(url, sizeof url, "PARLEY_BRAIN_URL=%s", brain_url(brain));
	rooms_begin(&conf);
	for (unsigned s = 0; asked < asks; s++) {
		if (s > 60 + 3 * asks)
			bench_die("only %zu questions (logs in %s)", asked, rooms_folder());
		rooms_run(1000);
		brain_asked(brain, &asked);
	}
	rooms_end();
	for (unsigned i = 0; i < rooms_count(); i++)
		n += times_of(i, brain, TIMES_MAX - n, ms + n);
	if (!n)
		bench_die("nothing was measured (logs in %s)", rooms_folder());
	bench_raw("mcp_wedged_p99_ms", ms, n);
	bench_row_more("mcp_wedged_p99_ms", bench_quantile(ms, n, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"rooms\": %u",
		       bench_quantile(ms, n, 0.5), bench_quantile(ms, n, 1), n, rooms_count());
	brain_free(brain);
	rooms_close();
	return 0;
}
