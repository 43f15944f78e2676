/* A question as the searches take it. Pure.
 *
 * The names of speakers do not tell what a line is about, and lines that call somebody by name are
 * many: the search for words and the encoder get the question without them. The ranking counts them
 * by the speaker instead (control/memory/rank.h). */
#ifndef CONTROL_MEMORY_QUESTION_H
#define CONTROL_MEMORY_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

enum { QUESTION_SIZE = 1024 };

/* True if this word, without "'s", is the name of a speaker. */
typedef bool(question_name_h)(const char *word, void *arg);

/* Writes the question without the words that are surely names (name_read); all of it when nothing
 * else is left. Returns how many names there were. */
size_t question_strip(char out[QUESTION_SIZE], const char *question, question_name_h *h, void *arg);

/* What may be a name: n bytes at name; false ends the walk. */
typedef bool(question_span_h)(const char *name, size_t n, void *arg);
/* Calls h for each place of the question where a name of up to QUESTION_NAME_WORDS words may stand
 * (name_read). */
enum { QUESTION_NAME_WORDS = 4 };
void question_each_name(const char *question, question_span_h *h, void *arg);

#endif
