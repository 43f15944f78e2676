/* The consents of people and the ledger of their changes, as rows of the database. On the store's
 * worker, or before the loop runs. */
#ifndef CONTROL_STORE_CONSENTS_H
#define CONTROL_STORE_CONSENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct db;
struct subject_key;

struct consent_change {
	uint64_t guild, user, at_ms;
	const char *before, *after, *via;
	bool grants;	 /* allows more than was allowed before */
	bool by_default; /* before is "default", by which the person was remembered */
};

/* One synced transaction: the consent, and a row of the ledger. The line of the file `consents`
 * (consent_file.h) comes after it for a consent that grants, before it for any other. dir holds the
 * subject key. Errors of db.h and of subject_key_read; ENOKEY: the key is gone; EKEYREJECTED: it is
 * another one than the consents were saved with. */
int consents_put(struct db *db, const char *dir, const struct consent_change *change);
/* The rows alone, inside a transaction. user 0: the id is not known. */
int consents_add_row(struct db *db, const struct consent_change *change, const char *mac);
/* The key of pseudonyms. Makes one only while no consent and no deletion needs one. Errors as
 * consents_put. */
int consents_read_key(struct db *db, const char *dir, struct subject_key *out);
/* As store_read_consents. The caller owns *out. Errors as consents_put. */
int consents_read(struct db *db, const char *dir, json_t **out);

#endif
