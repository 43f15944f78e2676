/* Asks that are kept: everything that they point to is copied. */
#include "control/engine/core/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/usage.h"
#include "tests/test.h"

static int copy_all(struct engine_ask **out, char *text, char *pixels)
{
	const struct engine_image image = {"image/jpeg", {(const uint8_t *)pixels, 3}};
	const struct engine_message messages[] = {
		{.role = ENGINE_USER,
		 .speaker = "Bob",
		 .text = text,
		 .images = &image,
		 .n_images = 1},
		{.role = ENGINE_CALL, .speaker = "", .text = "{}", .call = "c1", .tool = "look"},
		{.role = ENGINE_RESULT, .speaker = "", .text = "no", .call = "c1", .failed = true},
		{.role = ENGINE_USER,
		 .speaker = "",
		 .text = "and?",
		 .images = &image,
		 .n_images = 1}};
	const struct engine_tool tool = {"look", "Looks.", "{\"type\":\"object\"}"};

	return engine_ask_copy(out, &(struct engine_ask){.id = 3,
							 .instructions = "be",
							 .model = "m",
							 .answer_schema = "{}",
							 .purpose = PURPOSE_MEMORY,
							 .output_tokens = 9,
							 .messages = messages,
							 .n = 4,
							 .tools = &tool,
							 .n_tools = 1});
}

TEST(a_copied_ask_borrows_nothing)
{
	char text[] = "hello", pixels[] = "abc";
	struct engine_ask *ask = NULL;

	CHECK_INT(copy_all(&ask, text, pixels), 0);
	CHECK_STR(ask->answer_schema, "{}");
	memset(text, 'x', 5);
	memset(pixels, 'x', 3);
	CHECK_STR(ask->messages[0].text, "hello");
	CHECK_STR(ask->messages[0].speaker, "Bob");
	CHECK_INT(ask->messages[0].images[0].data.n, 3);
	CHECK(memcmp(ask->messages[0].images[0].data.p, "abc", 3) == 0);
	CHECK_STR(ask->messages[1].tool, "look");
	CHECK_STR(ask->messages[2].call, "c1");
	CHECK(ask->messages[2].failed);
	CHECK_STR(ask->messages[3].images[0].type, "image/jpeg");
	CHECK_STR(ask->tools[0].schema, "{\"type\":\"object\"}");
	CHECK_STR(ask->instructions, "be");
	CHECK_STR(ask->voice, "");
	CHECK_INT(ask->output_tokens, 9);
	free(ask);
}

TEST(an_ask_with_too_much_is_not_copied)
{
	const struct engine_message m = {
		.role = ENGINE_USER, .text = "", .n_images = ENGINE_IMAGES_MAX + 1};
	struct engine_ask *ask = NULL;

	CHECK_INT(engine_ask_copy(&ask, &(struct engine_ask){.messages = &m}), EINVAL);
	CHECK_INT(engine_ask_copy(&ask, &(struct engine_ask){.messages = &m, .n = 1}), EINVAL);
	CHECK(!ask);
}

TEST(kinds_of_prices_are_those_of_the_records)
{
	static const char words[] = PRICE_WORDS;
	unsigned n = 1;

	for (const char *p = words; *p; p++)
		n += *p == '|';
	CHECK_INT(n, PRICE_KINDS);
	CHECK(strncmp(words, "text_in|text_cached|text_out|", 29) == 0);
}

TEST_OOM(an_ask_is_copied_or_not)
{
	char text[] = "a", pixels[] = "abc";
	struct engine_ask *ask = NULL;
	int err = copy_all(&ask, text, pixels);

	free(ask);
	CHECK_OOM(err, (void)0);
}
