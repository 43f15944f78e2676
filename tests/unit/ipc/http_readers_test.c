/* The HTTP server's readers: which events they get, how slow they may be, and a body whose handler
 * cannot use more of it now. */
#include "ipc/http_server.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>

enum { BODY = 200000 };

static struct fixture {
	struct loop l;
	struct http_server *server;
	struct http_events *events;
	struct http_exchange *kept;
	size_t n_body;
	bool hold, body_over;
	unsigned requests, gone;
	int fd;
	char got[64 << 10];
	size_t n_got;
} fx;

static void on_gone(struct http_exchange *x, void *arg)
{
	(void)x;
	(void)arg;
	fx.gone++;
}

static void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	(void)data;
	(void)arg;
	fx.n_body += n;
	fx.body_over = last;
	if (last)
		http_reply(x, 200, "text/plain", "taken", 5);
	else if (fx.hold)
		http_hold_body(x, true);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	static char big[300000];
	struct sse_filter filter = {.types = 1 << 2 | 1 << 3, .key = 7};

	(void)arg;
	fx.requests++;
	fx.kept = x;
	http_on_gone(x, on_gone, NULL);
	if (strcmp(head->path, "/some") == 0)
		http_events_join(fx.events, x, head, &filter);
	else if (strcmp(head->path, "/all") == 0)
		http_events_join(fx.events, x, head, NULL);
	else if (strcmp(head->path, "/body") == 0)
		http_take_body(x, &(struct http_body_limits){.max = 1 << 20, .parts = true},
			       on_body, NULL);
	else
		http_reply(x, 200, "text/plain", big, sizeof big);
}

static int begin(const struct http_server_conf *conf)
{
	struct http_server_conf sc = conf ? *conf : (struct http_server_conf){0};
	int err;

	memset(&fx, 0, sizeof fx);
	fx.fd = -1;
	sc.h = on_request;
	err = loop_open(&fx.l, NULL);
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, NULL, NULL);
	return err ? err : http_server_alloc(&fx.server, fx.l.env, &sc);
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
	http_events_free(fx.events);
	http_server_free(fx.server);
	loop_close(&fx.l);
}

static void turn(void)
{
	event_base_loop(env_base(fx.l.env), EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts) / 1000;
}

static uint64_t now_ms(void)
{
	return now_us() / 1000;
}

/* rcvbuf: 0 for the system's. */
static bool dial(int rcvbuf)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(http_server_port(fx.server)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	hang_up();
	fx.n_got = 0;
	fx.got[0] = '\0';
	fx.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (rcvbuf)
		setsockopt(fx.fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof rcvbuf);
	if (connect(fx.fd, (struct sockaddr *)&sa, sizeof sa))
		return false;
	return fcntl(fx.fd, F_SETFL, O_NONBLOCK) == 0;
}

/* As much as the client's socket takes within some turns of the loop. */
static size_t put_bytes(const char *p, size_t n, unsigned turns)
{
	size_t at = 0;

	for (; at < n && turns; turns--) {
		ssize_t k = send(fx.fd, p + at, n - at, MSG_NOSIGNAL);

		at += k > 0 ? (size_t)k : 0;
		turn();
	}
	return at;
}

static void put(const char *text)
{
	put_bytes(text, strlen(text), 1000);
}

static bool await(const char *text)
{
	for (uint64_t until = now_ms() + 5000; now_ms() < until;) {
		ssize_t k;

		turn();
		k = recv(fx.fd, fx.got + fx.n_got, sizeof fx.got - 1 - fx.n_got, 0);
		fx.n_got += k > 0 ? (size_t)k : 0;
		fx.got[fx.n_got] = '\0';
		if (strstr(fx.got, text))
			return true;
		if (k == 0)
			return false;
	}
	return false;
}

static void publish(unsigned type, uint64_t key, const char *data)
{
	struct sse_topic topic = {.type = type, .key = key};

	http_events_publish(fx.events, &topic, "turn", data, strlen(data));
}

