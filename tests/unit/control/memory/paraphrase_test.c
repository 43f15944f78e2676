#include "control/memory/paraphrase.h"

#include <string.h>

#include "tests/test.h"

/* Long texts, and words. */
struct stand_in {
	double whole, rest;
	unsigned asked;
};

static double likeness(const char *a, const char *b, void *arg)
{
	struct stand_in *s = arg;

	(void)a, (void)b;
	return s->asked++ ? s->rest : s->whole;
}

static enum fact_change compare(const char *a, const char *b, double whole, double rest)
{
	struct stand_in s = {whole, rest, 0};
	const struct fact_meaning m = {likeness, &s};

	return paraphrase_compare(a, b, &m);
}

TEST(a_paraphrase_says_the_same)
{
	CHECK_INT(compare("I'm allergic to peanuts", "peanuts make me ill", 0.8, 0.7), FACT_SAME);
	CHECK_INT(compare("the pool shuts at eight", "the pool closes at eight", 0.9, 0),
		  FACT_SAME);
	CHECK_INT(compare("the mod doesn't work", "that mod isn't working", 0.9, 0), FACT_SAME);
	CHECK_INT(compare("I'm allergic to peanuts", "peanuts make me ill", 0.8, 0.3), FACT_NEW);
	CHECK_INT(compare("I'm allergic to peanuts", "peanuts make me ill", 0.3, 0.9), FACT_NEW);
}

TEST(a_changed_number_or_date_is_an_update_and_never_the_same)
{
	CHECK_INT(compare("my flight leaves at four", "my flight leaves at five", 0.98, 1),
		  FACT_UPDATE);
	CHECK_INT(compare("the car is away until friday", "the car is away until tuesday", 0.98, 1),
		  FACT_UPDATE);
	CHECK_INT(compare("leah turns thirty", "leah turns thirty one", 0.95, 1), FACT_UPDATE);
	CHECK_INT(compare("she lands at half past ten", "she lands at ten thirty", 0.95, 0),
		  FACT_SAME);
	CHECK_INT(compare("two dogs live there", "three cats live there", 0.95, 1), FACT_NEW);
	/* Two details of one meeting. */
	CHECK_INT(compare("the release is on friday", "the release is at four", 0.95, 1), FACT_NEW);
	CHECK_INT(compare("the release is on friday at four", "the release is at four", 0.95, 1),
		  FACT_NEW);
	/* Nothing was read. */
	CHECK_INT(compare("\u044f \u043b\u044e\u0431\u043b\u044e", "\u043e\u043d", 0.99, 1),
		  FACT_NEW);
}

TEST(names_negation_and_changes_are_never_the_same)
{
	CHECK_INT(compare("the lead is Ana", "the lead is Bob", 0.99, 1), FACT_NEW);
	CHECK_INT(compare("I like coriander", "I do not like coriander", 0.99, 1), FACT_NEW);
	CHECK_INT(compare("I like coriander", "I don\u2019t like coriander", 0.99, 1), FACT_NEW);
	CHECK_INT(compare("I can come", "I can\u2019t come", 0.99, 1), FACT_NEW);
	CHECK_INT(compare("we meet at the fountain", "we meet at the clock now", 0.9, 1), FACT_NEW);
	CHECK_INT(compare("the red logo is best", "the blue logo is best", 0.94, 0.72), FACT_NEW);
}
