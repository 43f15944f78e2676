/* The consents of people and the ledger of their changes, as rows of the database. On the store's
 * worker, or before the loop runs. */
#ifndef CONTROL_STORE_CONSENTS_H
#define CONTROL_STORE_CONSENTS_H

#include <stdint.h>

#include <jansson.h>

struct db;

struct consent_change {
	uint64_t guild, user, at_ms;
	const char *before, *after, *via;
};

/* One synced transaction: the consent, and a row of the ledger. dir holds the subject key. Errors
 * of db.h and of subject_key_read. */
int consents_put(struct db *db, const char *dir, const struct consent_change *change);
/* As store_read_consents. NULL without a key or memory. */
json_t *consents_read(struct db *db, const char *dir);

#endif
