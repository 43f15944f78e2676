/* The player: orders to mediad from what the queue wants and what mediad reports. */
#include "tests/unit/control/music/player_scene.h"

#include "control/music/queue_document.h"

TEST(the_prepared_track_goes_on_by_itself)
{
	player_begin("abc");
	CHECK_STR(player_sync(), ""); /* the call is not up */
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY1a@0 NEXT2b ");
	player_report(1, MUSIC_PHASE_PLAYING, 4800);
	CHECK_INT(music_queue_position(player_queue), 4800);
	player_report(1, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(player_take_orders(), "NEXT3c ");
	CHECK_STR(spell_queue(player_queue), "a|bc");
	CHECK_INT(music_queue_position(player_queue), 0);
	player_report(2, MUSIC_PHASE_ENDED, 9600);
	player_report(3, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(player_take_orders(), "");
	CHECK_STR(spell_queue(player_queue), "abc|");
	music_queue_free(player_queue);
}

TEST(only_what_differs_is_ordered)
{
	player_begin("ab");
	music_player_up(&player);
	player_take_orders();
	CHECK_STR(player_sync(), "");
	music_queue_set_paused(player_queue, true);
	music_queue_set_volume(player_queue, 300);
	CHECK_STR(player_sync(), "PAUSE1 GAIN1=300 GAIN2=300 ");
	music_queue_set_paused(player_queue, false);
	CHECK_STR(player_sync(), "RESUME1 ");
	CHECK_INT(add_letters(player_queue, "c", ALICE), 0);
	CHECK_STR(player_sync(), "");
	CHECK_INT(music_queue_move(player_queue, music_queue_at(player_queue, 2)->id, 1), 0);
	CHECK_STR(player_sync(), "NEXT3c ");
	music_queue_clear(player_queue, 0);
	CHECK_STR(player_sync(), "NEXT4- ");
	CHECK_STR(player_sync(), "");
	music_player_seek(&player, 777);
	CHECK_STR(player_take_orders(), "SEEK1@777 ");
	music_queue_stop(player_queue);
	CHECK_STR(player_sync(), "STOP1 ");
	CHECK_STR(player_sync(), "");
	music_queue_free(player_queue);
}

TEST(nothing_follows_music_that_was_stopped)
{
	player_begin("ab");
	music_player_up(&player);
	player_take_orders();
	music_queue_stop(player_queue);
	CHECK_STR(player_sync(), "NEXT3- STOP1 ");
	/* The prepared one was faster. */
	player_report(2, MUSIC_PHASE_PLAYING, 5);
	CHECK_STR(player_take_orders(), "STOP2 ");
	player_report(2, MUSIC_PHASE_ENDED, 9);
	player_report(1, MUSIC_PHASE_ENDED, 9);
	CHECK_STR(player_take_orders(), "");
	music_queue_free(player_queue);
}

TEST(previous_plays_anew)
{
	player_begin("ab");
	music_player_up(&player);
	music_queue_advance(player_queue, MUSIC_SKIPPED);
	player_sync();
	music_queue_previous(player_queue);
	CHECK_STR(player_sync(), "PLAY3a@0 NEXT4b ");
	music_queue_previous(player_queue); /* the same track once more */
	CHECK_STR(player_sync(), "PLAY5a@0 NEXT6b ");
	music_queue_free(player_queue);
}

TEST(a_looped_track_follows_itself)
{
	player_begin("ab");
	music_queue_set_loop(player_queue, MUSIC_LOOP_TRACK);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY1a@0 NEXT2a ");
	player_report(1, MUSIC_PHASE_ENDED, 9);
	CHECK_STR(player_take_orders(), "NEXT3a ");
	/* It cannot be prepared: it plays from its start when it has ended. */
	player_report(3, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(player_sync(), "");
	player_report(2, MUSIC_PHASE_ENDED, 9);
	CHECK_STR(player_take_orders(), "PLAY4a@0 NEXT5a ");
	CHECK_STR(spell_queue(player_queue), "|ab");
	music_queue_free(player_queue);
}

/* mediad takes back what was prepared while it opens the new place. */
TEST(a_seek_has_the_next_track_prepared_again)
{
	player_begin("abc");
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY1a@0 NEXT2b ");
	player_report(1, MUSIC_PHASE_PLAYING, 4800);
	music_player_seek(&player, 9);
	CHECK_STR(player_take_orders(), "SEEK1@9 ");
	player_report(2, MUSIC_PHASE_ENDED, 0);
	CHECK_STR(player_take_orders(), "NEXT3b ");
	player_report(1, MUSIC_PHASE_OPENING, 9);
	player_report(1, MUSIC_PHASE_PLAYING, 960);
	player_report(1, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(player_take_orders(), "NEXT4c ");
	player_report(3, MUSIC_PHASE_PLAYING, 960);
	CHECK_STR(spell_queue(player_queue), "a|bc");
	music_queue_free(player_queue);
}

TEST(failures_remove_tracks_and_a_row_of_them_halts)
{
	player_begin("abcdefgh");
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY1a@0 NEXT2b ");
	player_report(2, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(player_take_orders(), "NEXT3c ");
	CHECK_STR(spell_queue(player_queue), "|acdefgh");
	player_report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(player_take_orders(), "NEXT4d ");
	player_report(3, MUSIC_PHASE_PLAYING, 5); /* one that works ends the row */
	for (uint32_t music = 3; music < 3 + MUSIC_FAILURES; music++) {
		CHECK(!music_player_is_halted(&player));
		player_report(music, MUSIC_PHASE_FAILED, 0);
	}
	CHECK(music_player_is_halted(&player));
	CHECK_STR(spell_queue(player_queue), "|h");
	player_take_orders();
	music_queue_free(player_queue);
}

/* A list of addresses that are refused at once would otherwise be gone, each entry told in the
 * channel, before the present track has ended. */
TEST(failures_ahead_do_not_empty_the_queue)
{
	player_begin("abcdefghijklmnop");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 5);
	for (uint32_t music = 2; music < 40; music++) {
		player_report(music, MUSIC_PHASE_FAILED, 0);
		player_report(1, MUSIC_PHASE_PLAYING, 5 + music);
	}
	CHECK_STR(spell_queue(player_queue), "|afghijklmnop");
	player_take_orders();
	/* The next one is tried once more when its turn comes, and one that works ends the row. */
	player_report(1, MUSIC_PHASE_ENDED, 99);
	CHECK_STR(player_take_orders(), "PLAY7f@0 NEXT8g ");
	player_report(7, MUSIC_PHASE_PLAYING, 5);
	player_report(8, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(player_take_orders(), "NEXT9h ");
	CHECK_STR(spell_queue(player_queue), "a|fhijklmnop");
	music_queue_free(player_queue);
}

static void fail(uint32_t music, enum music_fault fault)
{
	music_player_report(&player, &(struct music_report){.music = music,
							    .phase = MUSIC_PHASE_FAILED,
							    .fault = fault});
}

/* Of several requesters in turn: it is no one's addresses, and a network that is down must not
 * empty the queue. */
TEST(failures_of_several_requesters_halt)
{
	player_begin("ab");
	for (uint64_t user = 1; user < MUSIC_FAILED_REQUESTERS; user++)
		CHECK_INT(add_letters(player_queue, "x", BOB + user), 0);
	CHECK_INT(add_letters(player_queue, "z", ALICE), 0);
	CHECK_INT(add_letters(player_queue, "y", BOB), 0);
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++)
		fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(music_player_is_halted(&player));
	CHECK_STR(spell_queue(player_queue), "|zy");
	music_queue_free(player_queue);
}

/* Two who name dead addresses in turn do not silence a third one. */
TEST(failures_of_two_requesters_pass_to_a_third)
{
	player_begin("abc");
	CHECK_INT(add_letters(player_queue, "xy", BOB), 0);
	CHECK_INT(add_letters(player_queue, "z", ALICE), 0);
	CHECK_INT(add_letters(player_queue, "w", BOB + 1), 0);
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++)
		fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(!music_player_is_halted(&player));
	CHECK_STR(spell_queue(player_queue), "|wz");
	fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(music_player_is_halted(&player));
	music_queue_free(player_queue);
}

/* What they have waiting is passed over, not lost. */
TEST(failures_of_one_requester_pass_to_another)
{
	player_begin("abcdefg");
	CHECK_INT(add_letters(player_queue, "xa", BOB), 0);
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++)
		fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(!music_player_is_halted(&player));
	CHECK_STR(spell_queue(player_queue), "|xfga");
	/* Another one that fails, too, ends it. */
	fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(music_player_is_halted(&player));
	CHECK_STR(spell_queue(player_queue), "|fga");
	music_queue_free(player_queue);
}

/* Of the present music and of the prepared one, until the player is halted. Returns how many of the
 * present music failed. */
static unsigned lose_network(void)
{
	unsigned n = 0;

	for (; n < 100 && !music_player_is_halted(&player); n++) {
		if (player.next.music)
			fail(player.next.music, MUSIC_FAULT_NETWORK);
		fail(player.present.music, MUSIC_FAULT_NETWORK);
	}
	return n;
}

TEST(an_outage_leaves_the_queue_as_it_was)
{
	player_begin("abcdefg");
	CHECK_INT(add_letters(player_queue, "xa", BOB), 0);
	music_queue_set_paused(player_queue, true);
	music_player_up(&player);
	/* Five of one requester, and one of another. */
	CHECK_INT(lose_network(), MUSIC_FAILURES + 1);
	CHECK_STR(spell_queue(player_queue), "|abcdefgxa");
	CHECK(music_queue_is_paused(player_queue));
	player_take_orders();
	/* It is back. */
	music_player_restart(&player);
	CHECK_STR(player_take_orders(), "PLAY13a@0p NEXT14b ");
	player_report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	CHECK_STR(spell_queue(player_queue), "|abcdefgxa");
	music_queue_free(player_queue);
	/* All there are, but fewer than MUSIC_FAILURES. */
	player_begin("abc");
	music_player_up(&player);
	CHECK_INT(lose_network(), 3);
	CHECK_STR(spell_queue(player_queue), "|abc");
	music_queue_free(player_queue);
}

/* Whose servers are gone for good: who asks again and again gets to what plays. */
TEST(dead_servers_do_not_hold_what_waits_behind_them)
{
	player_begin("abcdeokf");
	music_player_up(&player);
	CHECK_INT(lose_network(), MUSIC_FAILURES);
	CHECK_STR(spell_queue(player_queue), "|abcdeokf");
	music_player_restart(&player);
	CHECK_INT(lose_network(), MUSIC_FAILURES);
	CHECK_STR(spell_queue(player_queue), "|okfabcde");
	music_player_restart(&player);
	player_report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	player_report(player.present.music, MUSIC_PHASE_ENDED, 9);
	player_report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	player_report(player.present.music, MUSIC_PHASE_ENDED, 9);
	player_report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	player_report(player.present.music, MUSIC_PHASE_ENDED, 9);
	/* Others have played since: they are to blame. */
	CHECK_STR(spell_queue(player_queue), "okf|abcde");
	for (unsigned i = 0; i < 3; i++)
		fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(player_queue), "okf|de");
	music_queue_free(player_queue);
}

TEST(a_server_that_is_not_reached_is_tried_once_more_at_the_end)
{
	player_begin("abc");
	music_player_up(&player);
	fail(player.next.music, MUSIC_FAULT_NETWORK); /* in its turn, perhaps */
	CHECK_STR(spell_queue(player_queue), "|abc");
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(player_queue), "|bca");
	player_report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	/* What breaks off has played. */
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(player_queue), "|ca");
	player_report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	player_report(player.present.music, MUSIC_PHASE_ENDED, 9);
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(player_queue), "c|");
	/* Nothing else is there to play: it is told, and gone. */
	CHECK_INT(add_letters(player_queue, "d", ALICE), 0);
	player_sync();
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(player_queue), "c|");
	CHECK(!music_player_is_halted(&player));
	music_queue_free(player_queue);
}

