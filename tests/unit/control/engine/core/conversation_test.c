/* The conversation with a realtime provider: a scripted provider without sockets. */
#include "control/engine/core/conversation.h"

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

TEST(a_session_is_up_when_it_was_created)
{
	CHECK_INT(converse_begin(), 0);
	converse_pass(0);
	CHECK_STR(converse_said(), "connect ");
	converse_step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
						  .text = slice_str("be")});
	converse_ask_line(1, 7, "hello", false);
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED});
	CHECK(!conversation_up(converse.c));
	CHECK_STR(converse_said(), "");
	converse_step((struct conversation_input){.type = CONVERSATION_CREATED});
	CHECK(conversation_up(converse.c));
	/* The room's history goes along with the first ask. */
	CHECK_STR(converse_said(), "describe:be up item::[Bob]: before item::indeed "
				   "item:ask_1:[Alice]: hello respond:1 ");
	converse_created("r1", 1);
	converse_audio("r1", "i1", 480);
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "audio:1:480 done:1 ");
	converse_ask_line(2, 8, "more", false);
	CHECK_STR(converse_said(), "item:ask_2:[Alice]: more respond:2 ");
	converse_end();
}

/* Another provider answers meanwhile: the next session learns all of it with its first ask. */
TEST(a_session_that_misses_answers_is_replaced_when_nothing_runs)
{
	converse_begin_up();
	/* It knows nothing yet that could be out of date. */
	converse_act(CONVERSATION_RENEW, 0);
	CHECK_STR(converse_said(), "");
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_said();
	converse_act(CONVERSATION_RENEW, 0);
	CHECK_STR(converse_said(), "");
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "done:1 close ");
	converse_pass(500);
	converse_come_up();
	CHECK_STR(converse_said(), "connect describe: up ");
	converse_ask_line(2, 8, "more", false);
	CHECK_STR(converse_said(),
		  "item::[Bob]: before item::indeed item:ask_2:[Alice]: more respond:2 ");
	converse_end();
}

TEST(a_connection_without_a_session_is_given_up)
{
	CHECK_INT(converse_begin(), 0);
	converse_pass(0);
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED});
	converse_pass(3999);
	CHECK_STR(converse_said(), "connect ");
	converse_pass(1);
	CHECK_STR(converse_said(),
		  "close down:the connection is open, but no session was created ");
	converse_end();
}

/* Connections come up, and die before they have served: the waits grow all the same. */
TEST(the_backoff_is_reset_by_a_served_answer_alone)
{
	static const unsigned waits[] = {500, 1000, 2000, 4000};

	converse_begin_up();
	for (unsigned i = 0; i < 4; i++) {
		converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
							  .text = slice_str("closed 1011")});
		converse_said();
		converse_pass(waits[i] - 1);
		CHECK_STR(converse_said(), "");
		converse_pass(1);
		CHECK_STR(converse_said(), "connect ");
		converse_come_up();
	}
	converse_ask_line(1, 1, "hello", false);
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED});
	converse_said();
	converse_pass(500);
	CHECK_STR(converse_said(), "connect ");
	converse_end();
}

TEST(another_key_ends_the_wait_of_a_lost_session)
{
	converse_begin_up();
	for (unsigned i = 0; i < 8; i++) {
		converse_step((struct conversation_input){
			.type = CONVERSATION_CLOSED, .text = slice_str("refused with status 401")});
		converse_pass(i < 7 ? 30000 : 0);
		if (i < 7)
			converse_come_up();
	}
	converse_said();
	converse_pass(1000);
	CHECK_STR(converse_said(), "");
	converse_step((struct conversation_input){.type = CONVERSATION_REKEY});
	converse_pass(0);
	CHECK_STR(converse_said(), "connect ");
	/* The waits of the key before are over, too. */
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED});
	converse_said();
	converse_pass(500);
	CHECK_STR(converse_said(), "connect ");
	converse_end();
}

