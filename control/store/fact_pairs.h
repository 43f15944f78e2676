/* Reflection's side of the database: pairs of facts that a model is asked about, and what its
 * decisions do to them (store_next_pairs, store_end_pairs). On the store's worker.
 *
 * The two facts of a pair stand, are of one server, memory and author, and name the same people
 * (fact_people.h). They are near in meaning, or share the words that slice_fits wants. A pair is
 * given once: fact_pairs has a row for it from then on. Errors of db.h, ENOMEM. */
#ifndef CONTROL_STORE_FACT_PAIRS_H
#define CONTROL_STORE_FACT_PAIRS_H

#include <jansson.h>

struct db;
struct embedding;
struct job;

/* The answer to a JOB_NEXT_PAIRS as JSON; the caller frees it. ENOENT: the day is done. */
int fact_pairs_next(struct db *db, struct embedding *e, const struct job *j, char **out);
/* The answer to a JOB_END_PAIRS. EINVAL: the request is malformed. */
int fact_pairs_end(struct db *db, const struct job *j, char **out);
/* Adds the facts that contradict this one, by the decision of a model: "conflicts": [{"text",
 * "from_ms"}, …], nothing if there is none. */
int fact_pairs_tell(struct db *db, json_t *fact);

#endif
