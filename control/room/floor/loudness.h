/* Requests to play music louder or more quietly, whole utterances in the languages of the lists.
 * They have lists of their own, because the 32 classes of words are all in use. For control/room
 * only. */
#ifndef CONTROL_ROOM_FLOOR_LOUDNESS_H
#define CONTROL_ROOM_FLOOR_LOUDNESS_H

#include <stdbool.h>

#include "control/room/language/language.h"

/* The number of words of the longest request at word i; 0: none. */
unsigned room_loudness_match(const struct room_words *w, unsigned i, bool *louder);

#endif
