#include "ipc/http_guard.h"
#include "ipc/http.h"
#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <zlib.h>

enum { BOMB = 8 << 20 };

/* A web server on the same loop. */
static struct {
	struct loop l;
	struct http *h;
	struct http_guard *guard;
	struct evhttp *srv;
	unsigned hits;
	uint16_t port;
	char why[200];
} fx;

static struct {
	int err, status;
	size_t n_body;
	char body[64];
} got;

static void reply_bomb(struct evhttp_request *req, struct evbuffer *out)
{
	uLongf n = compressBound(BOMB);
	unsigned char *zeros = calloc(1, BOMB), *packed = malloc(n);

	if (zeros && packed && compress(packed, &n, zeros, BOMB) == Z_OK)
		evbuffer_add(out, packed, n);
	free(zeros);
	free(packed);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Encoding", "deflate");
	evhttp_send_reply(req, 200, "OK", out);
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct evbuffer *out = evbuffer_new();

	(void)arg;
	fx.hits++;
	if (strcmp(evhttp_request_get_uri(req), "/bomb") == 0) {
		reply_bomb(req, out);
	} else {
		evbuffer_add_printf(out, "hello");
		evhttp_send_reply(req, 200, "OK", out);
	}
	evbuffer_free(out);
}

static bool serve(void)
{
	struct sockaddr_in sa;
	socklen_t n = sizeof sa;
	struct evhttp_bound_socket *s;

	fx.srv = evhttp_new(env_base(fx.l.env));
	if (!fx.srv)
		return false;
	evhttp_set_gencb(fx.srv, on_request, NULL);
	s = evhttp_bind_socket_with_handle(fx.srv, "127.0.0.1", 0);
	if (!s || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&sa, &n))
		return false;
	fx.port = ntohs(sa.sin_port);
	return true;
}

/* allow: the server's own address is on the operator's list. */
static bool begin(bool allow)
{
	char list[64] = "";

	memset(&fx, 0, sizeof fx);
	memset(&got, 0, sizeof got);
	if (loop_open(&fx.l, NULL) || !serve())
		return false;
	if (allow)
		snprintf(list, sizeof list, "192.0.2.1:80, 127.0.0.1:%u", fx.port);
	return !http_guard_alloc(&fx.guard, list) &&
	       !http_alloc_guarded(&fx.h, fx.l.env, NULL, "Tester", fx.guard);
}

static void end(void)
{
	fx.h = http_free(fx.h);
	fx.guard = http_guard_free(fx.guard);
	if (fx.srv)
		evhttp_free(fx.srv);
	loop_close(&fx.l);
}

static void on_resp(const struct http_resp *r, void *arg)
{
	(void)arg;
	got.err = r->err;
	got.status = r->status;
	got.n_body = r->body.n;
	snprintf(got.body, sizeof got.body, "%.*s", (int)r->body.n, r->body.p ? r->body.p : "");
	env_stop(fx.l.env);
}

static bool fetch(const char *host, const char *tail, bool cut)
{
	char url[256];
	const struct http_call call = {
		.method = "GET", .url = url, .max_body = 1 << 20, .cut = cut};

	snprintf(url, sizeof url, "http://%s:%u%s", host, fx.port, tail);
	return http_request(NULL, fx.h, &call, on_resp, NULL) == 0 && loop_run(&fx.l);
}

TEST(http_guard_refuses_every_spelling_of_loopback)
{
	static const char *const spellings[] = {
		"127.0.0.1",	      "localhost",	 "2130706433", "0x7f.1",
		"0177.0.0.1",	      "127.1",		 "0",	       "[::1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.0.0.1.", "0x7f000001"};

	CHECK(begin(false));
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
		CHECK(fetch(spellings[i], "/", false));
		if (got.err != EACCES && got.err != EHOSTUNREACH)
			test_fail(__FILE__, __LINE__, "%s: error %d, status %d", spellings[i],
				  got.err, got.status);
	}
	CHECK_INT(fx.hits, 0);
	end();
}

TEST(http_guard_lets_through_what_the_operator_lists)
{
	CHECK(begin(true));
	CHECK(fetch("127.0.0.1", "/", false));
	CHECK_INT(got.err, 0);
	CHECK_STR(got.body, "hello");
	CHECK(fetch("127.0.0.2", "/", false));
	CHECK_INT(got.err, EACCES);
	CHECK_INT(fx.hits, 1);
	end();
}

TEST(http_guard_caps_what_a_body_unpacks_to)
{
	CHECK(begin(true));
	CHECK(fetch("127.0.0.1", "/bomb", false));
	CHECK_INT(got.err, EMSGSIZE);
	CHECK(fetch("127.0.0.1", "/bomb", true));
	CHECK_INT(got.err, 0);
	CHECK_INT(got.status, 200);
	CHECK_INT(got.n_body, 1 << 20);
	end();
}

TEST(http_guard_ignores_proxies_of_the_environment)
{
	char proxy[64];

	CHECK(begin(false));
	snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", fx.port);
	setenv("http_proxy", proxy, 1);
	CHECK(fetch("127.0.0.2", "/", false));
	unsetenv("http_proxy");
	CHECK_INT(got.err, EACCES);
	CHECK_INT(fx.hits, 0);
	end();
}

/* ---- a connection that was opened without the guard ---- */
static void *serve_twice(void *arg)
{
	static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char buf[2048];
	int fd = accept(*(int *)arg, NULL, NULL);

	while (recv(fd, buf, sizeof buf, 0) > 0)
		if (send(fd, reply, sizeof reply - 1, MSG_NOSIGNAL) < 0)
			break;
	close(fd);
	return NULL;
}

