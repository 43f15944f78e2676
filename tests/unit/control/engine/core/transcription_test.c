/* A session of speech-to-text without its wire: statements 50 to 55, 59, 60. */
#include "tests/test.h"

#include "control/engine/core/transcription.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

enum { MIN = 4800 };

static struct transcription b;

static void begin(void)
{
	transcription_init(&b, MIN);
}

/* Connected, and an utterance of a second was streamed. */
static void streamed(uint32_t utterance)
{
	if (!b.up) {
		transcription_start(&b, utterance, 5000 * NS_PER_MS);
		transcription_opened(&b);
	} else {
		transcription_start(&b, utterance, 5000 * NS_PER_MS);
	}
	transcription_append(&b, utterance, 48000);
}

TEST(rule_050_phases_and_one_connection_for_all_who_want_it)
{
	bool revised;

	begin();
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_IDLE);
	CHECK(transcription_start(&b, 1, 1000 * NS_PER_MS).connect);
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_CONNECTING);
	CHECK(!transcription_start(&b, 2, 1001 * NS_PER_MS).connect);
	transcription_opened(&b);
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_READY);
	CHECK(transcription_append(&b, 2, 9600).append);
	CHECK(transcription_commit(&b, 2).commit);
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_COMMITTING);
	transcription_committed(&b, "i1");
	CHECK_INT(transcription_done(&b, "i1", &revised), 2);
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_READY);
	transcription_closing(&b);
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_CLOSING);
	CHECK(!transcription_lost(&b, 1100 * NS_PER_MS));
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_IDLE);
	/* It was open, so the next one may be opened at once. One that could not be opened is tried
	 * once immediately, and then not for a while. */
	CHECK(transcription_start(&b, 3, 1200 * NS_PER_MS).connect);
	CHECK(transcription_lost(&b, 1300 * NS_PER_MS));
	CHECK(!transcription_lost(&b, 1400 * NS_PER_MS));
	CHECK(!transcription_start(&b, 4, 2299 * NS_PER_MS).connect);
	CHECK(!transcription_append(&b, 4, 960).append);
	CHECK(transcription_start(&b, 5, 2300 * NS_PER_MS).connect);
}

TEST(rule_050_a_connection_that_failed_unused_is_not_tried_again_at_once)
{
	begin();
	CHECK(transcription_start(&b, 1, 1000 * NS_PER_MS).connect);
	transcription_cancel(&b, 1);
	CHECK(!transcription_lost(&b, 1100 * NS_PER_MS));
	CHECK(!transcription_start(&b, 2, 1999 * NS_PER_MS).connect);
	CHECK(transcription_start(&b, 3, 2000 * NS_PER_MS).connect);
}

TEST(rule_009_less_than_the_least_is_not_committed)
{
	static const struct {
		size_t least, sound;
		bool commits;
	} table[] = {{MIN, MIN - 2, false}, {MIN, MIN, true}, {0, 0, false}, {0, 2, true}};

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct transcription_out out;

		transcription_init(&b, table[i].least);
		transcription_start(&b, 1, 0);
		transcription_opened(&b);
		transcription_append(&b, 1, table[i].sound);
		out = transcription_commit(&b, 1);
		CHECK_INT(out.commit, table[i].commits);
		CHECK_INT(out.empty, !table[i].commits);
	}
}

TEST(rule_051_sound_waits_for_the_connection_and_the_oldest_goes_first)
{
	begin();
	transcription_start(&b, 1, 1000 * NS_PER_MS);
	for (unsigned i = 0; i < 500; i++)
		CHECK(transcription_append(&b, 1, 960).append);
	CHECK_INT(b.kept, TRANSCRIPTION_KEPT);
	CHECK_INT(transcription_overfull(&b), 0);
	transcription_append(&b, 1, 960);
	CHECK_INT(transcription_overfull(&b), 960);
	transcription_dropped(&b, 960);
	CHECK_INT(transcription_overfull(&b), 0);
	transcription_opened(&b);
	CHECK_INT(b.kept, 0);
	CHECK(!transcription_append(&b, 9, 960).append); /* of another utterance */
}

