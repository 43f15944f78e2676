/* Music of a call: from opening to the end, gaplessly, over seeks, pauses and lost decoders. */
#include "tests/unit/mediad/call/music_rig.h"

TEST(call_music_from_opening_to_its_end)
{
	uint64_t decoded;

	music_rig_setup();
	music_rig_play(7, 0);
	decoded = music_rig_track_of(7)->decoded;
	CHECK(decoders_ring(music_rig.c.conf.decoders, decoded));
	CHECK_PHASE(7, OPENING);
	music_rig_opened(7, 0, DURATION);
	CHECK_PHASE(7, READY);
	CHECK_INT(music_rig.tags, 1);
	music_rig_run_ms(500);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(1000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->reason, MEDIA_REASON_NONE);
	CHECK_INT(music_rig_state_of(7)->position, DURATION);
	CHECK_INT(music_rig_state_of(7)->duration, DURATION);
	CHECK(!music_rig_track_of(7) && !decoders_ring(music_rig.c.conf.decoders, decoded));
	music_rig_finish();
}

TEST(call_music_that_ends_is_owed_nothing)
{
	struct cmd cmd = {.type = CMD_MUSIC_CONTROL, .music = {.what = SENDER_GAIN}};

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	cmd.music.id = music_rig_track_of(7)->lane;
	CHECK(call_owe(&music_rig.c, &cmd));
	music_rig_run_ms(1500);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig.c.n_owed, 0);
	music_rig_finish();
}

TEST(call_music_reports_its_position)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 48000, 10 * DURATION);
	music_rig_run_ms(3500);
	CHECK(music_rig_count_states(7, MEDIA_MUSIC_PHASE_PLAYING) >= 4);
	CHECK(music_rig_state_of(7)->position >= 48000 + 2 * 48000 &&
	      music_rig_state_of(7)->position <= 48000 + 168000);
	music_rig_finish();
}

/* The kernel refused 200 ms of it: its source is behind them all the same. */
TEST(call_music_is_where_its_source_is_after_sends_that_failed)
{
	struct playout *p;

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 48000, 10 * DURATION);
	music_rig_run_ms(500);
	p = music_lane_playout(music_mixer_lane(sender_music(music_rig.c.stream->sender),
						music_rig_track_of(7)->lane));
	p->sent -= 9600;
	music_rig_run_ms(40);
	CHECK(music_rig_state_of(7)->position > 48000 + 24000 - 2880);
	CHECK(music_rig_state_of(7)->position <= 48000 + p->confirmed);
	call_music_pause(&music_rig.c, 7, true, 0);
	music_rig_run_ms(40);
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(music_rig_state_of(7)->position, 48000 + p->confirmed);
	music_rig_finish();
}

/* What is in the ring is played, and another decoder goes on behind it. */
TEST(call_music_outlasts_its_decoder)
{
	uint32_t first;
	uint64_t at;

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	first = music_rig_track_of(7)->lane;
	music_rig.left[first] = 72000;
	music_rig_run_ms(500);
	music_rig.written = 72000;
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_CRASHED);
	music_rig.written = 0;
	CHECK_INT(music_rig_track_of(7)->start, 72000);
	CHECK(!music_rig_track_of(7)->lane);
	music_rig_run_ms(40);
	CHECK_PHASE(8, ENDED);
	music_rig_prepare(9, 0);
	music_rig_opened(9, 0, DURATION);
	music_rig_run_ms(160);
	at = music_rig_state_of(7)->position;
	CHECK(at > 0 && at < 48000);
	CHECK_PHASE(7, PLAYING);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig.left[music_rig_track_of(9)->lane] = DURATION;
	music_rig_run_ms(1500);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position > 72000);
	CHECK_PHASE(9, READY);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	music_rig_run_ms(8300);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, 10 * DURATION);
	CHECK_PHASE(9, PLAYING);
	music_rig_finish();
}

TEST(call_music_fails_with_a_decoder_that_dies_soon)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig.left[music_rig_track_of(7)->lane] = 9600;
	music_rig_run_ms(100);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_CRASHED);
	CHECK_INT(music_rig_track_of(7)->start, 0);
	music_rig_finish();
}

