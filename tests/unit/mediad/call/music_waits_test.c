/* Music of a call whose source brings nothing for a while. */
#include "tests/unit/mediad/call/music_rig.h"

/* Music 7 plays, and a second of it is in the ring. */
static void begin(void)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 100 * DURATION);
	music_rig.left[music_rig_track_of(7)->lane] = 2 * DURATION;
	music_rig_run_ms(500);
	CHECK_PHASE(7, PLAYING);
	/* The decoder gives no more, but has not reached the end. */
	music_rig.starved = music_rig_track_of(7)->lane;
}

TEST(call_music_tells_that_it_waits_for_its_source)
{
	uint64_t at;

	begin();
	music_rig.starves = true;
	music_rig_run_ms(3000);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(2000);
	CHECK_PHASE(7, WAITING);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_WAITING), 1);
	at = music_rig_state_of(7)->position;
	CHECK_INT(at, 2 * DURATION);
	/* It has come back. */
	music_rig.starves = false;
	music_rig.left[music_rig_track_of(7)->lane] = DURATION;
	music_rig_run_ms(500);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position > at);
	music_rig_finish();
}

/* The ring is full: it is not the source that is missing, but a key. */
TEST(call_music_that_may_not_be_sent_waits_for_no_source)
{
	begin();
	music_rig_run_ms(10000);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_WAITING), 0);
	CHECK_PHASE(7, PLAYING);
	music_rig_finish();
}

TEST(call_music_that_is_paused_waits_for_no_source)
{
	begin();
	call_music_pause(&music_rig.c, 7, true, 0);
	music_rig_run_ms(100);
	music_rig.starves = true;
	music_rig_run_ms(10000);
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_WAITING), 0);
	music_rig_finish();
}
