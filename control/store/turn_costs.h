/* What one turn cost, by provider, model and role. On the store's worker. */
#ifndef CONTROL_STORE_TURN_COSTS_H
#define CONTROL_STORE_TURN_COSTS_H

#include <stdint.h>

#include <jansson.h>

struct db;

struct turn_costs {
	uint64_t seq; /* the turn's row */
	uint64_t guild, session, number;
	uint64_t until_ms; /* requests of a later turn of the same number are of another session */
};

/* How long people spoke in a session, in ms, also those who were erased, and speech that never
 * became a turn; 0 if it is not known. Errors of db.h. */
int turn_costs_spoken(struct db *db, uint64_t guild, uint64_t session, uint64_t *ms);
/* Appends {"provider", "model", "role", "usd", "priced", "estimated"} to list. Speech-to-text that
 * was paid for the whole session is of this turn by its share of the speech, and so estimated.
 * Errors of db.h. */
int turn_costs_add(struct db *db, const struct turn_costs *t, json_t *list);

#endif
