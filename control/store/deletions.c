#include "control/store/deletions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/store/db.h"
#include "control/store/erase.h"
#include "control/store/listed.h"
#include "control/store/record_file.h"
#include "control/store/reserve.h"
#include "control/store/subject.h"

enum { PATH_SIZE = 640 };

struct deletion {
	unsigned long long at_ms;
	char mac[SUBJECT_MAC];
};

int deletions_add(const char *dir, uint64_t at_ms, const char *mac)
{
	char line[96];

	snprintf(line, sizeof line, "%llu %s", (unsigned long long)at_ms, mac);
	return record_file_add(dir, "deletions", line);
}

static bool is_known(struct db *db, const struct deletion *d)
{
	struct sqlite3_stmt *s = db_use(db, DB_FIND_DELETION);
	bool known;

	db_bind_text(s, 1, d->mac);
	db_bind_uint(s, 2, d->at_ms);
	known = db_step(db, s) == 0;
	db_use(db, DB_FIND_DELETION); /* ends the read */
	return known;
}

/* Ids are random numbers to a mac: everybody of whom a row tells is tried. */
static int find_person(struct db *db, const struct subject_key *key, const char *mac,
		       uint64_t *user)
{
	struct sqlite3_stmt *s = db_use(db, DB_FIND_PEOPLE);
	char of[SUBJECT_MAC];
	int err;

	*user = 0;
	while ((err = db_step(db, s)) == 0) {
		uint64_t id = db_uint(s, 0);

		subject_mac(key, id, of);
		if (id && strcmp(of, mac) == 0)
			*user = id;
	}
	return err == ENOENT ? 0 : err;
}

static bool is_requested(struct db *db, uint64_t user)
{
	struct sqlite3_stmt *s = db_use(db, DB_FIND_ERASE_REQUEST);
	bool is;

	db_bind_uint(s, 1, user);
	is = db_step(db, s) == 0;
	db_use(db, DB_FIND_ERASE_REQUEST); /* ends the read */
	return is;
}

/* Of a person of whom no row tells: the consent may still stand. */
static int end_consents(struct db *db, const struct deletion *d)
{
	int err = db_begin_synced(db);

	if (err)
		return err;
	err = erase_consents(db, d->mac, d->at_ms);
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

struct replay {
	struct db *db;
	const char *dir;
	struct subject_key key;
	unsigned *people;
	int err; /* of the first person whose erasure could not even be requested */
};

static int erase_again(struct replay *r, const struct deletion *d)
{
	struct erase e = {.dir = r->dir, .now_ms = d->at_ms, .via = "restore"};
	char *receipt = NULL;
	int err = find_person(r->db, &r->key, d->mac, &e.user);

	if (!err && !e.user)
		err = listed_find(r->db, &r->key, d->mac, &e.user);
	if (err)
		return err;
	if (!e.user)
		return end_consents(r->db, d);
	/* The control that starts goes on with it, and reaches the files, too. */
	if (is_requested(r->db, e.user))
		return 0;
	err = erase_person(r->db, &e, &receipt);
	if (err == ENOSPC && reserve_drop(r->dir))
		err = erase_person(r->db, &e, &receipt);
	free(receipt);
	*r->people += !err;
	return err && is_requested(r->db, e.user) ? 0 : err;
}

static int take_line(const char *line, void *arg)
{
	struct replay *r = arg;
	struct deletion d;
	int err;

	if (sscanf(line, "%20llu %32s", &d.at_ms, d.mac) != 2 || is_known(r->db, &d))
		return 0;
	err = erase_again(r, &d);
	if (!r->err)
		r->err = err;
	return 0;
}

static bool has_deletions(const char *dir)
{
	char path[PATH_SIZE];

	return (size_t)snprintf(path, sizeof path, "%s/deletions", dir) < sizeof path &&
	       access(path, F_OK) == 0;
}

/* A copy of an older version is migrated first, which takes room for another copy. */
static int open_database(struct db **db, const char *dir)
{
	int err = db_open(db, dir, DB_JOIN);

	if (err == ENOTSUP)
		err = db_open(db, dir, DB_OWN);
	if (err == ENOSPC && reserve_drop(dir))
		err = db_open(db, dir, DB_OWN);
	return err;
}

int deletions_replay(const char *dir, unsigned *people)
{
	struct replay r = {.dir = dir, .people = people};
	int err;

	*people = 0;
	if (!has_deletions(dir))
		return 0;
	err = open_database(&r.db, dir);
	if (err)
		return err == ENOENT ? 0 : err;
	err = subject_key_find(dir, &r.key);
	if (!err)
		err = record_file_each(dir, "deletions", take_line, &r);
	explicit_bzero(&r.key, sizeof r.key);
	db_close(r.db);
	return err ? err : r.err;
}
