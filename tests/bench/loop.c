/* How long one turn of control's loop takes while many guilds change: loop_step_cpu_p999_ms.
 *
 * guildd holds GUILDS guilds with one voice channel and one member each, who is in the channel.
 * control, as it is shipped and with all subscribers of the bus (log, turn file, store, metrics,
 * web server), is connected to it. For SECONDS, CHANGES voice states change every second. A
 * preloaded library (preload/turns.c) takes the CPU time and the passed time of each turn of its
 * loop. In the same run, a bare libevent loop with a timer of the same rate is measured in the same
 * way: what it is late by is the machine.
 *
 *   BENCH_GUILDS=n (2000)      BENCH_SECONDS=n (60) */
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/preload/turns.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BOT = 900,
	CHANGES = 50, /* a second */
	IN_FLIGHT = 32,
	GUILDS_MAX = 10000,
	READY_MS = 60000,
};
static const uint64_t first_guild = 700000, first_channel = 800000, first_user = 600000;

static struct world {
	struct env *env;
	struct tmr *tmr;
	struct http *http;
	char folder[64], api[128], ca[256], rest[128];
	pid_t guildd, control, bare;
	unsigned guilds, seconds, in_flight, failed, next, changed;
} w;

static unsigned number_of(const char *name, unsigned otherwise)
{
	const char *v = getenv(name);

	return v && *v ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

/* ---- the bare loop: this program again, under the library ---- */

static void do_nothing(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
}

static int run_bare_loop(void)
{
	struct event_config *conf = event_config_new();
	struct timeval every = {.tv_usec = 1000000 / CHANGES};
	struct event_base *base;
	struct event *tick;

	event_config_set_flag(conf, EVENT_BASE_FLAG_PRECISE_TIMER);
	base = event_base_new_with_config(conf);
	tick = event_new(base, -1, EV_PERSIST, do_nothing, NULL);
	if (!tick || event_add(tick, &every))
		return 1;
	return event_base_dispatch(base);
}

/* ---- programs ---- */

static struct turns_page *make_page(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(struct turns_page)))
		p = mmap(NULL, sizeof(struct turns_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0);
	if (p == MAP_FAILED)
		bench_die("%s: %s", path, strerror(errno));
	close(fd);
	return p;
}

static void stop(void *arg)
{
	(void)arg;
	env_stop(w.env);
}

static void run(unsigned ms)
{
	tmr_start(w.tmr, ms * NS_PER_MS);
	env_run(w.env);
}

static json_t *wait_for_json(const char *file, const char *what)
{
	json_t *ready = NULL;

	for (unsigned n = 0; !ready; n++) {
		if (n > 200)
			bench_die("%s does not start", what);
		run(50);
		ready = json_load_file(file, 0, NULL);
	}
	return ready;
}

static void start_guildd(void)
{
	char file[96], program[PATH_MAX];
	char *argv[] = {program, "--ready-file", file, "--log", "fatal", NULL};
	json_t *ready;

	snprintf(file, sizeof file, "%s/ready", w.folder);
	plane_program(program, sizeof program, "guildd");
	w.guildd = plane_spawn(argv, NULL);
	ready = wait_for_json(file, "guildd");
	snprintf(w.api, sizeof w.api, "%s", json_string_value(json_object_get(ready, "control")));
	snprintf(w.rest, sizeof w.rest, "%s", json_string_value(json_object_get(ready, "rest")));
	snprintf(w.ca, sizeof w.ca, "%s", json_string_value(json_object_get(ready, "ca")));
	json_decref(ready);
}

static pid_t spawn_measured(char *const argv[], const char *page)
{
	char library[PATH_MAX];
	struct plane_conf conf = {.cpu = -1, .preload = library};
	pid_t pid;

	plane_program(library, sizeof library, "bench/turns.so");
	setenv("TURNS_PAGE", page, 1);
	pid = plane_spawn(argv, &conf);
	unsetenv("TURNS_PAGE");
	return pid;
}

