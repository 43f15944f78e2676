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

#endif
