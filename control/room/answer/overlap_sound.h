/* Evidence in the sound of an overlap, without words: by how much sooner or later than by its
 * duration alone a voice interrupts the answer. A function of its input; C is barge_in_credit_ms.
 *
 *   sound                                               credit
 *   at the speaker's own level, or up to 4 dB below it  C/4
 *   above it                                            C/4, and C/5 for each decibel, 5 at most
 *   softer than 4 dB below it                           C/4 less C for each decibel, 4 at most
 *   the speaker began anew over the same answer         C/2 more
 *   somebody else spoke within a second before          2 C less
 *   the speaker's own level is not known                only the last two rows
 *
 * People who compete for the floor raise their voice (French and Local 1983; Shriberg, Stolcke and
 * Baron 2001) and begin again; backchannels and words to somebody else are softer than a speaker's
 * own turns, and talk among people is an exchange. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_OVERLAP_SOUND_H
#define CONTROL_ROOM_ANSWER_OVERLAP_SOUND_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct room_overlap_sound {
	uint32_t rms;  /* of the voiced part of the capture */
	uint32_t own;  /* of this speaker's own turns; 0: not known */
	bool again;    /* an earlier overlap segment of this speaker ended over this answer */
	bool exchange; /* somebody else spoke within a second before */
};

/* In tenths of a decibel; -200 to 200. */
int room_overlap_level(uint32_t rms, uint32_t own);
/* In milliseconds: positive is sooner. */
int room_overlap_credit(const struct settings *s, const struct room_overlap_sound *in);

#endif
