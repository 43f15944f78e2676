/* The player: orders to mediad from what the queue wants and what mediad reports. */
#include "control/music/player.h"

#include "control/music/queue_document.h"
#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

static struct music_queue *queue;
static struct music_player player;
static char orders[512];

/* "PLAY1a@0 NEXT2b ": the number, the title, the position. */
static void note_order(const struct music_order *o, void *arg)
{
	static const char *const names[] = {"PLAY", "NEXT", "PAUSE", "RESUME",
					    "SEEK", "GAIN", "STOP",  "CLAIM"};
	size_t n = strlen(orders), *count = arg;

	++*count;
	n += (size_t)snprintf(orders + n, sizeof orders - n, "%s%u", names[o->kind], o->music);
	if (o->kind == MUSIC_ORDER_PLAY || o->kind == MUSIC_ORDER_NEXT)
		n += (size_t)snprintf(orders + n, sizeof orders - n, "%s",
				      o->track ? o->track->title : "-");
	if (o->kind == MUSIC_ORDER_PLAY || o->kind == MUSIC_ORDER_SEEK)
		n += (size_t)snprintf(orders + n, sizeof orders - n, "@%u%s", (unsigned)o->position,
				      o->paused ? "p" : "");
	if (o->kind == MUSIC_ORDER_GAIN)
		n += (size_t)snprintf(orders + n, sizeof orders - n, "=%u", o->volume);
	snprintf(orders + n, sizeof orders - n, " ");
}

static const char *take_orders(void)
{
	static char taken[sizeof orders];

	strcpy(taken, orders);
	*orders = '\0';
	return taken;
}

static size_t count;

static void begin(const char *letters)
{
	*orders = '\0';
	queue = NULL;
	CHECK_INT(music_queue_alloc(&queue, GUILD, CHANNEL), 0);
	CHECK_INT(add_letters(queue, letters, ALICE), 0);
	music_player_init(&player, queue, note_order, &count);
}

static void report(uint32_t music, enum music_phase phase, uint64_t position)
{
	music_player_report(&player, &(struct music_report){
					     .music = music, .phase = phase, .position = position});
}

static const char *sync_player(void)
{
	music_player_sync(&player);
	return take_orders();
}

