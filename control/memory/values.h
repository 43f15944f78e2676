/* Numbers and times of English words as digits and contractions in full, so that statements can
 * be compared by them. Pure.
 *
 * "half past ten", "ten thirty" and "10:30" become "10h30", "five hundred" and "half a thousand"
 * "500", "noon" and "twelve o'clock" "12", "twice" "2 times"; "can't", also with the apostrophe of
 * telephones or without one, and "cannot" become "can not", "I'm" "I am". Everything else stays as
 * it is. */
#ifndef CONTROL_MEMORY_VALUES_H
#define CONTROL_MEMORY_VALUES_H

#include <stddef.h>

enum { VALUES_TEXT = 1024 };

/* A text that is too long is cut. */
void values_write(char out[VALUES_TEXT], const char *text);

#endif
