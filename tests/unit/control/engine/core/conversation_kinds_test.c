/* The conversation with providers of other kinds: those that hear, that cannot cancel, that read
 * out. */
#include "control/engine/core/conversation.h"

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

/* ---- questions that are sound ---- */

static int ask_sound(uint32_t id, uint32_t turn, size_t bytes)
{
	static const uint8_t pcm[96000];
	const struct slice sound[] = {{pcm, bytes / 2}, {pcm, bytes - bytes / 2}};
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "Alice", .text = "hello"};
	const struct engine_ask ask = {.id = id,
				       .turn = turn,
				       .messages = &m,
				       .n = 1,
				       .sound = sound,
				       .n_sound = 2,
				       .sound_label = "[Alice]:"};

	return converse_step(
		(struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static void name_sound(const char *item)
{
	converse_step((struct conversation_input){.type = CONVERSATION_ITEM, .item = item});
}

TEST(rule_009_a_voice_that_hears_gets_the_sound_of_the_question)
{
	converse_begin_up();
	CHECK_INT(ask_sound(1, 7, 9600), 0);
	CHECK_STR(converse_said(),
		  "item:ask_1:[Alice]: activity append:4800 append:4800 commit respond:1 ");
	/* Less than the provider takes is said in words. */
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_said();
	ask_sound(2, 8, 4798);
	CHECK_STR(converse_said(), "item:ask_2:[Alice]: hello respond:2 ");
	converse_end();
}

TEST(sound_of_a_turn_that_never_was_is_deleted_when_it_has_a_name)
{
	converse_begin_up();
	ask_sound(1, 7, 9600);
	converse_created("r1", 1);
	converse_said();
	converse_act(CONVERSATION_FORGET, 7);
	CHECK_STR(converse_said(), "cancel:r1 delete:ask_1 ");
	name_sound("u1");
	CHECK_STR(converse_said(), "delete:u1 ");
	name_sound("u2");
	CHECK_STR(converse_said(), "");
	converse_end();
}

TEST(a_provider_that_answers_a_commit_is_not_asked_twice)
{
	struct conversation_caps caps = converse_all_caps();

	caps.commit_answers = true;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_said();
	ask_sound(1, 7, 9600);
	CHECK_STR(converse_said(), "item:ask_1:[Alice]: activity append:4800 append:4800 commit ");
	converse_created("g1", 0);
	converse_audio("g1", "g1", 480);
	converse_done("g1", 0, true);
	CHECK_STR(converse_said(), "audio:1:480 done:1 ");
	converse_end();
}

TEST(sound_that_was_lost_with_its_session_is_sent_again)
{
	converse_begin_up();
	ask_sound(1, 7, 9600);
	name_sound("u1");
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	converse_said();
	converse_pass(500);
	converse_come_up();
	CHECK_STR(converse_said(), "connect describe: up item:ask_1:[Alice]: activity append:4800 "
				   "append:4800 commit respond:1 ");
	converse_end();
}

/* ---- providers without ids, cancel and changes ---- */

TEST(an_answer_that_cannot_be_cancelled_is_interrupted_by_the_next_question)
{
	CHECK_INT(converse_begin_as(converse_plain_caps()), 0);
	converse_pass(0);
	converse_step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
						  .text = slice_str("be")});
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED});
	CHECK_STR(converse_said(), "connect describe:be ");
	converse_step((struct conversation_input){.type = CONVERSATION_CREATED});
	converse_ask_line(1, 7, "hello", false);
	converse_created("g1", 0);
	converse_audio("g1", "g1", 480);
	converse_said();
	converse_act(CONVERSATION_CANCEL, 1);
	converse_audio("g1", "g1", 480);
	converse_ask_line(2, 8, "stop", false);
	CHECK_STR(converse_said(), "item:ask_2:[Alice]: stop respond:2 ");
	converse_audio("g1", "g1", 480);
	converse_done("g1", 0, false);
	converse_created("g2", 0);
	converse_audio("g2", "g2", 960);
	converse_done("g2", 0, true);
	CHECK_STR(converse_said(), "audio:2:960 done:2 ");
	converse_end();
}

TEST(an_answer_that_the_provider_cuts_is_over_as_far_as_it_goes)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_audio("r1", "i1", 480);
	converse_step(
		(struct conversation_input){.type = CONVERSATION_INTERRUPTED, .response = "r1"});
	converse_said();
	converse_done("r1", 1, false);
	CHECK_STR(converse_said(), "done:1:cut ");
	converse_end();
}

TEST(new_instructions_reach_a_session_that_cannot_change_by_the_next_one)
{
	CHECK_INT(converse_begin_as(converse_plain_caps()), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("g1", 0);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
						  .text = slice_str("new")});
	CHECK_STR(converse_said(), "");
	converse_audio("g1", "g1", 480);
	converse_done("g1", 0, true);
	converse_said();
	converse_pass(30000);
	CHECK_STR(converse_said(), "next-connect ");
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED, .session = 1});
	CHECK_STR(converse_said(), "next-describe:new ");
	converse_step((struct conversation_input){.type = CONVERSATION_CREATED, .session = 1});
	CHECK_STR(converse_said(), "close rolled ");
	converse_end();
}

