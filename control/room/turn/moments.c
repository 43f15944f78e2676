#include "control/room/turn/moments.h"

#include <stdio.h>

#include "proto/base/utf8.h"

#define S 1000000000ull

enum { AGAIN_MS = 2500, FRESH_S = 60 };

bool room_happened(struct room_happenings *h, enum room_happened what, uint64_t user,
		   const char *name, const char *text, uint64_t now)
{
	struct room_happening *e;

	for (unsigned i = 0; i < h->n && i < ROOM_HAPPENINGS && what != ROOM_HAPPENED_SOUND; i++) {
		const struct room_happening *was = &h->v[(h->n - 1 - i) % ROOM_HAPPENINGS];

		if (was->what == what && was->user == user && now - was->at < AGAIN_MS * (S / 1000))
			return false;
	}
	e = &h->v[h->n++ % ROOM_HAPPENINGS];
	*e = (struct room_happening){.what = what, .user = user, .at = now};
	utf8_copy(e->name, sizeof e->name, name);
	utf8_copy(e->text, sizeof e->text, text ? text : "");
	utf8_plain(e->text);
	return true;
}

size_t room_happenings_text(const struct room_happenings *h, uint64_t now, char *buf, size_t size)
{
	unsigned kept = h->n < ROOM_HAPPENINGS ? h->n : ROOM_HAPPENINGS, told = 0;
	size_t n = 0;

	buf[0] = '\0';
	while (told < kept && told < ROOM_HAPPENINGS_TOLD &&
	       now - h->v[(h->n - 1 - told) % ROOM_HAPPENINGS].at < FRESH_S * S)
		told++;
	for (; told > 0 && n < size; told--) {
		const struct room_happening *e = &h->v[(h->n - told) % ROOM_HAPPENINGS];
		const char *did = e->what == ROOM_HAPPENED_JOIN	   ? "came in"
				  : e->what == ROOM_HAPPENED_LEAVE ? "left"
				  : e->what == ROOM_HAPPENED_SOUND ? "played the sound "
								   : "(you) came in";

		n += (size_t)snprintf(buf + n, size - n, "\nroom moment: %s %s%s", e->name, did,
				      e->text);
	}
	return n < size ? n : size - 1;
}
