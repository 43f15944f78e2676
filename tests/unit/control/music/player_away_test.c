/* The player while mediad is away, and when it is back: what goes on, and what is ordered again. */
#include "tests/unit/control/music/player_scene.h"

/* mediad goes while it plays the first of three and has the second prepared. */
static void lose_mediad(void)
{
	player_begin("abc");
	player_up();
	music_player_down(&player);
}

/* It is back, and has both still. */
static void report_both(void)
{
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	player_report(2, MUSIC_PHASE_READY, 0);
}

/* Nobody tells mediad what people want while it is away: only what it plays as the queue wants it
 * is claimed. */
TEST(a_skip_without_mediad_claims_nothing)
{
	lose_mediad();
	music_queue_advance(player_queue, MUSIC_SKIPPED);
	CHECK_STR(player_sync(), "");
	report_both();
	CHECK_STR(player_take_orders(), "STOP1 STOP2 ");
	CHECK_STR(player_up(), "PLAY3b@0 NEXT4c ");
	music_queue_free(player_queue);
}

TEST(another_track_that_follows_is_not_claimed_as_prepared)
{
	lose_mediad();
	CHECK_INT(music_queue_move(player_queue, music_queue_at(player_queue, 2)->id, 1), 0);
	CHECK_STR(player_sync(), "");
	report_both();
	CHECK_STR(player_up(), "CLAIM1 STOP2 RESUME1 GAIN1=1000 NEXT3c ");
	music_queue_free(player_queue);
}

/* A track has come between them while nobody could tell mediad: it is not passed over. */
TEST(what_was_prepared_passes_over_no_track_that_was_not_heard)
{
	lose_mediad();
	CHECK_INT(music_queue_move(player_queue, music_queue_at(player_queue, 2)->id, 1), 0);
	report_both();
	player_report(1, MUSIC_PHASE_ENDED, 19200);
	player_report(2, MUSIC_PHASE_PLAYING, 960);
	CHECK_STR(player_take_orders(), "CLAIM1 STOP2 STOP2 ");
	CHECK_STR(spell_queue(player_queue), "a|cb");
	CHECK_STR(player_up(), "PLAY3c@0 NEXT4b ");
	music_queue_free(player_queue);
	/* Nor when it crosses over already. */
	lose_mediad();
	CHECK_INT(music_queue_move(player_queue, music_queue_at(player_queue, 2)->id, 1), 0);
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	player_report(2, MUSIC_PHASE_PLAYING, 960);
	music_queue_advance(player_queue, MUSIC_SKIPPED);
	player_sync();
	player_report(2, MUSIC_PHASE_PLAYING, 1920);
	CHECK_STR(player_take_orders(), "STOP2 ");
	CHECK_STR(spell_queue(player_queue), "a|cb");
	CHECK_STR(player_up(), "PLAY3c@0 NEXT4b ");
	music_queue_free(player_queue);
}

/* It was claimed, and has come to its end before the connection was complete. */
TEST(the_end_of_what_was_skipped_passes_over_nothing)
{
	lose_mediad();
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	music_queue_advance(player_queue, MUSIC_SKIPPED);
	CHECK_STR(player_sync(), "CLAIM1 ");
	player_report(1, MUSIC_PHASE_ENDED, 19200);
	CHECK_STR(spell_queue(player_queue), "a|bc");
	CHECK_STR(player_up(), "PLAY3b@0 NEXT4c ");
	music_queue_free(player_queue);
}

TEST(a_skip_without_mediad_counts_once)
{
	lose_mediad();
	music_queue_advance(player_queue, MUSIC_SKIPPED);
	player_report(1, MUSIC_PHASE_ENDED, 9600);
	music_player_up(&player);
	CHECK_STR(spell_queue(player_queue), "a|bc");
	player_take_orders();
	music_queue_free(player_queue);
}

TEST(a_failure_that_halted_is_not_counted_again)
{
	player_begin("abcdefg");
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++) {
		player.next = (struct music_told){0};
		player_report(player.present.music, MUSIC_PHASE_FAILED, 0);
	}
	CHECK_STR(spell_queue(player_queue), "|fg");
	player_take_orders();
	music_player_down(&player);
	for (uint32_t music = 1; music <= music_queue_last_number(player_queue); music++)
		player_report(music, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(spell_queue(player_queue), "|fg");
	music_queue_free(player_queue);
}

