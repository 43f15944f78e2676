/* The HTTP server against clients of raw bytes on loopback, and from a journal. */
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
	struct http_exchange *kept; /* an exchange that is answered later */
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
} fx;

/* ---- the server's side ---- */

static void on_gone(struct http_exchange *x, void *arg)
{
	(void)arg;
	fx.gone++;
	if (fx.kept == x)
		fx.kept = NULL;
}

static void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
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

static void on_upgrade(int fd, const char *head, size_t n, void *arg)
{
	(void)arg;
	fx.upgrade_fd = fd;
	snprintf(fx.upgrade, sizeof fx.upgrade, "%.*s", (int)n, head);
}

static void on_snapshot(struct http_exchange *x, void *arg)
{
	(void)arg;
	fx.snapshots++;
	http_events_tell(x, "state", "all\nof it", 9);
}

static void publish(unsigned n, size_t size)
{
	static char data[60000];

	memset(data, 'd', sizeof data);
	for (unsigned i = 0; i < n; i++)
		http_events_publish(fx.events, NULL, "turn", data, size);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
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
	} else if (strcmp(head->path, "/fields") == 0) {
		int err = http_reply_field(x, "X-A", "b\r\nSet-Cookie: c");

		http_reply_field(x, "Cache-Control", "max-age=1");
		http_reply(x, err == EINVAL ? 200 : 500, NULL, NULL, 0);
	} else {
		http_reply(x, 200, "text/plain", "hello", 5);
	}
}

static bool host_is_ours(struct http_text host, void *arg)
{
	(void)arg;
	return !http_text_is(host, "evil.example");
}

static int begin_with(struct journal *j)
{
	int err = loop_open(&fx.l, j);

	fx.fd = fx.upgrade_fd = -1;
	fx.conf.h = on_request;
	fx.conf.hosth = host_is_ours;
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, on_snapshot, NULL);
	return err ? err : http_server_alloc(&fx.server, fx.l.env, &fx.conf);
}

static int begin(void)
{
	memset(&fx, 0, sizeof fx);
	return begin_with(NULL);
}

static void hang_up(void)
{
	if (fx.fd >= 0)
		close(fx.fd);
	fx.fd = -1;
}

static void end(void)
{
	hang_up();
	if (fx.upgrade_fd >= 0)
		close(fx.upgrade_fd);
	fx.events = http_events_free(fx.events);
	fx.server = http_server_free(fx.server);
	loop_close(&fx.l);
}

/* ---- the client's side ---- */

static int connect_from(const char *ip)
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

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ms_of_timespec(&ts);
}

