/* Room moments: events besides speech that the brain is told about, such as joins, leaves, the
 * bot's own arrival, soundboard sounds, shown screens and videos. The last 18 are kept; the newest
 * 6 of the last minute are told. Two joins of the same user within 2.5 s are one event, and so are
 * two begins or ends of a shown screen with nothing between them. For control/room only. */
#ifndef CONTROL_ROOM_TURN_MOMENTS_H
#define CONTROL_ROOM_TURN_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/base/turn.h"

enum {
	ROOM_MOMENTS = 18,
	ROOM_MOMENTS_TOLD = 6,
	ROOM_MOMENT_TEXT = 120,
	ROOM_MOMENTS_MAX = ROOM_MOMENTS_TOLD * (ROOM_NAME_MAX + ROOM_MOMENT_TEXT + 40),
};

enum room_moment_kind {
	ROOM_MOMENT_JOIN,
	ROOM_MOMENT_LEAVE,
	ROOM_MOMENT_SELF_JOIN,
	ROOM_MOMENT_SOUNDBOARD,
	ROOM_MOMENT_SHARE_START, /* screen_share.share_start of the events */
	ROOM_MOMENT_SHARE_STOP,
	ROOM_MOMENT_VIDEO_START, /* of the bot, for whom asked */
	ROOM_MOMENT_VIDEO_STOP,
};

struct room_moment {
	enum room_moment_kind what;
	uint64_t user, at;
	char name[ROOM_NAME_MAX];
	char text[ROOM_MOMENT_TEXT]; /* the sound's name */
};

struct room_moments {
	unsigned n; /* since the room began; the newest is at (n - 1) % ROOM_MOMENTS */
	struct room_moment v[ROOM_MOMENTS];
};

/* Returns false if it repeats an earlier event. text may be NULL. */
bool room_moment_add(struct room_moments *h, enum room_moment_kind what, uint64_t user,
		     const char *name, const char *text, uint64_t now);
/* Writes the newest moments of the last minute, oldest first: "room moment: Alice came in",
 * each after a line break. Always terminated; returns the length. */
size_t room_moments_text(const struct room_moments *h, uint64_t now, char *buf, size_t size);

#endif
