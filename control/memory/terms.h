/* Texts as the full-text index holds them, and questions as it is asked. Pure.
 *
 * The index splits at blanks and punctuation. Chinese, Japanese and Korean have few of them, so a
 * run of their characters becomes its overlapping pairs ("東京都" is held as "東京 京都"). Pairs
 * find words of two characters, which a trigram index cannot. */
#ifndef CONTROL_MEMORY_TERMS_H
#define CONTROL_MEMORY_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TERMS_MAX = 24, TERMS_QUERY_MAX = 1024, TERM_MAX = 48 };

/* The text as it is indexed. The caller frees it. NULL without memory. */
char *terms_index(const char *text, size_t n);
/* The expression that finds texts sharing a content word with the question, for FTS5's MATCH.
 * Returns the number of terms: 0 where the question holds only stop words, and buf is empty then.
 * buf is always terminated. */
unsigned terms_query(char buf[TERMS_QUERY_MAX], const char *question);
/* True if the word, in lower case, says nothing about the subject of a sentence. */
bool terms_is_stop_word(const char *word, size_t n);

/* True if it is one of English. */
bool terms_is_english_stop_word(const char *word, size_t n);

/* The character at *p, which moves past it; 0 at the end. A malformed byte stands for itself. */
uint32_t terms_next(const char **p, const char *end);
/* In lower case: of Latin and Cyrillic letters. */
uint32_t terms_lower(uint32_t c);
/* Copies n bytes in lower case, which are as many. to may be from. */
void terms_fold(char *to, const char *from, size_t n);
/* True if words of this character's script are written without blanks between them, or with
 * particles attached to them. */
bool terms_is_dense(uint32_t c);
/* True if the character is hiragana: pairs of these alone are mostly grammar. */
bool terms_is_hiragana(uint32_t c);
/* True if the character is an apostrophe, as keyboards or telephones write it. */
bool terms_is_apostrophe(uint32_t c);
/* True if the character is part of a word. */
bool terms_is_word(uint32_t c);

#endif
