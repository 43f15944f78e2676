#include "control/web/cookies.h"

#include <string.h>

static struct http_text cut(struct http_text *rest, char end)
{
	const char *p = rest->n ? memchr(rest->p, end, rest->n) : NULL;
	struct http_text first = {rest->p, p ? (size_t)(p - rest->p) : rest->n};
	size_t used = first.n + (p ? 1 : 0);

	rest->p += used;
	rest->n -= used;
	return first;
}

static struct http_text trim(struct http_text t)
{
	while (t.n && (*t.p == ' ' || *t.p == '\t')) {
		t.p++;
		t.n--;
	}
	while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t'))
		t.n--;
	return t;
}

bool cookie_find(struct http_text field, const char *name, char *buf, size_t size)
{
	*buf = '\0';
	while (field.n) {
		struct http_text value = cut(&field, ';');
		struct http_text key = trim(cut(&value, '='));

		value = trim(value);
		if (!http_text_is(key, name))
			continue;
		if (value.n >= size)
			return false;
		memcpy(buf, value.p, value.n);
		buf[value.n] = '\0';
		return true;
	}
	return false;
}

bool cookie_find_in_head(const struct http_head *head, const char *name, char *buf, size_t size)
{
	*buf = '\0';
	for (unsigned i = 0; i < head->n_fields; i++)
		if (http_text_like(head->fields[i].name, "Cookie") &&
		    cookie_find(head->fields[i].value, name, buf, size))
			return true;
	return false;
}
