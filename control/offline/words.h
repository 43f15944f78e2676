/* Converts a line of text to the tokens that rules are matched on, and numbers to words and back.
 *
 * A token is lower case letters, digits' names and apostrophes only, as the recogniser would write
 * it: "What's 7x8?" is `what's seven times eight`. Pure; nothing here allocates. */
#ifndef OFFLINE_WORDS_H
#define OFFLINE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { WORDS_MAX = 64, WORD_SIZE = 32, SPEAKER_SIZE = 64 };

struct words {
	unsigned n;
	char w[WORDS_MAX][WORD_SIZE];
	char speaker[SPEAKER_SIZE]; /* from a leading "[Alice]: ", else "" */
	bool cut;		    /* there were more words than fit */
};

/* Splits UTF-8 text; every character that is no message, digit or arithmetic sign separates words.
 */
void words_split(struct words *out, const char *text);
/* Joins tokens [from, to) with blanks. Always terminated. Returns buf. */
char *words_join(const struct words *w, unsigned from, unsigned to, char *buf, size_t size);

/* "minus forty two", "three point five", "one thousand and seven"; |v| < 1e15, decimals rounded to
 * two. */
void number_say(double v, char *buf, size_t size);
/* "forty second", 1..31 and beyond. */
void ordinal_say(unsigned v, char *buf, size_t size);
/* The value of tokens [from, to) as number words; false when they are not one. */
bool number_hear(const struct words *w, unsigned from, unsigned to, double *v);

#endif
