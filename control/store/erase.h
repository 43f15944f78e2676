/* Erases one person from everything that the state directory keeps, and proves it by a receipt. On
 * the store's worker, or in the command line.
 *
 * The order is: a request in the database, so that the next control repeats what a crash has
 * interrupted; the file `deletions`, so that an older backup cannot undo it; the rows in one synced
 * transaction; the full-text indexes; the WAL; the copies that migrations made; the turn file and
 * the rotated one; the journals of rooms; the end of the request; and a search of all of them for
 * what is left. Each step may be repeated: the request keeps the texts that the search needs, and
 * the numbers of rows, until its end. */
#ifndef CONTROL_STORE_ERASE_H
#define CONTROL_STORE_ERASE_H

#include <stdbool.h>
#include <stdint.h>

struct db;

struct erase {
	const char *dir;	   /* the state directory */
	const char *turns_file;	   /* "" or NULL: none */
	const char *room_journals; /* a folder; "" or NULL: none */
	uint64_t user, now_ms;
	const char *via; /* who asked: "/privacy", "control --erase", "restore" */
	/* No row named them when they asked: if no row and no file does now, the database is not
	 * searched, which takes long, and the receipt's "searched" is empty. */
	bool unrecorded;
};

/* Records the request alone, synced to the disk. It stays until erase_person has ended it. Errors
 * of db.h. */
int erase_request(struct db *db, uint64_t user, uint64_t at_ms);
/* Turns each `remembered` of this person into `heard` and notes the deletion; other answers stay.
 * Inside a transaction. Errors of db.h. */
int erase_consents(struct db *db, const char *mac, uint64_t at_ms);
/* *receipt: {"format": "parley-erasure-1", "at_ms", "subject": the mac, "via", "erased": {what an
 * E() of ERASERS names: rows}, "files": {kind: how many}, "scan": {"searched": [file names],
 * "texts": how many of theirs were searched for beside the id, "traces": 0, "listed": how often the
 * settings in force name the person, "found": {file name: traces}}}; the caller frees it, and
 * receipt.h reads it. Errors of db.h and consents_read_key; ENOMEM. */
int erase_person(struct db *db, const struct erase *e, char **receipt);
/* The receipt of an erasure of this person not before from_ms. ENOENT. The caller frees it. */
int erase_find_receipt(struct db *db, const char *dir, uint64_t user, uint64_t from_ms,
		       char **receipt);

/* How far a request is that another process carries out. */
struct erase_state {
	char failed[80]; /* why it was given up; "": it was not */
	bool rows_done;	 /* only files are left */
};
/* Errors of db.h; ENOENT: there is none, or it is done. */
int erase_read_request(struct db *db, uint64_t user, struct erase_state *out);

#endif
