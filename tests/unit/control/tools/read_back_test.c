/* The words that read a call back, and answers that contain them. */
#include "control/tools/read_back.h"

#include <string.h>

#include "tests/test.h"

static const char *words_of(const char *tool, const char *arguments)
{
	static char buf[TOOL_READ_BACK_MAX];

	tool_read_back(tool, arguments, buf);
	return buf;
}

TEST(a_call_is_read_back_by_its_tool_and_all_values)
{
	CHECK_STR(words_of("voice_leave", "{}"), "voice leave");
	CHECK_STR(words_of("soundboard", "{\"name\":\"AirHorn\"}"), "soundboard, AirHorn");
	CHECK_STR(words_of("bank__sendMoney", "{\"amount\":5.5,\"toUser\":\"Bob\"}"),
		  "bank send money, amount 5.5, to user Bob");
	CHECK_STR(words_of("memory_write",
			   "{\"items\":[{\"text\":\"tea is hot\",\"tags\":[\"a\",\"b\"]}]}"),
		  "memory write, text tea is hot, tags a, tags b");
	CHECK_STR(words_of("memory_forget", "{\"last\":true,\"none\":null}"),
		  "memory forget, last true");
}

TEST(a_call_that_is_too_long_to_be_said_is_told)
{
	char arguments[4096] = "{\"a\":\"", buf[TOOL_READ_BACK_MAX];

	for (unsigned i = 0; i < 67; i++)
		strcat(arguments, "a word ");
	strcat(arguments, "\"}");
	CHECK(tool_read_back("ask", arguments, buf));
	CHECK(!tool_read_back("ask_somebody_who_works_longer_than_others", arguments, buf));
	snprintf(arguments, sizeof arguments, "{\"a\":\"%0900d\"}", 1);
	CHECK(!tool_read_back("ask", arguments, buf));
	CHECK_INT(strlen(buf), TOOL_READ_BACK_MAX - 1);
}

TEST(an_answer_contains_the_words_in_their_order)
{
	static const char words[] = "bank send money, amount 5, to user Bob O'Hara";

	CHECK(tool_is_read_back(words,
				"Bank, send money: amount 5, to user Bob O\xe2\x80\x99Hara?"));
	CHECK(tool_is_read_back(words, "So I would ask the bank to send the money, an amount of 5 "
				       "dollars to the user BOB O'Hara. Yes?"));
	CHECK(tool_is_read_back(words, "The bank, bank send money amount 5 to user Bob O'Hara."));
	CHECK(!tool_is_read_back(words, "Bank send money amount 50 to user Bob O'Hara."));
	CHECK(!tool_is_read_back(words, "Bob O'Hara: user to 5, amount money, send bank."));
	CHECK(!tool_is_read_back(words,
				 "Bank, send me a line of many words about the money, amount "
				 "5, to user Bob O'Hara."));
	CHECK(!tool_is_read_back(words, "Bank send money amount 5 to user Bob"));
	CHECK(!tool_is_read_back(words, "") && !tool_is_read_back("", "Yes?"));
}

TEST(words_of_scripts_without_blanks_are_found_in_a_sentence)
{
	CHECK(tool_is_read_back(
		"memory write, \u8336\u306f\u71b1\u3044",
		"memory write\u300c\u8336\u306f\u71b1\u3044\u300d\u3067\u3059\u304b"));
	CHECK(!tool_is_read_back("memory write, \u8336\u306f\u71b1\u3044",
				 "memory write\u300c\u8336\u306f\u51b7\u305f\u3044\u300d"));
	CHECK(tool_is_read_back("send, \u00dcber M\u00dcNCHEN",
				"Soll ich send \u00fcber m\u00fcnchen?"));
}

TEST_OOM(without_memory_nothing_was_read_back)
{
	char buf[TOOL_READ_BACK_MAX];

	tool_read_back("send", "{\"to\":\"Bob\"}", buf);
	CHECK(!tool_is_read_back("send, Bob", "Shall I send it to Eve?"));
}
