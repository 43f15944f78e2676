#include "ipc/shape.h"

#include "proto/base/cursor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum { NAME_MAX_ = 40, EVENT_MAX = 48, DEPTH_MAX = 16 };

__attribute__((format(printf, 2, 3))) static void put(struct wr *w, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n > 0)
		wr_bytes(w, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* ---- JSON ---- */

static int peek(struct rd *r)
{
	while (rd_left(r) && (r->p[r->pos] == ' ' || r->p[r->pos] == '\n' || r->p[r->pos] == '\t' ||
			      r->p[r->pos] == '\r'))
		r->pos++;
	return rd_left(r) ? r->p[r->pos] : -1;
}

/* The text between quotes, escapes as they are. */
static struct slice text_of(struct rd *r)
{
	struct slice s = {r->p + r->pos + 1, 0};

	for (r->pos++; rd_left(r) && r->p[r->pos] != '"'; r->pos++)
		if (r->p[r->pos] == '\\' && rd_left(r) > 1)
			r->pos++;
	s.n = (size_t)(r->p + r->pos - s.p);
	if (rd_left(r))
		r->pos++;
	return s;
}

/* To the end of the list that begins here. */
static size_t skip_list(struct rd *r)
{
	size_t from = r->pos, depth = 0;

	while (rd_left(r)) {
		int c = r->p[r->pos];

		if (c == '"') {
			text_of(r);
			continue;
		}
		r->pos++;
		depth += c == '[';
		depth -= c == ']';
		if (!depth)
			break;
	}
	return r->pos - from;
}

static bool is(struct slice s, const char *word)
{
	return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

/* Names of events and the like: capitals, small letters, digits, dots and underscores. */
static bool is_event(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] == '_' || s.p[i] == '.' || (s.p[i] >= '0' && s.p[i] <= '9') ||
		      ((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z')))
			return false;
	return s.n <= EVENT_MAX;
}

static void put_name(struct wr *w, struct slice s)
{
	put(w, "\"%.*s\":", (int)(s.n < NAME_MAX_ && is_event(s) ? s.n : 0), (const char *)s.p);
}

static void put_text(struct wr *w, struct slice s, bool event)
{
	if (event && is_event(s))
		put(w, "\"%.*s\"", (int)s.n, (const char *)s.p);
	else
		put(w, "*%zu", s.n);
}

/* A number or true, false, null. What is no JSON ends it. */
static void put_word(struct wr *w, struct rd *r)
{
	struct slice s = {r->p + r->pos, 0};
	bool number = true;

	while (rd_left(r) && !strchr(",]} \t\r\n", r->p[r->pos])) {
		number = number && strchr("+-.eE0123456789", r->p[r->pos]);
		r->pos++;
		s.n++;
	}
	if (s.n && s.n < NAME_MAX_ && (number || is(s, "true") || is(s, "false") || is(s, "null")))
		put(w, "%.*s", (int)s.n, (const char *)s.p);
	else
		r->ok = false;
}

static void json_value(struct rd *r, struct wr *w, bool event, unsigned depth);

static void json_object(struct rd *r, struct wr *w, unsigned depth)
{
	bool first = true;

	r->pos++;
	put(w, "{");
	while (peek(r) == '"') {
		struct slice name = text_of(r);

		put(w, first ? "" : ",");
		first = false;
		put_name(w, name);
		if (peek(r) != ':') {
			r->ok = false;
			return;
		}
		r->pos++;
		json_value(r, w, is(name, "t") || is(name, "type"), depth + 1);
		if (peek(r) == ',')
			r->pos++;
	}
	if (peek(r) != '}')
		r->ok = false;
	r->pos += r->ok;
	put(w, "}");
}

static void json_value(struct rd *r, struct wr *w, bool event, unsigned depth)
{
	switch (peek(r)) {
	case -1:
		r->ok = false;
		return;
	case '"':
		put_text(w, text_of(r), event);
		return;
	case '[':
		put(w, "[%zu bytes]", skip_list(r));
		return;
	case '{':
		if (depth < DEPTH_MAX)
			json_object(r, w, depth);
		else
			r->ok = false;
		return;
	default:
		put_word(w, r);
	}
}

size_t shape_json(const char *json, size_t len, char *text, size_t size)
{
	struct rd r = rd_of(json, len);
	struct wr w = wr_of(text, size);

	json_value(&r, &w, false, 0);
	return w.pos;
}

/* ---- msgpack ---- */

static void put_length(struct rd *r, struct wr *w, size_t n)
{
	put(w, "*%zu", n);
	rd_bytes(r, n);
}

static void msgpack_value(struct rd *r, struct wr *w)
{
	unsigned c = (unsigned)rd_be(r, 1);

	if (!r->ok)
		return;
	if (c < 0x80)
		put(w, "%u", c);
	else if (c >= 0xe0)
		put(w, "%d", (int)c - 256);
	else if (c >= 0xa0 && c < 0xc0)
		put_length(r, w, c & 31);
	else if (c == 0xc2 || c == 0xc3)
		put(w, c == 0xc3 ? "yes" : "no");
	else if (c >= 0xc4 && c <= 0xc6)
		put_length(r, w, rd_be(r, 1u << (c - 0xc4)));
	else if (c >= 0xcc && c <= 0xcf)
		put(w, "%" PRIu64, rd_be(r, 1u << (c - 0xcc)));
	else if (c >= 0xd9 && c <= 0xdb)
		put_length(r, w, rd_be(r, 1u << (c - 0xd9)));
	else
		r->ok = false; /* no message of ours has more */
}

size_t shape_msgpack(const uint8_t *data, size_t len, char *text, size_t size)
{
	struct rd r = rd_of(data, len);
	struct wr w = wr_of(text, size);
	unsigned head = (unsigned)rd_be(&r, 1);
	size_t n = head >> 4 == 9 ? head & 15 : head == 0xdc ? rd_be(&r, 2) : 0;

	put(&w, "[");
	for (size_t i = 0; i < n && r.ok && w.ok; i++) {
		put(&w, i ? " " : "");
		msgpack_value(&r, &w);
	}
	put(&w, "]");
	return w.pos;
}
