/* Characters of spoken text, as far as comparing words needs them: case and punctuation. Pure. */
#ifndef CONTROL_TOOLS_SPOKEN_H
#define CONTROL_TOOLS_SPOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a character of UTF-8 with at most 16 bits; others are read as their bytes. text is
 * NUL-terminated and not empty. Returns the number of its bytes, 1 to 3. */
size_t spoken_read(const char *text, uint32_t *c);
/* Punctuation and blanks, those of East Asian scripts among them. */
bool spoken_is_mark(uint32_t c);
/* The small letter, of Latin with its accents and of Cyrillic. */
uint32_t spoken_lower(uint32_t c);
/* Writes the character c of `used` bytes; a character of three bytes is copied from `from`. to
 * holds 3 bytes. Returns used. */
size_t spoken_write(char *to, const char *from, size_t used, uint32_t c);

#endif
