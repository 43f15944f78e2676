/* Event streams of the HTTP server, its journal, and what it does without memory. */
#include "tests/unit/ipc/http_server_fixture.h"

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

/* True if the file has the text. */
static bool has_text(const char *path, const char *text)
{
	char buf[8192];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(buf, 1, sizeof buf, f) : 0;

	if (f)
		fclose(f);
	return memmem(buf, n, text, strlen(text)) != NULL;
}

TEST(http_server_keeps_cookies_of_invalid_heads_out_of_a_journal)
{
#define COOKIE "Host: a\r\nCookie: a=long-lived\r\n\r\n"
	char dir[32], path[64];
	struct journal *j = NULL;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	memset(&fx, 0, sizeof fx);
	fx.conf.hide_cookies = true;
	CHECK_INT(begin_with(j), 0);
	CHECK_INT(ask("GET /plain HTTP/1.1\r\n" COOKIE), 200);
	CHECK_INT(ask("GET /a?q=a%09b HTTP/1.1\r\n" COOKIE), 400);
	CHECK_INT(ask("GET /%ff HTTP/1.1\r\n" COOKIE), 400);
	CHECK_INT(ask("GET / HTTP/1.0\r\n" COOKIE), 505);
	env_finish(fx.l.env);
	end();
	journal_free(j);
	CHECK(has_text(path, "/plain") && has_text(path, "Cookie: ****"));
	CHECK(!has_text(path, "long-lived"));
	folder_remove(dir);
#undef COOKIE
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
