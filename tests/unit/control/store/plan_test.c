/* The ways in which SQLite looks for rows. A way that reads a whole table is right and too slow. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "control/store/db.h"
#include "tests/unit/ipc/loop.h"

/* True if a step of the statement's plan uses this index. */
static bool uses_index(struct db *db, enum db_statement statement, const char *index)
{
	sqlite3_stmt *s = db_use(db, statement), *plan = NULL;
	char sql[2048];
	bool uses = false;

	snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", sqlite3_sql(s));
	sqlite3_prepare_v2(sqlite3_db_handle(s), sql, -1, &plan, NULL);
	while (plan && sqlite3_step(plan) == SQLITE_ROW)
		uses = uses || strstr((const char *)sqlite3_column_text(plan, 3), index);
	sqlite3_finalize(plan);
	return uses;
}

TEST(former_facts_are_found_by_an_index)
{
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(uses_index(db, DB_FIND_FORMER_FACTS, "facts_superseded"));
	db_close(db);
	folder_remove(dir);
}

/* The next control reads turns of many servers before it runs. */
TEST(lines_of_a_turn_are_found_by_an_index)
{
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(uses_index(db, DB_FIND_ANSWERED,
			 "utterances_channel (guild=? AND channel=? AND started_ms=?)"));
	CHECK(uses_index(db, DB_FIND_ANSWERED,
			 "utterances_session (guild=? AND session=? AND utterance=?)"));
	db_close(db);
	folder_remove(dir);
}

/* A fact is bound to the people whom it names at a step for each name, not for each line. */
TEST(names_are_found_by_an_index)
{
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(uses_index(db, DB_FIND_NAMES, "utterances_names (guild=? AND name=? AND user>?)"));
	CHECK(uses_index(db, DB_FIND_NAMES, "utterances_names (guild=? AND name>?)"));
	db_close(db);
	folder_remove(dir);
}

/* Rows that SQLite reads grow with its steps. */
static int count_steps(struct db *db, enum db_statement statement, uint64_t after)
{
	sqlite3_stmt *s = db_use(db, statement);

	sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
	db_bind_uint(s, 1, 7);
	if (statement == DB_FIND_NAMESAKE) {
		db_bind_text(s, 2, "ana");
		db_bind_uint(s, 3, after);
	}
	while (db_step(db, s) == 0)
		;
	sqlite3_reset(s);
	return sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
}

TEST(names_are_found_without_reading_all_lines_of_a_name)
{
	static const char lines[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
				    " FROM n WHERE i < 5000) INSERT INTO utterances(guild, user,"
				    " name, source) SELECT 7, 4 + i % 2, iif(i % 2, 'Ana', 'Bob'),"
				    " 'transcription' FROM n";
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(sqlite3_exec(sqlite3_db_handle(db_use(db, DB_BEGIN)), lines, NULL, NULL, NULL),
		  0);
	CHECK(count_steps(db, DB_FIND_NAMESAKE, 0) < 100);
	CHECK(count_steps(db, DB_FIND_NAMESAKE, 5) < 100);
	CHECK(count_steps(db, DB_FIND_NAMES, 0) < 1000);
	db_close(db);
	folder_remove(dir);
}

/* Rows of costs stay for more than a year, and a page waits for those of one session. */
TEST(costs_of_a_session_are_found_by_an_index)
{
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(uses_index(db, DB_SUM_SESSION_TRANSCRIPTION, "costs_session (guild=? AND session=?"));
	CHECK(uses_index(db, DB_SUM_TURN_COSTS, "costs_session (guild=? AND session=?"));
	db_close(db);
	folder_remove(dir);
}
