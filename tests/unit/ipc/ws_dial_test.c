/* How a WebSocket is connected: addresses, name servers, proxies, deadlines; and how a dead peer is
 * found. */
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/connect_proxy.h"
#include "tests/unit/ipc/dns_server.h"
#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <sys/socket.h>

enum { HUNG = 4 };

static const char *const variables[] = {"ws_proxy",   "WS_PROXY",    "wss_proxy",   "WSS_PROXY",
					"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
					"ALL_PROXY",  "no_proxy",    "NO_PROXY"};

/* http_proxy when the context is made. */
static const char *proxy_at_start;

static struct fixture {
	struct loop l;
	struct ws_ctx *ctx;
	struct dns_server dns;
	struct connect_proxy proxy;
	struct ws_server *server;
	struct ws *cli, *srv;
	char dir[32], conf[64], pem[64], key[64], url[256];
	int hung[HUNG]; /* a listener that lets nobody in, and what fills it */
	/* what was told */
	unsigned accepted;
	bool open, closed, srv_closed;
	uint16_t code;
	char reason[256], srv_reason[256], got[64];
	unsigned stop_after; /* closings */
} fx;

static void on_srv(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		   void *arg)
{
	(void)code;
	(void)arg;
	if (ev == WS_TEXT) {
		ws_send(ws, true, data, len);
	} else if (ev == WS_CLOSED) {
		fx.srv_closed = true;
		snprintf(fx.srv_reason, sizeof fx.srv_reason, "%.*s", (int)len, (const char *)data);
		if (fx.closed && fx.stop_after == 2)
			env_stop(fx.l.env);
	}
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	(void)path;
	(void)arg;
	fx.accepted++;
	fx.srv = ws;
	ws_set_handler(ws, on_srv, NULL);
}

static void on_cli(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		   void *arg)
{
	(void)ws;
	(void)arg;
	if (ev == WS_TEXT)
		snprintf(fx.got, sizeof fx.got, "%.*s", (int)len, (const char *)data);
	if (ev == WS_OPEN)
		fx.open = true;
	if (ev == WS_CLOSED) {
		fx.closed = true;
		fx.code = code;
		snprintf(fx.reason, sizeof fx.reason, "%.*s", (int)len, (const char *)data);
	}
	if (ev != WS_CLOSED || fx.srv_closed + fx.closed >= (int)fx.stop_after)
		env_stop(fx.l.env);
}

static bool make_certs(const char *names)
{
	char cmd[1024];

	snprintf(fx.pem, sizeof fx.pem, "%s/s.pem", fx.dir);
	snprintf(fx.key, sizeof fx.key, "%s/s.key", fx.dir);
	snprintf(cmd, sizeof cmd,
		 "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout %s "
		 "-out %s -days 2 "
		 "-subj /CN=test -addext subjectAltName=%s 2>/dev/null",
		 fx.key, fx.pem, names);
	return system(cmd) == 0;
}

/* names: of the certificate, NULL for plain ws. */
static bool begin_on(const char *host, const char *names, uint32_t ping_ms, struct journal *j)
{
	struct ws_listen_conf lc = {.host = host, .ping_ms = ping_ms};

	memset(&fx, 0, sizeof fx);
	fx.stop_after = 1;
	memset(fx.hung, -1, sizeof fx.hung);
	for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	if (proxy_at_start)
		setenv("http_proxy", proxy_at_start, 1);
	if (!folder_make(fx.dir) || (names && !make_certs(names)) || loop_open(&fx.l, j))
		return false;
	lc.cert_file = names ? fx.pem : NULL;
	lc.key_file = names ? fx.key : NULL;
	snprintf(fx.conf, sizeof fx.conf, "%s/resolv.conf", fx.dir);
	return dns_server_open(&fx.dns, env_base(fx.l.env)) && dns_server_conf(&fx.dns, fx.conf) &&
	       !ws_ctx_alloc(&fx.ctx, fx.l.env, names ? fx.pem : NULL) &&
	       !ws_ctx_set_resolv_conf(fx.ctx, fx.conf) &&
	       !ws_listen(&fx.server, fx.ctx, &lc, on_accept, NULL) &&
	       connect_proxy_open(&fx.proxy, env_base(fx.l.env), ws_server_port(fx.server));
}

static bool begin(void)
{
	return begin_on("127.0.0.1", NULL, 0, NULL);
}

static void end(void)
{
	ws_free(fx.cli);
	ws_free(fx.srv);
	ws_server_free(fx.server);
	connect_proxy_close(&fx.proxy);
	ws_ctx_free(fx.ctx);
	dns_server_close(&fx.dns);
	for (unsigned i = 0; i < HUNG; i++)
		if (fx.hung[i] >= 0)
			close(fx.hung[i]);
	loop_close(&fx.l);
	folder_remove(fx.dir);
	for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
}

