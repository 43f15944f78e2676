/* The HTTP server: http_ratio, small authorised GETs over those of a bare evhttp; http_readers_kb,
 * what a reader of an event stream holds in memory; readers1000_lag_ms, how late events come to a
 * thousand readers; slow_reader_kb, what a reader holds that reads nothing. Each server is a
 * process of its own; the client is this one.
 *
 * The thousand readers also get levels, as pages do. An event that a reader never gets counts as
 * late as the measurement is long. What a stalled reader holds includes what its socket holds in
 * the kernel (/proc/net/tcp), which the server's own memory does not tell. */
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/dial.h"
#include "tests/bench/plane.h"

#include <netinet/in.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 64, TURNS = 9, TURN_MS = 500, READERS = 1000, WARM = 64 };
/* An event of a turn has about so many bytes; ten rooms that talk make about so many a second. */
enum { EVENT_BYTES = 600, EVENTS_A_SECOND = 20, LAG_S = 10, LATE_S = 2 };
/* Ten rooms that talk make so many levels a second. */
enum { LEVEL_BYTES = 160, LEVELS_A_SECOND = 100 };
/* So many fill the sockets of readers that read nothing. */
enum { FLOOD_A_SECOND = 1000, STALLED = 100, STALL_S = 12, READ = 4 };

static const char token[] = "Bearer 0123456789abcdef0123456789abcdef";
static const char answer[] = "{\"ok\":true}";

/* ---- servers ---- */

struct served {
	pid_t pid;
	uint16_t port;
	clockid_t clock; /* its CPU time */
};

static struct http_events *events;

static void on_snapshot(struct http_exchange *x, void *arg)
{
	(void)arg;
	http_events_tell(x, "state", answer, strlen(answer));
}

static struct tmr *pulse, *levels;
static unsigned a_second;

static void on_levels(void *arg)
{
	char text[LEVEL_BYTES];

	(void)arg;
	memset(text, 'l', sizeof text);
	http_events_publish_fleeting(events, NULL, "level", text, sizeof text);
	tmr_start(levels, NS_PER_S / LEVELS_A_SECOND);
}

/* Begins with the time, and its number. */
static void on_pulse(void *arg)
{
	static unsigned long long number;
	char text[EVENT_BYTES + 1];
	int n = snprintf(text, sizeof text, "{\"at\":%020llu,\"n\":%08llu,\"text\":\"",
			 (unsigned long long)bench_clock(), number++);

	(void)arg;
	memset(text + n, 'x', sizeof text - (size_t)n - 3);
	memcpy(text + sizeof text - 3, "\"}", 3);
	http_events_publish(events, NULL, "turn", text, strlen(text));
	tmr_start(pulse, NS_PER_S / a_second);
}

static void start_pulse(struct http_exchange *x, unsigned rate, bool with_levels)
{
	if (with_levels)
		on_levels(NULL);
	a_second = rate;
	on_pulse(NULL);
	http_reply(x, 200, NULL, NULL, 0);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	char given[128];

	(void)arg;
	if (!http_head_copy(head, "authorization", given, sizeof given) ||
	    strlen(given) != strlen(token) || sodium_memcmp(given, token, strlen(token)) != 0)
		http_reply(x, 401, NULL, NULL, 0);
	else if (strcmp(head->path, "/events") == 0)
		http_events_join(events, x, head, NULL);
	else if (strcmp(head->path, "/pulse") == 0)
		start_pulse(x, EVENTS_A_SECOND, true);
	else if (strcmp(head->path, "/flood") == 0)
		start_pulse(x, FLOOD_A_SECOND, false);
	else
		http_reply(x, 200, "application/json", answer, strlen(answer));
}

static void serve_ours(int tell)
{
	const struct env_conf ec = {.loop = true};
	const struct http_server_conf hc = {.h = on_request, .max_connections = 2 * READERS};
	struct http_server *server;
	struct env *env;
	uint16_t port;

	BENCH_OK(env_alloc(&env, &ec));
	BENCH_OK(http_events_alloc(&events, env, on_snapshot, NULL));
	BENCH_OK(http_server_alloc(&server, env, &hc));
	BENCH_OK(tmr_alloc(&pulse, env, on_pulse, NULL));
	BENCH_OK(tmr_alloc(&levels, env, on_levels, NULL));
	port = http_server_port(server);
	if (write(tell, &port, sizeof port) != sizeof port)
		bench_die("the port cannot be told");
	env_run(env);
}

