/* The history of the conversation, in the order in which the room heard it: people's words at the
 * end of their speech, the bot's words at their first sample played. Of the bot's words only the
 * part that was played is kept. The oldest lines are dropped when there are too many. */
#ifndef CONTROL_ROOM_TURN_HISTORY_H
#define CONTROL_ROOM_TURN_HISTORY_H

#include "control/room/base/event.h"
#include "control/room/base/turn.h"

struct room_context;

enum { ROOM_HISTORY_LINES = 220, ROOM_HISTORY_TEXT = 1200 };

struct room_history_line {
	uint64_t at;   /* ns */
	uint64_t user; /* who said it; 0: unknown, or the bot */
	uint32_t turn;
	bool bot;
	bool cut;	     /* of the bot: more of it was not played */
	bool withheld;	     /* no model is told */
	uint64_t private_to; /* of the bot: may quote this person's own memory; 0: nobody's */
	uint64_t message;    /* of Discord, that TYPED told; 0: it was spoken */
	bool repeats;	     /* of the bot, in writing: it may repeat people outside the room */
	char name[ROOM_NAME_MAX];
	char text[ROOM_HISTORY_TEXT + 1];
};

struct room_history {
	unsigned first, n;
	uint64_t withdrawn_at; /* ns: answers that were asked for until then may quote; 0: never */
	uint64_t edited_at;    /* ns: the oldest line that the last EDITED changed; 0: none */
	bool outside; /* a conversation that a brain keeps has written words of people outside */
	struct room_history_line line[ROOM_HISTORY_LINES];
};

/* Words for the history. */
struct room_history_words {
	uint64_t at, user; /* as in the line */
	uint32_t turn;
	bool bot, cut, repeats;
	uint64_t message; /* as in the line */
	const char *name, *text;
};

/* Takes TYPED, and RECALLED: what was said before this control came, oldest first. At MEMBER it
 * withholds lines that are private to somebody who is not alone with the bot any more. At WITHDRAWN
 * it withholds the lines of that person, those of unknown people with their name, and all answers
 * of the bot, because they may quote that person. At EDITED it replaces the words of the message,
 * or withholds the line without its words; a brain that was told the former words begins anew
 * (RENEW). What the bot said stays, also where it repeats them. */
void room_history_on_event(struct room_history *h, struct room_context *context,
			   const struct room_event *ev);
/* Adds a line, cut to its size; without words it adds nothing. */
void room_history_add(struct room_history *h, const struct room_history_words *words);
/* Replaces words in the newest line of this speaker that has them. Returns false if there is
 * none. */
bool room_history_revise(struct room_history *h, uint64_t user, const char *was, const char *is);
/* The bot's newest line may quote this person's own memory: models are told it only while that
 * person stays alone with the bot. user 0, a turn of the bot's own: no model is told it. */
void room_history_keep_private(struct room_history *h, const struct room_context *context,
			       uint32_t turn, uint64_t user);
/* No model is told the words of this turn. */
void room_history_withhold(struct room_history *h, uint32_t turn);
/* 0 is the oldest. */
const struct room_history_line *room_history_at(const struct room_history *h, unsigned i);
unsigned room_history_count(const struct room_history *h);
/* True if a line of somebody else bears this name, in any case. */
bool room_history_has_name(const struct room_history *h, uint64_t user, const char *name);
/* True if somebody wrote it who is not in the room, or the bot, which may repeat such words. */
bool room_history_is_outside(const struct room_context *context, const struct room_history_line *l);
/* A brain that keeps its conversation is asked, and told lines; outside: such a one among them.
 * Returns true if its conversation has any. */
bool room_history_keep_outside(struct room_history *h, bool outside);
/* ns: the time of the oldest line that the last EDITED changed; 0: it changed none. */
uint64_t room_history_edited(const struct room_history *h);
/* Lines that RECALLED and TYPED brought. */
unsigned room_history_count_recalled(const struct room_history *h);

#endif
