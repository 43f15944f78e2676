/* Clients that pipeline, read slowly, leave at a bad moment or come from everywhere, against the
 * HTTP server. */
#include "ipc/http_inside.h"
#include "ipc/journal_play.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>

enum { READERS = 3 * HTTP_READERS_A_TURN };

static struct hostile_fixture {
	struct loop l;
	struct http_server *server;
	struct http_events *events;
	struct http_exchange *kept;
	unsigned requests, gone, snapshots, drained;
	int taken;	  /* what http_take_body said */
	bool free_events; /* by the gone handler */
	int reset;	  /* closed with a reset by the next snapshot; -1: none */
	int upgraded;
	int fd;
	char got[200000];
	size_t n_got;
	bool ended;
	struct http_server_conf conf;
} fx;

/* ---- the server's side ---- */

static void on_gone(struct http_exchange *x, void *arg)
{
	(void)x, (void)arg;
	fx.gone++;
	fx.kept = NULL;
	if (fx.free_events)
		fx.events = http_events_free(fx.events);
}

static void close_with_reset(int fd)
{
	const struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(fd);
}

static void on_snapshot(struct http_exchange *x, void *arg)
{
	(void)arg;
	fx.snapshots++;
	if (fx.reset >= 0)
		close_with_reset(fx.reset);
	fx.reset = -1;
	http_events_tell(x, "state", "all", 3);
}

static void on_upgrade(int fd, const char *head, size_t n, void *arg)
{
	(void)head, (void)n, (void)arg;
	fx.upgraded = fd;
	CHECK_INT(send(fd, "HTTP/1.1 101", 12, MSG_NOSIGNAL), 12);
}

static void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	(void)data, (void)n, (void)arg;
	if (last)
		http_reply(x, 200, NULL, "taken", 5);
}

static void on_part(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	(void)arg;
	http_reply_write(x, data, n);
	if (last)
		http_reply_end(x);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	static const struct http_body_limits limits = {.max = 100000};
	static char large[60000];

	(void)arg;
	fx.requests++;
	http_on_gone(x, on_gone, NULL);
	if (strcmp(head->path, "/later") == 0) {
		fx.kept = x;
	} else if (strcmp(head->path, "/body") == 0) {
		http_take_body(x, &limits, on_body, NULL);
	} else if (strcmp(head->path, "/body-later") == 0) {
		fx.kept = x;
		http_take_body(x, &limits, on_body, NULL);
	} else if (strcmp(head->path, "/both") == 0) {
		http_reply_begin(x, 200, NULL);
		fx.taken = http_take_body(x, &limits, on_part, NULL);
	} else if (strcmp(head->path, "/events") == 0) {
		http_events_join(fx.events, x, head, NULL);
	} else if (strcmp(head->path, "/large") == 0) {
		memset(large, 'l', sizeof large);
		http_reply(x, 200, "text/plain", large, sizeof large);
	} else if (strcmp(head->path, "/count") == 0) {
		struct http_server_counts counts;
		char text[32];
		int n;

		http_server_counts(fx.server, &counts);
		n = snprintf(text, sizeof text, "%u connections", counts.connections);
		http_reply(x, 200, "text/plain", text, (size_t)n);
	} else if (head->websocket) {
		http_upgrade(x, on_upgrade, NULL);
	} else {
		http_reply(x, 200, "text/plain", "hello", 5);
	}
}

static int begin_with(struct journal *j, struct http_server_conf conf)
{
	int err;

	memset(&fx, 0, sizeof fx);
	fx.fd = fx.upgraded = fx.reset = -1;
	fx.conf = conf;
	fx.conf.h = on_request;
	err = loop_open(&fx.l, j);
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, on_snapshot, NULL);
	return err ? err : http_server_alloc(&fx.server, fx.l.env, &fx.conf);
}

static int begin_as(struct http_server_conf conf)
{
	return begin_with(NULL, conf);
}

