#include "control/store/scope_rows.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "control/store/db.h"

/* 16 MB of bits. */
enum { ROWS_MAX = 1 << 27 };

struct scope_rows {
	uint64_t first, n;
	uint8_t bit[];
};

static sqlite3_stmt *use_scope(struct db *db, enum db_statement statement,
			       const struct search_scope *scope)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, scope->guild);
	db_bind_uint(s, 2, scope->channel);
	db_bind_uint(s, 3, scope->since_ms);
	db_bind_uint(s, 4, scope->until_ms);
	return s;
}

int scope_rows_look_up(struct db *db, const struct search_scope *scope, uint64_t id, bool *is_in)
{
	sqlite3_stmt *s = use_scope(db, DB_IS_ROW_OF, scope);
	int err;

	db_bind_uint(s, 5, id);
	err = db_step(db, s);
	sqlite3_reset(s);
	if (!err || err == ENOENT)
		*is_in = !err;
	return err == ENOENT ? 0 : err;
}

static int find_last(struct db *db, uint64_t *out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_LAST_ROW);
	int err = db_step(db, s);

	if (!err)
		*out = db_uint(s, 0);
	sqlite3_reset(s);
	return err;
}

static int set_bits(struct scope_rows *r, struct db *db, const struct search_scope *scope)
{
	sqlite3_stmt *s = use_scope(db, DB_LIST_ROWS_OF, scope);
	int err;

	while ((err = db_step(db, s)) == 0) {
		uint64_t at = db_uint(s, 0) - r->first;

		if (at < r->n)
			r->bit[at / 8] |= (uint8_t)(1u << at % 8);
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int scope_rows_alloc(struct scope_rows **out, struct db *db, const struct search_scope *scope,
		     uint64_t first)
{
	struct scope_rows *r;
	uint64_t last = 0, n;
	int err = find_last(db, &last);

	if (err)
		return err;
	n = last < first ? 0 : last - first + 1;
	if (n > ROWS_MAX)
		return ENOTSUP;
	r = calloc(1, sizeof *r + n / 8 + 1);
	if (!r)
		return ENOMEM;
	r->first = first;
	r->n = n;
	err = set_bits(r, db, scope);
	if (err)
		scope_rows_free(r);
	else
		*out = r;
	return err;
}

struct scope_rows *scope_rows_free(struct scope_rows *r)
{
	free(r);
	return NULL;
}

bool scope_rows_has(const struct scope_rows *r, uint64_t id)
{
	uint64_t at = id - r->first;

	return at < r->n && r->bit[at / 8] & 1u << at % 8;
}