TEST(rule_010_words_that_are_to_be_said_exactly_need_no_conversation)
{
	struct conversation_caps caps = converse_all_caps();

	caps.lines = true;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_said();
	converse_ask_line(1, 7, "ten past four", false);
	CHECK_STR(converse_said(), "say:ten past four ");
	converse_created("r1", 1);
	converse_audio("r1", "i1", 480);
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "audio:1:480 done:1 ");
	/* A failure is told, and nothing else is tried. */
	converse_ask_line(2, 7, "half past", false);
	converse_refuse(2, CONVERSATION_ERROR_OTHER);
	CHECK_STR(converse_said(), "say:half past failed:2:no ");
	converse_end();
}

TEST(a_quiet_session_is_kept_alive)
{
	struct conversation_caps caps = converse_all_caps();

	caps.keepalive_ms = 10000;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_said();
	converse_pass(9999);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "keepalive ");
	converse_pass(5000);
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_said();
	converse_pass(9999);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "keepalive ");
	converse_end();
}

TEST(an_answer_that_stops_within_is_failed)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_pass(5000);
	converse_audio("r1", "i1", 480);
	converse_said();
	converse_pass(7999);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "failed:1:the provider stopped within its answer cancel:r1 ");
	converse_end();
}

TEST(an_answer_of_several_items_is_cut_where_it_was_played)
{
	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_audio("r1", "i1", 480);
	converse_audio("r1", "i2", 480);
	converse_audio("r1", "i3", 480);
	converse_said();
	converse_step(
		(struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = 1, .ms = 15});
	CHECK_STR(converse_said(), "truncate:i2:5 delete:i3 ");
	converse_end();
}

static void add_text(const char *response, const char *item, const char *text)
{
	converse_step((struct conversation_input){.type = CONVERSATION_TEXT,
						  .response = response,
						  .item = item,
						  .text = slice_str(text)});
}

static void hear_only(uint32_t ask, const char *text)
{
	converse_step((struct conversation_input){
		.type = CONVERSATION_TRUNCATE, .ask = ask, .text = slice_str(text)});
}

/* A session that writes, and whose words another voice reads out. */
static void begin_written(void)
{
	struct conversation_caps caps = converse_all_caps();

	caps.truncate = false;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	add_text("r1", "i1", "one two ");
	add_text("r1", "i2", "three four");
}

TEST(an_answer_that_was_written_is_replaced_by_what_was_heard_of_it)
{
	begin_written();
	converse_done("r1", 1, true);
	/* Before a line that came later, hence the place. */
	converse_step((struct conversation_input){
		.type = CONVERSATION_HEAR,
		.message = &(struct engine_message){
			.role = ENGINE_USER, .speaker = "Bob", .text = "hm"}});
	converse_said();
	hear_only(1, "one");
	CHECK_STR(converse_said(), "item:heard_1<i2:one delete:i1 delete:i2 ");
	/* Once; and what stands there now is deleted with its turn. */
	hear_only(1, "one");
	CHECK_STR(converse_said(), "");
	converse_act(CONVERSATION_FORGET, 7);
	CHECK_STR(converse_said(), "delete:ask_1 delete:heard_1 ");
	converse_end();
}

TEST(a_written_answer_that_still_comes_is_replaced_at_its_end)
{
	begin_written();
	converse_act(CONVERSATION_CANCEL, 1);
	converse_said();
	hear_only(1, "one");
	converse_ask_line(2, 8, "and now", false);
	add_text("r1", "i2", " five");
	CHECK_STR(converse_said(), "");
	converse_done("r1", 1, false);
	CHECK_STR(converse_said(), "item:heard_1<i2:one delete:i1 delete:i2 "
				   "item:ask_2:[Alice]: and now respond:2 ");
	converse_end();
}

TEST(a_written_answer_of_which_nothing_was_heard_is_deleted)
{
	begin_written();
	converse_done("r1", 1, true);
	converse_said();
	hear_only(1, "");
	CHECK_STR(converse_said(), "delete:i1 delete:i2 ");
	converse_end();
}

TEST(a_written_answer_of_a_lost_session_is_not_replaced)
{
	begin_written();
	converse_act(CONVERSATION_CANCEL, 1);
	hear_only(1, "one");
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	CHECK_STR(converse_said(), "down:gone ");
	converse_end();
}

/* A provider may divide an answer into more items than are remembered. */
TEST(an_answer_of_many_items_is_cut_at_the_item_that_played)
{
	char name[8];

	converse_begin_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	for (unsigned i = 1; i <= CONVERSATION_ITEMS + 1; i++) {
		snprintf(name, sizeof name, "i%u", i);
		converse_audio("r1", name, 480);
	}
	converse_said();
	converse_step(
		(struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = 1, .ms = 45});
	CHECK_STR(converse_said(), "truncate:i5:5 delete:i6 delete:i7 delete:i8 ");
	converse_step(
		(struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = 1, .ms = 85});
	CHECK_STR(converse_said(), "truncate:i8:10 ");
	converse_end();
}
