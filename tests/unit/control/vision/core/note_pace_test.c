#include "control/vision/core/note_pace.h"

#include "proto/base/time.h"
#include "tests/test.h"

static const struct note_rules rules = {.gap = 10 * NS_PER_S, .per_hour = 3};

static bool due(const struct note_pace *p, uint64_t s)
{
	return note_pace_due(p, &rules, s * NS_PER_S) <= s * NS_PER_S;
}

TEST(a_note_is_asked_for_when_something_changed)
{
	struct note_pace p = {0};

	CHECK(note_pace_due(&p, &rules, NS_PER_S) == UINT64_MAX);
	CHECK_INT(note_pace_take(&p), 0);
	note_pace_want(&p, 7);
	note_pace_want(&p, 8);
	note_pace_want(&p, 7);
	CHECK(due(&p, 1));
	CHECK_INT(note_pace_take(&p), 7);
	note_pace_ask(&p, 1 * NS_PER_S);
	/* One at a time, and then the gap. */
	CHECK(note_pace_due(&p, &rules, 60 * NS_PER_S) == UINT64_MAX);
	note_pace_end(&p);
	CHECK(!due(&p, 10) && due(&p, 11));
	CHECK_INT(note_pace_take(&p), 8);
	note_pace_ask(&p, 11 * NS_PER_S);
	note_pace_end(&p);
	CHECK(note_pace_due(&p, &rules, 60 * NS_PER_S) == UINT64_MAX);
}

TEST(an_hour_has_so_many_notes)
{
	static const struct note_rules none = {.gap = 0, .per_hour = 0};
	struct note_pace p = {0};

	for (unsigned i = 0; i < 3; i++) {
		note_pace_want(&p, 1);
		CHECK(due(&p, 100 + 20 * i));
		note_pace_take(&p);
		note_pace_ask(&p, (100 + 20 * i) * NS_PER_S);
		note_pace_end(&p);
	}
	note_pace_want(&p, 1);
	CHECK(!due(&p, 3000));
	CHECK(note_pace_due(&p, &rules, 3000 * NS_PER_S) == 3700 * NS_PER_S);
	CHECK(due(&p, 3700));
	note_pace_take(&p);
	note_pace_ask(&p, 3700 * NS_PER_S);
	note_pace_end(&p);
	note_pace_want(&p, 1);
	CHECK(due(&p, 3710));
	CHECK(note_pace_due(&p, &none, 9000 * NS_PER_S) == UINT64_MAX);
}

TEST(more_shares_than_wait_are_left_for_their_next_change)
{
	struct note_pace p = {0};

	for (uint32_t i = 1; i <= 2 * NOTE_PACE_SHARES; i++)
		note_pace_want(&p, i);
	for (uint32_t i = 1; i <= NOTE_PACE_SHARES; i++)
		CHECK_INT(note_pace_take(&p), i);
	CHECK_INT(note_pace_take(&p), 0);
}
