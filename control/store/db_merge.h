/* Takes what was removed out of the full-text indexes. The database is borrowed; errors of db.h. */
#ifndef CONTROL_STORE_DB_MERGE_H
#define CONTROL_STORE_DB_MERGE_H

#include <stdbool.h>

struct db;

/* Rewrites a full-text index so that nothing of removed texts is left in it: FTS5 keeps the terms
 * of a deleted row, and writes them again, until it merges. Of a million lines that takes more than
 * a second. Not inside a transaction. */
enum db_index { DB_INDEX_LINES, DB_INDEX_FACTS };
int db_merge(struct db *db, enum db_index index);
/* A part of it, some milliseconds; begins anew if `begin`. *more: it goes on. */
int db_merge_some(struct db *db, enum db_index index, bool begin, bool *more);
/* Both, whole. */
int db_merge_terms(struct db *db);

#endif
