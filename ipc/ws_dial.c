/* Connects: selects the proxy of the environment, races the host's addresses, then hands the
 * winning socket to lws. */
#include "ipc/env.h"
#include "ipc/proxy.h"
#include "ipc/resolver.h"
#include "ipc/tcp_dial.h"
#include "ipc/tunnel.h"
#include "ipc/unreachable.h"
#include "ipc/ws_inside.h"
#include "proto/base/numeric_address.h"
#include "proto/base/strv.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void clear_proxy(struct ws_dial_state *d)
{
	if (d->proxy)
		proxy_wipe(d->proxy);
	free(d->proxy);
	d->proxy = NULL;
}

void ws_dial_clear(struct ws *ws)
{
	struct ws_dial_state *d = &ws->dial;

	d->tcp = tcp_dial_free(d->tcp);
	d->tunnel = tunnel_free(d->tunnel);
	clear_proxy(d);
	if (d->connect_by)
		event_free(d->connect_by);
	if (d->open_by)
		event_free(d->open_by);
	free(d->path);
	strv_free(d->headers);
	d->connect_by = d->open_by = NULL;
	d->path = NULL;
	d->headers = NULL;
}

int ws_dial_headers(struct ws *ws, struct lws *wsi, uint8_t **p, uint8_t *end)
{
	for (char **h = ws->dial.headers; h && *h; h++) {
		const char *colon = strchr(*h, ':');
		const char *value;
		char name[128];

		if (!colon || (size_t)(colon - *h) + 2 > sizeof name)
			return -1;
		snprintf(name, sizeof name, "%.*s:", (int)(colon - *h), *h);
		value = colon + 1 + strspn(colon + 1, " ");
		if (lws_add_http_header_by_name(wsi, (const uint8_t *)name, (const uint8_t *)value,
						(int)strlen(value), p, end))
			return -1;
	}
	return 0;
}

/* ---- the URL ---- */

/* Parses a name, an IPv4 literal, or an IPv6 literal in brackets. Returns the rest, or NULL. */
static const char *parse_host(struct ws_dial_state *d, const char *p)
{
	struct sockaddr_storage ignored;
	const char *end;
	size_t n;

	d->six = *p == '[';
	if (d->six)
		p++;
	n = strcspn(p, d->six ? "]" : ":/?#@");
	end = p + n;
	if (!n || n >= sizeof d->host || (d->six && *end != ']'))
		return NULL;
	memcpy(d->host, p, n);
	d->host[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] <= 0x20 || p[i] == 0x7f)
			return NULL;
	if (d->six && numeric_address(&ignored, d->host, 0) != sizeof(struct sockaddr_in6))
		return NULL;
	return d->six ? end + 1 : end;
}

/* scheme://host[:port][/path][?query] */
static int parse_url(struct ws_dial_state *d, const char *url)
{
	const char *p = url;

	if (strncmp(p, "wss://", 6) == 0) {
		d->tls = true;
		p += 6;
	} else if (strncmp(p, "ws://", 5) == 0) {
		p += 5;
	} else {
		return EINVAL;
	}
	p = parse_host(d, p);
	if (!p)
		return EINVAL;
	d->port = d->tls ? 443 : 80;
	if (*p == ':') {
		char *rest;
		unsigned long port = strtoul(p + 1, &rest, 10);

		if (rest == p + 1 || p[1] == '-' || p[1] == '+' || !port || port > 65535)
			return EINVAL;
		d->port = (uint16_t)port;
		p = rest;
	}
	if ((*p && *p != '/' && *p != '?') || strpbrk(p, " \r\n#"))
		return EINVAL;
	return asprintf(&d->path, "%s%s", *p == '/' ? "" : "/", p) < 0 ? ENOMEM : 0;
}

/* ---- connecting ---- */
static void fail_dial(struct ws *ws, const char *why)
{
	if (ws->close_code)
		ws_tell_closed(ws, ws->close_code, ws->close_reason);
	else
		ws_tell_closed(ws, 1006, why);
}

static void on_connected(struct ws *ws, int fd)
{
	event_del(ws->dial.connect_by);
	if (ws->close_code) {
		close(fd);
		fail_dial(ws, "");
	} else if (ws_adopt(ws, fd) == 0) {
		ws_bury(ws);
	} else {
		ws_drop(ws);
		if (ws->over)
			ws_bury(ws);
		else
			fail_dial(ws, unreachable_words(UNREACHABLE_CONNECT));
	}
}

