#include "tests/standins/multipart.h"

#include <stdio.h>
#include <string.h>

enum { BOUNDARY_MAX = 70, MARK_SIZE = 128 };

/* The line before each part: "--" and the boundary. */
static bool mark_of(const char *type, char mark[MARK_SIZE])
{
	const char *p = strstr(type, "boundary=");
	size_t n;

	if (strncmp(type, "multipart/form-data", 19) != 0 || !p)
		return false;
	p += 9;
	p += *p == '"';
	n = strcspn(p, "\";, ");
	if (!n || n > BOUNDARY_MAX)
		return false;
	snprintf(mark, MARK_SIZE, "--%.*s", (int)n, p);
	return true;
}

bool si_multipart_find(const char *type, const char *body, size_t n, const char *name,
		       struct si_part *out)
{
	const char *end = body + n, *at, *next, *head;
	char mark[MARK_SIZE], wanted[MARK_SIZE];

	if (!mark_of(type, mark))
		return false;
	snprintf(wanted, sizeof wanted, "name=\"%s\"", name);
	at = memmem(body, n, mark, strlen(mark));
	while (at) {
		at += strlen(mark);
		next = memmem(at, (size_t)(end - at), mark, strlen(mark));
		head = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
		if (!next || !head || head + 6 > next)
			return false;
		if (memmem(at, (size_t)(head - at), wanted, strlen(wanted))) {
			out->data = head + 4;
			out->n = (size_t)(next - 2 - out->data);
			return true;
		}
		at = next;
	}
	return false;
}

bool si_multipart_text(const char *type, const char *body, size_t n, const char *name, char *text,
		       size_t size)
{
	struct si_part p;

	text[0] = '\0';
	if (!si_multipart_find(type, body, n, name, &p) || p.n >= size)
		return false;
	memcpy(text, p.data, p.n);
	text[p.n] = '\0';
	return true;
}