/* Orders wait in a connection that breaks. */
TEST(what_was_ordered_of_music_is_ordered_again_when_it_is_claimed)
{
	player_begin("ab");
	music_player_up(&player);
	music_queue_set_volume(player_queue, 300);
	CHECK_STR(player_sync(), "PLAY1a@0 NEXT2b GAIN1=300 GAIN2=300 ");
	music_player_down(&player);
	report_both();
	CHECK_STR(player_take_orders(), "CLAIM1 CLAIM2 ");
	CHECK_STR(player_up(), "RESUME1 GAIN1=300 GAIN2=300 ");
	music_queue_free(player_queue);
}

TEST(a_seek_without_mediad_is_ordered_when_it_is_back)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 4800);
	music_player_down(&player);
	music_player_seek(&player, 5000);
	music_player_seek(&player, 96000);
	player_take_orders();
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	player_report(1, MUSIC_PHASE_PLAYING, 9700);
	CHECK_INT(music_queue_position(player_queue), 96000);
	CHECK_STR(player_up(), "CLAIM1 RESUME1 GAIN1=1000 NEXT3b SEEK1@96000 ");
	player_report(1, MUSIC_PHASE_PLAYING, 96960);
	CHECK_INT(music_queue_position(player_queue), 96960);
	/* Another mediad plays it from there. */
	music_player_down(&player);
	music_player_seek(&player, 48000);
	CHECK_STR(player_up(), "PLAY4a@48000 NEXT5b ");
	music_player_down(&player);
	player_up();
	music_queue_free(player_queue);
}

/* It was of the playing that has ended meanwhile. */
TEST(a_seek_without_mediad_is_not_of_the_next_playing)
{
	player_begin("a");
	music_queue_set_loop(player_queue, MUSIC_LOOP_TRACK);
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 4800);
	music_player_down(&player);
	music_player_seek(&player, 96000);
	player_take_orders();
	player_report(2, MUSIC_PHASE_PLAYING, 960);
	player_report(1, MUSIC_PHASE_ENDED, 192000);
	CHECK_STR(player_up(), "CLAIM2 RESUME2 GAIN2=1000 NEXT3a ");
	CHECK_INT(music_queue_position(player_queue), 960);
	music_queue_free(player_queue);
}

/* mediad opens it for a pause that is over. */
TEST(music_that_is_claimed_while_it_is_opened_goes_on)
{
	player_begin("a");
	music_queue_set_paused(player_queue, true);
	CHECK_STR(player_up(), "PLAY1a@0p ");
	music_player_down(&player);
	music_queue_set_paused(player_queue, false);
	player_report(1, MUSIC_PHASE_OPENING, 0);
	CHECK_STR(player_up(), "CLAIM1 RESUME1 GAIN1=1000 ");
	music_queue_free(player_queue);
}

/* The order is in a connection that breaks: mediad goes on where it was. */
TEST(a_seek_in_a_broken_connection_is_ordered_again)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 4800);
	player_take_orders();
	music_player_seek(&player, 960000);
	CHECK_STR(player_take_orders(), "SEEK1@960000 ");
	music_player_down(&player);
	report_both();
	player_take_orders();
	music_player_up(&player);
	CHECK(strstr(player_orders, "SEEK1@960000 ") != NULL);
	music_queue_free(player_queue);
}

/* The answer is lost, not the order: mediad plays at the new place, or opens it. */
TEST(a_seek_that_arrived_before_a_connection_broke_is_not_repeated)
{
	static const struct {
		uint64_t place, later;
		enum music_phase phase;
	} cases[] = {{960000, 960960, MUSIC_PHASE_PLAYING},
		     {960000, 960000, MUSIC_PHASE_OPENING},
		     {960, 1920, MUSIC_PHASE_PLAYING},
		     {960, 1920, MUSIC_PHASE_PAUSED}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		player_begin("ab");
		music_player_up(&player);
		player_report(1, MUSIC_PHASE_PLAYING, 480000);
		music_player_seek(&player, cases[i].place);
		music_player_down(&player);
		player_report(1, cases[i].phase, cases[i].later);
		player_take_orders();
		CHECK(!strstr(player_up(), "SEEK"));
		CHECK_INT(music_queue_position(player_queue), cases[i].later);
		music_queue_free(player_queue);
	}
}