/* The provider could still refuse it, for the key before. */
TEST(another_key_replaces_a_session_that_is_not_created_yet)
{
	CHECK_INT(converse_begin(), 0);
	converse_pass(0);
	CHECK_STR(converse_said(), "connect ");
	converse_step((struct conversation_input){.type = CONVERSATION_REKEY});
	CHECK_STR(converse_said(), "close ");
	converse_pass(0);
	CHECK_STR(converse_said(), "connect ");
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED});
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_REKEY});
	CHECK_STR(converse_said(), "close ");
	converse_pass(0);
	CHECK_STR(converse_said(), "connect ");
	converse_come_up();
	CHECK(conversation_up(converse.c));
	converse_end();
}

/* A session whose key has no credit left stays open, and fails each answer. */
TEST(another_key_replaces_a_session_whose_answers_fail)
{
	converse_begin_up();
	converse_ask_line(1, 1, "hello", false);
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_REKEY});
	converse_pass(1000);
	CHECK_STR(converse_said(), "");
	converse_ask_line(2, 2, "more", false);
	converse_created("r2", 2);
	converse_done("r2", 2, false);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_REKEY});
	CHECK_STR(converse_said(), "close ");
	converse_pass(500);
	CHECK_STR(converse_said(), "connect ");
	converse_end();
}

/* The response of the first ask is created late, when the turn was asked again. */
TEST(a_late_response_does_not_adopt_the_audio_of_the_second_ask)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_act(CONVERSATION_CANCEL, 1);
	converse_ask_line(2, 7, "hello", true);
	CHECK_STR(converse_said(),
		  "item::[Bob]: before item::indeed item:ask_1:[Alice]: hello respond:1 ");
	converse_pass(1500);
	CHECK_STR(converse_said(), "respond:2 ");
	converse_created("r1", 1);
	CHECK_STR(converse_said(), "cancel:r1 ");
	converse_audio("r1", "i1", 480);
	converse_created("r2", 2);
	converse_audio("r1", "i1", 480);
	converse_audio("r2", "i2", 960);
	converse_done("r1", 1, false);
	converse_done("r2", 2, true);
	CHECK_STR(converse_said(), "audio:2:960 done:2 ");
	converse_end();
}

/* The silent answer is cancelled first, and nothing that it says late is taken for the new one. */
TEST(a_retry_cancels_the_silent_answer_before_it_asks)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_said();
	converse_act(CONVERSATION_CANCEL, 1);
	converse_ask_line(2, 7, "hello", true);
	CHECK_STR(converse_said(), "cancel:r1 ");
	converse_audio("r1", "i1", 480);
	converse_done("r1", 1, false);
	CHECK_STR(converse_said(), "respond:2 ");
	converse_audio("r1", "i1", 480);
	converse_created("r2", 2);
	converse_audio("r1", "i1", 480);
	converse_audio("r2", "i2", 960);
	converse_done("r2", 2, true);
	CHECK_STR(converse_said(), "audio:2:960 done:2 ");
	converse_end();
}

/* A server that returns no metadata: responses are matched in the order of the asks. */
TEST(a_server_without_metadata_is_matched_in_order)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_act(CONVERSATION_CANCEL, 1);
	converse_ask_line(2, 7, "hello", true);
	converse_pass(1500);
	converse_said();
	converse_created("r1", 0);
	converse_audio("r1", "i1", 480);
	converse_created("r2", 0);
	converse_audio("r2", "i2", 960);
	converse_done("r2", 0, true);
	CHECK_STR(converse_said(), "cancel:r1 audio:2:960 done:2 ");
	converse_end();
}

TEST(an_active_response_is_waited_for)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_said();
	converse_refuse(1, CONVERSATION_ERROR_ACTIVE);
	CHECK_STR(converse_said(), "cancel: ");
	converse_pass(499);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "respond:1 ");
	converse_refuse(0, CONVERSATION_ERROR_ACTIVE);
	/* Somebody's response is over: at once. */
	converse_done("foreign", 0, true);
	CHECK_STR(converse_said(), "respond:1 ");
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "done:1 ");
	/* One that is never over: the session is replaced. */
	converse_ask_line(2, 8, "hello", false);
	for (unsigned i = 0; i < 16; i++) {
		converse_refuse(2, CONVERSATION_ERROR_ACTIVE);
		converse_pass(500);
	}
	CHECK(strstr(converse_said(), "close silent:2 "));
	converse_end();
}

