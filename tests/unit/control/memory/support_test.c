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
	fact = (struct rank_line){.likeness = 0.05, .has_likeness = true, .named = true};
	CHECK(support_check_fact(&fact));
	fact = (struct rank_line){.likeness = 0}; /* no encoder */
	CHECK(support_check_fact(&fact));
}
