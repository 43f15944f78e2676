/* Text in the room: names and words as one plain line, and words that are joined. */
#ifndef CONTROL_ROOM_BASE_TEXT_H
#define CONTROL_ROOM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Copies a name as one plain line without brackets, commas, colons and quotes; "someone" if nothing
 * is left. Always terminated. */
void room_clean_name(const char *from, size_t n, char *to, size_t size);
/* Makes what somebody said one plain line, in place, with round brackets for square ones: "[Bob]:"
 * in a transcript would look to a model like the words of another speaker. */
void room_clean_words(char *text);
/* Appends text with one blank between, cut at the size at the end of a UTF-8 character. */
void room_append(char *to, size_t size, const char *text, size_t n);
/* A letter, a digit, or a part of a character beyond ASCII. */
bool room_is_word_byte(char ch);
/* True if both texts have the same letters and digits, whatever stands between them. */
bool room_same_words(const char *a, const char *b);

#endif
