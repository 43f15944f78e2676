/* Stop words: an utterance that asks the bot to be quiet, work that is to be stopped, a demand for
 * the floor.
 *
 * An entry is found across punctuation and polite words ("hör bitte auf"). It counts for nothing
 * within a longer entry of another class ("don't stop", "ja halt"), and in answers: an ENOUGH entry
 * after the bot's question, and a word that the bot's question has, with others behind it ("para
 * ahora"). A question mark makes a question of it unless a request leads to it ("can you stop?").
 *
 * Utterances are borrowed. No errors. */
#ifndef CONTROL_ROOM_FLOOR_STOP_WORDS_H
#define CONTROL_ROOM_FLOOR_STOP_WORDS_H

#include "control/room/floor/utterance.h"

/* "Ok, please stop it now": nothing but a stop word, its company and the bot's name. */
bool room_stop_is_whole(const struct room_utterance *u);
/* A stop word with a few words before or after it ("stop the search"). */
bool room_stop_begins_or_ends(const struct room_utterance *u);
bool room_takeover_occurs(const struct room_utterance *u);

#endif