static void on_bare(struct evhttp_request *req, void *arg)
{
	struct evbuffer *out = evbuffer_new();

	(void)arg;
	evbuffer_add(out, answer, strlen(answer));
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "application/json");
	evhttp_send_reply(req, 200, "OK", out);
	evbuffer_free(out);
}

static void serve_bare(int tell)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct evhttp_bound_socket *bound;
	struct sockaddr_in sa;
	socklen_t n = sizeof sa;

	evhttp_set_gencb(http, on_bare, NULL);
	bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
	if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&sa, &n) ||
	    write(tell, &(uint16_t){ntohs(sa.sin_port)}, sizeof(uint16_t)) != sizeof(uint16_t))
		bench_die("evhttp does not listen");
	event_base_dispatch(base);
}

static struct served start(void (*serve)(int tell))
{
	struct served s = {0};
	int tell[2];

	if (pipe(tell) || (s.pid = fork()) < 0)
		bench_die("no process: %s", strerror(errno));
	if (!s.pid) {
		serve(tell[1]);
		_exit(0);
	}
	close(tell[1]);
	if (read(tell[0], &s.port, sizeof s.port) != sizeof s.port ||
	    clock_getcpuclockid(s.pid, &s.clock))
		bench_die("a server did not start");
	close(tell[0]);
	return s;
}

static void stop(const struct served *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static uint64_t cpu_of(const struct served *s)
{
	struct timespec ts;

	clock_gettime(s->clock, &ts);
	return ns_of_timespec(&ts);
}

/* ---- requests a second ---- */

struct load {
	struct served server;
	int epoll, fds[CONNECTIONS];
	double rate, cpu; /* requests a second, ns of the server a request */
};

static void load_start(struct load *l, void (*serve)(int tell))
{
	l->server = start(serve);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.u32 = i};
		char from[24];

		dial_address(i, from);
		l->fds[i] = dial(l->server.port, from);
		if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fds[i], &ev))
			bench_die("epoll: %s", strerror(errno));
		dial_get(l->fds[i], "/api/health", token);
	}
}

/* Each connection asks again when its answer is there. */
static void load_turn(struct load *l)
{
	uint64_t begin = bench_clock(), cpu = cpu_of(&l->server), now = begin;
	unsigned n = 0;

	while (now < begin + TURN_MS * NS_PER_MS) {
		struct epoll_event evs[CONNECTIONS];
		int k = epoll_wait(l->epoll, evs, CONNECTIONS, 1000);

		if (k <= 0)
			bench_die("the server does not answer");
		for (int i = 0; i < k; i++) {
			int fd = l->fds[evs[i].data.u32];
			char buf[4096];
			ssize_t got = recv(fd, buf, sizeof buf - 1, 0);

			buf[got > 0 ? got : 0] = '\0';
			if (got <= 0 || memcmp(buf, "HTTP/1.1 200", 12) != 0)
				bench_die("an answer is none: %s", buf);
			/* Answers are small: one comes whole. */
			if (strstr(buf, answer)) {
				n++;
				dial_get(fd, "/api/health", token);
			}
		}
		now = bench_clock();
	}
	l->rate = n / ((double)(now - begin) / 1e9);
	l->cpu = (double)(cpu_of(&l->server) - cpu) / n;
}

static void ratio_row(void)
{
	static struct load ours, bare;
	double ratios[TURNS], cpus[TURNS], rates[TURNS];

	load_start(&ours, serve_ours);
	load_start(&bare, serve_bare);
	load_turn(&ours);
	load_turn(&bare);
	for (unsigned i = 0; i < TURNS; i++) {
		load_turn(&ours);
		load_turn(&bare);
		ratios[i] = ours.rate / bare.rate;
		cpus[i] = bare.cpu / ours.cpu;
		rates[i] = ours.rate;
	}
	bench_raw("http_ratio", ratios, TURNS);
	bench_row_more("http_ratio", bench_median(ratios, TURNS), "",
		       "\"requests_s\": %.0f, \"cpu_ratio\": %.2f", bench_median(rates, TURNS),
		       bench_median(cpus, TURNS));
	stop(&ours.server);
	stop(&bare.server);
}

