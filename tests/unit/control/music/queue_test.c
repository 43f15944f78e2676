/* The music queue: order, history, loops, caps. */
#include "control/music/queue.h"

#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

static struct music_queue *make_queue(const char *letters)
{
	struct music_queue *q = NULL;

	if (music_queue_alloc(&q, GUILD, CHANNEL) || add_letters(q, letters, ALICE))
		return music_queue_free(q);
	return q;
}

static uint32_t id_of(const struct music_queue *q, size_t place)
{
	return music_queue_at(q, place)->id;
}

TEST(rule_108_next_inserts_add_appends_and_stop_clears)
{
	struct music_queue *q = make_queue("");
	struct track x = local_track("x", BOB);
	size_t first = 9;

	CHECK(!music_queue_present(q));
	CHECK_INT(add_letters(q, "ab", ALICE), 0);
	CHECK_STR(spell_queue(q), "|ab"); /* to add does not interrupt */
	CHECK_INT(music_queue_add_next(q, &x, 1, &first), 0);
	CHECK_INT(first, 1);
	CHECK_STR(spell_queue(q), "|axb");
	music_queue_advance(q, MUSIC_SKIPPED);
	CHECK_STR(spell_queue(q), "a|xb");
	music_queue_stop(q);
	CHECK_STR(spell_queue(q), "ax|");
	CHECK(!music_queue_present(q));
	/* With nothing present, a new track starts at once. */
	CHECK_INT(music_queue_add_next(q, &x, 1, &first), 0);
	CHECK_INT(first, 0);
	CHECK_STR(spell_queue(q), "ax|x");
	music_queue_free(q);
}

TEST(play_interrupts_and_keeps_what_waits)
{
	struct music_queue *q = make_queue("abc");
	struct track two[] = {local_track("x", BOB), local_track("y", BOB)};

	music_queue_set_position(q, 500);
	music_queue_set_paused(q, true);
	CHECK_INT(music_queue_play(q, two, 2), 0);
	CHECK_STR(spell_queue(q), "a|xybc");
	CHECK_INT(music_queue_position(q), 0);
	CHECK(!music_queue_is_paused(q));
	music_queue_free(q);
	q = make_queue("");
	CHECK_INT(music_queue_play(q, two, 2), 0);
	CHECK_STR(spell_queue(q), "|xy");
	music_queue_free(q);
}

TEST(tracks_go_to_a_place_but_never_before_the_present_one)
{
	struct music_queue *q = make_queue("abcd");
	struct track x = local_track("x", BOB);
	size_t first;

	CHECK_INT(music_queue_add(q, &x, 1, 2, &first), 0);
	CHECK_STR(spell_queue(q), "|abxcd");
	CHECK_INT(first, 2);
	CHECK_INT(music_queue_move(q, id_of(q, 4), 0), 0);
	CHECK_STR(spell_queue(q), "|adbxc");
	CHECK_INT(music_queue_move(q, id_of(q, 1), 3), 0);
	CHECK_STR(spell_queue(q), "|abxdc");
	CHECK_INT(music_queue_move(q, id_of(q, 1), MUSIC_QUEUE_END), 0);
	CHECK_STR(spell_queue(q), "|axdcb");
	CHECK_INT(music_queue_move(q, id_of(q, 0), 2), ENOENT); /* it is playing */
	CHECK_INT(music_queue_move(q, 4711, 2), ENOENT);
	CHECK_INT(music_queue_remove(q, id_of(q, 2)), 0);
	CHECK_STR(spell_queue(q), "|axcb");
	CHECK_INT(music_queue_remove(q, 4711), ENOENT);
	CHECK_INT(music_queue_remove(q, id_of(q, 0)), 0); /* a skip */
	CHECK_STR(spell_queue(q), "a|xcb");
	CHECK_INT(music_queue_jump(q, id_of(q, 2)), 0);
	CHECK_STR(spell_queue(q), "axc|b");
	CHECK_INT(music_queue_jump(q, 4711), ENOENT);
	music_queue_free(q);
}

TEST(ids_stay_with_their_tracks_and_are_not_reused)
{
	struct music_queue *q = make_queue("abc");
	uint32_t c = id_of(q, 2);

	CHECK_INT(music_queue_remove(q, c), 0);
	CHECK_INT(add_letters(q, "d", ALICE), 0);
	CHECK(id_of(q, 2) != c);
	CHECK_INT(music_queue_find(q, c), MUSIC_QUEUE_END);
	CHECK_INT(music_queue_find(q, id_of(q, 1)), 1);
	music_queue_advance(q, MUSIC_ENDED);
	CHECK_INT(music_queue_find(q, music_queue_played(q, 0)->id), MUSIC_QUEUE_END);
	music_queue_free(q);
}