TEST(the_prepared_track_goes_on_by_itself)
{
	begin("abc");
	CHECK_STR(sync_player(), ""); /* the call is not up */
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY1a@0 NEXT2b ");
	report(1, MUSIC_PHASE_PLAYING, 4800);
	CHECK_INT(music_queue_position(queue), 4800);
	report(1, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(take_orders(), "NEXT3c ");
	CHECK_STR(spell_queue(queue), "a|bc");
	CHECK_INT(music_queue_position(queue), 0);
	report(2, MUSIC_PHASE_ENDED, 9600);
	report(3, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(take_orders(), "");
	CHECK_STR(spell_queue(queue), "abc|");
	music_queue_free(queue);
}

TEST(only_what_differs_is_ordered)
{
	begin("ab");
	music_player_up(&player);
	take_orders();
	CHECK_STR(sync_player(), "");
	music_queue_set_paused(queue, true);
	music_queue_set_volume(queue, 300);
	CHECK_STR(sync_player(), "PAUSE1 GAIN1=300 GAIN2=300 ");
	music_queue_set_paused(queue, false);
	CHECK_STR(sync_player(), "RESUME1 ");
	CHECK_INT(add_letters(queue, "c", ALICE), 0);
	CHECK_STR(sync_player(), "");
	CHECK_INT(music_queue_move(queue, music_queue_at(queue, 2)->id, 1), 0);
	CHECK_STR(sync_player(), "NEXT3c ");
	music_queue_clear(queue, 0);
	CHECK_STR(sync_player(), "NEXT4- ");
	CHECK_STR(sync_player(), "");
	music_player_seek(&player, 777);
	CHECK_STR(take_orders(), "SEEK1@777 ");
	music_queue_stop(queue);
	CHECK_STR(sync_player(), "STOP1 ");
	CHECK_STR(sync_player(), "");
	music_queue_free(queue);
}

TEST(nothing_follows_music_that_was_stopped)
{
	begin("ab");
	music_player_up(&player);
	take_orders();
	music_queue_stop(queue);
	CHECK_STR(sync_player(), "NEXT3- STOP1 ");
	/* The prepared one was faster. */
	report(2, MUSIC_PHASE_PLAYING, 5);
	CHECK_STR(take_orders(), "STOP2 ");
	report(2, MUSIC_PHASE_ENDED, 9);
	report(1, MUSIC_PHASE_ENDED, 9);
	CHECK_STR(take_orders(), "");
	music_queue_free(queue);
}

TEST(previous_plays_anew)
{
	begin("ab");
	music_player_up(&player);
	music_queue_advance(queue, MUSIC_SKIPPED);
	sync_player();
	music_queue_previous(queue);
	CHECK_STR(sync_player(), "PLAY3a@0 NEXT4b ");
	music_queue_previous(queue); /* the same track once more */
	CHECK_STR(sync_player(), "PLAY5a@0 NEXT6b ");
	music_queue_free(queue);
}

TEST(a_looped_track_follows_itself)
{
	begin("ab");
	music_queue_set_loop(queue, MUSIC_LOOP_TRACK);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY1a@0 NEXT2a ");
	report(1, MUSIC_PHASE_ENDED, 9);
	CHECK_STR(take_orders(), "NEXT3a ");
	/* It cannot be prepared: it plays from its start when it has ended. */
	report(3, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(sync_player(), "");
	report(2, MUSIC_PHASE_ENDED, 9);
	CHECK_STR(take_orders(), "PLAY4a@0 NEXT5a ");
	CHECK_STR(spell_queue(queue), "|ab");
	music_queue_free(queue);
}

/* mediad takes back what was prepared while it opens the new place. */
TEST(a_seek_has_the_next_track_prepared_again)
{
	begin("abc");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY1a@0 NEXT2b ");
	report(1, MUSIC_PHASE_PLAYING, 4800);
	music_player_seek(&player, 9);
	CHECK_STR(take_orders(), "SEEK1@9 ");
	report(2, MUSIC_PHASE_ENDED, 0);
	CHECK_STR(take_orders(), "NEXT3b ");
	report(1, MUSIC_PHASE_OPENING, 9);
	report(1, MUSIC_PHASE_PLAYING, 960);
	report(1, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(take_orders(), "NEXT4c ");
	report(3, MUSIC_PHASE_PLAYING, 960);
	CHECK_STR(spell_queue(queue), "a|bc");
	music_queue_free(queue);
}

TEST(failures_remove_tracks_and_a_row_of_them_halts)
{
	begin("abcdefgh");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY1a@0 NEXT2b ");
	report(2, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(take_orders(), "NEXT3c ");
	CHECK_STR(spell_queue(queue), "|acdefgh");
	report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(take_orders(), "NEXT4d ");
	report(3, MUSIC_PHASE_PLAYING, 5); /* one that works ends the row */
	for (uint32_t music = 3; music < 3 + MUSIC_FAILURES; music++) {
		CHECK(!music_player_is_halted(&player));
		report(music, MUSIC_PHASE_FAILED, 0);
	}
	CHECK(music_player_is_halted(&player));
	CHECK_STR(spell_queue(queue), "|h");
	take_orders();
	music_queue_free(queue);
}

/* A list of addresses that are refused at once would otherwise be gone, each entry told in the
 * channel, before the present track has ended. */
TEST(failures_ahead_do_not_empty_the_queue)
{
	begin("abcdefghijklmnop");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 5);
	for (uint32_t music = 2; music < 40; music++) {
		report(music, MUSIC_PHASE_FAILED, 0);
		report(1, MUSIC_PHASE_PLAYING, 5 + music);
	}
	CHECK_STR(spell_queue(queue), "|afghijklmnop");
	take_orders();
	/* The next one is tried once more when its turn comes, and one that works ends the row. */
	report(1, MUSIC_PHASE_ENDED, 99);
	CHECK_STR(take_orders(), "PLAY7f@0 NEXT8g ");
	report(7, MUSIC_PHASE_PLAYING, 5);
	report(8, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(take_orders(), "NEXT9h ");
	CHECK_STR(spell_queue(queue), "a|fhijklmnop");
	music_queue_free(queue);
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
	begin("ab");
	for (uint64_t user = 1; user < MUSIC_FAILED_REQUESTERS; user++)
		CHECK_INT(add_letters(queue, "x", BOB + user), 0);
	CHECK_INT(add_letters(queue, "z", ALICE), 0);
	CHECK_INT(add_letters(queue, "y", BOB), 0);
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++)
		fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(music_player_is_halted(&player));
	CHECK_STR(spell_queue(queue), "|zy");
	music_queue_free(queue);
}

/* Two who name dead addresses in turn do not silence a third one. */
TEST(failures_of_two_requesters_pass_to_a_third)
{
	begin("abc");
	CHECK_INT(add_letters(queue, "xy", BOB), 0);
	CHECK_INT(add_letters(queue, "z", ALICE), 0);
	CHECK_INT(add_letters(queue, "w", BOB + 1), 0);
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++)
		fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(!music_player_is_halted(&player));
	CHECK_STR(spell_queue(queue), "|wz");
	fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(music_player_is_halted(&player));
	music_queue_free(queue);
}

/* What they have waiting is passed over, not lost. */
TEST(failures_of_one_requester_pass_to_another)
{
	begin("abcdefg");
	CHECK_INT(add_letters(queue, "xa", BOB), 0);
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++)
		fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(!music_player_is_halted(&player));
	CHECK_STR(spell_queue(queue), "|xfga");
	/* Another one that fails, too, ends it. */
	fail(player.present.music, MUSIC_FAULT_TRACK);
	CHECK(music_player_is_halted(&player));
	CHECK_STR(spell_queue(queue), "|fga");
	music_queue_free(queue);
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
	begin("abcdefg");
	CHECK_INT(add_letters(queue, "xa", BOB), 0);
	music_queue_set_paused(queue, true);
	music_player_up(&player);
	/* Five of one requester, and one of another. */
	CHECK_INT(lose_network(), MUSIC_FAILURES + 1);
	CHECK_STR(spell_queue(queue), "|abcdefgxa");
	CHECK(music_queue_is_paused(queue));
	take_orders();
	/* It is back. */
	music_player_restart(&player);
	CHECK_STR(take_orders(), "PLAY13a@0p NEXT14b ");
	report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	CHECK_STR(spell_queue(queue), "|abcdefgxa");
	music_queue_free(queue);
	/* All there are, but fewer than MUSIC_FAILURES. */
	begin("abc");
	music_player_up(&player);
	CHECK_INT(lose_network(), 3);
	CHECK_STR(spell_queue(queue), "|abc");
	music_queue_free(queue);
}

/* Whose servers are gone for good: who asks again and again gets to what plays. */
TEST(dead_servers_do_not_hold_what_waits_behind_them)
{
	begin("abcdeokf");
	music_player_up(&player);
	CHECK_INT(lose_network(), MUSIC_FAILURES);
	CHECK_STR(spell_queue(queue), "|abcdeokf");
	music_player_restart(&player);
	CHECK_INT(lose_network(), MUSIC_FAILURES);
	CHECK_STR(spell_queue(queue), "|okfabcde");
	music_player_restart(&player);
	report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	report(player.present.music, MUSIC_PHASE_ENDED, 9);
	report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	report(player.present.music, MUSIC_PHASE_ENDED, 9);
	report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	report(player.present.music, MUSIC_PHASE_ENDED, 9);
	/* Others have played since: they are to blame. */
	CHECK_STR(spell_queue(queue), "okf|abcde");
	for (unsigned i = 0; i < 3; i++)
		fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(queue), "okf|de");
	music_queue_free(queue);
}

TEST(a_server_that_is_not_reached_is_tried_once_more_at_the_end)
{
	begin("abc");
	music_player_up(&player);
	fail(player.next.music, MUSIC_FAULT_NETWORK); /* in its turn, perhaps */
	CHECK_STR(spell_queue(queue), "|abc");
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(queue), "|bca");
	report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	/* What breaks off has played. */
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(queue), "|ca");
	report(player.present.music, MUSIC_PHASE_PLAYING, 5);
	report(player.present.music, MUSIC_PHASE_ENDED, 9);
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(queue), "c|");
	/* Nothing else is there to play: it is told, and gone. */
	CHECK_INT(add_letters(queue, "d", ALICE), 0);
	sync_player();
	fail(player.present.music, MUSIC_FAULT_NETWORK);
	CHECK_STR(spell_queue(queue), "c|");
	CHECK(!music_player_is_halted(&player));
	music_queue_free(queue);
}

