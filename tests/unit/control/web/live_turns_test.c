#include "tests/test.h"

#include "control/web/live_turns.h"

#include "control/events/events.h"

static struct bus *bus;
static struct live_turns *turns;

static void tell(enum event_type type, uint64_t guild, uint64_t turn, bool transient)
{
	bus_publish(bus,
		    &(struct bus_event){.type = type,
					.at_ms = 1790000000000,
					.guild = guild,
					.user = 501,
					.turn = {.turn = turn,
						 .stage = "admitted",
						 .name = "alice",
						 .heard = "what time is it",
						 .reason = type == EVENT_TURN ? "answered" : "",
						 .first_audio_ms = -1,
						 .why = "[{\"rule\":\"direct_address\"}]",
						 .transient = transient}});
}

static bool begin(void)
{
	return bus_alloc(&bus) == 0 && live_turns_alloc(&turns, bus) == 0;
}

static void end(void)
{
	bus_free(bus);
	live_turns_free(turns);
}

static size_t count(uint64_t guild)
{
	json_t *list = live_turns_current(turns, guild, true);
	size_t n = json_array_size(list);

	json_decref(list);
	return n;
}

TEST(turns_under_way_and_the_last_one_are_shown)
{
	json_t *list, *last;

	CHECK(begin());
	tell(EVENT_TURN_ADMITTED, 1, 1, false);
	tell(EVENT_TURN_ADMITTED, 1, 2, false);
	tell(EVENT_TURN_ADMITTED, 2, 1, false);
	tell(EVENT_TURN_SPEAKING, 1, 1, false);
	CHECK_INT(count(1), 2);
	CHECK_INT(count(2), 1);
	list = live_turns_current(turns, 1, true);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "heard")),
		  "what time is it");
	CHECK_INT(json_array_size(json_object_get(json_array_get(list, 0), "why")), 1);
	json_decref(list);
	last = live_turns_last(turns, 1, true);
	CHECK(json_is_null(last));
	tell(EVENT_TURN, 1, 1, false);
	tell(EVENT_TURN, 1, 2, false);
	CHECK_INT(count(1), 0);
	last = live_turns_last(turns, 1, true);
	CHECK_INT(json_integer_value(json_object_get(last, "turn")), 2);
	CHECK_STR(json_string_value(json_object_get(last, "reason")), "answered");
	CHECK(json_is_null(json_object_get(last, "firstAudioMs")));
	json_decref(last);
	tell(EVENT_SESSION_OVER, 2, 0, false);
	CHECK_INT(count(2), 0);
	end();
}

TEST(words_are_for_those_who_may_read_them_and_not_kept_longer_than_allowed)
{
	json_t *list, *last;

	CHECK(begin());
	tell(EVENT_TURN_ADMITTED, 1, 1, true);
	list = live_turns_current(turns, 1, false);
	CHECK(json_is_null(json_object_get(json_array_get(list, 0), "heard")));
	json_decref(list);
	tell(EVENT_TURN, 1, 1, true);
	last = live_turns_last(turns, 1, true);
	CHECK(json_is_null(json_object_get(last, "heard")));
	json_decref(last);
	tell(EVENT_TURN, 1, 2, false);
	live_turns_forget(turns);
	last = live_turns_last(turns, 1, true);
	CHECK(json_is_null(last));
	end();
}

/* What a client of the seeds shows as the last turns of a call. */
TEST(the_last_turns_stay_without_the_words_of_all_but_the_last)
{
	json_t *list;

	CHECK(begin());
	for (unsigned i = 1; i <= LIVE_TURNS_RECENT + 3; i++)
		tell(EVENT_TURN, 1, i, false);
	tell(EVENT_TURN, 2, 1, false);
	list = live_turns_recent(turns, 1, true);
	CHECK_INT(json_array_size(list), LIVE_TURNS_RECENT);
	CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 0), "turn")), 4);
	CHECK(json_is_null(json_object_get(json_array_get(list, LIVE_TURNS_RECENT - 2), "heard")));
	CHECK_STR(json_string_value(
			  json_object_get(json_array_get(list, LIVE_TURNS_RECENT - 1), "heard")),
		  "what time is it");
	json_decref(list);
	list = live_turns_last(turns, 1, true);
	CHECK_INT(json_integer_value(json_object_get(list, "turn")), LIVE_TURNS_RECENT + 3);
	json_decref(list);
	end();
}

TEST(a_flood_of_turns_costs_the_oldest)
{
	CHECK(begin());
	for (unsigned i = 1; i <= LIVE_TURNS_MAX + 10; i++)
		tell(EVENT_TURN_ADMITTED, i, 1, false);
	CHECK_INT(count(10), 0);
	CHECK_INT(count(11), 1);
	end();
}

TEST_OOM(turns_survive_without_memory)
{
	if (begin()) {
		tell(EVENT_TURN_ADMITTED, 1, 1, false);
		tell(EVENT_TURN, 1, 1, false);
		json_decref(live_turns_last(turns, 1, true));
		end();
		turns = NULL;
		bus = NULL;
	} else {
		bus = bus_free(bus);
	}
}
