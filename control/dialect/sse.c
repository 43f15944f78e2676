#include "control/dialect/sse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int keep(struct sse *s, char ch)
{
	if (s->n == SSE_MAX)
		return EMSGSIZE;
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 512;
		char *grown = realloc(s->data, cap);

		if (!grown)
			return ENOMEM;
		s->data = grown;
		s->cap = cap;
	}
	s->data[s->n++] = ch;
	return 0;
}

static bool data_p(const struct sse *s)
{
	return s->name == 4 && memcmp(s->field, "data", 4) == 0;
}

/* The field's name is over: is its value one that is kept? */
static int begin_value(struct sse *s, bool colon)
{
	int err = 0;

	if (!data_p(s)) {
		s->at = SSE_SKIP;
		return 0;
	}
	if (s->has)
		err = keep(s, '\n');
	s->has = true;
	s->at = colon ? SSE_BLANK : SSE_SKIP;
	return err;
}

static int end_line(struct sse *s, sse_h *h, void *arg)
{
	bool empty = s->at == SSE_NAME && s->name == 0, more = true;
	int err = 0;

	if (s->at == SSE_NAME && !empty)
		err = begin_value(s, false);
	s->at = SSE_NAME;
	s->name = 0;
	if (err || !empty || !s->has)
		return err;
	s->has = false;
	more = h((const uint8_t *)(s->data ? s->data : ""), s->n, arg);
	s->n = 0;
	return more ? 0 : ECANCELED;
}

static int take(struct sse *s, char ch)
{
	switch (s->at) {
	case SSE_NAME:
		if (ch == ':')
			return begin_value(s, true);
		if (s->name < sizeof s->field)
			s->field[s->name++] = ch;
		break;
	case SSE_BLANK:
		s->at = SSE_VALUE;
		return ch == ' ' ? 0 : keep(s, ch);
	case SSE_VALUE:
		return keep(s, ch);
	case SSE_SKIP:
		break;
	}
	return 0;
}

int sse_feed(struct sse *s, const void *bytes, size_t n, sse_h *h, void *arg)
{
	static const char mark[] = "\xef\xbb\xbf";
	const char *p = bytes;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		bool again = s->after && p[i] == '\n';

		if (s->bom < 3 && p[i] == mark[s->bom]) {
			s->bom++;
			continue;
		}
		s->bom = 3;
		s->after = p[i] == '\r';
		if (p[i] == '\n' || p[i] == '\r')
			err = again ? 0 : end_line(s, h, arg);
		else
			err = take(s, p[i]);
	}
	return err;
}

void sse_clear(struct sse *s)
{
	free(s->data);
	*s = (struct sse){0};
}
