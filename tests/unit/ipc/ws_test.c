#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/ipc/own_memory.h"

#include <sys/stat.h>
#include <unistd.h>

static const uint64_t DEADLINE_NS = 60000000000;

/* A server that echoes and, on the word "close N", closes with N; a client that the tests drive. */
static struct fixture {
	struct env *env;
	struct ws_ctx *ctx;
	struct ws_server *server;
	struct ws *srv[8], *cli;
	unsigned n_srv;
	struct tmr *deadline;
	bool late;
	char url[64], path[64], auth[64], dir[64], ca[96];
	/* what the client saw */
	bool open, closed;
	uint16_t code;
	char reason[256];
	unsigned texts, binaries;
	uint8_t *last;
	size_t last_n;
	unsigned want_texts;
	bool free_on_text;
} fx;

static void on_deadline(void *arg)
{
	(void)arg;
	fx.late = true;
	env_stop(fx.env);
}

static void srv_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
		      size_t len, void *arg)
{
	unsigned close_with;
	char word[32];

	(void)code;
	(void)arg;
	if (ev == WS_TEXT && len < sizeof word) {
		snprintf(word, sizeof word, "%.*s", (int)len, (const char *)data);
		if (sscanf(word, "close %u", &close_with) == 1) {
			ws_close(ws, (uint16_t)close_with, "as asked");
			return;
		}
		if (strcmp(word, "abort") == 0) {
			ws_abort(ws);
			return;
		}
	}
	if (ev == WS_TEXT || ev == WS_BINARY)
		ws_send(ws, ev == WS_TEXT, data, len);
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	(void)arg;
	snprintf(fx.path, sizeof fx.path, "%s", path);
	snprintf(fx.auth, sizeof fx.auth, "%s", ws_header(ws, "authorization"));
	fx.srv[fx.n_srv++] = ws;
	ws_set_handler(ws, srv_event, NULL);
}

static void cli_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
		      size_t len, void *arg)
{
	(void)arg;
	switch (ev) {
	case WS_OPEN:
		fx.open = true;
		env_stop(fx.env);
		break;
	case WS_TEXT:
	case WS_BINARY:
		fx.texts += ev == WS_TEXT;
		fx.binaries += ev == WS_BINARY;
		free(fx.last);
		fx.last = malloc(len + 1);
		memcpy(fx.last, data, len);
		fx.last_n = len;
		if (fx.free_on_text) {
			ws_free(ws);
			fx.cli = NULL;
		}
		if (fx.texts + fx.binaries >= fx.want_texts)
			env_stop(fx.env);
		break;
	case WS_CLOSED:
		fx.closed = true;
		fx.code = code;
		snprintf(fx.reason, sizeof fx.reason, "%.*s", (int)len, (const char *)data);
		env_stop(fx.env);
		break;
	}
}

/* Until the next thing worth stopping for. False when the deadline passed. */
static bool turn(void)
{
	tmr_start(fx.deadline, DEADLINE_NS);
	env_run(fx.env);
	tmr_stop(fx.deadline);
	return !fx.late;
}

static bool make_certs(void)
{
	char cmd[2048];

	snprintf(cmd, sizeof cmd,
		 "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
		 "-keyout ca.key -out ca.pem "
		 "-days 2 -subj /CN=test-ca -addext basicConstraints=critical,CA:TRUE 2>/dev/null "
		 "&& "
		 "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout s.key "
		 "-out s.csr -subj /CN=localhost "
		 "2>/dev/null && printf 'subjectAltName=DNS:localhost' > ext && "
		 "openssl x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out s.pem "
		 "-days 2 -extfile ext "
		 "2>/dev/null",
		 fx.dir);
	return system(cmd) == 0;
}

static bool begin(bool tls, bool trust, size_t max_message)
{
	struct env_conf ec = {.loop = true};
	struct ws_listen_conf lc = {.host = "127.0.0.1", .max_message = max_message};
	char cert[96], key[96];

	memset(&fx, 0, sizeof fx);
	fx.want_texts = 1;
	strcpy(fx.dir, "/tmp/parley-ws-XXXXXX");
	if (!mkdtemp(fx.dir) || (tls && !make_certs()))
		return false;
	snprintf(fx.ca, sizeof fx.ca, "%s/ca.pem", fx.dir);
	snprintf(cert, sizeof cert, "%s/s.pem", fx.dir);
	snprintf(key, sizeof key, "%s/s.key", fx.dir);
	if (tls) {
		lc.cert_file = cert;
		lc.key_file = key;
	}
	if (env_alloc(&fx.env, &ec) || ws_ctx_alloc(&fx.ctx, fx.env, tls && trust ? fx.ca : NULL) ||
	    tmr_alloc(&fx.deadline, fx.env, on_deadline, NULL) ||
	    ws_listen(&fx.server, fx.ctx, &lc, on_accept, NULL))
		return false;
	snprintf(fx.url, sizeof fx.url, "%s://localhost:%u", tls ? "wss" : "ws",
		 ws_server_port(fx.server));
	return true;
}