/* ---- readers ---- */

/* The reader's socket. */
static int join(const struct served *s, unsigned i)
{
	struct pollfd p = {.fd = -1, .events = POLLIN};
	char from[24], buf[2048] = "";
	size_t n = 0;

	dial_address(i, from);
	p.fd = dial(s->port, from);
	dial_get(p.fd, "/events", token);
	while (!strstr(buf, answer)) {
		ssize_t k = poll(&p, 1, 5000) == 1 ? recv(p.fd, buf + n, sizeof buf - 1 - n, 0) : 0;

		if (k <= 0)
			bench_die("a reader got nothing");
		n += (size_t)k;
		buf[n] = '\0';
	}
	return p.fd;
}

/* Servers that are started later inherit none of them. */
static void leave(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

static void readers_row(void)
{
	static int fds[WARM + READERS];
	struct rlimit files = {2 * READERS, 2 * READERS};
	struct served s;
	unsigned before, after;

	if (setrlimit(RLIMIT_NOFILE, &files))
		bench_die("so many files cannot be open: %s", strerror(errno));
	s = start(serve_ours);
	for (unsigned i = 0; i < WARM; i++)
		fds[i] = join(&s, i);
	before = plane_status_kb(s.pid, "VmRSS");
	for (unsigned i = WARM; i < WARM + READERS; i++)
		fds[i] = join(&s, i);
	after = plane_status_kb(s.pid, "VmRSS");
	bench_row_more("http_readers_kb", (double)(after - before) / READERS, "kB",
		       "\"readers\": %d", READERS);
	stop(&s);
	leave(fds, WARM + READERS);
}

/* From now on it publishes events. */
static void begin_pulse(const struct served *s, const char *path)
{
	int fd = dial(s->port, "127.0.0.1");
	char buf[1024];

	dial_get(fd, path, token);
	if (recv(fd, buf, sizeof buf, 0) <= 0)
		bench_die("no events are published");
	close(fd);
}

static double lags[READERS * (EVENTS_A_SECOND + 1) * (LAG_S + LATE_S)];
static unsigned n_lags;
static uint64_t counts_from, counts_to; /* when events are published that count */
static unsigned long long first_event = ~0ULL, last_event; /* of them */

/* What was received of a reader's stream and may be the beginning of an event. */
enum { HEAD = 64 };
static struct reader {
	int fd;
	char text[HEAD + 8192];
	size_t n;
} readers[READERS];

static void take_event(const char *text, uint64_t now)
{
	unsigned long long at = 0, number = 0;

	if (sscanf(text, "{\"at\":%llu,\"n\":%llu", &at, &number) != 2)
		bench_die("an event is none: %.40s", text);
	if (at < counts_from || at >= counts_to || n_lags == sizeof lags / sizeof lags[0])
		return;
	lags[n_lags++] = (double)(now - at) / NS_PER_MS;
	first_event = number < first_event ? number : first_event;
	last_event = number > last_event ? number : last_event;
}

static void take_events(struct reader *r)
{
	ssize_t n = recv(r->fd, r->text + r->n, sizeof r->text - 1 - r->n, 0);
	uint64_t now = bench_clock();
	const char *at = r->text;
	size_t left;

	if (n <= 0)
		bench_die("a reader was disconnected");
	r->n += (size_t)n;
	r->text[r->n] = '\0';
	while ((at = strstr(at, "{\"at\":")) && strlen(at) >= HEAD)
		take_event(at++, now);
	left = at ? strlen(at) : r->n < 8 ? r->n : 7;
	memmove(r->text, r->text + r->n - left, left);
	r->n = left;
}

static void read_until(int epoll, uint64_t end)
{
	struct epoll_event evs[256];

	while (bench_clock() < end) {
		int k = epoll_wait(epoll, evs, 256, 50);

		for (int i = 0; i < k; i++)
			take_events(evs[i].data.ptr);
	}
}

/* Takes what comes, without a look at it. */
static void read_for(int epoll, uint64_t ms)
{
	struct epoll_event evs[256];
	char buf[8192];

	for (uint64_t end = bench_clock() + ms * NS_PER_MS; bench_clock() < end;) {
		int k = epoll_wait(epoll, evs, 256, 50);

		for (int i = 0; i < k; i++)
			if (recv(evs[i].data.fd, buf, sizeof buf, 0) <= 0)
				bench_die("a reader was disconnected");
	}
}

static int compare_lags(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Those that never came. */
static unsigned count_missing(void)
{
	unsigned long long wanted =
		n_lags ? (last_event - first_event + 1) * (unsigned long long)READERS : 0;
	unsigned missing = wanted > n_lags ? (unsigned)(wanted - n_lags) : 0;

	if (!n_lags || last_event - first_event < EVENTS_A_SECOND * LAG_S / 2)
		bench_die("only %u events came", n_lags);
	if (missing > wanted / 1000)
		bench_die("%u of %llu events never came", missing, wanted);
	for (unsigned i = 0; i < missing; i++)
		lags[n_lags++] = LAG_S * 1000.0;
	return missing;
}

static void lag_row(void)
{
	static int fds[READERS];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct served s = start(serve_ours);
	unsigned missing;
	uint64_t cpu;

	for (unsigned i = 0; i < READERS; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &readers[i]};

		readers[i].fd = fds[i] = join(&s, i);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &ev))
			bench_die("epoll: %s", strerror(errno));
	}
	begin_pulse(&s, "/pulse");
	counts_from = bench_clock() + NS_PER_S;
	counts_to = counts_from + LAG_S * NS_PER_S;
	read_until(epoll, counts_from);
	cpu = cpu_of(&s);
	read_until(epoll, counts_to);
	cpu = cpu_of(&s) - cpu;
	read_until(epoll, counts_to + LATE_S * NS_PER_S);
	missing = count_missing();
	qsort(lags, n_lags, sizeof lags[0], compare_lags);
	bench_row_more("readers1000_lag_ms", lags[n_lags - 1 - n_lags / 100], "ms",
		       "\"median\": %.2f, \"longest\": %.2f, \"events\": %u, \"missing\": %u, "
		       "\"levels_s\": %d, \"cpu\": %.2f",
		       lags[n_lags / 2], lags[n_lags - 1], n_lags, missing, LEVELS_A_SECOND,
		       (double)cpu / (LAG_S * (double)NS_PER_S));
	stop(&s);
	leave(fds, READERS);
	close(epoll);
}

