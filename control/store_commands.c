#include "control/store_commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/store/copies.h"
#include "control/store/db.h"
#include "control/store/faults.h"
#include "control/store/rows.h"
#include "control/words/words.h"
#include "proto/discord.h"

enum { TRIES = 20, PATH_SIZE = 640 };

static bool belongs_to_another(const char *dir)
{
	char path[PATH_SIZE];
	struct stat st;

	if ((size_t)snprintf(path, sizeof path, "%s/parley.db", dir) >= sizeof path)
		return false;
	return stat(path, &st) ? errno == EACCES : st.st_uid != geteuid();
}

static int tell_fault(const char *dir, int err)
{
	struct words w = {0};

	if (err == ENOENT)
		words_store_missing(&w, dir);
	else if ((err == EPERM || err == EROFS) && geteuid() && belongs_to_another(dir))
		words_store_of_another(&w, dir);
	else
		store_fault_words(&w, dir, err);
	fprintf(stderr, "control: %s\n", w.text);
	return 1;
}

int store_command_backup(const char *dir, const char *file)
{
	struct db *db = NULL, *copy = NULL;
	int err = db_open(&db, dir, DB_CHECK);

	if (err)
		return tell_fault(dir, err);
	err = db_backup(db, file);
	db_close(db);
	if (err) {
		fprintf(stderr, "control: %s not written: %s\n", file,
			err == EEXIST ? "it is the database itself" : strerror(err));
		return 1;
	}
	err = db_open_file(&copy, file, DB_CHECK);
	if (!err)
		err = db_check_integrity(copy);
	db_close(copy);
	if (err) {
		fprintf(stderr, "control: %s is no whole copy: %s\n", file, strerror(err));
		return 1;
	}
	printf("%s: a copy of %s/parley.db\n", file, dir);
	return 0;
}

static void tell_removed(const char *path)
{
	printf("%s: removed, for it may have held the same\n", path);
}

/* A control that runs may read just now. */
static int truncate_wal(struct db *db)
{
	int err = EBUSY;

	for (unsigned i = 0; i < TRIES && err == EBUSY; i++)
		err = db_truncate_wal(db);
	return err;
}

int store_command_erase(const char *dir, const char *user)
{
	struct db *db = NULL;
	unsigned rows = 0;
	uint64_t id = 0;
	int err;

	if (!discord_snowflake(user, &id)) {
		fprintf(stderr, "control: --erase wants the id of a user: %s\n", user);
		return 2;
	}
	err = db_open(&db, dir, DB_JOIN);
	if (!err)
		err = rows_erase(db, id, &rows);
	if (!err)
		err = truncate_wal(db);
	db_close(db);
	if (!err)
		err = copies_remove(dir, UINT64_MAX, tell_removed);
	if (err)
		return tell_fault(dir, err);
	printf("%s/parley.db: %u rows of user %llu erased\n", dir, rows, (unsigned long long)id);
	return 0;
}
