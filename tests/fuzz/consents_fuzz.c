/* The file `consents` beside a database with one refusal: whatever it holds, the database has valid
 * answers alone afterwards, nobody is remembered but by a whole line that says so, and a second
 * reading changes nothing. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/store/consent_file.h"
#include "control/store/consents.h"
#include "control/store/db.h"

#define MAC "00112233445566778899aabbccddeeff"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64], path[96];

static void make_folder(void)
{
	const struct consent_change refusal = {.guild = 7,
					       .at_ms = 1000,
					       .before = "default",
					       .after = "neither",
					       .via = "/consent"};
	struct db *db = NULL;

	snprintf(dir, sizeof dir, "%s/consents-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof path, "%s/consents", dir);
	if (db_open(&db, dir, DB_OWN) || db_begin(db) || consents_add_row(db, &refusal, MAC) ||
	    db_commit(db))
		abort();
	db_close(db);
}

static void remove_folder(void)
{
	static const char *const names[] = {"consents", "parley.db", "parley.db-wal",
					    "parley.db-shm"};
	char name[96];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(name, sizeof name, "%s/%s", dir, names[i]);
		unlink(name);
	}
	rmdir(dir);
}

static void write_file(const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, size, f) != size)
		abort();
	fclose(f);
}

static void check_row(sqlite3_stmt *s, const uint8_t *data, size_t size)
{
	const char *state = db_text(s, 2);

	if (strlen(db_text(s, 1)) != strlen(MAC))
		abort();
	if (strcmp(state, "remembered") == 0 && !memmem(data, size, " remembered", 11))
		abort();
	if (strcmp(state, "heard") != 0 && strcmp(state, "remembered") != 0 &&
	    strcmp(state, "neither") != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned changed = 0, again = 0, rows = 0;
	struct db *db = NULL;
	sqlite3_stmt *s;

	make_folder();
	write_file(data, size);
	if (consents_replay(dir, &changed) || consents_replay(dir, &again) || again ||
	    db_open(&db, dir, DB_READ))
		abort();
	s = db_use(db, DB_LIST_CONSENTS);
	for (; db_step(db, s) == 0; rows++)
		check_row(s, data, size);
	if (!rows)
		abort();
	db_close(db);
	remove_folder();
	return 0;
}