static void turn(void)
{
	event_base_loop(env_base(fx.l.env), EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* Reads what is there, into fx.got. */
static void read_some(void)
{
	ssize_t k = recv(fx.fd, fx.got + fx.n_got, sizeof fx.got - 1 - fx.n_got, 0);

	if (k > 0)
		fx.n_got += (size_t)k;
	else if (k == 0 || errno != EAGAIN)
		fx.ended = true;
	fx.got[fx.n_got] = '\0';
}

/* Until this text came, or the server closed; "" waits for its end. */
static bool await(const char *text)
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

static bool await_count(const unsigned *n, unsigned want)
{
	uint64_t until = now_ms() + 5000;

	while (*n < want && now_ms() < until)
		turn();
	return *n == want;
}

static bool dial(void)
{
	hang_up();
	fx.n_got = 0;
	fx.got[0] = '\0';
	fx.ended = false;
	fx.fd = connect_from("127.0.0.1");
	return fx.fd >= 0;
}

/* All of it, while the server runs; less when the server closed. */
static size_t put_bytes(const char *p, size_t n)
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

static void put(const char *text)
{
	put_bytes(text, strlen(text));
}

/* The status of the answer to these bytes, sent on a connection of their own; 0 without an answer.
 */
static int ask_bytes(const char *p, size_t n)
{
	int status = 0;

	if (!dial())
		return -1;
	put_bytes(p, n);
	await("\r\n\r\n");
	sscanf(fx.got, "HTTP/1.1 %d", &status);
	return status;
}

static int ask(const char *text)
{
	return ask_bytes(text, strlen(text));
}

static unsigned count(const char *text)
{
	unsigned n = 0;

	for (const char *p = fx.got; (p = strstr(p, text)); p++)
		n++;
	return n;
}

static bool await_times(const char *text, unsigned n)
{
	uint64_t until = now_ms() + 5000;

	while (count(text) < n && !fx.ended && now_ms() < until) {
		turn();
		read_some();
	}
	return count(text) == n;
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: a\r\n\r\n"

/* ---- what is answered ---- */

TEST(http_server_answers_and_keeps_the_connection)
{
	CHECK_INT(begin(), 0);
	CHECK_INT(ask(GET("/a%20b?q=x%20y+z&r")), 200);
	CHECK_STR(fx.path, "/a b");
	CHECK_STR(fx.query, "x y z");
	CHECK_STR(fx.address, "127.0.0.1");
	CHECK(await("\r\n\r\nhello"));
	CHECK(strstr(fx.got, "Content-Length: 5\r\n") &&
	      strstr(fx.got, "Cache-Control: no-store\r\n"));
	CHECK(strstr(fx.got, "Date: ") && !strstr(fx.got, "Connection: close"));
	fx.n_got = 0;
	put("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
	CHECK(await("\r\n\r\n"));
	CHECK(strstr(fx.got, "Content-Length: 5\r\n") && !strstr(fx.got, "hello"));
	put("GET http://A/x HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n");
	CHECK(await(""));
	CHECK_STR(fx.path, "/x");
	CHECK(strstr(fx.got, "Connection: close\r\n"));
	CHECK_INT(fx.requests, 3);
	end();
}

TEST(http_server_lets_fields_end_no_line)
{
	CHECK_INT(begin(), 0);
	CHECK_INT(ask(GET("/fields")), 200);
	CHECK(strstr(fx.got, "Cache-Control: max-age=1\r\n") && !strstr(fx.got, "no-store"));
	CHECK(!strstr(fx.got, "Set-Cookie"));
	end();
}

TEST(http_server_answers_pipelined_requests_in_their_order)
{
	static char many[100 * 64];

	CHECK_INT(begin(), 0);
	for (unsigned i = 0; i < 100; i++)
		strcat(many,
		       i == 50 ? "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
			       : GET("/"));
	CHECK(dial());
	put(many);
	CHECK(await_times("HTTP/1.1 200", 100));
	CHECK_INT(count("taken"), 1);
	CHECK_INT(fx.requests, 100);
	end();
}

TEST(http_server_answers_later_and_tells_who_has_gone)
{
	CHECK_INT(begin(), 0);
	CHECK(dial());
	/* What is sent behind a request waits unread. */
	put(GET("/later") GET("/next"));
	CHECK(await_count(&fx.requests, 1));
	http_reply_begin(fx.kept, 200, "text/plain");
	CHECK_INT(http_reply_write(fx.kept, "one", 3), 0);
	CHECK(await("3\r\none\r\n"));
	CHECK_INT(fx.requests, 1);
	CHECK_INT(http_reply_write(fx.kept, "second", 6), 0);
	http_reply_end(fx.kept);
	CHECK(await("6\r\nsecond\r\n0\r\n\r\n"));
	CHECK(await("\r\n\r\nhello"));
	CHECK_STR(fx.path, "/next");
	CHECK_INT(fx.gone, 0);
	fx.kept = NULL;
	put(GET("/later"));
	CHECK(await_count(&fx.requests, 3) && fx.kept);
	/* A reset, with bytes unread. */
	put("junk");
	setsockopt(fx.fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
	hang_up();
	CHECK(await_count(&fx.gone, 1));
	CHECK(!fx.kept);
	end();
}

TEST(http_server_does_not_let_an_answer_wait_without_end)
{
	static char part[1 << 20];
	unsigned n = 0;

	CHECK_INT(begin(), 0);
	CHECK(dial());
	put(GET("/later"));
	CHECK(await_count(&fx.requests, 1));
	http_reply_begin(fx.kept, 200, NULL);
	while (n < 100 && http_reply_write(fx.kept, part, sizeof part) == 0)
		n++;
	CHECK_INT(n, 15);
	CHECK_INT(http_reply_write(fx.kept, part, sizeof part), ENOBUFS);
	end();
}

TEST(http_server_takes_bodies)
{
	static char much[200000];

	CHECK_INT(begin(), 0);
	CHECK_INT(ask("POST /body HTTP/1.1\r\nHost: a\r\nX-Name: b\r\nContent-Length: "
		      "5\r\n\r\nabcde"),
		  200);
	CHECK_INT(fx.bodies, 1);
	CHECK_STR(fx.name, "b");
	CHECK_MEM(fx.body, fx.n_body, "abcde", 5);
	CHECK_INT(ask("POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
		      "3;x=\"y\"\r\nabc\r\n02\r\nde\r\n0\r\nX: y\r\n\r\n"),
		  200);
	CHECK_MEM(fx.body, fx.n_body, "abcde", 5);
	/* None at all is one, too. */
	CHECK_INT(ask("POST /body HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
	CHECK_INT(fx.n_body, 0);
	/* In parts, as they come; and a client that waits until it is asked. */
	fx.bodies = 0;
	CHECK(dial());
	put("POST /parts HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\nExpect: "
	    "100-continue\r\n\r\n");
	CHECK(await("HTTP/1.1 100 Continue\r\n\r\n"));
	put_bytes(much, 100000);
	while (fx.n_body < 100000)
		turn();
	CHECK(fx.bodies > 1);
	put_bytes(much, 100000);
	CHECK(await("taken"));
	CHECK_INT(fx.n_body, 200000);
	end();
}

TEST(http_server_takes_a_body_that_is_asked_for_later)
{
	CHECK_INT(begin(), 0);
	CHECK(dial());
	put("POST /later HTTP/1.1\r\nHost: a\r\nX-Name: c\r\nContent-Length: 5\r\n\r\nabc");
	CHECK(await_count(&fx.requests, 1));
	put("de" GET("/next"));
	CHECK_INT(fx.bodies, 0);
	CHECK_INT(http_take_body(fx.kept, &(struct http_body_limits){.max = 5}, on_body, NULL), 0);
	CHECK(await("hello"));
	CHECK(strstr(fx.got, "taken"));
	CHECK_STR(fx.name, "c");
	CHECK_MEM(fx.body, 5, "abcde", 5);
	CHECK_STR(fx.path, "/next");
	end();
}

TEST(http_server_knows_ipv4_clients_of_an_ipv6_socket)
{
	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.host = "::", begin_with(NULL)), 0);
	CHECK_INT(ask(GET("/")), 200);
	CHECK_STR(fx.address, "127.0.0.1");
	end();
}

TEST(http_server_refuses_bodies_that_are_too_long)
{
	static char chunk[70000 + 64];
	int n = snprintf(chunk, sizeof chunk, "11170\r\n");

	memset(chunk + n, 'x', 70000);
	memcpy(chunk + n + 70000, "\r\n", 2);
	CHECK_INT(begin(), 0);
	CHECK_INT(ask("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n"), 413);
	CHECK(await(""));
	CHECK_INT(ask("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: "
		      "99999999999999999999\r\n\r\n"),
		  400);
	CHECK(dial());
	put("POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	put_bytes(chunk, (size_t)n + 70002);
	put_bytes(chunk, (size_t)n + 70002);
	CHECK(await("HTTP/1.1 413"));
	CHECK(await(""));
	CHECK_INT(fx.bodies, 0);
	CHECK_INT(fx.gone, 1);
	/* One that nobody wants. */
	CHECK_INT(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\nGET /smuggled "
		      "HTTP/1.1"),
		  200);
	CHECK(await(""));
	CHECK_STR(fx.path, "/");
	end();
}

/* ---- what is refused: RFC 9112 sections 2.2, 3, 5, 6.1, 6.3, 7.1, 11 ---- */

static const struct {
	const char *bytes;
	int status;
} hostile[] = {
	/* two lengths, and lengths that are none */
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
	 "chunked\r\n\r\nabc",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: "
	 "3\r\n\r\nabc",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 5\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
	 "x\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", 501},
	/* odd chunks */
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n "
	 "3\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3 "
	 "\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n100000003\r\nabc\r\n0\r\n\r\n",
	 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3\r\nabc\r\n0\r\nX\n\r\n",
	 400},
	/* control characters in the target, raw and encoded */
	{"GET /a%0aX-Csrf:%201 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%0D%0AX:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /?a%0a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /?a=%0d HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%7f HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%c3 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%g0 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	/* out of the folder */
	{"GET /../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a/.. HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a/./b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /.%2e/etc HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%2f..%2fb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /..\\b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /a%5c..%5cb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	/* lines and fields */
	{"GET / HTTP/1.1\nHost: a\n\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\n\tX: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 400},
	{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
	{" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
	{"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
	{"get / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
	/* versions */
	{"GET / HTTP/1.0\r\nHost: a\r\n\r\n", 505},
	{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
	{"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400},
	{"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET /\r\n\r\n", 400},
	/* hosts */
	{"GET / HTTP/1.1\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a,  b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
	{"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
	/* two of what counts once */
	{"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\nCookie: a=c\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", 400},
	{"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: more\r\n\r\na", 417},
};

TEST(http_server_refuses_what_can_be_read_in_two_ways)
{
	struct http_server_counts counts;

	CHECK_INT(begin(), 0);
	for (unsigned i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
		int status = ask(hostile[i].bytes);

		if (status != hostile[i].status || !await("") || count("HTTP/1.1") != 1) {
			test_fail(__FILE__, __LINE__, "%s: status %d, want %d", hostile[i].bytes,
				  status, hostile[i].status);
			break;
		}
	}
	/* Only the broken chunks were asked for at all. */
	CHECK_INT(fx.requests, 10);
	CHECK_INT(fx.bodies, 0);
	http_server_counts(fx.server, &counts);
	CHECK_INT(counts.refused, sizeof hostile / sizeof hostile[0]);
	CHECK(counts.connections <= 1);
	end();
}

TEST(http_server_refuses_zero_bytes_and_what_follows_them)
{
	static const char target[] = "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n";
	static const char value[] = "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n";
	static const char name[] = "GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n";

	CHECK_INT(begin(), 0);
	CHECK_INT(ask_bytes(target, sizeof target - 1), 400);
	CHECK_INT(ask_bytes(value, sizeof value - 1), 400);
	CHECK_INT(ask_bytes(name, sizeof name - 1), 400);
	CHECK_INT(fx.requests, 0);
	end();
}

TEST(http_server_cuts_heads_of_ten_megabytes)
{
	static char head[10 << 20];

	memset(head, 'x', sizeof head);
	memcpy(head, "GET / HTTP/1.1\r\nHost: a\r\nX: ", 28);
	CHECK_INT(begin(), 0);
	CHECK_INT(ask_bytes(head, sizeof head), 431);
	/* A target as long, and more fields than anybody needs. */
	memset(head, 'x', sizeof head);
	memcpy(head, "GET /", 5);
	CHECK_INT(ask_bytes(head, sizeof head), 431);
	memcpy(head + 5000, " HTTP/1.1\r\nHost: a\r\n\r\n", 22);
	CHECK_INT(ask_bytes(head, 5022), 414);
	strcpy(head, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (unsigned i = 0; i < HTTP_FIELDS_MAX; i++)
		strcat(head, "X: y\r\n");
	strcat(head, "\r\n");
	CHECK_INT(ask(head), 431);
	CHECK_INT(fx.requests, 0);
	end();
}

/* ---- time ---- */

TEST(http_server_ends_slow_heads_and_bodies)
{
	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.head_ms = fx.conf.body_ms = 40,
		   begin_with(NULL)),
		  0);
	/* One byte now and then does not help. */
	CHECK(dial());
	put("GET / HTTP/1.1\r\nHost: a\r\nX: ");
	while (!fx.ended && !strstr(fx.got, "\r\n\r\n")) {
		put("y");
		read_some();
	}
	CHECK(strstr(fx.got, "HTTP/1.1 408 Request Timeout\r\n"));
	CHECK(await(""));
	CHECK(dial());
	put("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
	while (!fx.ended && !strstr(fx.got, "\r\n\r\n")) {
		put("y");
		read_some();
	}
	CHECK(strstr(fx.got, "HTTP/1.1 408 Request Timeout\r\n"));
	CHECK_INT(fx.gone, 1);
	CHECK_INT(fx.bodies, 0);
	/* Nothing at all. */
	CHECK(dial());
	CHECK(await(""));
	CHECK_STR(fx.got, "");
	end();
}

/* The server would wait for ten seconds, this route does not. */
TEST(http_server_keeps_the_time_limit_of_a_route)
{
	CHECK_INT((memset(&fx, 0, sizeof fx), begin_with(NULL)), 0);
	CHECK(dial());
	put("POST /quick HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
	CHECK(await("HTTP/1.1 408 Request Timeout\r\n"));
	CHECK_INT(fx.gone, 1);
	end();
}

TEST(http_server_gives_large_bodies_more_time)
{
	static char much[70000];
	uint64_t since;

	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.body_ms = 30, begin_with(NULL)), 0);
	CHECK(dial());
	put("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
	put_bytes(much, sizeof much);
	since = now_ms();
	while (now_ms() < since + 60)
		turn();
	put_bytes(much, 30000);
	CHECK(await("taken"));
	end();
}

TEST(http_server_ends_idle_connections_and_those_that_read_nothing)
{
	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.idle_ms = fx.conf.write_ms = 30,
		   begin_with(NULL)),
		  0);
	CHECK_INT(ask(GET("/")), 200);
	CHECK(await(""));
	CHECK(dial());
	for (unsigned i = 0; i < 40; i++)
		put(GET("/big"));
	for (uint64_t until = now_ms() + 5000; now_ms() < until;) {
		struct http_server_counts counts;

		turn();
		http_server_counts(fx.server, &counts);
		if (!counts.connections)
			break;
	}
	/* It was asked no more than what could wait. */
	CHECK(fx.requests < 30);
	CHECK(await(""));
	end();
}

/* ---- many ---- */

TEST(http_server_holds_a_thousand_connections_and_turns_more_away)
{
	static int fds[CLIENTS];
	struct rlimit files;
	struct http_server_counts counts;
	unsigned open = 0;

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < 2 * CLIENTS + 64) {
		files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	CHECK_INT(begin(), 0);
	for (unsigned i = 0; i < CLIENTS; i++) {
		char ip[24];

		snprintf(ip, sizeof ip, "127.0.1.%u", 1 + i / 32);
		fds[i] = connect_from(ip);
		turn();
	}
	http_server_counts(fx.server, &counts);
	CHECK_INT(counts.connections, 1024);
	CHECK_INT(counts.turned_away, CLIENTS - 1024);
	/* Each is still served. */
	for (unsigned i = 0; i < 1024; i++)
		send(fds[i], GET("/"), strlen(GET("/")), MSG_NOSIGNAL);
	CHECK(await_count(&fx.requests, 1024));
	for (unsigned i = 0; i < CLIENTS; i++) {
		char buf[64];

		open += recv(fds[i], buf, sizeof buf, 0) > 12 &&
			memcmp(buf, "HTTP/1.1 200", 12) == 0;
		close(fds[i]);
	}
	CHECK_INT(open, 1024);
	end();
}

TEST(http_server_holds_few_connections_of_one_address)
{
	struct http_server_counts counts;
	int fds[5];

	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.max_per_address = 3, begin_with(NULL)), 0);
	for (unsigned i = 0; i < 5; i++) {
		fds[i] = connect_from(i < 4 ? "127.0.0.1" : "127.0.0.2");
		turn();
	}
	http_server_counts(fx.server, &counts);
	CHECK_INT(counts.connections, 4);
	CHECK_INT(counts.turned_away, 1);
	for (unsigned i = 0; i < 5; i++)
		close(fds[i]);
	end();
}

/* ---- upgrades, Unix sockets, the end ---- */

TEST(http_server_gives_a_websocket_away)
{
	CHECK_INT(begin(), 0);
	CHECK(dial());
	put("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade:  WebSocket\r\nConnection: keep-alive, "
	    "Upgrade\r\n\r\n\x81");
	for (uint64_t until = now_ms() + 5000; fx.upgrade_fd < 0 && now_ms() < until;)
		turn();
	CHECK_STR(fx.upgrade, "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\n"
			      "Connection: keep-alive, Upgrade\r\n\r\n\x81");
	CHECK_INT(send(fx.upgrade_fd, "raw", 3, 0), 3);
	CHECK(await("raw"));
	CHECK(!fx.ended);
	end();
}

TEST(http_server_listens_on_a_unix_socket)
{
	char dir[32], path[64];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct http_server *other;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/http", dir);
	memset(&fx, 0, sizeof fx);
	fx.conf.path = path;
	CHECK_INT(begin_with(NULL), 0);
	CHECK_INT(http_server_alloc(&other, fx.l.env, &fx.conf), EADDRINUSE);
	fx.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	strcpy(sa.sun_path, path);
	CHECK_INT(connect(fx.fd, (struct sockaddr *)&sa, sizeof sa), 0);
	put(GET("/"));
	CHECK(await("hello"));
	CHECK_STR(fx.address, "");
	end();
	CHECK(access(path, F_OK) != 0);
	folder_remove(dir);
}

static void on_drained(void *arg)
{
	(void)arg;
	fx.drained++;
}

TEST(http_server_ends_when_all_is_answered)
{
	int busy, idle;
	char buf[2048];

	CHECK_INT(begin(), 0);
	CHECK(dial());
	put(GET("/later"));
	CHECK(await_count(&fx.requests, 1));
	busy = fx.fd;
	fx.fd = -1;
	CHECK(dial());
	put(GET("/"));
	CHECK(await("hello"));
	idle = fx.fd;
	fx.fd = -1;
	CHECK(dial());
	put(GET("/events"));
	CHECK(await("all\ndata: of it\n\n"));
	http_server_drain(fx.server, on_drained, NULL);
	CHECK(await(""));
	CHECK_INT(recv(idle, buf, sizeof buf, 0), 0);
	CHECK_INT(connect_from("127.0.0.1"), -1);
	CHECK_INT(fx.drained, 0);
	http_reply(fx.kept, 200, NULL, NULL, 0);
	hang_up();
	fx.fd = busy;
	fx.ended = false;
	CHECK(await(""));
	CHECK(strstr(fx.got, "Connection: close\r\n"));
	hang_up();
	CHECK(await_count(&fx.drained, 1));
	close(idle);
	end();
}

/* ---- event streams ---- */

/* The last id that came. */
static void last_id(char *id, size_t size)
{
	const char *p = fx.got, *last = NULL;

	while ((p = strstr(p, "id: ")))
		last = p = p + 4;
	snprintf(id, size, "%.*s", last ? (int)strcspn(last, "\n") : 0, last ? last : "");
}

static void join(const char *id)
{
	char text[256];

	dial();
	snprintf(text, sizeof text, "GET /events HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n",
		 id ? "Last-Event-ID: " : "", id ? id : "", id ? "\r\n" : "");
	put(text);
}

TEST(http_events_resume_where_a_reader_was)
{
	char id[64];

	CHECK_INT(begin(), 0);
	join(NULL);
	CHECK(await("event: state\ndata: all\ndata: of it\n\n"));
	CHECK(strstr(fx.got, "Content-Type: text/event-stream"));
	CHECK(strstr(fx.got, "X-Accel-Buffering: no\r\n"));
	publish(2, 3);
	CHECK(await_times("event: turn\ndata: ddd\n\n", 2));
	CHECK(!strstr(fx.got, "event: gap"));
	last_id(id, sizeof id);
	hang_up();
	CHECK(await_count(&fx.gone, 1));
	CHECK_INT(http_events_readers(fx.events), 0);
	publish(3, 3);
	join(id);
	CHECK(await_times("event: turn", 3));
	CHECK_INT(count("event: state"), 0);
	CHECK_INT(fx.snapshots, 1);
	/* An id of another run, and what is none. */
	join("00000000-1");
	CHECK(await("event: gap\ndata: {}\n\n"));
	CHECK(await("event: state"));
	join("x");
	CHECK(await("event: gap\ndata: {}\n\n"));
	CHECK_INT(http_events_gaps(fx.events), 2);
	/* With the id of a snapshot one goes on behind it. */
	CHECK(await("event: state\ndata: all\ndata: of it\n\n"));
	last_id(id, sizeof id);
	join(id);
	publish(1, 3);
	CHECK(await_times("event: turn", 1));
	CHECK_INT(http_events_gaps(fx.events), 2);
	end();
}

TEST(http_events_tell_slow_readers_that_they_missed_some)
{
	struct http_server_counts counts;

	CHECK_INT(begin(), 0);
	join(NULL);
	CHECK(await("event: state"));
	/* 30 MB, of which it reads nothing. */
	for (unsigned i = 0; i < 500; i++) {
		publish(1, 60000);
		turn();
	}
	CHECK_INT(http_events_gaps(fx.events), 0);
	fx.n_got = 0;
	for (uint64_t until = now_ms() + 5000; !http_events_gaps(fx.events) && now_ms() < until;) {
		fx.n_got = 0;
		turn();
		read_some();
	}
	CHECK_INT(http_events_gaps(fx.events), 1);
	publish(1, 3);
	for (uint64_t until = now_ms() + 5000;
	     now_ms() < until && !strstr(fx.got, "data: ddd\n\n");) {
		fx.n_got = 0;
		turn();
		read_some();
	}
	CHECK(strstr(fx.got, "data: ddd\n\n"));
	CHECK_INT(fx.snapshots, 2);
	http_server_counts(fx.server, &counts);
	CHECK_INT(counts.connections, 1);
	end();
}

TEST(http_events_take_nothing_from_their_readers)
{
	unsigned turns;

	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.heartbeat_ms = 20, begin_with(NULL)), 0);
	join(NULL);
	CHECK(await("event: state"));
	put(GET("/smuggled") "junk");
	/* A loop that spins would turn thousands of times; this one waits for heartbeats. */
	CHECK_INT(fx.requests, 1);
	for (turns = 0; count("\n:\n\n") < 8 && turns < 1000; turns++) {
		event_base_loop(env_base(fx.l.env), EVLOOP_ONCE);
		read_some();
	}
	CHECK(turns < 100);
	hang_up();
	CHECK(await_count(&fx.gone, 1));
	CHECK_INT(http_events_readers(fx.events), 0);
	end();
}

/* ---- journals, and no memory ---- */

/* Some of everything, with a reader that misses events. */
static bool play_session(void)
{
	int reader;

	if (ask(GET("/a?q=1")) != 200 ||
	    ask("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc") != 200 ||
	    ask("POST /parts HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
		"chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n") != 200 ||
	    ask("GET /%0a HTTP/1.1\r\nHost: a\r\n\r\n") != 400)
		return false;
	join("00000000-9");
	if (!await("event: state"))
		return false;
	reader = fx.fd;
	fx.fd = -1;
	if (ask(GET("/publish")) != 204)
		return false;
	hang_up();
	fx.fd = reader;
	fx.ended = false;
	for (uint64_t until = now_ms() + 5000;
	     http_events_gaps(fx.events) < 2 && now_ms() < until;) {
		fx.n_got = 0;
		turn();
		read_some();
	}
	hang_up();
	return await_count(&fx.gone, 1) && http_events_gaps(fx.events) == 2;
}

static int replay_session(const char *path, const char *digest)
{
	const struct env_conf conf = {.loop = true, .replaying = true};
	struct journal_reader *r = NULL;
	struct tmr *first = NULL;
	char recorded[1][65], now[65];
	uint64_t at;
	int err;

	memset(&fx, 0, sizeof fx);
	fx.fd = fx.upgrade_fd = -1;
	fx.conf = (struct http_server_conf){
		.h = on_request, .hosth = host_is_ours, .host = "not an address"};
	err = journal_open(&r, path);
	if (!err)
		err = env_alloc(&fx.l.env, &conf);
	if (!err)
		err = journal_attach(r, fx.l.env, 0);
	if (!err)
		err = tmr_alloc(&first, fx.l.env, loop_late, &fx.l);
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, on_snapshot, NULL);
	if (!err)
		err = http_server_alloc(&fx.server, fx.l.env, &fx.conf);
	if (!err)
		err = journal_replay(r, &fx.l.env, 1, &at, recorded);
	if (!err) {
		env_digest(fx.l.env, now);
		err = strcmp(now, recorded[0]) || strcmp(now, digest) ? EILSEQ : 0;
	}
	tmr_free(first);
	journal_close(r);
	return err;
}

TEST(http_server_is_replayed_from_a_journal)
{
	char dir[32], path[64], digest[65];
	struct journal *j = NULL;
	unsigned requests;
	uint16_t port;
	bool ok;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	memset(&fx, 0, sizeof fx);
	CHECK_INT(begin_with(j), 0);
	ok = play_session();
	port = http_server_port(fx.server);
	requests = fx.requests;
	env_finish(fx.l.env);
	env_digest(fx.l.env, digest);
	end();
	journal_free(j);
	CHECK(ok);
	CHECK_INT(replay_session(path, digest), 0);
	CHECK_INT(fx.requests, requests);
	CHECK_INT(fx.gone, 1);
	CHECK_INT(fx.snapshots, 2);
	CHECK_INT(http_server_port(fx.server), port);
	end();
	folder_remove(dir);
}

TEST_OOM(http_server_survives_no_memory)
{
	int err = begin();

	if (!err) {
		ask("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
		ask(GET("/fields") GET("/"));
		dial();
		put("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: "
		    "upgrade\r\n\r\n");
		for (unsigned i = 0; i < 5; i++)
			turn();
		join("x");
		await("state");
		publish(1, 10);
		turn();
	}
	end();
	CHECK_OOM(err, (void)0);
}
