#include "control/memory/values.h"

#include "tests/test.h"

TEST(numbers_and_times_in_words_become_digits)
{
	static const char *const pairs[][2] = {
		{"lands at half past ten.", "lands at 10h30."},
		{"lands at ten thirty", "lands at 10h30"},
		{"it is 10:30, or 10.45", "it is 10h30, or 10h45"},
		{"bedtime is half seven", "bedtime is 7h30"},
		{"a quarter past six", "6h15"},
		{"Quarter to one", "12h45"},
		{"ten minutes past six", "6h10"},
		{"ten past six, twenty past six", "6h10, 6h20"},
		{"from nine to five", "from 9 to 5"},
		{"at six o'clock sharp", "at 6 sharp"},
		{"six o'clock", "6"},
		{"we eat at twelve noon", "we eat at 12"},
		{"midday or noon", "12 or 12"},
		{"about five hundred people", "about 500 people"},
		{"half a thousand folk", "500 folk"},
		{"two thousand five hundred and six", "2506"},
		{"fifteen hundred words", "1500 words"},
		{"twenty-one guests", "21 guests"},
		{"thirty one or thirty", "31 or 30"},
		{"one hundred", "100"},
		{"it crashed twice", "it crashed 2 times"},
		{"an hour late", "60 minutes late"},
		{"half an hour", "30 minutes"},
		{"married a decade", "married 10 years"},
		{"a second hand piano", "a used piano"},
		{"I can't, we won't", "I can not, we will not"},
		{"it doesn\u2019t work", "it does not work"},
		{"she cannot and he didnt", "she can not and he did not"},
		{"someone\u2019s idea", "someone's idea"},
		{"I'm here and she\u2019s there", "I am here and she is there"},
	};
	char out[VALUES_TEXT];

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		values_write(out, pairs[i][0]);
		CHECK_STR(out, pairs[i][1]);
	}
}

TEST(other_words_stay)
{
	static const char *const texts[] = {"",
					    "this one",
					    "half the team",
					    "a quarter of it",
					    "tenable",
					    "someone's sixth",
					    "the second exit",
					    "ab12 v2 3rd",
					    "h\303\266rt",
					    "no - one knows",
					    "what a hundredth is"};
	char out[VALUES_TEXT];

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		values_write(out, texts[i]);
		CHECK_STR(out, texts[i]);
	}
}

TEST(a_long_text_is_cut)
{
	static char text[3 * VALUES_TEXT];
	char out[VALUES_TEXT];

	for (size_t i = 0; i + 6 < sizeof text; i += 6)
		memcpy(text + i, "twice ", 6);
	values_write(out, text);
	CHECK(strlen(out) < VALUES_TEXT);
	CHECK(strncmp(out, "2 times 2 times", 15) == 0);
	memset(text, 'a', sizeof text - 1);
	values_write(out, text);
	CHECK(strlen(out) < VALUES_TEXT);
}
