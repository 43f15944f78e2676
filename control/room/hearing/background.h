/* The background of one speaker's microphone: hiss, a fan, music that a client transmits without
 * pause. Measures it, so that speech can be told from it by loudness.
 *
 * The loudness of the last 3 s of uninterrupted audio is kept in blocks of 100 ms. Speech has gaps
 * of a tenth of a second in which its loudness falls to a fraction; a background has none.
 *
 *   the blocks of 3 s                                             background
 *   differ by less than a factor of 2 (hiss, a fan)               is learned: least and most
 *   differ by less than 4 (music), none of them is promoted or    the same
 *   louder than the background that is known
 *   are all softer than what was learned                          its most falls towards them
 *   hold three in a row below half of its least                   is forgotten: it has stopped
 *
 *   transcript of a capture                                       background
 *   has no words, no gap in the audio                             rises to the blocks of 3 s
 *   has words and is no louder than the background                is forgotten: it was speech
 *
 * Sound louder than background_max is never taken for background. The values are root mean
 * squares of s16 samples. For control/room only. */
#ifndef CONTROL_ROOM_HEARING_BACKGROUND_H
#define CONTROL_ROOM_HEARING_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/hearing/signal.h"

struct settings;

enum { ROOM_BACKGROUND_BLOCKS = 30 };

struct room_background {
	uint64_t at;		    /* arrival of the newest frame */
	struct room_signal current; /* the block that is being filled */
	unsigned blocks, next;
	uint16_t block[ROOM_BACKGROUND_BLOCKS];
	unsigned promoted;    /* blocks until none is left that may be speech */
	unsigned below;	      /* blocks in a row below half of `least` */
	uint32_t least, most; /* as learned; 0 = none */
};

/* promoted: the frame belongs to a promoted capture. */
void room_background_add(struct room_background *b, const struct settings *s,
			 const struct room_signal *frame, bool promoted, uint64_t now);
/* A capture of this loudness has a transcript, with words or without. */
void room_background_on_words(struct room_background *b, const struct settings *s, uint32_t rms,
			      bool words);
/* The least loudness of a frame of speech; 0 when no background is known. */
static inline uint32_t room_background_threshold(const struct room_background *b)
{
	return b->most + b->most / 4;
}

#endif
