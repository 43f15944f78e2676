#include "control/store/consents.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/store/consent_file.h"
#include "control/store/db.h"
#include "control/store/recordings.h"
#include "control/store/subject.h"
#include "ipc/log.h"

#define KEY_CHECK "subject_check"

/* ---- the key ---- */

static int has_row(struct db *db, enum db_statement statement, bool *out)
{
	int err = db_step(db, db_use(db, statement));

	*out = !err;
	db_use(db, statement); /* ends the read */
	return err == ENOENT ? 0 : err;
}

/* ENOENT: none is kept yet. */
static int compare_check(struct db *db, const char *check)
{
	struct sqlite3_stmt *s = db_use(db, DB_GET_META);
	int err;

	db_bind_text(s, 1, KEY_CHECK);
	err = db_step(db, s);
	if (!err && strcmp(db_text(s, 0), check) != 0)
		err = EKEYREJECTED;
	db_use(db, DB_GET_META);
	return err;
}

/* The pseudonym of nobody tells one key from another. With another key no consent would match its
 * person any more. */
static int read_key(struct db *db, const char *dir, enum db_statement uses, struct subject_key *out,
		    char check[SUBJECT_MAC])
{
	bool needed = false;
	int err = has_row(db, uses, &needed);

	if (!err)
		err = needed ? subject_key_find(dir, out) : subject_key_read(dir, out);
	if (needed && err == ENOENT)
		err = ENOKEY;
	if (err)
		return err;
	subject_mac(out, 0, check);
	err = needed ? compare_check(db, check) : 0;
	return err == ENOENT ? 0 : err;
}

int consents_read_key(struct db *db, const char *dir, struct subject_key *out)
{
	char check[SUBJECT_MAC];

	return read_key(db, dir, DB_FIND_PSEUDONYM, out, check);
}

/* ---- writing ---- */

static int set_check(struct db *db, const char *check)
{
	struct sqlite3_stmt *s = db_use(db, DB_SET_META);

	db_bind_text(s, 1, KEY_CHECK);
	db_bind_text(s, 2, check);
	return db_run(db, s);
}

static int set_consent(struct db *db, const struct consent_change *c, const char *mac)
{
	struct sqlite3_stmt *s = db_use(db, DB_SET_CONSENT);

	db_bind_uint(s, 1, c->guild);
	db_bind_text(s, 2, mac);
	db_bind_text(s, 3, c->after);
	db_bind_uint(s, 4, c->at_ms);
	return db_run(db, s);
}

/* True if answers of the bot from before may repeat words that models are not told any more. */
static bool ends_memory(const struct consent_change *c)
{
	return strcmp(c->after, "remembered") != 0 &&
	       (strcmp(c->before, "remembered") == 0 ||
		(strcmp(c->before, "default") == 0 && c->by_default));
}

int consents_add_row(struct db *db, const struct consent_change *c, const char *mac)
{
	struct sqlite3_stmt *s;
	int err = set_consent(db, c, mac);

	if (err)
		return err;
	s = db_use(db, DB_ADD_CONSENT_CHANGE);
	db_bind_uint(s, 1, c->at_ms);
	db_bind_uint(s, 2, c->guild);
	db_bind_uint(s, 3, c->user);
	db_bind_text(s, 4, mac);
	db_bind_text(s, 5, c->before);
	db_bind_text(s, 6, c->after);
	db_bind_text(s, 7, c->via);
	db_bind_uint(s, 8, ends_memory(c));
	return db_run(db, s);
}

