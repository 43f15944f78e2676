/* What a restart is to know of written messages: those whose answer is owed, those whose answer is
 * being sent, those that ended, and the bot's posts of its own accord. A bounded table in memory,
 * whose rows the store keeps (control/store/store.h); pure.
 *
 *   (none) --> WAITS --> SENDING --> ENDED        POSTED: nothing follows
 *        \-> LATE --/ (or ENDED: enough of those were answered)
 *
 * A row of a control before this one (before) that has not ended is a message that is still to be
 * answered: control/text/missed.h tells by the channel's history whether it was. */
#ifndef CONTROL_TEXT_TAKEN_H
#define CONTROL_TEXT_TAKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/text/text.def"

enum {
	TAKEN_ROWS = 4096, /* of those that ended the oldest gives way, then the oldest POSTED */
	/* Those that ended; then the oldest of the same give way, so that nobody drives out others:
	 */
	TAKEN_OF_AUTHOR = 128,
	TAKEN_OF_SERVER = 1024,
};

#define TAKEN_ENUM_(NAME, ...) TAKEN_##NAME,
enum taken_state { TEXT_TAKEN(TAKEN_ENUM_) };
#undef TAKEN_ENUM_

struct taken {
	uint64_t message, guild, channel;
	uint64_t user; /* its author; 0 for POSTED, and once the author was erased */
	enum taken_state state;
	uint64_t mark; /* of SENDING, and what ENDED after it: taken_mark() of the answer's first
			* message, or taken_reaction_mark(); of a post that WAITS or is LATE:
			* taken_mark() of the title that it was created with; else 0 */
	bool before;   /* of a control before this one, and not taken up by it yet */
};

struct taken_table;

/* ENOMEM. Caller owns *out. */
int taken_alloc(struct taken_table **out);
struct taken_table *taken_free(struct taken_table *t);
/* Borrowed until the next taken_put. NULL: nothing is known. */
struct taken *taken_find(struct taken_table *t, uint64_t message);
/* True if a row of this message may have given way: it ended, unless nobody took it. */
bool taken_may_have_dropped(const struct taken_table *t, uint64_t message, uint64_t user,
			    uint64_t guild);
/* Adds or replaces. One that ended is left out if all others matter more. */
void taken_put(struct taken_table *t, const struct taken *row);
/* Those of this user have ended, and tell of nobody. They stay, so that they are not taken again.
 */
void taken_forget(struct taken_table *t, uint64_t user);
/* The i-th row, in no order; NULL: there are no more. Rows without a message are free. */
const struct taken *taken_at(const struct taken_table *t, size_t i);
/* Takes up the rows that the store kept, [[message, guild, channel, user, "state", mark], …], as
 * those of a control before. Bytes of our own disk: a row that is none is skipped. */
void taken_read(struct taken_table *t, const json_t *rows);
/* One such row; NULL without memory. Caller owns it. */
json_t *taken_row(const struct taken *row);

const char *taken_state_name(enum taken_state state);
/* A number below 2^63 for the words, of which white space around them is no part, as Discord
 * removes it; never 0. */
uint64_t taken_mark(const char *words);
/* True if it is still to end: WAITS, LATE or SENDING. */
bool taken_is_open(const struct taken *row);
/* The mark of its answer; 0: none was begun. */
uint64_t taken_answer_mark(const struct taken *row);
/* taken_mark() for an answer that is this reaction on this message; whether U+FE0F shows it as an
 * emoji does not matter. */
uint64_t taken_reaction_mark(uint64_t message, const char *emoji);

#endif
