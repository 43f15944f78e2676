/* Summaries of parts of sessions, by a model (store_end_episode, store_find_summaries). A summary
 * goes with each of the people whose words it sums up. On the store's worker. Errors of db.h,
 * ENOMEM, EINVAL: the request is malformed. */
#ifndef CONTROL_STORE_SUMMARIES_H
#define CONTROL_STORE_SUMMARIES_H

#include <stdint.h>

struct db;
struct forgotten;
struct job;

/* Adds the summary of a JOB_END_EPISODE, its people and the lines that it rests on, whose speakers
 * are among the people. Inside its transaction. ESTALE: the words of one of the people, or one of
 * the lines, are gone by now. */
int summaries_add(struct db *db, const struct job *j);
/* The answer to a JOB_FIND_SUMMARIES as JSON; the caller frees it. */
int summaries_find(struct db *db, const struct job *j, char **out);
/* Before a fact is forgotten, inside the transaction: its lines, those of the facts whose place it
 * took, and other lines of its author that share the words of such a fact or the words of the
 * request ("" for none) give nothing to extraction any more. Deletes the summaries that rest on one
 * of them or share the words of such a fact; what else was said there is summed up again. f notes
 * the lines; NULL: nobody does. */
int summaries_forget(struct db *db, uint64_t fact, const char *words, struct forgotten *f);
/* The same of one line, without its summaries. */
int summaries_forget_line(struct db *db, uint64_t line, struct forgotten *f);
/* Then those: the summaries that rest on any such line, and later ones of their sessions. */
int summaries_forget_parts(struct db *db);
/* Before an erasure of the person, inside its transaction: the sessions of their summaries become
 * episodes again from the first such summary on, so that the words of the other people are summed
 * up without them. */
int summaries_reopen(struct db *db, uint64_t user);
/* Deletes summaries of sessions before then. In a transaction of its own. */
int summaries_expire(struct db *db, uint64_t before_ms, unsigned *changed);

#endif
