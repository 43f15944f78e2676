/* Takes the texts of deleted rows out of the full-text indexes: FTS5 keeps the terms of such a row,
 * and writes them again, until it merges. The database is borrowed; errors of db.h. */
#ifndef CONTROL_STORE_DB_MERGE_H
#define CONTROL_STORE_DB_MERGE_H

#include <stdbool.h>

struct db;

enum db_index { DB_INDEX_LINES, DB_INDEX_FACTS }; /* of the timeline; of facts */

/* Rewrites the whole index. For a million lines that takes more than a second. Not inside a
 * transaction. */
int db_merge(struct db *db, enum db_index index);
/* Rewrites a part of it, 64 pages, in some milliseconds. begin: a merge of what is deleted now
 * starts; else the one under way goes on. *more: parts of it are left; false with an error. */
int db_merge_some(struct db *db, enum db_index index, bool begin, bool *more);
/* db_merge of both indexes, until one fails. */
int db_merge_terms(struct db *db);

#endif
