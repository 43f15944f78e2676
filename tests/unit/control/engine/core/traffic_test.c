#include "tests/test.h"

#include "control/engine/core/traffic.h"

static const struct traffic nothing;

TEST(believable_usage_stays_as_it_was_told)
{
	const struct traffic answer = {
		.text_in = 4000, .text_out = 200, .sound_in_ms = 3000, .sound_out_ms = 5000};
	struct usage u = {.n = {[PRICE_TEXT_IN] = 900,
				[PRICE_TEXT_CACHED] = 100,
				[PRICE_TEXT_OUT] = 50,
				[PRICE_AUDIO_IN] = 96,
				[PRICE_AUDIO_OUT] = 160,
				[PRICE_SECONDS] = 8}};
	struct usage told = u;

	CHECK(!traffic_bound(&nothing, &answer, &u));
	CHECK(memcmp(&u, &told, sizeof u) == 0);
}

TEST(usage_of_a_long_conversation_is_believed)
{
	const struct traffic context = {.text_in = 60000, .sound_out_ms = 600000},
			     answer = {.text_in = 40, .text_out = 200};
	struct usage u = {.n = {[PRICE_TEXT_IN] = 20000, [PRICE_AUDIO_CACHED] = 12000}};

	CHECK(!traffic_bound(&context, &answer, &u));
	CHECK_INT(u.n[PRICE_TEXT_IN], 20000);
	CHECK_INT(u.n[PRICE_AUDIO_CACHED], 12000);
}

TEST(usage_that_cannot_be_is_lowered)
{
	const struct traffic answer = {.text_in = 100, .text_out = 10, .sound_out_ms = 1000};
	struct usage u;

	for (unsigned i = 0; i < PRICE_KINDS; i++)
		u.n[i] = UINT64_MAX;
	CHECK(traffic_bound(&nothing, &answer, &u));
	CHECK(u.n[PRICE_TEXT_IN] + u.n[PRICE_TEXT_CACHED] < 5000);
	CHECK(u.n[PRICE_TEXT_OUT] < 17000);
	CHECK(u.n[PRICE_AUDIO_IN] + u.n[PRICE_AUDIO_CACHED] < 200);
	CHECK(u.n[PRICE_AUDIO_OUT] < 200);
	CHECK_INT(u.n[PRICE_IMAGE_IN], 0);
	CHECK_INT(u.n[PRICE_CHARACTERS], 100);
	CHECK_INT(u.n[PRICE_SECONDS], 3);
}

TEST(no_context_is_longer_than_any_model_has)
{
	const struct traffic context = {.text_in = UINT64_C(1) << 40,
					.sound_in_ms = UINT64_C(1) << 40};
	struct usage u = {.n = {[PRICE_TEXT_IN] = UINT64_MAX, [PRICE_AUDIO_IN] = UINT64_MAX}};

	CHECK(traffic_bound(&context, &nothing, &u));
	CHECK_INT(u.n[PRICE_TEXT_IN], 262144);
	CHECK_INT(u.n[PRICE_AUDIO_IN], 262144);
}

TEST(an_estimate_counts_a_model_in_one_way)
{
	const struct traffic t = {
		.text_in = 401, .text_out = 40, .sound_in_ms = 2000, .sound_out_ms = 3000};
	const bool tokens[PRICE_KINDS] =
		{[PRICE_TEXT_IN] = true, [PRICE_TEXT_OUT] = true, [PRICE_AUDIO_OUT] = true},
		   characters[PRICE_KINDS] = {[PRICE_AUDIO_OUT] = true, [PRICE_CHARACTERS] = true},
		   seconds[PRICE_KINDS] = {[PRICE_AUDIO_IN] = true, [PRICE_SECONDS] = true},
		   none[PRICE_KINDS] = {0};
	struct usage u;

	CHECK(traffic_estimate(&t, tokens, &u));
	CHECK(u.estimated);
	CHECK_INT(u.n[PRICE_TEXT_IN], 101);
	CHECK_INT(u.n[PRICE_TEXT_OUT], 10);
	CHECK_INT(u.n[PRICE_AUDIO_OUT], 60);
	CHECK_INT(u.n[PRICE_AUDIO_IN], 0);
	CHECK(traffic_estimate(&t, characters, &u));
	CHECK_INT(u.n[PRICE_CHARACTERS], 401);
	CHECK_INT(u.n[PRICE_AUDIO_OUT], 0);
	CHECK(traffic_estimate(&t, seconds, &u));
	CHECK_INT(u.n[PRICE_SECONDS], 5);
	CHECK_INT(u.n[PRICE_AUDIO_IN], 0);
	CHECK(!traffic_estimate(&t, none, &u));
	CHECK(!traffic_estimate(&nothing, tokens, &u));
}

TEST(an_ask_counts_all_that_it_sends)
{
	const struct engine_image image = {.type = "image/png"};
	const struct engine_message m[] = {
		{.role = ENGINE_USER, .speaker = "Ann", .text = "hello"},
		{.role = ENGINE_CALL, .speaker = "", .text = "{}", .tool = "time"},
		{.role = ENGINE_USER, .text = "see", .images = &image, .n_images = 1}};
	const struct engine_tool tool = {.name = "time", .description = "Tells", .schema = "{}"};
	const uint8_t pcm[4800] = {0};
	const struct slice sound[] = {{pcm, sizeof pcm}, {pcm, sizeof pcm}};
	const struct engine_ask ask = {.instructions = "Be brief.",
				       .messages = m,
				       .n = 3,
				       .tools = &tool,
				       .n_tools = 1,
				       .sound = sound,
				       .n_sound = 2};
	struct traffic t = traffic_of_ask(&ask);

	CHECK_INT(t.text_in, 9 + 8 + 6 + 3 + 11);
	CHECK_INT(t.images, 1);
	CHECK_INT(t.sound_in_ms, 200);
}

TEST(images_may_be_counted_as_text)
{
	const struct traffic t = {.text_in = 40, .images = 2};
	const bool text[PRICE_KINDS] = {[PRICE_TEXT_IN] = true},
		   both[PRICE_KINDS] = {[PRICE_TEXT_IN] = true, [PRICE_IMAGE_IN] = true};
	struct usage u = {.n = {[PRICE_TEXT_IN] = 9000}};

	CHECK(!traffic_bound(&nothing, &t, &u));
	CHECK_INT(u.n[PRICE_TEXT_IN], 9000);
	CHECK(traffic_estimate(&t, text, &u));
	CHECK_INT(u.n[PRICE_TEXT_IN], 2010);
	CHECK(traffic_estimate(&t, both, &u));
	CHECK_INT(u.n[PRICE_TEXT_IN], 10);
	CHECK_INT(u.n[PRICE_IMAGE_IN], 2000);
}
