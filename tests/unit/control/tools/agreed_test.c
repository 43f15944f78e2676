/* A spoken yes: the room makes the call that it asked about, as soon as it knows the words of the
 * turn that the answer is for. */
#include <string.h>

#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/tools/calls.h"

enum { QUESTION = 1, YES = 2 };

static void call_speculative(struct calls *c, uint32_t turn, const char *id, const char *tool)
{
	calls_step(c, (struct tool_input){.type = TOOL_IN_CALL,
					  .turn = turn,
					  .user = ALICE,
					  .session = 1,
					  .speculative = true,
					  .call = id,
					  .tool = tool,
					  .text = slice_str("{\"q\":\"x\"}")});
}

static const char *say(struct calls *c, uint32_t turn, bool yes)
{
	calls_said(c);
	calls_step(c, (struct tool_input){
			      .type = TOOL_IN_WORDS, .turn = turn, .user = ALICE, .ok = yes});
	return calls_said(c);
}

static void end_turn(struct calls *c, uint32_t turn, bool superseded)
{
	calls_step(c, (struct tool_input){.type = TOOL_IN_END,
					  .turn = turn,
					  .user = ALICE,
					  .ok = !superseded,
					  .superseded = superseded,
					  .text = slice_str("Shall I do this: hand, x?")});
}

/* Alice was asked whether the bot should hand over x. */
static bool ask_alice(struct calls *c)
{
	if (!calls_open(c))
		return false;
	say(c, QUESTION, false);
	calls_call(c, QUESTION, "a", "hand", "x");
	if (!strstr(calls_said(c), "needs_yes"))
		return false;
	end_turn(c, QUESTION, false);
	return true;
}

TEST(the_room_makes_the_call_that_was_agreed_to)
{
	struct calls c;
	char kept[TOOLS_NAME_MAX];
	const char *said;

	CHECK(ask_alice(&c));
	tools_run_kept(c.run, BOB, kept);
	CHECK_STR(kept, "");
	tools_run_kept(c.run, ALICE, kept);
	CHECK_STR(kept, "hand");
	CHECK_STR(say(&c, YES, true), "journal:2:await ");
	tools_run_kept(c.run, ALICE, kept);
	CHECK_STR(kept, "");
	CHECK_STR(tools_run_agreed(c.run, YES), "hand");
	CHECK(!tools_run_agreed(c.run, QUESTION));
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 2, .ok = true});
	CHECK_STR(calls_said(&c), "start:2:hand:{\"q\":\"x\"} ");
	CHECK(c.agreed);
	CHECK_INT(c.jobs, 1);
	/* The turn of the yes ends meanwhile, and the result comes later. */
	end_turn(&c, YES, false);
	calls_said(&c);
	calls_output(&c, 2, "done");
	said = calls_said(&c);
	CHECK_STR(said, "settle:2:ok late:2:awaited:{\"ok\":true,\"output\":\"done\"} ");
	CHECK_INT(c.jobs, 0);
	calls_close(&c);
}

TEST(a_model_that_repeats_an_agreed_call_gets_its_output)
{
	struct calls c;
	const char *said;

	for (int written = 0; written < 2; written++) {
		CHECK(ask_alice(&c));
		say(&c, YES, true);
		if (!written)
			calls_call(&c, YES, "b", "hand", "x");
		calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 2, .ok = true});
		if (written)
			calls_call(&c, YES, "b", "hand", "x");
		calls_output(&c, 2, "done");
		said = calls_said(&c);
		CHECK_INT(calls_count(said, "start"), 1);
		CHECK(strstr(said, "answer:b:{\"ok\":true,\"output\":\"done\"} end:3:go"));
		CHECK(strstr(said, "late:2:unasked"));
		calls_call(&c, YES, "c", "hand", "y");
		CHECK(strstr(calls_said(&c), "needs_yes"));
		calls_close(&c);
	}
}

TEST(a_repeated_call_waits_no_longer_than_any_other)
{
	struct calls c;
	const char *said;

	CHECK(ask_alice(&c));
	say(&c, YES, true);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 2, .ok = true});
	calls_call(&c, YES, "b", "hand", "x");
	calls_said(&c);
	c.settings->tool_ms = 3000;
	calls_pass(&c, 1900);
	CHECK_STR(calls_said(&c), "");
	calls_pass(&c, 200);
	CHECK(strstr(calls_said(&c), "answer:b:{\"ok\":true,\"output\":{\"status\":\"running\""));
	calls_output(&c, 2, "done");
	said = calls_said(&c);
	CHECK(strstr(said, "late:2:awaited") && !strstr(said, "answer"));
	calls_close(&c);
}

