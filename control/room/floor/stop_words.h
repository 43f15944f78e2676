/* Stop words: an utterance that asks the bot to be quiet, work that is to be stopped, a demand for
 * the floor. The words are matched anew, since the longest entry may hide a shorter one. Utterances
 * are borrowed. No errors. */
#ifndef CONTROL_ROOM_FLOOR_STOP_WORDS_H
#define CONTROL_ROOM_FLOOR_STOP_WORDS_H

#include "control/room/floor/utterance.h"

/* "Ok, please stop it now": nothing but a stop word, its company and the bot's name. */
bool room_stop_is_whole(const struct room_utterance *u);
/* A stop word with a few words before or after it ("stop the search"). */
bool room_stop_begins_or_ends(const struct room_utterance *u);
bool room_takeover_occurs(const struct room_utterance *u);

#endif
