#include "control/music/volume.h"

#include <math.h>

#include "control/music/queue.h"
#include "tests/test.h"

/* Spec of music, section 4: volume in dB. */
TEST(each_tenth_of_the_volume_is_five_decibels)
{
	CHECK_INT(music_volume_gain(MUSIC_VOLUME_FULL), 1000);
	CHECK_INT(music_volume_fine_gain(MUSIC_VOLUME_FULL), 1000000);
	for (unsigned tenths = 1; tenths < 10; tenths++) {
		double db = 20 * log10(music_volume_gain(tenths * 100) / 1000.0),
		       fine = 20 * log10(music_volume_fine_gain(tenths * 100) / 1e6),
		       want = (tenths - 10.0) * 5;

		/* The gain is a whole number of thousandths. */
		CHECK(fabs(db - want) < (tenths < 3 ? 1 : 0.3));
		CHECK(fabs(fine - want) < 0.01);
	}
	CHECK_INT(music_volume_gain(500), 56);
}

TEST(only_no_volume_is_silence)
{
	unsigned before = 0;

	CHECK_INT(music_volume_gain(0), 0);
	CHECK_INT(music_volume_fine_gain(0), 0);
	for (unsigned volume = 1; volume <= MUSIC_VOLUME_FULL; volume++) {
		CHECK(music_volume_gain(volume) > 0);
		CHECK(music_volume_fine_gain(volume) > 0);
		CHECK(music_volume_gain(volume) >= before);
		before = music_volume_gain(volume);
	}
	CHECK_INT(music_volume_gain(MUSIC_VOLUME_FULL + 1), 1000);
	CHECK_INT(music_volume_fine_gain(MUSIC_VOLUME_FULL + 1), 1000000);
}

TEST(a_step_of_the_volume_is_five_decibels_within_its_ends)
{
	CHECK_INT(music_volume_step(500, true), 600);
	CHECK_INT(music_volume_step(500, false), 400);
	CHECK_INT(music_volume_step(950, true), MUSIC_VOLUME_FULL);
	CHECK_INT(music_volume_step(50, false), 0);
	CHECK_INT(music_volume_step(0, true), 100);
	CHECK_INT(music_volume_step(0, false), 0);
}
