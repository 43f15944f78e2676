/* Facts: what people asked the bot to remember (store_write_facts and its neighbours). On the
 * store's worker. Arguments are borrowed; without an embedding (NULL), words alone decide. Errors
 * are those of db.h, and ENOMEM where a document is made. */
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

enum { FACTS_A_MINUTE = 5 }; /* that a server's memories take; further ones are skipped */

/* Writes the facts of the job's text, the request of store_write_facts, in a synced transaction of
 * its own: all of them or none. *out: the document that store.h describes there, as JSON text; the
 * caller frees it. EINVAL: the text is no JSON. */
int fact_rows_write(struct db *db, struct embedding *e, const struct job *j, char **out);
/* Answers the request of store_find_facts in the job's text, with at most j->version facts. *out as
 * above. A search that takes longer than j->search_ms answers with what it has found. */
int fact_rows_find(struct db *db, struct embedding *e, const struct job *j, char **out);
/* Begins to read the facts of the job's memories: those that have one of the words, or without
 * words the newest ones; mine: only those that its user said. At most STORE_FACTS_MAX;
 * own_first: of those with words the user's own come first. The columns are those of FIND_FACTS.
 * The statement belongs to the database: the caller steps it, and resets it (sqlite3_reset). */
struct sqlite3_stmt *fact_rows_use(struct db *db, const struct job *j, const char *words, bool mine,
				   bool own_first);
/* Adds a row of the audit, inside the caller's transaction: what the job's user, or an operator for
 * them (by_operator), did to the memory of its server. result: one word, "inserted". */
int fact_rows_audit(struct db *db, const struct job *j, enum audit_kind kind, const char *result);
/* Prints a document and frees the JSON. *out: its text, which the caller frees. With an err it only
 * frees the JSON, and returns err. ENOMEM. */
int fact_rows_dump(int err, json_t *json, char **out);
/* Deletes a fact and those whose place it took, with their terms, vectors, sources and people, and
 * does what summaries_forget says. words: those of the request to forget it; "": none. f notes the
 * facts and lines; NULL: nobody does. Inside the caller's transaction; the full-text indexes need
 * db_merge_terms after it. */
int fact_rows_drop(struct db *db, uint64_t id, const char *words, struct forgotten *f);
/* Deletes facts that were written before before_ms (since 1970), in a transaction of its own, and
 * then merges their full-text index. *changed: how many facts went; 0 on an error of the deletion.
 */
int fact_rows_expire(struct db *db, uint64_t before_ms, unsigned *changed);

#endif
