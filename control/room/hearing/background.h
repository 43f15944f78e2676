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
 *   transcripts of a capture                                      background
 *   have had no words for 3 s, and its sound goes on              rises to the blocks of 3 s
 *   have words, and its voice is no louder than the background    is forgotten: it was speech
 *
 * What rose by transcripts is forgotten with a gap in the audio, too: a client that stops sending
 * between two sounds sends no background. A sound that is over (a cough, laughter) is none either.
 *
 * Sound louder than background_max is never taken for background. The values are root mean
 * squares of s16 samples. For control/room only. */
#ifndef CONTROL_ROOM_HEARING_BACKGROUND_H
#define CONTROL_ROOM_HEARING_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/hearing/signal.h"

struct settings;

enum { ROOM_BACKGROUND_BLOCKS = 30, ROOM_BACKGROUND_MS = 3000 };

struct room_background {
	uint64_t at;		    /* arrival of the newest frame */
	struct room_signal current; /* the block that is being filled */
	unsigned blocks, next;
	uint16_t block[ROOM_BACKGROUND_BLOCKS];
	unsigned promoted;    /* blocks until none is left that may be speech */
	unsigned below;	      /* blocks in a row below half of `least` */
	uint32_t least, most; /* as learned; 0 = none */
	bool raised;	      /* by transcripts; not by how even it is */
};

/* promoted: the frame belongs to a promoted capture. */
void room_background_add(struct room_background *b, const struct settings *s,
			 const struct room_signal *frame, bool promoted, uint64_t now);
/* A capture whose voice is so loud has a transcript with words. */
void room_background_on_words(struct room_background *b, uint32_t voice_rms);
/* A capture goes on whose transcripts have had no words for ROOM_BACKGROUND_MS. */
void room_background_on_no_words(struct room_background *b, const struct settings *s);
/* The least loudness of a frame of speech; 0 when no background is known. */
static inline uint32_t room_background_threshold(const struct room_background *b)
{
	return b->most + b->most / 4;
}

#endif
