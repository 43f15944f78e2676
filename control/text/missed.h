/* What the history of a channel says about messages that were written, or were to be answered,
 * while the bot was away (spec/orchestration.md, section 10, "Startup catch-up"). Pure.
 *
 * A message that a control before this one took is answered now if the history holds no answer: a
 * message of the bot that replies to it, or has the mark of its answer, and no reaction of the bot
 * with that mark. One that nobody took is MISSED. */
#ifndef CONTROL_TEXT_MISSED_H
#define CONTROL_TEXT_MISSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct incoming;
struct taken_table;

enum {
	MISSED_PAGE = 100,	 /* messages that Discord gives at once */
	MISSED_MOST = 1000,	 /* the last ones of a channel that are looked at */
	MISSED_REACTIONS = 1000, /* of the bot on them; further ones are not known */
};

/* The bot's own messages and reactions of some pages that follow each other. */
struct missed_page {
	struct {
		uint64_t message, replies_to, mark;
		bool works; /* it tells of a tool at work, and is no answer yet */
	} own[MISSED_MOST];
	size_t n;
	uint64_t put[MISSED_REACTIONS]; /* marks of its reactions */
	size_t n_put;
	uint64_t oldest; /* message of them; 0: there is none */
	size_t messages;
};
/* list: of "Get Channel Messages", the newest first, up to MISSED_MOST. */
void missed_read(struct missed_page *out, const json_t *list, uint64_t self);

enum missed_what {
	MISSED_DONE,	 /* nothing is to be done about it */
	MISSED_ANSWERED, /* it was owed an answer, which the channel has: *reply says which */
	MISSED_REACTED,	 /* it was owed an answer, which is a reaction */
	MISSED_OWED,	 /* it is owed an answer, which is missing */
	MISSED_LATE,	 /* nobody took it, or a control before took it for one of these */
};
/* since: messages before this id are left alone, unless they are owed an answer; owed: the same for
 * those. reply: that the answer replies to it. */
enum missed_what missed_judge(const struct missed_page *page, struct taken_table *taken,
			      const struct incoming *message, uint64_t since, bool *reply);

/* The first id of that time (ms since 1970), and back. */
uint64_t missed_id_of(uint64_t ms);
uint64_t missed_ms_of(uint64_t id);

#endif
