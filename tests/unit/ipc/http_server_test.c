/* The HTTP server against clients of raw bytes on loopback. */
#include "tests/unit/ipc/http_server_fixture.h"

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

static int look_at_cookie(const struct http_head *head, void *arg)
{
	(void)arg;
	http_head_copy(head, "cookie", fx.checked, sizeof fx.checked);
	return 0;
}

TEST(http_server_hides_cookies_from_all_but_their_check)
{
	memset(&fx, 0, sizeof fx);
	fx.secret = "secret-value";
	fx.conf.hide_cookies = true;
	fx.conf.checkh = look_at_cookie;
	CHECK_INT(begin_with(NULL), 0);
	CHECK_INT(ask("GET /cookie HTTP/1.1\r\nHost: a\r\ncookie: a=old; b=c\r\n\r\n"), 200);
	CHECK_STR(fx.checked, "a=old; b=c");
	CHECK_STR(fx.cookie, "**********");
	CHECK_INT(fx.cookie_err, 0);
	CHECK(strstr(fx.got, "Set-Cookie: a=secret-value; Path=/\r\n") != NULL);
	/* The next exchange of a connection is somebody else's. */
	CHECK_INT((int)fx.tag, 7);
	put("GET /cookie HTTP/1.1\r\nHost: a\r\n\r\n");
	CHECK(await_times("hello", 2));
	CHECK_INT((int)fx.tag, 7);
	fx.secret = "short";
	CHECK_INT(ask(GET("/cookie")), 200);
	CHECK_INT(fx.cookie_err, EINVAL);
	fx.secret = "ends\r\nthe line";
	CHECK_INT(ask(GET("/cookie")), 200);
	CHECK_INT(fx.cookie_err, EINVAL);
	end();
}

static bool file_has(const char *path, const char *text)
{
	static char bytes[1 << 16];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;

	if (f)
		fclose(f);
	return memmem(bytes, n, text, strlen(text)) != NULL;
}

/* A journal would have the bytes of such a head as they came. */
TEST(http_server_lets_no_malformed_head_with_cookies_into_a_journal)
{
	char dir[32], path[64];
	struct journal *j = NULL;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	memset(&fx, 0, sizeof fx);
	fx.conf.hide_cookies = true;
	CHECK_INT(begin_with(j), 0);
	CHECK_INT(ask("GET /?q=a%09b HTTP/1.1\r\nHost: a\r\nCookie: a=own-secret\r\n\r\n"), 400);
	CHECK_INT(ask("GET /%ff HTTP/1.1\r\nHost: a\r\nCookie: a=own-secret\r\n\r\n"), 400);
	CHECK_INT(ask("GET / HTTP/1.0\r\nHost: a\r\nCookie: a=own-secret\r\n\r\n"), 505);
	env_finish(fx.l.env);
	end();
	journal_free(j);
	CHECK(file_has(path, "{}"));
	CHECK(!file_has(path, "own-secret"));
	folder_remove(dir);
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

static int connect_nth(unsigned i)
{
	char ip[24];
	int fd;

	snprintf(ip, sizeof ip, "127.0.1.%u", 1 + i / 32);
	fd = connect_from(ip);
	turn();
	return fd;
}

static bool await_refusals(unsigned n)
{
	struct http_server_counts counts = {0};

	for (uint64_t until = now_ms() + 5000; counts.turned_away < n && now_ms() < until;) {
		turn();
		http_server_counts(fx.server, &counts);
	}
	return counts.connections == 1024 && counts.turned_away == n;
}

/* All wait for their answers: one that asked nothing for a second would give way. */
TEST(http_server_holds_a_thousand_connections_and_turns_more_away)
{
	static int fds[CLIENTS];
	struct rlimit files;
	unsigned open = 0;

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < 2 * CLIENTS + 64) {
		files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	CHECK_INT(begin(), 0);
	for (unsigned i = 0; i < 1024; i++) {
		fds[i] = connect_nth(i);
		send(fds[i], GET("/held"), strlen(GET("/held")), MSG_NOSIGNAL);
	}
	CHECK(await_count(&fx.n_held, 1024));
	for (unsigned i = 1024; i < CLIENTS; i++)
		fds[i] = connect_nth(i);
	CHECK(await_refusals(CLIENTS - 1024));
	for (unsigned i = 0; i < 1024; i++)
		http_reply(fx.held[i], 200, "text/plain", "hello", 5);
	for (unsigned i = 0; i < CLIENTS; i++) {
		char buf[64];

		turn();
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

TEST(http_server_ends_who_asks_nothing_for_who_does)
{
	struct http_server_counts counts;
	int fds[3];

	CHECK_INT((memset(&fx, 0, sizeof fx), fx.conf.max_connections = 3, begin_with(NULL)), 0);
	for (unsigned i = 0; i < 3; i++) {
		fds[i] = connect_from("127.0.0.1");
		turn();
	}
	/* Not at once: a client sends its request soon after it has connected. */
	CHECK(dial());
	CHECK(await(""));
	/* Nor one that waits for its answer. */
	CHECK_INT(send(fds[0], GET("/later"), strlen(GET("/later")), 0), strlen(GET("/later")));
	CHECK(await_count(&fx.requests, 1));
	for (uint64_t until = now_ms() + 1100; now_ms() < until;)
		turn();
	CHECK_INT(send(fds[2], "GET / HTTP", 10, 0), 10);
	CHECK_INT(ask(GET("/")), 200);
	http_server_counts(fx.server, &counts);
	CHECK_INT(counts.connections, 3);
	CHECK_INT(counts.turned_away, 1);
	CHECK_INT(fx.gone, 0);
	for (unsigned i = 0; i < 3; i++)
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