/* A later control hears of it first. */
TEST(an_outage_while_no_control_was_there_removes_nothing)
{
	begin("ab");
	music_queue_set_playing(queue, 7, 8);
	fail(7, MUSIC_FAULT_NETWORK);
	music_player_up(&player);
	CHECK_STR(spell_queue(queue), "|ba");
	music_queue_free(queue);
}

/* A later control hears of it before it knows anything else. */
TEST(a_failure_of_the_machine_while_no_control_was_there_is_tried_again)
{
	begin("ab");
	music_queue_set_playing(queue, 7, 8);
	music_queue_set_position(queue, 4800);
	fail(7, MUSIC_FAULT_MACHINE);
	music_player_up(&player);
	CHECK_STR(spell_queue(queue), "|ab");
	CHECK_STR(take_orders(), "PLAY9a@4800 NEXT10b ");
	music_queue_set_playing(queue, 9, 10);
	music_player_init(&player, queue, note_order, &count);
	fail(9, MUSIC_FAULT_START);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY11a@0 NEXT12b ");
	music_queue_free(queue);
}

TEST(a_halted_player_waits_for_a_person)
{
	begin("abcdef");
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++) {
		/* The decoder is missing: the prepared one fails at once, too. */
		player.next = (struct music_told){0};
		report(player.present.music, MUSIC_PHASE_FAILED, 0);
	}
	CHECK_STR(spell_queue(queue), "|f");
	take_orders();
	CHECK_STR(sync_player(), "");
	music_player_restart(&player);
	CHECK(strncmp(take_orders(), "PLAY", 4) == 0);
	music_queue_free(queue);
}