TEST(a_seek_that_was_answered_is_over)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 480000);
	music_player_seek(&player, 960000);
	player_report(1, MUSIC_PHASE_PLAYING, 480960); /* was under way */
	CHECK_INT(music_queue_position(player_queue), 960000);
	player_report(1, MUSIC_PHASE_OPENING, 960000);
	player_report(1, MUSIC_PHASE_PLAYING, 961000);
	CHECK_INT(music_queue_position(player_queue), 961000);
	/* It could not be opened there, and mediad plays on. */
	music_player_seek(&player, 1920000);
	player_report(1, MUSIC_PHASE_OPENING, 1920000);
	player_report(1, MUSIC_PHASE_PLAYING, 961960);
	CHECK_INT(music_queue_position(player_queue), 961960);
	music_player_down(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 962000);
	player_take_orders();
	CHECK(!strstr(player_up(), "SEEK"));
	music_queue_free(player_queue);
}

/* mediad opens nothing and plays on. */
TEST(a_seek_that_was_refused_is_over)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 480000);
	music_player_seek(&player, 960000);
	for (uint64_t at = 480000; at <= 480000 + 48000; at += 960)
		player_report(1, MUSIC_PHASE_PLAYING, at);
	CHECK_INT(music_queue_position(player_queue), 480000 + 48000);
	music_player_down(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 600000);
	player_take_orders();
	CHECK(!strstr(player_up(), "SEEK"));
	CHECK_INT(music_queue_position(player_queue), 600000);
	music_queue_free(player_queue);
}

/* mediad tells where it stays; music that is paused reports nothing else. */
TEST(a_seek_that_was_refused_in_a_pause_is_over)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 480000);
	music_queue_set_paused(player_queue, true);
	music_player_sync(&player);
	player_report(1, MUSIC_PHASE_PAUSED, 480960);
	music_player_seek(&player, 960000);
	CHECK_INT(music_queue_position(player_queue), 960000);
	player_report(1, MUSIC_PHASE_PAUSED, 480960);
	CHECK_INT(music_queue_position(player_queue), 480960);
	/* One whose order was lost with the connection is not over. */
	music_player_seek(&player, 960000);
	music_player_down(&player);
	player_report(1, MUSIC_PHASE_PAUSED, 480960);
	player_take_orders();
	CHECK(strstr(player_up(), "SEEK1@960000") != NULL);
	music_queue_free(player_queue);
}

/* The pause that was ordered before the seek is no answer to it. */
TEST(a_pause_under_way_is_no_answer_to_a_seek)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 480000);
	music_queue_set_paused(player_queue, true);
	music_player_sync(&player);
	music_player_seek(&player, 960000);
	player_report(1, MUSIC_PHASE_PAUSED, 480960);
	CHECK_INT(music_queue_position(player_queue), 960000);
	player_report(1, MUSIC_PHASE_OPENING, 960000);
	player_report(1, MUSIC_PHASE_PAUSED, 960000);
	CHECK_INT(music_queue_position(player_queue), 960000);
	music_queue_free(player_queue);
}

/* It belongs to a playing, not to the track. */
TEST(a_seek_in_a_broken_connection_is_not_of_the_next_playing)
{
	player_begin("a");
	music_queue_set_loop(player_queue, MUSIC_LOOP_TRACK);
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 480000);
	music_player_seek(&player, 960000);
	player_report(1, MUSIC_PHASE_ENDED, 481000);
	player_report(2, MUSIC_PHASE_PLAYING, 960);
	CHECK_INT(music_queue_position(player_queue), 960);
	music_player_seek(&player, 960000);
	music_player_down(&player);
	music_player_up(&player);
	CHECK_STR(player_take_orders() +
			  strlen("PLAY1a@0 NEXT2a SEEK1@960000 NEXT3a SEEK2@960000 "),
		  "PLAY4a@960000 NEXT5a ");
	player_report(4, MUSIC_PHASE_PLAYING, 960000);
	CHECK_INT(music_queue_position(player_queue), 960000);
	music_queue_free(player_queue);
}
