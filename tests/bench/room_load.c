/* room_under_load: the delay of a question (ask_p99_ms) while 1000 readers follow the event stream
 * of control and 200 requests a second ask it for what its pages show (rooms, turns of the history,
 * the state of the calls, metrics), over the same with that load on a bare evhttp process beside
 * it. The two alternate in one run, so the load of the machine is the same.
 *
 * The bare server sends each reader as many bytes an event as control does for a turn, as often as
 * the rooms have one. The load comes from a process of its own.
 *
 *   BENCH_SECONDS=n   of each of eight turns (20)      BENCH_ROOMS=n   rooms (4) */
#include "ipc/env.h"
#include "proto/base/time.h"
#include "tests/bench/ask_times.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/dial.h"
#include "tests/bench/journal_times.h"
#include "tests/bench/rooms.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READERS = 1000,
	ASKERS = 16,
	REQUESTS_A_SECOND = 200,
	TURNS = 8,
	ROOMS = 8,
	ANSWER_MS = 4000
};
enum { EVENT_BYTES = 900, EVENTS_A_SECOND = 8, SETTLE_MS = 2000, MAX_ASKS = 20000 };

static char token[160]; /* "Bearer …" */

/* ---- a bare server ---- */

static struct evhttp_request *reader[READERS];
static unsigned n_readers;

static void on_gone(struct evhttp_connection *c, void *arg)
{
	(void)c;
	*(struct evhttp_request **)arg = NULL;
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct evbuffer *out = evbuffer_new();

	(void)arg;
	if (strncmp(evhttp_request_get_uri(req), "/api/events", 11) == 0 && n_readers < READERS) {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
				  "text/event-stream");
		evhttp_send_reply_start(req, 200, "OK");
		evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_gone,
					      &reader[n_readers]);
		reader[n_readers++] = req;
	} else {
		evbuffer_add(out, "{\"rooms\":[]}", 12);
		evhttp_send_reply(req, 200, "OK", out);
	}
	evbuffer_free(out);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	static char text[EVENT_BYTES];
	struct evbuffer *out = evbuffer_new();

	(void)fd;
	(void)what;
	(void)arg;
	memset(text, 'x', sizeof text);
	memcpy(text, "data: ", 6);
	memcpy(text + sizeof text - 2, "\n\n", 2);
	for (unsigned i = 0; i < n_readers; i++) {
		if (!reader[i])
			continue;
		evbuffer_add(out, text, sizeof text);
		evhttp_send_reply_chunk(reader[i], out);
	}
	evbuffer_free(out);
}

static void serve_bare(int tell)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
	const struct timeval every = {0, 1000000 / EVENTS_A_SECOND};
	struct evhttp_bound_socket *bound;
	struct sockaddr_in sa;
	socklen_t n = sizeof sa;

	evhttp_set_gencb(http, on_request, NULL);
	bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
	if (!bound || event_add(tick, &every) ||
	    getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&sa, &n) ||
	    write(tell, &(uint16_t){ntohs(sa.sin_port)}, sizeof(uint16_t)) != sizeof(uint16_t))
		bench_die("evhttp does not listen");
	event_base_dispatch(base);
}

static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("no process: %s", strerror(errno));
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t start_bare(uint16_t *port)
{
	int tell[2];
	pid_t pid;

	if (pipe(tell))
		bench_die("no pipe: %s", strerror(errno));
	pid = fork_child();
	if (!pid) {
		serve_bare(tell[1]);
		_exit(0);
	}
	close(tell[1]);
	if (read(tell[0], port, sizeof *port) != sizeof *port)
		bench_die("evhttp does not start");
	close(tell[0]);
	return pid;
}

/* ---- the load ---- */

static void take_bytes(int epoll, int ms)
{
	struct epoll_event evs[256];
	static char buf[65536];
	int n = epoll_wait(epoll, evs, 256, ms);

	for (int i = 0; i < n; i++)
		if (recv(evs[i].data.fd, buf, sizeof buf, 0) <= 0)
			bench_die("the server ended a connection of the load");
}

/* As pages do: most of all for the rooms, of which control keeps the answer for a moment, and with
 * each turn that ends for the last ones, which the database is read for. Besides a client of the
 * seeds, and a scraper. */
static const char *route_of(unsigned i)
{
	if (i % 10 == 3)
		return "/api/turns?limit=8";
	if (i % 20 == 5)
		return "/api/voice/state";
	if (i % 20 == 15)
		return i % 100 == 15 ? "/metrics" : "/api/stats";
	return "/api/rooms";
}

/* Readers, then requests at their rate, until it is killed. */
static void put_load(uint16_t port)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), asker[ASKERS];
	uint64_t next;

	for (unsigned i = 0; i < READERS + ASKERS; i++) {
		struct epoll_event ev = {.events = EPOLLIN};
		char from[24];

		dial_address(i, from);
		ev.data.fd = dial(port, from);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, ev.data.fd, &ev))
			bench_die("epoll: %s", strerror(errno));
		if (i < READERS)
			dial_get(ev.data.fd, "/api/events", token);
		else
			asker[i - READERS] = ev.data.fd;
	}
	next = bench_clock();
	for (unsigned i = 0;; i++) {
		while (bench_clock() < next)
			take_bytes(epoll, 1);
		dial_get(asker[i % ASKERS], route_of(i), token);
		next += NS_PER_S / REQUESTS_A_SECOND;
	}
}

