/* Words that were said, cut into the longest entries of their language's lists and the bot's name,
 * and the questions that the judges of phrase.h put to them. Parts are counted from 0; [from, to)
 * is a range of them.
 *
 * The caller owns the utterance, which borrows `over`. No errors. For control/room/floor only. */
#ifndef CONTROL_ROOM_FLOOR_UTTERANCE_H
#define CONTROL_ROOM_FLOOR_UTTERANCE_H

#include "control/room/floor/phrase.h"

enum {
	ROOM_PART_SOFT = ROOM_WORD_ASSENT | ROOM_WORD_FILLER | ROOM_WORD_GLUE,
	ROOM_PART_NUMBER = ROOM_WORD_ORDINAL_1 | ROOM_WORD_ORDINAL_2 | ROOM_WORD_ORDINAL_3 |
			   ROOM_WORD_ORDINAL_4 | ROOM_WORD_ORDINAL_5,
};

/* A part of an utterance: the longest entry, the bot's name, or a word that is in no list. */
struct room_part {
	uint8_t at, n; /* words */
	bool name;
	uint32_t classes; /* of a name: none */
};

struct room_utterance {
	struct room_words w;
	unsigned n;
	struct room_part v[ROOM_WORDS_MAX];
	const char *over; /* of the bot, "" if it said nothing */
	bool interim, asked;
};

void room_utterance_split(struct room_utterance *u, const struct room_saying *s);
/* The first word of a part. */
const struct room_word *room_utterance_word(const struct room_utterance *u, unsigned part);
/* True if punctuation stands before this part, or it is the first, or there is none. */
bool room_utterance_begins_clause(const struct room_utterance *u, unsigned part);
/* True if the bot's name is among the words. */
bool room_utterance_is_named(const struct room_utterance *u);
/* True if all parts, or any part, have one of these classes. */
bool room_utterance_all(const struct room_utterance *u, unsigned from, unsigned to,
			uint32_t classes);
bool room_utterance_any(const struct room_utterance *u, unsigned from, unsigned to,
			uint32_t classes);
/* True if the words of this part and the next ask by their order: "are you sure", "is it good",
 * although a list has "is it" alone as a backchannel and "is that right" as one entry. */
bool room_utterance_inverts(const struct room_utterance *u, unsigned part);
/* True if a question or request begins anywhere in the range: at the beginning of a clause, after
 * words that lead to it, or in some languages in any position. */
bool room_utterance_asks(const struct room_utterance *u, unsigned from, unsigned to);
/* True if a question that the bot asked has n of these words, from word i on. */
bool room_utterance_asked_with(const struct room_utterance *u, unsigned i, unsigned n);
/* True if an objection or a demand for the floor is among the parts. */
bool room_utterance_objects(const struct room_utterance *u, unsigned from, unsigned to);

#endif
