/* How loud a track of music plays. */
#include <math.h>

#include "mediad/call/call_internal.h"

enum { LOUDNESS_BOOST = 9 /* dB, at most */ };

uint16_t music_track_gain(const struct music_track *t)
{
	double db = -t->target / 100.0 - t->opened.levels.loudness / 100.0, gain;

	if (!t->target || t->opened.levels.loudness == DECODER_NO_LEVEL)
		return t->gain;
	db = fmin(db, LOUDNESS_BOOST);
	if (t->opened.levels.peak != DECODER_NO_LEVEL)
		db = fmin(db, fmax(0, -1 - t->opened.levels.peak / 100.0));
	gain = t->gain * pow(10, db / 20);
	return gain < PLAYOUT_GAIN_MAX ? (uint16_t)gain : PLAYOUT_GAIN_MAX;
}
