/* Prosody of the end of speech: how pitch, loudness and length of the last syllable differ from
 * the speech before it. The last second of voiced audio is kept at 4 kHz; it is measured once, when
 * the speaker pauses. Pitch is found by autocorrelation, from 60 to 400 Hz. For control/room only.
 */
#ifndef CONTROL_ROOM_HEARING_PROSODY_H
#define CONTROL_ROOM_HEARING_PROSODY_H

#include "control/room/base/event.h"

enum { ROOM_PROSODY_RATE = 4000, ROOM_PROSODY_SAMPLES = ROOM_PROSODY_RATE };

struct room_prosody {
	unsigned at, n;
	int16_t sample[ROOM_PROSODY_SAMPLES];
};

/* Zeros stand for "nothing to tell": too little audio, no pitch. */
struct room_prosody_end {
	int pitch;  /* of the last 120 ms over that before, tenths of a semitone; negative falls */
	int energy; /* the same of loudness, tenths of a decibel */
	int length; /* of the last syllable over the mean of those before, per cent more */
};

/* pcm: s16le mono at ROOM_RATE, voiced. */
void room_prosody_add(struct room_prosody *p, struct slice pcm);
void room_prosody_clear(struct room_prosody *p);
void room_prosody_measure(const struct room_prosody *p, struct room_prosody_end *out);

#endif
