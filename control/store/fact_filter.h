/* Which facts a search may find: those with the tags that it asks for, by people and of channels
 * that may be told now. On the store's worker. Pointers are borrowed. */
#ifndef CONTROL_STORE_FACT_FILTER_H
#define CONTROL_STORE_FACT_FILTER_H

#include <stdbool.h>

#include <jansson.h>

struct job;
struct sqlite3_stmt;

/* Binds the tags as ?7 of FIND_FACTS and FIND_NEWEST_FACTS. tags: NULL asks for none. */
void fact_filter_bind_tags(struct sqlite3_stmt *s, const json_t *tags);
/* Binds who and what may not be told as ?8 to ?10 of all statements that find facts: facts do not
 * take the places of others that nobody may be told now. request: of a search, with
 * "without_authors" and "without_channels". */
void fact_filter_bind_untold(struct sqlite3_stmt *s, const struct job *j, const json_t *request);
/* True if the fact has every requested tag. tags: a JSON array, as its column holds it. */
bool fact_filter_has_tags(const char *tags, const json_t *wanted);

#endif
