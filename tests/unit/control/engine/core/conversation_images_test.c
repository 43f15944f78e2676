/* Images in a conversation: with the message that has them, wherever it stands. */
#include "control/engine/core/conversation.h"

#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

static const struct engine_image jpeg = {"image/jpeg", {(const uint8_t *)"abc", 3}};
static const struct engine_image png = {"image/png", {(const uint8_t *)"def", 3}};
static const struct engine_message talk[] = {
	{.role = ENGINE_USER, .speaker = "Bob", .text = "my cat", .images = &png, .n_images = 1},
	{.role = ENGINE_USER, .speaker = "", .text = "what is it", .images = &jpeg, .n_images = 1},
};

static void begin(bool images)
{
	struct conversation_caps caps = converse_all_caps();

	caps.images = images;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse.log[0] = '\0';
}

static int ask(uint32_t id, struct slice *sound)
{
	const struct engine_ask a = {.id = id,
				     .turn = id,
				     .instructions = "",
				     .model = "",
				     .voice = "",
				     .messages = talk,
				     .n = 2,
				     .sound = sound,
				     .n_sound = sound ? 1 : 0,
				     .sound_label = "[Bob]:"};

	return converse_step(
		(struct conversation_input){.type = CONVERSATION_ASK, .ask = id, .request = &a});
}

TEST(a_new_session_is_shown_the_images_of_the_history_and_of_the_question)
{
	begin(true);
	CHECK_INT(ask(1, NULL), 0);
	CHECK_STR(converse_said(), "image:image/png item::[Bob]: my cat image:image/jpeg "
				   "item:ask_1:what is it respond:1 ");
	converse_end();
}

TEST(images_of_a_spoken_question_come_before_its_sound)
{
	uint8_t pcm[4800] = {0};
	struct slice sound = {pcm, sizeof pcm};

	begin(true);
	CHECK_INT(ask(1, &sound), 0);
	CHECK_STR(converse_said(), "image:image/png item::[Bob]: my cat image:image/jpeg "
				   "item:ask_1:[Bob]: activity append:4800 commit respond:1 ");
	converse_end();
}

TEST(what_a_session_is_told_outside_of_an_ask_has_its_images)
{
	begin(true);
	CHECK_INT(ask(1, NULL), 0);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_HEAR, .message = &talk[0]});
	CHECK_STR(converse_said(), "image:image/png item::[Bob]: my cat ");
	converse_end();
}

TEST(a_dialect_without_images_is_sent_none)
{
	begin(false);
	CHECK_INT(ask(1, NULL), 0);
	converse_step((struct conversation_input){.type = CONVERSATION_HEAR, .message = &talk[0]});
	CHECK(!strstr(converse_said(), "image:"));
	converse_end();
}
