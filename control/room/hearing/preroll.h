/* The pre-roll of one speaker: the last audio of an open microphone before its capture begins, so
 * that the beginning of a word is not lost to speech-to-text. The audio is copied; the slices point
 * into the pre-roll until the next call. For control/room only. */
#ifndef CONTROL_ROOM_HEARING_PREROLL_H
#define CONTROL_ROOM_HEARING_PREROLL_H

#include "control/room/base/event.h"

enum { ROOM_PREROLL_MS = 300, ROOM_PREROLL_BYTES = ROOM_PREROLL_MS * ROOM_RATE / 1000 * 2 };

struct room_preroll {
	size_t at, n;
	uint8_t pcm[ROOM_PREROLL_BYTES];
};

/* An odd last byte of pcm is ignored. */
void room_preroll_add(struct room_preroll *p, struct slice pcm);
void room_preroll_clear(struct room_preroll *p);
/* The audio in order: the first part, then the second; either may be empty. */
void room_preroll_read(const struct room_preroll *p, struct slice part[2]);

#endif