static bool dial(const char *tail)
{
	static const char *const headers[] = {"Authorization: Bearer abc", NULL};
	char url[256];
	struct ws_dial d = {.url = url, .headers = headers, .connect_ms = 1500};

	snprintf(url, sizeof url, "%s%s", fx.url, tail);
	return ws_connect(&fx.cli, fx.ctx, &d, cli_event, NULL) == 0 && !fx.open && turn();
}

static void end(void)
{
	char cmd[128];

	ws_free(fx.cli);
	for (unsigned i = 0; i < fx.n_srv; i++)
		ws_free(fx.srv[i]);
	ws_server_free(fx.server);
	ws_ctx_free(fx.ctx);
	tmr_free(fx.deadline);
	env_free(fx.env);
	free(fx.last);
	snprintf(cmd, sizeof cmd, "rm -rf %s", fx.dir);
	if (system(cmd))
		printf("%s stays\n", fx.dir);
}

static bool say(const char *text)
{
	return ws_send(fx.cli, true, text, strlen(text)) == 0 && turn();
}

TEST(ws_echo_plain)
{
	CHECK(begin(false, false, 0));
	CHECK(dial("/?v=8&x=1"));
	CHECK(fx.open);
	CHECK_STR(fx.path, "/?v=8&x=1");
	CHECK_STR(fx.auth, "Bearer abc");
	CHECK(say("hello"));
	CHECK_MEM(fx.last, fx.last_n, "hello", 5);
	CHECK_INT(fx.texts, 1);
	CHECK_INT(ws_send(fx.cli, false, "\1\2\3", 3), 0);
	fx.want_texts = 2;
	CHECK(turn());
	CHECK_INT(fx.binaries, 1);
	CHECK_MEM(fx.last, fx.last_n, "\1\2\3", 3);
	end();
}

TEST(ws_query_without_slash)
{
	CHECK(begin(false, false, 0));
	CHECK(dial("?v=8"));
	CHECK(fx.open);
	CHECK_STR(fx.path, "/?v=8");
	end();
}

TEST(ws_tls_by_name)
{
	CHECK(begin(true, true, 0));
	CHECK(dial("/"));
	CHECK(fx.open);
	CHECK(say("over tls"));
	CHECK_MEM(fx.last, fx.last_n, "over tls", 8);
	end();
}

TEST(ws_tls_untrusted_is_refused)
{
	CHECK(begin(true, false, 0));
	CHECK(dial("/"));
	CHECK(!fx.open);
	CHECK(fx.closed);
	CHECK_INT(fx.code, 1006);
	CHECK(strstr(fx.reason, "certificate"));
	end();
}

TEST(ws_close_codes_arrive)
{
	static const unsigned codes[] = {1000, 4004, 4006, 4014, 4017, 4022};

	CHECK(begin(false, false, 0));
	for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
		char word[32];

		fx.open = fx.closed = false;
		CHECK(dial("/"));
		snprintf(word, sizeof word, "close %u", codes[i]);
		CHECK(say(word));
		CHECK(fx.closed);
		CHECK_INT(fx.code, codes[i]);
		CHECK_STR(fx.reason, "as asked");
		CHECK_INT(ws_send(fx.cli, true, "x", 1), ENOTCONN);
		fx.cli = ws_free(fx.cli);
	}
	end();
}

TEST(ws_abort_gives_1006)
{
	CHECK(begin(false, false, 0));
	CHECK(dial("/"));
	CHECK(say("abort"));
	CHECK(fx.closed);
	CHECK_INT(fx.code, 1006);
	end();
}

TEST(ws_own_close_is_told)
{
	CHECK(begin(false, false, 0));
	CHECK(dial("/"));
	ws_close(fx.cli, 4200, "zombie");
	CHECK(turn());
	CHECK(fx.closed);
	CHECK_INT(fx.code, 4200);
	end();
}

TEST(ws_refused_port)
{
	CHECK(begin(false, false, 0));
	strcpy(fx.url, "ws://127.0.0.1:1");
	CHECK(dial("/"));
	CHECK(fx.closed);
	CHECK_INT(fx.code, 1006);
	end();
}

TEST(ws_bad_urls)
{
	static const char *const bad[] = {"http://x",	 "ws://",      "ws://h:0/", "ws://h:99999/",
					  "ws://h:12x/", "ws://h/a b", ""};
	struct ws_dial d = {0};

	CHECK(begin(false, false, 0));
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		d.url = bad[i];
		CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, cli_event, NULL), EINVAL);
	}
	end();
}

