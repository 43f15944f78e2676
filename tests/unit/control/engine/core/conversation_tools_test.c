/* Calls of tools within a conversation. */
#include "control/engine/core/conversation.h"

#include <errno.h>
#include <stdio.h>

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

/* ---- tools ---- */

static void call_fact(enum conversation_input_type type, const char *response, const char *call,
		      const char *name, const char *text)
{
	converse_step((struct conversation_input){.type = type,
						  .response = response,
						  .item = "ci",
						  .call = call,
						  .name = name,
						  .text = slice_str(text)});
}

static int ask_results(uint32_t id, uint32_t turn)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Alice", .text = "hello"},
		{.role = ENGINE_CALL,
		 .speaker = "",
		 .call = "c1",
		 .tool = "look",
		 .text = "{\"a\":1}"},
		{.role = ENGINE_RESULT, .speaker = "", .call = "c1", .tool = "look", .text = "7"}};
	const struct engine_ask ask = {.id = id, .turn = turn, .messages = messages, .n = 3};

	return converse_step(
		(struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static int give_result(const char *call)
{
	return converse_step((struct conversation_input){
		.type = CONVERSATION_RESULT, .call = call, .text = slice_str("7")});
}

static void begin_called(void)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_said();
	call_fact(CONVERSATION_CALL_BEGUN, "r1", "c1", "look", "");
	call_fact(CONVERSATION_CALL_FRAGMENT, "r1", "", "", "{\"a\"");
	call_fact(CONVERSATION_CALL_FRAGMENT, "r1", "c1", "", ":1}");
}

TEST(a_call_is_told_once_however_it_comes)
{
	begin_called();
	CHECK_STR(converse_said(), "");
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	CHECK_STR(converse_said(), "call:1:c1:look:{\"a\":1} ");
	call_fact(CONVERSATION_CALL, "r1", "c1", "look", "{\"a\":1}");
	CHECK_STR(converse_said(), "");
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "done:1:calls ");
	ask_results(2, 7);
	CHECK_STR(converse_said(), "result:c1:7 respond:2 ");
	/* Its id is used up. */
	converse_created("r2", 2);
	call_fact(CONVERSATION_CALL, "r2", "c1", "look", "{}");
	converse_done("r2", 2, true);
	CHECK_STR(converse_said(), "done:2 ");
	converse_end();
}

TEST(a_call_whose_end_is_missing_is_told_with_its_answer)
{
	begin_called();
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "call:1:c1:look:{\"a\":1} done:1:calls ");
	converse_end();
	begin_called();
	converse_done("r1", 1, false);
	CHECK_STR(converse_said(), "failed:1:broken ");
	converse_end();
}

TEST(each_call_gets_exactly_one_result)
{
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	converse_done("r1", 1, true);
	converse_said();
	CHECK_INT(give_result("c1"), 0);
	CHECK_STR(converse_said(), "result:c1:7 ");
	CHECK_INT(give_result("c1"), ENOENT);
	ask_results(2, 7);
	CHECK_STR(converse_said(), "respond:2 ");
	converse_end();
	/* Somebody asked something else meanwhile. */
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	converse_done("r1", 1, true);
	converse_said();
	converse_ask_line(2, 8, "and", false);
	CHECK_STR(converse_said(),
		  "result:c1:{\"error\":\"cancelled\"} item:ask_2:[Alice]: and respond:2 ");
	CHECK_INT(give_result("c1"), ENOENT);
	converse_end();
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	converse_said();
	call_fact(CONVERSATION_CALL_REVOKED, "", "c1", "", "");
	CHECK_STR(converse_said(), "revoked:c1 ");
	CHECK_INT(give_result("c1"), ENOENT);
	converse_end();
}

TEST(results_reach_a_session_that_did_not_call)
{
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	converse_done("r1", 1, true);
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	converse_said();
	converse_pass(500);
	converse_come_up();
	converse_said();
	ask_results(2, 7);
	CHECK_STR(converse_said(), "item::[Alice]: hello item::{\"a\":1} item::7 respond:2 ");
	converse_end();
}

TEST(a_provider_that_goes_on_by_itself_is_not_asked_after_results)
{
	CHECK_INT(converse_begin_as(converse_plain_caps()), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("g1", 0);
	call_fact(CONVERSATION_CALL, "g1", "c1", "look", "{}");
	converse_done("g1", 0, true);
	converse_said();
	ask_results(2, 7);
	CHECK_STR(converse_said(), "result:c1:7 ");
	converse_end();
}

static void set_tools(const char *tools)
{
	converse_step(
		(struct conversation_input){.type = CONVERSATION_TOOLS, .text = slice_str(tools)});
}

TEST(rule_006_tools_are_told_when_they_change)
{
	converse_begin_up();
	/* A session without tools never hears of any. */
	set_tools("[]");
	CHECK_STR(converse_said(), "");
	set_tools("[{}]");
	CHECK_STR(converse_said(), "tools:[{}] ");
	set_tools("[{}]");
	CHECK_STR(converse_said(), "");
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	converse_pass(500);
	converse_said();
	converse_come_up();
	CHECK_STR(converse_said(), "describe: with:[{}] up ");
	set_tools("[]");
	CHECK_STR(converse_said(), "tools:[] ");
	converse_end();
}

/* The call is told without them, for it is owed an output. */
TEST(rule_099_arguments_that_are_too_large_are_told_without_their_text)
{
	static char long_text[1000];

	begin_called();
	memset(long_text, 'x', sizeof long_text - 1);
	for (unsigned i = 0; i < 30; i++)
		call_fact(CONVERSATION_CALL_FRAGMENT, "r1", "c1", "", long_text);
	converse_said();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "call:1:c1:look: done:1:calls ");
	converse_end();
}

/* Its session only reads out what another model wrote. */
TEST(rule_096_a_session_that_reads_out_ignores_calls_of_its_provider)
{
	struct conversation_caps caps = converse_all_caps();

	caps.lines = true;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_said();
	call_fact(CONVERSATION_CALL, "r1", "c1", "look", "{}");
	CHECK_STR(converse_said(), "");
	converse_end();
}

/* The seventeenth call took the place of the first, whose result was then lost. */
TEST(a_call_too_many_is_answered_at_once_and_the_others_get_their_results)
{
	char id[8];

	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	for (unsigned i = 0; i < CONVERSATION_CALLS; i++) {
		snprintf(id, sizeof id, "c%u", i);
		call_fact(CONVERSATION_CALL, "r1", id, "look", "{}");
	}
	converse_said();
	call_fact(CONVERSATION_CALL, "r1", "many", "look", "{}");
	CHECK_STR(converse_said(), "result:many:{\"error\":\"too many calls at once\"} ");
	call_fact(CONVERSATION_CALL, "r1", "many", "look", "{}");
	CHECK_STR(converse_said(), "");
	converse_done("r1", 1, true);
	converse_said();
	give_result("c0");
	CHECK_STR(converse_said(), "result:c0:7 ");
	converse_end();
}
