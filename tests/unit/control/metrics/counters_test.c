#include "control/metrics/counters.h"

#include "control/events/events.h"
#include "tests/test.h"

/* One event of each kind that is counted; a counter without one is fed by counter_add. */
static const struct {
	enum counter counter;
	struct bus_event ev;
} moves[] = {
	{COUNTER_LOGINS, {.type = EVENT_READY}},
	{COUNTER_LOGINS, {.type = EVENT_RESUMED}},
	{COUNTER_COMMANDS, {.type = EVENT_COMMAND}},
	{COUNTER_MEDIAD_UP, {.type = EVENT_MEDIAD_LINK, .link = {.up = true}}},
	{COUNTER_MEDIAD_DOWN, {.type = EVENT_MEDIAD_LINK}},
	{COUNTER_CALLS_UP, {.type = EVENT_CALL_STATE, .call = {.phase = "up"}}},
	{COUNTER_TRANSCRIPTS, {.type = EVENT_UTTERANCE}},
	{COUNTER_TURNS_ADMITTED, {.type = EVENT_TURN_ADMITTED}},
	{COUNTER_ANSWERS_SPOKEN, {.type = EVENT_TURN_SPEAKING}},
	{COUNTER_TURNS_ENDED, {.type = EVENT_TURN, .turn = {.reason = "not_addressed"}}},
	{COUNTER_ENGINES_UP, {.type = EVENT_ENGINE_UP}},
	{COUNTER_ENGINES_DOWN, {.type = EVENT_ENGINE_DOWN}},
	{COUNTER_FAILOVERS, {.type = EVENT_FAILOVER}},
	{COUNTER_FAULTS, {.type = EVENT_FAULT}},
	{COUNTER_TOLD, {.type = EVENT_TOLD}},
};

TEST(counters_move_by_their_own_event_alone)
{
	struct bus_event quiet = {.type = EVENT_CALL_STATE, .call = {.phase = "connecting"}};
	struct bus_event answered = {.type = EVENT_TURN, .turn = {.reason = "answered"}};
	struct counters c = {0};
	uint64_t sum;

	for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
		c = (struct counters){0};
		counters_take_event(&c, &moves[i].ev);
		sum = 0;
		for (unsigned k = 0; k < COUNTER_COUNT; k++)
			sum += c.v[k];
		CHECK_INT(c.v[moves[i].counter], 1);
		CHECK_INT(sum, 1);
	}
	c = (struct counters){0};
	counters_take_event(&c, &quiet);
	CHECK_INT(c.v[COUNTER_CALLS_UP], 0);
	counters_take_event(&c, &answered);
	CHECK_INT(c.v[COUNTER_TURNS_ENDED], 1);
	CHECK_INT(c.v[COUNTER_TURNS_ANSWERED], 1);
}

/* Its speculative answer has a number of its own and goes on in the question's place. */
TEST(one_question_is_counted_once)
{
	static const struct bus_event events[] = {
		{.type = EVENT_TURN_ADMITTED,
		 .turn = {.turn = 1, .why = "[{\"rule\":\"direct_address\",\"yes\":true}]"}},
		{.type = EVENT_TURN, .turn = {.turn = 1, .reason = "merged"}},
		{.type = EVENT_TURN_ADMITTED,
		 .turn = {.turn = 2, .why = "[{\"rule\":\"speculative_start\",\"yes\":true}]"}},
		{.type = EVENT_TURN, .turn = {.turn = 2, .reason = "answered"}},
		{.type = EVENT_TURN, .turn = {.turn = 3, .reason = "eot_revoked"}},
	};
	struct counters c = {0};

	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		counters_take_event(&c, &events[i]);
	CHECK_INT(c.v[COUNTER_TURNS_ADMITTED], 1);
	CHECK_INT(c.v[COUNTER_TURNS_ENDED], 1);
	CHECK_INT(c.v[COUNTER_TURNS_ANSWERED], 1);
}

TEST(counters_come_back_from_text)
{
	struct counters c = {0}, back;
	json_t *j;

	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		for (unsigned n = 0; n <= i; n++)
			counter_add(&c, (enum counter)i);
	j = counters_json(&c);
	json_object_set_new(j, "unknown", json_integer(5));
	counters_read(j, &back);
	CHECK_MEM(&back, sizeof back, &c, sizeof c);
	json_object_set_new(j, "told", json_integer(-5));
	json_object_del(j, "faults");
	counters_read(j, &back);
	CHECK_INT(back.v[COUNTER_TOLD], 0);
	CHECK_INT(back.v[COUNTER_FAULTS], 0);
	CHECK_INT(back.v[COUNTER_LOGINS], 1);
	json_decref(j);
	counters_read(NULL, &back);
	CHECK_INT(back.v[COUNTER_LOGINS], 0);
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		CHECK(*counter_name((enum counter)i) && *counter_text((enum counter)i));
}
