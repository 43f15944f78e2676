#include "control/memory/rank.h"

#include "tests/test.h"

TEST(the_line_beside_the_words_of_the_question_comes_up)
{
	struct rank_line lines[] = {{.id = 1, .at_ms = 1000, .match = 4},
				    {.id = 2, .at_ms = 2000, .match = 0},
				    {.id = 3, .at_ms = 900000, .match = 1}};

	rank_lines(lines, 3);
	CHECK_INT(lines[0].id, 1);
	CHECK_INT(lines[1].id, 2);
	CHECK_INT(lines[2].id, 3);
}

TEST(the_named_speaker_comes_before_another_one)
{
	struct rank_line lines[] = {{.id = 1, .at_ms = 1000, .match = 3},
				    {.id = 2, .at_ms = 900000, .match = 3, .named = true}};

	rank_lines(lines, 2);
	CHECK_INT(lines[0].id, 2);
}

TEST(without_any_match_the_newest_comes_first)
{
	struct rank_line lines[] = {{.id = 1, .at_ms = 1000}, {.id = 2, .at_ms = 2000}};

	rank_lines(lines, 2);
	CHECK_INT(lines[0].id, 2);
	rank_lines(lines, 0);
}

TEST(a_name_is_a_word_of_its_own)
{
	CHECK(rank_names("what did ana say", "Ana"));
	CHECK(rank_names("Ana's plan", "Ana"));
	CHECK(!rank_names("a banana", "Ana"));
	CHECK(!rank_names("what did ana say", ""));
}

TEST(meaning_counts_beside_words)
{
	struct rank_line lines[] = {
		{.id = 1, .at_ms = 1000, .match = 4, .likeness = 0.1, .has_likeness = true},
		{.id = 2, .at_ms = 900000, .match = 4, .likeness = 0.7, .has_likeness = true},
		{.id = 3, .at_ms = 1900000, .match = 0, .likeness = 0.6, .has_likeness = true},
		{.id = 4, .at_ms = 2900000, .match = 0, .likeness = 0.1, .has_likeness = true}};

	rank_lines(lines, 4);
	CHECK_INT(lines[0].id, 2);
	CHECK_INT(lines[3].id, 4);
}

/* An own one comes before one like it, and not before one that fits. */
TEST(of_facts_meaning_weighs_more_and_own_ones_have_a_bonus)
{
	struct rank_line facts[] = {
		{.id = 1, .match = 4, .likeness = 0.1, .has_likeness = true},
		{.id = 2, .match = 4, .likeness = 0.9, .has_likeness = true},
		{.id = 3, .match = 4, .likeness = 0.9, .has_likeness = true, .named = true},
		{.id = 4, .match = 0, .likeness = 0.1, .has_likeness = true, .named = true}};

	rank_facts(facts, 4);
	CHECK_INT(facts[0].id, 3);
	CHECK_INT(facts[1].id, 2);
	CHECK_INT(facts[2].id, 4);
	CHECK_INT(facts[3].id, 1);
}

/* Lines 0 and 2 are about the same. */
static bool are_even(unsigned a, unsigned b, void *arg)
{
	(void)arg;
	return a % 2 == 0 && b % 2 == 0;
}

TEST(of_two_lines_about_the_same_the_newer_one_comes_first)
{
	struct rank_line lines[] = {{.id = 1, .at_ms = 1000, .index = 0},
				    {.id = 2, .at_ms = 99000000, .index = 1},
				    {.id = 3, .at_ms = 99000000, .index = 2},
				    {.id = 4, .at_ms = 99000000, .index = 3}};

	rank_newer_first(lines, 4, RANK_APART_MS, are_even, NULL);
	CHECK_INT(lines[0].id, 3);
	CHECK_INT(lines[1].id, 1);
	CHECK_INT(lines[2].id, 2);
	lines[0].at_ms = 500; /* of one conversation: the better one stays first */
	rank_newer_first(lines, 2, RANK_APART_MS, are_even, NULL);
	CHECK_INT(lines[0].id, 3);
	lines[1].at_ms = lines[0].at_ms + 1;
	rank_newer_first(lines, 2, 0, are_even, NULL);
	CHECK_INT(lines[0].id, 1);
}

TEST(lines_of_named_people_come_first_among_the_best)
{
	struct rank_line lines[RANK_FIRST + 1] = {{.id = 1}, {.id = 2, .named = true},
						  {.id = 3}, {.id = 4, .named = true},
						  {.id = 5}, {.id = 6, .named = true}};
	static const uint64_t order[] = {2, 4, 1, 3, 5, 6};

	rank_named_first(lines, RANK_FIRST + 1);
	for (size_t i = 0; i <= RANK_FIRST; i++)
		CHECK_INT(lines[i].id, order[i]);
	rank_named_first(lines, 1);
	CHECK_INT(lines[0].id, 2);
}
