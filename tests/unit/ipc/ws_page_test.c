#include "ipc/http.h"
#include "ipc/ws.h"
#include "tests/unit/ipc/loop.h"

static struct fixture {
	struct loop l;
	struct ws_ctx *ctx;
	struct ws_server *server;
	struct http *http;
	char asked[64], host[64], big[100000];
	int status;
	char body[128], type[64], policy[64], cache[32];
	size_t n;
} fx;

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	(void)path;
	(void)arg;
	ws_free(ws);
}

static void on_page(const char *path, const char *host, struct ws_page *page, void *arg)
{
	(void)arg;
	snprintf(fx.asked, sizeof fx.asked, "%s", path);
	snprintf(fx.host, sizeof fx.host, "%s", host);
	if (strcmp(path, "/") == 0)
		*page = (struct ws_page){200, "text/html", "default-src 'self'", "hello", 5};
	if (strcmp(path, "/big") == 0)
		*page = (struct ws_page){200, "text/plain", NULL, fx.big, sizeof fx.big};
	if (strcmp(path, "/no") == 0)
		page->status = 403;
}

static void on_resp(const struct http_resp *r, void *arg)
{
	(void)arg;
	fx.status = r->status;
	fx.n = r->body.n;
	snprintf(fx.body, sizeof fx.body, "%.*s", (int)(r->body.n < 100 ? r->body.n : 100),
		 r->body.p);
	if (!http_header(r, "content-type", fx.type, sizeof fx.type))
		fx.type[0] = '\0';
	if (!http_header(r, "content-security-policy", fx.policy, sizeof fx.policy))
		fx.policy[0] = '\0';
	if (!http_header(r, "cache-control", fx.cache, sizeof fx.cache))
		fx.cache[0] = '\0';
	env_stop(fx.l.env);
}

static int begin(ws_page_h *pageh)
{
	struct ws_listen_conf lc = {.host = "127.0.0.1", .pageh = pageh};
	int err;

	memset(&fx, 0, sizeof fx);
	memset(fx.big, 'x', sizeof fx.big);
	err = loop_open(&fx.l, NULL);
	if (!err)
		err = ws_ctx_alloc(&fx.ctx, fx.l.env, NULL);
	if (!err)
		err = ws_listen(&fx.server, fx.ctx, &lc, on_accept, NULL);
	if (!err)
		err = http_alloc(&fx.http, fx.l.env, NULL, "Tester");
	return err;
}

static int ask(const char *method, const char *path)
{
	char url[128];
	const struct http_call call = {.method = method, .url = url, .timeout_ms = 3000};
	int err;

	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", ws_server_port(fx.server), path);
	fx.status = 0;
	err = http_request(NULL, fx.http, &call, on_resp, NULL);
	return err || !loop_run(&fx.l) ? -1 : fx.status;
}

static void end(void)
{
	http_free(fx.http);
	ws_server_free(fx.server);
	ws_ctx_free(fx.ctx);
	loop_close(&fx.l);
}

TEST(a_server_of_websockets_serves_pages)
{
	char want[32];

	CHECK_INT(begin(on_page), 0);
	CHECK_INT(ask("GET", "/?a=b"), 200);
	snprintf(want, sizeof want, "127.0.0.1:%u", ws_server_port(fx.server));
	CHECK_STR(fx.asked, "/");
	CHECK_STR(fx.host, want);
	CHECK_STR(fx.body, "hello");
	CHECK_STR(fx.type, "text/html");
	CHECK_STR(fx.policy, "default-src 'self'");
	CHECK_STR(fx.cache, "no-store");
	/* Again, on a connection that may have been kept. */
	CHECK_INT(ask("GET", "/big"), 200);
	CHECK_INT(fx.n, sizeof fx.big);
	CHECK_STR(fx.policy, "default-src 'none'");
	CHECK_INT(ask("GET", "/nowhere"), 404);
	CHECK_STR(fx.body, "not here\n");
	CHECK_INT(ask("GET", "/no"), 403);
	end();
}

TEST(a_server_without_pages_has_none_and_other_methods_have_none)
{
	CHECK_INT(begin(NULL), 0);
	CHECK_INT(ask("GET", "/"), 404);
	end();
	CHECK_INT(begin(on_page), 0);
	CHECK_INT(ask("DELETE", "/"), 405);
	CHECK_STR(fx.asked, "");
	end();
}

TEST_OOM(pages_survive_no_memory)
{
	int err = begin(on_page);

	/* A request that found no memory is closed; the client sees an error. */
	if (!err)
		ask("GET", "/big");
	end();
	CHECK_OOM(err, (void)0);
}
