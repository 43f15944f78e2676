/* Summaries of parts of sessions, by a model (store_end_episode, store_find_summaries). A summary
 * goes with each of the people whose words it sums up. On the store's worker. Errors of db.h,
 * ENOMEM, EINVAL: the request is malformed. */
#ifndef CONTROL_STORE_SUMMARIES_H
#define CONTROL_STORE_SUMMARIES_H

#include <stdint.h>

struct db;
struct job;

/* Adds the summary of a JOB_END_EPISODE. Inside its transaction. ESTALE: the words of one of the
 * people are gone by now. */
int summaries_add(struct db *db, const struct job *j);
/* The answer to a JOB_FIND_SUMMARIES as JSON; the caller frees it. */
int summaries_find(struct db *db, const struct job *j, char **out);
/* Before an erasure of the person, inside its transaction: the sessions of their summaries become
 * episodes again from the first such summary on, so that the words of the other people are summed
 * up without them. */
int summaries_reopen(struct db *db, uint64_t user);
/* Deletes summaries of sessions before then. In a transaction of its own. */
int summaries_expire(struct db *db, uint64_t before_ms, unsigned *changed);

#endif
