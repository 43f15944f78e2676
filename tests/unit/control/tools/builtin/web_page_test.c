#include "control/tools/builtin/web_page.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "tests/unit/control/tools/builtin/web_server.h"

enum { HUGE_PAGE = 2 << 20 };

static struct {
	struct loop l;
	struct web_server server;
	struct http_guard *guard;
	struct http *http;
	struct web_pages *pages;
	unsigned hits, open, most_open;
	bool running;			/* a page may come before the loop runs */
	struct evhttp_request *held[4]; /* answered by and by */
} fx;

static struct {
	unsigned n, want;
	char why[200], url[400], title[100], text[400];
	bool cut;
} got;

static void reply_held(evutil_socket_t fd, short what, void *arg)
{
	struct evhttp_request *req = fx.held[0];

	(void)fd;
	(void)what;
	(void)arg;
	memmove(fx.held, fx.held + 1, sizeof fx.held - sizeof *fx.held);
	fx.open--;
	web_server_reply(req, 200, "text/plain", "slow", 4);
}

static void hold_request(struct evhttp_request *req)
{
	const struct timeval soon = {0, 10000};

	fx.held[fx.open++] = req;
	if (fx.open > fx.most_open)
		fx.most_open = fx.open;
	event_base_once(env_base(fx.l.env), -1, EV_TIMEOUT, reply_held, NULL, &soon);
}

static void reply_huge(struct evhttp_request *req)
{
	char *text = malloc(HUGE_PAGE);

	memset(text, 'x', HUGE_PAGE);
	web_server_reply(req, 200, "text/plain", text, HUGE_PAGE);
	free(text);
}

static void redirect(struct evhttp_request *req, const char *to)
{
	char url[200];

	snprintf(url, sizeof url, *to == ':' ? "http://127.0.0.2%s%u/" : "%s", to, fx.server.port);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Location", url);
	web_server_reply(req, 302, NULL, "", 0);
}

static void on_request(struct evhttp_request *req, void *arg)
{
	static const char page[] = "<title>T\xe9</title><p>caf\xe9";
	const char *uri = evhttp_request_get_uri(req);

	(void)arg;
	fx.hits++;
	if (strcmp(uri, "/page") == 0)
		web_server_reply(req, 200, "text/html; charset=iso-8859-1", page, sizeof page - 1);
	else if (strcmp(uri, "/slow") == 0)
		hold_request(req);
	else if (strcmp(uri, "/huge") == 0)
		reply_huge(req);
	else if (strcmp(uri, "/image") == 0)
		web_server_reply(req, 200, "image/png", "x", 1);
	else if (strcmp(uri, "/moved") == 0)
		redirect(req, "page");
	else if (strcmp(uri, "/out") == 0)
		redirect(req, ":");
	else if (strcmp(uri, "/file") == 0)
		redirect(req, "file:///etc/passwd");
	else if (strcmp(uri, "/round") == 0)
		redirect(req, "/round");
	else if (strcmp(uri, "/limited") == 0)
		web_server_reply(req, 429, NULL, "", 0);
	else
		web_server_reply(req, 404, NULL, "", 0);
}

static bool begin(void)
{
	char allowed[40];

	memset(&fx, 0, sizeof fx);
	memset(&got, 0, sizeof got);
	got.want = 1;
	if (loop_open(&fx.l, NULL) || !web_server_open(&fx.server, &fx.l, on_request))
		return false;
	snprintf(allowed, sizeof allowed, "127.0.0.1:%u", fx.server.port);
	return !http_guard_alloc(&fx.guard, allowed) &&
	       !http_alloc_guarded(&fx.http, fx.l.env, NULL, "Tester", fx.guard) &&
	       !web_pages_alloc(&fx.pages, fx.l.env, fx.http, fx.guard);
}

static void end(void)
{
	fx.pages = web_pages_free(fx.pages);
	fx.http = http_free(fx.http);
	fx.guard = http_guard_free(fx.guard);
	web_server_close(&fx.server);
	loop_close(&fx.l);
}

static void on_page(const struct web_page *p, void *arg)
{
	(void)arg;
	got.n++;
	snprintf(got.why, sizeof got.why, "%s", p->why ? p->why : "");
	snprintf(got.url, sizeof got.url, "%s", p->url);
	snprintf(got.title, sizeof got.title, "%s", p->title ? p->title : "");
	snprintf(got.text, sizeof got.text, "%s", p->text ? p->text : "");
	got.cut = p->cut;
	if (got.n >= got.want && fx.running)
		env_stop(fx.l.env);
}

