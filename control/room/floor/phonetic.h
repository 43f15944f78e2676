/* Phonetic keys: spellings of one sound share a key, and two keys have a similarity.
 *
 * The key keeps consonants (with their usual spellings folded together), a leading vowel, the
 * class of the first other vowel (a, e-i, o-u) and only the positions of further vowels. Letters
 * beyond ASCII stay as they are. Similarity falls with the edit distance; consonants of the same
 * place of articulation (b p, d t, g k, l r, m n ...) and vowels count half. */
#ifndef CONTROL_ROOM_FLOOR_PHONETIC_H
#define CONTROL_ROOM_FLOOR_PHONETIC_H

#include <stddef.h>

enum { ROOM_KEY_MAX = 48 };

/* Always terminated. */
void room_sound_key(const char *word, size_t len, char key[ROOM_KEY_MAX]);
/* The class of the vowel that the word ends in, by its last letter: 'a', 'e' or 'o'; 0 if it ends
 * in a consonant. */
char room_sound_last_vowel(const char *word, size_t len);
/* 0 (nothing in common) to 100 (the same). */
unsigned room_sound_alike(const char *a, const char *b);

#endif
