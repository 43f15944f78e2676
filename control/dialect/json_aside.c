#include "control/dialect/json_aside.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In the place of a value: a string of a control character and the value's number. A provider that
 * sends the same gets a value that it sent itself. */
enum { MARK_SIZE = sizeof "\"\\u00010\"" - 1 };

static size_t skip_space(const uint8_t *msg, size_t n, size_t at)
{
	while (at < n && (msg[at] == ' ' || msg[at] == '\t' || msg[at] == '\n' || msg[at] == '\r'))
		at++;
	return at;
}

/* The index of the quote that ends the string whose first character is at `at`; n: none does. */
static size_t find_end(const uint8_t *msg, size_t n, size_t at)
{
	for (;;) {
		const uint8_t *quote = memchr(msg + at, '"', n - at);
		const uint8_t *escape;

		if (!quote)
			return n;
		escape = memchr(msg + at, '\\', (size_t)(quote - (msg + at)));
		if (!escape)
			return (size_t)(quote - msg);
		at = (size_t)(escape - msg) + 2;
		if (at >= n)
			return n;
	}
}

/* Printable ASCII without escapes. Eight characters at a time: the borrow of a subtraction shows
 * those below 0x20, the addition of one shows 0x7f, the high bit all above. */
static bool is_plain(const uint8_t *p, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	uint64_t bad = 0;

	if (memchr(p, '\\', n))
		return false;
	for (; n >= 8; p += 8, n -= 8) {
		uint64_t w;

		memcpy(&w, p, sizeof w);
		bad |= (w | (w + ones) | (((w | high) - ones * 0x20) ^ high)) & high;
	}
	for (; n; p++, n--)
		if (*p < 0x20 || *p >= 0x7f)
			return false;
	return !bad;
}

struct rest {
	uint8_t *p;
	size_t n, from; /* from: of the message, not yet copied */
};

static void set_aside(struct json_aside *aside, struct rest *rest, const uint8_t *msg, size_t start,
		      size_t end)
{
	static const char mark[] = "\"\\u0001";

	memcpy(rest->p + rest->n, msg + rest->from, start - 1 - rest->from);
	rest->n += start - 1 - rest->from;
	memcpy(rest->p + rest->n, mark, sizeof mark - 1);
	rest->n += sizeof mark - 1;
	rest->p[rest->n++] = (uint8_t)('0' + aside->n);
	rest->p[rest->n++] = '"';
	rest->from = end + 1;
	aside->v[aside->n++] = (struct slice){.p = msg + start, .n = end - start};
}

/* Walks from string to string. What is not JSON sets nothing aside that jansson would take. */
static void walk(struct json_aside *aside, struct rest *rest, const uint8_t *msg, size_t n,
		 const char *key, size_t least)
{
	size_t key_n = strlen(key), at = 0;

	while (aside->n < JSON_ASIDE_MAX && at < n) {
		const uint8_t *quote = memchr(msg + at, '"', n - at);
		size_t start, end;
		bool ours;

		if (!quote)
			return;
		start = (size_t)(quote - msg) + 1;
		end = find_end(msg, n, start);
		at = skip_space(msg, n, end + 1);
		if (at >= n || msg[at] != ':')
			continue;
		ours = end - start == key_n && memcmp(msg + start, key, key_n) == 0;
		at = skip_space(msg, n, at + 1);
		if (at >= n || msg[at] != '"')
			continue;
		start = at + 1;
		end = find_end(msg, n, start);
		if (end < n && ours && end - start >= least && end - start > MARK_SIZE &&
		    is_plain(msg + start, end - start))
			set_aside(aside, rest, msg, start, end);
		at = end + 1;
	}
}

json_t *json_aside_load(struct json_aside *aside, const uint8_t *msg, size_t n, const char *key,
			size_t least)
{
	struct rest rest = {0};
	json_t *root;

	aside->n = 0;
	if (n < least)
		return json_loadb((const char *)msg, n, 0, NULL);
	rest.p = malloc(n);
	if (!rest.p)
		return NULL;
	walk(aside, &rest, msg, n, key, least);
	if (!aside->n) {
		root = json_loadb((const char *)msg, n, 0, NULL);
	} else {
		memcpy(rest.p + rest.n, msg + rest.from, n - rest.from);
		rest.n += n - rest.from;
		root = json_loadb((const char *)rest.p, rest.n, 0, NULL);
	}
	free(rest.p);
	return root;
}

struct slice json_aside_value(const struct json_aside *aside, struct slice text)
{
	if (text.n != 2 || text.p[0] != 1 || text.p[1] < '0' || text.p[1] - '0' >= (int)aside->n)
		return text;
	return aside->v[text.p[1] - '0'];
}
