/* What is lost when realtime sessions end: rollover_lost_turns, rollover_silence_ms.
 *
 * guildd, the bot's mediad and control run unmodified (rooms.h) against a stand-in of each provider
 * (build/standin), whose sessions reach their limit, are told to go away, or lose their socket
 * every four seconds, in the middle of whatever happens then. A script in this process transcribes
 * (brain.h). In every room the bot answers, is interrupted after 700 ms, and answers again.
 *
 *   lost     questions after which the member heard nothing for 6 s
 *   silence  from a member's last sound to the bot's first, the longest, less the median of the
 * same rooms and provider without any fault
 *
 *   BENCH_SECONDS=n      of each provider and fault (25)      BENCH_ROOMS=n      rooms at a time
 * (8) */
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ROOMS = 16, ANSWERS = 4096 };

static const char *const providers[] = {"openai", "xai", "gemini"};
/* Scripts; a %d is the period in ms. The first is the standard of comparison. */
static const struct {
	const char *name, *script;
} faults[] = {
	{"none", ""},
	{"expire", "at 4000 expire\n"},
	{"goaway", "at 4000 goaway 1500\n"},
	{"abort", "at 4000 abort\n"},
};

static struct {
	uint64_t asked[ROOMS]; /* 0: nobody waits */
	double silence[ANSWERS];
	size_t n;
} w;

static void on_asked(unsigned room, uint64_t at, void *arg)
{
	(void)arg;
	w.asked[room] = at;
}

static void on_heard(unsigned room, uint64_t at, bool audible, void *arg)
{
	(void)arg;
	if (!audible || !w.asked[room] || at < w.asked[room] || w.n == ANSWERS)
		return;
	w.silence[w.n++] = (double)(at - w.asked[room]) / 1e6;
	w.asked[room] = 0;
}

/* Starts the stand-in; returns its port. */
static unsigned start_standin(pid_t *pid, const char *provider, const char *script)
{
	char file[128], port[128];
	const char *args[] = {provider, "--script", file,   "--port-file",
			      port,	"--log",    "warn", NULL};
	unsigned n = 0;
	FILE *f;

	snprintf(file, sizeof file, "%s/script", rooms_folder());
	snprintf(port, sizeof port, "%s/port", rooms_folder());
	f = fopen(file, "w");
	if (!f || fputs(script, f) < 0 || fclose(f))
		bench_die("%s cannot be written", file);
	*pid = rooms_start("standin", "standin", args);
	for (unsigned i = 0; !n; i++) {
		if (i > 200)
			bench_die("the stand-in does not start (log in %s)", rooms_folder());
		rooms_run(50);
		f = fopen(port, "r");
		if (f && fscanf(f, "%u", &n) != 1)
			n = 0;
		if (f)
			fclose(f);
	}
	return n;
}

/* One world; its silences are in w. Returns how many questions were lost. */
static unsigned run(const char *provider, const char *script, unsigned rooms, unsigned seconds)
{
	struct env *env = rooms_open(rooms);
	static char config[640];
	struct rooms_conf conf = {.config = config, .heardh = on_heard, .askedh = on_asked};
	struct brain *brain;
	unsigned port, lost;
	pid_t standin;

	memset(&w, 0, sizeof w);
	brain_alloc(&brain, env, "parley and now what", 1000, false);
	port = start_standin(&standin, provider, script);
	snprintf(config, sizeof config,
		 "{\"providers\": [{\"name\": \"voice\", \"dialect\": \"%s\", \"url\": "
		 "\"http://127.0.0.1:%u%s\", \"model\": \"m\", \"voice\": \"%s\"},"
		 "{\"name\": \"words\", \"url\": \"%s\"}],"
		 "\"roles\": {\"voice\": [\"voice\"], \"transcribe\": [\"words\"]},"
		 "\"reply_path\": \"bridge\"}",
		 provider, port, strcmp(provider, "gemini") ? "/v1" : "",
		 strcmp(provider, "openai") ? strcmp(provider, "xai") ? "Kore" : "Eve" : "marin",
		 brain_url(brain));
	rooms_begin(&conf);
	rooms_run(seconds * 1000);
	lost = rooms_lost();
	rooms_end();
	if (!w.n)
		bench_die("%s answers nothing (logs in %s)", provider, rooms_folder());
	kill(standin, SIGTERM);
	waitpid(standin, NULL, 0);
	brain_free(brain);
	rooms_close();
	return lost;
}

int main(void)
{
	unsigned seconds = rooms_number("BENCH_SECONDS", 25, 600);
	unsigned rooms = rooms_number("BENCH_ROOMS", 8, ROOMS);
	const char *only = getenv("BENCH_PROVIDER");
	unsigned lost = 0, runs = 0;
	double worst = 0;
	size_t answers = 0;

	for (size_t p = 0; p < sizeof providers / sizeof providers[0]; p++) {
		double usual = 0;

		if (only && strcmp(only, providers[p]) != 0)
			continue;
		for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
			unsigned n = run(providers[p], faults[f].script, rooms, seconds);
			double longest;

			if (!f)
				usual = bench_quantile(w.silence, w.n, 0.5);
			longest = bench_quantile(w.silence, w.n, 1) - usual;
			fprintf(stderr,
				"%s %s: %zu answers, %u lost, silence p50 %.0f ms, at most %.0f ms "
				"more "
				"than usual\n",
				providers[p], faults[f].name, w.n, n,
				bench_quantile(w.silence, w.n, 0.5), longest);
			if (!f)
				continue;
			lost += n;
			runs += rooms * seconds / 4;
			answers += w.n;
			worst = longest > worst ? longest : worst;
		}
	}
	bench_row_more("rollover_lost_turns", lost, "turns", "\"sessions\": %u, \"answers\": %zu",
		       runs, answers);
	bench_row_more("rollover_silence_ms", worst, "ms", "\"sessions\": %u", runs);
	return 0;
}