TEST(a_new_mediad_goes_on_at_the_position)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 4800);
	music_queue_set_paused(queue, true);
	sync_player();
	take_orders();
	music_player_down(&player);
	CHECK_STR(sync_player(), "");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3a@4800p NEXT4b ");
	music_queue_free(queue);
}

TEST(a_new_control_claims_what_plays)
{
	begin("ab");
	music_player_up(&player);
	CHECK_INT(music_queue_playing(queue), 1);
	CHECK_INT(music_queue_prepared(queue), 2);
	take_orders();
	music_player_init(&player, queue, note_order, &count); /* of the next process */
	report(9, MUSIC_PHASE_PLAYING, 1);		       /* somebody else's */
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_READY, 0);
	CHECK_STR(take_orders(), "STOP9 CLAIM1 CLAIM2 ");
	music_player_up(&player);
	CHECK_STR(take_orders(), "RESUME1 GAIN1=1000 GAIN2=1000 ");
	CHECK_INT(music_queue_position(queue), 9600);
	/* Meanwhile the present one has ended, and the prepared one plays. */
	music_player_init(&player, queue, note_order, &count);
	report(2, MUSIC_PHASE_PAUSED, 50);
	report(1, MUSIC_PHASE_ENDED, 9999);
	music_player_up(&player);
	CHECK_STR(take_orders(), "CLAIM2 RESUME2 GAIN2=1000 ");
	CHECK_STR(spell_queue(queue), "a|b");
	CHECK_INT(music_queue_position(queue), 50);
	music_queue_free(queue);
}

/* The claim finds it gone, and is refused before mediad has told everything. */
TEST(music_that_ends_while_it_is_claimed_ends_once)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_init(&player, queue, note_order, &count);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(1, MUSIC_PHASE_ENDED, 9700);
	report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(spell_queue(queue), "a|bc");
	music_player_up(&player);
	report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(spell_queue(queue), "a|bc");
	music_queue_free(queue);
}

