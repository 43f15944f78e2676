/* Backchannels by their words: sounds, beginnings that the speaker gave up, assent, and the bot's
 * own words said after it. Utterances are borrowed. No errors. */
#ifndef CONTROL_ROOM_FLOOR_BACKCHANNEL_H
#define CONTROL_ROOM_FLOOR_BACKCHANNEL_H

#include "control/room/floor/utterance.h"

/* Nonverbal sounds, hesitation, humming and fragments of words. */
bool room_backchannel_is_sounds(const struct room_utterance *u);
/* "L le", "就就": a short word that is begun again. */
bool room_backchannel_is_stutter(const struct room_utterance *u);
/* "The", "and so, um": nobody ends a sentence so; the speaker gave it up. */
bool room_backchannel_is_broken_off(const struct room_utterance *u);
/* Assent, with words beside it that leave it what it is, or an echo of the bot's words. */
bool room_backchannel_is(const struct room_utterance *u);
/* True if an interim transcript ends in the beginning of an assent: "кто бы" may become "кто бы
 * сомневался". The next transcript tells. */
bool room_backchannel_may_follow(const struct room_utterance *u);
/* A vowel of the Latin alphabet. */
bool room_backchannel_vowel(char ch);

#endif
