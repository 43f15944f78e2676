/* Was the bot spoken to? Words are compared by how they sound (control/room/floor/phonetic.h), so
 * that a recogniser's spelling of a name does not matter: "clanky", "klankie" and "clankee" are one
 * word, "blankie" is another.
 *
 * A name may have several words; two neighbouring words also match as one ("par lay"), and of a
 * longer name its longest word alone. Where it stands tells whether somebody is spoken to:
 *
 *   the name stands                                         it is
 *   after ask, tell, call … or a, the, my …                 none
 *   as a possessive within the sentence                     none
 *   after hey, hi, ok …, or after and, so … that begin      addressed
 *   first, or after a pause, and not before is, was …       addressed
 *   between two pauses                                      addressed
 *   last, and not after with, to, like …                    addressed
 *   anywhere else                                           mentioned
 *
 * A word that only sounds much like the name is what a recogniser may have made of it, and is more
 * often just that word: it counts where nothing else makes sense, after hey, hi, ok …, or first (or
 * after so, and …) before what a question or a request begins with ("barley can you …"), or last
 * after a pause in a question. While only commands count (music plays) any place does for the name,
 * and the like of it needs to stand first or after hey. */
#ifndef CONTROL_ROOM_FLOOR_ADDRESS_H
#define CONTROL_ROOM_FLOOR_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "control/room/floor/phonetic.h"
#include "proto/base/cursor.h"

enum room_address {
	ROOM_ADDRESS_NONE,
	ROOM_ADDRESS_MENTIONED, /* spoken about */
	ROOM_ADDRESS_ADDRESSED, /* spoken to */
};

enum { ROOM_NAMES = 16, ROOM_NAME_WORDS = 4, ROOM_WORDS = 128 };

struct room_names {
	unsigned n;
	struct {
		unsigned words;
		char key[ROOM_NAME_WORDS][ROOM_KEY_MAX];
		char joined[ROOM_KEY_MAX];  /* of all words as one */
		char primary[ROOM_KEY_MAX]; /* of the longest of several words; "" when none can
					       stand for all */
	} name[ROOM_NAMES];
};

/* Adds one name, or several separated by commas. What is beyond the limits is left out. */
void room_names_add(struct room_names *names, const char *list);
/* Only the first ROOM_WORDS words are looked at. */
enum room_address room_address(const struct room_names *names, const char *text);
/* Is the name, or what may have been it, in a text while only commands count? */
bool room_name_cue(const struct room_names *names, const char *text);

#endif