TEST(what_an_earlier_control_prepared_is_taken_back)
{
	begin("ab");
	music_player_up(&player);
	take_orders();
	music_player_init(&player, queue, note_order, &count);
	music_queue_clear(queue, 0);
	report(2, MUSIC_PHASE_READY, 0);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	music_player_up(&player);
	CHECK_STR(take_orders(), "STOP2 CLAIM1 RESUME1 GAIN1=1000 ");
	music_queue_free(queue);
}

/* mediad tells its music in any order. */
TEST(what_is_only_prepared_is_not_taken_for_the_present)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_init(&player, queue, note_order, &count);
	report(2, MUSIC_PHASE_READY, 0);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	CHECK_STR(take_orders(), "CLAIM2 CLAIM1 ");
	music_player_up(&player);
	CHECK_STR(take_orders(), "RESUME1 GAIN1=1000 GAIN2=1000 ");
	CHECK_STR(spell_queue(queue), "|abc");
	report(1, MUSIC_PHASE_ENDED, 9999);
	CHECK_STR(take_orders(), "NEXT3c ");
	music_queue_free(queue);
}

TEST(what_ended_while_no_control_was_there_is_not_repeated)
{
	begin("abcd");
	music_player_up(&player);
	take_orders();
	music_player_init(&player, queue, note_order, &count);
	report(1, MUSIC_PHASE_ENDED, 9600);
	report(2, MUSIC_PHASE_ENDED, 9600);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3c@0 NEXT4d ");
	CHECK_STR(spell_queue(queue), "ab|cd");
	music_queue_free(queue);
	/* One that failed leaves the queue. */
	begin("ab");
	music_player_up(&player);
	take_orders();
	music_player_init(&player, queue, note_order, &count);
	report(1, MUSIC_PHASE_FAILED, 0);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3b@0 ");
	CHECK_STR(spell_queue(queue), "|b");
	music_queue_free(queue);
}

TEST(a_pause_outlasts_the_end_of_the_track)
{
	begin("ab");
	music_player_up(&player);
	music_queue_set_paused(queue, true);
	sync_player();
	take_orders();
	report(1, MUSIC_PHASE_ENDED, 9600);
	CHECK_STR(take_orders(), "PAUSE2 ");
	CHECK(music_queue_is_paused(queue));
	music_queue_free(queue);
}

TEST(held_music_is_paused_but_its_queue_is_not)
{
	begin("ab");
	music_player_up(&player);
	take_orders();
	music_player_hold(&player, true);
	CHECK_STR(take_orders(), "PAUSE1 ");
	CHECK(!music_queue_is_paused(queue));
	report(1, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(take_orders(), "PAUSE2 ");
	music_player_hold(&player, false);
	CHECK_STR(take_orders(), "RESUME2 ");
	music_queue_free(queue);
}

/* Nobody tells mediad what people want while it is away: only what it plays as the queue wants it
 * is claimed. */
TEST(a_skip_without_mediad_claims_nothing)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_down(&player);
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "");
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_READY, 0);
	CHECK_STR(take_orders(), "STOP1 STOP2 ");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3b@0 NEXT4c ");
	music_queue_free(queue);
}

TEST(another_track_that_follows_is_not_claimed_as_prepared)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_down(&player);
	CHECK_INT(music_queue_move(queue, music_queue_at(queue, 2)->id, 1), 0);
	CHECK_STR(sync_player(), "");
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_READY, 0);
	music_player_up(&player);
	CHECK_STR(take_orders(), "CLAIM1 STOP2 RESUME1 GAIN1=1000 NEXT3c ");
	music_queue_free(queue);
}

