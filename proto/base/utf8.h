/* UTF-8 text from strangers: truncated at whole characters, and reduced to one plain line.
 *
 * A truncated character would make a text that no JSON can hold. No pointer is kept. */
#ifndef PROTO_BASE_UTF8_H
#define PROTO_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of the first n bytes that form whole characters: n, or less when the last one is
 * truncated. */
size_t utf8_whole(const char *text, size_t n);
/* True if the text is well-formed (RFC 3629: nothing overlong, no surrogates, nothing past
 * U+10FFFF). */
bool utf8_valid(const char *text);
/* Copies text, truncated to fit size (with NUL) after a whole character. */
void utf8_copy(char *to, size_t size, const char *text);
/* The same of n bytes that no NUL ends. */
void utf8_copy_bytes(char *to, size_t size, const char *text, size_t n);
/* Replaces invisible characters and those that break or turn the line by blanks, in place: control
 * characters (C0, DEL, C1), line and paragraph separators, and direction marks. The length stays.
 */
void utf8_plain(char *text);
/* Removes bytes that are not UTF-8, in place. Returns the new length. */
size_t utf8_mend(char *text);

/* Copies n bytes up to their first NUL, as UTF-8 if they are, else as Latin-1: old tags and radio
 * stations. Truncated to fit after a whole character. */
void utf8_copy_or_latin1(char *to, size_t size, const char *text, size_t n);
/* Writes a character, 1 to 4 bytes without NUL, and returns their number; surrogates and numbers
 * past U+10FFFF become U+FFFD. */
size_t utf8_write(char to[4], uint32_t c);

#endif