static pid_t start_load(uint16_t port)
{
	pid_t pid = fork_child();

	if (!pid) {
		put_load(port);
		_exit(0);
	}
	return pid;
}

/* ---- the rooms ---- */

static uint16_t control_port(void)
{
	char path[128], line[1024];
	unsigned port = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/control.log", rooms_folder());
	f = fopen(path, "r");
	while (f && !port && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, " web_up ");

		at = at ? strstr(at, "port=") : NULL;
		if (at)
			port = (unsigned)strtoul(at + 5, NULL, 10);
	}
	if (f)
		fclose(f);
	if (!port)
		bench_die("control serves nothing (logs in %s)", rooms_folder());
	return (uint16_t)port;
}

static void read_token(void)
{
	char path[128], text[130] = "";
	FILE *f;

	snprintf(path, sizeof path, "%s/state/web-token", rooms_folder());
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof text, f))
		bench_die("%s: %s", path, strerror(errno));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	snprintf(token, sizeof token, "Bearer %s", text);
}

static struct window {
	uint64_t from, to;
} window[TURNS];

/* Of even turns the bare server had the load, of odd ones control. */
static void sort_asks(struct brain *brain, double *ms[2], size_t n_ms[2])
{
	size_t n;
	const struct brain_asked *asked = brain_asked(brain, &n);
	char folder[96];

	snprintf(folder, sizeof folder, "%s/rooms", rooms_folder());
	for (unsigned r = 0; r < rooms_count(); r++) {
		struct journal_times s;
		unsigned conn;

		journal_times_room(&s, folder, rooms_guild(r));
		conn = ask_times_conn(&s, asked, n);
		for (size_t k = 0; k < n; k++)
			for (unsigned t = 0; t < TURNS; t++) {
				double one;

				if (asked[k].conn == conn && asked[k].at >= window[t].from &&
				    asked[k].at < window[t].to && n_ms[t % 2] < MAX_ASKS &&
				    ask_times_ms(&s, &asked[k], &one))
					ms[t % 2][n_ms[t % 2]++] = one;
			}
		journal_times_clear(&s);
	}
}

static void print_row(struct brain *brain)
{
	static double bare[MAX_ASKS], ours[MAX_ASKS];
	double *ms[2] = {bare, ours};
	size_t n[2] = {0, 0};

	sort_asks(brain, ms, n);
	if (n[0] < 20 || n[1] < 20)
		bench_die("only %zu and %zu questions (logs in %s)", n[0], n[1], rooms_folder());
	bench_raw("room_under_load", ours, n[1]);
	bench_row_more("room_under_load",
		       bench_quantile(ours, n[1], 0.99) / bench_quantile(bare, n[0], 0.99), "",
		       "\"p99_ms\": %.2f, \"bare_p99_ms\": %.2f, \"p50_ms\": %.2f, "
		       "\"bare_p50_ms\": %.2f, \"n\": %zu, \"bare_n\": %zu",
		       bench_quantile(ours, n[1], 0.99), bench_quantile(bare, n[0], 0.99),
		       bench_quantile(ours, n[1], 0.5), bench_quantile(bare, n[0], 0.5), n[1],
		       n[0]);
}

int main(void)
{
	const struct rlimit files = {4 * READERS, 4 * READERS};
	unsigned seconds = rooms_number("BENCH_SECONDS", 20, 600);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 4, ROOMS));
	static char url[160];
	const char *settings[] = {url, "PARLEY_WEB_LISTEN=127.0.0.1:0", NULL};
	const struct rooms_conf conf = {.settings = settings, .journals = true};
	struct brain *brain;
	uint16_t port[2];
	pid_t server;

	if (setrlimit(RLIMIT_NOFILE, &files))
		bench_die("so many files cannot be open: %s", strerror(errno));
	brain_alloc(&brain, env, "parley and now what", ANSWER_MS, true);
	snprintf(url, sizeof url, "PARLEY_BRAIN_URL=%s", brain_url(brain));
	rooms_begin(&conf);
	port[1] = control_port();
	read_token();
	for (unsigned t = 0; t < TURNS; t++) {
		pid_t load;

		server = t % 2 ? 0 : start_bare(&port[0]);
		load = start_load(port[t % 2]);
		rooms_run(SETTLE_MS);
		window[t].from = bench_clock();
		rooms_run(seconds * 1000);
		window[t].to = bench_clock();
		if (waitpid(load, NULL, WNOHANG))
			bench_die("the load ended by itself");
		end(load);
		if (server)
			end(server);
	}
	rooms_end();
	print_row(brain);
	brain_free(brain);
	rooms_close();
	return 0;
}
