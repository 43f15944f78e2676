/* The statements of the search: what they cost in a long timeline. */
#include "control/store/said.h"

#include <errno.h>
#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "tests/unit/control/store/still_clock.h"
#include "tests/unit/ipc/loop.h"

enum { LINES = 2000, MIDDLE = LINES / 2 };

static void add_lines(struct db *db)
{
	CHECK_INT(db_begin(db), 0);
	for (unsigned i = 0; i < LINES; i++) {
		struct bus_event ev = {.type = EVENT_UTTERANCE, .guild = 7, .user = 4};

		ev.utterance = (struct event_utterance){.session = 5,
							.channel = 3,
							.utterance = i,
							.name = "Ana",
							.text = i == MIDDLE ? "a comet" : "rain",
							.started_ms = 1000 + i * 1000};
		CHECK_INT(rows_add(db, &ev, true), 0);
	}
	CHECK_INT(db_commit(db), 0);
}

static struct job ask(const char *words)
{
	return (struct job){.kind = JOB_FIND_SAID,
			    .guild = 7,
			    .channel = 3,
			    .text = (char *)(uintptr_t)words,
			    .author = (char *)"",
			    .version = 1};
}

TEST(a_search_whose_time_is_up_ends_and_the_next_one_is_whole)
{
	struct job j = ask("rain");
	struct db *db = NULL;
	char dir[32], *out = NULL;
	int err;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	add_lines(db);
	CHECK_INT(db_begin_search(db, 1), 0);
	CHECK_INT(db_run(db, db_use(db, DB_FIND_PEOPLE)), 0);
	still_clock_pass(1);
	/* From its beginning, until SQLite looks at the clock. */
	do
		err = db_step(db, db_use(db, DB_FIND_PEOPLE));
	while (!err);
	CHECK_INT(err, ETIMEDOUT);
	/* A statement that needs few steps still runs. */
	CHECK_INT(db_step(db, db_use(db, DB_LIST_GUILDS)), ENOENT);
	db_rollback(db);
	j.search_ms = 1;
	CHECK_INT(said_find(db, NULL, &j, &out), 0);
	CHECK(out && strstr(out, "rain"));
	free(out);
	still_clock_tick(1);
	CHECK_INT(said_find(db, NULL, &j, &out), 0);
	still_clock_tick(0);
	CHECK_STR(out, "[]");
	free(out);
	j.search_ms = 0;
	CHECK_INT(said_find(db, NULL, &j, &out), 0);
	CHECK(out && strstr(out, "rain"));
	free(out);
	db_close(db);
	folder_remove(dir);
}

TEST(lines_beside_one_are_found_without_a_scan)
{
	static const enum db_statement sides[] = {DB_FIND_BEFORE, DB_FIND_AFTER};
	struct job j = ask("comet");
	struct db *db = NULL;
	char dir[32], *out = NULL;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	add_lines(db);
	CHECK_INT(said_find(db, NULL, &j, &out), 0);
	CHECK(out && strstr(out, "a comet") && strstr(out, "\"near\":[{"));
	for (unsigned i = 0; i < 2; i++)
		CHECK(sqlite3_stmt_status(db_use(db, sides[i]), SQLITE_STMTSTATUS_VM_STEP, 0) <
		      LINES);
	free(out);
	db_close(db);
	folder_remove(dir);
}
