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
	CHECK_INT(turns.n, 3);
	CHECK_STR(own_turns_reason(&turns, 1, 501), "it was late");
	own_turns_forget(&turns, 501);
	CHECK(!own_turns_reason(&turns, 1, 501));
	CHECK_STR(own_turns_reason(&turns, 1, 502), "it was noise");
}

/* Whoever spoke again can still ask about the turn before. */
TEST(the_last_turns_of_a_person_are_listed)
{
	const struct own_turn *list[OWN_TURNS_EACH];
	struct bus_event ev = {.type = EVENT_TURN, .guild = 1, .user = 501};

	memset(&turns, 0, sizeof turns);
	tell(502, "noise", "it was noise");
	for (unsigned i = 1; i <= OWN_TURNS_EACH + 5; i++) {
		ev.turn = (struct event_turn){.turn = i, .reason = "answered", .text = "answered"};
		own_turns_take_event(&ev, &turns);
	}
	CHECK_INT(turns.n, OWN_TURNS_EACH + 1);
	CHECK_INT(own_turns_list(&turns, 1, 501, list), OWN_TURNS_EACH);
	CHECK_INT(list[0]->turn, OWN_TURNS_EACH + 5);
	CHECK_INT(list[OWN_TURNS_EACH - 1]->turn, 6);
	CHECK(!own_turns_find(&turns, 1, 501, 5));
	CHECK(!own_turns_find(&turns, 1, 502, 6));
	/* In the next session numbers begin anew: the newest of a number is meant. */
	ev.turn = (struct event_turn){.turn = 7, .reason = "noise", .text = "it was noise"};
	own_turns_take_event(&ev, &turns);
	CHECK_STR(own_turns_find(&turns, 1, 501, 7)->reason, "it was noise");
	CHECK_INT(own_turns_list(&turns, 1, 501, list), OWN_TURNS_EACH - 1);
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
