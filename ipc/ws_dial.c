/* Connecting: resolve by evdns, connect by address, verify by name. */
#include "ipc/env.h"
#include "ipc/ws_inside.h"
#include "proto/base/strv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/dns.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ws_dial_clear(struct ws *ws)
{
	struct ws_dial_state *d = &ws->dial;

	if (d->query)
		evdns_getaddrinfo_cancel(d->query);
	if (d->start)
		event_free(d->start);
	if (d->deadline)
		event_free(d->deadline);
	free(d->path);
	strv_free(d->headers);
	d->query = NULL;
	d->start = d->deadline = NULL;
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

/* scheme://host[:port][/path][?query] */
static int parse_url(struct ws_dial_state *d, const char *url)
{
	const char *p = url, *host_end;
	size_t n;

	if (strncmp(p, "wss://", 6) == 0) {
		d->tls = true;
		p += 6;
	} else if (strncmp(p, "ws://", 5) == 0) {
		p += 5;
	} else {
		return EINVAL;
	}
	n = strcspn(p, ":/?#");
	host_end = p + n;
	if (!n || n >= sizeof d->host)
		return EINVAL;
	memcpy(d->host, p, n);
	d->port = d->tls ? 443 : 80;
	if (*host_end == ':') {
		char *rest;
		unsigned long port = strtoul(host_end + 1, &rest, 10);

		if (rest == host_end + 1 || !port || port > 65535 ||
		    (*rest && *rest != '/' && *rest != '?'))
			return EINVAL;
		d->port = (uint16_t)port;
		host_end = rest;
	}
	if (strpbrk(host_end, " \r\n#"))
		return EINVAL;
	return asprintf(&d->path, "%s%s", *host_end == '/' ? "" : "/", host_end) < 0 ? ENOMEM : 0;
}

static void connect_to(struct ws *ws, const char *address)
{
	struct ws_dial_state *d = &ws->dial;
	char host[WS_HOST_MAX + 8];
	struct lws_client_connect_info ci = {
		.context = ws->ctx->lws,
		.vhost = ws->ctx->client,
		.address = address,
		.port = d->port,
		.path = d->path,
		.host = host,
		.origin = NULL,
		.ssl_connection = d->tls ? LCCSCF_USE_SSL : 0,
		.local_protocol_name = ws_protocols[0].name,
		.alpn = "http/1.1",
		.opaque_user_data = ws,
		.pwsi = &ws->wsi,
	};

	if (ws->close_code) {
		ws_tell_closed(ws, ws->close_code, ws->close_reason);
		return;
	}
	snprintf(host, sizeof host, "%s:%u", d->host, d->port);
	ws->busy++; /* a failure may be told from inside */
	lws_client_connect_via_info(&ci);
	ws->busy--;
	ws_kick(ws->ctx);
	if (!ws->wsi && !ws->over)
		ws_tell_closed(ws, 1006, "cannot connect");
	else
		ws_bury(ws);
}

static void resolved(int result, struct evutil_addrinfo *ai, void *arg)
{
	struct ws *ws = arg;
	char address[INET6_ADDRSTRLEN];

	/* A cancelled query is told, too, when nobody may be there any more. */
	if (result == EVUTIL_EAI_CANCEL)
		return;
	ws->dial.query = NULL;
	if (result || !ai ||
	    getnameinfo(ai->ai_addr, ai->ai_addrlen, address, sizeof address, NULL, 0,
			NI_NUMERICHOST)) {
		ws_tell_closed(ws, 1006, "name not known");
	} else {
		connect_to(ws, address);
	}
	if (ai)
		evutil_freeaddrinfo(ai);
}

/* The first turn of the loop after ws_connect: so that nothing is ever told from inside it. */
static void start(evutil_socket_t fd, short what, void *arg)
{
	struct ws *ws = arg;
	struct evutil_addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct in_addr in;

	(void)fd;
	(void)what;
	if (ws->close_code) {
		ws_tell_closed(ws, ws->close_code, ws->close_reason);
	} else if (strcmp(ws->dial.host, "localhost") == 0) {
		connect_to(ws, "127.0.0.1");
	} else if (inet_pton(AF_INET, ws->dial.host, &in) == 1) {
		connect_to(ws, ws->dial.host);
	} else {
		struct evdns_getaddrinfo_request *q =
			evdns_getaddrinfo(ws->ctx->dns, ws->dial.host, NULL, &hints, resolved, ws);

		/* NULL: it was answered already, from the hosts file, and ws may be gone. */
		if (q)
			ws->dial.query = q;
	}
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	struct ws *ws = arg;

	(void)fd;
	(void)what;
	if (ws->wsi) {
		lws_set_opaque_user_data(ws->wsi, NULL);
		lws_set_timeout(ws->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
		ws->wsi = NULL;
		ws_kick(ws->ctx);
	}
	ws_tell_closed(ws, 1006, "connecting timed out");
}

static int arm(struct ws *ws, uint32_t ms)
{
	struct event_base *base = env_base(ws->ctx->env);
	struct timeval now = {0}, tv = {ms / 1000, ms % 1000 * 1000};

	ws->dial.start = evtimer_new(base, start, ws);
	ws->dial.deadline = evtimer_new(base, too_late, ws);
	if (!ws->dial.start || !ws->dial.deadline || event_add(ws->dial.start, &now) ||
	    event_add(ws->dial.deadline, &tv))
		return ENOMEM;
	return 0;
}

/* Where to, and the headers: that is sent, too. */
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
	if (!err && !env_replaying(ctx->env)) {
		ws->dial.headers = strv_copy(dial->headers);
		err = ws->dial.headers
			      ? arm(ws, dial->connect_ms ? dial->connect_ms : WS_CONNECT_MS)
			      : ENOMEM;
	}
	if (err) {
		ws_free(ws);
		return err;
	}
	tell_dial(ws, dial);
	*out = ws;
	return 0;
}