/* A later control hears of it first. */
TEST(an_outage_while_no_control_was_there_removes_nothing)
{
	player_begin("ab");
	music_queue_set_playing(player_queue, 7, 8);
	fail(7, MUSIC_FAULT_NETWORK);
	music_player_up(&player);
	CHECK_STR(spell_queue(player_queue), "|ba");
	music_queue_free(player_queue);
}

/* A later control hears of it before it knows anything else. */
TEST(a_failure_of_the_machine_while_no_control_was_there_is_tried_again)
{
	player_begin("ab");
	music_queue_set_playing(player_queue, 7, 8);
	music_queue_set_position(player_queue, 4800);
	fail(7, MUSIC_FAULT_MACHINE);
	music_player_up(&player);
	CHECK_STR(spell_queue(player_queue), "|ab");
	CHECK_STR(player_take_orders(), "PLAY9a@4800 NEXT10b ");
	music_queue_set_playing(player_queue, 9, 10);
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	fail(9, MUSIC_FAULT_START);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY11a@0 NEXT12b ");
	music_queue_free(player_queue);
}

TEST(a_halted_player_waits_for_a_person)
{
	player_begin("abcdef");
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++) {
		/* The decoder is missing: the prepared one fails at once, too. */
		player.next = (struct music_told){0};
		player_report(player.present.music, MUSIC_PHASE_FAILED, 0);
	}
	CHECK_STR(spell_queue(player_queue), "|f");
	player_take_orders();
	CHECK_STR(player_sync(), "");
	music_player_restart(&player);
	CHECK(strncmp(player_take_orders(), "PLAY", 4) == 0);
	music_queue_free(player_queue);
}

