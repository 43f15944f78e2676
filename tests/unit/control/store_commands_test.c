#include "control/store_commands.h"

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
	CHECK_INT(store_command_erase(dir, "nobody"), 2);
	CHECK_INT(store_command_erase(dir, "501000000000000000"), 0);
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
