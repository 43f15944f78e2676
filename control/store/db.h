/* The database: one SQLite file, parley.db in the state directory, mode 0600, in WAL mode.
 *
 * Blocks on the disk: for the store's worker and for the command line, never for the loop. A handle
 * belongs to one thread at a time. Errors are errnos; db_fault_words (control/store/faults.h) tells
 * them to people:
 *
 *   ENOSPC   the disk is full                 EROFS    the file or its directory cannot be written
 *   EBADMSG  the file is no database          ENOTSUP  a newer version of control wrote it
 *   EUCLEAN  its pages are damaged            EBUSY    somebody else kept it locked for 5 s
 *   ENOENT   there is none                    EIO      anything else
 *   ETIMEDOUT  a search took longer than it may (db_begin_search)
 *
 * Commits are synced to the WAL by the system (synchronous NORMAL): they survive a killed process.
 * Those of settings are synced to the disk (FULL) and survive a power cut. */
#ifndef CONTROL_STORE_DB_H
#define CONTROL_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/events/message_actions.def"
#include "control/events/turn_parts.def"
#include "control/store/statements.def"

struct db;
struct sqlite3_stmt;

enum db_statement {
#define X(NAME, sql) DB_##NAME,
	STATEMENTS(X)
#undef X
		DB_STATEMENT_COUNT
};

enum db_mode {
	DB_OWN,	 /* makes it if need be, migrates, and checks it after an unclean stop */
	DB_JOIN, /* reads and writes beside the control that runs. ENOTSUP: it is of another version
		  */
	DB_READ, /* the same, only reading */
	DB_CHECK /* only reads, of any version up to ours; for db_check_integrity and db_backup
		    alone */
};

/* Opens dir/parley.db. Caller owns *out. */
int db_open(struct db **out, const char *dir, enum db_mode mode);
/* The file itself. */
int db_open_file(struct db **out, const char *path, enum db_mode mode);
/* Of DB_OWN: marks a clean stop. NULL accepted. */
struct db *db_close(struct db *db);
const char *db_path(const struct db *db);

/* A prepared statement, reset and without parameters. Borrowed until the next db_use of the same
 * one. */
struct sqlite3_stmt *db_use(struct db *db, enum db_statement statement);
/* NULL text binds NULL. */
void db_bind_text(struct sqlite3_stmt *stmt, int at, const char *text);
void db_bind_uint(struct sqlite3_stmt *stmt, int at, uint64_t v);
void db_bind_real(struct sqlite3_stmt *stmt, int at, double v);
/* Copied. */
void db_bind_blob(struct sqlite3_stmt *stmt, int at, const void *data, size_t n);
/* To its end. */
int db_run(struct db *db, struct sqlite3_stmt *stmt);
/* Each of n statements, whose ?1 is v, to its end, until one fails. */
int db_run_each(struct db *db, const enum db_statement *list, size_t n, uint64_t v);
/* 0: a row is there. ENOENT: no more. */
int db_step(struct db *db, struct sqlite3_stmt *stmt);
double db_real(struct sqlite3_stmt *stmt, int column);
/* "" for NULL. Borrowed until the next step. */
const char *db_text(struct sqlite3_stmt *stmt, int column);
uint64_t db_uint(struct sqlite3_stmt *stmt, int column);
/* Rows changed by the last statement. */
unsigned db_changes(const struct db *db);
/* Rowid of the last insert. */
uint64_t db_last_row(const struct db *db);

/* Bytes of the file itself, without the WAL; *got below n: the end. Nobody may open and close the
 * file beside SQLite, which would lose its locks. EIO. */
int db_read_file(struct db *db, uint64_t offset, void *buf, size_t n, size_t *got);
/* Changes when another connection has written. */
int db_outside_version(struct db *db);

int db_begin(struct db *db);
/* Many statements that only read: SQLite locks the file once for all of them. */
int db_begin_reading(struct db *db);
/* The same for a search: after so many ms statements that still work end with ETIMEDOUT, until
 * db_lift_limit or db_rollback. Short ones mostly still run: SQLite looks at the clock once in a
 * thousand steps of a statement, over all its runs. 0: no limit. */
int db_begin_search(struct db *db, uint32_t ms);
/* True if the time of the search is up. */
bool db_is_late(const struct db *db);
/* Lets the rest of a search run to its end, however late it is. */
void db_lift_limit(struct db *db);
/* One whose commit is written to the disk, not only to the system. */
int db_begin_synced(struct db *db);
/* Rolls back when it fails. */
int db_commit(struct db *db);
void db_rollback(struct db *db);

/* The whole file is looked through. EUCLEAN. */
int db_check_integrity(struct db *db);
/* The same without the indexes, which takes a fraction of the time. */
int db_check_quickly(struct db *db);
/* Bytes of the pages that hold something. */
int db_used_bytes(struct db *db, uint64_t *out);
/* Writes the whole file anew, which needs room for another one on the disk: SQLite may leave what
 * was deleted between the rows of a page that it has balanced, secure_delete or not. Not inside a
 * transaction. */
int db_rebuild(struct db *db);
/* Moves the WAL into the file and empties it. EBUSY while somebody reads. */
int db_truncate_wal(struct db *db);
/* A consistent copy, also while others write; replaces the file when it is whole. Mode 0600. EEXIST
 * when the file is the database itself or its WAL. */
int db_backup(struct db *db, const char *file);

#endif
