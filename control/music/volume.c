#include "control/music/volume.h"

#include <math.h>

#include "control/music/queue.h"

enum {
	STEP = MUSIC_VOLUME_FULL * MUSIC_VOLUME_STEP_DB / MUSIC_VOLUME_RANGE_DB,
	UNITY = 1000, /* of gains, in media.def */
	FINE_UNITY = 1000000,
};

static double gain_of(unsigned volume)
{
	double db = ((double)volume / MUSIC_VOLUME_FULL - 1) * MUSIC_VOLUME_RANGE_DB;

	return volume ? pow(10, fmin(db, 0) / 20) : 0;
}

uint32_t music_volume_fine_gain(unsigned volume)
{
	return (uint32_t)lround(FINE_UNITY * gain_of(volume));
}

uint16_t music_volume_gain(unsigned volume)
{
	return (uint16_t)lround(UNITY * gain_of(volume));
}

unsigned music_volume_step(unsigned volume, bool louder)
{
	if (!louder)
		return volume > STEP ? volume - STEP : 0;
	return volume < MUSIC_VOLUME_FULL - STEP ? volume + STEP : MUSIC_VOLUME_FULL;
}
