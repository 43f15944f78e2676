/* Analyses of the music for the visualizer, in a call. */
#include "ipc/env_replay.h"
#include "mediad/music/analysis.h"
#include "tests/unit/mediad/call/music_rig.h"

/* The pool of decoders has found the analysis of a track that was asked for. */
static void deliver(uint64_t track, uint64_t at)
{
	struct {
		uint64_t track, at;
		struct analysis a;
	} in = {.track = track, .at = at};

	env_replay_step(music_rig.decoders, music_rig.now, 1, 3, (const uint8_t *)&in, sizeof in);
}

static uint64_t asked(uint32_t music)
{
	const struct music_track *t = music_rig_track_of(music);

	return t ? t->analysed : 0;
}

static void play(uint64_t start)
{
	music_rig_play(1, 0);
	music_rig_opened(1, start, start + DURATION);
}

TEST(call_analyses_follow_what_is_played)
{
	music_rig_setup();
	play(480);
	music_rig_run_ms(200);
	/* Nobody looks. */
	CHECK_INT(asked(1), 0);
	deliver(music_rig_track_of(1)->decoded, 0);
	CHECK_INT(music_rig.n_analyses, 0);
	call_music_watch(&music_rig.c, true);
	music_rig_run_ms(100);
	CHECK_INT(asked(1), music_rig_track_of(1)->played / ANALYSIS_STEP * ANALYSIS_STEP + 1);
	deliver(music_rig_track_of(1)->decoded, 2 * ANALYSIS_STEP);
	CHECK_INT(music_rig.n_analyses, 1);
	CHECK_INT(music_rig.analysis.music, 1);
	CHECK_INT(music_rig.analysis.position, 480 + 2 * ANALYSIS_STEP);
	CHECK(music_rig.analysis.bands.n == 64 && music_rig.analysis.wave.n == 128 &&
	      music_rig.analysis.scope.n == 256);
	music_rig_finish();
}

TEST(call_analyses_stop_while_the_music_is_paused)
{
	uint64_t before;

	music_rig_setup();
	call_music_watch(&music_rig.c, true);
	play(0);
	music_rig_run_ms(200);
	call_music_pause(&music_rig.c, 1, true, 0);
	music_rig_run_ms(60);
	before = asked(1);
	CHECK(before > 1);
	music_rig_run_ms(400);
	CHECK_INT(asked(1), before);
	call_music_pause(&music_rig.c, 1, false, 0);
	music_rig_run_ms(200);
	CHECK(asked(1) > before);
	music_rig_finish();
}

/* The track that comes is shown from its first sound on. */
TEST(call_analyses_are_those_of_the_newer_track_of_two)
{
	uint64_t before;

	music_rig_setup();
	call_music_watch(&music_rig.c, true);
	play(0);
	music_rig_prepare(2, 400);
	music_rig_opened(2, 0, DURATION);
	music_rig_run_ms(700);
	CHECK(music_rig_track_of(1) && music_rig_track_of(2) && music_rig_track_of(2)->played);
	before = asked(1);
	CHECK(before > 0 && asked(2) > 0);
	music_rig_run_ms(100);
	CHECK(music_rig_track_of(1) != NULL);
	CHECK_INT(asked(1), before);
	music_rig_finish();
}

/* A control that does not read gets sound and states, and no pictures. */
TEST(call_analyses_do_not_pile_up)
{
	music_rig_setup();
	call_music_watch(&music_rig.c, true);
	play(0);
	music_rig_run_ms(100);
	music_rig.queued = (16 << 10) + 1;
	deliver(music_rig_track_of(1)->decoded, 0);
	CHECK_INT(music_rig.n_analyses, 0);
	music_rig.queued = 0;
	deliver(music_rig_track_of(1)->decoded, 0);
	CHECK_INT(music_rig.n_analyses, 1);
	/* Another control says itself what it wants. */
	music_unclaim_all(&music_rig.c);
	deliver(music_rig_track_of(1)->decoded, 0);
	CHECK_INT(music_rig.n_analyses, 1);
	music_rig_finish();
}