TEST(ws_big_messages_arrive_whole)
{
	size_t n = 700000;
	char *big = malloc(n);

	CHECK(big);
	for (size_t i = 0; i < n; i++)
		big[i] = (char)('a' + i % 26);
	CHECK(begin(false, false, 0));
	CHECK(dial("/"));
	CHECK_INT(ws_send(fx.cli, true, big, n), 0);
	CHECK(ws_pending(fx.cli) == n);
	CHECK(turn());
	CHECK_MEM(fx.last, fx.last_n, big, n);
	/* Many at once keep their order. */
	fx.want_texts = fx.texts + 200;
	for (int i = 0; i < 200; i++)
		CHECK_INT(ws_send(fx.cli, true, big, (size_t)i + 1), 0);
	CHECK(turn());
	CHECK_INT(fx.last_n, 200);
	free(big);
	end();
}

TEST(ws_too_big_closes_1009)
{
	char big[5000];

	memset(big, 'x', sizeof big);
	CHECK(begin(false, false, 1000));
	CHECK(dial("/"));
	CHECK_INT(ws_send(fx.cli, true, big, sizeof big), 0);
	CHECK(turn());
	CHECK(fx.closed);
	CHECK_INT(fx.code, 1009);
	end();
}

TEST(ws_free_inside_own_handler)
{
	CHECK(begin(false, false, 0));
	CHECK(dial("/"));
	fx.free_on_text = true;
	CHECK(say("go"));
	CHECK(!fx.cli);
	end();
}

TEST(ws_free_while_connecting)
{
	struct ws_dial d = {.url = fx.url};

	CHECK(begin(false, false, 0));
	CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, cli_event, NULL), 0);
	fx.cli = ws_free(fx.cli);
	d.url = "ws://name.invalid/";
	CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, cli_event, NULL), 0);
	fx.cli = ws_free(fx.cli);
	end();
}

/* ---- beside an HTTP server ---- */

static void on_upgrade(int fd, const char *head, size_t n, void *arg)
{
	ws_server_adopt(arg, fd, head, n);
}

static void on_http(struct http_exchange *x, const struct http_head *head, void *arg)
{
	if (head->websocket && strcmp(head->path, "/room") == 0)
		http_upgrade(x, on_upgrade, arg);
	else
		http_reply(x, 404, NULL, NULL, 0);
}

TEST(a_websocket_is_taken_over_from_an_http_server)
{
	const struct ws_listen_conf lc = {.host = NULL};
	struct http_server_conf hc = {.h = on_http};
	struct http_server *http;
	struct ws_server *ws;

	CHECK(begin(false, false, 0));
	CHECK_INT(ws_listen(&ws, fx.ctx, &lc, on_accept, NULL), 0);
	hc.arg = ws;
	CHECK_INT(http_server_alloc(&http, fx.env, &hc), 0);
	snprintf(fx.url, sizeof fx.url, "ws://127.0.0.1:%u", http_server_port(http));
	CHECK(dial("/room?a=b%20c"));
	CHECK(fx.open);
	CHECK_STR(fx.path, "/room?a=b c");
	CHECK_STR(fx.auth, "Bearer abc");
	CHECK(say("hello"));
	CHECK_MEM(fx.last, fx.last_n, "hello", 5);
	fx.cli = ws_free(fx.cli);
	fx.open = false;
	CHECK(dial("/elsewhere"));
	CHECK(fx.closed && !fx.open);
	http_server_free(http);
	ws_server_free(ws);
	end();
}

/* ---- messages that hold a token ---- */

/* What the client keeps of a message is the test's. */
static void forget_last(void)
{
	if (fx.last)
		explicit_bzero(fx.last, fx.last_n);
	free(fx.last);
	fx.last = NULL;
	fx.texts = 0;
}

/* Sends a message that the server sends back; then runs one more iteration of the loop, as any loop
 * does. */
static bool there_and_back(struct own_memory *m, size_t n)
{
	bool fine =
		ws_send(fx.cli, true, own_memory_message(m, n), n) == 0 && turn() && fx.last_n == n;

	forget_last();
	tmr_start(fx.deadline, 20 * NS_PER_MS);
	env_run(fx.env);
	fx.late = false;
	return fine;
}

/* Neither our buffers, nor those of lws and OpenSSL. The longer one comes in pieces. */
TEST(ws_leaves_nothing_of_a_message_in_memory)
{
	struct own_memory *m = NULL;

	CHECK(own_memory_begin(&m));
	CHECK(begin(true, true, 0));
	CHECK(dial("/"));
	CHECK(there_and_back(m, 600));
	CHECK_INT(own_memory_count(m), 0);
	CHECK(there_and_back(m, 30000));
	CHECK_INT(own_memory_count(m), 0);
	end();
	CHECK_INT(own_memory_count(m), 0);
	own_memory_end(m);
}

TEST(ws_leaves_nothing_of_an_unsent_message_in_memory)
{
	struct own_memory *m = NULL;

	CHECK(own_memory_begin(&m));
	CHECK(begin(false, false, 0));
	CHECK(dial("/"));
	CHECK_INT(ws_send(fx.cli, true, own_memory_message(m, 900), 900), 0);
	CHECK_INT(own_memory_count(m), 1); /* the search finds what is there */
	end();
	CHECK_INT(own_memory_count(m), 0);
	own_memory_end(m);
}