TEST(a_provider_that_does_not_answer_gets_a_new_session)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_pass(5200);
	converse_act(CONVERSATION_CANCEL, 1);
	converse_ask_line(2, 7, "hello", true);
	converse_said();
	converse_pass(2799);
	CHECK_STR(converse_said(), "respond:2 ");
	CHECK(!conversation_silent(converse.c));
	converse_pass(1);
	CHECK_STR(converse_said(), "close silent:2 ");
	CHECK(conversation_silent(converse.c));
	converse_pass(500);
	CHECK_STR(converse_said(), "connect ");
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED});
	converse_step((struct conversation_input){.type = CONVERSATION_CREATED});
	CHECK_STR(converse_said(), "describe: up item::[Bob]: before item::indeed "
				   "item:ask_2:[Alice]: hello respond:2 ");
	/* An answer that still comes is heard. */
	converse_created("r2", 2);
	converse_audio("r2", "i2", 480);
	CHECK(!conversation_silent(converse.c));
	converse_done("r2", 2, true);
	CHECK_STR(converse_said(), "audio:2:480 done:2 ");
	converse_end();
}

TEST(a_turn_that_never_was_is_deleted)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hel", false);
	converse_created("r1", 1);
	converse_audio("r1", "i1", 480);
	converse_said();
	converse_act(CONVERSATION_CANCEL, 1);
	converse_act(CONVERSATION_FORGET, 7);
	converse_ask_line(2, 8, "hello", false);
	CHECK_STR(converse_said(), "cancel:r1 delete:ask_1 ");
	converse_done("r1", 1, false);
	CHECK_STR(converse_said(), "delete:i1 item:ask_2:[Alice]: hello respond:2 ");
	converse_created("r2", 2);
	converse_audio("r2", "i2", 480);
	converse_done("r2", 2, true);
	converse_said();
	/* Over already: both at once. Once. */
	converse_act(CONVERSATION_FORGET, 8);
	converse_act(CONVERSATION_FORGET, 8);
	CHECK_STR(converse_said(), "delete:ask_2 delete:i2 ");
	converse_end();
}

TEST(a_question_that_is_put_anew_takes_the_place_of_the_old_one)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_act(CONVERSATION_CANCEL, 1);
	converse_done("r1", 1, false);
	converse_said();
	converse_ask_line(2, 7, "hello there", false);
	CHECK_STR(converse_said(), "delete:ask_1 item:ask_2:[Alice]: hello there respond:2 ");
	converse_end();
}

TEST(what_was_not_for_it_is_told_once_the_history_is_there)
{
	const struct engine_message m = {
		.role = ENGINE_USER, .speaker = "", .text = "[Bob]: it was cassius"};
	const struct conversation_input in = {.type = CONVERSATION_HEAR, .message = &m};

	converse_begin_up();
	converse_step(in);
	CHECK_STR(converse_said(), "");
	converse_ask_line(1, 7, "hello", false);
	converse_said();
	converse_step(in);
	CHECK_STR(converse_said(), "item::[Bob]: it was cassius ");
	converse_end();
}

TEST(a_lost_session_passes_its_question_to_the_next)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_ask_line(2, 8, "and", false);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("closed 1006")});
	CHECK_STR(converse_said(), "down:closed 1006 ");
	converse_pass(500);
	converse_come_up();
	CHECK_STR(converse_said(), "connect describe: up item::[Bob]: before item::indeed "
				   "item:ask_1:[Alice]: hello respond:1 ");
	converse_refuse(1, CONVERSATION_ERROR_FATAL);
	CHECK_STR(converse_said(), "close down:no ");
	converse_pass(1000);
	converse_come_up();
	converse_said();
	/* It may be the question that ends them. */
	converse_refuse(1, CONVERSATION_ERROR_FATAL);
	CHECK_STR(converse_said(), "close failed:1:no down:no ");
	converse_pass(2000);
	converse_come_up();
	converse_created("r2", 2);
	converse_audio("r2", "i2", 480);
	converse_said();
	/* Half of it was said. */
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("closed 1006")});
	CHECK_STR(converse_said(), "failed:2:closed 1006 down:closed 1006 ");
	converse_end();
}

