/* A database file (control/store/db.h) with whatever bytes: opening, migrating and looking through
 * it ends, and so does every statement on what opened. A file that is refused is left as it was. */
#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/rows.h"

#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64], path[96];

static void make_folder(void)
{
	snprintf(dir, sizeof dir, "%s/store-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof path, "%s/parley.db", dir);
}

static void remove_files(void)
{
	char pattern[96];
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/*", dir);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

static void write_file(const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, size, f) != size)
		abort();
	fclose(f);
}

static void check_untouched(const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *now = malloc(size + 1);

	if (!f || !now || fread(now, 1, size + 1, f) != size || memcmp(now, data, size) != 0)
		abort();
	free(now);
	fclose(f);
}

static void use(struct db *db)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = 1, .user = 501};
	struct bus_event turn = {.type = EVENT_TURN, .at_ms = 1000, .guild = 1, .user = 501};
	unsigned changed;

	ev.utterance = (struct event_utterance){.text = "hello", .started_ms = 1000};
	turn.turn = (struct event_turn){.reason = "answered",
					.why = "[]",
					.segments = "[{\"user\":\"501\",\"text\":\"hello\"}]"};
	rows_add(db, &ev, true);
	rows_add(db, &turn, true);
	rows_expire(db, UINT64_C(1) << 50, 2000, &changed);
	if (!db_begin(db) && !rows_run_erasers(db, 501, NULL, NULL))
		db_commit(db);
	db_rollback(db);
	db_merge_terms(db);
	for (unsigned i = DB_GET_META; i < DB_STATEMENT_COUNT; i++) {
		struct sqlite3_stmt *s = db_use(db, (enum db_statement)i);

		if (s && db_step(db, s) == 0)
			db_text(s, 0);
	}
	db_rollback(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct db *db = NULL;
	int err;

	if (!*dir)
		make_folder();
	write_file(data, size);
	err = db_open(&db, dir, DB_CHECK);
	if (!err)
		db_check_integrity(db);
	db = db_close(db);
	err = db_open(&db, dir, DB_OWN);
	if (!err)
		use(db);
	else if (err == EBADMSG || err == ENOTSUP)
		check_untouched(data, size);
	db_close(db);
	remove_files();
	return 0;
}
