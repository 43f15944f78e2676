/* Facts: what people asked the bot to remember (store_write_facts and its neighbours). On the
 * store's worker. Each gives a JSON document, which the caller frees. Errors of db.h, ENOMEM,
 * EINVAL: the request is malformed. Without an embedding (NULL), words alone decide. */
#ifndef CONTROL_STORE_FACT_ROWS_H
#define CONTROL_STORE_FACT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/events/audit_kind.h"

struct db;
struct embedding;
struct forgotten;
struct job;

enum { FACTS_A_MINUTE = 5 };

int fact_rows_write(struct db *db, struct embedding *e, const struct job *j, char **out);
int fact_rows_find(struct db *db, struct embedding *e, const struct job *j, char **out);
/* Begins to read the facts of the job's memories that have one of the words; mine: those that its
 * user said; own_first: of more than STORE_FACTS_MAX those are among the rows. Their columns are
 * those of FIND_FACTS. The caller steps it, and resets it (sqlite3_reset). */
struct sqlite3_stmt *fact_rows_use(struct db *db, const struct job *j, const char *words, bool mine,
				   bool own_first);
/* Adds a row of the audit: what the job's user did to the memory of its server. Errors of db_run.
 */
int fact_rows_audit(struct db *db, const struct job *j, enum audit_kind kind, const char *result);
/* *out: the JSON as text, unless err is one. Takes the JSON; returns err, or ENOMEM. */
int fact_rows_dump(int err, json_t *json, char **out);
/* Deletes a fact, those whose place it took, and what summaries_forget says. Inside a transaction;
 * the full-text index needs db_merge_terms afterwards. f may be NULL. */
int fact_rows_drop(struct db *db, uint64_t id, const char *words, struct forgotten *f);
/* Takes away facts written before then. In a transaction of its own. */
int fact_rows_expire(struct db *db, uint64_t before_ms, unsigned *changed);

#endif
