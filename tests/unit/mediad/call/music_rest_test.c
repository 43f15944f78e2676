/* Music that stays paused gives its decoder back, and goes on at its sample. */
#include "tests/unit/mediad/call/music_rig.h"

enum { LENGTH = 30 * DURATION };

/* The statistics come after so many seconds, in which nothing happens. */
static void wait_s(uint64_t s)
{
	music_rig.now += s * NS_PER_S;
	music_rig_run_ms(40);
	music_rest_paused(&music_rig.c);
	music_rig_run_ms(100);
}

static bool has_decoder(uint64_t decoded)
{
	return decoders_ring(music_rig.c.conf.decoders, decoded) != NULL;
}

/* Music 1 has played for a second and is paused; music 2 stands ready. Returns its position. */
static uint64_t play_and_pause(void)
{
	music_rig_setup();
	music_rig_play(1, 0);
	music_rig_opened(1, 0, LENGTH);
	music_rig_run_ms(1000);
	music_rig_prepare(2, 0);
	music_rig_opened(2, 0, LENGTH);
	call_music_pause(&music_rig.c, 1, true, 20);
	music_rig_run_ms(200);
	return music_rig_state_of(1)->position;
}

TEST(call_music_that_stays_paused_gives_its_decoder_back)
{
	uint64_t at = play_and_pause(), one = music_rig_track_of(1)->decoded,
		 two = music_rig_track_of(2)->decoded;

	CHECK(at > DURATION / 2 && at < 2 * DURATION);
	wait_s(MUSIC_RESTS_S - 2);
	CHECK(has_decoder(one) && has_decoder(two));
	wait_s(2);
	CHECK(!has_decoder(one) && !has_decoder(two));
	CHECK_PHASE(1, PAUSED);
	CHECK_INT(music_rig_state_of(1)->position, at);
	/* Control prepares it again, and hears of it when it is its turn. */
	CHECK_PHASE(2, ENDED);
	CHECK_INT(music_rig_state_of(2)->reason, MEDIA_REASON_STOPPED);
	music_rig_prepare(3, 0);
	CHECK_PHASE(3, OPENING);
	CHECK_INT(music_rig_track_of(3)->decoded, 0);
	wait_s(MUSIC_RESTS_S);
	CHECK_INT(music_rig_track_of(1)->decoded, 0);
	music_rig.tags = 0;
	call_music_pause(&music_rig.c, 1, false, 20);
	CHECK_PHASE(1, OPENING);
	CHECK_INT(music_rig_track_of(1)->start, at);
	CHECK(has_decoder(music_rig_track_of(1)->decoded));
	CHECK(has_decoder(music_rig_track_of(3)->decoded));
	music_rig_opened(3, 0, LENGTH);
	music_rig_opened(1, at, LENGTH);
	CHECK_INT(music_rig.tags, 1);			      /* of music 3 */
	music_rig.left[music_rig_track_of(3)->lane] = LENGTH; /* it has its lane by now */
	music_rig_run_ms(1000);
	CHECK_PHASE(1, PLAYING);
	CHECK(music_rig_state_of(1)->position > at + DURATION / 2 &&
	      music_rig_state_of(1)->position < at + 2 * DURATION);
	CHECK_PHASE(3, READY);
	music_rig_run_ms(30000);
	CHECK_PHASE(1, ENDED);
	CHECK_INT(music_rig_state_of(1)->position, LENGTH);
	CHECK_PHASE(3, PLAYING);
	music_rig_finish();
}

/* A skip, while the room is silent: the next one is opened, and waits for the end of the pause. */
TEST(call_music_that_rests_is_skipped)
{
	play_and_pause();
	wait_s(MUSIC_RESTS_S);
	music_rig_prepare(3, 0);
	call_music_pause(&music_rig.c, 3, true, 0);
	call_music_stop(&music_rig.c, 1, 0);
	CHECK_PHASE(1, ENDED);
	CHECK(has_decoder(music_rig_track_of(3)->decoded));
	music_rig_opened(3, 0, LENGTH);
	CHECK_PHASE(3, PAUSED);
	call_music_pause(&music_rig.c, 3, false, 0);
	music_rig_run_ms(100);
	CHECK_PHASE(3, PLAYING);
	music_rig_finish();
}

TEST(call_music_that_rests_is_sought_in)
{
	play_and_pause();
	wait_s(MUSIC_RESTS_S);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 1, .position = 960000});
	music_rig_opened(1, 960000, LENGTH);
	CHECK_PHASE(1, PAUSED);
	CHECK_INT(music_rig_state_of(1)->position, 960000);
	call_music_pause(&music_rig.c, 1, false, 0);
	music_rig_run_ms(100);
	CHECK_PHASE(1, PLAYING);
	music_rig_finish();
}

/* What cannot be opened at its sample is kept, and so is what is about to go on. */
TEST(call_music_without_a_place_does_not_rest)
{
	uint64_t decoded;

	play_and_pause();
	decoded = music_rig_track_of(1)->decoded;
	music_rig_track_of(1)->opened.seekable = false;
	wait_s(MUSIC_RESTS_S);
	CHECK(has_decoder(decoded));
	music_rig_track_of(1)->opened.seekable = true;
	call_music_pause(&music_rig.c, 1, false, 0);
	wait_s(MUSIC_RESTS_S);
	CHECK(has_decoder(decoded));
	music_rig_finish();
}