/* To the server's port of a host, until something is told. */
static bool dial_with(const char *scheme, const char *host, struct ws_dial d)
{
	snprintf(fx.url, sizeof fx.url, "%s://%s:%u/", scheme, host, ws_server_port(fx.server));
	d.url = fx.url;
	fx.cli = ws_free(fx.cli);
	fx.open = fx.closed = false;
	return ws_connect(&fx.cli, fx.ctx, &d, on_cli, NULL) == 0 && !fx.open && loop_run(&fx.l);
}

static bool dial(const char *scheme, const char *host)
{
	return dial_with(scheme, host, (struct ws_dial){0});
}

static bool echoes(void)
{
	fx.got[0] = '\0';
	return ws_send(fx.cli, true, "hello", 5) == 0 && loop_run(&fx.l) &&
	       strcmp(fx.got, "hello") == 0;
}

/* A listener at this address and the server's port whose backlog is full: a SYN to it is not
 * answered. */
static bool hang_at(const char *address)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(ws_server_port(fx.server))};

	inet_pton(AF_INET, address, &sa.sin_addr);
	for (unsigned i = 0; i < HUNG; i++)
		fx.hung[i] =
			socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (i ? SOCK_NONBLOCK : 0), 0);
	if (bind(fx.hung[0], (struct sockaddr *)&sa, sizeof sa) || listen(fx.hung[0], 0))
		return false;
	for (unsigned i = 1; i < HUNG; i++)
		if (connect(fx.hung[i], (struct sockaddr *)&sa, sizeof sa) && errno != EINPROGRESS)
			return false;
	return true;
}

/* ---- addresses ---- */
TEST(ws_dial_ipv6_literal)
{
	CHECK(begin_on("::1", NULL, 0, NULL));
	CHECK(dial("ws", "[::1]"));
	CHECK(fx.open);
	CHECK(echoes());
	end();
}

TEST(ws_dial_bad_literals)
{
	static const char *const bad[] = {
		"ws://[::1/",	"ws://[x]/", "ws://[127.0.0.1]/", "ws://[]/",  "ws://a@b/",
		"ws://[::1]x/", "ws://::1/", "ws://h:-1/",	  "ws://a b/", "ws://h#x/"};
	struct ws_dial d = {0};

	CHECK(begin());
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		d.url = bad[i];
		CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, on_cli, NULL), EINVAL);
	}
	end();
}

TEST(ws_dial_localhost_has_both_families)
{
	CHECK(begin_on("::1", NULL, 0, NULL));
	CHECK(dial("ws", "LocalHost"));
	CHECK(fx.open);
	CHECK_INT(fx.dns.asked_a + fx.dns.asked_aaaa, 0);
	end();
}

TEST(ws_dial_prefers_ipv6)
{
	CHECK(begin_on("::1", NULL, 0, NULL));
	dns_server_add(&fx.dns, "both.test", "127.0.0.1");
	dns_server_add(&fx.dns, "both.test", "::1");
	CHECK(dial("ws", "both.test"));
	CHECK(fx.open);
	CHECK(fx.dns.asked_a == 1 && fx.dns.asked_aaaa == 1);
	end();
}

TEST(ws_dial_tries_every_address)
{
	CHECK(begin());
	dns_server_add(&fx.dns, "many.test", "::1");
	dns_server_add(&fx.dns, "many.test", "::2");
	dns_server_add(&fx.dns, "many.test", "127.0.0.2");
	dns_server_add(&fx.dns, "many.test", "127.0.0.3");
	dns_server_add(&fx.dns, "many.test", "127.0.0.1");
	CHECK(dial("ws", "many.test"));
	CHECK(fx.open);
	CHECK(echoes());
	end();
}

TEST(ws_dial_tries_a_bounded_number)
{
	static const char *const others[] = {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5",
					     "127.0.0.6", "127.0.0.7", "127.0.0.8", "127.0.0.9"};

	CHECK(begin());
	for (unsigned i = 0; i < 8; i++)
		dns_server_add(&fx.dns, "many.test", others[i]);
	dns_server_add(&fx.dns, "many.test", "127.0.0.1");
	CHECK(dial("ws", "many.test"));
	CHECK(fx.closed && !fx.accepted);
	CHECK_INT(fx.code, 1006);
	CHECK_STR(fx.reason, "cannot connect: Connection refused");
	end();
}