/* Neither does music go on whose next decoder cannot open it. */
TEST(call_music_fails_with_a_decoder_that_none_replaces)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig.left[music_rig_track_of(7)->lane] = 48000;
	music_rig_run_ms(100);
	music_rig.written = 48000;
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_CRASHED);
	music_rig.written = 0;
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_NOT_FOUND);
	CHECK(music_rig_state_of(7)->phase != MEDIA_MUSIC_PHASE_FAILED);
	music_event(
		&music_rig.c,
		&(struct ev){.type = EV_MUSIC,
			     .lane = {.what = SENDER_DRAINED, .playback = 1, .samples = 48000}});
	CHECK_PHASE(7, FAILED);
	CHECK_STR(music_rig_failure_of(7), "crashed");
	CHECK(!music_rig_track_of(7));
	music_rig_finish();
}

/* control goes on after the newest position when mediad dies. */
TEST(call_music_reports_each_frame)
{
	uint64_t before;

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_run_ms(500);
	before = music_rig_state_of(7)->position;
	CHECK(before > 0);
	for (unsigned i = 1; i <= 5; i++) {
		music_rig_run_ms(20);
		CHECK_INT(music_rig_state_of(7)->position, before + i * 960);
	}
	music_rig_finish();
}

/* The lane that is lent first plays first, so one that was prepared faster waits. */
TEST(call_music_waits_for_the_track_before_it)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	music_rig_ended(music_rig_track_of(8)->decoded, DECODER_REASON_END);
	CHECK_PHASE(8, READY);
	music_rig_run_ms(500);
	CHECK_PHASE(8, READY);
	CHECK_PHASE(7, OPENING);
	music_rig_opened(7, 0, DURATION);
	music_rig.left[music_rig_track_of(8)->lane] = DURATION;
	music_rig_run_ms(500);
	CHECK_PHASE(7, PLAYING);
	CHECK_PHASE(8, READY);
	music_rig_run_ms(1000);
	CHECK_PHASE(7, ENDED);
	CHECK_PHASE(8, PLAYING);
	music_rig_finish();
}

TEST(call_music_goes_on_after_a_track_that_cannot_be_opened)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_NOT_FOUND);
	CHECK_PHASE(7, FAILED);
	music_rig.left[music_rig_track_of(8)->lane] = DURATION;
	music_rig_run_ms(500);
	CHECK_PHASE(8, PLAYING);
	music_rig_finish();
}

TEST(call_music_that_cannot_be_opened)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_NOT_FOUND);
	CHECK_PHASE(7, FAILED);
	CHECK_INT(music_rig_state_of(7)->reason, MEDIA_REASON_SOURCE_FAILED);
	CHECK_STR(music_rig_failure_of(7), "not_found");
	music_rig_finish();

	CHECK_INT(music_rig_start(false), 0);
	CHECK_INT(music_rig_connect_stream(), 0);
	music_rig_play(8, 0);
	CHECK_PHASE(8, FAILED);
	CHECK_STR(music_rig_failure_of(8), "no_decoder");
	music_rig_finish();
}

TEST(call_music_refuses_bad_requests)
{
	struct media_music_play m = {.music = 3, .kind = 9, .path = slice_str("x")};

	music_rig_setup();
	call_music_play(&music_rig.c, &m);
	CHECK_PHASE(3, FAILED);
	CHECK_INT(music_rig_state_of(3)->reason, MEDIA_REASON_BAD_REQUEST);
	m.kind = MEDIA_MUSIC_HTTP;
	m.music = 40;
	m.headers = slice_str("Cookie: a=b\n");
	call_music_play(&music_rig.c, &m);
	CHECK_PHASE(40, FAILED);
	CHECK_INT(music_rig_state_of(40)->reason, MEDIA_REASON_BAD_REQUEST);
	m.headers = slice_str("");
	m.kind = MEDIA_MUSIC_FILE;
	m.music = 4;
	m.path = slice_str("");
	call_music_play(&music_rig.c, &m);
	CHECK_PHASE(4, FAILED);
	call_music_claim(&music_rig.c, 5);
	CHECK_PHASE(5, FAILED);
	/* Commands about music that has ended are late. */
	call_music_pause(&music_rig.c, 6, true, 0);
	call_music_stop(&music_rig.c, 6, 0);
	call_music_gain(&music_rig.c, &(struct media_music_gain){.music = 6, .target = 1});
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 6});
	CHECK_INT(music_rig.n_states, 4);
	music_rig_finish();
}

