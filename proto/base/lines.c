#include "proto/base/lines.h"

#include <stdlib.h>
#include <string.h>

enum { CAP_FIRST = 256, CAP_KEPT = 65536 /* between lines */ };

void lines_init(struct lines *l, size_t max, bool cut)
{
	*l = (struct lines){.max = max, .cut = cut};
}

/* Lines may hold pictures or words of people, so no copy is left behind. */
static void wipe_text(struct lines *l)
{
	if (l->text)
		explicit_bzero(l->text, l->cap);
	free(l->text);
}

void lines_clear(struct lines *l)
{
	wipe_text(l);
	lines_init(l, l->max, l->cut);
}

/* Room for `need` bytes and a NUL. */
static bool grow_line(struct lines *l, size_t need)
{
	size_t cap = l->cap ? l->cap : CAP_FIRST;
	char *text;

	if (need < l->cap)
		return true;
	while (cap <= need)
		cap *= 2;
	text = malloc(cap);
	if (!text)
		return false;
	if (l->n)
		memcpy(text, l->text, l->n);
	wipe_text(l);
	l->text = text;
	l->cap = cap;
	return true;
}

static void add_bytes(struct lines *l, const char *p, size_t n)
{
	size_t room = l->max - l->n;

	if (n > room || !grow_line(l, l->n + n)) {
		l->over = true;
		if (n > room)
			n = room;
		if (!l->cut || !grow_line(l, l->n + n))
			n = 0;
	}
	if (n)
		memcpy(l->text + l->n, p, n);
	l->n += n;
}

static void hand_over(struct lines *l, lines_h *h, void *arg)
{
	bool room = grow_line(l, l->n);

	if (l->over || !room)
		l->dropped++;
	if ((!l->over || l->cut) && room) {
		l->text[l->n] = '\0';
		h(l->text, l->n, arg);
	}
	if (l->text)
		explicit_bzero(l->text, l->n);
	l->n = 0;
	l->over = false;
	if (l->cap > CAP_KEPT) {
		wipe_text(l);
		l->text = NULL;
		l->cap = 0;
	}
}

void lines_feed(struct lines *l, const void *data, size_t len, lines_h *h, void *arg)
{
	const char *p = data, *end = p + len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!l->over)
			add_bytes(l, p, (size_t)((nl ? nl : end) - p));
		if (!nl)
			return;
		hand_over(l, h, arg);
		p = nl + 1;
	}
}

void lines_end(struct lines *l, lines_h *h, void *arg)
{
	if (l->n || l->over)
		hand_over(l, h, arg);
}
