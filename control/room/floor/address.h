/* Direct address: decides whether the bot was spoken to. Words are compared by their sound
 * (phonetic.h), so the recogniser's spelling of a name does not matter: "clanky", "klankie" and
 * "clankee" are one word, "blankie" is another.
 *
 * A name may have several words; two neighbouring words also match as one ("par lay"), and the
 * longest word of a longer name matches alone. The position of the name decides:
 *
 *   position of the name                                    result
 *   after ask, tell, call ... or a, the, my ...             none
 *   as a possessive within the sentence                     none
 *   after hey, hi, ok ..., or after a leading and, so ...   addressed
 *   first, or after a comma, and not before is, was ...     addressed
 *   between two commas                                      addressed
 *   last, and not after with, to, like ...                  addressed
 *   anywhere else                                           mentioned
 *
 * A word that only sounds similar may be the recogniser's spelling of the name, but is more often
 * just that word. It counts where nothing else makes sense: after hey, hi, ok ...; first (or after
 * so, and ...) before the beginning of a question or request ("barley can you ..."); or last,
 * after a comma, in a question. While only commands count (music plays) the name matches in any
 * position, and a similar word must be first or follow hey. */
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
		char joined[ROOM_KEY_MAX];  /* key of all words as one */
		char primary[ROOM_KEY_MAX]; /* key of the longest of several words; "" if none can
					       stand for all */
	} name[ROOM_NAMES];
};

/* Adds one name, or several separated by commas. Names beyond the limits are dropped. */
void room_names_add(struct room_names *names, const char *list);
/* Examines the first ROOM_WORDS words. */
enum room_address room_address(const struct room_names *names, const char *text);
/* While only commands count: whether the text contains the name or a similar word. */
bool room_name_cue(const struct room_names *names, const char *text);

#endif
