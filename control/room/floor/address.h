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
 *   last, and not after with, to, like, made, try ...       addressed
 *   before a request, and not after did, has, to ...        addressed
 *   anywhere else                                           mentioned
 *
 * In other languages than English the form decides: punctuation around the name, words that lead to
 * it, and the word or particle behind it.
 *
 *   form                                                    result
 *   punctuation, or an end of the text, on both sides       addressed
 *   only greetings and openers before it, punctuation after addressed
 *   the same or first, and a question, a request, "you"     addressed
 *   (in Japanese, Korean and Chinese anywhere behind it)
 *   nothing but a stop request beside it (turn/saying.h)    addressed
 *   or after an opener anything that is no THIRD entry      addressed
 *   after a greeting of any language                        addressed
 *   first, in a question without a word of the lists        addressed
 *   last, in a question or request, no ABOUT entry before   addressed
 *   (one of several words, "kannst du", not right before it)
 *   anywhere else                                           mentioned
 *
 * Where words have no blanks between them the name is found inside ("ねえParley明日"), and names in
 * Cyrillic, kana and hangul are compared by their sound in Latin letters ("Парли", "パーリー").
 *
 * A word that only sounds similar may be the recogniser's spelling of the name, but is more often
 * just that word. It counts where nothing else makes sense: after hey, hi, ok ...; first (or after
 * so, and ...) before the beginning of a question or request ("barley can you ..."); or last,
 * after a comma, in a question; by the lists of its language in each. While only commands count
 * (music plays) the name matches in any position, and a similar word must be first or follow hey.
 */
#ifndef CONTROL_ROOM_FLOOR_ADDRESS_H
#define CONTROL_ROOM_FLOOR_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "control/room/floor/phonetic.h"
#include "control/room/language/language.h"
#include "proto/base/cursor.h"

enum room_address {
	ROOM_ADDRESS_NONE,
	ROOM_ADDRESS_MENTIONED, /* spoken about */
	ROOM_ADDRESS_ADDRESSED, /* spoken to */
};

enum { ROOM_NAMES = 24, ROOM_NAME_WORDS = 4, ROOM_WORDS = 128, ROOM_NAME_FORM = 64 };

struct room_names {
	unsigned n;
	struct {
		unsigned words;
		char key[ROOM_NAME_WORDS][ROOM_KEY_MAX];
		char joined[ROOM_KEY_MAX]; /* key of all words as one */
		char coarse[ROOM_KEY_MAX]; /* key for other scripts: r as l */
		unsigned letters;
		char last_vowel;	    /* of all words as one (room_sound_last_vowel) */
		char form[ROOM_NAME_FORM];  /* of a single word: as the lists write it */
		char primary[ROOM_KEY_MAX]; /* key of the longest of several words; "" if none can
					       stand for all */
	} name[ROOM_NAMES];
};

/* Adds one name, or several separated by commas. Names beyond the limits are dropped. */
void room_names_add(struct room_names *names, const char *list);
/* Examines the first ROOM_WORDS words. */
enum room_address room_address(const struct room_names *names, const char *text);
/* The same in a language that is known. */
enum room_address room_address_in(const struct room_names *names, const char *text,
				  enum room_language language);
/* While only commands count: whether the text contains the name or a similar word. */
bool room_name_cue(const struct room_names *names, const char *text);

/* True if the name occurs at all, exactly. */
bool room_name_occurs(const struct room_names *names, const char *text);
/* True if the name is the last word of the text or the last but one without punctuation behind it:
 * the words that follow tell whether its bearer is addressed. */
bool room_name_ends(const struct room_names *names, const char *text);
/* True if a run of another script than Latin sounds like a name. A run that is much shorter than
 * the name is another word ("파리"). */
bool room_name_sounds(const struct room_names *names, const char *run, size_t n);
/* True if the first name is a word of the English lists, such as May. */
bool room_name_is_word(const struct room_names *names);
/* The number of words of an utterance that are the name at word i; 0 if they are not. */
unsigned room_name_at(const struct room_names *names, const struct room_words *w, unsigned i);

#endif