static struct web_page_read *start(const char *tail)
{
	struct web_page_read *r = NULL;
	char url[400];

	snprintf(url, sizeof url, "%s%s", *tail == '/' ? fx.server.base : "", tail);
	if (web_page_read(&r, fx.pages, url, on_page, NULL))
		test_fail(__FILE__, __LINE__, "%s: not started", url);
	return r;
}

static bool run(void)
{
	bool ok;

	fx.running = true;
	ok = loop_run(&fx.l);
	fx.running = false;
	return ok;
}

/* The clause of a page that fails, or its text. */
static const char *read_page(const char *tail)
{
	got.n = 0;
	if (start(tail) && !run())
		return "(late)";
	return *got.why ? got.why : got.text;
}

TEST(web_page_comes_as_text)
{
	CHECK(begin());
	CHECK_STR(read_page("/page"), "caf\u00e9\n");
	CHECK_STR(got.title, "T\u00e9");
	CHECK(!got.cut);
	CHECK_STR(read_page("/moved"), "caf\u00e9\n");
	CHECK(strcmp(got.url + strlen(fx.server.base), "/page") == 0);
	CHECK(*read_page("/huge") == 'x' && got.cut);
	end();
}

TEST(web_page_that_cannot_be_read_has_a_reason)
{
	CHECK(begin());
	CHECK_STR(read_page("/none"), "the site answered with the status 404");
	CHECK_STR(read_page("/image"), "it is no text");
	CHECK_STR(read_page("/round"), "it leads from one address to the next without end");
	CHECK_INT(fx.hits, 2 + 1 + WEB_PAGE_REDIRECTS);
	CHECK_STR(read_page("/file"), "this address is not read: only http and https are read");
	CHECK_STR(read_page("http://localhost/"),
		  "this address is not read: its host is not a public name");
	CHECK_STR(read_page("http://127.0.0.1/"), "its address is not public");
	end();
}

TEST(web_page_redirect_cannot_leave_the_public_web)
{
	unsigned hits;

	CHECK(begin());
	CHECK_STR(read_page("/out"),
		  "this address is not read: only the ports 80 and 443 are read");
	hits = fx.hits;
	CHECK_INT(hits, 1);
	end();
}

TEST(web_page_asks_a_host_one_page_at_a_time)
{
	struct web_page_read *second;

	CHECK(begin());
	got.want = 3;
	CHECK(start("/slow"));
	second = start("/slow");
	CHECK(second && start("/slow") && start("/slow"));
	web_page_cancel(second);
	CHECK(run());
	CHECK_INT(got.n, 3);
	CHECK_INT(fx.hits, 3);
	CHECK_INT(fx.most_open, 1);
	end();
}

TEST(web_page_leaves_a_host_alone_that_asks_for_it)
{
	CHECK(begin());
	got.want = 2;
	CHECK(start("/limited") && start("/page"));
	CHECK(run());
	CHECK_INT(got.n, 2);
	CHECK_INT(fx.hits, 1);
	CHECK_STR(read_page("/page"), "the site asked for fewer requests; try again later");
	CHECK_INT(fx.hits, 1);
	end();
}

TEST(web_pages_can_be_freed_while_reading)
{
	CHECK(begin());
	CHECK(start("/slow") && start("/slow"));
	fx.pages = web_pages_free(fx.pages);
	CHECK_INT(got.n, 0);
	end();
}

static void ignore_page(const struct web_page *p, void *arg)
{
	(void)p;
	(void)arg;
}

TEST_OOM(web_page_survives_without_memory)
{
	struct web_page_read *r = NULL;
	struct web_pages *w = NULL;
	struct env *env = NULL;
	struct http *http = NULL;
	const struct env_conf conf = {.loop = true};
	int err = env_alloc(&env, &conf);

	CHECK_OOM(err, );
	err = http_alloc(&http, env, NULL, "Tester");
	if (!err)
		err = web_pages_alloc(&w, env, http, NULL);
	if (!err)
		err = web_page_read(&r, w, "http://127.0.0.1:9/", ignore_page, NULL);
	web_pages_free(w);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, );
}
