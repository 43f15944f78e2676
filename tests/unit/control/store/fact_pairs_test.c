/* Reflection in the database: which pairs are given, when, and what decisions do to them. */
#include "control/store/fact_pairs.h"

#include <errno.h>
#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/fact_forget.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "tests/unit/ipc/loop.h"

enum { ANA = 4, BOB = 5, GUILD = 7, OTHER = 8, TODAY = 20000, MOST = 20 };
#define DAY_MS UINT64_C(86400000)

static char dir[32];
static struct db *db;
static uint64_t now;
static json_t *given; /* the pairs that were given last */

static void open_scene(void)
{
	now = TODAY * DAY_MS;
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
}

static void close_scene(void)
{
	json_decref(given);
	given = NULL;
	db_close(db);
	db = NULL;
	folder_remove(dir);
}

/* Its first number, if it returns a row. */
static int run_sql(const char *sql)
{
	sqlite3_stmt *row = NULL;
	sqlite3 *own = NULL;
	char path[64];
	int n = -1;

	snprintf(path, sizeof path, "%s/parley.db", dir);
	if (sqlite3_open(path, &own) == SQLITE_OK &&
	    sqlite3_prepare_v2(own, sql, -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		n = sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(own);
	return n;
}

/* As if no tool counted the writes of a minute. */
static void tell(uint64_t guild, uint64_t owner, uint64_t user, const char *text)
{
	char request[256], *out = NULL;
	struct job j = {.guild = guild,
			.owner = owner,
			.user = user,
			.author = (char *)"x",
			.text = request,
			.until_ms = now};

	now += 3600000;
	j.now_ms = now;
	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]}]", text);
	CHECK_INT(fact_rows_write(db, NULL, &j, &out), 0);
	CHECK(strstr(out, "inserted"));
	free(out);
}

/* "1-2 3-4": the pairs that the day's reflection gives now, "": it is done. */
static const char *next_pairs(uint64_t day, const char *without)
{
	struct job j = {.owner = day,
			.now_ms = day * DAY_MS,
			.version = MOST,
			.text = (char *)(uintptr_t)without};
	static char text[512];
	char *out = NULL;
	const json_t *pair;
	size_t i, n = 0;
	int err = fact_pairs_next(db, NULL, &j, &out);

	json_decref(given);
	given = err ? NULL : json_loads(out, 0, NULL);
	free(out);
	text[0] = '\0';
	if (err)
		return err == ENOENT ? "" : "failed";
	json_array_foreach(json_object_get(given, "pairs"), i, pair)
	{
		n += (size_t)snprintf(
			text + n, sizeof text - n, "%s%lld-%lld", i ? " " : "",
			(long long)json_integer_value(json_object_get(pair, "older")),
			(long long)json_integer_value(json_object_get(pair, "newer")));
	}
	return text;
}

/* The same relation for all pairs that were given. */
static const char *decide(const char *relation)
{
	static char done[128];
	json_t *request = json_pack("{s:O}", "pairs", json_object_get(given, "pairs")), *pair;
	struct job j = {.now_ms = now};
	char *out = NULL;
	size_t i;

	json_array_foreach(json_object_get(request, "pairs"), i, pair)
		json_object_set_new(pair, "relation", json_string(relation));
	j.guild = (uint64_t)atoll(json_string_value(json_object_get(given, "guild")));
	j.owner = (uint64_t)atoll(json_string_value(json_object_get(given, "owner")));
	j.user = (uint64_t)atoll(json_string_value(json_object_get(given, "user")));
	j.version = (uint64_t)json_integer_value(json_object_get(given, "mark"));
	j.text = json_dumps(request, 0);
	json_decref(request);
	snprintf(done, sizeof done, "%s", fact_pairs_end(db, &j, &out) ? "failed" : out);
	free(j.text);
	free(out);
	return done;
}

/* Facts as ANA finds them, each with its former ones in brackets and what contradicts it behind !.
 */
static const char *find(const char *words)
{
	char request[128], *out = NULL;
	static char found[512];
	struct job j = {.guild = GUILD, .user = ANA, .any = true, .text = request, .version = 9};
	json_t *facts, *fact, *one;
	size_t i, k, n = 0;

	snprintf(request, sizeof request, "{\"words\":\"%s\"}", words);
	if (fact_rows_find(db, NULL, &j, &out))
		return "failed";
	facts = json_loads(out, 0, NULL);
	found[0] = '\0';
	json_array_foreach(facts, i, fact)
	{
		n += (size_t)snprintf(found + n, sizeof found - n, "%s%s", i ? "; " : "",
				      json_string_value(json_object_get(fact, "text")));
		json_array_foreach(json_object_get(fact, "former"), k, one) n +=
			(size_t)snprintf(found + n, sizeof found - n, " (%s)",
					 json_string_value(json_object_get(one, "text")));
		json_array_foreach(json_object_get(fact, "conflicts"), k, one) n +=
			(size_t)snprintf(found + n, sizeof found - n, " !%s",
					 json_string_value(json_object_get(one, "text")));
	}
	json_decref(facts);
	free(out);
	return found;
}