TEST(a_new_mediad_goes_on_at_the_position)
{
	player_begin("ab");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_PLAYING, 4800);
	music_queue_set_paused(player_queue, true);
	player_sync();
	player_take_orders();
	music_player_down(&player);
	CHECK_STR(player_sync(), "");
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY3a@4800p NEXT4b ");
	music_queue_free(player_queue);
}

TEST(a_new_control_claims_what_plays)
{
	player_begin("ab");
	music_player_up(&player);
	CHECK_INT(music_queue_playing(player_queue), 1);
	CHECK_INT(music_queue_prepared(player_queue), 2);
	player_take_orders();
	music_player_init(&player, player_queue, player_note_order,
			  &player_orders_n);	  /* of the next process */
	player_report(9, MUSIC_PHASE_PLAYING, 1); /* somebody else's */
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	player_report(2, MUSIC_PHASE_READY, 0);
	CHECK_STR(player_take_orders(), "STOP9 CLAIM1 CLAIM2 ");
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "RESUME1 GAIN1=1000 GAIN2=1000 ");
	CHECK_INT(music_queue_position(player_queue), 9600);
	/* Meanwhile the present one has ended, and the prepared one plays. */
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	player_report(2, MUSIC_PHASE_PAUSED, 50);
	player_report(1, MUSIC_PHASE_ENDED, 9999);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "CLAIM2 RESUME2 GAIN2=1000 ");
	CHECK_STR(spell_queue(player_queue), "a|b");
	CHECK_INT(music_queue_position(player_queue), 50);
	music_queue_free(player_queue);
}