TEST(rule_052_words_stay_with_their_utterance)
{
	const char *text = "";
	bool revised;

	begin();
	streamed(1);
	CHECK(transcription_commit(&b, 1).commit);
	streamed(2);
	transcription_committed(&b, "i1");
	CHECK_INT(transcription_partial(&b, "i1", slice_str("ten "), false, &text), 1);
	CHECK_INT(transcription_partial(&b, "i1", slice_str("past"), false, &text), 1);
	CHECK_STR(text, "ten past");
	CHECK(transcription_commit(&b, 2).commit);
	transcription_committed(&b, "i2");
	/* In any order. */
	CHECK_INT(transcription_done(&b, "i2", &revised), 2);
	CHECK_INT(transcription_done(&b, "i1", &revised), 1);
	CHECK(!revised);
	CHECK_INT(transcription_done(&b, "i9", &revised), 0);
}

TEST(words_that_are_too_many_end_with_a_whole_character)
{
	static char words[2 * TRANSCRIPTION_TEXT];
	const char *so_far = "";

	words[0] = 'a'; /* and two bytes for each that follows */
	for (size_t i = 1; i + 2 < sizeof words; i += 2)
		memcpy(words + i, "\xc3\xa9", 2);
	for (unsigned shift = 0; shift < 2; shift++) {
		begin();
		streamed(1);
		CHECK_INT(transcription_partial(&b, "i", slice_str(words + shift), true, &so_far),
			  1);
		CHECK(strlen(so_far) >= TRANSCRIPTION_TEXT - 2);
		CHECK(utf8_valid(so_far));
	}
}

TEST(rule_053_the_provider_may_find_the_end_first)
{
	const char *text = "";
	bool revised;

	begin();
	streamed(1);
	transcription_committed(&b, "i1");
	CHECK_INT(transcription_partial(&b, "i1", slice_str("hello"), true, &text), 1);
	CHECK(!transcription_commit(&b, 1).commit); /* it has been made */
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_COMMITTING);
	CHECK_STR(b.owe[0].text, "hello");
	streamed(2);
	CHECK_INT(transcription_done(&b, "i1", &revised), 1);
}

TEST(rule_055_too_little_sound_is_no_words_and_no_commit)
{
	struct transcription_out out;

	begin();
	transcription_start(&b, 1, 1000 * NS_PER_MS);
	transcription_opened(&b);
	transcription_append(&b, 1, MIN - 1);
	out = transcription_commit(&b, 1);
	CHECK(out.empty && out.clear && !out.commit);
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_READY);
	transcription_start(&b, 2, 1000 * NS_PER_MS);
	transcription_append(&b, 2, MIN);
	CHECK(transcription_commit(&b, 2).commit);
}

TEST(rule_059_a_revision_has_its_utterance)
{
	bool revised = true;

	begin();
	streamed(1);
	transcription_commit(&b, 1);
	transcription_committed(&b, "i1");
	CHECK_INT(transcription_done(&b, "i1", &revised), 1);
	CHECK(!revised);
	streamed(2);
	CHECK_INT(transcription_done(&b, "i1", &revised), 1);
	CHECK(revised);
	/* Not of what was cancelled, and not for ever. */
	transcription_commit(&b, 2);
	transcription_cancel(&b, 2);
	transcription_committed(&b, "i2");
	CHECK_INT(transcription_done(&b, "i2", &revised), 0);
	CHECK_INT(transcription_done(&b, "i2", &revised), 0);
	for (uint32_t u = 3; u < 3 + TRANSCRIPTION_DONE; u++) {
		char item[8];

		snprintf(item, sizeof item, "i%u", u);
		streamed(u);
		transcription_commit(&b, u);
		transcription_committed(&b, item);
		CHECK_INT(transcription_done(&b, item, &revised), u);
	}
	CHECK_INT(transcription_done(&b, "i1", &revised), 0);
}

