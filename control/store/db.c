#include "control/store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/memory/terms.h"
#include "control/store/clock.h"
#include "control/store/migrations.def"
#include "control/store/ours.h"
#include "control/store/term_search.h"
#include "proto/base/time.h"

enum {
	PATH_SIZE = 640,
	BUSY_MS = 5000,
	TEXT_MAX = 4 << 20,	     /* longest text or row that SQLite takes */
	LATE_STEPS = 1000,	     /* of SQLite's machine, between looks at the clock */
	APPLICATION_ID = 0x5061726c, /* "Parl" */
};

static const struct {
	int version;
	const char *sql;
} migrations[] = {
#define X(version, sql) {version, sql},
	MIGRATIONS(X)
#undef X
};
enum { MIGRATION_COUNT = sizeof migrations / sizeof migrations[0] };

static const char *const statements[DB_STATEMENT_COUNT] = {
#define X(NAME, sql) sql,
	STATEMENTS(X)
#undef X
};

struct db {
	sqlite3 *sql;
	sqlite3_stmt *stmt[DB_STATEMENT_COUNT];
	char path[PATH_SIZE];
	enum db_mode mode;
	bool claimed;	       /* the mark of a clean stop is taken away */
	int claim;	       /* its number: whoever claims later has a higher one */
	bool synced;	       /* commits wait for the disk */
	bool damaged;	       /* something of it could not be read */
	uint64_t search_until; /* by store_clock; 0: no limit */
};

static int newest_version(void)
{
	return migrations[MIGRATION_COUNT - 1].version;
}

/* ---- errors ---- */

static int errno_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return EROFS;
	case SQLITE_NOTADB:
		return EBADMSG;
	case SQLITE_CORRUPT:
		return EUCLEAN;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_INTERRUPT:
		return ETIMEDOUT;
	default:
		return EIO;
	}
}

/* SQLite tells most failures of files by IOERR and CANTOPEN; the system knows more. */
static int error_of(struct db *db, int rc)
{
	int err = errno_of(rc), sys = db->sql ? sqlite3_system_errno(db->sql) : 0;

	db->damaged = db->damaged || err == EUCLEAN || err == EBADMSG;
	if (err != EIO)
		return err;
	if (sys == ENOSPC || sys == EDQUOT)
		return ENOSPC;
	if (sys == EROFS || sys == EACCES || sys == EPERM)
		return EROFS;
	if (sys == ENOENT || sys == ENOTDIR)
		return ENOENT;
	return EIO;
}

static int run_sql(struct db *db, const char *sql)
{
	return error_of(db, sqlite3_exec(db->sql, sql, NULL, NULL, NULL));
}

/* ---- statements ---- */

sqlite3_stmt *db_use(struct db *db, enum db_statement statement)
{
	sqlite3_stmt *stmt = db->stmt[statement];

	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return stmt;
}

void db_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(stmt, at);
}

void db_bind_uint(sqlite3_stmt *stmt, int at, uint64_t v)
{
	sqlite3_bind_int64(stmt, at, (sqlite3_int64)v);
}

void db_bind_real(sqlite3_stmt *stmt, int at, double v)
{
	sqlite3_bind_double(stmt, at, v);
}

void db_bind_blob(sqlite3_stmt *stmt, int at, const void *data, size_t n)
{
	sqlite3_bind_blob(stmt, at, data, (int)n, SQLITE_TRANSIENT);
}

int db_run(struct db *db, sqlite3_stmt *stmt)
{
	int rc, err;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
		;
	err = error_of(db, rc); /* resetting would take the system's error away */
	sqlite3_reset(stmt);
	return err;
}

int db_run_each(struct db *db, const enum db_statement *list, size_t n, uint64_t v)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		sqlite3_stmt *s = db_use(db, list[i]);

		db_bind_uint(s, 1, v);
		err = db_run(db, s);
	}
	return err;
}

int db_step(struct db *db, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt), err;

	if (rc == SQLITE_ROW)
		return 0;
	err = rc == SQLITE_DONE ? ENOENT : error_of(db, rc);
	sqlite3_reset(stmt);
	return err;
}

const char *db_text(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? text : "";
}

