#include "control/offline/words.h"
#include "tests/test.h"

static const char *split(const char *text)
{
	static char buf[2048];
	static struct words w;

	words_split(&w, text);
	return words_join(&w, 0, w.n, buf, sizeof buf);
}

TEST(words_split_speaks_like_the_recogniser)
{
	CHECK_STR(split("What's 7x8?"), "what's seven times eight");
	CHECK_STR(split("  Whats the time, Parley?! "), "what's the time parley");
	CHECK_STR(split("What\xe2\x80\x99s up"), "what's up");
	CHECK_STR(split("roll 2d6 and a D20"), "roll two d six and a d twenty");
	CHECK_STR(split("1,250 / 3.5"),
		  "one thousand two hundred fifty divided by three point five");
	CHECK_STR(split("5 - 3"), "five minus three");
	CHECK_STR(split("twenty-one"), "twenty one");
	CHECK_STR(split("12 \xc3\xb7 4 \xc3\x97 2"), "twelve divided by four times two");
	CHECK_STR(split("my favorite color"), "my favourite colour");
	CHECK_STR(split("goodnight 'all'"), "good night all");
	CHECK_STR(split(""), "");
	CHECK_STR(split("!!! ..."), "");
}

TEST(words_split_finds_the_speaker)
{
	struct words w;

	words_split(&w, "[Alice B.]: what time is it");
	CHECK_STR(w.speaker, "Alice B.");
	CHECK_INT(w.n, 4);
	words_split(&w, "[Alice what time");
	CHECK_STR(w.speaker, "");
	CHECK_INT(w.n, 3);
}

TEST(words_split_is_bounded)
{
	char text[4000];
	struct words w;

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	words_split(&w, text);
	CHECK_INT(w.n, 1);
	CHECK_INT(strlen(w.w[0]), WORD_SIZE - 1);
	for (size_t i = 1; i < sizeof text - 1; i += 2)
		text[i] = ' ';
	words_split(&w, text);
	CHECK_INT(w.n, WORDS_MAX);
	CHECK(w.cut);
	/* Bytes that end in the middle of a character. */
	words_split(&w, "caf\xc3");
	words_split(&w, "\xe2\x80");
	words_split(&w, "\xe2");
	CHECK(w.n <= 1);
}

static const char *say(double v)
{
	static char buf[256];

	number_say(v, buf, sizeof buf);
	return buf;
}

TEST(number_say_says_it_as_people_do)
{
	CHECK_STR(say(0), "zero");
	CHECK_STR(say(13), "thirteen");
	CHECK_STR(say(40), "forty");
	CHECK_STR(say(99), "ninety nine");
	CHECK_STR(say(100), "one hundred");
	CHECK_STR(say(342), "three hundred and forty two");
	CHECK_STR(say(1007), "one thousand and seven");
	CHECK_STR(say(2026), "two thousand and twenty six");
	CHECK_STR(say(1000000), "one million");
	CHECK_STR(say(-3.25), "minus three point two five");
	CHECK_STR(say(0.5), "zero point five");
	CHECK_STR(say(0.05), "zero point zero five");
	CHECK_STR(say(2.999), "three");
	CHECK_STR(say(1e15), "more than I can count");
	CHECK_STR(say(0.0 / 0.0), "more than I can count");
}

TEST(ordinal_say_bends_the_last_word)
{
	char buf[64];
	static const struct {
		unsigned v;
		const char *want;
	} t[] = {{1, "first"},	    {2, "second"},	  {3, "third"},	     {5, "fifth"},
		 {8, "eighth"},	    {12, "twelfth"},	  {20, "twentieth"}, {21, "twenty first"},
		 {30, "thirtieth"}, {31, "thirty first"}, {14, "fourteenth"}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		ordinal_say(t[i].v, buf, sizeof buf);
		CHECK_STR(buf, t[i].want);
	}
}

TEST(number_hear_undoes_number_say)
{
	static const double values[] = {0,	 1,	    9,	 10,  15,   20,	  21,	 99,
					100,	 101,	    115, 999, 1000, 1001, 12345, 100000,
					1000000, 987654321, -17, 3.5, 0.25, 12.05};
	struct words w;
	double v;

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		words_split(&w, say(values[i]));
		CHECK(number_hear(&w, 0, w.n, &v));
		CHECK(v >= values[i] - 1e-9 && v <= values[i] + 1e-9);
	}
	words_split(&w, "a hundred");
	CHECK(number_hear(&w, 0, w.n, &v) && v == 100);
	words_split(&w, "twenty bananas");
	CHECK(!number_hear(&w, 0, w.n, &v));
	CHECK(!number_hear(&w, 0, 0, &v));
	words_split(&w, "three point");
	CHECK(!number_hear(&w, 0, w.n, &v));
}