static int put_rows(struct db *db, const struct consent_change *c, const char *mac,
		    const char *check)
{
	int err = db_begin_synced(db);

	if (err)
		return err;
	err = set_check(db, check);
	if (!err)
		err = consents_add_row(db, c, mac);
	if (!err && strcmp(c->after, "remembered") != 0)
		err = recordings_drop(db, c->guild, c->user);
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

int consents_put(struct db *db, const char *dir, const struct consent_change *c)
{
	char mac[SUBJECT_MAC], check[SUBJECT_MAC];
	struct subject_key key;
	int err = read_key(db, dir, DB_LIST_CONSENTS, &key, check);

	if (err)
		return err;
	subject_mac(&key, c->user, mac);
	explicit_bzero(&key, sizeof key);
	if (!c->grants)
		err = consent_file_add(dir, c, mac);
	if (!err)
		err = put_rows(db, c, mac, check);
	/* A restore may lose a grant, but must not make one of an answer that failed. */
	if (!err && c->grants && consent_file_add(dir, c, mac))
		log_warn("consent_not_recorded", "dir=\"%s\"", dir);
	return err;
}

/* ---- reading ---- */

enum { NAME_SIZE = 24 + SUBJECT_MAC };

/* "GUILD:MAC", of the first two columns. */
static void name_row(struct sqlite3_stmt *s, char out[NAME_SIZE])
{
	snprintf(out, NAME_SIZE, "%llu:%.*s", (unsigned long long)db_uint(s, 0), SUBJECT_MAC - 1,
		 db_text(s, 1));
}

static int list_consents(struct db *db, json_t *rows, json_t *since)
{
	struct sqlite3_stmt *s = db_use(db, DB_LIST_CONSENTS);
	char name[NAME_SIZE];
	int err;

	while ((err = db_step(db, s)) == 0) {
		name_row(s, name);
		if (json_object_set_new(rows, name, json_string(db_text(s, 2))) ||
		    json_object_set_new(since, name, json_integer((json_int_t)db_uint(s, 3))))
			return ENOMEM;
	}
	return err == ENOENT ? 0 : err;
}

/* Until when people refused to be read, and (server 0) when they were erased. */
static int list_unread(struct db *db, json_t *unread)
{
	struct sqlite3_stmt *s = db_use(db, DB_LIST_UNREAD);
	char name[NAME_SIZE];
	int err;

	while ((err = db_step(db, s)) == 0) {
		name_row(s, name);
		if (json_object_set_new(unread, name, json_integer((json_int_t)db_uint(s, 2))))
			return ENOMEM;
	}
	return err == ENOENT ? 0 : err;
}

/* When somebody in a server last came to allow less, and (server 0) was erased. */
static int list_withdrawn(struct db *db, json_t *withdrawn)
{
	struct sqlite3_stmt *s = db_use(db, DB_LIST_WITHDRAWN);
	char name[NAME_SIZE];
	int err;

	while ((err = db_step(db, s)) == 0) {
		snprintf(name, sizeof name, "%llu", (unsigned long long)db_uint(s, 0));
		if (json_object_set_new(withdrawn, name, json_integer((json_int_t)db_uint(s, 1))))
			return ENOMEM;
	}
	return err == ENOENT ? 0 : err;
}

int consents_read(struct db *db, const char *dir, json_t **out)
{
	char text[SUBJECT_KEY_TEXT], check[SUBJECT_MAC];
	struct subject_key key;
	json_t *rows, *since, *unread, *withdrawn;
	int err = read_key(db, dir, DB_LIST_CONSENTS, &key, check);

	if (err)
		return err;
	subject_key_text(&key, text);
	explicit_bzero(&key, sizeof key);
	rows = json_object();
	since = json_object();
	unread = json_object();
	withdrawn = json_object();
	err = rows && since && unread && withdrawn ? list_consents(db, rows, since) : ENOMEM;
	if (!err)
		err = list_unread(db, unread);
	if (!err)
		err = list_withdrawn(db, withdrawn);
	if (!err)
		*out = json_pack("{s:s,s:O,s:O,s:O,s:O}", "key", text, "rows", rows, "since", since,
				 "unread_before", unread, "withdrawn", withdrawn);
	json_decref(rows);
	json_decref(since);
	json_decref(unread);
	json_decref(withdrawn);
	return err ? err : *out ? 0 : ENOMEM;
}
