#include "control/memory/compare.h"

#include "tests/test.h"

struct pair {
	const char *older, *newer;
	enum fact_change change;
};

static void check_pairs(const struct pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fact_compare(p[i].older, p[i].newer, true, NULL) != p[i].change)
			test_fail(__FILE__, __LINE__, "\"%s\" then \"%s\" is %d, want %d",
				  p[i].older, p[i].newer,
				  fact_compare(p[i].older, p[i].newer, true, NULL), p[i].change);
}

TEST(a_changed_number_name_date_or_negation_is_an_update)
{
	static const struct pair pairs[] = {
		{"The meeting is at four", "The meeting is at five", FACT_UPDATE},
		{"the meeting is at 16:00", "the meeting is at 17:00", FACT_UPDATE},
		{"The release is on Tuesday", "The release is on Friday", FACT_UPDATE},
		{"my bike is red", "my bike is blue", FACT_UPDATE},
		{"The release manager is Ana", "The release manager is Bob", FACT_UPDATE},
		{"I live in Berlin", "I live in Munich", FACT_UPDATE},
		{"i live in berlin", "i live in munich", FACT_UPDATE},
		{"I like tea", "I don't like tea", FACT_UPDATE},
		{"I like tea", "I do not like tea anymore", FACT_UPDATE},
		{"Ana leads the project", "Bob leads the project", FACT_UPDATE},
		{"We ship version 2 on Friday", "We ship version 3 on Friday", FACT_UPDATE},
		{"My sister has two cats", "My sister has three cats", FACT_UPDATE},
		{"Ana is 30", "Ana is 31", FACT_UPDATE},
		{"we meet Ana at four", "we meet Ana at five", FACT_UPDATE},
		{"会議は四時です", "会議は五時です", FACT_UPDATE},
		{"회의는 4시", "회의는 5시", FACT_UPDATE},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

TEST(the_same_in_other_words_is_the_same)
{
	static const struct pair pairs[] = {
		{"My bike is red", "my bike is red.", FACT_SAME},
		{"The release is on Tuesday", "On Tuesday is the release", FACT_SAME},
		{"Ana likes cats", "Ana really likes cats", FACT_SAME},
		{"I have a black dog", "I have a dog", FACT_SAME},
		{"I don't eat meat", "I do not eat meat", FACT_SAME},
		{"会議は四時です", "会議は四時です", FACT_SAME},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

TEST(what_is_about_something_else_stands_beside_it)
{
	static const struct pair pairs[] = {
		{"I like tea", "I like coffee", FACT_NEW},
		{"Bob likes pizza", "Ana likes pizza", FACT_NEW},
		{"Ana is 30", "Bob is 31", FACT_NEW},
		{"The release is on Tuesday", "The party is on Friday", FACT_NEW},
		{"Ana's birthday is in May", "Bob's birthday is in June", FACT_NEW},
		{"Ana is tall", "Ana is a baker", FACT_NEW},
		{"version 2 ships on Friday", "version 3 ships on Monday", FACT_NEW},
		{"I gave Bob a book", "Bob gave me a book", FACT_NEW},
		{"会議は四時です", "猫が好きです", FACT_NEW},
		{"", "my bike is red", FACT_NEW},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

TEST(my_of_two_people_is_not_the_same)
{
	CHECK_INT(fact_compare("my bike is red", "my bike is blue", false, NULL), FACT_NEW);
	CHECK_INT(fact_compare("my bike is red", "my bike is red", false, NULL), FACT_NEW);
	CHECK_INT(fact_compare("the release is on Monday", "the release is on Friday", false, NULL),
		  FACT_UPDATE);
}

/* Of a model's duplicates. */
TEST(a_duplicate_may_have_no_other_value_and_no_negation_of_the_same_words)
{
	CHECK(fact_may_be_same("we eat at half past ten", "dinner is at ten thirty"));
	CHECK(!fact_may_be_same("we eat at half past ten", "dinner is at ten forty"));
	CHECK(!fact_may_be_same("the landlord allows cats", "the landlord doesn't allow cats"));
	CHECK(fact_may_be_same("the restaurant only takes cash", "you can't pay by card there"));
}
