#include "tests/guildd/gateway_session.h"

#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <inttypes.h>
#include <stdio.h>

static void gconn_free(struct gconn *c)
{
	gd_vec_remove(&c->gw->conns, c);
	if (c->s)
		gsession_lost(c->s);
	if (c->deflating)
		deflateEnd(&c->z);
	tmr_free(c->watch);
	ws_free(c->ws);
	free(c);
}

/* "Transport Compression": one deflate stream a connection, each message ends with a sync flush. */
static void send_deflated(struct gconn *c, const char *text, size_t len)
{
	size_t cap = deflateBound(&c->z, len) + 64;
	uint8_t *buf = malloc(cap);

	if (!buf)
		return;
	c->z.next_in = (Bytef *)(uintptr_t)text;
	c->z.avail_in = (uInt)len;
	c->z.next_out = buf;
	c->z.avail_out = (uInt)cap;
	if (deflate(&c->z, Z_SYNC_FLUSH) == Z_OK && c->z.avail_in == 0 && c->z.avail_out)
		ws_send(c->ws, false, buf, cap - c->z.avail_out);
	free(buf);
}

void gconn_text(struct gconn *c, const char *text)
{
	if (c->closing)
		return;
	log_trace("main_out", "user=%" PRIu64 " text=%.300s", c->user, text);
	if (c->deflating)
		send_deflated(c, text, strlen(text));
	else
		ws_send(c->ws, true, text, strlen(text));
}

void gconn_send(struct gconn *c, int op, json_t *d)
{
	json_t *o = json_pack("{s:i, s:o, s:n, s:n}", "op", op, "d", d, "s", "t");
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (text)
		gconn_text(c, text);
	free(text);
	json_decref(o);
}

/* "Gateway Close Event Codes": with these the session is over. */
static bool ends_session(uint16_t code)
{
	return code == 4003 || code == 4004 || code == 4005 || code == 4007 || code == 4009 ||
	       code >= 4010;
}

void gconn_close(struct gconn *c, uint16_t code, const char *reason)
{
	struct gsession *s = c->s;

	if (c->closing)
		return;
	log_info("main_close", "user=%" PRIu64 " code=%u reason=\"%s\"", c->user, code, reason);
	gd_count(c->gw->g, c->user, "main_close_%u", code);
	c->closing = true;
	tmr_stop(c->watch);
	c->s = NULL;
	if (s) {
		s->conn = NULL;
		if (ends_session(code))
			gsession_end(s);
		else
			gsession_lost(s);
	}
	ws_close(c->ws, code, reason);
}

static void silent(void *arg)
{
	gconn_close(arg, 4009, "Session timed out.");
}

void gconn_beat(struct gconn *c)
{
	uint64_t interval = c->gw->g->sw.main_heartbeat_ms * NS_PER_MS;

	/* A client that missed one beat altogether is gone. */
	tmr_start(c->watch, interval + interval / 2 + 1000 * NS_PER_MS);
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct gconn *c = arg;

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		break;
	case WS_TEXT:
		if (!c->closing)
			gconn_message(c, data, len);
		break;
	case WS_BINARY:
		if (!c->closing)
			gconn_close(c, 4002, "Error while decoding payload.");
		break;
	case WS_CLOSED:
		log_info("main_closed", "user=%" PRIu64 " code=%u", c->user, code);
		if (c->s && (code == 1000 || code == 1001)) {
			struct gsession *s = c->s;

			/* The bot said goodbye: it goes offline and cannot resume. */
			gsession_end(s);
		}
		gconn_free(c);
		break;
	}
}

static bool query_is(const char *path, const char *name, const char *value)
{
	const char *q = strchr(path, '?');
	size_t n = strlen(name), m = strlen(value);

	while (q) {
		q++;
		if (strncmp(q, name, n) == 0 && q[n] == '=' && strncmp(q + n + 1, value, m) == 0 &&
		    (q[n + 1 + m] == '\0' || q[n + 1 + m] == '&'))
			return true;
		q = strchr(q, '&');
	}
	return false;
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	struct gd_gateway *gw = arg;
	struct gconn *c = calloc(1, sizeof(*c));

	if (c) {
		c->gw = gw;
		c->ws = ws;
	}
	if (!c || tmr_alloc(&c->watch, gw->g->env, silent, c) || gd_vec_add(&gw->conns, c)) {
		if (c)
			tmr_free(c->watch);
		free(c);
		ws_free(ws);
		return;
	}
	ws_set_handler(ws, on_ws, c);
	if (gw->g->sw.main_away) {
		c->closing = true;
		ws_abort(ws);
		return;
	}
	if (!query_is(path, "v", "10")) {
		gconn_close(c, 4012, "Invalid API version.");
		return;
	}
	if (!query_is(path, "encoding", "json") || strstr(path, "compress=zstd-stream")) {
		gconn_close(c, 4002, "Only JSON and zlib-stream are spoken here.");
		return;
	}
	if (query_is(path, "compress", "zlib-stream")) {
		if (deflateInit(&c->z, Z_DEFAULT_COMPRESSION) != Z_OK) {
			gconn_close(c, 4000, "Unknown error.");
			return;
		}
		c->deflating = true;
	}
	gconn_send(
		c, 10,
		json_pack("{s:I}", "heartbeat_interval", (json_int_t)gw->g->sw.main_heartbeat_ms));
	gconn_beat(c);
}

