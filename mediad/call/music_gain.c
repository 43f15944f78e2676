/* How loud a track of music plays. */
#include <math.h>
#include <string.h>

#include "mediad/call/call_internal.h"

enum {
	LOUDNESS_BOOST = 9, /* dB, at most */
	/* dB by which a track may be beside the target for its album's sake */
	ALBUM_LOUDER = 3,
	ALBUM_QUIETER = 6,
	FALL_MS_PER_DB = 1000,
	WEB_FALL_MS_PER_DB = 167, /* a web source may be much too loud */
	WEB_LEVELS_KNOWN = 30, /* seconds of a web source after which its levels are those of all of
				  it */
};

/* In dB, without the volume. */
static double own_gain(const struct music_track *t)
{
	return fmin(-t->target / 100.0 - t->opened.levels.loudness / 100.0, LOUDNESS_BOOST);
}

/* A boost leaves the peak below -1 dBFS. */
static double below_peak(const struct music_track *t, double db)
{
	return t->opened.levels.peak == DECODER_NO_LEVEL
		       ? db
		       : fmin(db, fmax(0, -1 - t->opened.levels.peak / 100.0));
}

static bool has_target(const struct music_track *t)
{
	return t->target && t->opened.levels.loudness != DECODER_NO_LEVEL;
}

/* In dB, without the volume, of a track that has a target. The tracks of an album are as loud
 * beside each other as they were made. */
static double loudness_gain(const struct music_track *t)
{
	const double own = own_gain(t);

	if (t->of_album)
		return below_peak(t, fmin(fmax(t->album_gain / 100.0, own - ALBUM_QUIETER),
					  own + ALBUM_LOUDER));
	return below_peak(t, own);
}

uint32_t music_gain_of(uint16_t thousandths, uint32_t millionths)
{
	return millionths ? millionths : thousandths * (uint32_t)(PLAYOUT_GAIN_UNITY / 1000);
}

uint32_t music_track_gain(const struct music_track *t)
{
	double gain;

	if (!has_target(t))
		return t->gain;
	gain = t->gain * pow(10, loudness_gain(t) / 20);
	return gain < PLAYOUT_GAIN_MAX ? (uint32_t)lrint(gain) : PLAYOUT_GAIN_MAX;
}

static bool is_one_folder(const struct decoder_source *a, const struct decoder_source *b)
{
	const char *x = strrchr(a->path, '/'), *y = strrchr(b->path, '/');

	return a->kind == DECODER_FILE && b->kind == DECODER_FILE && a->root == b->root && x && y &&
	       x - a->path == y - b->path && memcmp(a->path, b->path, (size_t)(x - a->path)) == 0;
}

/* Many artists have an album of greatest hits, and some albums many artists. */
static bool is_one_album(const struct music_track *a, const struct music_track *b)
{
	return *a->opened.album && strcmp(a->opened.album, b->opened.album) == 0 &&
	       (strcmp(a->opened.artist, b->opened.artist) == 0 ||
		is_one_folder(&a->source, &b->source));
}

const struct music_track *music_find_album(const struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; t->follows && i < MUSIC_MIXER_LANES; i++) {
		const struct music_track *o = c->tracks[i];

		if (o && o->lane && !o->follows && is_one_album(o, t))
			return o;
	}
	return NULL;
}

void music_keep_album_gain(struct music_track *t, const struct music_track *before)
{
	t->of_album = has_target(before);
	if (t->of_album)
		t->album_gain = (int16_t)lrint(100 * loudness_gain(before));
}

/* A song may begin quietly: what little is known of a web source makes it no louder. */
uint16_t music_take_levels(struct music_track *t, const struct decoder_levels *levels)
{
	const struct decoder_levels before = t->opened.levels;
	const uint32_t old = music_track_gain(t);
	const bool web = t->source.kind == DECODER_HTTP;

	t->opened.levels = *levels;
	t->n_levels++;
	if (web && t->n_levels < WEB_LEVELS_KNOWN && music_track_gain(t) > old)
		t->opened.levels = before;
	if (!t->played)
		return 0;
	return web ? WEB_FALL_MS_PER_DB : FALL_MS_PER_DB;
}
