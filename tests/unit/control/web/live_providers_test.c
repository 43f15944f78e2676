/* What the dashboard tells of each provider, from events of the bus. */
#include "control/web/live_providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "tests/test.h"

#define HOUR_MS UINT64_C(3600000)

static struct bus *bus;
static struct live_providers *providers;

static bool begin(void)
{
	return bus_alloc(&bus) == 0 && live_providers_alloc(&providers, bus) == 0;
}

static void end(void)
{
	bus_free(bus);
	providers = live_providers_free(providers);
}

static void use(const char *provider, const char *role, unsigned turn, uint64_t at)
{
	struct bus_event ev = {.type = EVENT_ENGINE_USED, .at_ms = at, .guild = 7};

	ev.usage = (struct event_usage){
		.role = role, .provider = provider, .model = "m", .turn = turn, .session = 5};
	bus_publish(bus, &ev);
}

static void end_turn(unsigned turn, int ms, uint64_t at)
{
	struct bus_event ev = {.type = EVENT_TURN, .at_ms = at, .guild = 7};
	char why[96];

	snprintf(why, sizeof why, "[{\"rule\":\"first_audio\",\"yes\":%s,\"value\":%d}]",
		 ms < 0 ? "false" : "true", ms);
	ev.turn = (struct event_turn){
		.session = 5, .turn = turn, .stage = "ended", .reason = "answered", .why = why};
	bus_publish(bus, &ev);
}

static void fail(const char *provider, const char *why, uint64_t at)
{
	struct bus_event ev = {.type = EVENT_ENGINE_DOWN, .at_ms = at};

	ev.engine = (struct event_engine){.role = "voice", .provider = provider, .why = why};
	bus_publish(bus, &ev);
}

static json_int_t number(const json_t *row, const char *name)
{
	return json_integer_value(json_object_get(row, name));
}

TEST(a_provider_has_rates_delays_and_its_last_failure)
{
	json_t *list, *row, *delays;

	CHECK(begin());
	for (unsigned i = 1; i <= 20; i++) {
		use("ear", "transcribe", i, HOUR_MS);
		use("mouth", "voice", i, HOUR_MS);
		end_turn(i, (int)(100 * i), HOUR_MS + 1);
	}
	/* A turn without a sound, and one that nobody of ours answered, have no delay. */
	use("mouth", "voice", 21, HOUR_MS);
	end_turn(21, -1, HOUR_MS);
	end_turn(99, 5, HOUR_MS);
	fail("mouth", "closed 1006\n\x1b[2J", 3 * HOUR_MS);
	use("mouth", "voice", 22, 3 * HOUR_MS);
	list = live_providers_json(providers, 3 * HOUR_MS, true);
	CHECK_INT(json_array_size(list), 2);
	row = json_array_get(list, 1);
	delays = json_object_get(row, "delays");
	CHECK_STR(json_string_value(json_object_get(row, "provider")), "mouth");
	CHECK_INT(number(row, "requests"), 22);
	CHECK_INT(number(row, "requestsLastHour"), 1);
	CHECK_INT(number(row, "failures"), 1);
	CHECK_INT(number(row, "failuresLastHour"), 1);
	CHECK_INT(number(delays, "count"), 20);
	CHECK_INT(number(delays, "p50Ms"), 1000);
	CHECK_INT(number(delays, "p95Ms"), 1900);
	CHECK(json_is_false(json_object_get(row, "up")));
	CHECK_STR(json_string_value(json_object_get(row, "lastFailure")), "closed 1006  [2J");
	row = json_array_get(list, 0);
	CHECK(json_is_null(json_object_get(row, "up")));
	CHECK(json_is_null(json_object_get(json_object_get(row, "delays"), "p50Ms")));
	CHECK(json_is_null(json_object_get(row, "lastFailureAt")));
	json_decref(list);
	/* An hour later nothing is of the last hour; what a provider wrote is for operators. */
	list = live_providers_json(providers, 4 * HOUR_MS, false);
	row = json_array_get(list, 1);
	CHECK_INT(number(row, "requestsLastHour"), 0);
	CHECK(json_is_null(json_object_get(row, "lastFailure")));
	CHECK(json_is_string(json_object_get(row, "lastFailureAt")));
	json_decref(list);
	end();
}

TEST(the_provider_that_was_quiet_for_longest_gives_its_place)
{
	char name[16];
	json_t *list;

	CHECK(begin());
	for (unsigned i = 0; i <= LIVE_PROVIDERS_MAX; i++) {
		snprintf(name, sizeof name, "p%u", i);
		use(name, "text", 0, HOUR_MS + i);
	}
	list = live_providers_json(providers, HOUR_MS, true);
	CHECK_INT(json_array_size(list), LIVE_PROVIDERS_MAX);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "provider")), "p32");
	json_decref(list);
	end();
}
