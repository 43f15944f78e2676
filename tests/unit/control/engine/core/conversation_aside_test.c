/* Requests beside the conversation. */
#include "control/engine/core/conversation.h"

#include <errno.h>

#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

static int aside(uint32_t ask)
{
	return converse_step((struct conversation_input){
		.type = CONVERSATION_ASIDE, .ask = ask, .text = slice_str("whom?")});
}

static void begin_aside(void)
{
	struct conversation_caps caps = converse_all_caps();

	caps.aside = true;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_said();
}

static void answer(enum conversation_input_type type, uint32_t ask, const char *text)
{
	static const struct usage usage = {.n = {1}};

	converse_step(
		(struct conversation_input){.type = type,
					    .ask = ask,
					    .aside = type != CONVERSATION_TEXT,
					    .ok = true,
					    .response = "side",
					    .item = "i9",
					    .text = slice_str(text),
					    .usage = type == CONVERSATION_DONE ? &usage : NULL});
}

TEST(a_side_request_hinders_no_answer)
{
	begin_aside();
	CHECK_INT(aside(1), 0);
	CHECK_STR(converse_said(), "aside:whom? ");
	converse_ask_line(2, 8, "more", false);
	CHECK_STR(converse_said(), "item:ask_2:[Alice]: more respond:2 ");
	answer(CONVERSATION_RESPONSE, 1, "");
	converse_created("r2", 2);
	answer(CONVERSATION_TEXT, 0, "SPEA");
	converse_audio("r2", "i2", 480);
	answer(CONVERSATION_TEXT, 0, "KER");
	answer(CONVERSATION_DONE, 1, "");
	converse_done("r2", 2, true);
	CHECK_STR(converse_said(), "audio:2:480 usage:1 told:1:SPEAKER done:2 ");
	converse_end();
}

TEST(a_newer_side_request_replaces_the_older_one)
{
	begin_aside();
	aside(1);
	converse_ask_line(2, 8, "more", false);
	converse_created("r2", 2);
	converse_done("r2", 2, true);
	CHECK_INT(aside(2), 0);
	converse_said();
	answer(CONVERSATION_RESPONSE, 1, "");
	answer(CONVERSATION_TEXT, 0, "ALL");
	answer(CONVERSATION_DONE, 1, "");
	CHECK_STR(converse_said(), "usage:1 ");
	answer(CONVERSATION_RESPONSE, 2, "");
	answer(CONVERSATION_DONE, 2, "");
	CHECK_STR(converse_said(), "usage:2 told:2: ");
	converse_end();
}

TEST(a_provider_that_refuses_a_side_request_is_not_asked_again_in_its_session)
{
	begin_aside();
	aside(1);
	converse_ask_line(2, 8, "more", false);
	converse_said();
	/* Of the side request, not of the answer. */
	converse_step((struct conversation_input){.type = CONVERSATION_ERROR,
						  .ask = 1,
						  .aside = true,
						  .error = CONVERSATION_ERROR_ACTIVE,
						  .text = slice_str("one at a time")});
	CHECK_STR(converse_said(), "");
	CHECK_INT(aside(1), ENOTSUP);
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	CHECK_INT(aside(1), ENOTSUP);
	converse_pass(500);
	converse_come_up();
	converse_created("r2", 2);
	converse_said();
	CHECK_INT(aside(2), 0);
	CHECK_STR(converse_said(), "aside:whom? ");
	converse_end();
}

TEST(a_server_that_returns_no_metadata_gets_no_side_request)
{
	struct conversation_caps caps = converse_all_caps();

	caps.aside = true;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 0);
	converse_done("r1", 0, true);
	CHECK_INT(aside(1), ENOTSUP);
	CHECK_INT(aside(5), ENOTSUP);
	converse_end();
}
