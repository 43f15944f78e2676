/* What control --show takes from a directory that a stranger made (control/show.h). */
#include "control/show.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/settings/profile.h"
#include "control/settings/provider_record.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "tests/unit/ipc/loop.h"

static char dir[32], shown[48];

static bool exists(const char *folder, const char *name)
{
	char path[SHOW_DIR + 64];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return lstat(path, &st) == 0;
}

static bool add_file(const char *folder, const char *name)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	if (f)
		fclose(f);
	return f != NULL;
}

static unsigned count_files(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Leaves a row in the WAL alone, as a program that was killed does. */
static bool add_row_to_wal(void)
{
	char path[96];
	sqlite3 *sql = NULL;
	bool ok;

	snprintf(path, sizeof path, "%s/parley.db", shown);
	ok = sqlite3_open(path, &sql) == SQLITE_OK &&
	     sqlite3_db_config(sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
	     sqlite3_exec(sql, "INSERT INTO turns(guild, turn) VALUES(7, 4711)", NULL, NULL,
			  NULL) == SQLITE_OK;
	sqlite3_close(sql);
	return ok;
}

static int count_turns(const char *folder)
{
	char path[SHOW_DIR + 64];
	sqlite3 *sql = NULL;
	sqlite3_stmt *s = NULL;
	int n = -1;

	snprintf(path, sizeof path, "%s/parley.db", folder);
	if (sqlite3_open(path, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql, "SELECT count(*) FROM turns WHERE turn = 4711", -1, &s, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

static bool begin(void)
{
	struct db *db = NULL;

	if (!folder_make(dir))
		return false;
	snprintf(shown, sizeof shown, "%s/shown", dir);
	if (mkdir(shown, 0700) || db_open(&db, shown, DB_OWN))
		return false;
	db_close(db);
	setenv("TMPDIR", dir, 1);
	return add_file(shown, "web-token") && add_file(shown, "session.json");
}

static void end(void)
{
	unsetenv("TMPDIR");
	unsetenv("PARLEY_WEB_LISTEN");
	unsetenv("PARLEY_HOLD_MS");
	folder_remove(shown);
	folder_remove(dir);
}

TEST(what_is_shown_is_a_copy_of_the_database_alone)
{
	struct settings *s = NULL;
	struct show copy;

	CHECK(begin());
	CHECK_INT(show_open(&copy, shown, &s), 0);
	CHECK(exists(copy.dir, "parley.db"));
	CHECK(!exists(copy.dir, "web-token") && !exists(copy.dir, "session.json"));
	show_close(&copy);
	CHECK_INT(access(copy.dir, F_OK), -1);
	CHECK(exists(shown, "parley.db") && exists(shown, "web-token"));
	settings_free(s);
	end();
}

TEST(what_is_shown_has_no_settings_of_this_machine)
{
	struct settings *s = NULL, *defaults = NULL;
	struct show copy;

	CHECK(begin());
	setenv("PARLEY_HOLD_MS", "55", 1);
	setenv("PARLEY_WEB_LISTEN", "127.0.0.1:4711", 1);
	CHECK_INT(settings_alloc(&defaults), 0);
	CHECK_INT(show_open(&copy, shown, &s), 0);
	CHECK_INT(settings_gateway(s), SETTINGS_GATEWAY_NONE);
	CHECK(!settings_needs_embedded(s) && settings_needs_embedded(defaults));
	CHECK_INT(s->hold_ms, defaults->hold_ms);
	CHECK_STR(s->web_listen, "127.0.0.1:4711");
	show_close(&copy);
	settings_free(s);
	settings_free(defaults);
	end();
}

TEST(what_cannot_be_shown_leaves_nothing_behind)
{
	struct settings *s = NULL;
	char none[64];
	struct show copy;

	CHECK(begin());
	snprintf(none, sizeof none, "%s/none", dir);
	CHECK_INT(show_open(&copy, none, &s), ENOENT);
	CHECK_INT(access(copy.dir, F_OK), -1);
	setenv("PARLEY_WEB_LISTEN", "nowhere", 1);
	CHECK_INT(show_open(&copy, shown, &s), EINVAL);
	CHECK(!s);
	end();
}

TEST(nothing_is_written_beside_what_is_shown)
{
	struct settings *s = NULL;
	struct show copy;
	unsigned n;

	CHECK(begin());
	n = count_files(shown);
	CHECK_INT(show_open(&copy, shown, &s), 0);
	CHECK_INT(count_files(shown), n);
	show_close(&copy);
	CHECK_INT(count_files(shown), n);
	settings_free(s);
	end();
}

TEST(the_wal_of_what_is_shown_is_shown_too)
{
	struct settings *s = NULL;
	struct show copy;
	unsigned n;

	CHECK(begin() && add_row_to_wal());
	CHECK(exists(shown, "parley.db-wal"));
	n = count_files(shown);
	CHECK_INT(show_open(&copy, shown, &s), 0);
	CHECK_INT(count_turns(copy.dir), 1);
	CHECK_INT(count_files(shown), n);
	show_close(&copy);
	settings_free(s);
	end();
}

TEST(links_pipes_and_journals_are_not_shown)
{
	struct settings *s = NULL;
	char database[64], other[64], journal[80];
	struct show copy;

	CHECK(begin());
	snprintf(database, sizeof database, "%s/parley.db", shown);
	snprintf(other, sizeof other, "%s/other", shown);
	snprintf(journal, sizeof journal, "%s-journal", database);
	CHECK(add_file(shown, "parley.db-journal"));
	CHECK_INT(show_open(&copy, shown, &s), EBUSY);
	CHECK_INT(unlink(journal), 0);
	CHECK_INT(rename(database, other), 0);
	CHECK_INT(symlink("other", database), 0);
	CHECK_INT(show_open(&copy, shown, &s), EBADMSG);
	CHECK_INT(unlink(database), 0);
	CHECK_INT(mkfifo(database, 0600), 0);
	CHECK_INT(show_open(&copy, shown, &s), EBADMSG);
	CHECK_INT(access(copy.dir, F_OK), -1);
	CHECK(!s);
	end();
}

TEST(a_signal_waits_until_the_copy_is_gone)
{
	static const struct timespec at_once;
	sigset_t set;

	show_hold_signals(true);
	raise(SIGHUP);
	raise(SIGINT);
	raise(SIGTERM);
	sigfillset(&set);
	CHECK(sigtimedwait(&set, NULL, &at_once) > 0);
	CHECK(sigtimedwait(&set, NULL, &at_once) > 0);
	CHECK(sigtimedwait(&set, NULL, &at_once) > 0);
	show_hold_signals(false);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	CHECK(!sigismember(&set, SIGHUP) && !sigismember(&set, SIGINT) &&
	      !sigismember(&set, SIGTERM));
}
