#include "tests/conversations/wordings.h"

#include <errno.h>
#include <math.h>

#include "tests/test.h"

enum { STEP = 3 };

/* The short form of make conversations: the tuned half, every third wording. The floors lie a
 * little below what the room reaches, so a change that makes a row worse fails here. */
TEST(the_tuned_half_stays_above_its_floors)
{
	static const double floors[WORDINGS_CLASS_COUNT] = {
		[WORDINGS_BACKCHANNEL] = 0.94, [WORDINGS_TIC] = 0.96,
		[WORDINGS_ASIDE] = 0.77,       [WORDINGS_OF_THE_BOT] = 0.92,
		[WORDINGS_TAKEOVER] = 0.97,    [WORDINGS_CORRECTION] = 0.96,
		[WORDINGS_FOLLOWUP] = 0.90,    [WORDINGS_NAMED] = 0.94,
	};
	static struct wordings_score score;
	struct wordings w;

	CHECK_INT(wordings_load(&w, "tests/conversations/wordings/tuned"), 0);
	CHECK_INT(wordings_score(&score, &w, STEP, NULL, NULL), 0);
	for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++) {
		const struct wordings_share *all = &score.row[c][WORDINGS_LANGUAGE_COUNT];

		if (wordings_rate(all) < floors[c])
			test_fail(__FILE__, __LINE__, "%s: %u of %u, want %.2f",
				  wordings_class_name((enum wordings_class)c), all->right, all->of,
				  floors[c]);
	}
	CHECK(score.matched.value >= 0.95);
	wordings_free(&w);
}

TEST(a_baseline_that_knows_no_words_does_not_tell_matched_classes_apart)
{
	static struct wordings_score score;
	struct wordings w;

	CHECK_INT(wordings_load(&w, "tests/conversations/wordings/tuned"), 0);
	CHECK_INT(wordings_score(&score, &w, 1 + w.n / 200, NULL, NULL), 0);
	CHECK(fabs(score.matched.baseline[WORDINGS_BASELINE_ALWAYS] - 0.5) < 1e-9);
	CHECK(fabs(score.matched.baseline[WORDINGS_BASELINE_NEVER] - 0.5) < 1e-9);
	wordings_free(&w);
}

TEST(wordings_are_read_by_class_and_language)
{
	struct wordings w;
	unsigned n[WORDINGS_CLASS_COUNT] = {0}, languages[WORDINGS_LANGUAGE_COUNT] = {0};

	CHECK_INT(wordings_load(&w, "tests/conversations/no-such-folder"), ENOENT);
	CHECK_INT(wordings_load(&w, "tests/conversations/wordings/tuned"), 0);
	for (size_t i = 0; i < w.n; i++) {
		n[w.v[i].class]++;
		languages[w.v[i].language]++;
	}
	for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++)
		CHECK_INT(n[c], n[0]);
	for (unsigned l = 0; l < WORDINGS_LANGUAGE_COUNT; l++)
		CHECK(languages[l] > 0);
	wordings_free(&w);
}

TEST(letters_are_characters_not_bytes)
{
	CHECK_INT(wordings_letters("no, wait"), 6);
	CHECK_INT(wordings_letters("да"), 2);
	CHECK_INT(wordings_letters("ストップ"), 4);
	CHECK_INT(wordings_letters("..."), 0);
}

TEST(an_interval_holds_its_share)
{
	struct wordings_share s = {95, 100};
	double low, high;

	wordings_interval(&s, &low, &high);
	CHECK(low > 0.88 && low < 0.95 && high > 0.95 && high < 0.98);
}
