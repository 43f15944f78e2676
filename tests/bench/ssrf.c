/* Server-side request forgery: ssrf_reached, private targets that web_read reaches through 100
 * hostile URLs, and ssrf_reached_off, the same without the guard, which shows that the URLs are
 * hostile.
 *
 * Everything runs in a network namespace of its own (as root), so that addresses are what they look
 * like: two public addresses serve redirects, every other one is a private target, and a name
 * server of the bench resolves names to them, some to another address each time. */
#include "control/tools/builtin/web_page.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/dns.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/dns_struct.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#define PUBLIC4	    "93.184.216.34"
#define PUBLIC6	    "2606:2800:220:1::1"
#define UNREACHABLE "93.184.216.35"

enum { URLS = 100, DNS_TTL = 0, GIVE_UP_S = 10 };

/* The targets, on the loopback interface of the namespace. */
static const char *const addresses[] = {
	PUBLIC4 "/32",	   PUBLIC6 "/128",  "10.0.0.5/32",	  "192.168.1.1/32",
	"172.16.0.1/32",   "100.64.0.1/32", "169.254.169.254/32", "198.18.0.1/32",
	"fd00::5/128",	   "fec0::1/128",   "64:ff9b::a00:5/128", "2002:a00:5::1/128",
	"2001:db8::1/128", "3fff::1/128",   "2001::1/128",	  "192.0.2.1/32",
};

/* Addresses in every spelling: for a URL of their own, and for a redirect. */
static const char *const spellings[] = {
	"127.0.0.1",
	"127.1",
	"127.0.1",
	"127.255.255.254",
	"2130706433",
	"0x7f000001",
	"0x7f.0.0.1",
	"0x7f.1",
	"0177.0.0.1",
	"017700000001",
	"0",
	"0.0.0.0",
	"127.0.0.1.",
	"[::1]",
	"[::]",
	"[0:0:0:0:0:0:0:1]",
	"[::ffff:127.0.0.1]",
	"[::ffff:7f00:1]",
	"[::ffff:10.0.0.5]",
	"[::ffff:a9fe:a9fe]",
	"[64:ff9b::a00:5]",
	"[2002:a00:5::1]",
	"[2001:db8::1]",
	"[3fff::1]",
	"[2001::1]",
	"[fd00::5]",
	"[fec0::1]",
	"localhost",
	"LOCALHOST",
	"10.0.0.5",
	"167772165",
	"0xa000005",
	"012.0.0.5",
	"192.168.1.1",
	"0xc0a80101",
	"172.16.0.1",
	"100.64.0.1",
	"169.254.169.254",
	"2852039166",
	"0xa9fea9fe",
	"198.18.0.1",
	"127.0.0.1:8080",
	"[::1]:8080",
	"user@127.0.0.1",
	"user:pass@127.0.0.1",
	"public.example.com@127.0.0.1",
	"one.example.com",
	"six.example.com",
	"ten.example.com",
	"meta.example.com",
	"mapped.example.com",
	"nat64.example.com",
	"both.example.com",
	"metadata.google.internal",
	"printer.local",
	"\357\274\221\357\274\222\357\274\227.0.0.1", /* full-width digits */
	"127\343\200\202"
	"0\343\200\202"
	"0\343\200\202"
	"1", /* ideographic full stops */
};

/* Names and their addresses; with two, the first query gets the first one and later ones the
 * second, or, where `together`, both are given at once. */
static const struct name {
	const char *name, *first, *then;
	bool together;
} names[] = {
	{"public.example.com", PUBLIC4, NULL, false},
	{"one.example.com", "127.0.0.1", NULL, false},
	{"six.example.com", "::1", NULL, false},
	{"ten.example.com", "10.0.0.5", NULL, false},
	{"meta.example.com", "169.254.169.254", NULL, false},
	{"mapped.example.com", "::ffff:127.0.0.1", NULL, false},
	{"nat64.example.com", "64:ff9b::a00:5", NULL, false},
	{"both.example.com", UNREACHABLE, "127.0.0.1", true},
	{"metadata.google.internal", "169.254.169.254", NULL, false},
	{"printer.local", "192.168.1.1", NULL, false},
	{"turn0.example.com", PUBLIC4, "127.0.0.1", false},
	{"turn1.example.com", PUBLIC4, "10.0.0.5", false},
	{"turn2.example.com", PUBLIC4, "169.254.169.254", false},
	{"turn3.example.com", PUBLIC4, "192.168.1.1", false},
};

