#include "proto/discord.h"
#include "tests/test.h"

TEST(discord_close_codes_say_what_to_do)
{
	static const unsigned fatal[] = {4004, 4010, 4011, 4012, 4013, 4014};
	static const unsigned identify[] = {4003, 4005, 4007, 4009};
	static const unsigned resume[] = {1000, 1001, 1006, 4000, 4001, 4002, 4008, 4999, 0};

	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		CHECK_INT(discord_close_action(fatal[i]), DISCORD_CLOSE_FATAL);
	for (size_t i = 0; i < sizeof identify / sizeof identify[0]; i++)
		CHECK_INT(discord_close_action(identify[i]), DISCORD_CLOSE_IDENTIFY);
	for (size_t i = 0; i < sizeof resume / sizeof resume[0]; i++)
		CHECK_INT(discord_close_action(resume[i]), DISCORD_CLOSE_RESUME);
	CHECK_STR(discord_close_text(1006), "the connection was lost");
}

TEST(discord_intents_are_the_documented_bits)
{
	CHECK_INT(DISCORD_INTENT_GUILDS | DISCORD_INTENT_GUILD_VOICE_STATES |
			  DISCORD_INTENT_GUILD_MESSAGES | DISCORD_INTENT_MESSAGE_CONTENT,
		  33409);
}

TEST(discord_snowflakes_are_decimal_and_whole)
{
	uint64_t v = 7;

	CHECK(discord_snowflake("41771983423143937", &v) && v == 41771983423143937ull);
	CHECK(discord_snowflake("18446744073709551615", &v) && v == UINT64_MAX);
	v = 7;
	CHECK(!discord_snowflake("18446744073709551616", &v));
	CHECK(!discord_snowflake("", &v));
	CHECK(!discord_snowflake(NULL, &v));
	CHECK(!discord_snowflake("0", &v));
	CHECK(!discord_snowflake("-1", &v));
	CHECK(!discord_snowflake("1 ", &v));
	CHECK(v == 7);
	CHECK(discord_u64("0", &v) && v == 0);
}

TEST(an_account_has_an_id_of_17_digits_at_least)
{
	CHECK(!discord_is_account(0) && !discord_is_account(5) && !discord_is_account(1 << 22));
	CHECK(!discord_is_account(9999999999999999));
	CHECK(discord_is_account(10000000000000000) && discord_is_account(41771983423143937));
	CHECK(discord_is_account(INT64_MAX) && !discord_is_account(UINT64_MAX));
}

TEST(discord_texts_exist_for_known_numbers_only)
{
	CHECK_STR(discord_permission_text(DISCORD_BIT_CONNECT), "connect");
	CHECK(!discord_permission_text(63));
	CHECK(discord_error_text(10062) != NULL);
	CHECK(!discord_error_text(1));
}
