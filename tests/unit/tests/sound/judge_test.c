/* The judge of the sound instrument, on recordings made here. */
#include "tests/sound/score/judge.h"
#include "tests/test.h"

#include <math.h>

enum { LENGTH = 20 * SCORE_RATE, QUESTION_MS = 1000, ANSWER = 8000 };

struct scene {
	int16_t asker[LENGTH], other[LENGTH], bot[LENGTH], answer[ANSWER * SCORE_RATE / 1000];
	struct recording answers;
	struct judge_item item;
};

static struct scene s;

/* No two places sound the same. */
static int16_t voice_at(size_t i, unsigned seed)
{
	uint64_t z = (i / 4 + 1) * 0x9e3779b97f4a7c15ull + seed;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	return (int16_t)((int)(z >> 40 & 0xfff) - 2048);
}

static void speak(int16_t *to, unsigned from_ms, unsigned ms, unsigned seed)
{
	size_t from = (size_t)from_ms * SCORE_RATE / 1000, n = (size_t)ms * SCORE_RATE / 1000;

	for (size_t i = 0; i < n; i++)
		to[from + i] = voice_at(i, seed);
}

/* The bot says its answer from this place of it on. */
static void answer_play(unsigned at_ms, unsigned from_ms, unsigned ms)
{
	memcpy(s.bot + (size_t)at_ms * SCORE_RATE / 1000,
	       s.answer + (size_t)from_ms * SCORE_RATE / 1000,
	       (size_t)ms * SCORE_RATE / 1000 * sizeof *s.bot);
}

/* A question from 1 to 2 s; words of this member from 5 s on. */
static void scene_make(bool other, unsigned words_ms)
{
	memset(&s, 0, sizeof s);
	speak(s.answer, 0, ANSWER, 3);
	speak(s.asker, 1000, QUESTION_MS, 1);
	speak(other ? s.other : s.asker, 5000, words_ms, 2);
	s.answers = (struct recording){s.answer, ANSWER * SCORE_RATE / 1000};
	s.item = (struct judge_item){.asker = {s.asker, LENGTH},
				     .speaker = {s.other, LENGTH},
				     .bot = {s.bot, LENGTH},
				     .to = LENGTH,
				     .same = !other,
				     .answers = &s.answers,
				     .n_answers = 1};
}

TEST(judge_sees_that_the_bot_talked_on)
{
	struct judgement j;

	scene_make(false, 500);
	answer_play(2900, 0, ANSWER);
	judge(&j, &s.item);
	CHECK(j.asked && j.said && j.over && j.talked_on);
	CHECK(!j.yielded && !j.spoke_later && !j.broken);
	CHECK_INT(lround(j.answer_ms), 900);
	CHECK_INT(lround(j.words_ms), 500);
}

TEST(judge_sees_a_yield_and_a_new_answer)
{
	struct judgement j;

	scene_make(false, 1500);
	answer_play(2900, 0, 3000);
	speak(s.bot, 8000, 1000, 9);
	judge(&j, &s.item);
	CHECK(j.over && j.yielded && !j.talked_on && !j.resumed);
	CHECK(j.spoke_later && j.answered);
	CHECK_INT(lround(j.silent_ms), 900);
}

TEST(judge_calls_a_yield_that_is_late_or_resumed_none)
{
	struct judgement j;

	scene_make(false, 1500);
	answer_play(2900, 0, 4200);
	judge(&j, &s.item);
	CHECK(j.over && !j.yielded && !j.talked_on);
	CHECK_INT(lround(j.silent_ms), 2100);

	scene_make(false, 1500);
	answer_play(2900, 0, 3000);
	answer_play(7000, 3000, 3000);
	judge(&j, &s.item);
	CHECK(j.resumed && !j.yielded);

	/* The same answer from its beginning is a new one. */
	scene_make(false, 1500);
	answer_play(2900, 0, 3000);
	answer_play(8000, 0, 3000);
	judge(&j, &s.item);
	CHECK(!j.resumed && j.yielded);
}

TEST(judge_calls_a_pause_no_talking_on)
{
	struct judgement j;

	scene_make(true, 500);
	answer_play(2900, 0, 2500);
	answer_play(5900, 2500, 3000);
	judge(&j, &s.item);
	CHECK(j.over && !j.talked_on && j.resumed);
}

TEST(judge_sees_an_aside_that_was_answered)
{
	struct judgement j;

	scene_make(true, 800);
	answer_play(2900, 0, 5000);
	speak(s.bot, 9000, 1000, 9);
	judge(&j, &s.item);
	CHECK(j.talked_on && j.spoke_later);
}

TEST(judge_sees_an_answer_that_broke_off_by_itself)
{
	struct judgement j;

	scene_make(false, 500);
	answer_play(2900, 0, 1000);
	judge(&j, &s.item);
	CHECK(j.said && !j.over && j.broken && !j.talked_on);
}

TEST(judge_knows_nothing_of_what_was_not_said)
{
	struct judgement j;

	scene_make(false, 500);
	memset(s.asker, 0, sizeof s.asker);
	judge(&j, &s.item);
	CHECK(!j.asked && !j.said);
	scene_make(false, 500);
	judge(&j, &s.item);
	CHECK(j.asked && !j.said);
	CHECK(j.answer_ms < 0);
}
