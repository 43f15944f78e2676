#include "control/memory/support.h"

#include "tests/test.h"

enum { LINES = 8 };

/* One line like the question, by nobody whom it names, among others. */
static void fill(struct support_line lines[LINES], double like, bool named)
{
	for (size_t i = 0; i < LINES; i++)
		lines[i] = (struct support_line){"the nuts are in the box", true, 0.2 + 0.01 * i};
	lines[1] = (struct support_line){"i had celery for 3 years", named, like};
}

TEST(a_line_that_stands_out_supports_an_answer)
{
	struct support_line lines[LINES];

	fill(lines, 0.6, false);
	CHECK(support_check("which vegetable is it?", false, lines, LINES));
	CHECK(!support_check("which vegetable is it?", false, lines, 0));
	fill(lines, 0.25, false);
	CHECK(!support_check("which vegetable is it?", false, lines, LINES));
}

TEST(the_named_speaker_must_have_said_it)
{
	struct support_line lines[LINES];

	fill(lines, 0.6, false);
	CHECK(!support_check("which vegetable is it?", true, lines, LINES));
	fill(lines, 0.6, true);
	CHECK(support_check("which vegetable is it?", true, lines, LINES));
}

TEST(a_number_of_the_question_must_occur)
{
	struct support_line lines[LINES];

	fill(lines, 0.6, false);
	CHECK(support_check("which one for 3 years?", false, lines, LINES));
	CHECK(!support_check("which one for 4 years?", false, lines, LINES));
}

TEST(a_line_must_have_the_kind_of_answer_that_is_asked_for)
{
	static const struct {
		const char *question, *line;
		bool answers;
	} cases[] = {
		{"how much is the rent?", "the rent goes up", false},
		{"how much is the rent?", "the rent goes up by thirty", true},
		{"how long did it take?", "it took 4 tries", true},
		{"since when is it so?", "that is so, you know", false},
		{"since when is it so?", "it is so since new year", true},
		{"what time of day is it?", "it is at the school", false},
		{"what time of day is it?", "it is on friday", true},
		{"what colour is the carpet?", "shoes off, new carpet", false},
		{"which color is the carpet?", "the carpet is grey", true},
		{"how did it go when they came?", "it was fine", true},
		{"what did they say?", "nothing at all", true},
		{"when did they talk about nuts?", "these are nuts again", true},
		{"how long ago was it mentioned?", "these are nuts again", true},
		{"when did they say the trip begins?", "the trip begins", false},
		{"when is the meeting we agreed on?", "the meeting is near", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct support_line lines[LINES];

		fill(lines, 0.6, true);
		lines[1].text = cases[i].line;
		for (size_t k = 0; k < LINES; k++)
			lines[k].named = k == 1;
		CHECK_INT(support_check(cases[i].question, true, lines, LINES), cases[i].answers);
	}
}

TEST(a_fact_about_another_subject_answers_nothing)
{
	struct rank_line fact = {.likeness = 0.05, .has_likeness = true};

	CHECK(!support_check_fact(&fact));
	fact.match = 1.2; /* a word in common */
	CHECK(support_check_fact(&fact));
	CHECK(support_is_sure(&fact));
	fact = (struct rank_line){.likeness = 0.2, .has_likeness = true};
	CHECK(support_check_fact(&fact) && !support_is_sure(&fact));
	fact.likeness = 0.4;
	CHECK(support_is_sure(&fact));
	/* Nor does one by the asker, because it is theirs. */
	fact = (struct rank_line){.likeness = 0.05, .has_likeness = true, .named = true};
	CHECK(!support_check_fact(&fact));
	fact = (struct rank_line){.likeness = 0}; /* no encoder */
	CHECK(support_check_fact(&fact));
}
