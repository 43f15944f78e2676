/* The lines on which a fact rests. On the store's worker. */
#ifndef CONTROL_STORE_FACT_SOURCES_H
#define CONTROL_STORE_FACT_SOURCES_H

#include <stdint.h>

#include <jansson.h>

struct db;
struct job;

/* Of a fact that was written or said again: the lines that the item names ("evidence"), or what its
 * author said lately (control/store/store.h) and shares a content word with its "text", or the
 * newest of it. Errors of db.h; ENOMEM. */
int fact_sources_add(struct db *db, const struct job *j, const json_t *item, uint64_t fact);

#endif
