#include "tests/test.h"

#include "control/room/answer/planner.h"

enum { PAUSE = 72000, RESUME = 36000 };

static struct room_plan plan;

static void begin(void)
{
	plan = (struct room_plan){0};
}

static void speech(const char *text)
{
	room_plan_speech(&plan, text, strlen(text));
}

static void sound(const char *ref)
{
	room_plan_sound(&plan, ref, strlen(ref));
}

static struct room_plan_do next(uint64_t backlog)
{
	return room_plan_next(&plan, backlog, PAUSE, RESUME);
}

/* The next thing is this speech; its sound goes out and is whole. */
static bool speaks(const char *text)
{
	struct room_plan_do d = next(0);

	return d.what == ROOM_PLAN_SPEAK && strcmp(d.text, text) == 0 &&
	       next(0).what == ROOM_PLAN_WAIT && room_plan_sounds(&plan, d.chunk) &&
	       room_plan_spoken(&plan, d.chunk);
}

static bool sounds(const char *ref)
{
	struct room_plan_do d = next(0);

	return d.what == ROOM_PLAN_SOUND && strcmp(d.text, ref) == 0 &&
	       next(0).what == ROOM_PLAN_WAIT && room_plan_sounded(&plan, d.chunk);
}

TEST(rule_088_speech_then_sound_then_speech)
{
	begin();
	speech("One.");
	sound("horn");
	speech("Two.");
	room_plan_complete(&plan);
	CHECK(speaks("One."));
	/* The sound waits until what was said before has been heard. */
	CHECK_INT(next(0).what, ROOM_PLAN_END);
	CHECK_INT(next(0).what, ROOM_PLAN_WAIT);
	room_plan_drained(&plan);
	CHECK(sounds("horn"));
	CHECK(speaks("Two."));
	CHECK_INT(next(0).what, ROOM_PLAN_END);
	room_plan_drained(&plan);
	CHECK_INT(next(0).what, ROOM_PLAN_DONE);
	CHECK_INT(next(0).what, ROOM_PLAN_DONE);
}

TEST(rule_088_tail_flags_do_not_stall)
{
	begin();
	sound("horn");
	room_plan_complete(&plan);
	/* Nothing is playing: nothing to wait for. */
	CHECK(sounds("horn"));
	CHECK_INT(next(0).what, ROOM_PLAN_DONE);

	begin();
	room_plan_complete(&plan);
	CHECK_INT(next(0).what, ROOM_PLAN_DONE);

	begin();
	speech("One.");
	CHECK(speaks("One."));
	CHECK_INT(next(0).what, ROOM_PLAN_WAIT);
	speech(" ... !");
	room_plan_complete(&plan); /* that was no speech */
	CHECK_INT(next(0).what, ROOM_PLAN_END);

	/* Speech that failed before any of it was heard. */
	begin();
	speech("One.");
	sound("horn");
	CHECK(room_plan_spoken(&plan, next(0).chunk));
	CHECK(sounds("horn"));
}

TEST(rule_088_facts_of_another_chunk_move_nothing)
{
	struct room_plan_do d;

	begin();
	speech("One.");
	speech("Two.");
	d = next(0);
	CHECK(!room_plan_spoken(&plan, d.chunk + 1));
	CHECK(!room_plan_sounds(&plan, d.chunk + 1));
	CHECK(!room_plan_sounded(&plan, d.chunk));
	CHECK(room_plan_spoken(&plan, d.chunk));
	CHECK(!room_plan_spoken(&plan, d.chunk));
	CHECK(!room_plan_sounds(&plan, d.chunk));
}

TEST(speech_pauses_at_a_high_backlog_until_it_is_low)
{
	begin();
	speech("One.");
	speech("Two.");
	CHECK_INT(next(PAUSE).what, ROOM_PLAN_WAIT);
	CHECK_INT(next(PAUSE - 1).what, ROOM_PLAN_WAIT);
	CHECK_INT(next(RESUME + 1).what, ROOM_PLAN_WAIT);
	CHECK_INT(next(RESUME).what, ROOM_PLAN_SPEAK);
	CHECK(room_plan_spoken(&plan, 1));
	CHECK_INT(next(PAUSE - 1).what, ROOM_PLAN_SPEAK);
}

TEST(rule_089_the_tail_collapses_and_keeps_its_order)
{
	begin();
	speech("One.");
	speech("Two.");
	speech("Three.");
	CHECK(speaks("One."));
	speech("Four.");
	room_plan_complete(&plan);
	CHECK_INT(plan.collapsed, 2);
	CHECK(speaks("Two. Three. Four."));
	CHECK_INT(next(0).what, ROOM_PLAN_END);
}

TEST(rule_089_pieces_next_to_a_sound_do_not_collapse)
{
	begin();
	speech("One.");
	speech("Two.");
	speech("Three.");
	sound("horn");
	speech("Four.");
	speech("Five.");
	speech("Six.");
	room_plan_complete(&plan);
	CHECK(speaks("One. Two."));
	CHECK(speaks("Three."));
	CHECK_INT(next(0).what, ROOM_PLAN_END);
	room_plan_drained(&plan);
	CHECK(sounds("horn"));
	CHECK(speaks("Four."));
	CHECK(speaks("Five. Six."));
}

TEST(rule_089_a_line_stays_speakable_as_it_stands)
{
	char text[ROOM_EXACT_LINE_MAX + 100];
	unsigned spoken = 0;

	begin();
	memset(text, 'x', sizeof text);
	text[700] = '\0';
	for (unsigned i = 0; i < 3; i++)
		speech(text);
	room_plan_complete(&plan);
	CHECK_INT(plan.collapsed, 0);
	/* More than there are places: bounded, and told. */
	begin();
	text[700] = 'x';
	text[sizeof text - 1] = '\0';
	for (unsigned i = 0; i < 100; i++)
		speech(text);
	CHECK(plan.cut);
	CHECK_INT(plan.n, ROOM_PLAN_STEPS);
	room_plan_complete(&plan);
	for (struct room_plan_do d; (d = next(0)).what == ROOM_PLAN_SPEAK; spoken++) {
		CHECK_INT(strlen(d.text), ROOM_EXACT_LINE_MAX);
		CHECK(room_plan_spoken(&plan, d.chunk));
	}
	CHECK_INT(spoken, ROOM_PLAN_STEPS);
}

TEST(an_abandoned_plan_says_no_more)
{
	begin();
	speech("One.");
	speech("Two.");
	CHECK_INT(next(0).what, ROOM_PLAN_SPEAK);
	CHECK(room_plan_sounds(&plan, 1));
	room_plan_abandon(&plan);
	CHECK(!room_plan_spoken(&plan, 1));
	speech("Three.");
	CHECK_INT(next(0).what, ROOM_PLAN_END);
	room_plan_drained(&plan);
	CHECK_INT(next(0).what, ROOM_PLAN_DONE);
}