/* A decoder that crashes leaves what it has written; that plays out, and then the music failed. */
TEST(call_music_whose_decoder_crashes)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_run_ms(300);
	music_rig.left[music_rig_track_of(7)->lane] = 9600;
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_CRASHED);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(1000);
	CHECK_PHASE(7, FAILED);
	CHECK_STR(music_rig_failure_of(7), "crashed");
	CHECK(music_rig_state_of(7)->position > 9600 && music_rig_state_of(7)->position < DURATION);
	music_rig_finish();
}

TEST(call_music_next_is_gapless)
{
	uint16_t seq;

	music_rig_setup();
	seq = music_rig.c.stream->seq;
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 30001);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, 30003);
	CHECK_PHASE(8, READY);
	music_rig_run_ms(800);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, 30001);
	CHECK_PHASE(8, PLAYING);
	/* It follows nothing any more, so it stays when nothing is to follow. */
	call_music_next(&music_rig.c, &(struct media_music_next){.kind = MEDIA_MUSIC_NONE});
	music_rig_run_ms(1000);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->position, 30003);
	/* 60004 frames are 63 packets; one may drive out the lookahead, and five of silence end it.
	 */
	CHECK(music_rig.c.stream->seq - seq == 68 || music_rig.c.stream->seq - seq == 69);
	music_rig_finish();
}

/* Music 7 plays, and 8 is prepared to follow. */
static void play_two(uint16_t crossfade_ms)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_prepare(8, crossfade_ms);
	music_rig_opened(8, 0, DURATION);
}

TEST(call_music_crosses_over)
{
	play_two(500);
	music_rig_run_ms(800);
	CHECK_PHASE(8, PLAYING);
	music_rig_run_ms(1500);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->reason, MEDIA_REASON_NONE);
	CHECK_PHASE(8, ENDED);
	music_rig_finish();
}

/* As of an aac file whose first seconds are loud. */
TEST(call_music_that_outlasts_a_guessed_length_is_not_cut)
{
	music_rig_setup();
	music_rig.guesses = true;
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig.left[music_rig_track_of(7)->lane] = 3 * DURATION;
	music_rig_prepare(8, 500);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(5000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, 3 * DURATION);
	music_rig_finish();
}

/* Its tracks may run into each other, as those of a concert do. */
TEST(call_music_of_one_album_does_not_cross_over)
{
	music_rig_setup();
	music_rig.album = "One";
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_prepare(8, 500);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(800);
	CHECK_PHASE(8, READY);
	music_rig_run_ms(600);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, DURATION);
	CHECK_PHASE(8, PLAYING);
	music_rig.album = NULL;
	music_rig_finish();
}

TEST(call_music_next_is_taken_back)
{
	play_two(0);
	music_rig_prepare(9, 0);
	music_rig_run_ms(100);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->reason, MEDIA_REASON_STOPPED);
	CHECK_PHASE(9, OPENING);
	call_music_next(&music_rig.c, &(struct media_music_next){.kind = MEDIA_MUSIC_NONE});
	CHECK_PHASE(9, ENDED);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(1500);
	CHECK_PHASE(7, ENDED);
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		CHECK(!music_rig.c.tracks[i]);
	music_rig_finish();
}

/* Control learns of the end before the prepared music has begun, and prepares the one after it. */
TEST(call_music_next_after_an_end_replaces_nothing)
{
	struct ev drained = {.type = EV_MUSIC};

	play_two(0);
	music_rig_run_ms(100);
	drained.lane.playback = music_rig_track_of(7)->lane;
	drained.lane.what = SENDER_DRAINED;
	drained.lane.samples = DURATION;
	music_event(&music_rig.c, &drained);
	CHECK_PHASE(7, ENDED);
	music_rig_prepare(9, 0);
	music_rig_opened(9, 0, DURATION);
	CHECK_PHASE(8, READY);
	music_rig_run_ms(1500);
	CHECK_PHASE(8, PLAYING);
	music_rig_run_ms(2000);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->position, DURATION);
	CHECK_PHASE(9, ENDED);
	CHECK_INT(music_rig_state_of(9)->position, DURATION);
	music_rig_finish();
}