static void publish_fleeting(const char *data)
{
	struct sse_topic topic = {.type = 2, .key = 7};

	http_events_publish_fleeting(fx.events, &topic, "level", data, strlen(data));
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: a\r\n"

TEST(http_events_reach_only_readers_that_asked_for_their_topic)
{
	char id[64], again[160];

	CHECK_INT(begin(NULL), 0);
	CHECK(dial(0));
	put(GET("/some") "\r\n");
	CHECK(await("text/event-stream"));
	publish(1, 7, "other type");
	publish(2, 8, "other key");
	publish(2, 0, "no key");
	publish(2, 7, "first");
	publish(3, 7, "second");
	CHECK(await("data: second\n\n"));
	CHECK(strstr(fx.got, "data: first\n\n"));
	CHECK(!strstr(fx.got, "other") && !strstr(fx.got, "no key"));
	snprintf(id, sizeof id, "%.*s", (int)strcspn(strstr(fx.got, "id: ") + 4, "\n"),
		 strstr(fx.got, "id: ") + 4);
	/* What it would get has all been held, however much came that it would not. */
	publish(3, 7, "third");
	publish(9, 7, "other type");
	snprintf(again, sizeof again, GET("/some") "Last-Event-ID: %s\r\n\r\n", id);
	CHECK(dial(0));
	put(again);
	CHECK(await("data: third\n\n"));
	CHECK(strstr(fx.got, "data: second\n\n"));
	CHECK(!strstr(fx.got, "data: first") && !strstr(fx.got, "other") && !strstr(fx.got, "gap"));
	CHECK(dial(0));
	put(GET("/all") "\r\n");
	CHECK(await("text/event-stream"));
	publish(63, 1, "any");
	CHECK(await("data: any\n\n"));
	end();
}

/* Levels of a hundred rooms, ten times a second, take nothing from whoever comes back. */
TEST(http_events_that_are_fleeting_push_out_no_other)
{
	char id[64], again[160];

	CHECK_INT(begin(NULL), 0);
	CHECK(dial(0));
	put(GET("/some") "\r\n");
	CHECK(await("text/event-stream"));
	publish_fleeting("loud");
	publish(2, 7, "first");
	CHECK(await("data: first\n\n"));
	CHECK(await("event: level\ndata: loud\n\n"));
	snprintf(id, sizeof id, "%.*s", (int)strcspn(strstr(fx.got, "id: ") + 4, "\n"),
		 strstr(fx.got, "id: ") + 4);
	hang_up();
	publish(2, 7, "second");
	for (unsigned i = 0; i < 3 * SSE_RING_EVENTS; i++)
		publish_fleeting("past");
	snprintf(again, sizeof again, GET("/some") "Last-Event-ID: %s\r\n\r\n", id);
	CHECK(dial(0));
	put(again);
	CHECK(await("data: second\n\n"));
	publish_fleeting("soft");
	CHECK(await("data: soft\n\n"));
	CHECK(!strstr(fx.got, "past") && !strstr(fx.got, "data: first") && !strstr(fx.got, "gap"));
	CHECK_INT(http_events_gaps(fx.events), 0);
	end();
}

/* However often something is published, readers take their share of the thread and no more. */
TEST(http_events_come_in_rounds_whose_distance_grows_with_the_readers)
{
	enum { MORE = 99, ROUND_US = 50 * (MORE + 1) };
	struct http_server_conf conf = {.max_per_address = MORE + 1};
	int more[MORE];
	uint64_t began;

	CHECK_INT(begin(&conf), 0);
	for (unsigned i = 0; i < MORE; i++) {
		CHECK(dial(0));
		put(GET("/all") "\r\n");
		CHECK(await("text/event-stream"));
		more[i] = fx.fd;
		fx.fd = -1;
	}
	began = now_us(); /* the loop's own time may be as old as its turn */
	CHECK(dial(0));
	put(GET("/all") "\r\n");
	CHECK(await("text/event-stream"));
	publish(2, 7, "first");
	CHECK(await("data: first\n\n"));
	publish(2, 7, "second");
	publish(2, 7, "third");
	CHECK(await("data: second\n\n"));
	CHECK(now_us() - began >= ROUND_US);
	/* Both in the same one. */
	CHECK(strstr(fx.got, "data: third\n\n"));
	for (unsigned i = 0; i < MORE; i++)
		close(more[i]);
	end();
}

/* It would never be the slowest of them otherwise. */
TEST(http_events_of_other_topics_overtake_no_reader)
{
	CHECK_INT(begin(NULL), 0);
	CHECK(dial(0));
	put(GET("/some") "\r\n");
	CHECK(await("text/event-stream"));
	for (unsigned i = 0; i < 3 * SSE_RING_EVENTS; i++) {
		publish(1, 7, "other");
		if (i % 1000 == 0)
			turn();
	}
	publish(2, 7, "mine");
	CHECK(await("data: mine\n\n"));
	CHECK_INT(http_events_gaps(fx.events), 0);
	end();
}

/* Reads `bytes` each millisecond. Returns whether the server ended the connection within this time.
 */
static bool read_slowly(size_t bytes, uint64_t ms)
{
	struct http_server_counts counts;
	uint64_t last = 0;
	char some[4096];

	for (uint64_t until = now_ms() + ms; now_ms() < until;) {
		turn();
		http_server_counts(fx.server, &counts);
		if (!counts.connections)
			return true;
		if (now_ms() > last) {
			last = now_ms();
			recv(fx.fd, some, bytes, 0);
		}
	}
	return false;
}

/* A few bytes now and then do not keep a connection for which more waits, be it in its socket. */
TEST(http_server_ends_readers_that_are_too_slow)
{
	static char data[30000];
	struct http_server_conf conf = {.write_ms = 100, .heartbeat_ms = 20};

	CHECK_INT(begin(&conf), 0);
	CHECK(dial(2304));
	for (unsigned i = 0; i < 40; i++)
		put(GET("/big") "\r\n");
	CHECK(read_slowly(1, 5000));
	CHECK(dial(2304));
	put(GET("/some") "\r\n");
	CHECK(await("text/event-stream"));
	memset(data, 'd', sizeof data - 1);
	for (unsigned i = 0; i < 8; i++)
		publish(2, 7, data);
	CHECK(read_slowly(1, 5000));
	CHECK_INT(http_events_readers(fx.events), 0);
	/* One that takes all keeps its connection, however little there is. */
	CHECK(dial(2304));
	put(GET("/some") "\r\n");
	CHECK(await("text/event-stream"));
	for (unsigned i = 0; i < 10; i++) {
		publish(2, 7, "little");
		CHECK(!read_slowly(4096, 30));
	}
	CHECK_INT(http_events_readers(fx.events), 1);
	end();
}

TEST(http_server_lets_the_handler_of_a_body_hold_its_client_back)
{
	static char body[BODY];
	struct http_server_conf conf = {.body_ms = 50};
	size_t before, sent;

	CHECK_INT(begin(&conf), 0);
	fx.hold = true;
	CHECK(dial(0));
	put("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
	sent = put_bytes(body, 1000, 1000);
	CHECK_INT(sent, 1000);
	before = fx.n_body;
	CHECK(before > 0 && before < BODY);
	sent += put_bytes(body + sent, BODY - sent, 200);
	/* Nothing more is delivered, and the time that passes is not the client's. */
	loop_run_for(&fx.l, 120 * NS_PER_MS);
	CHECK_INT(fx.n_body, before);
	CHECK_INT(fx.gone, 0);
	fx.hold = false;
	http_hold_body(fx.kept, false);
	put_bytes(body + sent, BODY - sent, 100000);
	CHECK(await("taken"));
	CHECK_INT(fx.n_body, BODY);
	CHECK(fx.body_over);
	end();
}

TEST(http_server_sees_a_client_leave_while_its_body_is_held)
{
	CHECK_INT(begin(NULL), 0);
	fx.hold = true;
	CHECK(dial(0));
	put("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
	for (unsigned i = 0; i < 100 && !fx.n_body; i++)
		turn();
	CHECK_INT(fx.n_body, 3);
	hang_up();
	for (uint64_t until = now_ms() + 5000; !fx.gone && now_ms() < until;)
		turn();
	CHECK_INT(fx.gone, 1);
	end();
}
