/* Facts that an erasure took or somebody forgot: a file of facts may hold them still. On the
 * store's worker, or in the command line.
 *
 * Such a fact may be somebody else's, and name the person in words that nothing binds to them any
 * more. So each is known by a pseudonym of its own (subject.h), without its words. */
#ifndef CONTROL_STORE_ERASED_FACTS_H
#define CONTROL_STORE_ERASED_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/store/subject.h"

struct db;

struct erased_fact {
	uint64_t guild, owner, said_by;
	const char *text; /* borrowed */
};

/* Its pseudonym. */
void erased_facts_mac(const struct subject_key *key, const struct erased_fact *fact,
		      char mac[SUBJECT_MAC]);
/* Notes one of them, in the caller's transaction. Errors of db.h. */
int erased_facts_add(struct db *db, const char *mac, uint64_t at_ms);
/* Notes all facts that go with this person, in the caller's transaction, before they go. Errors of
 * db.h. */
int erased_facts_note(struct db *db, const struct subject_key *key, uint64_t user, uint64_t at_ms);
/* *is: such a fact, or the memory of its server, went at that time or later. Errors of db.h. */
int erased_facts_find(struct db *db, const struct subject_key *key, const struct erased_fact *fact,
		      uint64_t written_ms, bool *is);

#endif
