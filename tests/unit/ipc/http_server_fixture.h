/* An HTTP server with some routes, and a client of raw bytes on loopback. Included by one test file
 * each. */
#ifndef TESTS_UNIT_IPC_HTTP_SERVER_FIXTURE_H
#define TESTS_UNIT_IPC_HTTP_SERVER_FIXTURE_H

#include "ipc/http_server.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"
#include "ipc/journal_play.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum { CLIENTS = 1100 };

static struct fixture {
	struct loop l;
	struct http_server *server;
	struct http_events *events;
	struct http_exchange *kept;	     /* an exchange that is answered later */
	struct http_exchange *held[CLIENTS]; /* of /held, the same */
	unsigned n_held;
	unsigned requests, bodies, gone, drained, snapshots;
	char path[HTTP_PATH_SIZE], query[64], address[64], name[64];
	uint8_t body[1 << 20];
	size_t n_body;
	int fd;
	char got[200000];
	size_t n_got;
	bool ended; /* the server closed */
	int upgrade_fd;
	char upgrade[1024];
	struct http_server_conf conf;
	const char *secret; /* the cookie that /cookie sets */
	char cookie[64], checked[64];
	uint64_t tag;
	int cookie_err;
} fx;

/* ---- the server's side ---- */

static inline void on_gone(struct http_exchange *x, void *arg)
{
	(void)arg;
	fx.gone++;
	if (fx.kept == x)
		fx.kept = NULL;
}

static inline void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last,
			   void *arg)
{
	(void)arg;
	fx.bodies++;
	http_head_copy(http_request_head(x), "x-name", fx.name, sizeof fx.name);
	if (n <= sizeof fx.body - fx.n_body)
		memcpy(fx.body + fx.n_body, data, n);
	fx.n_body += n;
	if (last)
		http_reply(x, 200, "text/plain", "taken", 5);
}

static inline void on_upgrade(int fd, const char *head, size_t n, void *arg)
{
	(void)arg;
	fx.upgrade_fd = fd;
	snprintf(fx.upgrade, sizeof fx.upgrade, "%.*s", (int)n, head);
}

static inline void on_snapshot(struct http_exchange *x, void *arg)
{
	(void)arg;
	fx.snapshots++;
	http_events_tell(x, "state", "all\nof it", 9);
}

static inline void publish(unsigned n, size_t size)
{
	static char data[60000];

	memset(data, 'd', sizeof data);
	for (unsigned i = 0; i < n; i++)
		http_events_publish(fx.events, NULL, "turn", data, size);
}

static inline void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	static char big[300000];

	(void)arg;
	fx.requests++;
	fx.n_body = 0;
	strcpy(fx.path, head->path);
	http_head_query(head, "q", fx.query, sizeof fx.query);
	http_client_address(x, fx.address, sizeof fx.address);
	if (strcmp(head->path, "/later") == 0) {
		fx.kept = x;
		http_on_gone(x, on_gone, NULL);
	} else if (strcmp(head->path, "/held") == 0 && fx.n_held < CLIENTS) {
		fx.held[fx.n_held++] = x;
	} else if (strcmp(head->path, "/body") == 0) {
		http_on_gone(x, on_gone, NULL);
		http_take_body(x, &(struct http_body_limits){.max = 100000}, on_body, NULL);
	} else if (strcmp(head->path, "/parts") == 0) {
		http_take_body(x, &(struct http_body_limits){.max = 1 << 20, .parts = true},
			       on_body, NULL);
	} else if (strcmp(head->path, "/quick") == 0) {
		struct http_body_limits limits = {.max = 100000, .ms = 30};

		http_on_gone(x, on_gone, NULL);
		http_take_body(x, &limits, on_body, NULL);
	} else if (strcmp(head->path, "/events") == 0) {
		http_on_gone(x, on_gone, NULL);
		http_events_join(fx.events, x, head, NULL);
	} else if (strcmp(head->path, "/publish") == 0) {
		publish(200, 60000);
		http_reply(x, 204, NULL, NULL, 0);
	} else if (strcmp(head->path, "/ws") == 0 && head->websocket) {
		http_upgrade(x, on_upgrade, NULL);
	} else if (strcmp(head->path, "/big") == 0) {
		http_reply(x, 200, "text/plain", big, sizeof big);
	} else if (strcmp(head->path, "/cookie") == 0) {
		http_head_copy(head, "cookie", fx.cookie, sizeof fx.cookie);
		fx.tag = http_tag(x);
		http_set_tag(x, 7);
		fx.tag += http_tag(x);
		fx.cookie_err = http_reply_cookie(x, "a", fx.secret, "; Path=/");
		http_reply(x, 200, "text/plain", "hello", 5);
	} else if (strcmp(head->path, "/fields") == 0) {
		int err = http_reply_field(x, "X-A", "b\r\nSet-Cookie: c");

		http_reply_field(x, "Cache-Control", "max-age=1");
		http_reply(x, err == EINVAL ? 200 : 500, NULL, NULL, 0);
	} else {
		http_reply(x, 200, "text/plain", "hello", 5);
	}
}

