/* Music of a call that goes on by another decoder: its process died, or somebody seeks. */
#include "tests/unit/mediad/call/music_rig.h"

/* The decoder of music 7 dies after it has written so many frames. */
static void die(uint64_t written)
{
	music_rig.written = written;
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_CRASHED);
	music_rig.written = 0;
}

static void begin(void)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 10 * DURATION);
	music_rig.left[music_rig_track_of(7)->lane] = 72000;
	music_rig_run_ms(500);
}

static bool sounds(void)
{
	struct music_mixer *m = sender_music(music_rig.c.stream->sender);

	return m && music_mixer_is_active(m);
}

TEST(call_music_outlasts_the_decoder_program)
{
	begin();
	music_rig.written = 72000;
	music_rig_deliver_ready();
	music_rig.written = 0;
	CHECK_INT(music_rig_track_of(7)->start, 72000);
	CHECK_PHASE(7, OPENING);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(3000);
	CHECK_PHASE(7, PLAYING);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	music_rig_finish();
}

/* The program dies before it has opened the track, or what is prepared behind that. */
TEST(call_music_is_opened_again_by_a_new_decoder_program)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	music_rig_deliver_ready();
	CHECK_PHASE(7, OPENING);
	CHECK_PHASE(8, OPENING);
	music_rig_opened(7, 0, DURATION);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(500);
	CHECK_PHASE(7, PLAYING);
	CHECK_PHASE(8, READY);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	CHECK_INT(music_rig_count_states(8, MEDIA_MUSIC_PHASE_FAILED), 0);
	music_rig_finish();
}

TEST(call_music_is_continued_at_once_by_a_new_decoder_program)
{
	begin();
	music_rig.written = 480;
	music_rig_deliver_ready();
	music_rig.written = 0;
	CHECK_PHASE(7, OPENING);
	CHECK_INT(music_rig_track_of(7)->start, 480);
	music_rig_finish();
}

TEST(call_music_is_not_opened_without_end)
{
	unsigned deaths = 0;

	music_rig_setup();
	music_rig_play(7, 0);
	for (; deaths < 100 && music_rig_track_of(7); deaths++)
		music_rig_deliver_ready();
	CHECK_INT(deaths, 9);
	CHECK_PHASE(7, FAILED);
	CHECK_STR(music_rig_failure_of(7), "lost");
	music_rig_finish();
}

/* Its source is far away: the samples in the ring have played long before. */
TEST(call_music_is_continued_late)
{
	begin();
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	die(72000);
	music_rig_run_ms(40);
	CHECK_PHASE(8, ENDED);	 /* it would play in its place */
	music_rig_prepare(9, 0); /* as control does */
	music_rig_opened(9, 0, DURATION);
	music_rig_run_ms(4000);
	CHECK_PHASE(7, OPENING);
	CHECK_INT(music_rig_state_of(7)->position, 72000);
	CHECK_INT(music_rig_count_states(9, MEDIA_MUSIC_PHASE_PLAYING), 0);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig.left[music_rig_track_of(7)->lane] = DURATION;
	music_rig.left[music_rig_track_of(9)->lane] = DURATION;
	music_rig_run_ms(500);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position > 72000 + 12000);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	music_rig_run_ms(1500);
	CHECK_PHASE(9, PLAYING);
	music_rig_finish();
}

/* The same without a source to come: the track ends, and what follows plays. */
TEST(call_music_that_cannot_be_continued_late_fails)
{
	begin();
	die(72000);
	music_rig_prepare(9, 0);
	music_rig_opened(9, 0, DURATION);
	music_rig_run_ms(4000);
	CHECK_PHASE(7, OPENING);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_STALLED);
	music_rig.left[music_rig_track_of(9)->lane] = DURATION;
	music_rig_run_ms(300);
	CHECK_PHASE(7, FAILED);
	CHECK_PHASE(9, PLAYING);
	music_rig_finish();
}

/* A hostile process says that it has written much, and dies, again and again. */
TEST(call_music_is_not_continued_without_end)
{
	unsigned deaths = 0;

	begin();
	for (; deaths < 100 && music_rig_track_of(7); deaths++) {
		die(72000);
		if (!music_rig_track_of(7) || music_rig_track_of(7)->lane)
			break;
		music_rig_opened(7, 72000 * (deaths + 1), 100 * DURATION);
		music_rig.left[music_rig_track_of(7)->lane] = 72000;
		music_rig_run_ms(1400);
	}
	CHECK_INT(deaths, 8);
	music_rig_run_ms(3000);
	CHECK_PHASE(7, FAILED);
	music_rig_finish();
}

