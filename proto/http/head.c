#include "proto/http/head.h"

#include "proto/base/utf8.h"

#include <string.h>
#include <strings.h>

enum {
	BAD = 400,
	URI_TOO_LONG = 414,
	EXPECTATION = 417,
	TOO_LARGE = 431,
	NOT_IMPLEMENTED = 501,
	VERSION = 505
};

static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

/* ---- texts ---- */

bool http_text_is(struct http_text t, const char *s)
{
	size_t n = strlen(s);

	return t.p && t.n == n && memcmp(t.p, s, n) == 0;
}

bool http_text_like(struct http_text t, const char *s)
{
	size_t n = strlen(s);

	return t.p && t.n == n && strncasecmp(t.p, s, n) == 0;
}

/* RFC 9110 section 5.6.2. */
static bool is_tchar(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* RFC 9110 section 5.5: no control character but the tab. */
static bool is_value_char(unsigned char c)
{
	return (c >= 0x20 && c != 0x7f) || c == '\t';
}

bool http_name_valid(const char *name)
{
	if (!*name)
		return false;
	while (*name)
		if (!is_tchar((unsigned char)*name++))
			return false;
	return true;
}

bool http_value_valid(const char *value)
{
	while (*value)
		if (!is_value_char((unsigned char)*value++))
			return false;
	return true;
}

const char *http_method_name(enum http_method method)
{
	return methods[method];
}

/* ---- the end of a head ---- */

long http_head_find(const char *p, size_t n, size_t *seen)
{
	size_t at = *seen;

	while (at < n) {
		if (p[at] == '\n') {
			if (!at || p[at - 1] != '\r')
				return -1;
			if (at >= 3 && p[at - 2] == '\n')
				return (long)at + 1;
		} else if (at && p[at - 1] == '\r') {
			return -1;
		}
		at++;
	}
	*seen = at;
	return 0;
}

/* ---- the target ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte at *at, percent-decoded, or -1; *at moves behind it. */
static int decode_byte(struct http_text t, size_t *at)
{
	int high, low;

	if (t.p[*at] != '%')
		return (unsigned char)t.p[(*at)++];
	if (t.n - *at < 3)
		return -1;
	high = hex_digit(t.p[*at + 1]);
	low = hex_digit(t.p[*at + 2]);
	*at += 3;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Visible ASCII without '#', and no control character even when encoded. */
static bool target_valid(struct http_text t)
{
	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] <= 0x20 || t.p[i] >= 0x7f || t.p[i] == '#')
			return false;
	for (size_t at = 0; at < t.n;) {
		int c = decode_byte(t, &at);

		if (c < 0x20 || c == 0x7f)
			return false;
	}
	return true;
}

static bool has_dot_segment(const char *path)
{
	while (*path) {
		size_t n = strcspn(++path, "/");

		if ((n == 1 && path[0] == '.') || (n == 2 && path[0] == '.' && path[1] == '.'))
			return true;
		path += n;
	}
	return false;
}

/* Slashes and backslashes are refused when encoded: the parts of a path would depend on who decodes
 * it. */
static int decode_path(struct http_head *h, struct http_text raw)
{
	size_t n = 0;

	for (size_t at = 0; at < raw.n;) {
		bool encoded = raw.p[at] == '%';
		int c = decode_byte(raw, &at);

		if (c < 0 || c == '\\' || (encoded && c == '/'))
			return BAD;
		if (n + 1 == sizeof h->path)
			return URI_TOO_LONG;
		h->path[n++] = (char)c;
	}
	h->path[n] = '\0';
	return h->path[0] != '/' || has_dot_segment(h->path) || !utf8_valid(h->path) ? BAD : 0;
}

/* RFC 9112 section 3.2: origin-form, or absolute-form whose authority must then be the Host. */
static int parse_target(struct http_head *h, struct http_text *authority)
{
	static const char scheme[] = "http://";
	struct http_text rest = h->target, path;
	const char *end;

	if (rest.n > HTTP_TARGET_MAX)
		return URI_TOO_LONG;
	if (!target_valid(rest))
		return BAD;
	if (rest.n >= sizeof scheme - 1 && strncasecmp(rest.p, scheme, sizeof scheme - 1) == 0) {
		rest.p += sizeof scheme - 1;
		rest.n -= sizeof scheme - 1;
		end = memchr(rest.p, '/', rest.n);
		if (!end)
			return BAD;
		*authority = (struct http_text){rest.p, (size_t)(end - rest.p)};
		rest.n -= authority->n;
		rest.p = end;
	}
	path = rest;
	end = memchr(rest.p, '?', rest.n);
	if (end) {
		path.n = (size_t)(end - rest.p);
		h->query = (struct http_text){end + 1, rest.n - path.n - 1};
	}
	return decode_path(h, path);
}

/* ---- the lines ---- */

/* The next line without its CRLF; *at moves behind it. */
static struct http_text next_line(const char *p, size_t n, size_t *at)
{
	const char *end = memchr(p + *at, '\r', n - *at);
	struct http_text line = {p + *at, end ? (size_t)(end - p) - *at : n - *at};

