#include "control/offline/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { BOUNDARY_MAX = 70 };

/* Writes "--" and the boundary; returns the length, 0 without a boundary. */
static size_t delimiter(const char *type, char *to, size_t size)
{
	const char *b = strcasestr(type, "boundary=");
	size_t n;

	if (strncasecmp(type, "multipart/form-data", 19) != 0 || !b)
		return 0;
	b += strlen("boundary=");
	if (*b == '"')
		n = strcspn(++b, "\"");
	else
		n = strcspn(b, "; ");
	if (!n || n > BOUNDARY_MAX)
		return 0;
	return (size_t)snprintf(to, size, "--%.*s", (int)n, b);
}

static bool named(const uint8_t *head, size_t n, const char *name)
{
	char want[64];
	size_t len = (size_t)snprintf(want, sizeof want, "name=\"%s\"", name);
	const uint8_t *p = head, *end = head + n;

	/* Not the end of filename="…". */
	while ((p = memmem(p, (size_t)(end - p), want, len)) != NULL) {
		if (p > head && (p[-1] == ' ' || p[-1] == ';'))
			return true;
		p++;
	}
	return false;
}

bool multipart_find(const char *type, const uint8_t *body, size_t n, const char *name,
		    const uint8_t **part, size_t *part_n)
{
	char mark[BOUNDARY_MAX + 3];
	size_t len = delimiter(type, mark, sizeof mark);
	const uint8_t *end = body + n, *at = len ? memmem(body, n, mark, len) : NULL, *next, *head;

	for (; at; at = next) {
		head = at + len;
		next = memmem(head, (size_t)(end - head), mark, len);
		at = memmem(head, (size_t)(end - head), "\r\n\r\n", 4);
		/* A part ends with the line break before the next mark. */
		if (!next || !at || at + 4 + 2 > next)
			continue;
		if (!named(head, (size_t)(at - head), name))
			continue;
		*part = at + 4;
		*part_n = (size_t)(next - 2 - *part);
		return true;
	}
	return false;
}