/* A track has come between them while nobody could tell mediad: it is not passed over. */
TEST(what_was_prepared_passes_over_no_track_that_was_not_heard)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_down(&player);
	CHECK_INT(music_queue_move(queue, music_queue_at(queue, 2)->id, 1), 0);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_READY, 0);
	report(1, MUSIC_PHASE_ENDED, 19200);
	report(2, MUSIC_PHASE_PLAYING, 960);
	CHECK_STR(take_orders(), "CLAIM1 STOP2 STOP2 ");
	CHECK_STR(spell_queue(queue), "a|cb");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3c@0 NEXT4b ");
	music_queue_free(queue);
	/* Nor when it crosses over already. */
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_down(&player);
	CHECK_INT(music_queue_move(queue, music_queue_at(queue, 2)->id, 1), 0);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_PLAYING, 960);
	music_queue_advance(queue, MUSIC_SKIPPED);
	sync_player();
	report(2, MUSIC_PHASE_PLAYING, 1920);
	CHECK_STR(take_orders(), "STOP2 ");
	CHECK_STR(spell_queue(queue), "a|cb");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3c@0 NEXT4b ");
	music_queue_free(queue);
}

/* It was claimed, and has come to its end before the connection was complete. */
TEST(the_end_of_what_was_skipped_passes_over_nothing)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_down(&player);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "CLAIM1 ");
	report(1, MUSIC_PHASE_ENDED, 19200);
	CHECK_STR(spell_queue(queue), "a|bc");
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY3b@0 NEXT4c ");
	music_queue_free(queue);
}

TEST(a_skip_without_mediad_counts_once)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	music_player_down(&player);
	music_queue_advance(queue, MUSIC_SKIPPED);
	report(1, MUSIC_PHASE_ENDED, 9600);
	music_player_up(&player);
	CHECK_STR(spell_queue(queue), "a|bc");
	take_orders();
	music_queue_free(queue);
}

TEST(a_failure_that_halted_is_not_counted_again)
{
	begin("abcdefg");
	music_player_up(&player);
	for (unsigned i = 0; i < MUSIC_FAILURES; i++) {
		player.next = (struct music_told){0};
		report(player.present.music, MUSIC_PHASE_FAILED, 0);
	}
	CHECK_STR(spell_queue(queue), "|fg");
	take_orders();
	music_player_down(&player);
	for (uint32_t music = 1; music <= music_queue_last_number(queue); music++)
		report(music, MUSIC_PHASE_FAILED, 0);
	CHECK_STR(spell_queue(queue), "|fg");
	music_queue_free(queue);
}

/* Orders wait in a connection that breaks. */
TEST(what_was_ordered_of_music_is_ordered_again_when_it_is_claimed)
{
	begin("ab");
	music_player_up(&player);
	music_queue_set_volume(queue, 300);
	CHECK_STR(sync_player(), "PLAY1a@0 NEXT2b GAIN1=300 GAIN2=300 ");
	music_player_down(&player);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_READY, 0);
	CHECK_STR(take_orders(), "CLAIM1 CLAIM2 ");
	music_player_up(&player);
	CHECK_STR(take_orders(), "RESUME1 GAIN1=300 GAIN2=300 ");
	music_queue_free(queue);
}

TEST(a_seek_without_mediad_is_ordered_when_it_is_back)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 4800);
	music_player_down(&player);
	music_player_seek(&player, 5000);
	music_player_seek(&player, 96000);
	take_orders();
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(1, MUSIC_PHASE_PLAYING, 9700);
	CHECK_INT(music_queue_position(queue), 96000);
	music_player_up(&player);
	CHECK_STR(take_orders(), "CLAIM1 RESUME1 GAIN1=1000 NEXT3b SEEK1@96000 ");
	report(1, MUSIC_PHASE_PLAYING, 96960);
	CHECK_INT(music_queue_position(queue), 96960);
	/* Another mediad plays it from there. */
	music_player_down(&player);
	music_player_seek(&player, 48000);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY4a@48000 NEXT5b ");
	music_player_down(&player);
	music_player_up(&player);
	take_orders();
	music_queue_free(queue);
}

/* It was of the playing that has ended meanwhile. */
TEST(a_seek_without_mediad_is_not_of_the_next_playing)
{
	begin("a");
	music_queue_set_loop(queue, MUSIC_LOOP_TRACK);
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 4800);
	music_player_down(&player);
	music_player_seek(&player, 96000);
	take_orders();
	report(2, MUSIC_PHASE_PLAYING, 960);
	report(1, MUSIC_PHASE_ENDED, 192000);
	music_player_up(&player);
	CHECK_STR(take_orders(), "CLAIM2 RESUME2 GAIN2=1000 NEXT3a ");
	CHECK_INT(music_queue_position(queue), 960);
	music_queue_free(queue);
}