TEST(rule_060_a_commit_is_made_while_the_connection_is)
{
	bool revised;

	begin();
	transcription_start(&b, 1, 1000 * NS_PER_MS);
	transcription_append(&b, 1, 48000);
	CHECK(transcription_commit(&b, 1).commit);
	CHECK_INT(b.owed, 1);
	transcription_start(&b, 2, 1100 * NS_PER_MS);
	transcription_append(&b, 2, 48000);
	transcription_opened(&b);
	transcription_committed(&b, "i1");
	CHECK_INT(transcription_done(&b, "i1", &revised), 1);
	CHECK_INT(b.utterance, 2);
}

TEST(a_lost_connection_is_replaced_once)
{
	bool revised;

	begin();
	streamed(1);
	CHECK(transcription_commit(&b, 1).commit);
	transcription_committed(&b, "i1");
	streamed(2);
	CHECK(transcription_commit(&b, 2).commit);
	transcription_cancel(&b, 2);
	streamed(3);
	CHECK(transcription_lost(&b, 6000 * NS_PER_MS));
	CHECK_INT(transcription_phase(&b), TRANSCRIPTION_CONNECTING);
	CHECK_INT(transcription_fail_next(&b), 0);
	CHECK(transcription_holds(&b, 1) && !transcription_holds(&b, 2));
	CHECK(transcription_holds(&b, 3));
	/* It goes on, and its items are those of the new connection. */
	CHECK(transcription_append(&b, 3, 960).append);
	CHECK_INT(b.kept, 0);
	transcription_opened(&b);
	CHECK_INT(transcription_done(&b, "j1", &revised), 1);
	CHECK(!revised);
	CHECK(transcription_commit(&b, 3).commit);
	streamed(4);
	/* 3 fails with its second connection, 4 has another one. */
	CHECK(transcription_lost(&b, 7000 * NS_PER_MS));
	CHECK_INT(transcription_fail_next(&b), 3);
	CHECK_INT(transcription_fail_next(&b), 0);
	CHECK(!transcription_holds(&b, 3));
	transcription_opened(&b);
	CHECK(!transcription_lost(&b, 8000 * NS_PER_MS));
	CHECK(!transcription_append(&b, 4, 960).append);
	CHECK(transcription_commit(&b, 4).failed);
}

TEST(an_oldest_utterance_is_meant_where_there_are_no_items)
{
	const char *text = "";
	bool revised;

	begin();
	streamed(1);
	CHECK_INT(transcription_partial(&b, "", slice_str("ten"), true, &text), 1);
	CHECK_INT(transcription_partial(&b, "", slice_str("ten past"), true, &text), 1);
	CHECK_STR(text, "ten past");
	CHECK(transcription_commit(&b, 1).commit);
	streamed(2);
	CHECK_INT(transcription_partial(&b, "", slice_str("ten past four"), true, &text), 1);
	/* What cannot be discarded is committed, and nobody's. */
	CHECK(transcription_cancel(&b, 2).clear);
	transcription_discard(&b, 2);
	CHECK(transcription_holds(&b, 2));
	streamed(3);
	CHECK(transcription_commit(&b, 3).commit);
	CHECK_INT(transcription_done(&b, "", &revised), 1);
	CHECK_INT(transcription_refused(&b, 0), 0); /* of 2 */
	CHECK_INT(transcription_refused(&b, 0), 3);
	CHECK_INT(transcription_refused(&b, 0), 0);
}

TEST(what_is_owed_fails_with_the_connection_and_is_bounded)
{
	struct transcription_out out;

	begin();
	for (uint32_t u = 1; u <= TRANSCRIPTION_OWED; u++) {
		streamed(u);
		CHECK(transcription_commit(&b, u).commit);
	}
	transcription_cancel(&b, 1);
	streamed(99);
	out = transcription_commit(&b, 99);
	CHECK(out.give_up && out.failed && !out.commit);
	CHECK(!transcription_lost(&b, 6000 * NS_PER_MS));
	for (uint32_t u = 2; u <= TRANSCRIPTION_OWED; u++)
		CHECK_INT(transcription_fail_next(&b), u);
	CHECK_INT(transcription_fail_next(&b), 0);
	CHECK_INT(transcription_refused(&b, 5), 0);
}