static void start_control(const char *page)
{
	char program[PATH_MAX], socket[96], state[96], turns[96];
	char *argv[] = {program, "--media-sock", socket, "--state-dir", state, "--ca", w.ca, NULL};

	plane_program(program, sizeof program, "control");
	snprintf(socket, sizeof socket, "%s/no-mediad.sock", w.folder);
	snprintf(state, sizeof state, "%s/state", w.folder);
	snprintf(turns, sizeof turns, "%s/turns.jsonl", w.folder);
	setenv("DISCORD_TOKEN", "guildd.bot.token", 1);
	setenv("PARLEY_DISCORD_API", w.rest, 1);
	setenv("PARLEY_TURNS", turns, 1);
	setenv("PARLEY_WEB_LISTEN", "127.0.0.1:0", 1);
	w.control = spawn_measured(argv, page);
}

/* ---- the guilds ---- */

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	w.in_flight--;
	if (resp->err || resp->status / 100 != 2)
		w.failed++;
}

static void post(const char *path, json_t *body)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	char url[256], *text = json_dumps(body, JSON_COMPACT);
	struct http_call call = {.method = "POST", .url = url, .headers = headers, .body = text};

	snprintf(url, sizeof url, "%s%s", w.api, path);
	call.body_len = text ? strlen(text) : 0;
	BENCH_OK(http_request(NULL, w.http, &call, on_answer, NULL));
	w.in_flight++;
	free(text);
	json_decref(body);
	while (w.in_flight >= IN_FLIGHT)
		run(1);
}

static void finish_requests(const char *what)
{
	for (unsigned n = 0; w.in_flight; n++) {
		if (n > 10000)
			bench_die("guildd does not answer: %s", what);
		run(1);
	}
	if (w.failed)
		bench_die("guildd refuses %u requests: %s", w.failed, what);
}

static json_t *id(uint64_t v)
{
	return json_sprintf("%" PRIu64, v);
}

/* Everything about one guild must exist before what follows names it. */
static void make_guilds(void)
{
	char path[96];

	for (unsigned i = 0; i < w.guilds; i++)
		post("/users", json_pack("{s:o,s:o}", "id", id(first_user + i), "name",
					 json_sprintf("member%u", i)));
	finish_requests("users");
	for (unsigned i = 0; i < w.guilds; i++)
		post("/guilds",
		     json_pack("{s:o,s:o,s:o}", "id", id(first_guild + i), "name",
			       json_sprintf("guild %u", i), "owner_id", id(first_user + i)));
	finish_requests("guilds");
	for (unsigned i = 0; i < w.guilds; i++) {
		snprintf(path, sizeof path, "/guilds/%" PRIu64 "/channels", first_guild + i);
		post(path, json_pack("{s:o,s:s,s:s}", "id", id(first_channel + i), "type", "voice",
				     "name", "General"));
		snprintf(path, sizeof path, "/guilds/%" PRIu64 "/members", first_guild + i);
		post(path, json_pack("{s:o}", "user_id", id(BOT)));
		post(path, json_pack("{s:o}", "user_id", id(first_user + i)));
	}
	finish_requests("channels");
	for (unsigned i = 0; i < w.guilds; i++) {
		snprintf(path, sizeof path, "/users/%" PRIu64 "/join", first_user + i);
		post(path, json_pack("{s:o,s:o}", "guild_id", id(first_guild + i), "channel_id",
				     id(first_channel + i)));
	}
	finish_requests("joins");
}

/* A voice state changes: its member mutes or unmutes. A step of 7 visits all guilds in turn, far
 * apart. */
static void change_one(void *arg)
{
	char path[96];
	json_t *body = json_pack("{s:b}", "self_mute", (w.changed / w.guilds) % 2 == 0);
	struct tmr **again = arg;

	w.next = (w.next + 7) % w.guilds;
	w.changed++;
	snprintf(path, sizeof path, "/users/%" PRIu64 "/voice", first_user + w.next);
	tmr_start(*again, NS_PER_S / CHANGES);
	if (w.in_flight >= IN_FLIGHT)
		bench_die("guildd does not keep up");
	post(path, body);
}

/* ---- results ---- */

static bool control_has_guilds(void)
{
	char file[96];
	json_t *kept;
	bool all;

	snprintf(file, sizeof file, "%s/state/session.json", w.folder);
	kept = json_load_file(file, 0, NULL);
	all = kept && json_object_get(kept, "session");
	json_decref(kept);
	return all;
}

