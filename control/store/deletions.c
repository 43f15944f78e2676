#include "control/store/deletions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/store/db.h"
#include "control/store/erase.h"
#include "control/store/subject.h"

enum { PATH_SIZE = 640 };

struct deletion {
	unsigned long long at_ms;
	char mac[SUBJECT_MAC];
};

int deletions_add(const char *dir, uint64_t at_ms, const char *mac)
{
	char path[PATH_SIZE], line[96];
	int fd, err = 0, n;

	if ((size_t)snprintf(path, sizeof path, "%s/deletions", dir) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	n = snprintf(line, sizeof line, "%llu %s\n", (unsigned long long)at_ms, mac);
	errno = 0;
	if (write(fd, line, (size_t)n) != n)
		err = errno ? errno : ENOSPC;
	else if (fsync(fd))
		err = errno;
	close(fd);
	return err;
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

static int erase_again(struct db *db, const char *dir, const struct subject_key *key,
		       const struct deletion *d, unsigned *people)
{
	struct erase e = {.dir = dir, .now_ms = d->at_ms, .via = "restore"};
	char *receipt = NULL;
	int err = find_person(db, key, d->mac, &e.user);

	if (err || !e.user)
		return err;
	err = erase_person(db, &e, &receipt);
	free(receipt);
	*people += !err;
	return err;
}

static int replay_each(FILE *f, struct db *db, const char *dir, unsigned *people)
{
	struct subject_key key;
	struct deletion d;
	char line[96];
	int err = subject_key_read(dir, &key);
	long end;

	/* An erasure appends to the file. */
	if (fseek(f, 0, SEEK_END))
		return errno;
	end = ftell(f);
	rewind(f);
	while (!err && ftell(f) < end && fgets(line, sizeof line, f))
		if (sscanf(line, "%20llu %32s", &d.at_ms, d.mac) == 2 && !is_known(db, &d))
			err = erase_again(db, dir, &key, &d, people);
	explicit_bzero(&key, sizeof key);
	return err;
}

int deletions_replay(const char *dir, unsigned *people)
{
	char path[PATH_SIZE];
	struct db *db = NULL;
	FILE *f;
	int err;

	*people = 0;
	if ((size_t)snprintf(path, sizeof path, "%s/deletions", dir) >= sizeof path)
		return ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : errno;
	err = db_open(&db, dir, DB_JOIN);
	if (err == ENOTSUP)
		err = db_open(&db, dir, DB_OWN);
	if (!err)
		err = replay_each(f, db, dir, people);
	db_close(db);
	fclose(f);
	return err == ENOENT ? 0 : err;
}