static void on_tunnel(int fd, const char *why, void *arg)
{
	struct ws *ws = arg;
	char text[160];

	ws->dial.tunnel = tunnel_free(ws->dial.tunnel);
	if (fd < 0) {
		unreachable_print(UNREACHABLE_PROXY, why, text, sizeof text);
		fail_dial(ws, text);
	} else {
		on_connected(ws, fd);
	}
}

static void on_tcp(int fd, const char *why, void *arg)
{
	struct ws *ws = arg;
	struct ws_dial_state *d = &ws->dial;
	struct tunnel_target to = {.proxy = d->proxy, .host = d->host, .port = d->port};
	char text[160];

	d->tcp = tcp_dial_free(d->tcp);
	if (fd < 0) {
		snprintf(text, sizeof text, "%s%s", d->proxy ? "proxy: " : "", why);
		fail_dial(ws, text);
	} else if (!d->proxy) {
		on_connected(ws, fd);
	} else if (tunnel_alloc(&d->tunnel, env_base(ws->ctx->env), fd, &to, on_tunnel, ws)) {
		fail_dial(ws, "proxy: it cannot be asked");
	} else {
		clear_proxy(d);
	}
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct ws *ws = arg;

	(void)fd;
	(void)what;
	ws_drop(ws);
	fail_dial(ws, ws->dial.why ? ws->dial.why : unreachable_words(UNREACHABLE_TIME));
}

void ws_dial_close(struct ws *ws)
{
	struct timeval now = {0};

	if (ws->dial.open_by)
		event_add(ws->dial.open_by, &now);
}

static int add_timer(struct event **out, struct ws *ws, uint32_t ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	*out = evtimer_new(env_base(ws->ctx->env), on_deadline, ws);
	return *out && event_add(*out, &tv) == 0 ? 0 : ENOMEM;
}

/* An unusable proxy is a failure to connect, not a bad URL of the caller. */
static int start_tcp(struct ws *ws)
{
	struct ws_dial_state *d = &ws->dial;
	struct proxy proxy;
	const char *host = d->host;
	uint16_t port = d->port;
	int err = proxy_choose(&proxy, d->tls, d->host, d->port);

	if (err) {
		d->why = err == EPROTONOSUPPORT ? "proxy: only http:// proxies are supported"
						: "proxy: malformed address in the environment";
		ws_dial_close(ws);
		return 0;
	}
	if (proxy.host[0]) {
		d->proxy = malloc(sizeof proxy);
		if (d->proxy) {
			*d->proxy = proxy;
			host = d->proxy->host;
			port = proxy.port;
		} else {
			err = ENOMEM;
		}
	}
	proxy_wipe(&proxy);
	return err ? err
		   : tcp_dial_alloc(&d->tcp, env_base(ws->ctx->env), ws->ctx->resolver, host, port,
				    on_tcp, ws);
}

static int start_dial(struct ws *ws, const struct ws_dial *dial)
{
	uint32_t connect_ms = dial->connect_ms ? dial->connect_ms : WS_CONNECT_MS;
	uint32_t total_ms = dial->total_ms ? dial->total_ms : connect_ms + WS_OPEN_MS;
	int err;

	ws->dial.headers = strv_copy(dial->headers);
	err = ws->dial.headers ? ws_ping_alloc(ws, dial->ping_ms) : ENOMEM;
	if (!err)
		err = add_timer(&ws->dial.connect_by, ws, connect_ms);
	if (!err)
		err = add_timer(&ws->dial.open_by, ws, total_ms);
	return err ? err : start_tcp(ws);
}

/* Records the address and the headers as output. */
static void tell_dial(struct ws *ws, const struct ws_dial *dial)
{
	struct env *env = ws->ctx->env;

	env_output(env, ENV_OUT_WS, ws->source, dial->url, strlen(dial->url));
	for (unsigned i = 0; dial->headers && dial->headers[i]; i++)
		env_output(env, ENV_OUT_WS, ws->source, dial->headers[i], strlen(dial->headers[i]));
}

int ws_connect(struct ws **out, struct ws_ctx *ctx, const struct ws_dial *dial, ws_h *h, void *arg)
{
	struct ws *ws;
	int err;

	if (!out || !ctx || !dial || !dial->url || !h)
		return EINVAL;
	err = ws_new(&ws, ctx, dial->max_message);
	if (err)
		return err;
	ws_set_handler(ws, h, arg);
	err = parse_url(&ws->dial, dial->url);
	if (!err && !env_replaying(ctx->env))
		err = start_dial(ws, dial);
	if (err) {
		ws_free(ws);
		return err;
	}
	tell_dial(ws, dial);
	*out = ws;
	return 0;
}