static struct {
	struct env *env;
	struct http_guard *guard;
	struct tmr *late;
	struct evdns_server_port *dns;
	unsigned queries[sizeof names / sizeof *names];
	bool reached; /* a private target got a request */
	unsigned public_hits;
	char why[200];
	bool done;
} fx;

/* ---- the namespace ---- */
static void run(const char *fmt, const char *arg)
{
	char line[200];

	snprintf(line, sizeof line, fmt, arg);
	if (system(line) != 0)
		bench_die("%s failed", line);
}

static void enter_namespace(void)
{
	char path[] = "/tmp/ssrf-resolv.XXXXXX";
	static const char conf[] = "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n";
	int fd;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		bench_die("no namespace (root is needed): %s", strerror(errno));
	fd = mkstemp(path);
	if (fd < 0 || write(fd, conf, sizeof conf - 1) != sizeof conf - 1 ||
	    mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL))
		bench_die("no resolv.conf: %s", strerror(errno));
	close(fd);
	unlink(path);
	run("ip link set %s up", "lo");
	for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
		run("ip addr add %s dev lo", addresses[i]);
}

/* ---- name server ---- */
static void add_record(struct evdns_server_request *req, const char *name, int type,
		       const char *text)
{
	struct in_addr in4;
	struct in6_addr in6;

	if (type == EVDNS_TYPE_A && inet_pton(AF_INET, text, &in4) == 1)
		evdns_server_request_add_a_reply(req, name, 1, &in4, DNS_TTL);
	if (type == EVDNS_TYPE_AAAA && inet_pton(AF_INET6, text, &in6) == 1)
		evdns_server_request_add_aaaa_reply(req, name, 1, &in6, DNS_TTL);
}

/* A query for A and AAAA counts once. */
static void answer_question(struct evdns_server_request *req, const struct evdns_server_question *q)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcasecmp(names[i].name, q->name) != 0)
			continue;
		if (q->type == EVDNS_TYPE_A)
			fx.queries[i]++;
		if (!names[i].then || names[i].together || fx.queries[i] <= 1)
			add_record(req, q->name, q->type, names[i].first);
		if (names[i].then && (names[i].together || fx.queries[i] > 1))
			add_record(req, q->name, q->type, names[i].then);
		return;
	}
}

static void on_query(struct evdns_server_request *req, void *arg)
{
	(void)arg;
	for (int i = 0; i < req->nquestions; i++)
		answer_question(req, req->questions[i]);
	evdns_server_request_respond(req, 0);
}

static void serve_names(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(53),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof sa))
		bench_die("no name server: %s", strerror(errno));
	fx.dns = evdns_add_server_port_with_base(env_base(fx.env), fd, 0, on_query, NULL);
}

/* ---- targets and the public site ---- */
static bool is_public_side(struct evhttp_request *req)
{
	struct bufferevent *bev =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));
	struct sockaddr_in6 sa;
	struct in6_addr six, four;
	socklen_t n = sizeof sa;

	inet_pton(AF_INET6, PUBLIC6, &six);
	inet_pton(AF_INET6, "::ffff:" PUBLIC4, &four);
	if (getsockname(bufferevent_getfd(bev), (struct sockaddr *)&sa, &n))
		return false;
	return memcmp(&sa.sin6_addr, &six, 16) == 0 || memcmp(&sa.sin6_addr, &four, 16) == 0;
}

/* "/STATUS/LEFT/URL" redirects LEFT times to itself, then to the URL. */
static void serve_redirect(struct evhttp_request *req, const char *uri)
{
	char to[600];
	int status = 0, left = 0, used = 0;
	struct evbuffer *out = evbuffer_new();

	if (sscanf(uri, "/%d/%d/%n", &status, &left, &used) != 2 || !used) {
		evbuffer_add_printf(out, "a public page");
		evhttp_send_reply(req, 200, "OK", out);
		evbuffer_free(out);
		return;
	}
	if (left)
		snprintf(to, sizeof to, "/%d/%d/%s", status, left - 1, uri + used);
	else
		snprintf(to, sizeof to, "%s", uri + used);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Location", to);
	evhttp_send_reply(req, status, "Moved", out);
	evbuffer_free(out);
}

static void on_request(struct evhttp_request *req, void *arg)
{
	(void)arg;
	if (is_public_side(req)) {
		fx.public_hits++;
		serve_redirect(req, evhttp_request_get_uri(req));
		return;
	}
	fx.reached = true;
	evhttp_send_reply(req, 200, "OK", NULL);
}

static void serve_web(uint16_t port)
{
	struct evhttp *srv = evhttp_new(env_base(fx.env));

	if (!srv || evhttp_bind_socket(srv, "::", port))
		bench_die("no server on port %u: %s", port, strerror(errno));
	evhttp_set_gencb(srv, on_request, NULL);
}

