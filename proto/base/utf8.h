/* UTF-8 text from strangers: cut at whole characters, and made one plain line.
 *
 * Half a character at the end makes a text that no JSON can hold. No pointer is kept. */
#ifndef PROTO_BASE_UTF8_H
#define PROTO_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* How many of the first n bytes are whole characters: n, or less when it cuts one. */
size_t utf8_whole(const char *text, size_t n);
/* All of it is well-formed (RFC 3629: nothing overlong, no surrogates, nothing past U+10FFFF). */
bool utf8_valid(const char *text);
/* Copies text, cut to fit size (with NUL) after a whole character. */
void utf8_copy(char *to, size_t size, const char *text);
/* Blanks, in place, what is not to be seen or turns the line: control characters (C0, DEL, C1),
 * line and paragraph separators, and the marks that change the direction of writing. The length
 * stays. */
void utf8_plain(char *text);
/* Takes out what is no UTF-8, in place. Returns the new length. */
size_t utf8_mend(char *text);

#endif