TEST(clear_removes_waiting_tracks_of_one_or_of_all)
{
	struct music_queue *q = make_queue("abc");

	CHECK_INT(add_letters(q, "de", BOB), 0);
	CHECK_INT(music_queue_clear(q, BOB), 2);
	CHECK_STR(spell_queue(q), "|abc");
	CHECK_INT(music_queue_clear(q, 0), 2);
	CHECK_STR(spell_queue(q), "|a");
	CHECK_INT(music_queue_clear(q, 0), 0);
	music_queue_free(q);
}

TEST(a_shuffle_keeps_the_present_track_and_all_others)
{
	struct music_queue *q = make_queue("abcdefghij"), *same = make_queue("abcdefghij");
	char first[MUSIC_QUEUE_WAITING + MUSIC_QUEUE_HISTORY + 2], *sorted = first + 2;

	music_queue_advance(q, MUSIC_ENDED);
	music_queue_advance(same, MUSIC_ENDED);
	music_queue_shuffle(q, 42);
	snprintf(first, sizeof first, "%s", spell_queue(q));
	CHECK(strncmp(first, "a|b", 3) == 0);
	CHECK(strcmp(first, "a|bcdefghij") != 0);
	music_queue_shuffle(same, 42);
	CHECK_STR(spell_queue(same), first);
	for (size_t i = 0; sorted[i]; i++)
		CHECK(strchr(sorted, (int)('b' + i)));
	music_queue_shuffle(same, 43);
	CHECK(strcmp(spell_queue(same), first) != 0);
	music_queue_free(q);
	music_queue_free(same);
}

TEST(loop_track_repeats_until_it_is_skipped_or_fails)
{
	struct music_queue *q = make_queue("abc");

	music_queue_set_loop(q, MUSIC_LOOP_TRACK);
	CHECK(music_queue_following(q) == music_queue_present(q));
	music_queue_set_position(q, 7);
	CHECK_STR(music_queue_advance(q, MUSIC_ENDED)->title, "a");
	CHECK_INT(music_queue_position(q), 0);
	CHECK_STR(music_queue_advance(q, MUSIC_SKIPPED)->title, "b");
	CHECK_STR(spell_queue(q), "a|bc");
	CHECK_STR(music_queue_advance(q, MUSIC_FAILED)->title, "c");
	CHECK_STR(spell_queue(q), "a|c");
	music_queue_free(q);
}

TEST(loop_queue_goes_round)
{
	struct music_queue *q = make_queue("abc");

	music_queue_set_loop(q, MUSIC_LOOP_QUEUE);
	CHECK_STR(music_queue_advance(q, MUSIC_ENDED)->title, "b");
	CHECK_STR(spell_queue(q), "|bca");
	CHECK_STR(music_queue_advance(q, MUSIC_SKIPPED)->title, "c");
	CHECK_STR(spell_queue(q), "|cab");
	CHECK_STR(music_queue_previous(q)->title, "b");
	CHECK_STR(spell_queue(q), "|bca");
	CHECK_INT(music_queue_jump(q, id_of(q, 2)), 0);
	CHECK_STR(spell_queue(q), "|abc");
	/* The last track that works follows itself, and no failing track comes again. */
	CHECK_STR(music_queue_advance(q, MUSIC_FAILED)->title, "b");
	CHECK_STR(music_queue_advance(q, MUSIC_FAILED)->title, "c");
	CHECK(music_queue_following(q) == music_queue_present(q));
	CHECK_STR(music_queue_advance(q, MUSIC_ENDED)->title, "c");
	CHECK(!music_queue_advance(q, MUSIC_FAILED));
	CHECK_STR(spell_queue(q), "|");
	music_queue_free(q);
}

/* A skip would take it to the end of the list, and it would come again. */
TEST(what_is_removed_from_a_loop_is_gone)
{
	struct music_queue *q = make_queue("abc");

	music_queue_set_loop(q, MUSIC_LOOP_QUEUE);
	CHECK_INT(music_queue_remove(q, id_of(q, 0)), 0);
	CHECK_STR(spell_queue(q), "|bc");
	CHECK_INT(music_queue_remove(q, id_of(q, 0)), 0);
	CHECK_INT(music_queue_remove(q, id_of(q, 0)), 0);
	CHECK_STR(spell_queue(q), "|");
	music_queue_free(q);
}

