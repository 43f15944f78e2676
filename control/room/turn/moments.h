/* What happens in the channel besides speech, as a list the brain is told of: who came and went, the bot's own arrival,
 * sounds of the soundboard. The last 18 are kept; the newest 6 of the last minute are told. That somebody came who had
 * come less than 2.5 s before is one event. For control/room only. */
#ifndef CONTROL_ROOM_TURN_MOMENTS_H
#define CONTROL_ROOM_TURN_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/turn/turn.h"

enum {
	ROOM_HAPPENINGS = 18,
	ROOM_HAPPENINGS_TOLD = 6,
	ROOM_HAPPENED_TEXT = 120,
	ROOM_MOMENTS_MAX = ROOM_HAPPENINGS_TOLD * (ROOM_NAME_MAX + ROOM_HAPPENED_TEXT + 40),
};

enum room_happened {
	ROOM_HAPPENED_JOIN,
	ROOM_HAPPENED_LEAVE,
	ROOM_HAPPENED_SELF_JOIN,
	ROOM_HAPPENED_SOUND,
};

struct room_happening {
	enum room_happened what;
	uint64_t user, at;
	char name[ROOM_NAME_MAX];
	char text[ROOM_HAPPENED_TEXT]; /* the sound's name */
};

struct room_happenings {
	unsigned n; /* since the room began; the newest is at (n - 1) % ROOM_HAPPENINGS */
	struct room_happening v[ROOM_HAPPENINGS];
};

/* False: it was one with an event before it. text may be NULL. */
bool room_happened(struct room_happenings *h, enum room_happened what, uint64_t user,
		   const char *name, const char *text, uint64_t now);
/* The newest of the last minute, oldest first: "room moment: Alice came in", a line each, each after a
 * line break. Always terminated; its length. */
size_t room_happenings_text(const struct room_happenings *h, uint64_t now, char *buf, size_t size);

#endif
