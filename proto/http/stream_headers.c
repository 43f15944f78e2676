#include "proto/http/stream_headers.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {"User-Agent", "Referer", "Origin", "Accept-Language", NULL};

const char *stream_headers_name(unsigned i)
{
	return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

static const char *find_name(const char *name, size_t n)
{
	for (unsigned i = 0; names[i]; i++)
		if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0)
			return names[i];
	return NULL;
}

static bool is_value(const char *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	return n > 0;
}

/* Whether one of these lines is of that name. */
static bool has_name(const char *lines, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (size_t at = 0; at < n;) {
		const char *end = memchr(lines + at, '\n', n - at);

		if (n - at > len && lines[at + len] == ':' &&
		    strncasecmp(lines + at, name, len) == 0)
			return true;
		at = end ? (size_t)(end - lines) + 1 : n;
	}
	return false;
}

bool stream_headers_add(char *to, size_t size, const char *name, const char *value)
{
	size_t n = strlen(to), len = strlen(value);
	const char *known = find_name(name, strlen(name));

	if (!known || !is_value(value, len) || has_name(to, n, known) ||
	    n + strlen(known) + len + sizeof ": \n" > size)
		return false;
	snprintf(to + n, size - n, "%s: %s\n", known, value);
	return true;
}

bool stream_headers_valid(struct slice lines)
{
	const char *text = (const char *)lines.p;

	if (lines.n > STREAM_HEADERS_MAX)
		return false;
	for (size_t at = 0; at < lines.n;) {
		const char *end = memchr(text + at, '\n', lines.n - at);
		size_t n = end ? (size_t)(end - text) - at : 0;
		const char *colon = n ? memchr(text + at, ':', n) : NULL;
		size_t len = colon ? (size_t)(colon - text) - at : 0;
		const char *name = len ? find_name(text + at, len) : NULL;

		if (!name || n < len + 3 || colon[1] != ' ' || !is_value(colon + 2, n - len - 2) ||
		    has_name(text, at, name))
			return false;
		at += n + 1;
	}
	return true;
}
