/* A session of speech-to-text without its wire: statements 50 to 55, 59, 60. */
#include "tests/test.h"

#include "control/room/bridge.h"

enum { MIN = 4800 };
#define MS 1000000ull

static struct room_bridge b;

static void begin(void)
{
	room_bridge_init(&b, MIN);
}

/* Connected, and an utterance of a second was streamed. */
static void streamed(uint32_t utterance)
{
	if (!b.up) {
		room_bridge_start(&b, utterance, 5000 * MS);
		room_bridge_opened(&b);
	} else {
		room_bridge_start(&b, utterance, 5000 * MS);
	}
	room_bridge_append(&b, utterance, 48000);
}

TEST(rule_050_phases_and_one_connection_for_all_who_want_it)
{
	bool revised;

	begin();
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_IDLE);
	CHECK(room_bridge_start(&b, 1, 1000 * MS).connect);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_CONNECTING);
	CHECK(!room_bridge_start(&b, 2, 1001 * MS).connect);
	room_bridge_opened(&b);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_READY);
	CHECK(room_bridge_append(&b, 2, 9600).append);
	CHECK(room_bridge_commit(&b, 2).commit);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_COMMITTING);
	room_bridge_committed(&b, "i1");
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 2);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_READY);
	room_bridge_closing(&b);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_CLOSING);
	room_bridge_lost(&b);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_IDLE);
	/* Not at once again, and then again. */
	CHECK(!room_bridge_start(&b, 3, 1999 * MS).connect);
	CHECK(!room_bridge_append(&b, 3, 960).append);
	CHECK(room_bridge_start(&b, 4, 2000 * MS).connect);
}

TEST(rule_051_sound_waits_for_the_connection_and_the_oldest_goes_first)
{
	begin();
	room_bridge_start(&b, 1, 1000 * MS);
	for (unsigned i = 0; i < 500; i++)
		CHECK(room_bridge_append(&b, 1, 960).append);
	CHECK_INT(b.kept, ROOM_BRIDGE_KEPT);
	CHECK(!room_bridge_overfull(&b, true));
	room_bridge_append(&b, 1, 960);
	CHECK(room_bridge_overfull(&b, true));
	CHECK(!room_bridge_overfull(&b, false)); /* one is always kept */
	room_bridge_dropped(&b, 960);
	CHECK(!room_bridge_overfull(&b, true));
	room_bridge_opened(&b);
	CHECK_INT(b.kept, 0);
	CHECK(!room_bridge_append(&b, 9, 960).append); /* of another utterance */
}

TEST(rule_052_words_stay_with_their_utterance)
{
	const char *text = "";
	bool revised;

	begin();
	streamed(1);
	CHECK(room_bridge_commit(&b, 1).commit);
	streamed(2);
	room_bridge_committed(&b, "i1");
	CHECK_INT(room_bridge_partial(&b, "i1", "ten ", 4, &text), 1);
	CHECK_INT(room_bridge_partial(&b, "i1", "past", 4, &text), 1);
	CHECK_STR(text, "ten past");
	CHECK(room_bridge_commit(&b, 2).commit);
	room_bridge_committed(&b, "i2");
	/* In any order. */
	CHECK_INT(room_bridge_done(&b, "i2", &revised), 2);
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 1);
	CHECK(!revised);
	CHECK_INT(room_bridge_done(&b, "i9", &revised), 0);
}

TEST(rule_053_the_provider_may_find_the_end_first)
{
	const char *text = "";
	bool revised;

	begin();
	streamed(1);
	room_bridge_committed(&b, "i1");
	CHECK_INT(room_bridge_partial(&b, "i1", "hello", 5, &text), 1);
	CHECK(!room_bridge_commit(&b, 1).commit); /* it has been made */
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_COMMITTING);
	CHECK_STR(b.owe[0].text, "hello");
	streamed(2);
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 1);
}

TEST(rule_055_too_little_sound_is_no_words_and_no_commit)
{
	struct room_bridge_out out;

	begin();
	room_bridge_start(&b, 1, 1000 * MS);
	room_bridge_opened(&b);
	room_bridge_append(&b, 1, MIN - 1);
	out = room_bridge_commit(&b, 1);
	CHECK(out.empty && out.clear && !out.commit);
	CHECK_INT(room_bridge_phase(&b), ROOM_BRIDGE_READY);
	room_bridge_start(&b, 2, 1000 * MS);
	room_bridge_append(&b, 2, MIN);
	CHECK(room_bridge_commit(&b, 2).commit);
}

TEST(rule_059_a_revision_has_its_utterance)
{
	bool revised = true;

	begin();
	streamed(1);
	room_bridge_commit(&b, 1);
	room_bridge_committed(&b, "i1");
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 1);
	CHECK(!revised);
	streamed(2);
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 1);
	CHECK(revised);
	/* Not of what was cancelled, and not for ever. */
	room_bridge_commit(&b, 2);
	room_bridge_cancel(&b, 2);
	room_bridge_committed(&b, "i2");
	CHECK_INT(room_bridge_done(&b, "i2", &revised), 0);
	CHECK_INT(room_bridge_done(&b, "i2", &revised), 0);
	for (uint32_t u = 3; u < 3 + ROOM_BRIDGE_DONE; u++) {
		char item[8];

		snprintf(item, sizeof item, "i%u", u);
		streamed(u);
		room_bridge_commit(&b, u);
		room_bridge_committed(&b, item);
		CHECK_INT(room_bridge_done(&b, item, &revised), u);
	}
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 0);
}

