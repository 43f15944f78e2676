/* The memory of the processes (VmRSS): rss_mediad_kb idle, rss_call_kb for each call with
 * five speakers, rss_control_kb idle. */
#include "tests/bench/bench.h"
#include "tests/bench/speakers.h"
#include "tests/bench/plane.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 10, CALLS = 20, SPEAKERS = 5, RATE = 24000, HEAR_MS = 4000, SAY_MS = 3000 };

/* Calls first…first+n-1 come up, five people speak in each for a while. RSS then. */
static unsigned grow(struct plane *p, unsigned first, unsigned n, unsigned *silent_kb)
{
	struct speakers_conf cc = {
		.from = first, .calls = n, .speakers = SPEAKERS, .far_end = plane_far(p)};
	struct speakers *speakers;

	plane_calls(p, first, n);
	plane_run(p, 500);
	*silent_kb = plane_status_kb(plane_pid(p), "VmRSS");
	for (unsigned c = first; c < first + n; c++)
		for (unsigned s = 0; s < SPEAKERS; s++)
			plane_speaker(p, c, s, RATE);
	plane_run(p, 500);
	speakers_alloc(&speakers, &cc);
	speakers_start(speakers, NULL, NULL);
	plane_run(p, HEAR_MS);
	speakers_stop(speakers);
	speakers_free(speakers);
	return plane_status_kb(plane_pid(p), "VmRSS");
}

/* What the first ones touch of what is there for all, such as the rings between the threads, is no
 * cost of the next. */
static void call_row(struct plane *p, unsigned idle_kb)
{
	unsigned silent, few = grow(p, 0, FEW, &silent), many = grow(p, FEW, CALLS, &silent),
			 saying;

	for (unsigned c = 0; c < FEW; c++)
		plane_say(p, c, c + 1);
	plane_run(p, SAY_MS);
	for (unsigned c = 0; c < FEW; c++)
		plane_stop(p, c, c + 1);
	plane_run(p, 500);
	saying = plane_status_kb(plane_pid(p), "VmRSS");
	for (unsigned c = FEW; c < FEW + CALLS; c++)
		plane_say(p, c, c + 1);
	plane_run(p, SAY_MS);
	bench_row_more("rss_call_kb", (double)(many - few) / CALLS, "kB",
		       "\"speakers\": %d, \"without_speakers\": %.0f, \"when_it_speaks_too\": "
		       "%.0f, \"first_%d_calls\": %u",
		       SPEAKERS, (double)(silent - few) / CALLS,
		       (double)(many - few) / CALLS +
			       ((double)plane_status_kb(plane_pid(p), "VmRSS") - saying) / CALLS,
		       FEW, few - idle_kb);
}

static const char *ready_field(json_t *ready, const char *name)
{
	const char *v = json_string_value(json_object_get(ready, name));

	if (!v)
		bench_die("guildd does not say its %s", name);
	return v;
}

static void end(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static void control_row(struct plane *p)
{
	char folder[] = "/tmp/parley-bench.XXXXXX", file[64], state[64], guildd[PATH_MAX],
	     control[PATH_MAX], rest[128], ca[256], rm[96];
	const char *gd[] = {guildd, "--ready-file", file, "--log", "fatal", NULL};
	const char *cc[] = {control, "--media-sock", plane_socket(p), "--state-dir", state, "--ca",
			    ca,	     "--log",	     "warn",	      NULL};
	json_t *ready = NULL;
	pid_t g, c;

	if (!mkdtemp(folder))
		bench_die("%s: %s", folder, strerror(errno));
	snprintf(file, sizeof file, "%s/ready", folder);
	snprintf(state, sizeof state, "%s/state", folder);
	plane_program(guildd, sizeof guildd, "guildd");
	plane_program(control, sizeof control, "control");
	g = plane_spawn((char *const *)gd, NULL);
	for (unsigned n = 0; !ready; n++) {
		if (n > 200)
			bench_die("guildd does not start");
		plane_run(p, 50);
		ready = json_load_file(file, 0, NULL);
	}
	snprintf(rest, sizeof rest, "%s", ready_field(ready, "rest"));
	snprintf(ca, sizeof ca, "%s", ready_field(ready, "ca"));
	json_decref(ready);
	setenv("DISCORD_TOKEN", "guildd.bot.token", 1);
	setenv("PARLEY_DISCORD_API", rest, 1);
	setenv("PARLEY_BRAIN_URL", "ws://127.0.0.1:9/none", 1);
	c = plane_spawn((char *const *)cc, NULL);
	plane_run(p, 4000);
	if (waitpid(c, NULL, WNOHANG))
		bench_die("control ended");
	bench_row_more("rss_control_kb", plane_status_kb(c, "VmRSS"), "kB", "\"anonymous\": %u",
		       plane_status_kb(c, "RssAnon"));
	end(c);
	end(g);
	snprintf(rm, sizeof rm, "rm -rf %s", folder);
	if (system(rm))
		bench_die("cannot clear %s", folder);
}

int main(void)
{
	struct plane_conf conf = {.cpu = -1, .threads = 1, .speakers = SPEAKERS},
			  apart = {.cpu = -1, .threads = 1, .apart = true};
	struct plane *p;
	unsigned idle;

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	plane_alloc(&p, &conf);
	plane_run(p, 1000);
	idle = plane_status_kb(plane_pid(p), "VmRSS");
	bench_row_more("rss_mediad_kb", idle, "kB", "\"anonymous\": %u",
		       plane_status_kb(plane_pid(p), "RssAnon"));
	call_row(p, idle);
	plane_free(p);
	plane_alloc(&p, &apart);
	control_row(p);
	plane_free(p);
	return 0;
}