	*at += line.n + 2 <= n - *at ? line.n + 2 : n - *at;
	return line;
}

static int parse_method(struct http_head *h, struct http_text word)
{
	for (unsigned i = 0; i < sizeof methods / sizeof methods[0]; i++)
		if (http_text_is(word, methods[i])) {
			h->method = (enum http_method)i;
			return 0;
		}
	for (size_t i = 0; i < word.n; i++)
		if (!is_tchar((unsigned char)word.p[i]))
			return BAD;
	return word.n ? NOT_IMPLEMENTED : BAD;
}

/* RFC 9112 section 3: three words with single spaces between them. */
static int parse_request_line(struct http_head *h, struct http_text line,
			      struct http_text *authority)
{
	const char *a = memchr(line.p, ' ', line.n);
	const char *b = a ? memchr(a + 1, ' ', line.n - (size_t)(a + 1 - line.p)) : NULL;
	struct http_text version;
	int status;

	if (!b)
		return BAD;
	version = (struct http_text){b + 1, line.n - (size_t)(b + 1 - line.p)};
	h->target = (struct http_text){a + 1, (size_t)(b - a) - 1};
	if (version.n != 8 || memcmp(version.p, "HTTP/", 5) != 0 || version.p[6] != '.')
		return BAD;
	if (!http_text_is(version, "HTTP/1.1"))
		return VERSION;
	status = parse_method(h, (struct http_text){line.p, (size_t)(a - line.p)});
	return status ? status : parse_target(h, authority);
}

static int parse_field(struct http_head *h, struct http_text line)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct http_field f;

	if (!colon || colon == line.p)
		return BAD;
	f.name = (struct http_text){line.p, (size_t)(colon - line.p)};
	f.value = (struct http_text){colon + 1, line.n - f.name.n - 1};
	for (size_t i = 0; i < f.name.n; i++)
		if (!is_tchar((unsigned char)f.name.p[i]))
			return BAD;
	for (size_t i = 0; i < f.value.n; i++)
		if (!is_value_char((unsigned char)f.value.p[i]))
			return BAD;
	while (f.value.n && (f.value.p[0] == ' ' || f.value.p[0] == '\t')) {
		f.value.p++;
		f.value.n--;
	}
	while (f.value.n && (f.value.p[f.value.n - 1] == ' ' || f.value.p[f.value.n - 1] == '\t'))
		f.value.n--;
	if (h->n_fields == HTTP_FIELDS_MAX)
		return TOO_LARGE;
	h->fields[h->n_fields++] = f;
	return 0;
}

/* ---- what the fields mean ---- */

/* Fields of which two would leave open which one counts. */
static int find_doubles(const struct http_head *h)
{
	static const char *const single[] = {
		"host",
		"content-length",
		"transfer-encoding",
		"authorization",
		"cookie",
		"origin",
		"content-type",
		"last-event-id",
		"expect",
		"sec-websocket-key",
	};

	for (unsigned k = 0; k < sizeof single / sizeof single[0]; k++) {
		unsigned n = 0;

		for (unsigned i = 0; i < h->n_fields; i++)
			n += http_text_like(h->fields[i].name, single[k]);
		if (n > 1)
			return BAD;
	}
	return 0;
}

/* RFC 9112 section 6: one way to tell the length of the body, or none. */
static int read_framing(struct http_head *h)
{
	struct http_text length = http_head_field(h, "content-length");
	struct http_text coding = http_head_field(h, "transfer-encoding");

	if (coding.p && length.p)
		return BAD;
	if (coding.p && !http_text_like(coding, "chunked"))
		return NOT_IMPLEMENTED;
	h->chunked = coding.p != NULL;
	if (!length.p)
		return 0;
	if (!length.n || length.n > 18)
		return BAD;
	for (size_t i = 0; i < length.n; i++) {
		if (length.p[i] < '0' || length.p[i] > '9')
			return BAD;
		h->length = h->length * 10 + (unsigned)(length.p[i] - '0');
	}
	h->has_length = true;
	return 0;
}

/* True if a comma-separated list holds this token. */
static bool list_holds(struct http_text list, const char *token)
{
	while (list.n) {
		const char *comma = memchr(list.p, ',', list.n);
		struct http_text one = {list.p, comma ? (size_t)(comma - list.p) : list.n};
		size_t step = one.n + (comma ? 1 : 0);

		while (one.n && (one.p[0] == ' ' || one.p[0] == '\t')) {
			one.p++;
			one.n--;
		}
		while (one.n && (one.p[one.n - 1] == ' ' || one.p[one.n - 1] == '\t'))
			one.n--;
		if (http_text_like(one, token))
			return true;
		list.p += step;
		list.n -= step;
	}
	return false;
}

