/* The words that read a call back, the question that they make, and answers that are this question.
 */
#include "control/tools/read_back.h"

#include <stdio.h>
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
	CHECK_STR(words_of("pay", "{\"amount\":250000.75,\"rate\":0.1}"),
		  "pay, amount 250000.75, rate 0.1");
	CHECK_STR(words_of("memory_write",
			   "{\"items\":[{\"text\":\"tea is hot\",\"tags\":[\"a\",\"b\"]}]}"),
		  "memory write, items, text tea is hot, tags a, tags b");
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

TEST(the_question_names_the_call_in_the_language_of_the_room)
{
	char buf[TOOL_QUESTION_MAX], arguments[TOOL_READ_BACK_MAX + 20];

	CHECK(tool_question("send", "{\"to\":\"Bob\"}", "", buf));
	CHECK_STR(buf, "Shall I do this: send, Bob?");
	CHECK(tool_question("send", "{\"to\":\"Bob\"}", "de", buf));
	CHECK_STR(buf, "Soll ich das tun: send, Bob?");
	snprintf(arguments, sizeof arguments, "{\"to\":\"%0473d\"}", 1);
	CHECK(tool_question("send", arguments, "ru", buf));
	snprintf(arguments, sizeof arguments, "{\"to\":\"%0474d\"}", 1);
	CHECK(!tool_question("send", arguments, "ru", buf));
}

static const char *question_of(const char *tool, const char *arguments, const char *language)
{
	static char buf[TOOL_QUESTION_MAX];

	return tool_question(tool, arguments, language, buf) ? buf : "(not whole)";
}

TEST(a_call_of_our_own_tools_is_asked_about_in_plain_words)
{
	CHECK_STR(question_of("memory_write",
			      "{\"namespace\":\"guild\",\"items\":[{\"text\":\"tea is hot\"}]}",
			      "en"),
		  "Shall I do this: remember this, for everybody here, \"tea is hot\"?");
	CHECK_STR(question_of("memory_write",
			      "{\"namespace\":\"me\",\"items\":[{\"text\":\"tea is hot\",\"tags\":["
			      "\"drinks\"]},{\"text\":\"I am Ana\"}]}",
			      "en"),
		  "Shall I do this: remember this, for you alone, \"tea is hot\", tags drinks, \"I "
		  "am "
		  "Ana\"?");
	/* Another namespace is told as it is. */
	CHECK_STR(question_of("memory_write",
			      "{\"namespace\":\"x\",\"items\":[{\"text\":\"tea\"}]}", "en"),
		  "Shall I do this: remember this, namespace x, \"tea\"?");
	CHECK_STR(question_of("memory_forget", "{\"query\":\"bike\"}", "en"),
		  "Shall I do this: forget this, \"bike\"?");
	CHECK_STR(question_of("memory_forget", "{\"last\":true}", "de"),
		  "Soll ich das tun: dies vergessen, was du mir zuletzt gesagt hast?");
	CHECK_STR(question_of("memory_forget", "{\"last\":false,\"id\":7}", "en"),
		  "Shall I do this: forget this, last false, id 7?");
	CHECK_STR(question_of("voice_leave", "{}", "fr"),
		  "Dois-je faire ceci : quitter le salon vocal ?");
	CHECK_STR(question_of("music_change", "{\"volume\":50,\"loop\":\"track\"}", "en"),
		  "Shall I do this: change how the music plays, volume 50, loop track?");
}

/* What fits in short fits in plain words of every language. */
TEST(a_plain_question_is_whole)
{
	static const char *const languages[] = {"en", "de", "es", "fr", "it", "nl",
						"pl", "pt", "ru", "ja", "ko", "zh"};
	char arguments[600], buf[TOOL_QUESTION_MAX], raw[TOOL_READ_BACK_MAX];

	snprintf(arguments, sizeof arguments,
		 "{\"namespace\":\"guild\",\"items\":[{\"text\":\"%0430d\"}]}", 1);
	CHECK(tool_read_back("memory_write", arguments, raw));
	for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
		CHECK(tool_question("memory_write", arguments, languages[i], buf));
}