/* A new MUSIC_PLAY ends the one before, which fades meanwhile. */
TEST(call_music_is_replaced)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_run_ms(500);
	music_rig_play(8, 40);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(200);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->reason, MEDIA_REASON_STOPPED);
	CHECK_PHASE(8, PLAYING);
	call_music_stop(&music_rig.c, 8, 20);
	music_rig_run_ms(200);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->reason, MEDIA_REASON_STOPPED);
	music_rig_finish();
}

/* What was prepared goes on when the present one is stopped, and what follows it is prepared while
 * that still fades out. */
TEST(call_music_skips_to_what_stands_ready)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(500);
	call_music_stop(&music_rig.c, 7, 300);
	music_rig_prepare(9, 0);
	music_rig_opened(9, 0, DURATION);
	music_rig_run_ms(400);
	CHECK_PHASE(7, ENDED);
	CHECK_PHASE(8, PLAYING);
	music_rig_run_ms(1000);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->reason, MEDIA_REASON_NONE);
	CHECK_PHASE(9, PLAYING);
	music_rig_finish();
}

TEST(call_music_seeks)
{
	uint64_t before;

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_run_ms(500);
	before = music_rig_track_of(7)->played;
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 240000});
	music_rig_run_ms(200); /* it plays on */
	CHECK(sender_music(music_rig.c.stream->sender) &&
	      music_mixer_has_audio(sender_music(music_rig.c.stream->sender)));
	music_rig_opened(7, 240000, 10 * DURATION);
	music_rig_run_ms(200);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position >= 240000 &&
	      music_rig_state_of(7)->position < 240000 + 9600);
	CHECK(before < 240000);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_ENDED), 0);
	CHECK_INT(music_rig.tags, 1);
	music_rig_run_ms(5000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, 10 * DURATION);
	music_rig_finish();
}

TEST(call_music_seek_that_fails)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 2 * DURATION);
	music_rig_run_ms(500);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 40000});
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_NOT_SEEKABLE);
	CHECK_PHASE(7, PLAYING);
	CHECK_STR(music_rig_failure_of(7), "not_seekable");
	CHECK(music_rig_track_of(7)->played > 0);
	music_rig_run_ms(40);
	CHECK_STR(music_rig_failure_of(7), "");
	music_rig_run_ms(2000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, 2 * DURATION);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	music_rig_finish();
}

TEST(call_music_pauses_seeks_and_resumes)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 4 * DURATION);
	music_rig_run_ms(500);
	call_music_pause(&music_rig.c, 7, true, 40);
	music_rig_run_ms(3500); /* the stream is idle by then */
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_PAUSED),
		  1); /* its position is told once */
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 96000});
	music_rig_opened(7, 96000, 4 * DURATION);
	music_rig_run_ms(500);
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(music_rig_state_of(7)->position, 96000);
	CHECK(!music_mixer_at(sender_music(music_rig.c.stream->sender),
			      1)); /* the former place is gone */
	call_music_pause(&music_rig.c, 7, false, 40);
	music_rig_run_ms(200);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(3000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->position, 4 * DURATION);
	music_rig_finish();
}

TEST(call_music_a_pause_that_crosses_a_resume_is_over)
{
	struct ev ev = {.type = EV_MUSIC, .lane = {.what = SENDER_PAUSED}};

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_run_ms(500);
	ev.lane.playback = music_rig_track_of(7)->lane;
	ev.lane.samples = music_rig_track_of(7)->played;
	call_music_pause(&music_rig.c, 7, true, 40);
	call_music_pause(&music_rig.c, 7, false, 40);
	music_event(&music_rig.c, &ev);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(1000);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_PAUSED), 0);
	music_rig_finish();
}

