/* Exports that have no room for everything. */
#include "control/store/export.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/db.h"
#include "tests/test.h"
#include "tests/unit/ipc/loop.h"

enum { ANA = 501 };

static char dir[32];
static struct db *db;

TEST(an_export_that_is_cut_counts_what_it_leaves_out)
{
	enum { ROWS = 21000, MOST = 1 << 20 };
	sqlite3_stmt *s;
	uint64_t left_out = 0;
	char *text = NULL;
	json_t *j, *newest;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(db_begin(db), 0);
	s = db_use(db, DB_ADD_FACT);
	db_bind_uint(s, 1, 7);
	db_bind_uint(s, 2, ANA);
	db_bind_uint(s, 3, ANA);
	db_bind_text(s, 7, "my bike is red");
	CHECK_INT(db_run(db, s), 0);
	for (unsigned i = 0; i < ROWS; i++) {
		s = db_use(db, DB_ADD_CONSENT_CHANGE);
		db_bind_uint(s, 1, 5000 + i);
		db_bind_uint(s, 2, 7);
		db_bind_uint(s, 3, ANA);
		db_bind_text(s, 5, "default");
		db_bind_text(s, 6, "heard");
		CHECK_INT(db_run(db, s), 0);
	}
	CHECK_INT(db_commit(db), 0);
	CHECK_INT(export_person(db, ANA, 3000, 0, &left_out, &text), 0);
	j = json_loads(text, 0, NULL);
	CHECK_INT(left_out, 0);
	CHECK_INT(json_array_size(json_object_get(j, "consent")), ROWS);
	CHECK_INT(json_object_size(json_object_get(j, "left_out")), 0);
	json_decref(j);
	free(text);
	CHECK_INT(export_person(db, ANA, 3000, MOST, &left_out, &text), 0);
	CHECK(text && strlen(text) <= MOST);
	j = json_loads(text, 0, NULL);
	CHECK(left_out > 0);
	CHECK_INT(json_array_size(json_object_get(j, "consent")) + left_out, ROWS);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(j, "left_out"), "consent")),
		  left_out);
	newest = json_array_get(json_object_get(j, "consent"), 0);
	CHECK_INT(json_integer_value(json_object_get(newest, "at_ms")), 5000 + ROWS - 1);
	CHECK_INT(json_array_size(json_object_get(j, "facts")), 1);
	json_decref(j);
	free(text);
	db_close(db);
	folder_remove(dir);
}
