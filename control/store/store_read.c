/* Reads of the database without a store, before the loop runs (store.h). */
#include <errno.h>
#include <stdio.h>

#include "control/store/consents.h"
#include "control/store/db.h"
#include "control/store/store.h"

#include <sqlite3.h>

/* One that an older version of control wrote is migrated first, as the worker would do later. */
static int open_to_read(struct db **db, const char *dir)
{
	int err = db_open(db, dir, DB_READ);

	if (err == ENOTSUP)
		err = db_open(db, dir, DB_OWN);
	return err;
}

int store_read_settings(const char *dir, const char *scope, store_version_h *h, void *arg)
{
	struct store_document d = {0};
	struct db *db = NULL;
	sqlite3_stmt *stmt;
	bool more = true;
	int err = open_to_read(&db, dir);

	if (err)
		return err;
	stmt = db_use(db, DB_GET_DOCUMENT);
	while (more) {
		db_bind_text(stmt, 1, scope);
		err = db_step(db, stmt);
		if (err)
			break;
		d.version = db_uint(stmt, 0);
		d.document = db_text(stmt, 1);
		d.author = db_text(stmt, 2);
		d.updated_ms = db_uint(stmt, 3);
		more = h(&d, arg) && d.version > 1;
		stmt = db_use(db, DB_GET_DOCUMENT_VERSION);
		db_bind_uint(stmt, 2, d.version - 1);
	}
	db_close(db);
	return err == ENOENT ? 0 : err;
}

static void add_guild(json_t *all, sqlite3_stmt *stmt)
{
	json_t *guild = json_loads(db_text(stmt, 1), JSON_REJECT_DUPLICATES, NULL);
	char key[24];

	snprintf(key, sizeof key, "%llu", (unsigned long long)db_uint(stmt, 0));
	if (guild)
		json_object_set_new(all, key, guild);
}

static json_t *read_documents(const char *dir, enum db_statement statement)
{
	struct db *db = NULL;
	sqlite3_stmt *stmt;
	json_t *all;

	if (open_to_read(&db, dir))
		return NULL;
	all = json_object();
	stmt = db_use(db, statement);
	while (all && db_step(db, stmt) == 0)
		add_guild(all, stmt);
	db_close(db);
	return all;
}

json_t *store_read_guilds(const char *dir)
{
	return read_documents(dir, DB_LIST_GUILDS);
}

json_t *store_read_queues(const char *dir)
{
	return read_documents(dir, DB_LIST_QUEUES);
}

json_t *store_read_taken(const char *dir)
{
	json_t *all = json_array();
	struct db *db = NULL;
	sqlite3_stmt *s;

	if (!all || open_to_read(&db, dir)) {
		json_decref(all);
		return NULL;
	}
	s = db_use(db, DB_LIST_TAKEN);
	while (db_step(db, s) == 0)
		json_array_append_new(all, json_pack("[I,I,I,I,s,I]", (json_int_t)db_uint(s, 0),
						     (json_int_t)db_uint(s, 1),
						     (json_int_t)db_uint(s, 2),
						     (json_int_t)db_uint(s, 3), db_text(s, 4),
						     (json_int_t)db_uint(s, 5)));
	db_close(db);
	return all;
}

json_t *store_read_web(const char *dir)
{
	struct db *db = NULL;
	json_t *j = NULL;
	sqlite3_stmt *s;

	if (open_to_read(&db, dir))
		return NULL;
	s = db_use(db, DB_GET_META);
	db_bind_text(s, 1, STORE_META_WEB);
	if (db_step(db, s) == 0)
		j = json_loads(db_text(s, 0), JSON_REJECT_DUPLICATES, NULL);
	db_close(db);
	return j;
}

int store_read_consents(const char *dir, json_t **out)
{
	struct db *db = NULL;
	int err = open_to_read(&db, dir);

	*out = NULL;
	if (err)
		return err == ENOENT ? 0 : err;
	err = consents_read(db, dir, out);
	db_close(db);
	return err;
}

static bool has_rows(const char *dir, enum db_statement statement)
{
	struct db *db = NULL;
	bool has;

	if (open_to_read(&db, dir))
		return false;
	has = db_step(db, db_use(db, statement)) == 0;
	db_close(db);
	return has;
}

bool store_has_erase_requests(const char *dir)
{
	return has_rows(dir, DB_LIST_ERASE_REQUESTS);
}

bool store_has_messages(const char *dir)
{
	return has_rows(dir, DB_FIND_ANY_MESSAGE);
}

enum { WORDS_TURNS = 60 };

/* The lines of one turn, before those that are there. */
static void put_turn(json_t *lines, struct db *db, const sqlite3_stmt *turn)
{
	sqlite3_stmt *t = (sqlite3_stmt *)(uintptr_t)turn, *s = db_use(db, DB_FIND_SEGMENTS);
	json_int_t at = (json_int_t)db_uint(t, 1);
	size_t n = 0;
	char user[24];

	db_bind_uint(s, 1, db_uint(t, 0));
	while (db_step(db, s) == 0) {
		snprintf(user, sizeof user, "%llu", (unsigned long long)db_uint(s, 0));
		if (*db_text(s, 2))
			json_array_insert_new(lines, n++,
					      json_pack("{s:I,s:s,s:s,s:s}", "at_ms", at, "user",
							user, "name", db_text(s, 1), "text",
							db_text(s, 2)));
	}
	json_array_insert_new(lines, n,
			      json_pack("{s:I,s:b,s:b,s:b,s:s}", "at_ms", at, "bot", 1, "cut",
					(int)db_uint(t, 3), "tainted", (int)db_uint(t, 4), "text",
					db_text(t, 2)));
}

json_t *store_read_words(const char *dir, uint64_t guild, uint64_t channel, uint64_t since_ms)
{
	struct db *db = NULL;
	sqlite3_stmt *turn;
	json_t *lines;

	if (open_to_read(&db, dir))
		return NULL;
	lines = json_array();
	turn = db_use(db, DB_FIND_ANSWERED);
	db_bind_uint(turn, 1, guild);
	db_bind_uint(turn, 2, since_ms);
	db_bind_uint(turn, 3, WORDS_TURNS);
	db_bind_uint(turn, 4, channel);
	while (lines && db_step(db, turn) == 0)
		put_turn(lines, db, turn);
	db_close(db);
	return lines;
}
