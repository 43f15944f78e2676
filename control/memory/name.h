/* Display names in questions. Pure.
 *
 * Anybody may call themselves "release" or "what". A word that is also a display name counts as one
 * only where people write or say names: with a capital inside a sentence, after "did", before
 * "said" or "'s". */
#ifndef CONTROL_MEMORY_NAME_H
#define CONTROL_MEMORY_NAME_H

#include <stddef.h>

enum name_use {
	NAME_NONE,
	NAME_LIKELY, /* lines of this person may come first */
	NAME_SURE,   /* the question asks about this person */
};

/* Tells how the question uses the n bytes at `at`, a display name within it. */
enum name_use name_read(const char *question, const char *at, size_t n);

#endif
