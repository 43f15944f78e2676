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

static double all_alike(const char *a, const char *b, void *arg)
{
	(void)a;
	(void)b;
	(void)arg;
	return 1;
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
		{"会议在周五", "会议在周一", FACT_UPDATE},
		{"我喜欢喝茶", "我不喜欢喝茶", FACT_UPDATE},
		{"お茶が好きです", "お茶が好きではありません", FACT_UPDATE},
		{"The meeting is on Friday at four", "The meeting is on Monday", FACT_UPDATE},
		{"My flight leaves at four", "My flight leaves from gate B at five", FACT_UPDATE},
		{"The meeting is on Friday", "The meeting is cancelled", FACT_UPDATE},
		{"The meeting is at 16:00", "The meeting is 17:00", FACT_UPDATE},
		{"the new puppy is called Waffle", "the new puppy is called Truffle", FACT_UPDATE},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

/* U+2019 is what telephones write; transcripts may have no apostrophe at all. */
TEST(contractions_are_negations)
{
	static const struct pair pairs[] = {
		{"I can come on Friday", "I can't come on Friday", FACT_UPDATE},
		{"I can come on Friday", "I can\u2019t come on Friday", FACT_UPDATE},
		{"I can come on Friday", "I cant come on Friday", FACT_UPDATE},
		{"I can swim", "I cannot swim", FACT_UPDATE},
		{"I will come", "I won't come", FACT_UPDATE},
		{"I will come", "I won\u2019t come", FACT_UPDATE},
		{"I like coffee", "I don\u2019t like coffee", FACT_UPDATE},
		{"the door is open", "the door isnt open", FACT_UPDATE},
		{"I don't eat meat", "I don\u2019t eat meat", FACT_SAME},
		{"I can't swim", "I cannot swim", FACT_SAME},
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
		{"my sister is a nurse", "my sister is 30", FACT_NEW},
		{"my bike is red", "my bike is in the garage", FACT_NEW},
		{"The release is on Friday", "The release is at four", FACT_NEW},
		{"The meeting starts on Monday", "The meeting starts at 5", FACT_NEW},
		{"The meeting is at four", "The meeting is for five people", FACT_NEW},
		{"I play tennis on Monday", "I play chess on Friday", FACT_NEW},
		{"we meet Ana at four", "we meet Bob at five", FACT_NEW},
		{"I like Ana", "I like Bob", FACT_NEW},
		{"I like tea", "I don't like coffee", FACT_NEW},
		{"The meeting is at four", "The meeting isn't at five", FACT_NEW},
		{"I live in Berlin", "I live with my sister", FACT_NEW},
		{"I work at the bakery", "I work on weekends", FACT_NEW},
		{"I have two dogs", "I also have three cats", FACT_NEW},
		{"I have a dog", "I have another dog", FACT_NEW},
		{"my flight leaves at six", "my flight leaves from gate 12", FACT_NEW},
		{"Ana beats Bob", "Bob doesn't beat Ana", FACT_NEW},
		{"我喜欢喝茶", "我喜欢喝酒", FACT_NEW},
		{"お茶が好きです", "お酒が好きです", FACT_NEW},
		{"お水が好きです", "お金が好きです", FACT_NEW},
		{"我和Ana去看电影", "我和Bob去看电影", FACT_NEW},
		{"", "my bike is red", FACT_NEW},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

/* The same words in another order, another time or the other way round. */
TEST(words_that_change_places_are_no_duplicate)
{
	static const struct pair pairs[] = {
		{"I have two cats and one dog", "I have one cat and two dogs", FACT_UPDATE},
		{"I owe Ana 20 euros and Bob 50 euros", "I owe Ana 50 euros and Bob 20 euros",
		 FACT_UPDATE},
		{"the meeting moved from Monday to Friday",
		 "the meeting moved from Friday to Monday", FACT_UPDATE},
		{"the shop opens on Monday and closes on Friday",
		 "the shop opens on Friday and closes on Monday", FACT_UPDATE},
		{"my shift is from 6 to 14", "my shift is from 14 to 6", FACT_UPDATE},
		{"my bike is red and my car is blue", "my bike is blue and my car is red",
		 FACT_UPDATE},
		{"the red team won and the blue team lost",
		 "the blue team won and the red team lost", FACT_NEW},
		{"I have a black dog and a white cat", "I have a white dog", FACT_NEW},
		{"I love the big dog and the small cat", "I love the small dog", FACT_NEW},
		{"tea is better than coffee", "coffee is better than tea", FACT_NEW},
		{"I like cats and not dogs", "I like dogs and not cats", FACT_NEW},
		{"the dog bit the cat", "the cat bit the dog", FACT_NEW},
		{"cats have owners", "owners have cats", FACT_NEW},
		{"I have less than 5 cats", "I have more than 5 cats", FACT_NEW},
		{"I have more than 5 cats", "I have 5 cats", FACT_NEW},
		{"I am Ana's sister", "Ana is my sister", FACT_NEW},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

TEST(what_was_is_not_what_is)
{
	static const struct pair pairs[] = {
		{"I am a nurse", "I was a nurse", FACT_UPDATE},
		{"I am allergic to nuts", "I was allergic to nuts", FACT_UPDATE},
		{"I have a job at Siemens", "I had a job at Siemens", FACT_UPDATE},
		{"I was a nurse", "I am a nurse", FACT_NEW},
		{"I would like to move to Rome", "I like to move to Rome", FACT_NEW},
		{"I will be at the party", "I was at the party", FACT_NEW},
		{"I have been a nurse", "I am a nurse", FACT_NEW},
		{"I was a good nurse", "I am a nurse", FACT_NEW},
		{"I was a nurse", "I was a nurse", FACT_SAME},
		{"I am a nurse", "I'm a nurse", FACT_SAME},
		{"The release manager is Ana", "Ana is the release manager", FACT_SAME},
		{"We meet on Friday", "On Friday we meet", FACT_SAME},
		{"I don't eat meat", "I don't eat any more meat", FACT_SAME},
	};

	check_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

static void check_not_same(const char *const pairs[][2], size_t n)
{
	const struct fact_meaning one = {.likenessh = all_alike};

	for (size_t i = 0; i < n; i++) {
		if (fact_compare(pairs[i][0], pairs[i][1], true, NULL) == FACT_SAME ||
		    fact_compare(pairs[i][0], pairs[i][1], true, &one) == FACT_SAME)
			test_fail(__FILE__, __LINE__, "\"%s\" then \"%s\" is the same", pairs[i][0],
				  pairs[i][1]);
	}
}

/* The older one says more, and without it the newer one says something else. */
TEST(a_wish_that_came_true_is_no_duplicate)
{
	static const char *const pairs[][2] = {
		{"I want to live in Rome", "I live in Rome"},
		{"I want to be a doctor", "I am a doctor"},
		{"I am training to be a pilot", "I am a pilot"},
		{"I am in training to be a pilot", "I am a pilot"},
		{"I am almost a doctor", "I am a doctor"},
		{"I am looking for a job", "I have a job"},
		{"I want to have a dog", "I have a dog"},
		{"I want to work at Siemens", "I work at Siemens"},
		{"I am thinking about moving to Rome", "I am moving to Rome"},
		{"I have almost finished the report", "I have finished the report"},
		{"I have a broken arm", "I have an arm"},
		{"I am scared that I have cancer", "I have cancer"},
		{"I am allergic to peanuts only when drunk", "I am allergic to peanuts"},
		{"I have to work on Monday", "I work on Monday"},
		{"I would love to live in Rome", "I live in Rome"},
	};
	const struct fact_meaning one = {.likenessh = all_alike};

	check_not_same(pairs, sizeof pairs / sizeof pairs[0]);
	CHECK(!fact_may_be_same("I want to live in Rome", "I live in Rome"));
	CHECK_INT(fact_compare("I live in Rome", "I want to live in Rome", true, NULL), FACT_NEW);
	CHECK_INT(fact_compare("I hope to get a dog soon", "I have a new dog now", true, &one),
		  FACT_NEW);
	/* A detail less is no other statement. */
	CHECK_INT(fact_compare("I like tea with milk and honey", "I like tea", true, NULL),
		  FACT_SAME);
}

TEST(another_preposition_turns_what_is_said)
{
	static const char *const pairs[][2] = {
		{"the shop is open until 8", "the shop is open from 8"},
		{"the shop is open from 8", "the shop is open until 8"},
		{"my flight to Rome is at 5", "my flight from Rome is at 5"},
		{"I am in the office until Friday", "I am in the office from Friday"},
		{"my deadline is by Friday", "my deadline is on Friday"},
		{"I borrowed 50 euros from Ana", "I borrowed 50 euros for Ana"},
		{"the gift is to Bob from Ana", "the gift is from Bob to Ana"},
		{"I work for Ana", "I work with Ana"},
		{"I live near Rome", "I live in Rome"},
	};

	check_not_same(pairs, sizeof pairs / sizeof pairs[0]);
	CHECK_INT(fact_compare("the shop is open from 8", "the shop is open until 8", true, NULL),
		  FACT_NEW);
	CHECK(!fact_may_be_same("my flight to Rome is at 5", "at 5 I fly from Rome"));
	CHECK(fact_may_be_same("I work for Siemens", "my employer is Siemens"));
}

TEST(a_sign_is_a_part_of_its_number)
{
	static const char *const pairs[][2] = {
		{"my balance is -200 euros", "my balance is 200 euros"},
		{"my temperature threshold is -3", "my temperature threshold is 3"},
	};

	check_not_same(pairs, sizeof pairs / sizeof pairs[0]);
	CHECK_INT(fact_compare("my balance is 200 euros", "my balance is -200 euros", true, NULL),
		  FACT_UPDATE);
	CHECK_INT(fact_compare("it is open 5-6", "it is open 5 - 6", true, NULL), FACT_SAME);
}

/* However near their meanings are, and whatever a model says. */
TEST(an_encoder_merges_no_values_in_another_order)
{
	const struct fact_meaning one = {.likenessh = all_alike};

	CHECK_INT(fact_compare("Ana gets 20 euros and Bob 50", "give Ana 50 euros and Bob 20", true,
			       &one),
		  FACT_NEW);
	CHECK_INT(
		fact_compare("tea is better than coffee", "coffee is better than tea", true, &one),
		FACT_NEW);
	CHECK_INT(fact_compare("I am a nurse by trade", "by profession I was a nurse", true, &one),
		  FACT_NEW);
	CHECK_INT(fact_compare("I eat before the run", "I eat after running", true, &one),
		  FACT_NEW);
	CHECK_INT(fact_compare("I am ill on Monday", "on Monday I am sick", true, &one), FACT_SAME);
	CHECK(!fact_may_be_same("I owe Ana 20 euros and Bob 50", "Ana gets 50 from me, Bob 20"));
	CHECK(fact_may_be_same("I owe Ana 20 euros and Bob 50", "Ana gets 20 from me, Bob 50"));
}

TEST(my_of_two_people_is_not_the_same)
{
	CHECK_INT(fact_compare("my bike is red", "my bike is blue", false, NULL), FACT_NEW);
	CHECK_INT(fact_compare("my bike is red", "my bike is red", false, NULL), FACT_NEW);
	CHECK_INT(fact_compare("the release is on Monday", "the release is on Friday", false, NULL),
		  FACT_UPDATE);
}

TEST(a_question_is_about_its_asker_in_part_or_as_a_whole)
{
	static const struct {
		const char *question;
		enum fact_self self;
	} cases[] = {
		{"what colour is my bike?", FACT_SELF_PART},
		{"when do I have to leave?", FACT_SELF_PART},
		{"what do you know about me?", FACT_SELF_ALL},
		{"tell me everything you remember about me", FACT_SELF_ALL},
		{"when do we leave for our trip?", FACT_SELF_NONE},
		{"can you tell us who won the match?", FACT_SELF_NONE},
		{"when is the release?", FACT_SELF_NONE},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_INT(fact_asks_about_self(cases[i].question), cases[i].self);
}

/* Of a model's duplicates. */
TEST(a_duplicate_may_have_no_other_value_and_no_negation_of_the_same_words)
{
	CHECK(fact_may_be_same("we eat at half past ten", "dinner is at ten thirty"));
	CHECK(!fact_may_be_same("we eat at half past ten", "dinner is at ten forty"));
	CHECK(!fact_may_be_same("the landlord allows cats", "the landlord doesn't allow cats"));
	CHECK(fact_may_be_same("the restaurant only takes cash", "you can't pay by card there"));
}