TEST(rule_001_a_fatal_error_ends_the_session)
{
	converse_begin_up();
	converse_refuse(0, CONVERSATION_ERROR_FATAL);
	CHECK_STR(converse_said(), "close down:no ");
	CHECK(!conversation_up(converse.c));
	converse_end();
}

TEST(rule_002_other_errors_keep_the_session)
{
	static const enum conversation_error errors[] = {
		CONVERSATION_ERROR_ACTIVE, CONVERSATION_ERROR_NOT_ACTIVE, CONVERSATION_ERROR_OTHER};

	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		converse_begin_up();
		converse_refuse(0, errors[i]);
		CHECK_STR(converse_said(), "");
		CHECK(conversation_up(converse.c));
		/* One that is about nothing of ours ends no answer. */
		converse_ask_line(1, 7, "hello", false);
		converse_created("r1", 1);
		converse_said();
		converse_refuse(0, errors[i]);
		converse_audio("r1", "i1", 480);
		converse_done("r1", 1, true);
		CHECK_STR(converse_said(), "audio:1:480 done:1 ");
		converse_end();
	}
}

TEST(rule_004_an_answer_without_a_sign_of_it_blocks_nobody_for_long)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_act(CONVERSATION_CANCEL, 1);
	converse_ask_line(2, 8, "more", false);
	converse_said();
	converse_pass(1399);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "item:ask_2:[Alice]: more respond:2 ");
	/* What took its place is not ended by what comes of it late. */
	converse_created("r2", 2);
	converse_done("r1", 1, false);
	converse_audio("r2", "i2", 480);
	converse_done("r2", 2, true);
	CHECK_STR(converse_said(), "audio:2:480 done:2 ");
	converse_end();
}

TEST(an_ask_has_a_deadline)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "hello"};
	const struct engine_ask ask = {
		.id = 1, .turn = 1, .messages = &m, .n = 1, .deadline = 3000 * NS_PER_MS};

	CHECK_INT(converse_begin(), 0);
	converse_step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
	converse.log[0] = '\0';
	converse_pass(2000);
	CHECK(strstr(converse_said(), "failed:1:the deadline of the ask has passed "));
	converse_end();
}

TEST(an_answer_without_end_is_failed)
{
	const char *at = NULL;
	unsigned s = 0;

	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	for (; s < 3600 && !at; s++) {
		converse_audio("r1", "i1", 2);
		converse_pass(1000);
		at = strstr(converse_said(), "cancel:r1 ");
	}
	CHECK_INT(s, 600);
	/* What follows is nobody's. */
	converse_audio("r1", "i1", 2);
	CHECK_STR(converse_said(), "");
	converse_end();
}

TEST(rule_007_an_answer_is_cut_at_what_was_played)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_audio("r1", "i1", 480);
	converse_said();
	converse_act(CONVERSATION_TRUNCATE, 1); /* 5 ms of 10 */
	converse_step(
		(struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = 1, .ms = 99999});
	CHECK_STR(converse_said(), "truncate:i1:5 truncate:i1:10 ");
	converse_end();
}

TEST_OOM(a_conversation_without_memory)
{
	int err;

	CHECK_OOM(converse_begin(), converse.c = conversation_free(converse.c));
	converse_come_up();
	err = converse_step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
							.text = slice_str("be")});
	CHECK_OOM(err, converse.c = conversation_free(converse.c));
	err = converse_ask_line(1, 7, "hello", false);
	CHECK_OOM(err, converse.c = conversation_free(converse.c));
	converse_end();
}
