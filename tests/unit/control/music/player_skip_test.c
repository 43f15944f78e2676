/* The player: what stands ready is not opened again, what could not be prepared is tried again, and
 * stations are not prepared. */
#include "control/music/player.h"

#include <stdlib.h>

#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

static struct music_queue *queue;
static struct music_player player;
static char orders[512];

/* "PLAY1a NEXT2b ": the number and the title. */
static void note_order(const struct music_order *o, void *arg)
{
	static const char *const names[] = {"PLAY", "NEXT", "PAUSE", "RESUME",
					    "SEEK", "GAIN", "STOP",  "CLAIM"};
	const bool opens = o->kind == MUSIC_ORDER_PLAY || o->kind == MUSIC_ORDER_NEXT;
	size_t n = strlen(orders);

	(void)arg;
	snprintf(orders + n, sizeof orders - n, "%s%u%s ", names[o->kind], o->music,
		 !opens	    ? ""
		 : o->track ? o->track->title
			    : "-");
}

static const char *take_orders(void)
{
	static char taken[sizeof orders];

	strcpy(taken, orders);
	*orders = '\0';
	return taken;
}

static const char *begin(const char *letters)
{
	*orders = '\0';
	queue = NULL;
	if (music_queue_alloc(&queue, GUILD, CHANNEL) || add_letters(queue, letters, ALICE))
		abort();
	music_player_init(&player, queue, note_order, NULL);
	music_player_up(&player);
	return take_orders();
}

static const char *report(uint32_t music, enum music_phase phase, bool stopped)
{
	music_player_report(&player, &(struct music_report){
					     .music = music, .phase = phase, .stopped = stopped});
	return take_orders();
}

static const char *sync_player(void)
{
	music_player_sync(&player);
	return take_orders();
}

static const char *play(uint32_t music, uint64_t seconds)
{
	music_player_report(&player,
			    &(struct music_report){.music = music,
						   .phase = MUSIC_PHASE_PLAYING,
						   .position = seconds * MUSIC_FRAMES_PER_S});
	return take_orders();
}

static const char *lose(uint32_t music)
{
	music_player_report(&player, &(struct music_report){.music = music,
							    .phase = MUSIC_PHASE_FAILED,
							    .fault = MUSIC_FAULT_NETWORK});
	return take_orders();
}

static void add_station(const char *title)
{
	struct track t = local_track(title, ALICE);
	size_t first;

	t.source = TRACK_RADIO;
	t.duration_ms = 0;
	CHECK_INT(music_queue_add(queue, &t, 1, MUSIC_QUEUE_END, &first), 0);
}

TEST(a_skip_goes_on_with_what_stands_ready)
{
	CHECK_STR(begin("abcd"), "PLAY1a NEXT2b ");
	report(2, MUSIC_PHASE_READY, false);
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "STOP1 NEXT3c ");
	CHECK_STR(report(1, MUSIC_PHASE_ENDED, true), "");
	CHECK_STR(report(2, MUSIC_PHASE_PLAYING, false), "");
	/* So does a jump to it. One further on is opened. */
	CHECK_INT(music_queue_jump(queue, music_queue_at(queue, 1)->id), 0);
	CHECK_STR(sync_player(), "STOP2 NEXT4d ");
	music_queue_previous(queue);
	CHECK_STR(sync_player(), "PLAY5b NEXT6c ");
	CHECK_INT(music_queue_jump(queue, music_queue_at(queue, 2)->id), 0);
	CHECK_STR(sync_player(), "PLAY7d ");
	music_queue_free(queue);
}

/* It would be heard between both orders. */
TEST(a_skip_under_an_answer_stays_silent)
{
	CHECK_STR(begin("abc"), "PLAY1a NEXT2b ");
	music_player_hold(&player, true);
	CHECK_STR(take_orders(), "PAUSE1 ");
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "PAUSE2 STOP1 NEXT3c ");
	music_player_hold(&player, false);
	CHECK_STR(take_orders(), "RESUME2 ");
	music_queue_free(queue);
}

TEST(a_skip_in_a_crossfade_ends_both)
{
	CHECK_STR(begin("abcd"), "PLAY1a NEXT2b ");
	CHECK_STR(report(2, MUSIC_PHASE_PLAYING, false), "NEXT3c ");
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "STOP1 STOP2 NEXT4d ");
	music_queue_stop(queue);
	CHECK_STR(sync_player(), "NEXT5- STOP1 STOP3 ");
	music_queue_free(queue);
}

