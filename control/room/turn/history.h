/* What was said in the room, in the order in which it was heard there: people's words at the end of
 * their speech, the bot's at its first sound. Of the bot's words only those that were heard. The
 * oldest lines go when there are too many. */
#ifndef CONTROL_ROOM_TURN_HISTORY_H
#define CONTROL_ROOM_TURN_HISTORY_H

#include "control/room/turn/turn.h"

enum { ROOM_HISTORY_LINES = 220, ROOM_HISTORY_TEXT = 1200 };

struct room_history_line {
	uint64_t at; /* ns */
	uint32_t turn;
	bool bot;
	bool cut; /* the bot's: more of it was not heard */
	char name[ROOM_NAME_MAX];
	char text[ROOM_HISTORY_TEXT + 1];
};

struct room_history {
	unsigned first, n;
	struct room_history_line line[ROOM_HISTORY_LINES];
};

/* Cut to its place; without words nothing. */
void room_history_add(struct room_history *h, uint64_t at, uint32_t turn, bool bot, bool cut,
		      const char *name, const char *text);
/* Better words for some that somebody said: the newest line of theirs that has them. False: there
 * is none. */
bool room_history_revise(struct room_history *h, const char *name, const char *was, const char *is);
/* 0 is the oldest. */
const struct room_history_line *room_history_at(const struct room_history *h, unsigned i);

#endif