/* mediad opens it for a pause that is over. */
TEST(music_that_is_claimed_while_it_is_opened_goes_on)
{
	begin("a");
	music_queue_set_paused(queue, true);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY1a@0p ");
	music_player_down(&player);
	music_queue_set_paused(queue, false);
	report(1, MUSIC_PHASE_OPENING, 0);
	music_player_up(&player);
	CHECK_STR(take_orders(), "CLAIM1 RESUME1 GAIN1=1000 ");
	music_queue_free(queue);
}

/* What mediad has told of keeps its number, even if the control that chose it saved nothing. */
TEST(a_new_control_takes_no_number_of_an_earlier_one)
{
	char *text;

	begin("ab");
	music_player_up(&player);
	take_orders();
	music_queue_stop(queue);
	CHECK_STR(sync_player(), "NEXT3- STOP1 ");
	text = music_queue_write(queue);
	music_queue_free(queue);
	CHECK_INT(music_queue_read(&queue, text), 0);
	free(text);
	music_player_init(&player, queue, note_order, &count);
	CHECK_INT(add_letters(queue, "c", ALICE), 0);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY4c@0 ");
	music_queue_free(queue);
	begin("a");
	report(7, MUSIC_PHASE_ENDED, 9);
	music_player_up(&player);
	CHECK_STR(take_orders(), "PLAY8a@0 ");
	music_queue_free(queue);
}

/* Its end comes later, and nobody waits for it. */
TEST(a_track_that_crosses_over_is_past)
{
	begin("abc");
	music_player_up(&player);
	take_orders();
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_PLAYING, 1);
	CHECK_STR(take_orders(), "NEXT3c ");
	CHECK_STR(spell_queue(queue), "a|bc");
	report(1, MUSIC_PHASE_PLAYING, 10560);
	report(1, MUSIC_PHASE_ENDED, 19200);
	CHECK_STR(take_orders(), "");
	CHECK_STR(spell_queue(queue), "a|bc");
	music_queue_free(queue);
}

TEST(a_new_control_claims_tracks_that_cross_over)
{
	for (unsigned first = 1; first <= 2; first++) {
		begin("abc");
		music_player_up(&player);
		take_orders();
		music_player_init(&player, queue, note_order, &count);
		report(first, MUSIC_PHASE_PLAYING, 960);
		report(3 - first, MUSIC_PHASE_PLAYING, 960);
		CHECK_STR(take_orders(), first == 1 ? "CLAIM1 CLAIM2 " : "CLAIM2 CLAIM1 ");
		music_player_up(&player);
		CHECK_STR(take_orders(), "RESUME2 GAIN2=1000 NEXT3c ");
		CHECK_STR(spell_queue(queue), "a|bc");
		music_queue_free(queue);
	}
}

/* The order is in a connection that breaks: mediad goes on where it was. */
TEST(a_seek_in_a_broken_connection_is_ordered_again)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 4800);
	take_orders();
	music_player_seek(&player, 960000);
	CHECK_STR(take_orders(), "SEEK1@960000 ");
	music_player_down(&player);
	report(1, MUSIC_PHASE_PLAYING, 9600);
	report(2, MUSIC_PHASE_READY, 0);
	take_orders();
	music_player_up(&player);
	CHECK(strstr(orders, "SEEK1@960000 ") != NULL);
	music_queue_free(queue);
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
		begin("ab");
		music_player_up(&player);
		report(1, MUSIC_PHASE_PLAYING, 480000);
		music_player_seek(&player, cases[i].place);
		music_player_down(&player);
		report(1, cases[i].phase, cases[i].later);
		take_orders();
		music_player_up(&player);
		CHECK(!strstr(take_orders(), "SEEK"));
		CHECK_INT(music_queue_position(queue), cases[i].later);
		music_queue_free(queue);
	}
}

