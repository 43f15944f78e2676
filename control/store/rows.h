/* Events as rows of the database, and how long they stay. On the store's worker. */
#ifndef CONTROL_STORE_ROWS_H
#define CONTROL_STORE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct bus_event;
struct db;

/* True if the store keeps events of this type. */
bool rows_kept(const struct bus_event *ev);
/* True if it becomes a row of the audit. */
bool rows_audited(const struct bus_event *ev);
/* Inside a transaction. words: also what was said. An event that cannot be told in rows is left
 * out. Errors of db.h. */
int rows_add(struct db *db, const struct bus_event *ev, bool words);
/* Takes away words said before words_ms, and rows older than events.def allows. *changed: how many.
 * Afterwards the full-text index of lines needs db_merge. */
int rows_expire(struct db *db, uint64_t now_ms, uint64_t words_ms, unsigned *changed);
/* The servers whose memory has, or had, something of this person: [id, …], a JSON text that the
 * caller frees. Errors of db.h. */
int rows_find_guilds(struct db *db, uint64_t user, char **out);
/* Number of rows that an eraser took out of a table. */
typedef void(rows_erased_h)(const char *table, unsigned rows, void *arg);
/* Takes one person's words and name out of every table, inside a transaction. Afterwards the
 * full-text indexes need db_merge_terms. */
int rows_run_erasers(struct db *db, uint64_t user, rows_erased_h *h, void *arg);

#endif