int gd_gateway_alloc(struct gd_gateway **out, struct guildd *g)
{
	struct ws_listen_conf conf = {.host = g->ip, .max_message = 1 << 20};
	struct gd_gateway *gw = calloc(1, sizeof(*gw));
	int err;

	if (!gw)
		return ENOMEM;
	gw->g = g;
	err = ws_listen(&gw->server, g->ws, &conf, on_accept, gw);
	if (err) {
		free(gw);
		return err;
	}
	snprintf(gw->url, sizeof(gw->url), "ws://%s:%u", g->ip, ws_server_port(gw->server));
	*out = gw;
	return 0;
}

struct gd_gateway *gd_gateway_free(struct gd_gateway *gw)
{
	if (!gw)
		return NULL;
	while (gw->sessions.n)
		gsession_free(gd_vec_take(&gw->sessions, 0));
	while (gw->conns.n)
		gconn_free(gd_vec_take(&gw->conns, 0));
	ws_server_free(gw->server);
	gd_vec_clear(&gw->sessions);
	gd_vec_clear(&gw->conns);
	free(gw);
	return NULL;
}

const char *gd_gateway_url(const struct gd_gateway *gw)
{
	return gw->g->sw.gateway_url[0] ? gw->g->sw.gateway_url : gw->url;
}

void gd_gateway_forget(struct gd_gateway *gw, uint64_t user)
{
	struct gsession *s = gsession_find(gw, user);

	if (s && s->conn)
		gconn_close(s->conn, 4009, "Session timed out.");
	else if (s)
		gsession_end(s);
}

const char *gd_gateway_session(const struct gd_gateway *gw, uint64_t user)
{
	const struct gsession *s = gsession_find(gw, user);

	return s ? s->id : NULL;
}

static struct gconn *conn_of(const struct gd_gateway *gw, uint64_t user)
{
	struct gsession *s = gsession_find(gw, user);

	return s ? s->conn : NULL;
}

bool gd_gateway_close(struct gd_gateway *gw, uint64_t user, uint16_t code, const char *reason)
{
	struct gconn *c = conn_of(gw, user);

	if (c)
		gconn_close(c, code, reason);
	return c != NULL;
}

bool gd_gateway_abort(struct gd_gateway *gw, uint64_t user)
{
	struct gconn *c = conn_of(gw, user);

	if (c) {
		c->closing = true;
		ws_abort(c->ws);
	}
	return c != NULL;
}

bool gd_gateway_send(struct gd_gateway *gw, uint64_t user, int op, const json_t *d)
{
	struct gconn *c = conn_of(gw, user);

	if (c)
		gconn_send(c, op, json_incref((json_t *)(uintptr_t)d));
	return c != NULL;
}

bool gd_gateway_invalidate(struct gd_gateway *gw, uint64_t user)
{
	struct gsession *s = gsession_find(gw, user);

	if (s)
		gd_secret(gw->g, s->id);
	return s != NULL;
}

json_t *gd_gateway_json(const struct gd_gateway *gw)
{
	json_t *list = json_array();

	for (size_t i = 0; i < gw->sessions.n; i++) {
		const struct gsession *s = gw->sessions.v[i];

		json_array_append_new(list, json_pack("{s:o, s:b, s:I, s:i, s:b}", "user_id",
						      gd_id_json(s->bot->user->id), "connected",
						      s->conn != NULL, "intents",
						      (json_int_t)s->intents, "seq", s->seq, "zlib",
						      s->conn && s->conn->deflating));
	}
	return json_pack("{s:o, s:I}", "sessions", list, "identifies", (json_int_t)gw->identifies);
}
