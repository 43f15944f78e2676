/* Lines of the timeline, which is the table of utterances: what people and the bot said, and
 * what they wrote. A line's words stand in the full-text index, too, and those of people who may be
 * remembered get a vector later. On the store's worker. */
#ifndef CONTROL_STORE_TIMELINE_H
#define CONTROL_STORE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct db;

/* Texts are borrowed for the call; NULL or "" for none. */
struct timeline_line {
	uint64_t guild, session, channel, utterance, turn, user, started_ms, ended_ms;
	uint64_t message; /* 0: it was spoken */
	const char *name, *text, *source, *language, *addressee;
	const char *told;   /* of the bot: JSON ids of whose words and facts its model was told */
	int64_t confidence; /* below 0: not known */
	bool consent;
};

/* words: whether the text may be kept. Inside a transaction. Errors of db.h. */
int timeline_add(struct db *db, const struct timeline_line *line, bool words);
/* The line, its terms, its vector, and what names it as a source. Inside a transaction. */
int timeline_drop(struct db *db, uint64_t seq);

#endif
