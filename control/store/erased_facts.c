#include "control/store/erased_facts.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include <jansson.h>

#include "control/store/db.h"
#include "control/store/forgotten.h"
#include "control/store/subject.h"

void erased_facts_mac(const struct subject_key *key, const struct erased_fact *f,
		      char mac[SUBJECT_MAC])
{
	const uint64_t ids[] = {f->guild, f->owner, f->said_by};

	subject_mac_text(key, ids, sizeof ids / sizeof ids[0], f->text, mac);
}

int erased_facts_add(struct db *db, const char *mac, uint64_t at_ms)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_ERASED_FACT);

	db_bind_text(s, 1, mac);
	db_bind_uint(s, 2, at_ms);
	return db_run(db, s);
}

int erased_facts_note(struct db *db, const struct subject_key *key, uint64_t user, uint64_t at_ms)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_FACTS_OF_PERSON);
	int err, failed = 0;

	db_bind_uint(s, 1, user);
	while (!failed && (err = db_step(db, s)) == 0) {
		const struct erased_fact f = {db_uint(s, 0), db_uint(s, 1), db_uint(s, 2),
					      db_text(s, 3)};
		char mac[SUBJECT_MAC];

		erased_facts_mac(key, &f, mac);
		failed = erased_facts_add(db, mac, at_ms);
	}
	sqlite3_reset(s);
	return failed ? failed : err == ENOENT ? 0 : err;
}

/* ENOENT: not at that time or later. */
static int find_mac(struct db *db, const char *mac, uint64_t written_ms)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_ERASED_FACT);
	int err;

	db_bind_text(s, 1, mac);
	db_bind_uint(s, 2, written_ms);
	err = db_step(db, s);
	sqlite3_reset(s);
	return err;
}

int erased_facts_find(struct db *db, const struct subject_key *key, const struct erased_fact *fact,
		      uint64_t written_ms, bool *is)
{
	char mac[SUBJECT_MAC];
	int err;

	erased_facts_mac(key, fact, mac);
	err = find_mac(db, mac, written_ms);
	if (err == ENOENT) {
		forgotten_mac_guild(key, fact->guild, mac);
		err = find_mac(db, mac, written_ms);
	}
	*is = !err;
	return err == ENOENT ? 0 : err;
}
