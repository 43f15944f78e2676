/* Texts as the guard of the memory compares them: in lower case, with plain Latin letters for those
 * that look like them, without accents and invisible characters. Pure.
 *
 * Phrases are folded in the same way while they are compared, so that an order in Russian is found
 * in its own letters, and one in English written with Russian ones, too. */
#ifndef CONTROL_MEMORY_GUARD_FOLD_H
#define CONTROL_MEMORY_GUARD_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "control/memory/guard.h"

enum { GUARD_FOLD_SIZE = 2 * MEMORY_TEXT_MAX + 1 };

enum guard_fold {
	GUARD_FOLD_MARKS, /* punctuation stays, as that of ASCII */
	GUARD_FOLD_WORDS, /* a blank takes the place of punctuation */
	/* The same, and digits and signs within words are the letters that they look like. */
	GUARD_FOLD_DIGITS,
	/* Letters that stand alone, as in "i g n o r e", make one word; nothing else is left. */
	GUARD_FOLD_SPACED,
	GUARD_FOLD_JOINED, /* nothing stands between the words */
};

/* to is always terminated. Of a longer text the rest is left out. */
void guard_fold(char to[GUARD_FOLD_SIZE], const char *text, enum guard_fold how);
/* Compares a phrase with the beginning of a folded text; returns how much of the text it takes, 0
 * if it is another one. A phrase that ends in '|' has to end a word. */
size_t guard_match(const char *folded, const char *phrase);
/* True if a word goes on from the character before `at` to the one there. Scripts without blanks
 * have no such places. */
bool guard_is_within_word(const char *folded, const char *at);
/* True if letters of another alphabet stand in a word of Latin ones, and all of them look Latin. */
bool guard_is_disguised(const char *text);

#endif