uint64_t db_uint(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

double db_real(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_double(stmt, column);
}

unsigned db_changes(const struct db *db)
{
	return (unsigned)sqlite3_changes(db->sql);
}

int db_read_file(struct db *db, uint64_t offset, void *buf, size_t n, size_t *got)
{
	sqlite3_file *f = NULL;
	sqlite3_int64 size = 0;
	int rc = sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_FILE_POINTER, &f);

	if (rc == SQLITE_OK)
		rc = f && f->pMethods ? f->pMethods->xFileSize(f, &size) : SQLITE_IOERR;
	if (rc != SQLITE_OK)
		return EIO;
	*got = offset < (uint64_t)size ? (size_t)((uint64_t)size - offset) : 0;
	*got = *got < n ? *got : n;
	if (*got)
		rc = f->pMethods->xRead(f, buf, (int)*got, (sqlite3_int64)offset);
	return rc == SQLITE_OK ? 0 : EIO;
}

int db_outside_version(struct db *db)
{
	sqlite3_stmt *s = db_use(db, DB_GET_OUTSIDE_VERSION);
	int version = db_step(db, s) ? 0 : sqlite3_column_int(s, 0);

	sqlite3_reset(s);
	return version;
}

uint64_t db_last_row(const struct db *db)
{
	return (uint64_t)sqlite3_last_insert_rowid(db->sql);
}

/* SQLite refuses to change it inside a transaction. */
static int set_synced(struct db *db, bool synced)
{
	int err = 0;

	if (db->synced != synced)
		err = run_sql(db, synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
	if (!err)
		db->synced = synced;
	return err;
}

static int begin(struct db *db, bool synced)
{
	int err = set_synced(db, synced);

	return err ? err : db_run(db, db_use(db, DB_BEGIN));
}

int db_begin(struct db *db)
{
	return begin(db, false);
}

int db_begin_reading(struct db *db)
{
	return db_run(db, db_use(db, DB_BEGIN_READING));
}

bool db_is_late(const struct db *db)
{
	return db->search_until && store_clock() >= db->search_until;
}

static int stop_late(void *arg)
{
	return db_is_late(arg);
}

int db_begin_search(struct db *db, uint32_t ms)
{
	int err = db_begin_reading(db);

	if (err || !ms)
		return err;
	db->search_until = store_clock() + ms * NS_PER_MS;
	sqlite3_progress_handler(db->sql, LATE_STEPS, stop_late, db);
	return 0;
}

void db_lift_limit(struct db *db)
{
	sqlite3_progress_handler(db->sql, 0, NULL, NULL);
	db->search_until = 0;
}

int db_begin_synced(struct db *db)
{
	return begin(db, true);
}

int db_commit(struct db *db)
{
	int err = db_run(db, db_use(db, DB_COMMIT));

	if (err)
		db_rollback(db);
	else
		set_synced(db, false);
	return err;
}

void db_rollback(struct db *db)
{
	db_lift_limit(db);
	if (!sqlite3_get_autocommit(db->sql))
		db_run(db, db_use(db, DB_ROLLBACK));
	set_synced(db, false);
}

static int prepare_statements(struct db *db)
{
	int err = 0;

	for (unsigned i = 0; i < DB_STATEMENT_COUNT && !err; i++)
		err = error_of(db,
			       sqlite3_prepare_v3(db->sql, statements[i], -1,
						  SQLITE_PREPARE_PERSISTENT, &db->stmt[i], NULL));
	/* A schema that our statements do not fit was not made by us. */
	return err == EIO ? EUCLEAN : err;
}

/* ---- the full-text index ---- */

/* terms_index(text): the terms under which the index holds a text. */
static void index_terms(sqlite3_context *ctx, int n, sqlite3_value **value)
{
	const char *text = (const char *)sqlite3_value_text(value[0]);
	char *terms = text ? terms_index(text, (size_t)sqlite3_value_bytes(value[0])) : NULL;

	(void)n;
	if (terms)
		sqlite3_result_text(ctx, terms, -1, free);
	else if (text)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_null(ctx);
}

/* fold_name(text): in lower case, also where SQLite's lower() knows no letters. */
static void fold_name(sqlite3_context *ctx, int n, sqlite3_value **value)
{
	const char *text = (const char *)sqlite3_value_text(value[0]);
	size_t bytes = (size_t)sqlite3_value_bytes(value[0]);
	char *folded = text ? malloc(bytes + 1) : NULL;

	(void)n;
	if (!folded) {
		if (text)
			sqlite3_result_error_nomem(ctx);
		return;
	}
	terms_fold(folded, text, bytes);
	sqlite3_result_text(ctx, folded, (int)bytes, free);
}

/* ---- integrity, backup ---- */

/* A file that somebody else made may hold more than tables. */
static int harden(sqlite3 *sql)
{
	sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	return sqlite3_exec(sql, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", NULL, NULL,
			    NULL);
}

static int check_by(struct db *db, const char *pragma)
{
	sqlite3_stmt *stmt = NULL;
	const char *text;
	int err = error_of(db, sqlite3_prepare_v2(db->sql, pragma, -1, &stmt, NULL));

	if (!err)
		err = db_step(db, stmt);
	text = err ? "" : db_text(stmt, 0);
	if (!err && strcmp(text, "ok") != 0)
		err = EUCLEAN;
	sqlite3_finalize(stmt);
	return err;
}

int db_check_integrity(struct db *db)
{
	return check_by(db, "PRAGMA integrity_check(1)");
}

int db_check_quickly(struct db *db)
{
	return check_by(db, "PRAGMA quick_check(1)");
}

int db_rebuild(struct db *db)
{
	for (unsigned i = 0; i < DB_STATEMENT_COUNT; i++)
		sqlite3_reset(db->stmt[i]);
	return run_sql(db, "VACUUM");
}

int db_truncate_wal(struct db *db)
{
	return error_of(db, sqlite3_wal_checkpoint_v2(db->sql, NULL, SQLITE_CHECKPOINT_TRUNCATE,
						      NULL, NULL));
}

/* The path with its folder's real name: SQLite's NOFOLLOW refuses a link anywhere in a path, and a
 * state directory may well be reached by one. The last part may still not be a link. */
static int resolve_folder(char *out, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_SIZE + 8], *real;
	int err = 0;

	if (!slash)
		slash = path;
	if ((size_t)snprintf(folder, sizeof folder, "%.*s/.", (int)(slash - path), path) >=
	    sizeof folder)
		return ENAMETOOLONG;
	real = realpath(slash == path && *path != '/' ? "." : folder, NULL);
	if (!real)
		return errno == EACCES ? EROFS : errno;
	if ((size_t)snprintf(out, size, "%s/%s", real, *slash == '/' ? slash + 1 : slash) >= size)
		err = ENAMETOOLONG;
	free(real);
	return err;
}

