/* Is a transcript words of a person? The first row that fits decides:
 *
 *   a control token of the model: <|…|>, vq_…_audio_…, audio_future and a digit, end_of_task     CONTROL
 *   no letter and no digit                                                                       EMPTY
 *   the recogniser is unsure of it on the whole                                                  UNSURE
 *   long sound and few words                                                                     SPARSE
 *   anything else                                                                                WORDS
 *
 * The last two only when the provider tells how sure it is; a transcript with the bot's name in it is none of them. */
#ifndef CONTROL_ROOM_GUARD_H
#define CONTROL_ROOM_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

enum room_guard {
	ROOM_GUARD_WORDS,
	ROOM_GUARD_CONTROL,
	ROOM_GUARD_EMPTY,
	ROOM_GUARD_UNSURE,
	ROOM_GUARD_SPARSE,
};

struct room_guard_facts {
	const char *text;
	uint32_t doubt;	    /* as of ROOM_TRANSCRIPT; 0: not told */
	uint32_t spoken_ms; /* of sound in which somebody spoke */
	bool named;	    /* the bot's name is in it */
};

enum room_guard room_guard(const struct room_guard_facts *facts, const struct settings *s);
/* Characters that are not blank, in tenths a second of spoken_ms; 0 without sound. */
uint32_t room_guard_pace(const struct room_guard_facts *facts);
bool room_guard_control(const char *text);
/* A letter or a digit; all beyond ASCII counts as letters. */
bool room_guard_words(const char *text);

#endif
