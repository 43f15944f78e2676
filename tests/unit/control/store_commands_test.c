#include "control/store_commands.h"

#include <sys/stat.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/rows.h"
#include "tests/unit/ipc/loop.h"

TEST(a_backup_holds_what_an_erased_person_said_no_more)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = 1, .guild = 1, .user = 501000000000000000};
	char dir[32], file[64], before[64];
	struct db *db = NULL;
	struct sqlite3_stmt *s;
	FILE *f;

	CHECK(folder_make(dir));
	snprintf(file, sizeof file, "%s/copy", dir);
	snprintf(before, sizeof before, "%s/parley.db.before-2", dir);
	CHECK_INT(store_command_backup(dir, file), 1); /* there is none */
	ev.utterance = (struct event_utterance){.text = "hello", .started_ms = 1};
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	f = fopen(before, "w");
	CHECK(f);
	fclose(f);
	CHECK_INT(store_command_erase(dir, "nobody", NULL), 2);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	CHECK(access(before, F_OK) != 0);
	CHECK_INT(store_command_backup(dir, file), 0);
	CHECK_INT(store_command_backup(dir, "/nowhere/at/all"), 1);
	db_close(db);
	db = NULL;
	CHECK_INT(db_open_file(&db, file, DB_READ), 0);
	s = db_use(db, DB_FIND_UNUSED);
	db_bind_uint(s, 2, 0);
	db_bind_uint(s, 3, 0);
	db_bind_uint(s, 4, 0);
	db_bind_uint(s, 5, 9);
	CHECK_INT(db_step(db, s), ENOENT);
	db_close(db);
	folder_remove(dir);
}

/* Also in a folder whose name means something to glob(7), and in no other one. */
TEST(erasing_removes_the_copies_of_this_folder_alone)
{
	char top[32], dir[64], other[64], copy[96], foreign[96];
	struct db *db = NULL;

	CHECK(folder_make(top));
	snprintf(dir, sizeof dir, "%s/a[b]", top);
	snprintf(other, sizeof other, "%s/ab", top);
	CHECK(mkdir(dir, 0700) == 0 && mkdir(other, 0700) == 0);
	snprintf(copy, sizeof copy, "%s/parley.db.before-2", dir);
	snprintf(foreign, sizeof foreign, "%s/parley.db.before-2", other);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(symlink("nowhere", copy), 0);
	CHECK_INT(symlink("nowhere", foreign), 0);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	CHECK(unlink(copy) != 0);
	CHECK_INT(unlink(foreign), 0);
	db_close(db);
	folder_remove(dir);
	folder_remove(other);
	folder_remove(top);
}

static uid_t owner_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* The files that SQLite makes meanwhile stay usable for the control that owns the directory. */
TEST(root_erases_a_person_from_the_database_of_another_user)
{
	char dir[32], path[64], wal[80];
	struct db *control = NULL;

	if (geteuid() != 0)
		return;
	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/parley.db", dir);
	snprintf(wal, sizeof wal, "%s-wal", path);
	CHECK_INT(db_open(&control, dir, DB_OWN), 0);
	db_close(control);
	CHECK(chown(dir, 12345, 12345) == 0 && chown(path, 12345, 12345) == 0);
	control = NULL;
	CHECK_INT(db_open(&control, dir, DB_JOIN), 0); /* keeps the WAL there */
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	CHECK_INT(owner_of(path), 12345);
	CHECK_INT(owner_of(wal), 12345);
	db_close(control);
	folder_remove(dir);
}
