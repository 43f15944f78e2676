/* The statements of the search: what they cost in a long timeline. */
#include "control/store/said.h"

#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/job.h"
#include "control/store/rows.h"
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

TEST(lines_beside_one_are_found_without_a_scan)
{
	static const enum db_statement sides[] = {DB_FIND_BEFORE, DB_FIND_AFTER};
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = 7,
			.channel = 3,
			.text = (char *)"comet",
			.author = (char *)"",
			.version = 1};
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