static inline bool host_is_ours(struct http_text host, void *arg)
{
	(void)arg;
	return !http_text_is(host, "evil.example");
}

static inline int begin_with(struct journal *j)
{
	int err = loop_open(&fx.l, j);

	fx.fd = fx.upgrade_fd = -1;
	fx.conf.h = on_request;
	fx.conf.hosth = host_is_ours;
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, on_snapshot, NULL);
	return err ? err : http_server_alloc(&fx.server, fx.l.env, &fx.conf);
}

static inline int begin(void)
{
	memset(&fx, 0, sizeof fx);
	return begin_with(NULL);
}

static inline void hang_up(void)
{
	if (fx.fd >= 0)
		close(fx.fd);
	fx.fd = -1;
}

static inline void end(void)
{
	hang_up();
	if (fx.upgrade_fd >= 0)
		close(fx.upgrade_fd);
	fx.events = http_events_free(fx.events);
	fx.server = http_server_free(fx.server);
	loop_close(&fx.l);
}

/* ---- the client's side ---- */

static inline int connect_from(const char *ip)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(http_server_port(fx.server))};
	struct sockaddr_in from = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "127.0.0.1", &sa.sin_addr);
	inet_pton(AF_INET, ip, &from.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof from) ||
	    connect(fd, (struct sockaddr *)&sa, sizeof sa))
		return -1;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static inline uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ms_of_timespec(&ts);
}

static inline void turn(void)
{
	event_base_loop(env_base(fx.l.env), EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* Reads what is there, into fx.got. */
static inline void read_some(void)
{
	ssize_t k = recv(fx.fd, fx.got + fx.n_got, sizeof fx.got - 1 - fx.n_got, 0);

	if (k > 0)
		fx.n_got += (size_t)k;
	else if (k == 0 || errno != EAGAIN)
		fx.ended = true;
	fx.got[fx.n_got] = '\0';
}

/* Until this text came, or the server closed; "" waits for its end. */
static inline bool await(const char *text)
{
	uint64_t until = now_ms() + 5000;

	while (now_ms() < until) {
		turn();
		read_some();
		if (*text && strstr(fx.got, text))
			return true;
		if (fx.ended)
			return !*text;
	}
	return false;
}

static inline bool await_count(const unsigned *n, unsigned want)
{
	uint64_t until = now_ms() + 5000;

	while (*n < want && now_ms() < until)
		turn();
	return *n == want;
}

static inline bool dial(void)
{
	hang_up();
	fx.n_got = 0;
	fx.got[0] = '\0';
	fx.ended = false;
	fx.fd = connect_from("127.0.0.1");
	return fx.fd >= 0;
}

/* All of it, while the server runs; less when the server closed. */
static inline size_t put_bytes(const char *p, size_t n)
{
	size_t at = 0;
	uint64_t until = now_ms() + 5000;

	while (at < n && now_ms() < until) {
		ssize_t k = send(fx.fd, p + at, n - at, MSG_NOSIGNAL);

		if (k > 0)
			at += (size_t)k;
		else if (errno != EAGAIN)
			break;
		turn();
	}
	return at;
}

static inline void put(const char *text)
{
	put_bytes(text, strlen(text));
}

/* The status of the answer to these bytes, sent on a connection of their own; 0 without an answer.
 */
static inline int ask_bytes(const char *p, size_t n)
{
	int status = 0;

	if (!dial())
		return -1;
	put_bytes(p, n);
	await("\r\n\r\n");
	sscanf(fx.got, "HTTP/1.1 %d", &status);
	return status;
}

static inline int ask(const char *text)
{
	return ask_bytes(text, strlen(text));
}

static inline unsigned count(const char *text)
{
	unsigned n = 0;

	for (const char *p = fx.got; (p = strstr(p, text)); p++)
		n++;
	return n;
}

static inline bool await_times(const char *text, unsigned n)
{
	uint64_t until = now_ms() + 5000;

	while (count(text) < n && !fx.ended && now_ms() < until) {
		turn();
		read_some();
	}
	return count(text) == n;
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: a\r\n\r\n"

#endif
