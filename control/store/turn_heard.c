#include "control/store/turn_heard.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/store/db.h"

enum { HEARD_MAX = 1 << 20 };

char *turn_heard(struct db *db, uint64_t seq, uint64_t speaker)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_SEGMENTS);
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	db_bind_uint(s, 1, seq);
	/* Rows of an incident may be as large as a database takes them. */
	while (ftell(f) < HEARD_MAX && db_step(db, s) == 0) {
		if (!*db_text(s, 2))
			continue;
		fprintf(f, "%s", ftell(f) > 0 ? " / " : "");
		if (db_uint(s, 0) != speaker)
			fprintf(f, "%s: ", db_text(s, 1));
		fprintf(f, "%s", db_text(s, 2));
	}
	sqlite3_reset(s);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

uint64_t turn_merged_into(struct db *db, uint64_t seq)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_MERGED_INTO);
	uint64_t into = 0;

	db_bind_uint(s, 1, seq);
	if (db_step(db, s) == 0)
		into = db_uint(s, 0);
	sqlite3_reset(s);
	return into;
}
