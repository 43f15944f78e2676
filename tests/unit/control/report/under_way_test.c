#include "control/report/under_way.h"

#include "control/events/events.h"
#include "tests/test.h"

static bool take(struct under_way *u, enum event_type type, uint64_t guild, unsigned turn)
{
	struct bus_event ev = {.type = type, .guild = guild};

	if (type != EVENT_SESSION_STARTED && type != EVENT_SESSION_OVER)
		ev.turn.turn = turn;
	return under_way_take(u, &ev);
}

TEST(under_way_are_turns_from_admission_to_end)
{
	struct under_way u = {0};
	unsigned speaking;

	CHECK(take(&u, EVENT_TURN_ADMITTED, 1, 7));
	CHECK(!take(&u, EVENT_TURN_ADMITTED, 1, 7));
	CHECK(take(&u, EVENT_TURN_ADMITTED, 1, 8));
	CHECK(take(&u, EVENT_TURN_ADMITTED, 2, 7));
	CHECK(take(&u, EVENT_TURN_SPEAKING, 1, 7));
	CHECK(!take(&u, EVENT_TURN_SPEAKING, 1, 7));
	CHECK(!take(&u, EVENT_TURN_SPEAKING, 1, 99)); /* never admitted */
	CHECK_INT(under_way_count(&u, 1, &speaking), 2);
	CHECK_INT(speaking, 1);
	CHECK(take(&u, EVENT_TURN, 1, 7));
	CHECK(!take(&u, EVENT_TURN, 1, 7));
	CHECK_INT(under_way_count(&u, 1, &speaking), 1);
	CHECK_INT(speaking, 0);
	CHECK(take(&u, EVENT_SESSION_OVER, 1, 0));
	CHECK(!take(&u, EVENT_SESSION_OVER, 1, 0));
	CHECK_INT(under_way_count(&u, 1, &speaking), 0);
	CHECK_INT(under_way_count(&u, 2, &speaking), 1);
	/* The numbers begin again in the next session, and in the next control. */
	CHECK(take(&u, EVENT_SESSION_STARTED, 2, 0));
	CHECK_INT(under_way_count(&u, 2, &speaking), 0);
}

TEST(under_way_the_oldest_turn_makes_room)
{
	struct under_way u = {0};
	unsigned speaking;

	for (unsigned i = 0; i < UNDER_WAY_MAX + 3; i++)
		CHECK(take(&u, EVENT_TURN_ADMITTED, 1 + i, 1));
	CHECK_INT(u.n, UNDER_WAY_MAX);
	CHECK_INT(under_way_count(&u, 3, &speaking), 0);
	CHECK_INT(under_way_count(&u, 4, &speaking), 1);
	CHECK_INT(under_way_count(&u, UNDER_WAY_MAX + 3, &speaking), 1);
}

static bool call(struct under_way *u, enum event_type type, const char *name, const char *code)
{
	return under_way_take(u,
			      &(struct bus_event){.type = type,
						  .guild = 1,
						  .tool = {.call = 7, .name = name, .code = code}});
}

static bool end_turn(struct under_way *u, const char *reason)
{
	return take(u, EVENT_TURN_ADMITTED, 1, 7) &&
	       under_way_take(u, &(struct bus_event){.type = EVENT_TURN,
						     .guild = 1,
						     .turn = {.turn = 7, .reason = reason}});
}

TEST(under_way_are_tasks_until_their_results_are_told)
{
	struct under_way u = {0};
	unsigned speaking;

	CHECK(!call(&u, EVENT_TOOL_BEGAN, "roll", ""));
	CHECK(call(&u, EVENT_TOOL_BEGAN, "ask", ""));
	CHECK(!call(&u, EVENT_TOOL_BEGAN, "ask", ""));
	CHECK_INT(under_way_tasks(&u, 1), 1);
	CHECK_INT(under_way_tasks(&u, 2), 0);
	CHECK_INT(under_way_count(&u, 1, &speaking), 0);
	/* Turns that end meanwhile do not end the task. */
	CHECK(end_turn(&u, "answered"));
	CHECK_INT(under_way_tasks(&u, 1), 1);
	CHECK(call(&u, EVENT_TOOL_CALLED, "ask", "ok"));
	CHECK(end_turn(&u, "interrupted"));
	CHECK_INT(under_way_tasks(&u, 1), 1);
	CHECK(end_turn(&u, "answered"));
	CHECK_INT(under_way_tasks(&u, 1), 0);
	CHECK(call(&u, EVENT_TOOL_BEGAN, "ask", ""));
	CHECK(call(&u, EVENT_TOOL_CALLED, "ask", "cancelled"));
	CHECK_INT(under_way_tasks(&u, 1), 0);
}
