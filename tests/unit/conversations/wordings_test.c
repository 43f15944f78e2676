#include "tests/conversations/wordings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

enum { STEP = 3 };

/* The short form of make conversations: the tuned half, every third wording. */
TEST(the_tuned_half_stays_above_its_floors)
{
	static struct wordings_score score;
	struct wordings w;

	CHECK_INT(wordings_load(&w, "tests/conversations/wordings/tuned"), 0);
	CHECK_INT(wordings_score(&score, &w, STEP, NULL, NULL), 0);
	CHECK_INT(wordings_check_floors(stdout, &score), 0);
	wordings_free(&w);
}

TEST(rows_below_their_floors_are_counted_and_named)
{
	static struct wordings_score score;
	char text[4096] = "";
	FILE *to;

	memset(&score, 0, sizeof score);
	to = fmemopen(text, sizeof text, "w");
	CHECK(to);
	CHECK_INT(wordings_check_floors(to, &score), WORDINGS_ROWS);
	fclose(to);
	CHECK(strstr(text, "text_aside is 0.000, below its floor of "));
	CHECK(strstr(text, "text_margin is 0.000"));
	/* Everything is right but the takeovers. */
	for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++)
		score.row[c][WORDINGS_LANGUAGE_COUNT] =
			(struct wordings_share){c != WORDINGS_TAKEOVER, 1, 1};
	score.quiet[WORDINGS_LANGUAGE_COUNT] = (struct wordings_share){1, 1, 1};
	score.matched.value = 1;
	memset(text, 0, sizeof text);
	to = fmemopen(text, sizeof text, "w");
	CHECK(to);
	CHECK_INT(wordings_check_floors(to, &score), 1);
	fclose(to);
	CHECK(strncmp(text, "text_yield is 0.000", 19) == 0);
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
	struct wordings_share s = {.right = 95, .of = 100};
	double low, high;

	wordings_interval(&s, &low, &high);
	CHECK(low > 0.88 && low < 0.95 && high > 0.95 && high < 0.98);
	/* As many wordings of fewer situations tell less. */
	s.effective = 20;
	wordings_interval(&s, &low, &high);
	CHECK(low < 0.80 && high > 0.98);
}

TEST(wordings_of_one_situation_are_told_apart_from_others)
{
	struct wordings w;
	unsigned same = 0;

	CHECK_INT(wordings_load(&w, "tests/conversations/wordings/tuned"), 0);
	for (size_t i = 0; i < w.n; i++) {
		CHECK(w.v[i].situation < WORDINGS_SITUATIONS);
		same += w.v[i].class == w.v[0].class && w.v[i].situation == w.v[0].situation;
	}
	CHECK_INT(same, 11); /* one author's in all languages but English */
	wordings_free(&w);
}
