#include "control/store/consents.h"

#include <stdio.h>
#include <string.h>

#include "control/store/db.h"
#include "control/store/subject.h"

static int set_consent(struct db *db, const struct consent_change *c, const char *mac)
{
	struct sqlite3_stmt *s = db_use(db, DB_SET_CONSENT);

	db_bind_uint(s, 1, c->guild);
	db_bind_text(s, 2, mac);
	db_bind_text(s, 3, c->after);
	db_bind_uint(s, 4, c->at_ms);
	return db_run(db, s);
}

static int add_change(struct db *db, const struct consent_change *c, const char *mac)
{
	struct sqlite3_stmt *s = db_use(db, DB_ADD_CONSENT_CHANGE);

	db_bind_uint(s, 1, c->at_ms);
	db_bind_uint(s, 2, c->guild);
	db_bind_uint(s, 3, c->user);
	db_bind_text(s, 4, mac);
	db_bind_text(s, 5, c->before);
	db_bind_text(s, 6, c->after);
	db_bind_text(s, 7, c->via);
	return db_run(db, s);
}

int consents_put(struct db *db, const char *dir, const struct consent_change *c)
{
	struct subject_key key;
	char mac[SUBJECT_MAC];
	int err = subject_key_read(dir, &key);

	if (err)
		return err;
	subject_mac(&key, c->user, mac);
	explicit_bzero(&key, sizeof key);
	err = db_begin_synced(db);
	if (err)
		return err;
	err = set_consent(db, c, mac);
	if (!err)
		err = add_change(db, c, mac);
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

static json_t *list_consents(struct db *db)
{
	struct sqlite3_stmt *s = db_use(db, DB_LIST_CONSENTS);
	json_t *rows = json_object();
	char name[24 + SUBJECT_MAC];

	while (rows && db_step(db, s) == 0) {
		snprintf(name, sizeof name, "%llu:%.*s", (unsigned long long)db_uint(s, 0),
			 SUBJECT_MAC - 1, db_text(s, 1));
		json_object_set_new(rows, name, json_string(db_text(s, 2)));
	}
	return rows;
}

json_t *consents_read(struct db *db, const char *dir)
{
	char text[SUBJECT_KEY_TEXT];
	struct subject_key key;

	if (subject_key_read(dir, &key))
		return NULL;
	subject_key_text(&key, text);
	explicit_bzero(&key, sizeof key);
	return json_pack("{s:s,s:o}", "key", text, "rows", list_consents(db));
}
