/* The emoji that a model may put on a message, and the directive by which it does. */
#include "tests/test.h"

#include "control/text/emoji.h"

#define THUMB  "\xf0\x9f\x91\x8d"
#define TONE   "\xf0\x9f\x8f\xbd"
#define HEART  "\xe2\x9d\xa4"
#define SHOWN  "\xef\xb8\x8f"
#define JOINER "\xe2\x80\x8d"
#define FIRE   "\xf0\x9f\x94\xa5"
#define REGION "\xf0\x9f\x87\xa6"

/* "" for none. Static. */
static const char *read_emoji(const char *text)
{
	static char emoji[TEXT_EMOJI];

	return text_emoji_read(text, strlen(text), emoji) ? emoji : "";
}

TEST(an_emoji_is_read_and_fully_qualified)
{
	CHECK_STR(read_emoji(THUMB), THUMB);
	CHECK_STR(read_emoji(THUMB SHOWN), THUMB);
	CHECK_STR(read_emoji(THUMB TONE), THUMB TONE);
	CHECK_STR(read_emoji(HEART), HEART SHOWN);
	CHECK_STR(read_emoji(HEART SHOWN), HEART SHOWN);
	CHECK_STR(read_emoji(HEART JOINER FIRE), HEART SHOWN JOINER FIRE);
	CHECK_STR(read_emoji("5\xe2\x83\xa3"), "5" SHOWN "\xe2\x83\xa3");
	CHECK_STR(read_emoji("#" SHOWN "\xe2\x83\xa3"), "#" SHOWN "\xe2\x83\xa3");
	CHECK_STR(read_emoji(REGION REGION), REGION REGION);
	/* A kiss of two people with their tones: the longest. */
	CHECK_STR(read_emoji("\xf0\x9f\x91\xa9" TONE JOINER HEART SHOWN JOINER
			     "\xf0\x9f\x92\x8b" JOINER "\xf0\x9f\x91\xa8" TONE),
		  "\xf0\x9f\x91\xa9" TONE JOINER HEART SHOWN JOINER "\xf0\x9f\x92\x8b" JOINER
		  "\xf0\x9f\x91\xa8" TONE);
}

TEST(what_is_no_emoji_is_none)
{
	static const char *const none[] = {
		"",
		"a",
		"5",
		":thumbsup:",
		"party:123456789012345678",
		THUMB " ",
		THUMB THUMB,
		TONE,
		REGION,
		REGION THUMB,
		SHOWN,
		JOINER,
		THUMB JOINER,
		JOINER THUMB,
		THUMB JOINER "a",
		THUMB TONE TONE,
		"5\xe2\x83",
		"\xf0\x9f\x91",
		"\xff\xff",
		"\xe2\x98\x85",	      /* a star that is no emoji */
		"\xf0\x9f\x9b\x91",   /* the bot's sign that it stopped */
		"\xe2\x9a\xa0" SHOWN, /* and that it failed */
		"\xe2\x9a\xa0",
		FIRE JOINER FIRE JOINER FIRE JOINER FIRE JOINER FIRE JOINER FIRE JOINER FIRE,
	};
	char emoji[TEXT_EMOJI];

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		CHECK_STR(read_emoji(none[i]), "");
	CHECK(!text_emoji_read(THUMB "\0x", 6, emoji));
}

/* "the text that is left|the emoji". Static. */
static const char *take(const char *text)
{
	static char left[512];
	char emoji[TEXT_EMOJI];

	snprintf(left, sizeof left - TEXT_EMOJI, "%s", text);
	text_emoji_take(left, emoji);
	strcat(strcat(left, "|"), emoji);
	return left;
}

TEST(directives_are_taken_out_of_an_answer)
{
	CHECK_STR(take("hello"), "hello|");
	CHECK_STR(take(""), "|");
	CHECK_STR(take("[[REACT: " THUMB "]]"), "|" THUMB);
	CHECK_STR(take("[react:" THUMB "]"), "|" THUMB);
	CHECK_STR(take("  [[ React : " THUMB " ]]  "), "|" THUMB);
	CHECK_STR(take("[[REACT: " THUMB "]"), "|" THUMB);
	CHECK_STR(take("[[REACT: " THUMB "]]\nYou are welcome."), "You are welcome.|" THUMB);
	CHECK_STR(take("You are welcome.\n[[REACT: " THUMB "]]"), "You are welcome.|" THUMB);
	CHECK_STR(take("a\n[[REACT: " THUMB "]]\r\nb"), "a\nb|" THUMB);
	CHECK_STR(take("a\n\nb"), "a\n\nb|");
	CHECK_STR(take("[[REACT: " THUMB "]] Welcome. [[REACT: " FIRE "]]"), "Welcome.|" THUMB);
	CHECK_STR(take("Welcome. [[REACT: " FIRE "]][[REACT: " THUMB "]]"), "Welcome.|" FIRE);
	CHECK_STR(take("[SKIP] [[REACT: " FIRE "]]"), "[SKIP]|" FIRE);
	/* What is no emoji is dropped; the first that is one counts. */
	CHECK_STR(take("Hm. [[REACT: no]]"), "Hm.|");
	CHECK_STR(take("[[REACT:]]"), "|");
	CHECK_STR(take("[[REACT: no]] [[REACT: " FIRE "]]"), "|" FIRE);
	/* What stands among words is quoted. */
	CHECK_STR(take("I write [[REACT: " FIRE "]] for that."),
		  "I write [[REACT: " FIRE "]] for that.|");
	CHECK_STR(take("`[[REACT: " FIRE "]]`"), "`[[REACT: " FIRE "]]`|");
	CHECK_STR(take("```\n[[REACT: " FIRE "]]\n```\n[[REACT: " THUMB "]]"),
		  "```\n[[REACT: " FIRE "]]\n```|" THUMB);
	CHECK_STR(take("[[REACT: " FIRE), "[[REACT: " FIRE "|");
	CHECK_STR(take("[[REACTION: " FIRE "]]"), "[[REACTION: " FIRE "]]|");
	CHECK_STR(take("[]["), "[][|");
}
