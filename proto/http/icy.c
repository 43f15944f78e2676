#include "proto/http/icy.h"

#include <string.h>

#include "proto/base/utf8.h"

void icy_init(struct icy *i, uint32_t interval)
{
	memset(i, 0, sizeof *i);
	i->interval = i->left = interval;
}

/* Titles may hold apostrophes, so one ends where "';" follows, or with the text. */
static void take_title(struct icy *i)
{
	static const char key[] = "StreamTitle='";
	const char *from = memmem(i->text, i->n, key, sizeof key - 1), *end, *nul;
	char title[ICY_TITLE_MAX];
	size_t n;

	if (!from)
		return;
	from += sizeof key - 1;
	n = i->n - (size_t)(from - i->text);
	nul = memchr(from, '\0', n);
	n = nul ? (size_t)(nul - from) : n;
	end = memmem(from, n, "';", 2);
	if (end)
		n = (size_t)(end - from);
	else if (n && from[n - 1] == '\'')
		n--;
	utf8_copy_or_latin1(title, sizeof title, from, n);
	utf8_plain(title);
	if (strcmp(title, i->title) == 0)
		return;
	memcpy(i->title, title, sizeof title);
	i->titles++;
}

/* Takes bytes of the text under way; returns how many. */
static size_t take_text(struct icy *i, const uint8_t *data, size_t n)
{
	size_t part = i->wanted - i->n < n ? i->wanted - i->n : n;

	memcpy(i->text + i->n, data, part);
	i->n += part;
	if (i->n == i->wanted) {
		take_title(i);
		i->in_text = false;
		i->left = i->interval;
	}
	return part;
}

size_t icy_feed(struct icy *i, uint8_t *data, size_t n)
{
	size_t sound = 0, at = 0;
	unsigned titles;

	if (!i->interval)
		return n;
	while (at < n) {
		if (i->in_text) {
			titles = i->titles;
			at += take_text(i, data + at, n - at);
			if (i->titles != titles)
				i->title_at = sound;
		} else if (i->left) {
			size_t part = i->left < n - at ? i->left : n - at;

			memmove(data + sound, data + at, part);
			sound += part;
			at += part;
			i->left -= (uint32_t)part;
		} else {
			i->wanted = (size_t)data[at++] * ICY_BLOCK;
			i->n = 0;
			i->in_text = i->wanted > 0;
			i->left = i->in_text ? 0 : i->interval;
		}
	}
	return sound;
}