static int sync_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), err = fd < 0 ? errno : 0;

	if (!err && fsync(fd))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static int copy_pages(struct db *db, const char *file)
{
	sqlite3 *to = NULL;
	sqlite3_backup *b;
	int rc = sqlite3_open_v2(file, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);

	if (rc == SQLITE_OK)
		rc = harden(to);
	b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", db->sql, "main") : NULL;
	if (rc == SQLITE_OK && !b)
		rc = sqlite3_errcode(to);
	if (b) {
		while ((rc = sqlite3_backup_step(b, -1)) == SQLITE_BUSY || rc == SQLITE_LOCKED)
			sqlite3_sleep(20);
		rc = sqlite3_backup_finish(b);
	}
	/* One file that can be carried away, in which no recording outlives its time. */
	if (rc == SQLITE_OK && sqlite3_table_column_metadata(to, "main", "recordings", NULL, NULL,
							     NULL, NULL, NULL, NULL) == SQLITE_OK)
		rc = sqlite3_exec(to, "PRAGMA secure_delete=ON; DELETE FROM recordings", NULL, NULL,
				  NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	sqlite3_close(to);
	return errno_of(rc);
}

/* True if it is the database or a part of it, by whatever name. */
static bool is_own_file(const struct db *db, const char *file)
{
	static const char *const parts[] = {"", "-wal", "-shm"};
	char path[PATH_SIZE + 8];
	struct stat st, own;

	if (stat(file, &st))
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		snprintf(path, sizeof path, "%s%s", db->path, parts[i]);
		if (stat(path, &own) == 0 && own.st_dev == st.st_dev && own.st_ino == st.st_ino)
			return true;
	}
	return false;
}