TEST(call_music_pauses_that_is_continued_twice)
{
	begin();
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(40);
	die(72000);
	music_rig_opened(7, 144000, 10 * DURATION);
	music_rig_run_ms(40);
	call_music_pause(&music_rig.c, 7, true, 40);
	music_rig_run_ms(300);
	CHECK(!sounds());
	music_rig_finish();
}

TEST(call_music_stops_that_is_continued_and_seeks)
{
	begin();
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(40);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 240000});
	call_music_stop(&music_rig.c, 7, 40);
	music_rig_run_ms(200);
	CHECK_PHASE(7, ENDED);
	CHECK(!sounds());
	music_rig_finish();
}

/* Its decoder dies while it is paused (or less than 2 s before), somebody seeks, and resumes. */
TEST(call_music_is_continued_paused_sought_and_resumed)
{
	begin();
	call_music_pause(&music_rig.c, 7, true, 40);
	music_rig_run_ms(4000);
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(4000);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 240000});
	music_rig_opened(7, 240000, 10 * DURATION);
	music_rig_run_ms(4000);
	call_music_pause(&music_rig.c, 7, false, 40);
	music_rig_run_ms(3000);
	CHECK(sounds());
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position > 240000);
	music_rig_finish();
}

/* The new place takes longer to open than the rest of the track lasts. */
TEST(call_music_seeks_just_before_its_end)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	music_rig_run_ms(700);
	CHECK_PHASE(7, PLAYING);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 0});
	music_rig_run_ms(40);
	CHECK_PHASE(8, ENDED);
	CHECK_INT(music_rig_state_of(8)->reason, MEDIA_REASON_STOPPED);
	CHECK_INT(music_rig_count_states(8, MEDIA_MUSIC_PHASE_PLAYING), 0);
	music_rig_prepare(9, 0); /* as control does */
	music_rig_opened(9, 0, DURATION);
	music_rig_run_ms(900); /* the source of 7 is far away */
	CHECK_INT(music_rig_count_states(9, MEDIA_MUSIC_PHASE_PLAYING), 0);
	music_rig_opened(7, 0, DURATION);
	music_rig.left[music_rig_track_of(9)->lane] = DURATION;
	music_rig_run_ms(300);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(1500);
	CHECK_PHASE(7, ENDED);
	CHECK_PHASE(9, PLAYING);
	music_rig_finish();
}

/* Somebody skips while the music goes on by another decoder: its old lane still fades out. */
TEST(call_music_has_room_for_a_skip_at_any_time)
{
	begin();
	music_rig_prepare(8, 0);
	music_rig_opened(8, 0, DURATION);
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(40);
	music_rig_play(9, 300);
	music_rig_opened(9, 0, DURATION);
	music_rig_prepare(10, 0);
	CHECK_PHASE(10, OPENING);
	music_rig_finish();
}

/* No control has come back for it. */
TEST(call_music_that_is_continued_is_orphaned)
{
	begin();
	music_unclaim_all(&music_rig.c);
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_stop_unclaimed(&music_rig.c);
	music_rig_run_ms(200);
	CHECK_PHASE(7, ENDED);
	CHECK(!sounds());
	music_rig_finish();
}

/* A control that was restarted counts from 1 again. */
TEST(call_music_whose_number_is_taken_again_is_not_over)
{
	begin();
	call_music_stop(&music_rig.c, 7, 0);
	music_rig_run_ms(100);
	CHECK_PHASE(7, ENDED);
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_run_ms(300);
	CHECK_PHASE(7, PLAYING);
	music_send_all(&music_rig.c);
	CHECK_PHASE(7, PLAYING);
	music_rig_finish();
}

static void prepare_after(uint32_t music, uint32_t after)
{
	call_music_next(&music_rig.c, &(struct media_music_next){.music = music,
								 .kind = MEDIA_MUSIC_FILE,
								 .path = slice_str("b.flac"),
								 .gain = 1000,
								 .after = after});
	music_rig_opened(music, 0, DURATION);
}

