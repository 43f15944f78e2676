#include "control/store/fact_sources.h"

#include <errno.h>
#include <sqlite3.h>

#include "control/memory/slice.h"
#include "control/store/db.h"
#include "control/store/job.h"

/* The lines that the item names, which are the speaker's own. */
static int add_named_sources(struct db *db, const struct job *j, const json_t *lines, uint64_t fact)
{
	const json_t *id;
	size_t i;
	int err = 0;

	json_array_foreach(lines, i, id)
	{
		sqlite3_stmt *s = db_use(db, DB_ADD_FACT_SOURCE);

		db_bind_uint(s, 1, fact);
		db_bind_uint(s, 2, (uint64_t)json_integer_value(id));
		db_bind_uint(s, 3, j->user);
		db_bind_uint(s, 4, j->guild);
		err = err ? err : db_run(db, s);
	}
	return err;
}

/* Of what the author has said lately: the lines that share a content word with the fact, or the
 * newest one alone. What else they said has nothing to do with it. */
static int list_recent_lines(struct db *db, const struct job *j, const char *text, json_t *lines)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_FACT_SOURCES);
	uint64_t newest = 0;
	unsigned shared;
	int err;

	db_bind_uint(s, 1, j->user);
	db_bind_uint(s, 2, j->guild);
	db_bind_uint(s, 3, j->until_ms);
	db_bind_uint(s, 4, j->said_in ? j->said_in : j->channel);
	while ((err = db_step(db, s)) == 0) {
		newest = newest ? newest : db_uint(s, 0);
		if (slice_count_words(text, db_text(s, 1), &shared) && shared)
			json_array_append_new(lines, json_integer((json_int_t)db_uint(s, 0)));
	}
	sqlite3_reset(s);
	if (newest && !json_array_size(lines))
		json_array_append_new(lines, json_integer((json_int_t)newest));
	return err == ENOENT ? 0 : err;
}

int fact_sources_add(struct db *db, const struct job *j, const json_t *item, uint64_t fact)
{
	const json_t *named = json_object_get(item, "evidence");
	json_t *lines;
	int err;

	if (named)
		return add_named_sources(db, j, named, fact);
	lines = json_array();
	err = lines ? list_recent_lines(db, j, json_string_value(json_object_get(item, "text")),
					lines)
		    : ENOMEM;
	err = err ? err : add_named_sources(db, j, lines, fact);
	json_decref(lines);
	return err;
}