static int read_connection(struct http_head *h)
{
	struct http_text expect = http_head_field(h, "expect");
	bool upgrade = false;

	for (unsigned i = 0; i < h->n_fields; i++) {
		if (!http_text_like(h->fields[i].name, "connection"))
			continue;
		h->close |= list_holds(h->fields[i].value, "close");
		upgrade |= list_holds(h->fields[i].value, "upgrade");
	}
	h->websocket = upgrade && h->method == HTTP_GET && !h->chunked && !h->length &&
		       http_text_like(http_head_field(h, "upgrade"), "websocket");
	if (expect.p && !http_text_like(expect, "100-continue"))
		return EXPECTATION;
	h->expects = expect.p != NULL;
	return 0;
}

/* RFC 9110 section 4.2: host and optional port. Brackets hold an IPv6 address. */
static bool host_valid(struct http_text host)
{
	if (!host.n || host.n > 255)
		return false;
	for (size_t i = 0; i < host.n; i++) {
		unsigned char c = (unsigned char)host.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c && strchr("-._:[]", c))))
			return false;
	}
	return true;
}

static int read_fields(struct http_head *h, struct http_text authority)
{
	int status = find_doubles(h);

	if (status)
		return status;
	h->host = http_head_field(h, "host");
	if (!h->host.p || !host_valid(h->host))
		return BAD;
	if (authority.p &&
	    (authority.n != h->host.n || strncasecmp(authority.p, h->host.p, h->host.n) != 0))
		return BAD;
	status = read_framing(h);
	return status ? status : read_connection(h);
}

int http_head_parse(struct http_head *h, const char *p, size_t n)
{
	struct http_text authority = {0}, line;
	size_t at = n >= 2 && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
	int status;

	h->query = (struct http_text){"", 0};
	h->n_fields = 0;
	h->length = 0;
	h->has_length = h->chunked = h->close = h->expects = h->websocket = false;
	if (n > HTTP_HEAD_MAX)
		return TOO_LARGE;
	/* Besides at the end of lines neither may stand. */
	if (memchr(p, '\0', n))
		return BAD;
	status = parse_request_line(h, next_line(p, n, &at), &authority);
	while (!status && (line = next_line(p, n, &at)).n)
		status = parse_field(h, line);
	return status ? status : read_fields(h, authority);
}

/* ---- asking ---- */

struct http_text http_head_field(const struct http_head *h, const char *name)
{
	for (unsigned i = 0; i < h->n_fields; i++)
		if (http_text_like(h->fields[i].name, name))
			return h->fields[i].value;
	return (struct http_text){NULL, 0};
}

bool http_head_copy(const struct http_head *h, const char *name, char *buf, size_t size)
{
	struct http_text t = http_head_field(h, name);
	bool fits = t.p && t.n < size;

	if (fits)
		memcpy(buf, t.p, t.n);
	buf[fits ? t.n : 0] = '\0';
	return fits;
}

/* Decodes a name or value of the query. False when it does not fit. */
static bool decode_pair(struct http_text raw, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t at = 0; at < raw.n;) {
		bool plus = raw.p[at] == '+';
		int c = decode_byte(raw, &at);

		if (c <= 0 || n + 1 >= size)
			return false;
		buf[n++] = plus ? ' ' : (char)c;
	}
	buf[n] = '\0';
	return utf8_valid(buf);
}

/* The pair at *at, as it was sent; *at moves behind it. False at the end. */
static bool next_pair(const struct http_head *h, size_t *at, struct http_text *left,
		      struct http_text *right)
{
	struct http_text rest = {h->query.p + *at, h->query.n - *at};
	const char *amp = rest.n ? memchr(rest.p, '&', rest.n) : NULL;
	struct http_text pair = {rest.p, amp ? (size_t)(amp - rest.p) : rest.n};
	const char *eq = pair.n ? memchr(pair.p, '=', pair.n) : NULL;

	if (!rest.n)
		return false;
	*at += pair.n + (amp ? 1 : 0);
	*left = (struct http_text){pair.p, eq ? (size_t)(eq - pair.p) : pair.n};
	*right = (struct http_text){eq ? eq + 1 : pair.p + pair.n, eq ? pair.n - left->n - 1 : 0};
	return true;
}

/* The first parameter of this name; its value as it was sent. */
static bool find_pair(const struct http_head *h, const char *name, struct http_text *value)
{
	struct http_text left;
	char key[128];
	size_t at = 0;

	while (next_pair(h, &at, &left, value))
		if (decode_pair(left, key, sizeof key) && strcmp(key, name) == 0)
			return true;
	return false;
}

bool http_head_query(const struct http_head *h, const char *name, char *buf, size_t size)
{
	struct http_text value;

	if (find_pair(h, name, &value) && decode_pair(value, buf, size))
		return true;
	buf[0] = '\0';
	return false;
}

bool http_head_has_query(const struct http_head *h, const char *name)
{
	struct http_text value;

	return find_pair(h, name, &value);
}

bool http_head_next_query(const struct http_head *h, size_t *at, char *name, size_t size)
{
	struct http_text left, right;

	name[0] = '\0';
	while (next_pair(h, at, &left, &right)) {
		if (!left.n && !right.n)
			continue;
		if (!decode_pair(left, name, size))
			name[0] = '\0';
		return true;
	}
	return false;
}
