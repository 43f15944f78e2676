/* What control spends on fifty rooms at once, in cores: rooms50_cores.
 *
 * guildd, the bot's mediad and control run unmodified (rooms.h); the provider, also for
 * speech-to-text, is a script in this process (brain.h), whose answers come as fast as they are
 * spoken. In every room the bot speaks for three seconds, then its member interrupts it with the
 * next question, so somebody speaks everywhere all the time. Turns that were answered stand beside
 * the figure: a control that fell behind would answer fewer.
 *
 *   BENCH_ROOMS=n      rooms (50)      BENCH_SECONDS=n      measured (20) */
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MS = 8000, LISTEN_MS = 3000 };

/* CPU time of a process and its threads, s. */
static double cpu_of(pid_t pid)
{
	unsigned long user, system;
	char path[64], line[1024];
	const char *at;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof line, f))
		bench_die("%s cannot be read", path);
	fclose(f);
	at = strrchr(line, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			  &system) != 2)
		bench_die("%s is not understood", path);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

int main(void)
{
	unsigned seconds = rooms_number("BENCH_SECONDS", 20, 600);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 50, ROOMS_MAX));
	static char url[160];
	const char *settings[] = {url, NULL};
	struct rooms_conf conf = {.settings = settings, .listen_ms = LISTEN_MS};
	struct brain *brain;
	size_t before, after;
	uint64_t began;
	double cpu, passed;

	brain_alloc(&brain, env, "parley and now what", ANSWER_MS, true);
	snprintf(url, sizeof url, "PARLEY_BRAIN_URL=%s", brain_url(brain));
	rooms_begin(&conf);
	rooms_run(2000);
	brain_asked(brain, &before);
	cpu = cpu_of(rooms_control());
	began = bench_clock();
	rooms_run(seconds * 1000);
	cpu = cpu_of(rooms_control()) - cpu;
	passed = (double)(bench_clock() - began) / 1e9;
	brain_asked(brain, &after);
	bench_row_more("rooms50_cores", cpu / passed, "cores",
		       "\"rooms\": %u, \"seconds\": %.1f, \"turns\": %zu", rooms_count(), passed,
		       after - before);
	rooms_end();
	brain_free(brain);
	rooms_close();
	return 0;
}