int db_backup(struct db *db, const char *file)
{
	char path[PATH_SIZE + 8];
	int fd, err = 0;

	if (is_own_file(db, file))
		return EEXIST;
	err = resolve_folder(path, sizeof path - 4, file);
	if (err)
		return err;
	strcat(path, ".new");
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	err = copy_pages(db, path);
	if (!err)
		err = sync_file(path);
	if (!err && rename(path, file))
		err = errno;
	if (err)
		unlink(path);
	return err;
}

/* ---- opening ---- */

static int read_number(struct db *db, const char *sql, int *out)
{
	sqlite3_stmt *stmt = NULL;
	int err = error_of(db, sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL));

	if (!err)
		err = db_step(db, stmt);
	if (!err)
		*out = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return err;
}

int db_used_bytes(struct db *db, uint64_t *out)
{
	int pages = 0, unused = 0, size = 0, err = read_number(db, "PRAGMA page_count", &pages);

	if (!err)
		err = read_number(db, "PRAGMA freelist_count", &unused);
	if (!err)
		err = read_number(db, "PRAGMA page_size", &size);
	if (!err)
		*out = (uint64_t)(pages - unused) * (uint64_t)size;
	return err;
}

static int migrate_one(struct db *db, unsigned i)
{
	char set[80];
	int err = run_sql(db, "BEGIN IMMEDIATE");

	snprintf(set, sizeof set, "PRAGMA user_version=%d; PRAGMA application_id=%d",
		 migrations[i].version, APPLICATION_ID);
	if (!err)
		err = run_sql(db, migrations[i].sql);
	if (!err)
		err = run_sql(db, set);
	if (!err)
		err = run_sql(db, "COMMIT");
	if (err && !sqlite3_get_autocommit(db->sql))
		run_sql(db, "ROLLBACK");
	/* The table exists already: another program made the file. */
	return err == EIO && sqlite3_errcode(db->sql) == SQLITE_ERROR ? EUCLEAN : err;
}

static int migrate(struct db *db, int version)
{
	char before[PATH_SIZE + 32];
	int err = 0;

	for (unsigned i = 0; i < MIGRATION_COUNT && !err; i++) {
		if (migrations[i].version <= version)
			continue;
		snprintf(before, sizeof before, "%s.before-%d", db->path, migrations[i].version);
		if (version)
			err = db_backup(db, before);
		if (!err)
			err = migrate_one(db, i);
	}
	return err;
}

/* Any other program's database is as little ours as no database at all. */
static int check_maker(struct db *db, int version)
{
	int id = 0, tables = 0, err = read_number(db, "PRAGMA application_id", &id);

	if (!err)
		err = read_number(db, "SELECT count(*) FROM sqlite_schema", &tables);
	if (err)
		return err;
	return version || tables ? (id == APPLICATION_ID ? 0 : EBADMSG) : 0;
}

static int check_version(struct db *db, int version)
{
	int err = check_maker(db, version);

	if (err)
		return err;
	if (version > newest_version())
		return ENOTSUP;
	if (version < 0)
		return EUCLEAN;
	if (db->mode == DB_OWN)
		return 0;
	return version == newest_version() || db->mode == DB_CHECK ? 0 : ENOTSUP;
}

/* SQLite would make it readable to others. One that is there is not opened: closing it would give
 * up the locks that SQLite holds for other handles of this process (fcntl, POSIX.1). A process
 * without locks loses its WAL to the next one that closes the database. */
static int make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && errno == EEXIST)
		return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 || errno == ENOENT
			       ? 0
			       : EROFS;
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? EROFS : errno;
	close(fd);
	return 0;
}

static int add_function(struct db *db, const char *name,
			void (*f)(sqlite3_context *ctx, int n, sqlite3_value **value))
{
	return error_of(db, sqlite3_create_function_v2(db->sql, name, 1,
						       SQLITE_UTF8 | SQLITE_DETERMINISTIC |
							       SQLITE_DIRECTONLY,
						       NULL, f, NULL, NULL, NULL));
}

