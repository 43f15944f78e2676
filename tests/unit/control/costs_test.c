/* `control --costs`, from a store. */
#include "control/costs.h"

#include <stdlib.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/rows.h"
#include "tests/unit/ipc/loop.h"
#include "tests/test.h"

#define DAY UINT64_C(86400000)

static struct bus_event cost_of(uint64_t day, uint32_t turn, const char *provider, uint64_t nano)
{
	struct bus_event ev = {.type = EVENT_ENGINE_USED, .at_ms = day * DAY + 5, .guild = 1};

	ev.usage = (struct event_usage){.session = 9,
					.channel = 2,
					.turn = turn,
					.provider = provider,
					.model = "m",
					.role = "text",
					.nano = nano,
					.priced = nano != 0};
	return ev;
}

static void fill(struct db *db)
{
	struct bus_event turn = {.type = EVENT_TURN, .at_ms = DAY, .guild = 1, .user = 501};
	struct bus_event costs[] = {
		cost_of(1, 3, "main", 1260000),	 cost_of(1, 3, "main", 1000000),
		cost_of(1, 4, "spare", 0),	 cost_of(2, 5, "main", 2000000000),
		cost_of(2, 41, "main", 1000000), cost_of(2, 41, "main", 1000000),
		cost_of(2, 42, "main", 1000000), cost_of(2, 43, "main", 5000000),
		cost_of(2, 0, "main", 3000000),	 cost_of(2, 0, "main", 7000000)};

	costs[3].usage.estimated = true;
	/* Written answers have no voice session, and the memory has no channel. */
	for (size_t i = 4; i < sizeof costs / sizeof costs[0]; i++)
		costs[i].usage.session = 0;
	costs[7].guild = 0;
	costs[7].usage.channel = 6;
	costs[8].usage.channel = 0;
	/* Embeddings are of texts of several servers. */
	costs[9].guild = 0;
	costs[9].usage.channel = 0;
	costs[9].usage.role = "embed";
	costs[2].usage.role = "tool";
	costs[2].usage.provider = "web_search";
	turn.turn = (struct event_turn){.session = 9, .turn = 3, .name = "alice"};
	CHECK_INT(rows_add(db, &turn, true), 0);
	for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++)
		CHECK_INT(rows_add(db, &costs[i], true), 0);
}

static void check_costs(const char *dir, uint64_t guild, uint64_t since_ms, const char *want)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	CHECK_INT(costs_run(out, dir, guild, since_ms), 0);
	fclose(out);
	CHECK_STR(text, want);
	free(text);
}

/* Rounded, as the dashboard does: 0.00226 dollars. */
TEST(costs_are_told_by_day_speaker_and_provider)
{
	char dir[] = "/tmp/costs-XXXXXX";
	struct db *db = NULL;

	CHECK(mkdtemp(dir) != NULL);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	fill(db);
	db_close(db);
	check_costs(
		dir, 0, 0,
		"1970-01-02  server 1  voice channel 2  tool web_search m  at least $0.0000  1 "
		"turn\n"
		"1970-01-02  server 1  voice channel 2  alice (501)  text main m  $0.0023  1 "
		"turn\n"
		"1970-01-02  all  at least $0.0023\n"
		"1970-01-03  embed main m  $0.0070\n"
		"1970-01-03  direct messages  text channel 6  text main m  $0.0050  1 written "
		"answer\n"
		"1970-01-03  server 1  text main m  $0.0030\n"
		"1970-01-03  server 1  text channel 2  text main m  $0.0030  2 written answers\n"
		"1970-01-03  server 1  voice channel 2  text main m  about $2.0000  1 turn\n"
		"1970-01-03  all  about $2.0180\n");
	check_costs(
		dir, 1, 2 * DAY,
		"1970-01-03  server 1  text main m  $0.0030\n"
		"1970-01-03  server 1  text channel 2  text main m  $0.0030  2 written answers\n"
		"1970-01-03  server 1  voice channel 2  text main m  about $2.0000  1 turn\n"
		"1970-01-03  all  about $2.0060\n");
	check_costs(dir, 7, 0, "Nothing was spent in that time.\n");
	folder_remove(dir);
}
