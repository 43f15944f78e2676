/* The HTTP server: http_ratio, small authorised GETs over those of a bare evhttp, and
 * http_readers_kb, what a reader of an event stream holds in memory. Each server is a process of
 * its own; the client is this one. */
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"

#include <arpa/inet.h>
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

enum { CONNECTIONS = 64, TURNS = 9, TURN_MS = 500, READERS = 1000, WARM = 64, PER_ADDRESS = 32 };

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

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	char given[128];

	(void)arg;
	if (!http_head_copy(head, "authorization", given, sizeof given) ||
	    strlen(given) != strlen(token) || sodium_memcmp(given, token, strlen(token)) != 0)
		http_reply(x, 401, NULL, NULL, 0);
	else if (strcmp(head->path, "/events") == 0)
		http_events_join(events, x, head, NULL);
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

static int dial(const struct served *s, const char *from)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(s->port)};
	struct sockaddr_in me = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	inet_pton(AF_INET, from, &me.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof me) ||
	    connect(fd, (struct sockaddr *)&to, sizeof to))
		bench_die("no connection: %s", strerror(errno));
	return fd;
}

static void ask(int fd, const char *path)
{
	char text[256];
	int n = snprintf(text, sizeof text,
			 "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %s\r\n\r\n", path,
			 token);

	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		bench_die("a request was not taken");
}

static void address(unsigned i, char buf[24])
{
	snprintf(buf, 24, "127.0.%u.%u", 1 + i / PER_ADDRESS / 200, 1 + i / PER_ADDRESS % 200);
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

		address(i, from);
		l->fds[i] = dial(&l->server, from);
		if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fds[i], &ev))
			bench_die("epoll: %s", strerror(errno));
		ask(l->fds[i], "/api/health");
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
				ask(fd, "/api/health");
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

static void join(const struct served *s, unsigned i)
{
	struct pollfd p = {.fd = -1, .events = POLLIN};
	char from[24], buf[2048] = "";
	size_t n = 0;

	address(i, from);
	p.fd = dial(s, from);
	ask(p.fd, "/events");
	while (!strstr(buf, answer)) {
		ssize_t k = poll(&p, 1, 5000) == 1 ? recv(p.fd, buf + n, sizeof buf - 1 - n, 0) : 0;

		if (k <= 0)
			bench_die("a reader got nothing");
		n += (size_t)k;
		buf[n] = '\0';
	}
}

static void readers_row(void)
{
	struct rlimit files = {2 * READERS, 2 * READERS};
	struct served s;
	unsigned before, after;

	if (setrlimit(RLIMIT_NOFILE, &files))
		bench_die("so many files cannot be open: %s", strerror(errno));
	s = start(serve_ours);
	for (unsigned i = 0; i < WARM; i++)
		join(&s, i);
	before = plane_status_kb(s.pid, "VmRSS");
	for (unsigned i = WARM; i < WARM + READERS; i++)
		join(&s, i);
	after = plane_status_kb(s.pid, "VmRSS");
	bench_row_more("http_readers_kb", (double)(after - before) / READERS, "kB",
		       "\"readers\": %d", READERS);
	stop(&s);
}

int main(void)
{
	ratio_row();
	readers_row();
	return 0;
}