TEST(ws_dial_overtakes_an_address_that_does_not_answer)
{
	CHECK(begin());
	CHECK(hang_at("127.0.0.3"));
	dns_server_add(&fx.dns, "slow.test", "127.0.0.3");
	dns_server_add(&fx.dns, "slow.test", "127.0.0.1");
	CHECK(dial("ws", "slow.test"));
	CHECK(fx.open);
	end();
}

TEST(ws_dial_goes_on_without_an_answer_for_ipv6)
{
	CHECK(begin());
	dns_server_add(&fx.dns, "four.test", "127.0.0.1");
	fx.dns.mute_aaaa = true;
	CHECK(dial("ws", "four.test"));
	CHECK(fx.open);
	CHECK_INT(fx.dns.asked_aaaa, 1);
	end();
}

TEST(ws_dial_goes_on_without_an_answer_for_ipv4)
{
	CHECK(begin_on("::1", NULL, 0, NULL));
	dns_server_add(&fx.dns, "six.test", "::1");
	fx.dns.mute_a = true;
	CHECK(dial("ws", "six.test"));
	CHECK(fx.open);
	end();
}

TEST(ws_dial_unknown_name)
{
	CHECK(begin());
	CHECK(dial("ws", "nobody.test"));
	CHECK(fx.closed);
	CHECK_STR(fx.reason, "its host name cannot be resolved (DNS)");
	end();
}

TEST(ws_dial_reads_resolv_conf_again)
{
	struct dns_server other;

	CHECK(begin());
	CHECK(dial("ws", "late.test"));
	CHECK(fx.closed && !fx.open);
	CHECK(dns_server_open(&other, env_base(fx.l.env)));
	dns_server_add(&other, "late.test", "127.0.0.1");
	CHECK(dns_server_conf(&other, fx.conf));
	CHECK(dial("ws", "late.test"));
	CHECK(fx.open);
	CHECK_INT(fx.dns.asked_a, 1);
	CHECK_INT(other.asked_a, 1);
	fx.cli = ws_free(fx.cli);
	/* Without the file the name servers stay. */
	CHECK_INT(unlink(fx.conf), 0);
	CHECK(dial("ws", "late.test"));
	CHECK(fx.open);
	CHECK_INT(other.asked_a, 2);
	dns_server_close(&other);
	end();
}

/* ---- TLS ---- */
TEST(ws_dial_tls_literals_are_held_against_the_certificate)
{
	CHECK(begin_on("::1", "IP:::1,DNS:name.test", 0, NULL));
	CHECK(dial("wss", "[::1]"));
	CHECK(fx.open);
	CHECK(echoes());
	dns_server_add(&fx.dns, "name.test", "::1");
	CHECK(dial("wss", "name.test"));
	CHECK(fx.open);
	dns_server_add(&fx.dns, "other.test", "::1");
	CHECK(dial("wss", "other.test"));
	CHECK(fx.closed);
	CHECK(strstr(fx.reason, "certificate"));
	end();
	CHECK(begin_on("::1", "IP:::2,DNS:localhost", 0, NULL));
	CHECK(dial("wss", "[::1]"));
	CHECK(fx.closed && !fx.accepted);
	CHECK(strstr(fx.reason, "certificate"));
	end();
	CHECK(begin_on("127.0.0.1", "IP:127.0.0.1", 0, NULL));
	CHECK(dial("wss", "127.0.0.1"));
	CHECK(fx.open);
	CHECK(dial("wss", "localhost"));
	CHECK(fx.closed);
	end();
}

/* ---- proxies ---- */
static void take_proxy(const char *variable, const char *credentials)
{
	char url[128];

	snprintf(url, sizeof url, "http://%s127.0.0.1:%u", credentials, fx.proxy.port);
	setenv(variable, url, 1);
}

TEST(ws_dial_through_a_proxy)
{
	char want[256];

	CHECK(begin());
	take_proxy("http_proxy", "joe:s%3Aecret@");
	CHECK(dial("ws", "far.test"));
	CHECK(fx.open);
	CHECK(echoes());
	snprintf(want, sizeof want,
		 "CONNECT far.test:%u HTTP/1.1\r\nHost: far.test:%u\r\n"
		 "Proxy-Authorization: Basic am9lOnM6ZWNyZXQ=\r\n\r\n",
		 ws_server_port(fx.server), ws_server_port(fx.server));
	CHECK_STR(fx.proxy.request, want);
	/* The proxy looks the name up. */
	CHECK_INT(fx.dns.asked_a, 0);
	CHECK_INT(fx.proxy.tunnels, 1);
	/* Not to loopback, and not where no_proxy says so. */
	CHECK(dial("ws", "127.0.0.1"));
	CHECK(fx.open);
	setenv("no_proxy", "near.test", 1);
	dns_server_add(&fx.dns, "near.test", "127.0.0.1");
	CHECK(dial("ws", "near.test"));
	CHECK(fx.open);
	CHECK_INT(fx.proxy.tunnels, 1);
	end();
}

