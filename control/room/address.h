/* Was the bot spoken to? Words are compared by a key of how they sound, so that a recogniser's spelling of a name does
 * not matter: "clanky", "klankie" and "clankee" are one word, "blankie" is another.
 *
 * The key keeps consonants (with the usual spellings folded together), a leading vowel, the kind of the first other
 * vowel (a, e-i, o-u) and only the place of those after it. A name may have several words; two neighbouring words also
 * match as one ("par lay"). Letters beyond ASCII are compared as they are. */
#ifndef CONTROL_ROOM_ADDRESS_H
#define CONTROL_ROOM_ADDRESS_H

#include <stddef.h>

#include "proto/base/cursor.h"

enum room_address {
	ROOM_ADDRESS_NONE,
	ROOM_ADDRESS_MENTIONED, /* spoken about */
	ROOM_ADDRESS_ADDRESSED, /* spoken to */
};

enum { ROOM_NAMES = 16, ROOM_KEY_MAX = 48, ROOM_NAME_WORDS = 4, ROOM_WORDS = 128 };

struct room_names {
	unsigned n;
	struct {
		unsigned words;
		char key[ROOM_NAME_WORDS][ROOM_KEY_MAX];
		char joined[ROOM_KEY_MAX]; /* of all words as one */
	} name[ROOM_NAMES];
};

/* Adds one name, or several separated by commas. What is beyond the limits is left out. */
void room_names_add(struct room_names *names, const char *list);
enum room_address room_address(const struct room_names *names, const char *text);

/* The key of one word; always terminated. */
void room_sound_key(const char *word, size_t len, char key[ROOM_KEY_MAX]);

#endif