TEST(a_seek_that_was_answered_is_over)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 480000);
	music_player_seek(&player, 960000);
	report(1, MUSIC_PHASE_PLAYING, 480960); /* was under way */
	CHECK_INT(music_queue_position(queue), 960000);
	report(1, MUSIC_PHASE_OPENING, 960000);
	report(1, MUSIC_PHASE_PLAYING, 961000);
	CHECK_INT(music_queue_position(queue), 961000);
	/* It could not be opened there, and mediad plays on. */
	music_player_seek(&player, 1920000);
	report(1, MUSIC_PHASE_OPENING, 1920000);
	report(1, MUSIC_PHASE_PLAYING, 961960);
	CHECK_INT(music_queue_position(queue), 961960);
	music_player_down(&player);
	report(1, MUSIC_PHASE_PLAYING, 962000);
	take_orders();
	music_player_up(&player);
	CHECK(!strstr(take_orders(), "SEEK"));
	music_queue_free(queue);
}

/* mediad opens nothing and plays on. */
TEST(a_seek_that_was_refused_is_over)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 480000);
	music_player_seek(&player, 960000);
	for (uint64_t at = 480000; at <= 480000 + 48000; at += 960)
		report(1, MUSIC_PHASE_PLAYING, at);
	CHECK_INT(music_queue_position(queue), 480000 + 48000);
	music_player_down(&player);
	report(1, MUSIC_PHASE_PLAYING, 600000);
	take_orders();
	music_player_up(&player);
	CHECK(!strstr(take_orders(), "SEEK"));
	CHECK_INT(music_queue_position(queue), 600000);
	music_queue_free(queue);
}

/* mediad tells where it stays; music that is paused reports nothing else. */
TEST(a_seek_that_was_refused_in_a_pause_is_over)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 480000);
	music_queue_set_paused(queue, true);
	music_player_sync(&player);
	report(1, MUSIC_PHASE_PAUSED, 480960);
	music_player_seek(&player, 960000);
	CHECK_INT(music_queue_position(queue), 960000);
	report(1, MUSIC_PHASE_PAUSED, 480960);
	CHECK_INT(music_queue_position(queue), 480960);
	/* One whose order was lost with the connection is not over. */
	music_player_seek(&player, 960000);
	music_player_down(&player);
	report(1, MUSIC_PHASE_PAUSED, 480960);
	take_orders();
	music_player_up(&player);
	CHECK(strstr(take_orders(), "SEEK1@960000") != NULL);
	music_queue_free(queue);
}

/* The pause that was ordered before the seek is no answer to it. */
TEST(a_pause_under_way_is_no_answer_to_a_seek)
{
	begin("ab");
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 480000);
	music_queue_set_paused(queue, true);
	music_player_sync(&player);
	music_player_seek(&player, 960000);
	report(1, MUSIC_PHASE_PAUSED, 480960);
	CHECK_INT(music_queue_position(queue), 960000);
	report(1, MUSIC_PHASE_OPENING, 960000);
	report(1, MUSIC_PHASE_PAUSED, 960000);
	CHECK_INT(music_queue_position(queue), 960000);
	music_queue_free(queue);
}

/* It belongs to a playing, not to the track. */
TEST(a_seek_in_a_broken_connection_is_not_of_the_next_playing)
{
	begin("a");
	music_queue_set_loop(queue, MUSIC_LOOP_TRACK);
	music_player_up(&player);
	report(1, MUSIC_PHASE_PLAYING, 480000);
	music_player_seek(&player, 960000);
	report(1, MUSIC_PHASE_ENDED, 481000);
	report(2, MUSIC_PHASE_PLAYING, 960);
	CHECK_INT(music_queue_position(queue), 960);
	music_player_seek(&player, 960000);
	music_player_down(&player);
	music_player_up(&player);
	CHECK_STR(take_orders() + strlen("PLAY1a@0 NEXT2a SEEK1@960000 NEXT3a SEEK2@960000 "),
		  "PLAY4a@960000 NEXT5a ");
	report(4, MUSIC_PHASE_PLAYING, 960000);
	CHECK_INT(music_queue_position(queue), 960000);
	music_queue_free(queue);
}