/* mediad takes it back while it opens the new place. */
TEST(a_skip_during_a_seek_plays_anew)
{
	CHECK_STR(begin("ab"), "PLAY1a NEXT2b ");
	music_player_seek(&player, 777);
	CHECK_STR(take_orders(), "SEEK1 ");
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "PLAY3b ");
	music_queue_free(queue);
}

/* The decoder of the one before died: the end was under way when it was skipped. */
TEST(a_skip_to_what_was_taken_back_plays_it_nevertheless)
{
	CHECK_STR(begin("abc"), "PLAY1a NEXT2b ");
	music_queue_advance(queue, MUSIC_SKIPPED);
	CHECK_STR(sync_player(), "STOP1 NEXT3c ");
	CHECK_STR(report(2, MUSIC_PHASE_ENDED, true), "PLAY4b NEXT5c ");
	CHECK_STR(spell_queue(queue), "a|bc");
	music_queue_free(queue);
}

/* It would play what it sent while it waited, and break off there. */
TEST(a_station_is_opened_in_its_turn)
{
	CHECK_STR(begin("a"), "PLAY1a ");
	add_station("s");
	CHECK_STR(sync_player(), "");
	CHECK_STR(report(1, MUSIC_PHASE_ENDED, false), "PLAY2s ");
	music_queue_set_loop(queue, MUSIC_LOOP_TRACK);
	CHECK_STR(sync_player(), "");
	music_queue_set_loop(queue, MUSIC_LOOP_QUEUE);
	CHECK_STR(sync_player(), "");
	music_queue_free(queue);
}

/* An outage that is over when the present track ends costs no gap, no place and no word. */
TEST(what_is_not_reached_is_prepared_again_while_the_present_track_plays)
{
	CHECK_STR(begin("abc"), "PLAY1a NEXT2b ");
	CHECK_STR(play(1, 1), "");
	CHECK_STR(lose(2), "");
	CHECK_STR(play(1, 10), "");
	CHECK_STR(play(1, 11), "NEXT3b ");
	CHECK_STR(play(1, 100), ""); /* it is being opened */
	CHECK_STR(lose(3), "");
	CHECK_STR(play(1, 119), "");
	CHECK_STR(play(1, 120), "NEXT4b ");
	CHECK_STR(report(4, MUSIC_PHASE_READY, false), "");
	CHECK_STR(play(1, 200), "");
	CHECK_STR(spell_queue(queue), "|abc");
	CHECK_STR(report(1, MUSIC_PHASE_ENDED, false), "NEXT5c ");
	CHECK_STR(spell_queue(queue), "a|bc");
	music_queue_free(queue);
}

TEST(what_stays_unreached_is_prepared_three_times_more_and_plays_in_its_turn)
{
	CHECK_STR(begin("abc"), "PLAY1a NEXT2b ");
	CHECK_STR(lose(2), "");
	CHECK_STR(play(1, 10), "NEXT3b ");
	CHECK_STR(lose(3), "");
	CHECK_STR(play(1, 30), "NEXT4b ");
	CHECK_STR(lose(4), "");
	CHECK_STR(play(1, 69), "");
	CHECK_STR(play(1, 70), "NEXT5b ");
	CHECK_STR(lose(5), "");
	CHECK_STR(play(1, 3600), "");
	CHECK_STR(spell_queue(queue), "|abc");
	CHECK_STR(report(1, MUSIC_PHASE_ENDED, false), "PLAY6b NEXT7c ");
	/* Of another present track it counts anew, and so it does of another that follows. */
	CHECK_STR(lose(7), "");
	CHECK_STR(play(6, 10), "NEXT8c ");
	CHECK_STR(lose(8), "");
	CHECK_INT(add_letters(queue, "d", ALICE), 0);
	CHECK_INT(music_queue_move(queue, music_queue_at(queue, 2)->id, 1), 0);
	CHECK_STR(sync_player(), "NEXT9d ");
	CHECK_STR(lose(9), "");
	CHECK_STR(play(6, 20), "NEXT10d ");
	music_queue_free(queue);
}

TEST(a_seek_back_does_not_put_off_what_is_prepared_again)
{
	CHECK_STR(begin("ab"), "PLAY1a NEXT2b ");
	CHECK_STR(play(1, 100), "");
	CHECK_STR(lose(2), "");
	music_player_seek(&player, 0);
	CHECK_STR(report(1, MUSIC_PHASE_OPENING, false), "SEEK1 ");
	CHECK_STR(play(1, 1), "");
	CHECK_STR(play(1, 10), "");
	CHECK_STR(play(1, 11), "NEXT3b ");
	music_queue_free(queue);
}