TEST(rule_060_a_commit_is_made_while_the_connection_is)
{
	bool revised;

	begin();
	room_bridge_start(&b, 1, 1000 * MS);
	room_bridge_append(&b, 1, 48000);
	CHECK(room_bridge_commit(&b, 1).commit);
	CHECK_INT(b.owed, 1);
	room_bridge_start(&b, 2, 1100 * MS);
	room_bridge_append(&b, 2, 48000);
	room_bridge_opened(&b);
	room_bridge_committed(&b, "i1");
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 1);
	CHECK_INT(b.utterance, 2);
}

TEST(what_is_owed_fails_with_the_connection_and_is_bounded)
{
	struct room_bridge_out out;

	begin();
	for (uint32_t u = 1; u <= ROOM_BRIDGE_OWED; u++) {
		streamed(u);
		CHECK(room_bridge_commit(&b, u).commit);
	}
	room_bridge_cancel(&b, 1);
	streamed(99);
	out = room_bridge_commit(&b, 99);
	CHECK(out.give_up && out.failed && !out.commit);
	room_bridge_lost(&b);
	for (uint32_t u = 2; u <= ROOM_BRIDGE_OWED; u++)
		CHECK_INT(room_bridge_fail_next(&b), u);
	CHECK_INT(room_bridge_fail_next(&b), 0);
	CHECK(!room_bridge_refused(&b, 5));
	/* What was being streamed when it was lost fails at its commit. */
	begin();
	streamed(1);
	room_bridge_lost(&b);
	CHECK(room_bridge_commit(&b, 1).failed);
}

TEST(a_peek_has_words_so_far_and_the_end_has_all)
{
	const char *text = "";
	struct room_bridge_out out;
	uint32_t utterance = 9;
	bool revised;

	begin();
	streamed(1);
	out = room_bridge_interim(&b, 1);
	CHECK(out.commit && out.again);
	CHECK(!room_bridge_interim(&b, 1).commit); /* one at a time */
	CHECK(!room_bridge_interim(&b, 2).commit);
	room_bridge_committed(&b, "p1");
	CHECK_INT(room_bridge_partial(&b, "p1", "hel", 3, &text), 1);
	CHECK_STR(text, "hel");
	CHECK(room_bridge_interim_given(&b, "p1", &utterance));
	CHECK_INT(utterance, 1);
	CHECK(room_bridge_interim(&b, 1).commit);
	/* The end is committed while the second peek is owed; its words come before those of the
	 * end, or after. */
	CHECK(room_bridge_commit(&b, 1).commit);
	room_bridge_committed(&b, "p2");
	room_bridge_committed(&b, "i1");
	CHECK(!room_bridge_interim_given(&b, "i1", &utterance));
	CHECK_INT(room_bridge_done(&b, "i1", &revised), 1);
	CHECK(!revised);
	CHECK_INT(room_bridge_partial(&b, "p2", "hel", 3, &text), 0);
	CHECK(room_bridge_interim_given(&b, "p2", &utterance));
	CHECK_INT(utterance, 0);
	CHECK_INT(b.owed, 0);
	/* Told again, it is nobody's. */
	CHECK(room_bridge_interim_given(&b, "p2", &utterance));
	CHECK_INT(utterance, 0);
}

TEST(a_peek_that_fails_costs_nothing_but_itself)
{
	uint32_t utterance = 9;
	bool revised;

	begin();
	streamed(1);
	CHECK(room_bridge_interim(&b, 1).commit);
	CHECK(!room_bridge_refused(&b, 1));
	CHECK_INT(b.owed, 0);
	/* Which of the two was refused: the one without an item. */
	CHECK(room_bridge_interim(&b, 1).commit);
	room_bridge_committed(&b, "p");
	room_bridge_commit(&b, 1);
	CHECK(room_bridge_refused(&b, 1));
	CHECK(room_bridge_interim_given(&b, "p", &utterance));
	CHECK_INT(utterance, 0);
	/* Lost with its session: only the utterance is told. */
	streamed(2);
	room_bridge_interim(&b, 2);
	room_bridge_commit(&b, 2);
	room_bridge_lost(&b);
	CHECK_INT(room_bridge_fail_next(&b), 2);
	CHECK_INT(room_bridge_fail_next(&b), 0);
	/* Of what is cancelled nobody wants words. */
	begin();
	streamed(3);
	room_bridge_interim(&b, 3);
	room_bridge_cancel(&b, 3);
	CHECK(room_bridge_interim_given(&b, "x", &utterance));
	CHECK_INT(utterance, 0);
	/* Not of too much sound, nor of a provider that found the end by itself, nor before there
	 * is a connection. */
	streamed(4);
	room_bridge_append(&b, 4, ROOM_BRIDGE_INTERIM);
	CHECK(!room_bridge_interim(&b, 4).commit);
	streamed(5);
	room_bridge_committed(&b, "early");
	CHECK(!room_bridge_interim(&b, 5).commit);
	room_bridge_commit(&b, 5);
	CHECK_INT(room_bridge_done(&b, "early", &revised), 5);
	begin();
	room_bridge_start(&b, 6, 5000 * MS);
	room_bridge_append(&b, 6, 48000);
	CHECK(!room_bridge_interim(&b, 6).commit);
}