/* Two ways to say a thing that words do not merge, and one that they do not update. */
static void tell_boats(void)
{
	tell(GUILD, 0, ANA, "I never sail boats in winter storms");
	tell(GUILD, 0, ANA, "winter storms keep me from sailing boats");
}

TEST(a_new_database_begins_with_the_next_day)
{
	open_scene();
	tell_boats();
	CHECK_STR(next_pairs(TODAY, "[]"), "");
	CHECK_STR(next_pairs(TODAY, "[]"), "");
	CHECK_STR(next_pairs(TODAY + 1, "[]"), "1-2");
	close_scene();
}

TEST(a_day_is_done_once_and_missed_days_are_caught_up_once)
{
	open_scene();
	CHECK_STR(next_pairs(TODAY - 9, "[]"), "");
	tell_boats();
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	/* A restart before the decision: it is given again. */
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	decide("other");
	CHECK_STR(next_pairs(TODAY, "[]"), "");
	tell(GUILD, 0, ANA, "sailing boats bores me in winter storms");
	CHECK_STR(next_pairs(TODAY, "[]"), ""); /* done */
	CHECK_STR(next_pairs(TODAY + 5, "[]"), "1-3 2-3");
	decide("other");
	CHECK_STR(next_pairs(TODAY + 5, "[]"), "");
	CHECK_STR(next_pairs(TODAY + 5, "[]"), "");
	close_scene();
}

TEST(pairs_are_of_one_author_and_memory)
{
	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	tell(GUILD, 0, BOB, "I love winter storms on sailing boats");
	tell(GUILD, ANA, ANA, "winter storms sink sailing boats");
	tell(OTHER, 0, ANA, "sailing boats are no fun in winter storms");
	tell(GUILD, ANA, ANA, "sailing boats hate winter storms of mine");
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	CHECK_STR(json_string_value(json_object_get(given, "owner")), "0");
	CHECK_STR(decide("other"), "{\"merged\":0,\"updated\":0,\"conflicts\":0,\"kept\":1}");
	CHECK_STR(next_pairs(TODAY, "[]"), "4-6");
	CHECK_STR(json_string_value(json_object_get(given, "owner")), "4");
	CHECK_STR(json_string_value(json_object_get(given, "user")), "4");
	CHECK_STR(next_pairs(TODAY, "[\"7\"]"), ""); /* the server waits for the next day */
	CHECK_STR(next_pairs(TODAY + 1, "[]"), "4-6");
	close_scene();
}

TEST(a_duplicate_keeps_the_older_fact_with_the_evidence_of_both)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = GUILD, .user = ANA};
	struct job j = {.guild = GUILD,
			.user = ANA,
			.author = (char *)"x",
			.now_ms = 1000,
			.text = (char *)"{\"words\":\"sail boats\"}"};
	char *out = NULL;

	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell(GUILD, 0, ANA, "I never sail boats in winter storms");
	ev.utterance = (struct event_utterance){
		.session = 5, .name = "Ana", .text = "w", .started_ms = now, .consent = true};
	CHECK_INT(rows_add(db, &ev, true), 0);
	tell(GUILD, 0, ANA, "winter storms keep me from sailing boats");
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	CHECK_STR(decide("duplicate"), "{\"merged\":1,\"updated\":0,\"conflicts\":0,\"kept\":0}");
	CHECK_STR(find("sail boats"), "I never sail boats in winter storms");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_sources WHERE fact = 1"), 1);
	CHECK_INT(run_sql("SELECT count(*) FROM audit WHERE kind = 'memory_reflect'"), 1);
	/* The other one is forgotten with it. */
	CHECK_INT(fact_forget(db, dir, &j, &out), 0);
	free(out);
	CHECK_INT(run_sql("SELECT count(*) FROM facts"), 0);
	close_scene();
}

TEST(an_update_ends_the_older_fact)
{
	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	CHECK_STR(decide("update"), "{\"merged\":0,\"updated\":1,\"conflicts\":0,\"kept\":0}");
	CHECK_STR(find("sailing boats"), "winter storms keep me from sailing boats (I never sail "
					 "boats in winter storms)");
	close_scene();
}

TEST(a_conflict_stands_and_is_told)
{
	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	CHECK_STR(decide("conflict"), "{\"merged\":0,\"updated\":0,\"conflicts\":1,\"kept\":0}");
	CHECK(strstr(find("sailing"), "winter storms keep me from sailing boats !I never sail"));
	CHECK_STR(next_pairs(TODAY + 1, "[]"), ""); /* it is not asked again */
	close_scene();
}

