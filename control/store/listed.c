#include "control/store/listed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/settings/forget_id.h"
#include "control/store/db.h"

enum { DIGITS = 20 };

/* What is no JSON is text with the id in it all the same. The caller frees it. */
static char *document_without(const char *text, uint64_t user)
{
	json_t *document = json_loads(text, 0, NULL);
	char *out;
	unsigned n;

	if (!document)
		return forget_id_text(text, user, "", &n);
	n = forget_id_json(document, user);
	out = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	return out;
}

static int change(struct db *db, const json_t *row)
{
	sqlite3_stmt *s = db_use(db, DB_SET_DOCUMENT);

	db_bind_text(s, 1, json_string_value(json_array_get(row, 0)));
	db_bind_uint(s, 2, (uint64_t)json_integer_value(json_array_get(row, 1)));
	db_bind_text(s, 3, json_string_value(json_array_get(row, 2)));
	return db_run(db, s);
}

int listed_erase(struct db *db, uint64_t user, unsigned *n)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_OLD_DOCUMENTS);
	json_t *rows = json_array(), *row;
	size_t i;
	int err;

	db_bind_uint(s, 1, user);
	while ((err = db_step(db, s)) == 0) {
		char *text = document_without(db_text(s, 2), user);

		json_array_append_new(rows, json_pack("[s,I,s?]", db_text(s, 0),
						      (json_int_t)db_uint(s, 1), text));
		free(text);
	}
	sqlite3_reset(s);
	err = err == ENOENT ? 0 : err;
	json_array_foreach(rows, i, row)
	{
		err = err ? err : change(db, row);
	}
	*n = (unsigned)json_array_size(rows);
	json_decref(rows);
	return err;
}

int listed_count(struct db *db, uint64_t user, unsigned *n)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_NEW_DOCUMENTS);
	int err;

	*n = 0;
	while ((err = db_step(db, s)) == 0) {
		unsigned found = 0;

		free(forget_id_text(db_text(s, 0), user, "", &found));
		*n += found;
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* Tries each number of the text. */
static uint64_t find_in_text(const struct subject_key *key, const char *mac, const char *text)
{
	char of[SUBJECT_MAC];

	while (*text) {
		size_t n = strspn(text, "0123456789");
		uint64_t id = n && n <= DIGITS ? strtoull(text, NULL, 10) : 0;

		if (id) {
			subject_mac(key, id, of);
			if (strcmp(of, mac) == 0)
				return id;
		}
		text += n ? n : 1;
	}
	return 0;
}

int listed_find(struct db *db, const struct subject_key *key, const char *mac, uint64_t *user)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_LISTED);
	int err;

	*user = 0;
	while (!*user && (err = db_step(db, s)) == 0)
		*user = find_in_text(key, mac, db_text(s, 0));
	sqlite3_reset(s);
	return *user || err == ENOENT ? 0 : err;
}