TEST(call_music_title_of_a_stream)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 0);
	music_rig_deliver(&(struct decoder_msg){.type = DECODER_TITLE,
						.track = music_rig_track_of(7)->decoded,
						.title = "Next song"});
	CHECK_STR(music_rig.title, "Next song");
	music_rig_finish();
}

/* Control skips to what a seek has taken back, before it hears of that: what is to follow that does
 * not play in its place. */
static void check_stranded(bool late)
{
	const struct media_music_next next = {
		.music = 3, .kind = MEDIA_MUSIC_FILE, .path = slice_str("c"), .after = 2};

	music_rig_setup();
	music_rig_play(1, 0);
	music_rig_opened(1, 0, 10 * DURATION);
	music_rig_prepare(2, 0);
	music_rig_opened(2, 0, DURATION);
	music_rig_run_ms(400);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 1, .position = DURATION});
	call_music_stop(&music_rig.c, 1, 0);
	if (late)
		music_rig_run_ms(100);
	call_music_next(&music_rig.c, &next);
	CHECK_INT(music_rig_track_of(3)->decoded, 0);
	music_rig_run_ms(400);
	CHECK_PHASE(2, ENDED);
	CHECK_INT(music_rig_state_of(2)->reason, MEDIA_REASON_STOPPED);
	CHECK_PHASE(3, OPENING);
	music_rig_play(4, 0);
	CHECK_PHASE(3, ENDED);
	music_rig_opened(4, 0, DURATION);
	music_rig_run_ms(100);
	CHECK_PHASE(4, PLAYING);
	music_rig_finish();
}

/* It skips that as well. */
static void check_stranded_skip(bool late)
{
	const struct media_music_next next = {
		.music = 3, .kind = MEDIA_MUSIC_FILE, .path = slice_str("c"), .after = 2};

	music_rig_setup();
	music_rig_play(1, 0);
	music_rig_opened(1, 0, 10 * DURATION);
	music_rig_prepare(2, 0);
	music_rig_opened(2, 0, DURATION);
	music_rig_run_ms(400);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 1, .position = DURATION});
	call_music_stop(&music_rig.c, 1, 0);
	call_music_next(&music_rig.c, &next);
	if (late)
		music_rig_run_ms(100);
	call_music_stop(&music_rig.c, 2, 0);
	music_rig_opened(3, 0, DURATION);
	music_rig_run_ms(200);
	CHECK_PHASE(3, PLAYING);
	music_rig_finish();
}

TEST(call_music_behind_what_was_taken_back_does_not_play)
{
	check_stranded(false);
	check_stranded(true);
	check_stranded_skip(false);
	check_stranded_skip(true);
}

/* Another control claims what it knows; the rest stops, and an id of it is free again. */
TEST(call_music_is_claimed)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(500);
	music_unclaim_all(&music_rig.c);
	music_rig.n_states = 0;
	music_send_all(&music_rig.c);
	CHECK_PHASE(7, PLAYING);
	CHECK_PHASE(8, READY);
	call_music_claim(&music_rig.c, 7);
	call_stop_unclaimed(&music_rig.c);
	music_rig_run_ms(100);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->reason, MEDIA_REASON_ORPHANED);
	music_unclaim_all(&music_rig.c);
	music_rig_play(7, 0);
	CHECK_PHASE(7, OPENING);
	music_rig.n_states = 0;
	music_send_all(&music_rig.c);
	CHECK_PHASE(8, ENDED); /* told again */
	music_rig_finish();
}

TEST(call_music_ends_with_its_call)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig_run_ms(500);
	music_rig.c.leaving = true;
	music_rig_remove_stream();
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->reason, MEDIA_REASON_CALL_ENDED);
	music_rig_finish();
}

/* Without memory music is refused, and what was lent before plays on. */
TEST_OOM(call_music_without_memory)
{
	int err = music_rig_start(true);

	if (err == ENOMEM && test_oom_hit()) {
		music_rig_finish();
		return;
	}
	music_rig_deliver_ready();
	music_rig_play(7, 0);
	if (music_rig_track_of(7))
		music_rig_opened(7, 0, DURATION);
	CHECK(music_rig.n_states >= 1);
	if (!test_oom_hit())
		CHECK_PHASE(7, READY);
	music_rig_finish();
}