static unsigned read_turns(const struct turns_page *p, double **cpu, double **wall)
{
	unsigned n = atomic_load(&p->n) < TURNS_MAX ? atomic_load(&p->n) : TURNS_MAX;

	*cpu = calloc(n + 1, sizeof **cpu);
	*wall = calloc(n + 1, sizeof **wall);
	if (!*cpu || !*wall || !n)
		bench_die("no turns were recorded");
	for (unsigned i = 0; i < n; i++) {
		(*cpu)[i] = p->turn[i].cpu_ns;
		(*wall)[i] = p->turn[i].wall_ns;
	}
	return n;
}

static void print_rows(const struct turns_page *page, const struct turns_page *bare)
{
	double *cpu, *wall, *bare_cpu, *bare_wall;
	unsigned n = read_turns(page, &cpu, &wall), m = read_turns(bare, &bare_cpu, &bare_wall);
	double floor = bench_quantile(bare_wall, m, .999) / 1e6;
	double late = bench_quantile(wall, n, .999) / 1e6;

	bench_raw("loop_step_cpu_p999_ms", cpu, n);
	bench_row_more("loop_step_cpu_p999_ms", bench_quantile(cpu, n, .999) / 1e6, "ms",
		       "\"p50_ms\": %.4f, \"max_ms\": %.3f, \"turns\": %u, \"guilds\": %u, "
		       "\"changes\": %u",
		       bench_quantile(cpu, n, .5) / 1e6, bench_quantile(cpu, n, 1) / 1e6, n,
		       w.guilds, w.changed);
	bench_row_more("loop_step_wall_p999_ms", late - floor, "ms",
		       "\"wall_ms\": %.3f, \"bare_wall_ms\": %.3f, \"bare_turns\": %u", late, floor,
		       m);
}

int main(int argc, char **argv)
{
	struct env_conf ec = {.loop = true};
	char self[PATH_MAX], page[96], bare_page[96];
	char *bare_argv[] = {self, "--bare", NULL};
	struct turns_page *p, *b;
	struct tmr *change;

	if (argc > 1 && strcmp(argv[1], "--bare") == 0)
		return run_bare_loop();
	w.guilds = number_of("BENCH_GUILDS", 2000);
	w.seconds = number_of("BENCH_SECONDS", 60);
	if (!w.guilds || w.guilds > GUILDS_MAX)
		bench_die("BENCH_GUILDS: 1 to %d", GUILDS_MAX);
	snprintf(w.folder, sizeof w.folder, "/tmp/parley-bench.XXXXXX");
	if (!mkdtemp(w.folder))
		bench_die("%s: %s", w.folder, strerror(errno));
	snprintf(page, sizeof page, "%s/turns", w.folder);
	snprintf(bare_page, sizeof bare_page, "%s/bare", w.folder);
	p = make_page(page);
	b = make_page(bare_page);
	BENCH_OK(env_alloc(&w.env, &ec));
	BENCH_OK(tmr_alloc(&w.tmr, w.env, stop, NULL));
	BENCH_OK(tmr_alloc(&change, w.env, change_one, &change));
	BENCH_OK(http_alloc(&w.http, w.env, NULL, "parley-bench"));
	start_guildd();
	make_guilds();
	start_control(page);
	plane_program(self, sizeof self, "bench/loop");
	w.bare = spawn_measured(bare_argv, bare_page);
	for (unsigned ms = 0; !control_has_guilds(); ms += 100) {
		if (ms > READY_MS)
			bench_die("control does not come up");
		run(100);
	}
	run(5000); /* the guilds that follow READY */
	atomic_store(&p->on, 1);
	atomic_store(&b->on, 1);
	tmr_start(change, 0);
	run(w.seconds * 1000);
	tmr_stop(change);
	atomic_store(&p->on, 0);
	atomic_store(&b->on, 0);
	finish_requests("voice states");
	kill(w.control, SIGTERM);
	kill(w.bare, SIGTERM);
	waitpid(w.control, NULL, 0);
	waitpid(w.bare, NULL, 0);
	kill(w.guildd, SIGTERM);
	waitpid(w.guildd, NULL, 0);
	print_rows(p, b);
	http_free(w.http);
	tmr_free(change);
	tmr_free(w.tmr);
	env_free(w.env);
	return 0;
}