TEST(an_answer_is_the_question_word_for_word)
{
	static const char question[] =
		"Shall I do this: bank send money, amount 5, to user Bob O'Hara?";

	CHECK(tool_is_question(question, question, 0));
	CHECK(tool_is_question(question,
			       "shall I do this? Bank: send money (amount 5) to user "
			       "BOB O\xe2\x80\x99Hara.",
			       0));
	CHECK(tool_is_question(question,
			       "Of course, Alice! Shall I do this: bank send money, "
			       "amount 5, to user Bob O'Hara?",
			       0));
	CHECK(!tool_is_question(question,
				"Shall I do this: bank send money, amount 50, to user "
				"Bob O'Hara?",
				0));
	CHECK(!tool_is_question(question,
				"Shall I do this: bank send money, amount 5, to user "
				"Bob?",
				0));
	CHECK(!tool_is_question(question, "", 0) && !tool_is_question("", "Yes?", 0));
}

/* The words of the call stand in all of these, but nobody agrees to the call by a yes. */
TEST(an_answer_around_the_words_of_a_call_asks_for_no_yes)
{
	static const struct {
		const char *tool, *arguments, *said;
	} cases[] = {
		{"voice_leave", "{}", "Your voice sounds tired today. Leave it to me?"},
		{"memory_forget", "{\"last\":true}",
		 "Good memory! Don't forget that last part. True?"},
		{"ask", "{\"task\":\"it\"}", "May I ask you to say yes to it?"},
		{"send", "{\"to\":\"Bob\"}", "I will not send it to Bob, right?"},
		{"send", "{\"to\":\"Bob\"}", "Shall I do this: not send Bob?"},
		{"send", "{\"to\":\"Bob\"}", "Shall I do this: send, Bob? Or a joke?"},
		{"send", "{\"to\":\"Bob\"}", "Here is a joke about Shall I do this: send, Bob?"},
		{"soundboard", "{\"name\":\"quack\"}",
		 "A soundboard can quack. Do you like jokes?"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char question[TOOL_QUESTION_MAX];

		tool_question(cases[i].tool, cases[i].arguments, "en", question);
		CHECK(!tool_is_question(question, cases[i].said, 0));
	}
}

TEST(questions_of_scripts_without_blanks_are_compared_by_characters)
{
	static const char question[] = "\u8981\u9019\u6a23\u505a\u55ce\uff1amemory write, "
				       "\u8336\u306f\u71b1\u3044\uff1f";

	CHECK(tool_is_question(
		question,
		"\u8981\u9019\u6a23\u505a\u55ce? memory write\u300c\u8336\u306f\u71b1"
		"\u3044\u300d",
		0));
	CHECK(!tool_is_question(
		question,
		"\u8981\u9019\u6a23\u505a\u55ce? memory write\u300c\u8336\u306f\u51b7"
		"\u3044\u300d",
		0));
	CHECK(tool_is_question("send, \u00dcber M\u00dcNCHEN", "send \u00fcber m\u00fcnchen?", 0));
}

TEST_OOM(without_memory_nothing_was_asked)
{
	char buf[TOOL_QUESTION_MAX];

	tool_question("send", "{\"to\":\"Bob\"}", "", buf);
	CHECK(!tool_is_question("Shall I do this: send, Bob?", "Shall I send it to Eve?", 0));
}

/* Values that mean different things are never read back alike. */
TEST(keys_around_a_value_are_read_back)
{
	CHECK_STR(words_of("members", "{\"grant\":{\"user\":\"Bob\"}}"),
		  "members, grant, user Bob");
	CHECK_STR(words_of("members", "{\"revoke\":[{\"user\":\"Bob\"},{\"user\":\"Eve\"}]}"),
		  "members, revoke, user Bob, user Eve");
	CHECK_STR(words_of("members", "{\"add\":[\"Bob\"]}"), "members, add Bob");
	CHECK_STR(words_of("files", "{\"keep\":[],\"rows\":[[1,2]]}"), "files, keep, rows, 1, 2");
}

TEST(a_sign_and_the_words_before_a_call_are_told_apart)
{
	static const char question[] = "Shall I do this: pay, -5?";

	CHECK(tool_is_question(question, question, 0));
	CHECK(!tool_is_question(question, "Shall I do this: pay, 5?", 0));
	CHECK_INT(tool_count_words("I'll pay right away."), 5);
	CHECK(!tool_is_question(question, "I'll pay right away. Shall I do this: pay, -5?", 1));
	CHECK(tool_is_question(question, "I'll pay right away. Shall I do this: pay, -5?", 5));
	CHECK(!tool_is_question(question, "I'll pay right away. Shall I do this: pay, -5? No.", 5));
}
