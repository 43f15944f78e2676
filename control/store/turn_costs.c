#include "control/store/turn_costs.h"

#include <errno.h>
#include <sqlite3.h>

#include "control/store/db.h"

static json_t *text_json(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? json_null()
							     : json_string(db_text(s, column));
}

static json_t *cost_json(sqlite3_stmt *s, double share)
{
	return json_pack("{s:o,s:o,s:o,s:f,s:b,s:b}", "provider", text_json(s, 0), "model",
			 text_json(s, 1), "role", text_json(s, 2), "usd",
			 (double)db_uint(s, 3) / 1e9 * share, "priced", (int)db_uint(s, 4),
			 "estimated", share < 1 || db_uint(s, 5));
}

int turn_costs_spoken(struct db *db, uint64_t guild, uint64_t session, uint64_t *ms)
{
	sqlite3_stmt *s = db_use(db, DB_GET_SPOKEN);
	int err;

	*ms = 0;
	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, session);
	err = db_step(db, s);
	if (!err)
		*ms = db_uint(s, 0);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* Of the speech of its session, 0 to 1; 0: nobody's speech is known. */
static int read_share(struct db *db, const struct turn_costs *t, double *share)
{
	sqlite3_stmt *s = db_use(db, DB_SHARE_OF_SPEECH);
	int err;

	*share = 0;
	db_bind_uint(s, 1, t->guild);
	db_bind_uint(s, 2, t->session);
	db_bind_uint(s, 3, t->seq);
	err = db_step(db, s);
	if (!err && db_uint(s, 1))
		*share = (double)db_uint(s, 0) / (double)db_uint(s, 1);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int add_transcription(struct db *db, const struct turn_costs *t, json_t *list)
{
	double share;
	int err = read_share(db, t, &share);
	sqlite3_stmt *s;

	if (err || share <= 0)
		return err;
	s = db_use(db, DB_SUM_SESSION_TRANSCRIPTION);
	db_bind_uint(s, 1, t->guild);
	db_bind_uint(s, 2, t->session);
	while (!(err = db_step(db, s)))
		json_array_append_new(list, cost_json(s, share));
	return err == ENOENT ? 0 : err;
}

int turn_costs_add(struct db *db, const struct turn_costs *t, json_t *list)
{
	sqlite3_stmt *s = db_use(db, DB_SUM_TURN_COSTS);
	int err;

	db_bind_uint(s, 1, t->guild);
	db_bind_uint(s, 2, t->session);
	db_bind_uint(s, 3, t->number);
	db_bind_uint(s, 4, t->until_ms);
	while (!(err = db_step(db, s)))
		json_array_append_new(list, cost_json(s, 1));
	return err == ENOENT ? add_transcription(db, t, list) : err;
}