TEST(a_question_that_was_asked_speculatively_gets_its_yes)
{
	struct calls c;

	CHECK(calls_open(&c));
	call_speculative(&c, QUESTION, "a", "hand");
	CHECK_STR(calls_said(&c), "begin:1 ");
	say(&c, QUESTION, false);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_COMMIT, .turn = QUESTION});
	CHECK(strstr(calls_said(&c), "needs_yes"));
	end_turn(&c, QUESTION, false);
	CHECK_STR(say(&c, YES, true), "journal:2:await ");
	calls_close(&c);
}

TEST(a_yes_counts_in_a_speculative_turn)
{
	struct calls c;
	const char *said;

	CHECK(ask_alice(&c));
	call_speculative(&c, YES, "b", "hand");
	CHECK_STR(say(&c, YES, true), "journal:3:await ");
	calls_step(&c, (struct tool_input){.type = TOOL_IN_COMMIT, .turn = YES});
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 3, .ok = true});
	said = calls_said(&c);
	CHECK(strstr(said, "start:3:hand") && !strstr(said, "needs_yes"));
	calls_output(&c, 3, "done");
	CHECK(strstr(calls_said(&c), "answer:b:{\"ok\":true,\"output\":\"done\"}"));
	calls_close(&c);
}

TEST(a_yes_that_is_taken_back_stops_the_call)
{
	struct calls c;
	const char *said;

	for (int still = 0; still < 2; still++) {
		CHECK(ask_alice(&c));
		say(&c, YES, true);
		calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 2, .ok = true});
		end_turn(&c, YES, true);
		said = say(&c, YES + 1, still);
		CHECK_INT(calls_count(said, "cancel:2"), !still);
		CHECK_INT(calls_count(said, "late:2:cancelled"), !still);
		/* Later words have nothing to do with it. */
		CHECK_STR(say(&c, YES + 2, false), "");
		calls_close(&c);
	}
}

TEST(a_yes_of_several_people_starts_nothing)
{
	struct calls c;

	CHECK(ask_alice(&c));
	calls_said(&c);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WORDS,
					   .turn = YES,
					   .user = ALICE,
					   .shared = true,
					   .ok = true});
	CHECK_STR(calls_said(&c), "");
	calls_close(&c);
}

TEST(an_agreed_call_that_fails_is_told)
{
	struct calls c;
	const char *said;

	CHECK(ask_alice(&c));
	strcpy(c.settings->tools_off, "hand");
	CHECK(strstr(say(&c, YES, true), "late:2:awaited:{\"ok\":false"));
	calls_close(&c);

	CHECK(ask_alice(&c));
	say(&c, YES, true);
	calls_step(&c, (struct tool_input){.type = TOOL_IN_WRITTEN, .id = 2});
	said = calls_said(&c);
	CHECK(strstr(said, "settle:2:not_recorded late:2:awaited") && !strstr(said, "answer"));
	calls_close(&c);

	CHECK(ask_alice(&c));
	tools_registry_remove(c.registry, tools_registry_find(c.registry, "hand")->shell, NULL);
	CHECK(strstr(say(&c, YES, true), "settle:2:unknown_tool late:2:awaited"));
	calls_close(&c);
}

/* Many models say something before they call a tool, and go on in the same answer. */
TEST(words_before_the_call_are_no_part_of_the_question)
{
	static const char *const leads[] = {"I'll hand it over right away.", NULL};

	for (unsigned i = 0; i < 2; i++) {
		struct calls c;

		CHECK(calls_open(&c));
		calls_step(&c, (struct tool_input){.type = TOOL_IN_CALL,
						   .turn = QUESTION,
						   .user = ALICE,
						   .session = 1,
						   .call = "a",
						   .tool = "hand",
						   .lead = leads[i],
						   .text = slice_str("{\"q\":\"x\"}")});
		calls_step(&c,
			   (struct tool_input){.type = TOOL_IN_END,
					       .turn = QUESTION,
					       .user = ALICE,
					       .ok = true,
					       .text = slice_str("I'll hand it over right away. "
								 "Shall I do this: hand, x?")});
		CHECK_STR(say(&c, YES, true), i ? "" : "journal:2:await ");
		calls_close(&c);
	}
}
