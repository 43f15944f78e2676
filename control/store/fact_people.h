/* The people whom a fact names, beside its author: bound to their ids when the fact is written, as
 * names change and two members may have the same one. On the store's worker.
 *
 * A name that one person had when the fact was told, of all whose lines the server keeps, binds the
 * fact to that person. A name that several had, or that the person has changed before, leaves it
 * unbound: the fact then goes with each of them when they are erased, and takes the place of no
 * other one. A word that others used before anybody bore it is nobody's name (name_claim.h). */
#ifndef CONTROL_STORE_FACT_PEOPLE_H
#define CONTROL_STORE_FACT_PEOPLE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct db;

struct fact_person {
	uint64_t user;
	bool bound;
};

/* Everybody: any of them may be erased one day. {0}: nobody. Freed by fact_people_clear. */
struct fact_people {
	size_t n;
	struct fact_person *of; /* own; in the order of their ids */
};

void fact_people_clear(struct fact_people *people);
#define FACT_TOLD_NOW ((uint64_t)INT64_MAX)

/* Whose fact it is. */
struct fact_place {
	uint64_t guild, owner, author; /* owner: 0: of the server's memory */
	uint64_t told_ms;	       /* when it was told; FACT_TOLD_NOW: by now */
};

/* Looks for the names in the text. *out is another one only on success. Errors of db.h, ENOMEM.
 * Somebody's own fact is bound only to people whom it surely names: anybody may take a word for
 * their name, and an erasure of theirs would delete what others keep for themselves. */
int fact_people_find(struct db *db, const struct fact_place *place, const char *text,
		     struct fact_people *out);
/* Those of a fact that is kept. As fact_people_find. */
int fact_people_read(struct db *db, uint64_t fact, struct fact_people *out);
/* Inside a transaction. */
int fact_people_add(struct db *db, uint64_t fact, const struct fact_people *people);
/* True if both facts are of the same people, none of whom stays unbound. */
bool fact_people_agree(const struct fact_people *a, const struct fact_people *b);
/* {"ID": bound, …}; a new object, NULL without memory. */
json_t *fact_people_json(const struct fact_people *people);
/* False: it is no such object, or there is no memory; *out is as it was. */
bool fact_people_parse(const json_t *object, struct fact_people *out);

#endif
