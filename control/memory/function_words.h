/* Words that say nothing about the subject of a sentence ("у меня", "waar is", "내"), by language.
 * Pure.
 *
 * A function word of one language is content in another one ("die", "son"), so a text's language
 * is read off its own function words, and only those of that language count. English ones are in
 * terms.c, which leaves them out of every text. */
#ifndef CONTROL_MEMORY_FUNCTION_WORDS_H
#define CONTROL_MEMORY_FUNCTION_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* A set of languages, one bit each. */
typedef unsigned function_languages;
enum { /* their bits */
       FUNCTION_WORDS_GERMAN = 1,
       FUNCTION_WORDS_SPANISH = 2,
       FUNCTION_WORDS_FRENCH = 4,
       FUNCTION_WORDS_ITALIAN = 8,
       FUNCTION_WORDS_POLISH = 32,
       FUNCTION_WORDS_PORTUGUESE = 64
};

struct function_count {
	unsigned words;
	unsigned english;
	unsigned hits[8]; /* one of each language that is not English */
};

/* Counts a word of a text. word: in lower case, of n bytes. */
void function_words_count(struct function_count *c, const char *word, size_t n);
/* The languages that have the most of a text's function words; none if English has as many, or if
 * the text is one word. */
function_languages function_words_guess(const struct function_count *c);
/* True if the word, in lower case, is a function word in one of the languages. */
bool function_words_hold(function_languages languages, const char *word, size_t n);

/* Returns the bytes of the longest Chinese function word at p; 0: none is there. */
size_t function_words_chinese(const char *p, const char *end);
/* True if this part of a Japanese run, or this Korean word, says nothing of a subject. */
bool function_words_dense(const char *word, size_t n);
/* Returns the bytes of a Korean word without its particle, which leaves two syllables at least. */
size_t function_words_korean_stem(const char *word, size_t n);

#endif
