/* Handles requests in steps, and composes their responses. Uses no socket. */
#include "ipc/env.h"
#include "ipc/http_inside.h"
#include "ipc/scrub.h"
#include "proto/base/cursor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- the response's bytes ---- */

static const char *reason_phrase(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} known[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{206, "Partial Content"},
		{301, "Moved Permanently"},
		{302, "Found"},
		{303, "See Other"},
		{304, "Not Modified"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{411, "Length Required"},
		{413, "Content Too Large"},
		{414, "URI Too Long"},
		{415, "Unsupported Media Type"},
		{417, "Expectation Failed"},
		{421, "Misdirected Request"},
		{422, "Unprocessable Content"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].status == status)
			return known[i].phrase;
	/* RFC 9112 section 4: the reason phrase may be empty. */
	return "";
}

/* RFC 9110 section 5.6.7. */
static const char *date_of(struct http_server *s)
{
	uint64_t now = env_wall_ms(s->env) / 1000;
	time_t t = (time_t)now;
	struct tm tm;

	if (now != s->date_s || !s->date[0]) {
		s->date_s = now;
		strftime(s->date, sizeof s->date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&t, &tm));
	}
	return s->date;
}

static void out_add(struct http_exchange *x, const void *p, size_t n)
{
	if (!http_bytes_add(&x->out, p, n))
		x->broken = true;
}

static void out_text(struct http_exchange *x, const char *text)
{
	out_add(x, text, strlen(text));
}

/* Replay has another secret: its journal lacks what the secret is made from. */
static void record_output(struct http_exchange *x, const void *p, size_t n)
{
	const struct scrub secret = {.secrets = {x->cookie}, .n = *x->cookie != '\0'};
	void *clean = NULL;

	if (scrub_copy(&secret, p, n, &clean))
		x->broken = true;
	env_output(x->s->env, ENV_OUT_HTTP, x->s->source, clean ? clean : p, n);
	free(clean);
	explicit_bzero(x->cookie, sizeof x->cookie);
}

/* Sends the bytes added to `out` since `from`. Without memory for them the shell ends the
 * connection. */
static void sent_since(struct http_exchange *x, size_t from)
{
	if (!x->broken)
		record_output(x, x->out.p + from, x->out.n - from);
	if (env_replaying(x->s->env))
		http_bytes_free(&x->out);
	else
		http_mark_dirty(x);
}

void http_exchange_send(struct http_exchange *x, const void *p, size_t n)
{
	size_t from = x->out.n;

	out_add(x, p, n);
	sent_since(x, from);
}

/* ---- fields ---- */

static bool field_is_set(const struct http_exchange *x, const char *name)
{
	size_t n = strlen(name);
	const char *p = (const char *)x->fields.p, *end = p + x->fields.n;

	while (p < end) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));

		if ((size_t)(end - p) > n && strncasecmp(p, name, n) == 0 && p[n] == ':')
			return true;
		p = line_end + 1;
	}
	return false;
}

int http_reply_field(struct http_exchange *x, const char *name, const char *value)
{
	size_t n = strlen(name) + strlen(value) + 4;
	char line[HTTP_FIELDS_SIZE];

	if (!http_name_valid(name) || !http_value_valid(value))
		return EINVAL;
	if (n >= sizeof line || x->fields.n + n > HTTP_FIELDS_SIZE)
		return ENOSPC;
	snprintf(line, sizeof line, "%s: %s\r\n", name, value);
	return http_bytes_add(&x->fields, line, n) ? 0 : ENOMEM;
}

int http_reply_cookie(struct http_exchange *x, const char *name, const char *secret,
		      const char *attributes)
{
	char value[2 * HTTP_COOKIE_MAX];
	int n = snprintf(value, sizeof value, "%s=%s%s", name, secret, attributes), err;

	if (strlen(secret) < SCRUB_MIN_BYTES || *x->cookie)
		return EINVAL;
	if (strlen(secret) >= sizeof x->cookie || n < 0 || (size_t)n >= sizeof value)
		return ENOSPC;
	err = http_reply_field(x, "Set-Cookie", value);
	if (!err)
		memcpy(x->cookie, secret, strlen(secret) + 1);
	explicit_bzero(value, sizeof value);
	return err;
}