/* ---- URLs ---- */
static char urls[URLS][300];
static bool twice[URLS];
static unsigned n_urls;

static void add_url(bool again, const char *fmt, const char *a)
{
	if (n_urls == URLS)
		bench_die("more than %d URLs", URLS);
	twice[n_urls] = again;
	snprintf(urls[n_urls++], sizeof urls[0], fmt, a);
}

static void make_urls(void)
{
	static const char *const paths[] = {
		"http://public.example.com/301/0/http://%s/",
		"http://" PUBLIC4 "/302/0/http://%s/",
		"http://[" PUBLIC6 "]/303/0/http://%s/",
		"http://public.example.com/307/2/http://%s/",
		"http://public.example.com/308/4/http://%s/",
		"http://public.example.com/302/0///%s/",
	};
	size_t n = sizeof spellings / sizeof *spellings;

	for (size_t i = 0; i < n; i++)
		add_url(false, "http://%s/", spellings[i]);
	for (unsigned i = 0; i < 4; i++) {
		char name[32];

		snprintf(name, sizeof name, "turn%u.example.com", i);
		add_url(true, "http://%s/", name);
	}
	add_url(false, "HTTP://%s/", "127.0.0.1");
	add_url(false, "http:/%s/", "/127.0.0.1:80");
	add_url(false, "http://127%%2e0%%2e0%%2e%s/", "1");
	for (size_t i = 0; n_urls < URLS; i++)
		add_url(false, paths[i % 6], spellings[i * 5 % n]);
}

/* ---- reads ---- */
static void on_page(const struct web_page *page, void *arg)
{
	(void)arg;
	snprintf(fx.why, sizeof fx.why, "%s", page->why ? page->why : "read");
	fx.done = true;
	env_stop(fx.env);
}

static void on_late(void *arg)
{
	(void)arg;
	env_stop(fx.env);
}

/* A client of its own for each read, so that no cache helps. */
static void read_url(const char *url, bool guarded)
{
	struct http *http = NULL;
	struct web_pages *pages = NULL;
	struct web_page_read *read = NULL;

	fx.done = false;
	BENCH_OK(guarded ? http_alloc_guarded(&http, fx.env, NULL, "Parley", fx.guard)
			 : http_alloc(&http, fx.env, NULL, "Parley"));
	BENCH_OK(web_pages_alloc(&pages, fx.env, http, guarded ? fx.guard : NULL));
	tmr_start(fx.late, GIVE_UP_S * NS_PER_S);
	BENCH_OK(web_page_read(&read, pages, url, on_page, NULL));
	env_run(fx.env); /* returns at once when the page is there */
	tmr_stop(fx.late);
	web_pages_free(pages);
	http_free(http);
}

/* How many URLs lead to a private target. */
static unsigned count_reached(bool guarded)
{
	unsigned reached = 0;

	memset(fx.queries, 0, sizeof fx.queries);
	fx.public_hits = 0;
	for (unsigned i = 0; i < URLS; i++) {
		fx.reached = false;
		read_url(urls[i], guarded);
		if (twice[i])
			read_url(urls[i], guarded);
		reached += fx.reached;
		if (guarded == fx.reached)
			fprintf(stderr, "%s %s: %s\n",
				guarded ? "REACHED with the guard" : "not reached", urls[i],
				fx.why);
	}
	if (!fx.public_hits)
		bench_die("the public site was never asked");
	return reached;
}

/* That the guard is not just refusing everything. */
static void read_public_page(void)
{
	static const char *const pages[] = {"http://public.example.com/", "http://[" PUBLIC6 "]/",
					    "http://" PUBLIC4 "/302/3//"};

	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
		read_url(pages[i], true);
		if (strcmp(fx.why, "read") != 0)
			bench_die("%s cannot be read: %s", pages[i], fx.why);
	}
}

int main(void)
{
	const struct env_conf conf = {.loop = true};

	enter_namespace();
	BENCH_OK(env_alloc(&fx.env, &conf));
	BENCH_OK(tmr_alloc(&fx.late, fx.env, on_late, NULL));
	BENCH_OK(http_guard_alloc(&fx.guard, NULL));
	serve_names();
	serve_web(80);
	serve_web(8080);
	make_urls();
	read_public_page();
	bench_row_more("ssrf_reached", count_reached(true), "", "\"n\": %d", URLS);
	bench_row_more("ssrf_reached_off", 100.0 * count_reached(false) / URLS, "%", "\"n\": %d",
		       URLS);
	return 0;
}