/* lws itself would take the proxy that it found at its start for every host. */
TEST(ws_dial_no_proxy_but_ours)
{
	bool ok;

	proxy_at_start = "http://127.0.0.1:1";
	ok = begin();
	proxy_at_start = NULL;
	CHECK(ok);
	CHECK(dial("ws", "127.0.0.1"));
	CHECK(fx.open);
	setenv("no_proxy", "*", 1);
	dns_server_add(&fx.dns, "near.test", "127.0.0.1");
	CHECK(dial("ws", "near.test"));
	CHECK(fx.open);
	end();
}

TEST(ws_dial_tls_through_a_proxy)
{
	CHECK(begin_on("127.0.0.1", "DNS:far.test", 0, NULL));
	take_proxy("HTTPS_PROXY", "");
	CHECK(dial("wss", "far.test"));
	CHECK(fx.open);
	CHECK(echoes());
	CHECK(!strstr(fx.proxy.request, "Authorization"));
	CHECK(dial("wss", "other.test"));
	CHECK(fx.closed);
	CHECK(strstr(fx.reason, "certificate"));
	end();
}

TEST(ws_dial_says_what_is_wrong_with_a_proxy)
{
	static const struct {
		const char *reply, *reason;
	} cases[] = {
		{"HTTP/1.1 407 Who\r\n\r\n", "proxy: it refused: 407 (it asks for credentials)"},
		{"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n", "proxy: it refused: 502"},
		{"HTTP/1.1 200 OK\r\n\r\nearly", "proxy: its reply to CONNECT is malformed"},
		{"SSH-2.0-x\r\n", "proxy: its reply to CONNECT is malformed"},
		{"", "connecting timed out"},
	};

	CHECK(begin());
	take_proxy("http_proxy", "");
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		fx.proxy.reply = cases[i].reply;
		CHECK(dial_with("ws", "far.test",
				(struct ws_dial){.connect_ms = cases[i].reply[0] ? 0 : 100}));
		CHECK(fx.closed);
		CHECK_STR(fx.reason, cases[i].reason);
	}
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	CHECK(dial("ws", "far.test"));
	CHECK_STR(fx.reason, "proxy: cannot connect: Connection refused");
	setenv("http_proxy", "http://joe:sesame@no where", 1);
	CHECK(dial("ws", "far.test"));
	CHECK_STR(fx.reason, "proxy: malformed address in the environment");
	setenv("http_proxy", "socks5://127.0.0.1", 1);
	CHECK(dial("ws", "far.test"));
	CHECK_STR(fx.reason, "proxy: only http:// proxies are supported");
	CHECK_INT(fx.accepted, 0);
	end();
}

/* ---- deadlines ---- */
TEST(ws_dial_connect_deadline)
{
	CHECK(begin());
	CHECK(hang_at("127.0.0.3"));
	CHECK(dial_with("ws", "127.0.0.3", (struct ws_dial){.connect_ms = 60, .total_ms = 60000}));
	CHECK(fx.closed);
	CHECK_STR(fx.reason, "connecting timed out");
	end();
}

/* Connected through a proxy that then swallows everything, the upgrade is never answered. */
TEST(ws_dial_total_deadline)
{
	CHECK(begin());
	take_proxy("http_proxy", "");
	fx.proxy.frozen = true;
	CHECK(dial_with("ws", "far.test", (struct ws_dial){.connect_ms = 60000, .total_ms = 100}));
	CHECK(fx.closed);
	CHECK_INT(fx.proxy.tunnels, 1);
	CHECK_STR(fx.reason, "connecting timed out");
	end();
}

TEST(ws_dial_close_before_it_stands)
{
	struct ws_dial d = {.url = "ws://late.test/", .connect_ms = 60000};

	CHECK(begin());
	fx.dns.mute_a = fx.dns.mute_aaaa = true;
	CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, on_cli, NULL), 0);
	loop_run_for(&fx.l, 20 * NS_PER_MS);
	CHECK(!fx.closed);
	ws_close(fx.cli, 4001, "changed my mind");
	CHECK(!fx.closed && loop_run(&fx.l));
	CHECK(fx.closed);
	CHECK_INT(fx.code, 4001);
	CHECK_STR(fx.reason, "changed my mind");
	/* evdns frees a cancelled query in a later turn. */
	loop_run_for(&fx.l, NS_PER_MS);
	end();
}

