#include "control/music/volume.h"

#include <math.h>

#include "control/music/queue.h"

enum {
	STEP = MUSIC_VOLUME_FULL * MUSIC_VOLUME_STEP_DB / MUSIC_VOLUME_RANGE_DB,
	UNITY = 1000, /* of gains, in media.def */
};

uint16_t music_volume_gain(unsigned volume)
{
	double db;

	if (!volume)
		return 0;
	if (volume >= MUSIC_VOLUME_FULL)
		return UNITY;
	db = ((double)volume / MUSIC_VOLUME_FULL - 1) * MUSIC_VOLUME_RANGE_DB;
	return (uint16_t)lround(UNITY * pow(10, db / 20));
}

unsigned music_volume_step(unsigned volume, bool louder)
{
	if (!louder)
		return volume > STEP ? volume - STEP : 0;
	return volume < MUSIC_VOLUME_FULL - STEP ? volume + STEP : MUSIC_VOLUME_FULL;
}
