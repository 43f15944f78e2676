/* Heads of HTTP requests: no input may crash or pass a bound, an accepted head must keep its
 * promises, and where it ends must not depend on how it was cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "proto/http/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool inside(struct http_text t, const char *p, size_t n)
{
	return !t.n || (t.p >= p && t.p + t.n <= p + n);
}

static long find(const char *p, size_t n, size_t step)
{
	size_t seen = 0;
	long len = 0;

	for (size_t at = step; !len; at += step) {
		len = http_head_find(p, at < n ? at : n, &seen);
		if (at >= n)
			break;
	}
	return len;
}

static void accepted(const struct http_head *h, const char *p, size_t n)
{
	char buf[64];

	require(h->path[0] == '/' && memchr(h->path, '\0', sizeof h->path) && utf8_valid(h->path));
	for (const char *c = h->path; *c; c++)
		require((unsigned char)*c >= 0x20 && *c != 0x7f && *c != '\\');
	require(!strstr(h->path, "/../") && !strstr(h->path, "/./"));
	require(inside(h->target, p, n) && inside(h->query, p, n) && h->host.n &&
		inside(h->host, p, n));
	require(!(h->chunked && h->has_length) && h->n_fields <= HTTP_FIELDS_MAX);
	for (unsigned i = 0; i < h->n_fields; i++) {
		require(h->fields[i].name.n && inside(h->fields[i].name, p, n) &&
			inside(h->fields[i].value, p, n));
		require(!memchr(h->fields[i].value.p, '\n', h->fields[i].value.n) &&
			!memchr(h->fields[i].value.p, '\r', h->fields[i].value.n));
	}
	http_method_name(h->method);
	if (http_head_query(h, "q", buf, sizeof buf))
		require(utf8_valid(buf) && !strpbrk(buf, "\r\n"));
	if (http_head_copy(h, "cookie", buf, sizeof buf))
		require(http_value_valid(buf));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct http_head h;
	long whole = find(p, size, size ? size : 1);

	require(whole <= (long)size && find(p, size, 1) == whole && find(p, size, 7) == whole);
	/* What is not whole is parsed as well: a caller's mistake must not read beyond it. */
	if (http_head_parse(&h, p, whole > 0 ? (size_t)whole : size) == 0)
		accepted(&h, p, size);
	return 0;
}
