/* How a word sounds, as a key that spellings of one sound share, and how alike two keys are.
 *
 * The key keeps consonants (with the usual spellings folded together), a leading vowel, the kind of
 * the first other vowel (a, e-i, o-u) and only the place of those after it. Letters beyond ASCII
 * stay as they are. Alike are keys with few edits between them, where consonants that are made in
 * the same place (b p, d t, g k, l r, m n …) and vowels count half. */
#ifndef CONTROL_ROOM_FLOOR_PHONETIC_H
#define CONTROL_ROOM_FLOOR_PHONETIC_H

#include <stddef.h>

enum { ROOM_KEY_MAX = 48 };

/* Always terminated. */
void room_sound_key(const char *word, size_t len, char key[ROOM_KEY_MAX]);
/* 0 (nothing in common) to 100 (the same). */
unsigned room_sound_alike(const char *a, const char *b);

#endif
