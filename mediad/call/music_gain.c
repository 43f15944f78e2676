/* How loud a track of music plays. */
#include <math.h>

#include "mediad/call/call_internal.h"

enum {
	LOUDNESS_BOOST = 9, /* dB, at most */
	FALL_MS_PER_DB = 1000,
	WEB_FALL_MS_PER_DB = 167, /* a web source may be much too loud */
	WEB_LEVELS_KNOWN = 30, /* seconds of a web source after which its levels are those of all of
				  it */
};

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

/* A song may begin quietly: what little is known of a web source makes it no louder. */
uint16_t music_take_levels(struct music_track *t, const struct decoder_levels *levels)
{
	const struct decoder_levels before = t->opened.levels;
	const uint16_t old = music_track_gain(t);
	const bool web = t->source.kind == DECODER_HTTP;

	t->opened.levels = *levels;
	t->n_levels++;
	if (web && t->n_levels < WEB_LEVELS_KNOWN && music_track_gain(t) > old)
		t->opened.levels = before;
	if (!t->played)
		return 0;
	return web ? WEB_FALL_MS_PER_DB : FALL_MS_PER_DB;
}
