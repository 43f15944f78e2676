/* People whom settings list by their ids (blocked_users and others). Inside an erasure.
 *
 * The newest settings keep the id: they are refusals and orders that stand, and an erasure is no
 * way around a block. Older versions lose it. */
#ifndef CONTROL_STORE_LISTED_H
#define CONTROL_STORE_LISTED_H

#include <stdint.h>

#include "control/store/subject.h"

struct db;

/* Takes the id out of older versions; *n: how many. Inside a transaction. Errors of db.h, ENOMEM.
 */
int listed_erase(struct db *db, uint64_t user, unsigned *n);
/* How often the newest settings have the id. Errors of db.h. */
int listed_count(struct db *db, uint64_t user, unsigned *n);
/* The person of this pseudonym if settings or the audit list them; 0: they do not. Errors of db.h.
 */
int listed_find(struct db *db, const struct subject_key *key, const char *mac, uint64_t *user);

#endif