/* Control sends it before it knows that 7 has ended, and that 8 plays. */
TEST(call_music_next_of_music_that_is_over_plays_at_once)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	prepare_after(8, 7);
	music_rig_run_ms(1500);
	CHECK_PHASE(8, PLAYING);
	prepare_after(9, 7);
	prepare_after(10, 9);
	music_rig_run_ms(500);
	CHECK_PHASE(8, ENDED);
	CHECK_PHASE(9, PLAYING);
	CHECK_PHASE(10, READY);
	music_rig_finish();
}

/* ---- seeks while another decoder is to go on ---- */

static void seek(uint64_t position)
{
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = position});
}

/* True if it plays there soon, though the last samples of the dead decoder would last longer. */
static bool plays_from(uint64_t position)
{
	const struct media_music_state *s;

	if (music_rig_track_of(7)->start != position)
		return false;
	music_rig_opened(7, position, 10 * DURATION);
	music_rig_run_ms(300);
	s = music_rig_state_of(7);
	return s->phase == MEDIA_MUSIC_PHASE_PLAYING && s->position >= position &&
	       s->position < position + DURATION;
}

TEST(call_music_seeks_while_its_continuation_is_opened)
{
	begin();
	die(72000);
	CHECK_PHASE(7, OPENING);
	seek(240000);
	CHECK(plays_from(240000));
	music_rig_finish();
}

TEST(call_music_seeks_while_its_continuation_waits)
{
	begin();
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(40);
	seek(240000);
	CHECK(plays_from(240000));
	music_rig_run_ms(3000);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_ENDED), 0);
	music_rig_finish();
}

/* Of several seeks the newest counts, however many are being opened. */
TEST(call_music_seeks_again_while_a_seek_is_opened)
{
	begin();
	seek(240000);
	seek(96000);
	seek(336000);
	CHECK_PHASE(7, OPENING);
	CHECK(sounds());
	CHECK(plays_from(336000));
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_ENDED), 0);
	/* The newest one cannot be opened: it plays on where it is. */
	seek(96000);
	seek(144000);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_DAMAGED);
	CHECK_PHASE(7, PLAYING);
	CHECK_INT(music_rig_track_of(7)->start, 336000);
	music_rig_finish();
}

TEST(call_music_seeks_again_when_the_old_place_is_over)
{
	begin();
	seek(240000);
	music_rig_run_ms(3000);
	CHECK(!sounds());
	seek(96000);
	CHECK(plays_from(96000));
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_ENDED), 0);
	music_rig_finish();
}

/* The new place cannot be opened, so the music goes on behind its dead decoder after all. */
TEST(call_music_is_continued_after_a_seek_in_vain)
{
	begin();
	die(72000);
	seek(240000);
	music_rig.written = 72000;
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_DAMAGED);
	music_rig.written = 0;
	CHECK(plays_from(72000) || music_rig_state_of(7)->position < 72000);
	music_rig_run_ms(3000);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position > 72000);
	CHECK_INT(music_rig_count_states(7, MEDIA_MUSIC_PHASE_FAILED), 0);
	music_rig_finish();
}

/* Control removes a track that crashes its decoder, and keeps one for which there was none. */
TEST(call_music_tells_why_its_continuation_could_not_begin)
{
	begin();
	die(72000);
	CHECK_PHASE(7, OPENING);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_NO_PROCESS);
	CHECK_PHASE(7, PLAYING);
	music_rig_run_ms(3000);
	CHECK_PHASE(7, FAILED);
	CHECK_STR(music_rig_failure_of(7), "no_process");
	music_rig_finish();
	begin();
	die(72000);
	music_rig_ended(music_rig_track_of(7)->decoded, DECODER_REASON_CRASHED);
	music_rig_run_ms(3000);
	CHECK_PHASE(7, FAILED);
	CHECK_STR(music_rig_failure_of(7), "crashed");
	music_rig_finish();
}

/* What the dead decoder has written ahead has not been heard. */
TEST(call_music_that_is_paused_tells_its_place_when_its_decoder_dies)
{
	uint64_t place;

	begin();
	call_music_pause(&music_rig.c, 7, true, 40);
	music_rig_run_ms(300);
	CHECK_PHASE(7, PAUSED);
	place = music_rig_state_of(7)->position;
	CHECK(place > 0 && place < 48000);
	die(72000);
	CHECK_INT(music_rig_state_of(7)->position, place);
	music_rig_opened(7, 72000, 10 * DURATION);
	CHECK_PHASE(7, PAUSED);
	CHECK_INT(music_rig_state_of(7)->position, place);
	music_rig.n_states = 0;
	music_send_all(&music_rig.c);
	CHECK_INT(music_rig_state_of(7)->position, place);
	call_music_pause(&music_rig.c, 7, false, 40);
	music_rig_run_ms(4000);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(7)->position > 72000);
	music_rig_finish();
}