/* ---- dead peers ---- */
TEST(ws_dial_finds_a_dead_peer_on_both_sides)
{
	CHECK(begin_on("127.0.0.1", NULL, 600, NULL));
	take_proxy("http_proxy", "");
	CHECK(dial_with("ws", "far.test", (struct ws_dial){.ping_ms = 600}));
	CHECK(fx.open);
	/* Silence alone is not death: pings are answered. */
	loop_run_for(&fx.l, 1500 * NS_PER_MS);
	CHECK(!fx.closed && !fx.srv_closed);
	CHECK(echoes());
	fx.proxy.frozen = true;
	fx.stop_after = 2;
	CHECK(loop_run(&fx.l));
	CHECK(fx.closed && fx.srv_closed);
	CHECK_INT(fx.code, 1006);
	CHECK_STR(fx.reason, "no answer to a ping");
	CHECK_STR(fx.srv_reason, "no answer to a ping");
	CHECK_INT(ws_send(fx.cli, true, "x", 1), ENOTCONN);
	end();
}

/* A close frame that nobody answers, and that cannot even be written, does not keep the connection.
 */
TEST(ws_dial_dead_peer_while_closing)
{
	static char big[1 << 20];

	CHECK(begin_on("127.0.0.1", NULL, 0, NULL));
	take_proxy("http_proxy", "");
	CHECK(dial_with("ws", "far.test", (struct ws_dial){.ping_ms = 40}));
	CHECK(fx.open);
	fx.proxy.frozen = true;
	for (unsigned i = 0; i < 12; i++)
		CHECK_INT(ws_send(fx.cli, false, big, sizeof big), 0);
	fx.cli = ws_free(fx.cli);
	loop_run_for(&fx.l, 1600 * NS_PER_MS);
	end();
}

/* ---- allocations, journal ---- */
TEST_OOM(ws_dial_survives_every_failed_allocation)
{
	int err = begin() ? 0 : ENOMEM;

	if (!err) {
		take_proxy("http_proxy", "joe:sesame@");
		dns_server_add(&fx.dns, "both.test", "127.0.0.1");
		dns_server_add(&fx.dns, "both.test", "::1");
		setenv("no_proxy", "both.test", 1);
		if (!dial("ws", "far.test") || !fx.open || !dial("ws", "both.test") || !fx.open)
			err = ENOMEM;
	}
	if (err && !test_oom_hit())
		test_fail(__FILE__, __LINE__, "failed with memory: %s", fx.reason);
	end();
}

TEST(ws_dial_replays_without_a_network)
{
	struct env_conf conf = {.loop = true, .replaying = true};
	struct ws_dial d = {.url = "ws://far.test/", .ping_ms = 30};
	char dir[32], path[64], digest[65], now[65], recorded[1][65];
	struct tmr *deadline, *server;
	struct journal_reader *r;
	struct ws_ctx *ctx;
	struct journal *j;
	struct env *env;
	struct ws *ws;
	uint64_t at;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK(begin_on("127.0.0.1", NULL, 0, j));
	take_proxy("http_proxy", "joe:sesame@");
	CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, on_cli, NULL), 0);
	CHECK(loop_run(&fx.l));
	fx.proxy.frozen = true;
	CHECK(loop_run(&fx.l));
	CHECK(fx.open && fx.closed);
	CHECK_STR(fx.reason, "no answer to a ping");
	env_finish(fx.l.env);
	env_digest(fx.l.env, digest);
	end();
	journal_free(j);

	fx.open = fx.closed = false;
	fx.reason[0] = '\0';
	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(env_alloc(&env, &conf), 0);
	fx.l.env = env;
	CHECK_INT(journal_attach(r, env, 0), 0);
	/* What was the deadline and the server takes its number again. */
	CHECK_INT(tmr_alloc(&deadline, env, loop_late, &fx.l), 0);
	CHECK_INT(tmr_alloc(&server, env, loop_stop, &fx.l), 0);
	CHECK_INT(ws_ctx_alloc(&ctx, env, NULL), 0);
	CHECK_INT(ws_connect(&ws, ctx, &d, on_cli, NULL), 0);
	CHECK_INT(journal_replay(r, &env, 1, &at, recorded), 0);
	env_digest(env, now);
	CHECK(fx.open && fx.closed);
	CHECK_STR(fx.reason, "no answer to a ping");
	CHECK_STR(now, recorded[0]);
	CHECK_STR(now, digest);
	ws_free(ws);
	ws_ctx_free(ctx);
	tmr_free(server);
	tmr_free(deadline);
	env_free(env);
	journal_close(r);
	folder_remove(dir);
}
