/* What the author of a fact told later about the same, in words that a question about it does not
 * find ("the party is at Ben's" and, a week later, "we moved it to the garden"). On the store's
 * worker. */
#ifndef CONTROL_STORE_FACT_LATER_H
#define CONTROL_STORE_FACT_LATER_H

#include <stdint.h>

#include <jansson.h>

struct db;
struct embedding;
struct job;
struct rank_line;

/* The search and the fact that answers its question best. Pointers are borrowed. */
struct fact_later {
	const struct job *j;
	const json_t *
		request; /* of the search: with "tags" and what control/store/fact_filter.h names */
	uint64_t other;	 /* the second memory in which it looks, as well as in j->owner */
	const struct rank_line *best;
	const char *text; /* of the best fact */
	uint64_t author;  /* of the best fact */
};

/* The id of the newest fact by this author that is about the same (fact_newer_alike), was told in
 * another conversation, and may be told, among those near in meaning or, without an encoder (e:
 * NULL) or a vector of the best fact, in words. A fact of the time that the question names has none
 * of another time. ENOENT: there is none. Errors of db.h. */
int fact_later_find(struct db *db, struct embedding *e, const struct fact_later *q, uint64_t *id);

#endif