/* The claim finds it gone, and is refused before mediad has told everything. */
TEST(music_that_ends_while_it_is_claimed_ends_once)
{
	player_begin("abc");
	music_player_up(&player);
	player_take_orders();
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	player_report(1, MUSIC_PHASE_ENDED, 9700);
	player_report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(spell_queue(player_queue), "a|bc");
	music_player_up(&player);
	player_report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(spell_queue(player_queue), "a|bc");
	music_queue_free(player_queue);
}

TEST(what_an_earlier_control_prepared_is_taken_back)
{
	player_begin("ab");
	music_player_up(&player);
	player_take_orders();
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	music_queue_clear(player_queue, 0);
	player_report(2, MUSIC_PHASE_READY, 0);
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "STOP2 CLAIM1 RESUME1 GAIN1=1000 ");
	music_queue_free(player_queue);
}

/* mediad tells its music in any order. */
TEST(what_is_only_prepared_is_not_taken_for_the_present)
{
	player_begin("abc");
	music_player_up(&player);
	player_take_orders();
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	player_report(2, MUSIC_PHASE_READY, 0);
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	CHECK_STR(player_take_orders(), "CLAIM2 CLAIM1 ");
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "RESUME1 GAIN1=1000 GAIN2=1000 ");
	CHECK_STR(spell_queue(player_queue), "|abc");
	player_report(1, MUSIC_PHASE_ENDED, 9999);
	CHECK_STR(player_take_orders(), "NEXT3c ");
	music_queue_free(player_queue);
}