static size_t drop(char *p, size_t size, size_t n, void *arg)
{
	(void)p;
	(void)arg;
	return size * n;
}

TEST(http_guard_judges_a_connection_that_is_used_again)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct http_guard_watch watch = {0};
	struct http_guard *guard = NULL;
	CURL *easy = curl_easy_init();
	pthread_t thread;
	char url[64];
	long opened = -1;
	CURLcode first, second;

	CHECK(fd >= 0 && easy && !bind(fd, (struct sockaddr *)&sa, n) && !listen(fd, 4) &&
	      !getsockname(fd, (struct sockaddr *)&sa, &n) && !http_guard_alloc(&guard, NULL) &&
	      !pthread_create(&thread, NULL, serve_twice, &fd));
	snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(sa.sin_port));
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	first = curl_easy_perform(easy);
	watch.guard = guard;
	CHECK_INT(http_guard_set(&watch, easy), 0);
	second = curl_easy_perform(easy);
	curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &opened);
	curl_easy_cleanup(easy);
	pthread_join(thread, NULL);
	close(fd);
	http_guard_free(guard);
	CHECK_INT(first, CURLE_OK);
	CHECK_INT(second, CURLE_ABORTED_BY_CALLBACK);
	CHECK_INT(opened, 0);
	CHECK(watch.refused);
}

/* ---- URLs ---- */
TEST(http_guard_reads_only_usual_urls)
{
	static const char *const fine[] = {"http://example.org/a?b=c#d",
					   "https://example.org",
					   "HTTPS://Example.ORG:443/",
					   "https://example.org:80/",
					   "http://10.0.0.5:8080/x",
					   "http://[fd00::1]:9090/",
					   "http://1.1.1.1/"};
	static const char *const bad[] = {"",
					  "example.org",
					  "//example.org/",
					  "ftp://example.org/",
					  "file:///etc/passwd",
					  "gopher://example.org/",
					  "javascript:alert(1)",
					  "data:text/plain,x",
					  "http://user@example.org/",
					  "http://user:pass@example.org/",
					  "http://example.org:22/",
					  "http://10.0.0.5:81/",
					  "http://localhost/",
					  "http://router/",
					  "http://wiki.internal/",
					  "http:///",
					  "http://exa mple.org/",
					  "http://example.org:99999/"};
	struct http_guard *g = NULL;
	char why[200];

	CHECK_INT(http_guard_alloc(&g, "10.0.0.5:8080,[fd00::1]:9090"), 0);
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		if (!http_guard_url(g, fine[i], why, sizeof why) || *why)
			test_fail(__FILE__, __LINE__, "%s: %s", fine[i], why);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (http_guard_url(g, bad[i], why, sizeof why) || !*why)
			test_fail(__FILE__, __LINE__, "%s passed", bad[i]);
	http_guard_free(g);
}

TEST(http_guard_refuses_a_malformed_list)
{
	static const char *const bad[] = {"10.0.0.5", "10.0.0.5:", "10.0.0.5:0",  "10.0.0.5:70000",
					  "fd00::1",  "[fd00::1]", "[fd00::1:80", "example.org:80",
					  ":80",      "x",	   "10.0.0.5:8x"};
	struct http_guard *g = NULL;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_INT(http_guard_alloc(&g, bad[i]), EINVAL);
	CHECK(!g);
}

TEST(http_guard_judges_one_address_by_a_list)
{
	char why[200];

	CHECK(http_guard_allows("10.0.0.5:8080", "http://10.0.0.5:8080/a", why, sizeof why));
	CHECK(!http_guard_allows("", "http://10.0.0.5:8080/a", why, sizeof why));
	CHECK(strstr(why, "this address is not read") != NULL);
	CHECK(!http_guard_allows("10.0.0.5", "http://example.org/", why, sizeof why));
	CHECK_STR(why, "the address may not be read");
}

TEST(http_guard_joins_urls)
{
	char to[100];

	CHECK(http_guard_join("http://a.org/b/c?d", "../e?f#g", to, sizeof to));
	CHECK_STR(to, "http://a.org/e?f");
	CHECK(http_guard_join("http://a.org/b", "//c.org/", to, sizeof to));
	CHECK_STR(to, "http://c.org/");
	CHECK(http_guard_join("https://a.org/b", "http://127.1/", to, sizeof to));
	CHECK_STR(to, "http://127.0.0.1/");
	CHECK(!http_guard_join("https://a.org/b", "/aaaaaaaaaaaaaaaaaaaaaaaaaa", to, 20));
	CHECK(http_guard_host("https://A.org:443/b", to, sizeof to));
	CHECK_STR(to, "A.org");
}

TEST_OOM(http_guard_survives_without_memory)
{
	struct http_guard *g = NULL;

	CHECK_OOM(http_guard_alloc(&g, "10.0.0.5:80"), );
	http_guard_free(g);
}

TEST(http_guard_tells_its_ports)
{
	uint16_t ports[HTTP_GUARD_PORTS_MAX];
	struct http_guard *g;

	CHECK_INT(http_guard_alloc(&g, "10.0.0.5:8000, [fd00::1]:81"), 0);
	CHECK_INT(http_guard_ports(g, ports), 4);
	CHECK(ports[0] == 80 && ports[1] == 443 && ports[2] == 8000 && ports[3] == 81);
	http_guard_free(g);
}