static int open_sql(struct db *db)
{
	static const char all[] = "PRAGMA secure_delete=ON; PRAGMA cache_size=-16384;"
				  "PRAGMA temp_store=MEMORY";
	int flags = SQLITE_OPEN_NOFOLLOW |
		    (db->mode >= DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
	int err = db->mode == DB_OWN ? make_file(db->path) : 0;

	if (!err)
		err = ours_check_database(db->path, db->mode == DB_OWN);
	if (!err)
		err = error_of(db, sqlite3_open_v2(db->path, &db->sql, flags, NULL));
	if (err)
		return err;
	sqlite3_extended_result_codes(db->sql, 1);
	sqlite3_busy_timeout(db->sql, BUSY_MS);
	sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	err = error_of(db, harden(db->sql));
	if (!err)
		err = add_function(db, "terms_index", index_terms);
	if (!err)
		err = add_function(db, "fold_name", fold_name);
	if (!err)
		err = term_search_register(db->sql);
	return err ? err : run_sql(db, all);
}

/* Not before it is known to be ours: this writes into the file. */
static int make_ready(struct db *db, int version)
{
	static const char writers[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
				      "PRAGMA journal_size_limit=4194304;";
	int err = 0;

	/* Free pages can be given back only if the first page says so. */
	if (db->mode == DB_OWN && !version)
		err = run_sql(db, "PRAGMA auto_vacuum=INCREMENTAL");
	if (!err && db->mode < DB_READ)
		err = run_sql(db, writers);
	return err || db->mode != DB_OWN ? err : migrate(db, version);
}

/* 0 when there is none. */
static int get_meta(struct db *db, const char *key)
{
	sqlite3_stmt *stmt = db_use(db, DB_GET_META);
	int value = 0;

	db_bind_text(stmt, 1, key);
	if (db_step(db, stmt) == 0)
		value = sqlite3_column_int(stmt, 0);
	sqlite3_reset(stmt);
	return value;
}

static int set_meta(struct db *db, const char *key, int value)
{
	sqlite3_stmt *stmt = db_use(db, DB_SET_META);

	db_bind_text(stmt, 1, key);
	db_bind_uint(stmt, 2, (uint64_t)value);
	return db_run(db, stmt);
}

/* One that was not closed is looked through; a new one has nothing to look at. */
static int claim(struct db *db, bool fresh)
{
	int err = fresh || get_meta(db, "clean") == 1 ? 0 : db_check_integrity(db);

	if (!err)
		err = db_begin(db);
	if (err)
		return err;
	db->claim = get_meta(db, "claim") + 1;
	err = set_meta(db, "claim", db->claim);
	if (!err)
		err = set_meta(db, "clean", 0);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	db->claimed = !err;
	return err;
}

/* Not when a control that took over goes on with it, nor what the next one has to look through. */
static void mark_clean(struct db *db)
{
	if (db->damaged || db_begin(db))
		return;
	if (get_meta(db, "claim") == db->claim)
		set_meta(db, "clean", 1);
	db_commit(db);
}

int db_open_file(struct db **out, const char *path, enum db_mode mode)
{
	struct db *db = calloc(1, sizeof *db);
	int version = 0, err;

	if (!db)
		return ENOMEM;
	db->mode = mode;
	err = resolve_folder(db->path, sizeof db->path, path);
	if (!err)
		err = open_sql(db);
	if (!err)
		err = read_number(db, "PRAGMA user_version", &version);
	if (!err)
		err = check_version(db, version);
	if (!err)
		err = make_ready(db, version);
	if (!err && (mode != DB_CHECK || version == newest_version()))
		err = prepare_statements(db);
	if (!err && mode == DB_OWN)
		err = claim(db, version == 0);
	if (err)
		db_close(db);
	else
		*out = db;
	return err;
}

int db_open(struct db **out, const char *dir, enum db_mode mode)
{
	char path[PATH_SIZE];

	if ((size_t)snprintf(path, sizeof path, "%s/parley.db", dir) >= sizeof path)
		return ENAMETOOLONG;
	return db_open_file(out, path, mode);
}

struct db *db_close(struct db *db)
{
	if (!db)
		return NULL;
	if (db->claimed)
		mark_clean(db);
	for (unsigned i = 0; i < DB_STATEMENT_COUNT; i++)
		sqlite3_finalize(db->stmt[i]);
	sqlite3_close(db->sql);
	free(db);
	return NULL;
}

const char *db_path(const struct db *db)
{
	return db->path;
}