TEST(nothing_is_decided_about_facts_that_are_gone)
{
	char *out = NULL;
	struct job j = {.guild = GUILD,
			.user = ANA,
			.now_ms = 1000,
			.text = (char *)"{\"last\":true}",
			.author = (char *)"x"};

	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	CHECK_INT(fact_forget(db, dir, &j, &out), 0);
	free(out);
	CHECK_STR(decide("update"), "{\"merged\":0,\"updated\":0,\"conflicts\":0,\"kept\":0}");
	CHECK_STR(find("sail boats"), "I never sail boats in winter storms");
	CHECK_STR(next_pairs(TODAY, "[]"), "");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_pairs"), 0);
	close_scene();
}

TEST(a_server_gets_twenty_pairs_a_day)
{
	unsigned asked = 0, days = 0;

	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	for (unsigned i = 0; i < 12; i++) {
		char text[64];

		snprintf(text, sizeof text, "winter storms sink boats of kind %c%c%c", 'k' + (int)i,
			 'k' + (int)i, 'k' + (int)i);
		tell(GUILD, 0, ANA, text);
	}
	for (uint64_t day = TODAY + 1; days < 9; day++, days++) {
		unsigned today = 0;

		now = day * DAY_MS + 1;
		while (*next_pairs(day, "[]")) {
			today += (unsigned)json_array_size(json_object_get(given, "pairs"));
			decide("other");
		}
		CHECK(today <= MOST);
		asked += today;
	}
	CHECK_INT(asked, 0 + 1 + 2 + 3 + 8 * 4); /* of each fact the four nearest earlier ones */
	close_scene();
}

TEST(an_import_brings_an_earlier_fact_of_a_pair)
{
	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	run_sql("UPDATE facts SET valid_from_ms = 5 WHERE id = 2");
	CHECK_STR(next_pairs(TODAY, "[]"), "2-1");
	CHECK_STR(decide("update"), "{\"merged\":0,\"updated\":1,\"conflicts\":0,\"kept\":0}");
	CHECK_STR(next_pairs(TODAY, "[]"), "");
	close_scene();
}

/* The first one is the newest word, since its author said it again. */
TEST(a_fact_that_was_said_again_is_the_newer_one_of_a_pair)
{
	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	run_sql("UPDATE facts SET said_ms = valid_from_ms + 90000000 WHERE id = 1");
	CHECK_STR(next_pairs(TODAY, "[]"), "2-1");
	CHECK_STR(decide("update"), "{\"merged\":0,\"updated\":1,\"conflicts\":0,\"kept\":0}");
	CHECK_STR(find("boats"), "I never sail boats in winter storms"
				 " (winter storms keep me from sailing boats)");
	close_scene();
}

/* It ends before it began, however often it was said: it never was another value. */
TEST(a_duplicate_that_was_said_again_is_no_former_value)
{
	open_scene();
	CHECK_STR(next_pairs(1, "[]"), "");
	tell_boats();
	run_sql("UPDATE facts SET said_ms = valid_from_ms + 90000000 WHERE id = 2");
	CHECK_STR(next_pairs(TODAY, "[]"), "1-2");
	decide("duplicate");
	CHECK_STR(find("boats"), "I never sail boats in winter storms");
	CHECK_INT(run_sql("SELECT said_ms = (SELECT said_ms FROM facts WHERE id = 2)"
			  " FROM facts WHERE id = 1"),
		  1);
	close_scene();
}

static int write_fact(const char *request)
{
	struct job j = {.guild = GUILD,
			.user = ANA,
			.author = (char *)"x",
			.text = (char *)(uintptr_t)request,
			.now_ms = ++now};
	char *out = NULL;
	int err = fact_rows_write(db, NULL, &j, &out);

	free(out);
	return err;
}

TEST_OOM(a_reflection_survives_every_failed_allocation)
{
	struct job j = {.owner = TODAY, .now_ms = 1, .version = MOST, .text = (char *)"[]"};
	char *out = NULL;

	now = 5;
	CHECK(folder_make(dir));
	CHECK_OOM(db_open(&db, dir, DB_OWN), folder_remove(dir));
	run_sql("INSERT INTO meta VALUES('reflected', 1)");
	CHECK_OOM(write_fact("[{\"text\":\"I never sail boats in winter storms\"}]"),
		  close_scene());
	CHECK_OOM(write_fact("[{\"text\":\"winter storms keep me from sailing boats\"}]"),
		  close_scene());
	CHECK_OOM(fact_pairs_next(db, NULL, &j, &out), close_scene());
	CHECK(strstr(out, "winter storms keep"));
	free(out);
	close_scene();
}
