#include "control/mcp/exchanges.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/mcp.h"
#include "control/dialect/sse.h"
#include "ipc/http.h"

enum {
	SESSION_MAX = 256,
	HEADERS_MAX = 64,
	HEADER_MAX = 512,
	CHALLENGE_MAX = 2048,
	TEXTS_MAX = 12,	      /* lines that are made here */
	EXCHANGE_MS = 300000, /* calls have limits of their own, which drop the exchange */
	STREAM_MS = 86400000,
	CONNECT_MS = 5000,
};

struct exchange {
	struct exchanges *x;
	struct http_req *req;
	uint32_t id;
	bool runs, stream, is_events, begun;
	bool busy;  /* a handler of its messages runs: the place is kept until it returns */
	bool waits; /* for a new token */
	bool again; /* it was sent once more */
	struct mcp_message sent; /* a copy; text NULL: it is not sent again */
	struct sse sse;
	char *body;
	size_t n;
};

struct exchanges {
	struct exchanges_conf conf;
	char *url, **headers;
	char *authorization; /* or NULL */
	char session[SESSION_MAX];
	uint64_t listen_at; /* the earliest time of the next stream */
	struct exchange exchange[EXCHANGES_MAX];
};

static char **copy_lines(const char *const *lines)
{
	char **out = calloc(HEADERS_MAX, sizeof *out);

	for (unsigned i = 0; out && lines && lines[i] && i < HEADERS_MAX / 2; i++)
		if (!(out[i] = strdup(lines[i]))) {
			while (i--)
				free(out[i]);
			free(out);
			return NULL;
		}
	return out;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

int exchanges_alloc(struct exchanges **out, const struct exchanges_conf *conf)
{
	struct exchanges *x = calloc(1, sizeof *x);

	if (!x)
		return ENOMEM;
	x->conf = *conf;
	x->url = strdup(conf->url);
	x->headers = copy_lines(conf->headers);
	if (!x->url || !x->headers) {
		exchanges_free(x);
		return ENOMEM;
	}
	*out = x;
	return 0;
}

/* ---- copies of messages ---- */

static void clear_message(struct mcp_message *m)
{
	for (unsigned i = 0; m->headers && m->headers[i]; i++)
		free((char *)m->headers[i]);
	free((void *)m->headers);
	free((char *)m->text);
	free((char *)m->method);
	free((char *)m->name);
	free((char *)m->version);
	*m = (struct mcp_message){0};
}

static const char *copy_text(const char *text, bool *lost)
{
	char *copy = text ? strdup(text) : NULL;

	*lost = *lost || (text && !copy);
	return copy;
}

/* Without memory there is no copy, and the message is sent once. */
static void copy_message(struct mcp_message *to, const struct mcp_message *from)
{
	bool lost = false;

	*to = *from;
	to->text = strndup(from->text, from->n);
	to->method = copy_text(from->method, &lost);
	to->name = copy_text(from->name, &lost);
	to->version = copy_text(from->version, &lost);
	to->headers = (const char *const *)copy_lines(from->headers);
	if (lost || !to->text || !to->headers)
		clear_message(to);
}

/* ---- the life of an exchange ---- */

static void clear_exchange(struct exchange *e)
{
	sse_clear(&e->sse);
	free(e->body);
	clear_message(&e->sent);
	*e = (struct exchange){0};
}

static void end_exchange(struct exchange *e)
{
	if (e->req)
		http_req_cancel(e->req);
	e->req = NULL;
	e->runs = false;
	if (!e->busy)
		clear_exchange(e);
}

/* Ends it and tells that it is over. */
static void finish(struct exchange *e, unsigned status)
{
	struct exchanges *x = e->x;
	uint32_t id = e->id;

	/* A server may have no such stream (405 is the usual status), which does not change. */
	if (e->stream && status >= 400 && status < 500)
		x->listen_at = UINT64_MAX;
	end_exchange(e);
	x->conf.endh(id, status, x->conf.arg);
}

/* ---- requests ---- */

struct lines {
	const char *line[HEADERS_MAX];
	char text[TEXTS_MAX][HEADER_MAX];
	unsigned n, texts;
};

static void add_line(struct lines *l, const char *line)
{
	if (l->n < HEADERS_MAX - 1)
		l->line[l->n++] = line;
}

static void add_header(struct lines *l, const char *name, const char *value)
{
	char *text = l->text[l->texts];

	if (!value || !*value)
		return;
	if (snprintf(text, HEADER_MAX, "%s: %s", name, value) < HEADER_MAX) {
		add_line(l, text);
		l->texts++;
	}
}

/* A mirrored argument, which may be empty. */
static void add_mirrored(struct lines *l, const char *line)
{
	size_t n = strlen(line);
	char *text = l->text[l->texts];

	if (n < 2 || n >= HEADER_MAX || strcmp(line + n - 2, ": ") != 0) {
		add_line(l, line);
		return;
	}
	if (l->texts == TEXTS_MAX)
		return;
	snprintf(text, HEADER_MAX, "%.*s;", (int)(n - 2), line);
	add_line(l, text);
	l->texts++;
}

static void gather(struct exchanges *x, struct lines *l, const struct mcp_message *m)
{
	*l = (struct lines){0};
	for (unsigned i = 0; x->headers[i]; i++)
		add_line(l, x->headers[i]);
	if (x->authorization)
		add_line(l, x->authorization);
	add_line(l, "Content-Type: application/json");
	add_line(l, "Accept: application/json, text/event-stream");
	add_header(l, "MCP-Session-Id", x->session);
	add_header(l, "MCP-Protocol-Version", m->version);
	add_header(l, "Mcp-Method", m->method);
	add_header(l, "Mcp-Name", m->name);
	for (unsigned i = 0; m->headers && m->headers[i]; i++)
		add_mirrored(l, m->headers[i]);
}

/* ---- responses ---- */

static bool on_event(const uint8_t *data, size_t n, void *arg)
{
	struct exchange *e = arg;

	if (n && e->runs)
		e->x->conf.messageh((const char *)data, n, e->x->conf.arg);
	return e->runs;
}

static void read_head(struct exchange *e, const struct http_resp *resp)
{
	char value[SESSION_MAX];

	e->begun = true;
	e->is_events = http_header(resp, "Content-Type", value, sizeof value) &&
		       strncasecmp(value, "text/event-stream", 17) == 0;
	if (http_header(resp, "MCP-Session-Id", value, sizeof value))
		snprintf(e->x->session, sizeof e->x->session, "%s", value);
}

/* ENOMEM, EMSGSIZE. */
static int take_bytes(struct exchange *e, const char *p, size_t n)
{
	char *grown;

	if (e->is_events)
		return sse_feed(&e->sse, p, n, on_event, e);
	if (e->n + n > MCP_MESSAGE_MAX)
		return EMSGSIZE;
	grown = realloc(e->body, e->n + n + 1);
	if (!grown)
		return ENOMEM;
	memcpy(grown + e->n, p, n);
	e->body = grown;
	e->n += n;
	return 0;
}

/* False: a handler dropped the exchange, or it had to be ended. */
static bool take_response(struct exchange *e, const struct http_resp *resp)
{
	int err;

	if (!e->begun)
		read_head(e, resp);
	e->busy = true;
	if (resp->body.n && e->x->conf.readh)
		e->x->conf.readh(resp->body.n, e->x->conf.arg);
	err = resp->body.n && e->runs ? take_bytes(e, resp->body.p, resp->body.n) : 0;
	e->busy = false;
	if (!e->runs)
		clear_exchange(e);
	else if (err)
		finish(e, 0);
	else
		return true;
	return false;
}

static void on_part(const struct http_resp *resp, void *arg)
{
	take_response(arg, resp);
}

static void tell_challenge(const struct exchanges *x, const struct http_resp *resp)
{
	char field[CHALLENGE_MAX];

	if ((resp->status == 401 || resp->status == 403) && x->conf.challengeh &&
	    http_header(resp, "WWW-Authenticate", field, sizeof field))
		x->conf.challengeh((unsigned)resp->status, field, x->conf.arg);
}

/* True: the exchange goes on by itself, or it is over. */
static bool await_token(struct exchange *e, const struct http_resp *resp)
{
	struct exchanges *x = e->x;

	if (!e->sent.text || e->again || !x->conf.renewh)
		return false;
	e->busy = true;
	e->waits = true;
	tell_challenge(x, resp);
	e->waits = x->conf.renewh(x->conf.arg) && e->waits;
	e->busy = false;
	if (!e->runs)
		clear_exchange(e);
	return !e->runs || e->waits || e->req;
}

static void on_response(const struct http_resp *resp, void *arg)
{
	struct exchange *e = arg;

	e->req = NULL; /* it is over with this handler */
	if (resp->err) {
		finish(e, 0);
		return;
	}
	if (resp->status == 401 && await_token(e, resp))
		return;
	if (!take_response(e, resp))
		return;
	e->busy = true;
	if (!e->is_events && e->n)
		e->x->conf.messageh(e->body, e->n, e->x->conf.arg);
	if (e->runs)
		tell_challenge(e->x, resp);
	e->busy = false;
	if (e->runs)
		finish(e, (unsigned)resp->status);
	else
		clear_exchange(e);
}

static struct exchange *begin(struct exchanges *x, const struct http_call *call, uint32_t id)
{
	struct exchange *e = NULL;

	for (unsigned i = 0; i < EXCHANGES_MAX && !e; i++)
		if (!x->exchange[i].runs && !x->exchange[i].busy)
			e = &x->exchange[i];
	if (!e)
		return NULL;
	*e = (struct exchange){.x = x, .id = id, .runs = true};
	if (http_request(&e->req, x->conf.http, call, on_response, e)) {
		*e = (struct exchange){0};
		return NULL;
	}
	return e;
}

static struct http_call make_post(struct exchanges *x, struct lines *l,
				  const struct mcp_message *message)
{
	gather(x, l, message);
	return (struct http_call){.method = "POST",
				  .url = x->url,
				  .headers = l->line,
				  .body = message->text,
				  .body_len = message->n,
				  .timeout_ms = message->stays ? STREAM_MS : EXCHANGE_MS,
				  .connect_ms = CONNECT_MS,
				  .max_body = SIZE_MAX,
				  .parth = on_part};
}

void exchanges_send(struct exchanges *x, const struct mcp_message *message)
{
	struct lines l;
	const struct http_call call = make_post(x, &l, message);
	struct exchange *e = begin(x, &call, message->id);

	if (!e)
		x->conf.endh(message->id, 0, x->conf.arg);
	else if (x->conf.renewh && message->id)
		copy_message(&e->sent, message);
}

static void send_again(struct exchange *e)
{
	struct lines l;
	const struct http_call call = make_post(e->x, &l, &e->sent);

	e->waits = false;
	e->again = true;
	if (http_request(&e->req, e->x->conf.http, &call, on_response, e))
		finish(e, 0);
}

int exchanges_authorize(struct exchanges *x, const char *header)
{
	char *copy = strdup(header);

	if (!copy)
		return ENOMEM;
	wipe(x->authorization);
	x->authorization = copy;
	for (unsigned i = 0; i < EXCHANGES_MAX; i++)
		if (x->exchange[i].runs && x->exchange[i].waits)
			send_again(&x->exchange[i]);
	return 0;
}

void exchanges_give_up(struct exchanges *x)
{
	for (unsigned i = 0; i < EXCHANGES_MAX; i++)
		if (x->exchange[i].runs && x->exchange[i].waits) {
			x->exchange[i].waits = false;
			finish(&x->exchange[i], 401);
		}
}

uint64_t exchanges_listen(struct exchanges *x, const char *revision, uint64_t now)
{
	const struct mcp_message none = {.version = revision};
	struct lines l;
	struct http_call call = {.method = "GET",
				 .url = x->url,
				 .headers = l.line,
				 .timeout_ms = STREAM_MS,
				 .connect_ms = CONNECT_MS,
				 .max_body = SIZE_MAX,
				 .parth = on_part};
	struct exchange *e;

	for (unsigned i = 0; i < EXCHANGES_MAX; i++)
		if (x->exchange[i].runs && x->exchange[i].stream)
			return UINT64_MAX;
	if (now < x->listen_at)
		return x->listen_at;
	x->listen_at = now + EXCHANGES_LISTEN_NS;
	gather(x, &l, &none);
	e = begin(x, &call, 0);
	if (!e)
		return x->listen_at;
	e->stream = true;
	return UINT64_MAX;
}

void exchanges_drop(struct exchanges *x, uint32_t id)
{
	for (unsigned i = 0; i < EXCHANGES_MAX; i++)
		if (x->exchange[i].runs && x->exchange[i].id == id)
			end_exchange(&x->exchange[i]);
}

static void on_ended_session(const struct http_resp *resp, void *arg)
{
	(void)resp;
	(void)arg;
}

/* The server may forget the session. */
static void end_session(struct exchanges *x)
{
	const struct mcp_message none = {0};
	struct lines l;
	const struct http_call call = {
		.method = "DELETE", .url = x->url, .headers = l.line, .connect_ms = CONNECT_MS};

	gather(x, &l, &none);
	http_request(NULL, x->conf.http, &call, on_ended_session, NULL);
}

void exchanges_reset(struct exchanges *x)
{
	for (unsigned i = 0; i < EXCHANGES_MAX; i++)
		if (x->exchange[i].runs)
			end_exchange(&x->exchange[i]);
	if (*x->session)
		end_session(x);
	*x->session = '\0';
	x->listen_at = 0;
}

bool exchanges_in_session(const struct exchanges *x)
{
	return *x->session != '\0';
}

struct exchanges *exchanges_free(struct exchanges *x)
{
	if (!x)
		return NULL;
	exchanges_reset(x);
	for (unsigned i = 0; x->headers && x->headers[i]; i++) {
		explicit_bzero(x->headers[i], strlen(x->headers[i]));
		free(x->headers[i]);
	}
	free(x->headers);
	wipe(x->authorization);
	free(x->url);
	free(x);
	return NULL;
}