/* Bytes that wait in the sockets of the server for clients that do not take them. */
static double unsent_kb(uint16_t port)
{
	FILE *f = fopen("/proc/net/tcp", "r");
	unsigned long bytes = 0, queue;
	unsigned from;
	char line[256];

	if (!f)
		bench_die("/proc/net/tcp: %s", strerror(errno));
	while (fgets(line, sizeof line, f))
		if (sscanf(line, " %*u: %*x:%x %*x:%*x %*x %lx:", &from, &queue) == 2 &&
		    from == port)
			bytes += queue;
	fclose(f);
	return (double)bytes / 1024;
}

/* The sockets of the stalled ones take what they can; what they have not read the server keeps once
 * for all of them, besides the rest of an event that was sent in part. */
static void stalled_row(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct served s = start(serve_ours);
	double before, after, unsent;

	for (unsigned i = 0; i < READ; i++) {
		struct epoll_event ev = {.events = EPOLLIN};

		ev.data.fd = join(&s, i);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, ev.data.fd, &ev))
			bench_die("epoll: %s", strerror(errno));
	}
	begin_pulse(&s, "/flood");
	read_for(epoll, STALL_S * 1000);
	unsent = unsent_kb(s.port);
	before = plane_status_kb(s.pid, "VmRSS");
	for (unsigned i = READ; i < READ + STALLED; i++) {
		int fd = join(&s, i), small = 1;

		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	}
	read_for(epoll, STALL_S * 1000);
	after = plane_status_kb(s.pid, "VmRSS");
	unsent = unsent_kb(s.port) - unsent;
	bench_row_more("slow_reader_kb", (after - before + unsent) / STALLED, "kB",
		       "\"readers\": %d, \"kernel_kb\": %.2f", STALLED, unsent / STALLED);
	stop(&s);
	close(epoll);
}

int main(void)
{
	ratio_row();
	readers_row();
	lag_row();
	stalled_row();
	return 0;
}
