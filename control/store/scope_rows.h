/* The rows of a voice channel's lines in a time: tells a search by words which of the rows that it
 * found are its own. On the store's worker.
 *
 * The full-text index holds all servers and channels, and a frequent word is in most of them. */
#ifndef CONTROL_STORE_SCOPE_ROWS_H
#define CONTROL_STORE_SCOPE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct db;
struct scope_rows;

struct search_scope {
	uint64_t guild, channel;
	uint64_t since_ms, until_ms; /* from the first, before the second; at most INT64_MAX */
};

/* Looks up one row. Errors of db.h. */
int scope_rows_look_up(struct db *db, const struct search_scope *scope, uint64_t id, bool *is_in);

/* Lists the rows of the scope from `first` on, a bit for each row of the database behind it.
 * ENOTSUP: these would be too many; errors of db.h. Caller owns *out. */
int scope_rows_alloc(struct scope_rows **out, struct db *db, const struct search_scope *scope,
		     uint64_t first);
/* NULL accepted. */
struct scope_rows *scope_rows_free(struct scope_rows *r);
bool scope_rows_has(const struct scope_rows *r, uint64_t id);

#endif