/* Strict defaults: the page may load nothing, be framed nowhere, and be cached by nobody. */
static void add_defaults(struct http_exchange *x)
{
	static const struct {
		const char *name, *line;
	} defaults[] = {
		{"cache-control", "Cache-Control: no-store\r\n"},
		{"content-security-policy",
		 "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"},
		{"x-content-type-options", "X-Content-Type-Options: nosniff\r\n"},
		{"x-frame-options", "X-Frame-Options: DENY\r\n"},
		{"referrer-policy", "Referrer-Policy: no-referrer\r\n"},
	};

	for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
		if (!x->fields.n || !field_is_set(x, defaults[i].name))
			out_text(x, defaults[i].line);
}

/* Writes the head up to the fields that give the body's length. */
static void add_head(struct http_exchange *x, int status, const char *type)
{
	char line[128];

	x->begun = true;
	/* The unread rest of the request's body could be mistaken for a next request. */
	x->last |= !x->body_whole || x->s->draining;
	snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, reason_phrase(status),
		 date_of(x->s));
	out_text(x, line);
	if (type && http_value_valid(type)) {
		out_text(x, "Content-Type: ");
		out_text(x, type);
		out_text(x, "\r\n");
	}
	out_add(x, x->fields.p, x->fields.n);
	add_defaults(x);
	http_bytes_free(&x->fields);
}

/* ---- the request's head ---- */

struct http_kept_head {
	struct http_head head;
	char bytes[];
};

void http_exchange_drop_head(struct http_exchange *x)
{
	free(x->kept);
	x->kept = NULL;
	x->head = NULL;
}

/* For who answers later: what is borrowed from bytes that go is borrowed from a copy. */
static void keep_head(struct http_exchange *x, const char *bytes, size_t n)
{
	x->kept = malloc(sizeof *x->kept + n);
	x->head = NULL;
	if (!x->kept) {
		x->broken = true;
		return;
	}
	memcpy(x->kept->bytes, bytes, n);
	http_head_parse(&x->kept->head, x->kept->bytes, n);
	x->head = &x->kept->head;
}

const struct http_head *http_request_head(const struct http_exchange *x)
{
	return x->head;
}

void http_set_tag(struct http_exchange *x, uint64_t tag)
{
	x->tag = tag;
}

uint64_t http_tag(const struct http_exchange *x)
{
	return x->tag;
}

unsigned http_tag_readers(const struct http_exchange *x)
{
	const struct http_server *s = x->s;
	unsigned n = 0;

	for (unsigned i = 0; i < s->conf.max_connections; i++)
		n += s->slots[i] && s->slots[i]->events && s->slots[i]->tag == x->tag;
	return n;
}

static void end_exchange(struct http_exchange *x)
{
	x->tag = 0;
	http_exchange_drop_head(x);
	x->active = false;
	x->bodyh = NULL;
	x->held = false;
	x->body_ms = 0;
	x->goneh = NULL;
	http_bytes_free(&x->whole);
}

/* RFC 9110 section 6.4.1. */
static bool has_no_body(int status)
{
	return status / 100 == 1 || status == 204 || status == 304;
}

static void reply_whole(struct http_exchange *x, int status, const char *type, const void *data,
			size_t n)
{
	size_t from = x->out.n;
	char line[64];

	add_head(x, status, type);
	if (x->last)
		out_text(x, "Connection: close\r\n");
	if (has_no_body(status))
		snprintf(line, sizeof line, "\r\n");
	else
		snprintf(line, sizeof line, "Content-Length: %zu\r\n\r\n", n);
	out_text(x, line);
	if (!x->head_only && !has_no_body(status))
		out_add(x, data, n);
	end_exchange(x);
	sent_since(x, from);
}

void http_reply(struct http_exchange *x, int status, const char *type, const void *data, size_t n)
{
	if (x->active && !x->begun)
		reply_whole(x, status, type, data, n);
}

void http_reply_begin(struct http_exchange *x, int status, const char *type)
{
	size_t from = x->out.n;

	if (!x->active || x->begun)
		return;
	x->parts = true;
	add_head(x, status, type);
	if (x->last)
		out_text(x, "Connection: close\r\n");
	out_text(x, "Transfer-Encoding: chunked\r\n\r\n");
	sent_since(x, from);
}

int http_reply_write(struct http_exchange *x, const void *data, size_t n)
{
	size_t from = x->out.n;
	char size[32];
	int k;

	if (!x->active || !x->parts)
		return ENOTCONN;
	if (!n || x->head_only)
		return 0;
	if (env_answer(x->s->env, n > HTTP_OUT_MAX || http_out_waiting(x) > HTTP_OUT_MAX - n))
		return ENOBUFS;
	k = snprintf(size, sizeof size, "%zx\r\n", n);
	out_add(x, size, (size_t)k);
	out_add(x, data, n);
	out_add(x, "\r\n", 2);
	sent_since(x, from);
	return x->broken ? ENOMEM : 0;
}

