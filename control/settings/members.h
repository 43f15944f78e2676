/* The members of a JSON object one by one, as they stand in its text, and on which line.
 *
 * A JSON parser says where a text breaks the grammar, but not where a member stood that is well
 * written and wrong. This walks the text again for that. It takes the text of an object that a
 * parser has taken; in any other it ends somewhere within the text. */
#ifndef CONTROL_SETTINGS_MEMBERS_H
#define CONTROL_SETTINGS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct members {
	const char *at, *end;
	unsigned line;
};

/* Both as written: the key with its quotes and escapes, the value without blanks around it.
 * Borrowed from the text. */
struct member {
	const char *key, *value;
	size_t key_len, value_len;
	unsigned line; /* of the key, from 1 */
	unsigned value_line;
};

void members_begin(struct members *m, const char *text, size_t len);
/* False: there is no further one. */
bool members_next(struct members *m, struct member *out);
/* The line of an entry of the member's value, an array or an object, counted from 0; that of the
 * member when it has no such entry. */
unsigned members_entry_line(const struct member *of, unsigned entry);

#endif
