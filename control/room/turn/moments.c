#include "control/room/turn/moments.h"

#include <stdio.h>

#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { AGAIN_MS = 2500, FRESH_S = 60 };

/* A screen that is hidden in between is shown again. */
static bool ends_search(enum room_moment_kind what, const struct room_moment *was, uint64_t user)
{
	static const enum room_moment_kind other[] = {
		[ROOM_MOMENT_SHARE_START] = ROOM_MOMENT_SHARE_STOP,
		[ROOM_MOMENT_SHARE_STOP] = ROOM_MOMENT_SHARE_START,
		[ROOM_MOMENT_VIDEO_START] = ROOM_MOMENT_VIDEO_STOP,
		[ROOM_MOMENT_VIDEO_STOP] = ROOM_MOMENT_VIDEO_START,
	};

	return was->user == user && what >= ROOM_MOMENT_SHARE_START && was->what == other[what];
}

bool room_moment_add(struct room_moments *h, enum room_moment_kind what, uint64_t user,
		     const char *name, const char *text, uint64_t now)
{
	struct room_moment *e;

	for (unsigned i = 0; i < h->n && i < ROOM_MOMENTS && what != ROOM_MOMENT_SOUNDBOARD; i++) {
		const struct room_moment *was = &h->v[(h->n - 1 - i) % ROOM_MOMENTS];

		if (ends_search(what, was, user))
			break;
		if (was->what == what && was->user == user &&
		    now - was->at < AGAIN_MS * (NS_PER_S / 1000))
			return false;
	}
	e = &h->v[h->n++ % ROOM_MOMENTS];
	*e = (struct room_moment){.what = what, .user = user, .at = now};
	utf8_copy(e->name, sizeof e->name, name);
	utf8_copy(e->text, sizeof e->text, text ? text : "");
	utf8_plain(e->text);
	return true;
}

size_t room_moments_text(const struct room_moments *h, uint64_t now, char *buf, size_t size)
{
	static const char *const did[] = {
		[ROOM_MOMENT_JOIN] = "came in",
		[ROOM_MOMENT_LEAVE] = "left",
		[ROOM_MOMENT_SELF_JOIN] = "(you) came in",
		[ROOM_MOMENT_SOUNDBOARD] = "played the sound ",
		[ROOM_MOMENT_SHARE_START] = "began to show a screen",
		[ROOM_MOMENT_SHARE_STOP] = "stopped showing the screen",
		[ROOM_MOMENT_VIDEO_START] = "had you show a video",
		[ROOM_MOMENT_VIDEO_STOP] = "has no video shown by you any more",
	};
	unsigned kept = h->n < ROOM_MOMENTS ? h->n : ROOM_MOMENTS, told = 0;
	size_t n = 0;

	buf[0] = '\0';
	while (told < kept && told < ROOM_MOMENTS_TOLD &&
	       now - h->v[(h->n - 1 - told) % ROOM_MOMENTS].at < FRESH_S * NS_PER_S)
		told++;
	for (; told > 0 && n < size; told--) {
		const struct room_moment *e = &h->v[(h->n - told) % ROOM_MOMENTS];
		n += (size_t)snprintf(buf + n, size - n, "\nroom moment: %s %s%s", e->name,
				      did[e->what], e->text);
	}
	return n < size ? n : size - 1;
}
