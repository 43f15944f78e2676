#include "tests/room/typed.h"

#include <string.h>

#include "control/room/inside.h"

static void add_line(struct typed_watch *w, uint64_t message, const uint8_t *text, size_t n)
{
	struct typed_line *l = &w->line[w->n++ % TYPED_LINES];

	*l = (struct typed_line){0};
	if (!message || !n || n >= sizeof l->text)
		return;
	l->message = message;
	memcpy(l->text, text, n);
}

void typed_came(struct typed_watch *w, const struct room_event *ev)
{
	const uint8_t *end = ev->text.n ? memchr(ev->text.p, '\n', ev->text.n) : NULL;
	bool known = false;

	if (ev->type == ROOM_TYPED) {
		if (end)
			add_line(w, ev->message, end + 1,
				 (size_t)(ev->text.p + ev->text.n - end - 1));
		return;
	}
	for (unsigned i = 0; i < TYPED_LINES; i++) {
		struct typed_line *l = &w->line[i];

		if (l->message && (!ev->message || l->message == ev->message)) {
			l->gone = true;
			known = true;
		}
	}
	/* Of several that go at once nobody knows which had words. */
	if (known && ev->message)
		add_line(w, ev->message, ev->text.p, ev->text.n);
}

/* The same words may have been said, or typed in another message. */
static bool stands_elsewhere(const struct typed_watch *w, const struct room *room, const char *text)
{
	for (unsigned i = 0; i < TYPED_LINES; i++)
		if (w->line[i].message && !w->line[i].gone && strcmp(w->line[i].text, text) == 0)
			return true;
	for (unsigned i = 0; i < room_history_count(&room->history); i++) {
		const struct room_history_line *l = room_history_at(&room->history, i);

		if (!l->message && strcmp(l->text, text) == 0)
			return true;
	}
	return false;
}

bool typed_is_stale(const struct typed_watch *w, const struct room *room,
		    const struct room_effect *e)
{
	for (unsigned i = 0; i < TYPED_LINES; i++)
		for (size_t k = 0; w->line[i].gone && k < e->history_n; k++)
			if (strcmp(w->line[i].text, e->history[k].text) == 0 &&
			    !stands_elsewhere(w, room, w->line[i].text))
				return true;
	return false;
}
