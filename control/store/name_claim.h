/* Whose name a word is. Anybody may take any word as a display name, such as that of a project:
 * what others tell about the project is then neither shown to that person nor erased with them. On
 * the store's worker.
 *
 * A name is known from the first line on that somebody bore it in. If others used the word before
 * in a fact or a line that the server keeps, it is nobody's name, unless the oldest of these facts
 * is of the person already, whose older lines are gone. Nor is a word of everyday English that
 * others use as a noun. */
#ifndef CONTROL_STORE_NAME_CLAIM_H
#define CONTROL_STORE_NAME_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

struct db;

enum name_claim {
	NAME_CLAIM_NONE, /* nobody's, or the person did not bear it yet when the fact was told */
	NAME_CLAIM_WEAK, /* it may mean the person */
	NAME_CLAIM_FULL, /* it was the person's name when the fact was told */
};

/* A fact that has the name. Pointers are borrowed. */
struct name_claimed {
	uint64_t guild, user;
	const char *name, *fact;
	uint64_t told_ms; /* as in fact_people.h */
};

/* Errors of db.h, ENOMEM. */
int name_claim_find(struct db *db, const struct name_claimed *c, enum name_claim *out);
/* True if somebody else than the person uses the name as a noun ("our roadmap"). Errors of db.h. */
int name_claim_is_noun(struct db *db, const struct name_claimed *c, bool *is);

#endif
