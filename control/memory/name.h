/* Display names in questions and facts. Pure.
 *
 * Anybody may call themselves "release" or "what". A word that is also a display name counts as one
 * only where people write or say names: with a capital inside a sentence, after "did", before
 * "said" or "'s". */
#ifndef CONTROL_MEMORY_NAME_H
#define CONTROL_MEMORY_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum name_use {
	NAME_NONE,
	NAME_LIKELY, /* lines of this person may come first */
	NAME_SURE,   /* the question asks about this person */
};

/* Tells how the question uses the n bytes at `at`, a display name within it. */
enum name_use name_read(const char *question, const char *at, size_t n);
/* Tells whether the fact tells of the person with this display name, as words of their own: by the
 * signs of name_read, or at its beginning with a capital. A name of one character is never told. */
enum name_use name_told(const char *fact, const char *name);

/* True if the fact has this display name as a word in small letters that is neither a word of
 * everyday English nor one of the scripts without capitals. Nothing else says that it is a name. */
bool name_in_small(const char *fact, const char *name);
/* True if all its words are such ones of everyday English. */
bool name_is_everyday(const char *name);
/* True if a verb of speaking follows the name: people speak, and what is called as they are does
 * not. */
bool name_speaks(const char *fact, const char *name);
/* True if the text has the display name as a name or as a noun, whatever it is the name of. A word
 * of everyday English in small letters is neither, unless an article precedes it. */
bool name_is_used(const char *text, const char *name);

#endif