TEST(a_peek_has_words_so_far_and_the_end_has_all)
{
	const char *text = "";
	struct transcription_out out;
	uint32_t utterance = 9;
	bool revised;

	begin();
	streamed(1);
	out = transcription_interim(&b, 1);
	CHECK(out.commit && out.again);
	CHECK(!transcription_interim(&b, 1).commit); /* one at a time */
	CHECK(!transcription_interim(&b, 2).commit);
	transcription_committed(&b, "p1");
	CHECK_INT(transcription_partial(&b, "p1", slice_str("hel"), false, &text), 1);
	CHECK_STR(text, "hel");
	CHECK(transcription_interim_given(&b, "p1", &utterance));
	CHECK_INT(utterance, 1);
	CHECK(transcription_interim(&b, 1).commit);
	/* The end is committed while the second request is owed; its words come before those of the
	 * end, or after. */
	CHECK(transcription_commit(&b, 1).commit);
	transcription_committed(&b, "p2");
	transcription_committed(&b, "i1");
	CHECK(!transcription_interim_given(&b, "i1", &utterance));
	CHECK_INT(transcription_done(&b, "i1", &revised), 1);
	CHECK(!revised);
	CHECK_INT(transcription_partial(&b, "p2", slice_str("hel"), false, &text), 0);
	CHECK(transcription_interim_given(&b, "p2", &utterance));
	CHECK_INT(utterance, 0);
	CHECK_INT(b.owed, 0);
	/* Told again, it is nobody's. */
	CHECK(transcription_interim_given(&b, "p2", &utterance));
	CHECK_INT(utterance, 0);
}

TEST(a_peek_that_fails_costs_nothing_but_itself)
{
	uint32_t utterance = 9;
	bool revised;

	begin();
	streamed(1);
	CHECK(transcription_interim(&b, 1).commit);
	CHECK_INT(transcription_refused(&b, 1), 0);
	CHECK_INT(b.owed, 0);
	/* Which of the two was refused: the one without an item. */
	CHECK(transcription_interim(&b, 1).commit);
	transcription_committed(&b, "p");
	transcription_commit(&b, 1);
	CHECK_INT(transcription_refused(&b, 1), 1);
	CHECK(transcription_interim_given(&b, "p", &utterance));
	CHECK_INT(utterance, 0);
	/* Lost with its session: only the utterance is told. */
	streamed(2);
	transcription_interim(&b, 2);
	transcription_commit(&b, 2);
	transcription_lost(&b, 6000 * NS_PER_MS);
	CHECK_INT(transcription_fail_next(&b), 0);
	transcription_lost(&b, 7000 * NS_PER_MS);
	CHECK_INT(transcription_fail_next(&b), 2);
	CHECK_INT(transcription_fail_next(&b), 0);
	/* Of what is cancelled nobody wants words. */
	begin();
	streamed(3);
	transcription_interim(&b, 3);
	transcription_cancel(&b, 3);
	CHECK(transcription_interim_given(&b, "x", &utterance));
	CHECK_INT(utterance, 0);
	/* Not of too much sound, nor of a provider that found the end by itself, nor before there
	 * is a connection. */
	streamed(4);
	transcription_append(&b, 4, TRANSCRIPTION_INTERIM);
	CHECK(!transcription_interim(&b, 4).commit);
	streamed(5);
	transcription_committed(&b, "early");
	CHECK(!transcription_interim(&b, 5).commit);
	transcription_commit(&b, 5);
	CHECK_INT(transcription_done(&b, "early", &revised), 5);
	begin();
	transcription_start(&b, 6, 5000 * NS_PER_MS);
	transcription_append(&b, 6, 48000);
	CHECK(!transcription_interim(&b, 6).commit);
}
