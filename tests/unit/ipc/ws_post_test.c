#include "ipc/http.h"
#include "ipc/ws.h"
#include "tests/unit/ipc/loop.h"

static struct fixture {
	struct loop l;
	struct ws_ctx *ctx;
	struct ws_server *server;
	struct http *http;
	struct ws_post *post;
	char path[64], type[64], body[64];
	unsigned posts, gone;
	bool keep; /* the post is answered later */
	size_t big;
	int status, err;
	char got[64], got_type[64];
	size_t n;
} fx;

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	(void)path;
	(void)arg;
	ws_free(ws);
}

static void on_gone(void *arg)
{
	fx.gone++;
	ws_post_end(arg);
	env_stop(fx.l.env);
}

static void on_post(struct ws_post *post, void *arg)
{
	static char many[1000];
	size_t n;
	const uint8_t *body = ws_post_body(post, &n);

	(void)arg;
	fx.posts++;
	snprintf(fx.path, sizeof fx.path, "%s", ws_post_path(post));
	snprintf(fx.type, sizeof fx.type, "%s", ws_post_type(post));
	snprintf(fx.body, sizeof fx.body, "%.*s", (int)n, (const char *)body);
	ws_post_on_gone(post, on_gone, post);
	if (fx.keep) {
		ws_post_begin(post, 200, "text/plain");
		ws_post_write(post, "a", 1);
		fx.post = post;
		return;
	}
	ws_post_begin(post, 418, "text/plain");
	ws_post_write(post, "tea", 3);
	for (size_t i = 0; i < fx.big; i += sizeof many)
		ws_post_write(post, many, sizeof many);
	ws_post_end(post);
}

static void on_resp(const struct http_resp *r, void *arg)
{
	(void)arg;
	fx.status = r->status;
	fx.err = r->err;
	fx.n = r->body.n;
	snprintf(fx.got, sizeof fx.got, "%.*s", (int)(r->body.n < 50 ? r->body.n : 50), r->body.p);
	if (!http_header(r, "content-type", fx.got_type, sizeof fx.got_type))
		fx.got_type[0] = '\0';
	env_stop(fx.l.env);
}

static void on_part(const struct http_resp *r, void *arg)
{
	(void)arg;
	fx.n += r->body.n;
	if (fx.n == 1)
		env_stop(fx.l.env);
}

static bool begin(ws_post_h *posth)
{
	struct ws_listen_conf lc = {.host = "127.0.0.1", .posth = posth, .max_post = 50000};

	memset(&fx, 0, sizeof fx);
	return !loop_open(&fx.l, NULL) && !ws_ctx_alloc(&fx.ctx, fx.l.env, NULL) &&
	       !ws_listen(&fx.server, fx.ctx, &lc, on_accept, NULL) &&
	       !http_alloc(&fx.http, fx.l.env, NULL, "Tester");
}

static void end(void)
{
	http_free(fx.http);
	ws_server_free(fx.server);
	ws_ctx_free(fx.ctx);
	loop_close(&fx.l);
}

static int post(const void *body, size_t n, http_resp_h *parth, struct http_req **out)
{
	static const char *const headers[] = {"Content-Type: text/x", NULL};
	char url[128];
	const struct http_call call = {.method = "POST",
				       .url = url,
				       .headers = headers,
				       .body = body,
				       .body_len = n,
				       .parth = parth,
				       .timeout_ms = 5000};

	snprintf(url, sizeof url, "http://127.0.0.1:%u/v1/x?y=z", ws_server_port(fx.server));
	return http_request(out, fx.http, &call, on_resp, NULL);
}

TEST(a_server_of_websockets_takes_posts)
{
	static char much[50001];

	CHECK(begin(on_post));
	CHECK_INT(post("hello", 5, NULL, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.path, "/v1/x");
	CHECK_STR(fx.type, "text/x");
	CHECK_STR(fx.body, "hello");
	CHECK(fx.err == 0 && fx.status == 418);
	CHECK_STR(fx.got, "tea");
	CHECK_STR(fx.got_type, "text/plain");
	/* Large ones, both ways. */
	fx.big = 1000000;
	CHECK_INT(post(much, 50000, NULL, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.err == 0 && fx.n == 1000003);
	/* Too large, and empty: nobody is asked. */
	CHECK_INT(post(much, 50001, NULL, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.err != 0);
	CHECK_INT(post("", 0, NULL, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.err != 0);
	CHECK_INT(fx.posts, 2);
	CHECK_INT(fx.gone, 0);
	end();
}

TEST(an_answer_to_a_post_goes_out_as_it_is_made)
{
	struct http_req *req = NULL;

	CHECK(begin(on_post));
	fx.keep = true;
	CHECK_INT(post("hello", 5, on_part, &req), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.n, 1);
	CHECK_INT(ws_post_begin(fx.post, 200, "x"), EALREADY);
	CHECK_INT(ws_post_write(fx.post, "bc", 2), 0);
	ws_post_end(fx.post);
	CHECK(loop_run(&fx.l));
	CHECK(fx.status == 200 && fx.err == 0);
	/* A client that goes is told. */
	fx.n = 0;
	CHECK_INT(post("hello", 5, on_part, &req), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.n, 1);
	http_req_cancel(req);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.gone, 1);
	end();
}

TEST(posts_end_with_their_server)
{
	CHECK(begin(on_post));
	fx.keep = true;
	CHECK_INT(post("hello", 5, on_part, NULL), 0);
	CHECK(loop_run(&fx.l));
	ws_post_end(fx.post);
	end();
}
