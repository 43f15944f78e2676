#include "control/store/export.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/store/db.h"

static const struct {
	const char *name;
	enum db_statement statement;
} parts[] = {
#define X(name, STATEMENT) {#name, DB_##STATEMENT},
	EXPORTS(X)
#undef X
};

/* JavaScript has no 64-bit integers, so Discord writes ids as texts. */
static bool is_id(const char *column)
{
	return strcmp(column, "guild") == 0 || strcmp(column, "channel") == 0 ||
	       strcmp(column, "message") == 0;
}

static json_t *column_json(sqlite3_stmt *s, int i)
{
	const char *text;

	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		if (is_id(sqlite3_column_name(s, i)))
			return json_sprintf("%llu", (unsigned long long)db_uint(s, i));
		return json_integer((json_int_t)sqlite3_column_int64(s, i));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(s, i));
	case SQLITE_NULL:
		return json_null();
	default:
		text = db_text(s, i);
		return strcmp(sqlite3_column_name(s, i), "evidence") == 0
			       ? json_loads(text, 0, NULL)
			       : json_string(text);
	}
}

static json_t *row_json(sqlite3_stmt *s)
{
	json_t *row = json_object();

	for (int i = 0; i < sqlite3_column_count(s); i++)
		json_object_set_new(row, sqlite3_column_name(s, i), column_json(s, i));
	return row;
}

static int add_part(struct db *db, unsigned i, uint64_t user, json_t *document)
{
	json_t *list = json_array();
	sqlite3_stmt *s = db_use(db, parts[i].statement);
	int err;

	db_bind_uint(s, 1, user);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(list, row_json(s));
	json_object_set_new(document, parts[i].name, list);
	return err == ENOENT ? 0 : err;
}

int export_person(struct db *db, uint64_t user, uint64_t now_ms, char **out)
{
	char id[24];
	json_t *document;
	int err = 0;

	snprintf(id, sizeof id, "%llu", (unsigned long long)user);
	document = json_pack("{s:s,s:I,s:s}", "format", "parley-export-1", "at_ms",
			     (json_int_t)now_ms, "user", id);
	for (unsigned i = 0; i < sizeof parts / sizeof parts[0] && !err; i++)
		err = add_part(db, i, user, document);
	*out = err ? NULL : json_dumps(document, JSON_INDENT(1));
	json_decref(document);
	return err ? err : *out ? 0 : ENOMEM;
}
