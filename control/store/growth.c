#include "control/store/growth.h"

#include <errno.h>
#include <time.h>

#include "control/memory/calendar.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/rows.h"

/* Others wait meanwhile: what is left goes next time. Deleting makes the full-text index larger
 * until it merges, which costs more than a round. */
enum { ROUNDS = 16, MERGE_EACH = 8, CHECK_HOUR = 4 };

static int find(struct db *db, enum db_statement statement, uint64_t *at_ms)
{
	struct sqlite3_stmt *s = db_use(db, statement);
	int err = db_step(db, s);

	if (!err)
		*at_ms = db_uint(s, 0);
	db_use(db, statement); /* ends the read */
	return err;
}

/* The words of 2000 utterances go at a time, and of 500 prompts, answers and outputs of tools where
 * there are no utterances: nobody may be remembered, and prompts are kept. */
static int find_oldest(struct db *db, uint64_t *at_ms)
{
	int err = find(db, DB_FIND_OLDEST_WORDS, at_ms);

	return err == ENOENT ? find(db, DB_FIND_OLDEST_RECORDS, at_ms) : err;
}

int growth_limit(struct db *db, uint64_t now_ms, uint64_t max_bytes, uint64_t *words_ms)
{
	uint64_t used = 0, at_ms;
	unsigned changed;
	int err = 0;

	*words_ms = 0;
	for (unsigned i = 0; max_bytes && i < ROUNDS && !err; i++) {
		err = db_used_bytes(db, &used);
		if (err || used <= max_bytes)
			return err;
		err = find_oldest(db, &at_ms);
		if (err == ENOENT)
			return 0;
		if (!err)
			err = rows_expire(db, now_ms, at_ms + 1, &changed);
		if (!err && i % MERGE_EACH == MERGE_EACH - 1)
			err = db_merge(db, DB_INDEX_LINES);
		if (!err)
			*words_ms = at_ms + 1;
	}
	return err;
}

int growth_shrink(struct db *db)
{
	return db_run(db, db_use(db, DB_SHRINK));
}

bool growth_check_is_due(uint64_t now_ms, int64_t *day)
{
	time_t now = (time_t)(now_ms / 1000);
	int64_t today, before = *day;
	struct tm here = {0};

	/* The worker's own look at the clock: no replay runs it. */
	localtime_r(&now, &here);
	today = *day = calendar_day(now_ms, here.tm_gmtoff, CHECK_HOUR);
	/* The start has its own check. */
	return before && before != today;
}

int growth_check(const char *dir)
{
	struct db *db = NULL;
	int err = db_open(&db, dir, DB_READ);

	if (!err)
		err = db_check_quickly(db);
	db_close(db);
	return err;
}
