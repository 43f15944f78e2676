#include "control/store/export.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/store/db.h"

/* A row is told a level deeper than alone, with a comma; the rest of the document takes so much. */
enum { ROW_BYTES = 128, HEAD_BYTES = 4096 };

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

static bool is_list(const char *column)
{
	return strcmp(column, "evidence") == 0 || strcmp(column, "channels") == 0;
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
		return is_list(sqlite3_column_name(s, i)) ? json_loads(text, 0, NULL)
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

/* An export under way. */
struct export
{
	struct db *db;
	uint64_t user;
	bool limited;
	size_t room; /* bytes, if it is limited */
	json_t *document;
	json_t *left_out; /* {list: rows} */
	uint64_t n_left_out;
};

/* Takes its bytes from the room of this list. False: it does not fit. */
static bool fits(const struct export *x, const json_t *row, size_t *room)
{
	size_t n = x->limited ? json_dumpb(row, NULL, 0, JSON_INDENT(1)) + ROW_BYTES : 0;

	/* The newest rows are whole: none that is older fills a gap. */
	*room = n > *room ? 0 : *room - n;
	return !x->limited || *room;
}

/* lists: those that still have to share the room. */
static int add_part(struct export *x, unsigned i, unsigned lists)
{
	json_t *list = json_array();
	sqlite3_stmt *s = db_use(x->db, parts[i].statement);
	size_t share = x->room / lists, room = share;
	uint64_t left_out = 0;
	int err;

	db_bind_uint(s, 1, x->user);
	while ((err = db_step(x->db, s)) == 0) {
		json_t *row = left_out ? NULL : row_json(s);

		if (row && fits(x, row, &room))
			json_array_append(list, row);
		else
			left_out++;
		json_decref(row);
	}
	x->room -= share - room;
	json_object_set_new(x->document, parts[i].name, list);
	if (left_out)
		json_object_set_new(x->left_out, parts[i].name, json_integer((json_int_t)left_out));
	x->n_left_out += left_out;
	return err == ENOENT ? 0 : err;
}

/* shared: the long lists stand first, and what the others leave is theirs. Otherwise each takes
 * what it needs, and all fit, or something is left out. */
static int add_parts(struct export *x, size_t room, bool shared)
{
	int err = 0;

	x->room = room;
	x->n_left_out = 0;
	json_object_clear(x->left_out);
	for (unsigned i = sizeof parts / sizeof parts[0]; i > 0 && !err; i--)
		err = add_part(x, i - 1, shared ? i : 1);
	return err;
}

int export_person(struct db *db, uint64_t user, uint64_t now_ms, size_t most, uint64_t *left_out,
		  char **out)
{
	char id[24];
	struct export x = {.db = db, .user = user, .limited = most, .left_out = json_object()};
	size_t room = most > HEAD_BYTES ? most - HEAD_BYTES : 0;
	int err = x.left_out ? 0 : ENOMEM;

	snprintf(id, sizeof id, "%llu", (unsigned long long)user);
	x.document = json_pack("{s:s,s:I,s:s,s:O*}", "format", "parley-export-1", "at_ms",
			       (json_int_t)now_ms, "user", id, "left_out", x.left_out);
	err = err ? err : add_parts(&x, room, false);
	if (!err && x.n_left_out)
		err = add_parts(&x, room, true);
	*left_out = x.n_left_out;
	*out = err ? NULL : json_dumps(x.document, JSON_INDENT(1));
	json_decref(x.document);
	json_decref(x.left_out);
	return err ? err : *out ? 0 : ENOMEM;
}