/* That one is not the last of the list if the loop began later, or tracks were added since. */
TEST(previous_in_a_loop_is_the_track_that_played_before)
{
	struct music_queue *q = make_queue("abc");

	music_queue_advance(q, MUSIC_ENDED);
	music_queue_set_loop(q, MUSIC_LOOP_QUEUE);
	CHECK_STR(music_queue_previous(q)->title, "a");
	CHECK_STR(spell_queue(q), "|abc");
	music_queue_advance(q, MUSIC_ENDED);
	CHECK_INT(add_letters(q, "d", ALICE), 0);
	CHECK_STR(spell_queue(q), "|bcad");
	CHECK_STR(music_queue_previous(q)->title, "a");
	CHECK_STR(spell_queue(q), "|abcd");
	for (unsigned i = 0; i < 2 * MUSIC_QUEUE_HISTORY; i++)
		music_queue_advance(q, MUSIC_ENDED);
	CHECK_STR(spell_queue(q), "|abcd");
	CHECK_STR(music_queue_previous(q)->title, "d");
	CHECK_STR(music_queue_previous(q)->title, "c");
	music_queue_free(q);
}

TEST(the_following_track_is_the_one_that_plays_next)
{
	struct music_queue *q = make_queue("ab");
	const struct track *next = music_queue_following(q);

	CHECK_STR(next->title, "b");
	CHECK(music_queue_advance(q, MUSIC_ENDED) == next);
	CHECK(!music_queue_following(q));
	CHECK(!music_queue_advance(q, MUSIC_ENDED));
	CHECK(!music_queue_following(q));
	CHECK(!music_queue_advance(q, MUSIC_ENDED));
	CHECK_STR(spell_queue(q), "ab|");
	music_queue_free(q);
}

TEST(previous_restarts_a_track_after_five_seconds)
{
	struct music_queue *q = make_queue("abc");

	music_queue_advance(q, MUSIC_ENDED);
	music_queue_set_position(q, 5 * MUSIC_FRAMES_PER_S + 1);
	CHECK_STR(music_queue_previous(q)->title, "b");
	CHECK_INT(music_queue_position(q), 0);
	CHECK_STR(music_queue_previous(q)->title, "a");
	CHECK_STR(spell_queue(q), "|abc");
	CHECK_STR(music_queue_previous(q)->title, "a");
	music_queue_stop(q);
	CHECK_STR(music_queue_previous(q)->title, "a");
	music_queue_free(q);
	q = make_queue("");
	CHECK(!music_queue_previous(q));
	music_queue_free(q);
}

TEST(the_history_keeps_the_last_fifty)
{
	struct music_queue *q = make_queue("");

	for (unsigned i = 0; i < MUSIC_QUEUE_HISTORY + 10; i++) {
		struct track t = local_track(i < 10 ? "old" : "new", ALICE);
		size_t first;

		CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
		music_queue_advance(q, MUSIC_ENDED);
		CHECK(music_queue_played_count(q) <= MUSIC_QUEUE_HISTORY);
	}
	CHECK_INT(music_queue_played_count(q), MUSIC_QUEUE_HISTORY);
	CHECK_STR(music_queue_played(q, MUSIC_QUEUE_HISTORY - 1)->title, "new");
	CHECK(!music_queue_played(q, MUSIC_QUEUE_HISTORY));
	music_queue_free(q);
}

TEST(a_full_queue_takes_nothing_and_still_goes_round)
{
	struct track *many = calloc(MUSIC_QUEUE_WAITING + 1, sizeof *many);
	struct music_queue *q = make_queue("");
	size_t first;

	for (unsigned i = 0; i <= MUSIC_QUEUE_WAITING; i++)
		many[i] = local_track("m", ALICE);
	CHECK_INT(music_queue_add(q, many, MUSIC_QUEUE_WAITING + 1, 0, &first), ENOSPC);
	CHECK_INT(music_queue_add(q, many, 0, 0, &first), EINVAL);
	for (unsigned i = 0; i < MUSIC_QUEUE_HISTORY; i++) {
		CHECK_INT(add_letters(q, "h", ALICE), 0);
		music_queue_advance(q, MUSIC_ENDED);
	}
	CHECK_INT(music_queue_add(q, many, MUSIC_QUEUE_WAITING, 0, &first), 0);
	CHECK_INT(add_letters(q, "z", ALICE), ENOSPC);
	CHECK_INT(music_queue_play(q, many, 1), ENOSPC);
	/* Back through the history, the queue holds more than may be added. */
	for (unsigned i = 0; i < MUSIC_QUEUE_HISTORY; i++)
		CHECK_STR(music_queue_previous(q)->title, "h");
	CHECK_INT(music_queue_count(q), MUSIC_QUEUE_WAITING + MUSIC_QUEUE_HISTORY);
	CHECK_INT(add_letters(q, "z", ALICE), ENOSPC);
	music_queue_set_loop(q, MUSIC_LOOP_QUEUE);
	CHECK_INT(music_queue_jump(q, id_of(q, music_queue_count(q) - 1)), 0);
	CHECK_STR(music_queue_at(q, 1)->title, "h");
	music_queue_free(q);
	free(many);
}