void http_reply_end(struct http_exchange *x)
{
	bool parts = x->active && x->parts;

	if (!parts)
		return;
	end_exchange(x);
	if (!x->head_only)
		http_exchange_send(x, "0\r\n\r\n", 5);
	else
		http_mark_dirty(x);
}

void http_reply_stream_head(struct http_exchange *x, const char *type)
{
	size_t from = x->out.n;

	x->last = true;
	add_head(x, 200, type);
	/* The response has no length: it ends with the connection. Proxies must not wait for more
	 * of it. */
	out_text(x, "X-Accel-Buffering: no\r\nConnection: close\r\n\r\n:\n\n");
	sent_since(x, from);
}

/* ---- bodies, and clients that left ---- */

static void send_continue(struct http_exchange *x)
{
	/* Not inside an answer that has begun. */
	if (x->expects && !x->begun)
		http_exchange_send(x, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	x->expects = false;
}

/* An answer that has begun is cut. */
static void refuse_length(struct http_exchange *x)
{
	if (!x->begun) {
		reply_whole(x, 413, NULL, NULL, 0);
		return;
	}
	end_exchange(x);
	http_mark_dirty(x);
}

int http_take_body(struct http_exchange *x, const struct http_body_limits *limits, http_body_h *h,
		   void *arg)
{
	if (!x->active || x->bodyh)
		return EINVAL;
	if (x->length > limits->max) {
		refuse_length(x);
		return EMSGSIZE;
	}
	x->bodyh = h;
	x->body_arg = arg;
	x->body_max = limits->max;
	x->in_parts = limits->parts;
	if (limits->ms && x->state == HTTP_CONN_BODY)
		x->deadline = 0; /* set again with the route's limit */
	x->body_ms = limits->ms;
	if (x->body_whole)
		h(x, (const uint8_t *)"", 0, true, arg);
	else
		send_continue(x);
	http_mark_dirty(x);
	return 0;
}

void http_hold_body(struct http_exchange *x, bool on)
{
	if (!x->active || !x->in_parts || x->held == on)
		return;
	x->held = on;
	http_mark_dirty(x);
}

void http_on_gone(struct http_exchange *x, http_gone_h *h, void *arg)
{
	x->goneh = h;
	x->gone_arg = arg;
}

void http_client_address(const struct http_exchange *x, char *buf, size_t size)
{
	snprintf(buf, size, "%s", x->address);
}

void http_exchange_lose(struct http_exchange *x)
{
	http_gone_h *h = x->active ? x->goneh : NULL;
	void *arg = x->gone_arg;

	http_events_leave(x);
	end_exchange(x);
	x->last = true;
	if (h)
		h(x, arg);
}

/* ---- upgrades ---- */

/* Rewrites the request from its parsed form, so that the next parser cannot read it differently. */
static bool keep_request(struct http_exchange *x, const struct http_head *h)
{
	struct http_bytes *b = &x->handover;
	bool ok = http_bytes_add(b, "GET ", 4) && http_bytes_add(b, h->target.p, h->target.n) &&
		  http_bytes_add(b, " HTTP/1.1\r\n", 11);

	for (unsigned i = 0; ok && i < h->n_fields; i++)
		ok = http_bytes_add(b, h->fields[i].name.p, h->fields[i].name.n) &&
		     http_bytes_add(b, ": ", 2) &&
		     http_bytes_add(b, h->fields[i].value.p, h->fields[i].value.n) &&
		     http_bytes_add(b, "\r\n", 2);
	return ok && http_bytes_add(b, "\r\n", 2);
}

void http_upgrade(struct http_exchange *x, http_upgrade_h *h, void *arg)
{
	if (!x->active || x->begun)
		return;
	if (!keep_request(x, x->head))
		x->broken = true;
	end_exchange(x);
	x->last = true;
	x->upgradeh = h;
	x->upgrade_arg = arg;
	http_mark_dirty(x);
}

/* ---- inputs ---- */

static void begin_exchange(struct http_exchange *x, const struct http_head *head)
{
	x->active = true;
	x->begun = x->parts = false;
	x->body_whole = !head->chunked && !head->length;
	x->last = head->close;
	x->head_only = head->method == HTTP_HEAD;
	x->expects = head->expects;
	x->chunked = head->chunked;
	x->length = head->length;
	x->bodyh = NULL;
	x->goneh = NULL;
	http_bytes_free(&x->fields);
	x->s->counts.requests++;
}

static void on_refused(struct http_exchange *x, int status, bool head_only)
{
	/* A response that has begun cannot be replaced. */
	bool begun = x->active && x->begun;
	char text[80];

	http_exchange_lose(x);
	x->s->counts.refused++;
	http_bytes_free(&x->fields);
	x->head_only = head_only;
	/* People read it who used a host name that this server does not know. */
	snprintf(text, sizeof text, "%s\n",
		 status == 421 ? "This server does not answer to the host name in the request."
			       : reason_phrase(status));
	if (!begun)
		reply_whole(x, status, "text/plain; charset=utf-8", text, strlen(text));
}

static void on_request(struct http_exchange *x, struct rd *r)
{
	struct http_server *s = x->s;
	struct http_head head;
	size_t n = rd_be(r, 1);
	const uint8_t *address = rd_bytes(r, n);
	const char *bytes;
	int status;

	if (!address || n >= sizeof x->address)
		return;
	memcpy(x->address, address, n);
	x->address[n] = '\0';
	n = rd_left(r);
	bytes = (const char *)rd_bytes(r, n);
	status = http_head_parse(&head, bytes, n);
	if (status) {
		on_refused(x, status, false);
		return;
	}
	if (s->conf.hosth && !s->conf.hosth(head.host, s->conf.arg)) {
		on_refused(x, 421, head.method == HTTP_HEAD);
		return;
	}
	begin_exchange(x, &head);
	x->head = &head;
	s->conf.h(x, &head, s->conf.arg);
	if (x->active && !x->events)
		keep_head(x, bytes, n);
	else
		x->head = NULL;
}

static void on_body(struct http_exchange *x, struct rd *r)
{
	bool last = rd_be(r, 1) != 0;
	size_t n = rd_left(r);
	const uint8_t *data = n ? rd_bytes(r, n) : (const uint8_t *)"";
	struct http_bytes whole = {0};

	x->body_whole = last;
	if (!x->bodyh)
		return;
	if (x->in_parts) {
		x->bodyh(x, data, n, last, x->body_arg);
		return;
	}
	if (!http_bytes_add(&x->whole, data, n)) {
		x->broken = true;
		return;
	}
	if (!last)
		return;
	whole = x->whole;
	x->whole = (struct http_bytes){0};
	x->bodyh(x, whole.p ? whole.p : (const uint8_t *)"", whole.n, true, x->body_arg);
	http_bytes_free(&whole);
}

static void on_drained(struct http_server *s)
{
	void (*h)(void *arg) = s->drainedh;

	s->drainedh = NULL;
	if (h)
		h(s->drained_arg);
}

void http_exchange_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct http_server *s = arg;
	struct rd r = rd_of(data, len);
	uint32_t slot = (uint32_t)rd_be(&r, 4);
	struct http_exchange *x;

	if (kind == HTTP_IN_DRAINED) {
		on_drained(s);
		return;
	}
	if (slot >= s->conf.max_connections)
		return;
	x = s->slots[slot];
	if (!x)
		x = http_exchange_new(s, slot);
	if (!x)
		return;
	switch (kind) {
	case HTTP_IN_REQUEST:
		on_request(x, &r);
		break;
	case HTTP_IN_BODY:
		on_body(x, &r);
		break;
	case HTTP_IN_GONE:
		http_exchange_lose(x);
		break;
	case HTTP_IN_REFUSED:
		on_refused(x, (int)rd_be(&r, 2), false);
		break;
	case HTTP_IN_MISSED:
		http_events_missed(x);
		break;
	default:
		break;
	}
}

/* Records the method and lengths, but no path, which may contain personal data. */
size_t http_exchange_shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	static const char *const names[] = {
		[HTTP_IN_REQUEST] = "request", [HTTP_IN_BODY] = "body",
		[HTTP_IN_GONE] = "gone",       [HTTP_IN_REFUSED] = "refused",
		[HTTP_IN_MISSED] = "missed",   [HTTP_IN_DRAINED] = "drained",
	};
	struct rd r = rd_of(data, len);
	unsigned slot = (unsigned)rd_be(&r, 4);
	int n;

	if (kind >= sizeof names / sizeof names[0] || !names[kind])
		return 0;
	n = snprintf(text, size, "http %s slot=%u", names[kind], slot);
	if (kind == HTTP_IN_REFUSED)
		n += snprintf(text + n, size - (size_t)n, " status=%u", (unsigned)rd_be(&r, 2));
	return (size_t)n;
}
