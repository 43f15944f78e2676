/* The places of sounds in the text of an answer that a voice model speaks itself. Its text runs
 * ahead of its audio, so a sound waits until the words before it were played. For control/room
 * only.
 *
 * A struct of zeros is ready for use. No allocation. */
#ifndef CONTROL_ROOM_ANSWER_SOUND_MARKS_H
#define CONTROL_ROOM_ANSWER_SOUND_MARKS_H

#include <stdbool.h>
#include <stddef.h>

#include "control/room/answer/directive.h"

struct room_sound_marks {
	unsigned next, n;
	struct {
		size_t at; /* end of the last word before it, in the answer's text */
		char ref[ROOM_SOUND_REF_MAX + 1];
	} mark[ROOM_SOUNDS_MAX];
};

/* A sound behind the text so far. Ignored when it is too long or all places are taken. */
void room_sound_marks_add(struct room_sound_marks *marks, const char *text, const char *ref,
			  size_t n);
/* True if a sound waits; *at: its place. */
bool room_sound_marks_next(const struct room_sound_marks *marks, size_t *at);
/* Takes the next sound if so many bytes of text were played; NULL if none is due. Borrowed. */
const char *room_sound_marks_take(struct room_sound_marks *marks, size_t played);

#endif
