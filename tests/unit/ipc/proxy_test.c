#include "ipc/proxy.h"
#include "tests/test.h"

static const char *const variables[] = {"ws_proxy",   "WS_PROXY",   "wss_proxy",   "WSS_PROXY",
					"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
					"all_proxy",  "ALL_PROXY",  "no_proxy",	   "NO_PROXY"};

static void clear_environment(void)
{
	for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
}

/* The proxy's port for a host of port 443, 0 for none, -1 for an error; one variable is set. */
static int choose(const char *variable, const char *value, bool tls, const char *host)
{
	struct proxy p;

	setenv(variable, value, 1);
	return proxy_choose(&p, tls, host, 443) ? -1 : p.port;
}

TEST(proxy_variables_are_curls)
{
	clear_environment();
	CHECK_INT(choose("HTTP_PROXY", "http://p:1", false, "a.test"), 0);
	CHECK_INT(choose("ALL_PROXY", "http://p:2", false, "a.test"), 2);
	CHECK_INT(choose("all_proxy", "http://p:3", false, "a.test"), 3);
	CHECK_INT(choose("http_proxy", "http://p:4", true, "a.test"), 3);
	CHECK_INT(choose("http_proxy", "http://p:4", false, "a.test"), 4);
	CHECK_INT(choose("HTTPS_PROXY", "http://p:5", true, "a.test"), 5);
	CHECK_INT(choose("https_proxy", "http://p:6", true, "a.test"), 6);
	CHECK_INT(choose("wss_proxy", "http://p:7", true, "a.test"), 7);
	CHECK_INT(choose("ws_proxy", "http://p:8", false, "a.test"), 8);
	/* An empty one counts as none. */
	CHECK_INT(choose("wss_proxy", "", true, "a.test"), 6);
	/* Loopback is never behind a proxy. */
	CHECK_INT(choose("https_proxy", "http://p:6", true, "localhost"), 0);
	CHECK_INT(choose("https_proxy", "http://p:6", true, "127.3.2.1"), 0);
	CHECK_INT(choose("https_proxy", "http://p:6", true, "::1"), 0);
	CHECK_INT(choose("NO_PROXY", "a.test", true, "a.test"), 0);
	CHECK_INT(choose("no_proxy", "b.test", true, "a.test"), 6);
	CHECK_INT(choose("https_proxy", "socks5://p:1", true, "a.test"), -1);
	clear_environment();
}

TEST(proxy_urls)
{
	static const struct {
		const char *url, *host, *credentials;
		uint16_t port;
		int err;
	} cases[] = {
		{"http://proxy.test:3128", "proxy.test", "", 3128, 0},
		{"proxy.test", "proxy.test", "", 1080, 0},
		{"HTTP://proxy.test/", "proxy.test", "", 1080, 0},
		{"http://[::1]:3128/", "::1", "", 3128, 0},
		{"http://joe:s%3Acret%40x@10.0.0.1:8080", "10.0.0.1", "joe:s:cret@x", 8080, 0},
		{"http://a@b@proxy.test:1", "proxy.test", "a@b", 1, 0},
		{"https://proxy.test", "", "", 0, EPROTONOSUPPORT},
		{"socks5h://proxy.test", "", "", 0, EPROTONOSUPPORT},
		{"http://", "", "", 0, EINVAL},
		{"http://proxy.test:0", "", "", 0, EINVAL},
		{"http://proxy.test:65536", "", "", 0, EINVAL},
		{"http://proxy.test:1x", "", "", 0, EINVAL},
		{"http://[proxy.test]:1", "", "", 0, EINVAL},
		{"http://[::1", "", "", 0, EINVAL},
		{"http://[::1]x", "", "", 0, EINVAL},
		{"http://joe:%0d%0aX@proxy.test", "", "", 0, EINVAL},
		{"http://joe:%4@proxy.test", "", "", 0, EINVAL},
	};

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct proxy p = {0};

		CHECK_INT(proxy_parse(&p, cases[i].url), cases[i].err);
		CHECK_STR(p.host, cases[i].host);
		CHECK_STR(p.credentials, cases[i].credentials);
		CHECK_INT(p.port, cases[i].port);
	}
}

