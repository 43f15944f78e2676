#include "control/store/timeline.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/db.h"

/* NULL for a text that is empty. */
static const char *maybe_text(const char *text)
{
	return text && *text ? text : NULL;
}

static void bind_maybe(sqlite3_stmt *s, int at, bool is, int64_t v)
{
	if (is)
		sqlite3_bind_int64(s, at, v);
	else
		sqlite3_bind_null(s, at);
}

/* Whom the bot's answer may quote from the memory: the numbers in a list. */
static int add_told(struct db *db, const char *told)
{
	int err = 0;

	while (told && *(told += strcspn(told, "0123456789")) && !err) {
		char *end;
		uint64_t user = strtoull(told, &end, 10);
		sqlite3_stmt *s = db_use(db, DB_ADD_TOLD);

		db_bind_uint(s, 1, user);
		err = db_run(db, s);
		told = end;
	}
	return err;
}

int timeline_add(struct db *db, const struct timeline_line *l, bool words)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_UTTERANCE);
	const char *text = words ? maybe_text(l->text) : NULL;
	uint64_t seq;
	int err;

	db_bind_uint(s, 1, l->guild);
	db_bind_uint(s, 2, l->session);
	db_bind_uint(s, 3, l->utterance);
	db_bind_uint(s, 4, l->user);
	db_bind_text(s, 5, l->name);
	db_bind_text(s, 6, text);
	db_bind_uint(s, 7, l->started_ms);
	db_bind_uint(s, 8, l->ended_ms);
	db_bind_text(s, 9, l->source);
	db_bind_uint(s, 10, l->channel);
	bind_maybe(s, 11, l->turn != 0, (int64_t)l->turn);
	db_bind_text(s, 12, maybe_text(l->language));
	bind_maybe(s, 13, l->confidence >= 0, l->confidence);
	db_bind_text(s, 14, l->addressee);
	db_bind_uint(s, 15, l->consent);
	bind_maybe(s, 16, l->message != 0, (int64_t)l->message);
	err = db_run(db, s);
	if (err || !text)
		return err;
	seq = db_last_row(db);
	s = db_use(db, DB_ADD_TERMS);
	db_bind_uint(s, 1, seq);
	err = db_run(db, s);
	if (!err && l->turn) {
		s = db_use(db, DB_ADD_LINE_PEOPLE);
		db_bind_uint(s, 1, seq);
		err = db_run(db, s);
	}
	return err ? err : add_told(db, l->told);
}

int timeline_drop(struct db *db, uint64_t seq)
{
	static const enum db_statement all[] = {DB_DROP_LINE_TERMS, DB_DROP_LINE_VECTOR,
						DB_DROP_LINE_SOURCES, DB_DROP_LINE_PEOPLE,
						DB_DROP_LINE};

	return db_run_each(db, all, sizeof all / sizeof all[0], seq);
}
