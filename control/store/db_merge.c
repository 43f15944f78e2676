#include "control/store/db_merge.h"

#include <sqlite3.h>

#include "control/store/db.h"

enum { MERGE_PAGES = 64 }; /* of the index, rewritten at a time */

int db_merge_some(struct db *db, enum db_index index, bool begin, bool *more)
{
	static const enum db_statement first[] = {DB_BEGIN_MERGE, DB_BEGIN_MERGE_FACTS};
	static const enum db_statement next[] = {DB_MERGE, DB_MERGE_FACTS};
	sqlite3_stmt *s = db_use(db, begin ? first[index] : next[index]);
	int before = sqlite3_total_changes(sqlite3_db_handle(s)), err;

	db_bind_uint(s, 1, MERGE_PAGES);
	err = db_run(db, s);
	/* A call that finds nothing to do changes less than two rows (FTS5, the 'merge' command).
	 */
	*more = !err && (begin || sqlite3_total_changes(sqlite3_db_handle(s)) - before >= 2);
	return err;
}

int db_merge(struct db *db, enum db_index index)
{
	bool more = true;
	int err = 0;

	for (bool begin = true; more; begin = false)
		err = db_merge_some(db, index, begin, &more);
	return err;
}

int db_merge_terms(struct db *db)
{
	int err = db_merge(db, DB_INDEX_LINES);

	return err ? err : db_merge(db, DB_INDEX_FACTS);
}