static void end(void)
{
	if (fx.fd >= 0)
		close(fx.fd);
	if (fx.upgraded >= 0)
		close(fx.upgraded);
	fx.events = http_events_free(fx.events);
	fx.server = http_server_free(fx.server);
	loop_close(&fx.l);
}

/* ---- the client's side ---- */

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

static void turn_for(uint64_t ms)
{
	uint64_t until = now_ms() + ms;

	while (now_ms() < until)
		turn();
}

static int connect_from(const char *ip, int receive)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(http_server_port(fx.server))};
	struct sockaddr_in from = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "127.0.0.1", &sa.sin_addr);
	inet_pton(AF_INET, ip, &from.sin_addr);
	if (receive)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
	if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof from) ||
	    connect(fd, (struct sockaddr *)&sa, sizeof sa))
		return -1;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static bool dial(void)
{
	fx.fd = connect_from("127.0.0.1", 0);
	return fx.fd >= 0;
}

static void put(const char *text)
{
	CHECK_INT(send(fx.fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	turn();
}

static void read_some(void)
{
	ssize_t k = recv(fx.fd, fx.got + fx.n_got, sizeof fx.got - 1 - fx.n_got, 0);

	if (k > 0)
		fx.n_got += (size_t)k;
	else if (k == 0 || errno != EAGAIN)
		fx.ended = true;
	fx.got[fx.n_got] = '\0';
}

/* Until this text came; "" waits for the end of the connection. */
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

static unsigned connections(void)
{
	struct http_server_counts counts;

	http_server_counts(fx.server, &counts);
	return counts.connections;
}

static unsigned count(const char *text)
{
	unsigned n = 0;

	for (const char *p = fx.got; (p = strstr(p, text)); p++)
		n++;
	return n;
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: a\r\n\r\n"
#define UPGRADE	    "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"

/* ---- answers ---- */

TEST(http_hostile_upgrade_waits_for_the_answers_before_it)
{
	const char *one, *two;

	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	CHECK(dial());
	put(GET("/") UPGRADE);
	CHECK(await("HTTP/1.1 101"));
	one = strstr(fx.got, "\r\n\r\nhello");
	two = strstr(fx.got, "HTTP/1.1 101");
	CHECK(one && one < two);
	end();
}

TEST(http_hostile_upgrade_waits_for_a_slow_reader)
{
	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	fx.fd = connect_from("127.0.0.1", 4096);
	/* The socket holds a part of it. */
	for (unsigned i = 0; i < 100; i++)
		put(GET("/large"));
	put(UPGRADE);
	turn_for(10);
	CHECK_INT(fx.upgraded, -1);
	for (uint64_t until = now_ms() + 5000; fx.upgraded < 0 && now_ms() < until;) {
		fx.n_got = 0;
		turn();
		read_some();
	}
	CHECK(fx.upgraded >= 0);
	CHECK_INT(fx.requests, 101);
	end();
}

TEST(http_hostile_reader_that_is_always_behind_costs_no_more_than_it_leaves)
{
	static char part[32 << 10];
	const int sndbuf = 64 << 10;
	size_t most = 0;
	uint64_t until;
	unsigned n = 0;

	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	fx.fd = connect_from("127.0.0.1", 64 << 10);
	put(GET("/later"));
	CHECK(await_count(&fx.requests, 1));
	setsockopt(fx.kept->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof sndbuf);
	http_reply_begin(fx.kept, 200, NULL);
	for (until = now_ms() + 20000; n < 2000 && now_ms() < until;) {
		/* Something waits all the time. */
		while (http_out_waiting(fx.kept) < 32 * sizeof part) {
			CHECK_INT(http_reply_write(fx.kept, part, sizeof part), 0);
			n++;
		}
		turn();
		fx.n_got = 0;
		read_some();
		most = fx.kept->out.cap > most ? fx.kept->out.cap : most;
	}
	CHECK(n >= 2000);
	CHECK(most <= 4 << 20);
	end();
}

TEST(http_hostile_late_body_does_not_answer_twice)
{
	uint64_t until;

	CHECK_INT(begin_as((struct http_server_conf){.body_ms = 20}), 0);
	CHECK(dial());
	put("POST /body-later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
	CHECK(await_count(&fx.requests, 1));
	turn();
	/* The answer and the end of the body's time come in one turn of the loop. */
	for (until = now_ms() + 40; now_ms() < until;)
		;
	http_reply(fx.kept, 403, NULL, "no", 2);
	CHECK(await(""));
	CHECK_INT(count("HTTP/1.1 "), 1);
	CHECK(strstr(fx.got, "HTTP/1.1 403"));
	end();
}

TEST(http_hostile_answer_that_met_no_memory_ends_its_connection)
{
	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	CHECK(dial());
	put(GET("/later"));
	CHECK(await_count(&fx.requests, 1));
	test_no_memory(true);
	http_reply(fx.kept, 200, NULL, "hello", 5);
	test_no_memory(false);
	CHECK(await(""));
	CHECK_INT(connections(), 0);
	end();
}

/* Nothing of another answer may stand inside one that has begun. */
TEST(http_hostile_body_behind_the_head_of_its_answer)
{
	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	CHECK(dial());
	put("POST /both HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
	    "Content-Length: 3\r\n\r\nabc");
	CHECK(await("3\r\nabc\r\n0\r\n\r\n"));
	CHECK_INT(fx.taken, 0);
	CHECK_INT(count("HTTP/1.1"), 1);
	CHECK(await(""));
	close(fx.fd);
	fx.n_got = 0;
	fx.ended = false;
	CHECK(dial());
	put("POST /both HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\nabc");
	CHECK(await(""));
	CHECK_INT(fx.taken, EMSGSIZE);
	CHECK_INT(count("HTTP/1.1"), 1);
	CHECK(!strstr(fx.got, "0\r\n\r\n"));
	end();
}

/* ---- time ---- */

TEST(http_hostile_head_has_its_own_time_behind_a_body)
{
	CHECK_INT(begin_as((struct http_server_conf){.body_ms = 120}), 0);
	CHECK(dial());
	put("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
	turn_for(60);
	put("abc"
	    "GET / HTTP/1.1\r\n");
	CHECK(await("taken"));
	turn_for(100);
	put("Host: a\r\n\r\n");
	CHECK(await("hello"));
	CHECK(!strstr(fx.got, "408"));
	end();
}

/* ---- the end ---- */

static void on_drained(void *arg)
{
	(void)arg;
	fx.drained++;
}

TEST(http_hostile_drained_server_leaves_no_socket_file)
{
	char dir[32], path[64];

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/http", dir);
	CHECK_INT(begin_as((struct http_server_conf){.path = path}), 0);
	CHECK_INT(access(path, F_OK), 0);
	http_server_drain(fx.server, on_drained, NULL);
	CHECK(await_count(&fx.drained, 1));
	end();
	CHECK(access(path, F_OK) != 0);
	folder_remove(dir);
}

/* ---- event streams ---- */

TEST(http_hostile_publishing_all_the_time_starves_no_reader)
{
	static int fds[READERS];
	char ip[24], buf[4096];
	unsigned served = 0;

	CHECK_INT(begin_as((struct http_server_conf){.max_per_address = 1}), 0);
	for (unsigned i = 0; i < READERS; i++) {
		snprintf(ip, sizeof ip, "127.0.1.%u", 1 + i);
		fds[i] = connect_from(ip, 0);
		CHECK(fds[i] >= 0);
		send(fds[i], GET("/events"), strlen(GET("/events")), MSG_NOSIGNAL);
		turn();
	}
	CHECK(await_count(&fx.snapshots, READERS));
	turn_for(5);
	for (unsigned i = 0; i < READERS; i++)
		CHECK(recv(fds[i], buf, sizeof buf, 0) > 0);
	/* One event a turn of the loop. */
	for (unsigned i = 0; i < 100; i++) {
		http_events_publish(fx.events, NULL, "turn", "x", 1);
		turn();
	}
	for (unsigned i = 0; i < READERS; i++) {
		ssize_t k = recv(fds[i], buf, sizeof buf - 1, 0);

		buf[k > 0 ? k : 0] = '\0';
		served += strstr(buf, "event: turn") != NULL;
		close(fds[i]);
	}
	CHECK_INT(served, READERS);
	end();
}

TEST(http_hostile_last_event_reaches_every_reader)
{
	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	CHECK(dial());
	put(GET("/events"));
	CHECK(await("event: state"));
	http_events_publish(fx.events, NULL, "turn", "one", 3);
	http_events_publish(fx.events, NULL, "turn", "two", 3);
	turn();
	http_events_publish(fx.events, NULL, "turn", "three", 5);
	CHECK(await("data: three\n\n"));
	CHECK_INT(count("event: turn"), 3);
	end();
}

TEST(http_hostile_stream_may_be_freed_when_its_reader_goes)
{
	static char data[60000];

	memset(data, 'd', sizeof data);
	CHECK_INT(begin_as((struct http_server_conf){0}), 0);
	CHECK(dial());
	put(GET("/events"));
	CHECK(await("event: state"));
	/* It misses events; its connection breaks while it is told, before the loop knows. */
	fx.reset = fx.fd;
	fx.free_events = true;
	for (unsigned i = 0; i < 40; i++)
		http_events_publish(fx.events, NULL, "turn", data, sizeof data);
	CHECK(await_count(&fx.gone, 1));
	fx.fd = -1;
	CHECK(!fx.events);
	CHECK_INT(connections(), 0);
	end();
}

/* ---- replay ---- */

/* Three connections, of which two are gone when the third asks how many there are. */
static bool count_connections(void)
{
	int first = connect_from("127.0.0.1", 0), second = connect_from("127.0.0.1", 0);
	bool ok;

	send(first, GET("/"), strlen(GET("/")), MSG_NOSIGNAL);
	send(second, GET("/"), strlen(GET("/")), MSG_NOSIGNAL);
	ok = await_count(&fx.requests, 2);
	close(first);
	close(second);
	/* Read outside the session, so without a request. */
	for (uint64_t until = now_ms() + 5000; fx.server->counts.connections && now_ms() < until;)
		turn();
	if (!ok || !dial())
		return false;
	put(GET("/count"));
	return await("1 connections");
}

static int replay(const char *path, char digest[65], char recorded[65])
{
	const struct env_conf conf = {.loop = true, .replaying = true};
	struct journal_reader *r = NULL;
	char ends[1][65];
	uint64_t at;
	int err;

	memset(&fx, 0, sizeof fx);
	fx.fd = fx.upgraded = fx.reset = -1;
	fx.conf = (struct http_server_conf){.h = on_request};
	err = journal_open(&r, path);
	if (!err)
		err = env_alloc(&fx.l.env, &conf);
	if (!err)
		err = journal_attach(r, fx.l.env, 0);
	if (!err)
		err = tmr_alloc(&fx.l.deadline, fx.l.env, loop_late, &fx.l);
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, on_snapshot, NULL);
	if (!err)
		err = http_server_alloc(&fx.server, fx.l.env, &fx.conf);
	if (!err)
		err = journal_replay(r, &fx.l.env, 1, &at, ends);
	if (!err) {
		strcpy(recorded, ends[0]);
		env_digest(fx.l.env, digest);
	}
	journal_close(r);
	return err;
}

TEST(http_hostile_counts_are_replayed)
{
	char dir[32], path[64], digest[65] = "", recorded[65] = "?";
	struct journal *j = NULL;
	bool ok;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK_INT(begin_with(j, (struct http_server_conf){0}), 0);
	ok = count_connections();
	env_finish(fx.l.env);
	end();
	journal_free(j);
	CHECK(ok);
	CHECK_INT(replay(path, digest, recorded), 0);
	CHECK_STR(digest, recorded);
	end();
	folder_remove(dir);
}