TEST(what_ended_while_no_control_was_there_is_not_repeated)
{
	player_begin("abcd");
	music_player_up(&player);
	player_take_orders();
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	player_report(1, MUSIC_PHASE_ENDED, 9600);
	player_report(2, MUSIC_PHASE_ENDED, 9600);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY3c@0 NEXT4d ");
	CHECK_STR(spell_queue(player_queue), "ab|cd");
	music_queue_free(player_queue);
	/* One that failed leaves the queue. */
	player_begin("ab");
	music_player_up(&player);
	player_take_orders();
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	player_report(1, MUSIC_PHASE_FAILED, 0);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY3b@0 ");
	CHECK_STR(spell_queue(player_queue), "|b");
	music_queue_free(player_queue);
}

TEST(a_pause_outlasts_the_end_of_the_track)
{
	player_begin("ab");
	music_player_up(&player);
	music_queue_set_paused(player_queue, true);
	player_sync();
	player_take_orders();
	player_report(1, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(player_take_orders(), "PAUSE2 ");
	CHECK(music_queue_is_paused(player_queue));
	music_queue_free(player_queue);
}

TEST(held_music_is_paused_but_its_queue_is_not)
{
	player_begin("ab");
	music_player_up(&player);
	player_take_orders();
	music_player_hold(&player, true);
	CHECK_STR(player_take_orders(), "PAUSE1 ");
	CHECK(!music_queue_is_paused(player_queue));
	player_report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(player_take_orders(), "PAUSE2 ");
	music_player_hold(&player, false);
	CHECK_STR(player_take_orders(), "RESUME2 ");
	music_queue_free(player_queue);
}

/* What mediad has told of keeps its number, even if the control that chose it saved nothing. */
TEST(a_new_control_takes_no_number_of_an_earlier_one)
{
	char *text;

	player_begin("ab");
	music_player_up(&player);
	player_take_orders();
	music_queue_stop(player_queue);
	CHECK_STR(player_sync(), "NEXT3- STOP1 ");
	text = music_queue_write(player_queue);
	music_queue_free(player_queue);
	CHECK_INT(music_queue_read(&player_queue, text), 0);
	free(text);
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
	CHECK_INT(add_letters(player_queue, "c", ALICE), 0);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY4c@0 ");
	music_queue_free(player_queue);
	player_begin("a");
	player_report(7, MUSIC_PHASE_ENDED, 9);
	music_player_up(&player);
	CHECK_STR(player_take_orders(), "PLAY8a@0 ");
	music_queue_free(player_queue);
}

/* Its end comes later, and nobody waits for it. */
TEST(a_track_that_crosses_over_is_past)
{
	player_begin("abc");
	music_player_up(&player);
	player_take_orders();
	player_report(1, MUSIC_PHASE_PLAYING, 9600);
	player_report(2, MUSIC_PHASE_PLAYING, 1);
	CHECK_STR(player_take_orders(), "NEXT3c ");
	CHECK_STR(spell_queue(player_queue), "a|bc");
	player_report(1, MUSIC_PHASE_PLAYING, 10560);
	player_report(1, MUSIC_PHASE_ENDED, 19200);
	CHECK_STR(player_take_orders(), "");
	CHECK_STR(spell_queue(player_queue), "a|bc");
	music_queue_free(player_queue);
}

TEST(a_new_control_claims_tracks_that_cross_over)
{
	for (unsigned first = 1; first <= 2; first++) {
		player_begin("abc");
		music_player_up(&player);
		player_take_orders();
		music_player_init(&player, player_queue, player_note_order, &player_orders_n);
		player_report(first, MUSIC_PHASE_PLAYING, 960);
		player_report(3 - first, MUSIC_PHASE_PLAYING, 960);
		CHECK_STR(player_take_orders(), first == 1 ? "CLAIM1 CLAIM2 " : "CLAIM2 CLAIM1 ");
		music_player_up(&player);
		CHECK_STR(player_take_orders(), "RESUME2 GAIN2=1000 NEXT3c ");
		CHECK_STR(spell_queue(player_queue), "a|bc");
		music_queue_free(player_queue);
	}
}
