#include "control/report/own_turns.h"

#include <string.h>

#include "control/events/events.h"
#include "tests/test.h"

static struct own_turns turns;

static void tell(uint64_t user, const char *reason, const char *text)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = 1, .user = user};

	ev.turn = (struct event_turn){.reason = reason, .text = text};
	own_turns_take_event(&ev, &turns);
}

TEST(the_last_turn_of_a_person_is_known_until_they_are_forgotten)
{
	memset(&turns, 0, sizeof turns);
	CHECK(!own_turns_reason(&turns, 1, 501));
	tell(501, "answered", "it was answered");
	tell(502, "noise", "it was noise");
	CHECK_STR(own_turns_reason(&turns, 1, 501), "it was answered");
	CHECK(!own_turns_reason(&turns, 2, 501));
	tell(501, "expired", "it was late");
	CHECK_INT(turns.n, 2);
	CHECK_STR(own_turns_reason(&turns, 1, 501), "it was late");
	own_turns_forget(&turns, 501);
	CHECK(!own_turns_reason(&turns, 1, 501));
	CHECK_STR(own_turns_reason(&turns, 1, 502), "it was noise");
}

TEST(turns_that_went_into_others_are_not_told_as_the_last)
{
	memset(&turns, 0, sizeof turns);
	tell(501, "answered", "it was answered");
	tell(501, "merged", "it went into another");
	tell(501, "speculation_unused", "nobody heard it");
	tell(0, "noise", "it was noise");
	CHECK_STR(own_turns_reason(&turns, 1, 501), "it was answered");
}

TEST(the_oldest_of_too_many_people_gives_way)
{
	memset(&turns, 0, sizeof turns);
	for (uint64_t user = 1; user <= OWN_TURNS + 1; user++)
		tell(user, "answered", "it was answered");
	CHECK_INT(turns.n, OWN_TURNS);
	CHECK(!own_turns_reason(&turns, 1, 1));
	CHECK(own_turns_reason(&turns, 1, OWN_TURNS + 1) != NULL);
}