TEST(proxy_exemptions)
{
	static const struct {
		const char *list, *host;
		uint16_t port;
		bool yes;
	} cases[] = {
		{"*", "a.test", 443, true},
		{"a.test", "a.test", 443, true},
		{"a.test", "A.Test.", 443, true},
		{"a.test", "b.a.test", 443, true},
		{".a.test", "b.a.test", 443, true},
		{".a.test", "a.test", 443, true},
		{"a.test", "ba.test", 443, false},
		{"b.a.test", "a.test", 443, false},
		{"x, a.test", "a.test", 443, true},
		{"x\ta.test", "a.test", 443, true},
		{" ,, ", "a.test", 443, false},
		{"x,*", "a.test", 443, false},
		{"a.test:443", "a.test", 443, true},
		{"a.test:80", "a.test", 443, false},
		{"a.test:x", "a.test", 443, false},
		{"10.0.0.1", "10.0.0.1", 443, true},
		{"10.0.0.0/8", "10.9.8.7", 443, true},
		{"10.0.0.0/8", "11.9.8.7", 443, false},
		{"10.0.0.0/9", "10.128.0.1", 443, false},
		{"10.0.0.0/33", "10.0.0.1", 443, false},
		{"10.0.0.0/", "10.0.0.1", 443, false},
		{"0.0.0.0/0", "10.0.0.1", 443, true},
		{"0.0.1", "10.0.0.1", 443, false},
		{"fd00::/8", "fd12::1", 443, true},
		{"[fd12::1]:443", "fd12::1", 443, true},
		{"[fd12::1]:80", "fd12::1", 443, false},
		{"fd12::1", "fd12:0::1", 443, true},
	};

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		if (proxy_exempts(cases[i].list, cases[i].host, cases[i].port) != cases[i].yes)
			test_fail(__FILE__, __LINE__, "\"%s\" and %s", cases[i].list,
				  cases[i].host);
}

TEST(proxy_connect_request)
{
	struct proxy p = {.host = "p", .port = 1, .credentials = "Aladdin:open sesame"};
	char buf[PROXY_REQUEST_MAX], host[PROXY_HOST_MAX + 20];
	size_t n;

	CHECK_INT(proxy_request(&p, "a.test", 443, buf, &n), 0);
	CHECK_STR(buf, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
		       "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n");
	CHECK_INT(n, strlen(buf));
	p.credentials[0] = '\0';
	CHECK_INT(proxy_request(&p, "fd12::1", 80, buf, &n), 0);
	CHECK_STR(buf, "CONNECT [fd12::1]:80 HTTP/1.1\r\nHost: [fd12::1]:80\r\n\r\n");
	memset(host, 'a', sizeof host);
	host[sizeof host - 1] = '\0';
	CHECK_INT(proxy_request(&p, host, 80, buf, &n), EMSGSIZE);
	memset(p.credentials, 'x', sizeof p.credentials - 1);
	CHECK_INT(proxy_request(&p, "a.test", 443, buf, &n), 0);
}

TEST(proxy_replies)
{
	static const char ok[] = "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";
	char big[PROXY_REPLY_MAX];
	unsigned status = 0;

	for (size_t n = 0; n < sizeof ok - 1; n++)
		CHECK_INT(proxy_reply(ok, n, &status), EAGAIN);
	CHECK_INT(proxy_reply(ok, sizeof ok - 1, &status), 0);
	CHECK_INT(status, 200);
	CHECK_INT(proxy_reply("HTTP/1.0 407 No\r\n\r\n", 19, &status), 0);
	CHECK_INT(status, 407);
	CHECK_INT(proxy_reply("HTTP/1.1 200 OK\r\n\r\nx", 20, &status), EBADMSG);
	CHECK_INT(proxy_reply("HTTP/1.1 2x0 OK\r\n\r\n", 19, &status), EBADMSG);
	CHECK_INT(proxy_reply("HTTP/1.1\r\n\r\n", 12, &status), EBADMSG);
	CHECK_INT(proxy_reply("SSH-2.0", 7, &status), EBADMSG);
	memset(big, 'x', sizeof big);
	memcpy(big, ok, 12);
	CHECK_INT(proxy_reply(big, sizeof big - 1, &status), EAGAIN);
	CHECK_INT(proxy_reply(big, sizeof big, &status), EBADMSG);
}
