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

enum function_language {
	FUNCTION_GERMAN,
	FUNCTION_SPANISH,
	FUNCTION_FRENCH,
	FUNCTION_ITALIAN,
	FUNCTION_DUTCH,
	FUNCTION_POLISH,
	FUNCTION_PORTUGUESE,
	FUNCTION_RUSSIAN,
	FUNCTION_LANGUAGES
};
/* A set of languages: 1 << each. English has no bit. */
typedef unsigned function_languages;

struct function_count {
	unsigned words;
	unsigned english;
	unsigned hits[FUNCTION_LANGUAGES];
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