TEST(the_wait_counts_what_is_left_of_the_present_track)
{
	struct music_queue *q = make_queue("abc");
	struct track radio = local_track("r", ALICE);
	uint64_t ms = 5;
	size_t first;

	music_queue_set_position(q, 20 * MUSIC_FRAMES_PER_S);
	CHECK(music_queue_wait_ms(q, 0, &ms));
	CHECK_INT(ms, 0);
	CHECK(music_queue_wait_ms(q, 2, &ms));
	CHECK_INT(ms, 40000 + 60000);
	music_queue_set_position(q, 90 * MUSIC_FRAMES_PER_S); /* longer than its tag says */
	CHECK(music_queue_wait_ms(q, 1, &ms));
	CHECK_INT(ms, 0);
	radio.duration_ms = 0;
	CHECK_INT(music_queue_add(q, &radio, 1, 1, &first), 0);
	CHECK(music_queue_wait_ms(q, 1, &ms));
	CHECK(!music_queue_wait_ms(q, 2, &ms));
	music_queue_free(q);
}

TEST(changes_count_and_the_position_does_not)
{
	struct music_queue *q = make_queue("ab");
	uint64_t before = music_queue_revision(q);

	music_queue_set_position(q, 9);
	CHECK_INT(music_queue_revision(q), before);
	music_queue_set_volume(q, 4000);
	CHECK_INT(music_queue_volume(q), MUSIC_VOLUME_FULL);
	CHECK(music_queue_revision(q) > before);
	before = music_queue_revision(q);
	music_queue_clear(q, BOB); /* removes nothing */
	CHECK_INT(music_queue_revision(q), before);
	music_queue_set_paused(q, true);
	CHECK(music_queue_is_paused(q) && music_queue_revision(q) > before);
	music_queue_stop(q);
	CHECK(!music_queue_is_paused(q));
	music_queue_set_paused(q, true);
	music_queue_set_position(q, 9);
	CHECK(!music_queue_is_paused(q)); /* there is nothing to pause */
	CHECK_INT(music_queue_position(q), 0);
	music_queue_free(q);
}

TEST_OOM(a_queue_without_memory_is_as_it_was)
{
	struct track three[] = {local_track("x", BOB), local_track("y", BOB),
				local_track("z", BOB)};
	struct music_queue *q = NULL;
	size_t first;
	int err = music_queue_alloc(&q, GUILD, CHANNEL);

	CHECK_OOM(err, (void)0);
	err = music_queue_add(q, three, 3, MUSIC_QUEUE_END, &first);
	if (err)
		CHECK_STR(spell_queue(q), "|");
	else
		CHECK_STR(spell_queue(q), "|xyz");
	music_queue_free(q);
	CHECK(!err || test_oom_hit());
}

TEST(a_track_that_is_postponed_waits_at_the_end)
{
	struct music_queue *q = NULL;
	uint64_t starts;

	CHECK_INT(music_queue_alloc(&q, GUILD, CHANNEL), 0);
	music_queue_postpone(q);
	CHECK_INT(music_queue_bring(q, 1, 0), ENOENT);
	CHECK_INT(add_letters(q, "abcd", ALICE), 0);
	music_queue_advance(q, MUSIC_ENDED);
	starts = music_queue_starts(q);
	music_queue_postpone(q);
	CHECK_STR(spell_queue(q), "a|cdb");
	CHECK(music_queue_starts(q) > starts);
	CHECK_INT(music_queue_bring(q, music_queue_at(q, 2)->id, 0), 0);
	CHECK_STR(spell_queue(q), "a|bcd");
	CHECK_INT(music_queue_bring(q, music_queue_at(q, 2)->id, 1), 0);
	CHECK_STR(spell_queue(q), "a|bdc");
	starts = music_queue_starts(q);
	CHECK_INT(music_queue_bring(q, music_queue_at(q, 0)->id, 2), 0);
	CHECK_STR(spell_queue(q), "a|bdc");
	CHECK_INT(music_queue_starts(q), starts);
	music_queue_free(q);
}