/* Its end and the claim cross: the answer is how it ended. */
TEST(call_music_that_ended_meanwhile_is_claimed_in_vain)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_run_ms(1500);
	CHECK_PHASE(7, ENDED);
	music_rig.n_states = 0;
	call_music_claim(&music_rig.c, 7);
	CHECK_PHASE(7, ENDED);
	CHECK_INT(music_rig_state_of(7)->reason, MEDIA_REASON_NONE);
	call_music_claim(&music_rig.c, 8);
	CHECK_PHASE(8, FAILED);
	music_rig_finish();
}

/* Control resumes where a track was when it loses mediad in a crossfade. */
TEST(call_music_tells_the_place_of_both_that_cross_over)
{
	uint64_t before;

	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_prepare(8, 400);
	music_rig_opened(8, 0, 4 * DURATION);
	music_rig_run_ms(800);
	CHECK_PHASE(8, PLAYING);
	before = music_rig_state_of(8)->position;
	music_rig_run_ms(100);
	CHECK_PHASE(7, PLAYING);
	CHECK(music_rig_state_of(8)->position >= before + 3840);
	music_rig_finish();
}

static uint32_t fade_in_of(unsigned lane)
{
	return music_lane_playout(music_mixer_at(sender_music(music_rig.c.stream->sender), lane))
		->fade_in;
}

/* Sound that begins in its middle fades in, unless it goes on behind what has sounded. */
TEST(call_music_that_begins_in_its_middle)
{
	begin();
	CHECK_INT(fade_in_of(0), 0);
	die(72000);
	music_rig_opened(7, 72000, 10 * DURATION);
	music_rig_run_ms(40);
	CHECK_INT(fade_in_of(1), 0);
	music_rig_finish();
	begin();
	call_music_pause(&music_rig.c, 7, true, 0);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 240000});
	music_rig_opened(7, 240000, 10 * DURATION);
	music_rig_run_ms(100);
	CHECK_INT(fade_in_of(0), 480);
	music_rig_finish();
	/* A station. */
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, 0);
	music_rig.left[music_rig_track_of(7)->lane] = 72000;
	music_rig_run_ms(40);
	CHECK_INT(fade_in_of(0), 480);
	music_rig_finish();
}

/* Control sends it before it knows that 8 has begun, while 7 still fades out. */
TEST(call_music_next_in_a_crossfade_replaces_both)
{
	music_rig_setup();
	music_rig_play(7, 0);
	music_rig_opened(7, 0, DURATION);
	music_rig_prepare(8, 400);
	music_rig_opened(8, 0, DURATION);
	for (int i = 0; i < 60 && music_rig_state_of(8)->phase != MEDIA_MUSIC_PHASE_PLAYING; i++)
		music_rig_run_ms(20);
	CHECK_PHASE(7, PLAYING);
	prepare_after(9, 7);
	prepare_after(10, 9);
	music_rig_run_ms(300);
	CHECK_PHASE(7, ENDED);
	CHECK_PHASE(8, ENDED);
	CHECK_PHASE(9, PLAYING);
	CHECK_PHASE(10, READY);
	music_rig_finish();
}

static void ignore_decoder(const struct decoder_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
}

/* Others wait for sound that can be heard now. */
TEST(call_music_prepares_none_in_a_place_that_is_kept)
{
	struct decoder_source source = {.kind = DECODER_FILE, .path = "a.flac"};
	uint64_t track;

	music_rig_setup();
	music_rig_play(1, 0);
	music_rig_opened(1, 0, DURATION);
	while (!decoders_open(music_rig.c.conf.decoders, &source, 0, DECODER_IS_AHEAD,
			      ignore_decoder, NULL, &track))
		;
	music_rig_prepare(2, 0);
	CHECK_PHASE(2, FAILED);
	CHECK_STR(music_rig_failure_of(2), "no_process");
	music_rig_play(3, 0);
	CHECK_PHASE(3, OPENING);
	music_rig_finish();
}
