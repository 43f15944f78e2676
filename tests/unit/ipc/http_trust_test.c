/* The certificates that a client of HTTP trusts. */
#include "ipc/http.h"
#include "ipc/ws.h"
#include "tests/unit/ipc/loop.h"

static struct loop l;
static unsigned n_responses;
static int err; /* of the last response */

static void on_resp(const struct http_resp *r, void *arg)
{
	(void)arg;
	n_responses++;
	err = r->err;
	env_stop(l.env);
}

static bool make_certs(const char *dir)
{
	char cmd[1024];

	snprintf(cmd, sizeof cmd,
		 "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
		 "-keyout key.pem -out ca.pem -days 2 -subj /CN=localhost "
		 "-addext subjectAltName=DNS:localhost 2>/dev/null",
		 dir);
	return system(cmd) == 0;
}

static void on_ws(struct ws *ws, const char *path, void *arg)
{
	(void)path;
	(void)arg;
	ws_free(ws);
}

TEST(http_trusts_a_given_ca_and_else_only_the_systems)
{
	struct http *h;
	char dir[32], ca[64], key[64], url[64];
	struct ws_listen_conf lc = {.host = "127.0.0.1", .cert_file = ca, .key_file = key};
	const struct http_call call = {.method = "GET", .url = url, .timeout_ms = 10000};
	struct ws_server *server;
	struct ws_ctx *ctx;

	n_responses = 0;
	CHECK(folder_make(dir) && make_certs(dir));
	snprintf(ca, sizeof ca, "%s/ca.pem", dir);
	snprintf(key, sizeof key, "%s/key.pem", dir);
	CHECK_INT(loop_open(&l, NULL), 0);
	CHECK_INT(ws_ctx_alloc(&ctx, l.env, NULL), 0);
	CHECK_INT(ws_listen(&server, ctx, &lc, on_ws, NULL), 0);
	snprintf(url, sizeof url, "https://localhost:%u/", ws_server_port(server));
	CHECK_INT(http_alloc(&h, l.env, NULL, "Tester"), 0);
	CHECK_INT(http_request(NULL, h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&l));
	CHECK_INT(err, EPROTO);
	h = http_free(h);
	/* Trusted, the handshake succeeds; what a WebSocket server answers to a plain GET is its
	 * own affair. */
	CHECK_INT(http_alloc(&h, l.env, ca, "Tester"), 0);
	CHECK_INT(http_request(NULL, h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&l));
	CHECK(n_responses == 2 && err != EPROTO);
	h = http_free(h);
	CHECK_INT(http_alloc(&h, l.env, "/nowhere/ca.pem", "Tester"), 0);
	CHECK_INT(http_request(NULL, h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&l));
	CHECK_INT(err, EPROTO);
	h = http_free(h);
	ws_server_free(server);
	ws_ctx_free(ctx);
	loop_close(&l);
	folder_remove(dir);
}
