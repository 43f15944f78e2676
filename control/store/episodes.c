#include "control/store/episodes.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include <jansson.h>

#include "control/store/db.h"
#include "control/store/job.h"
#include "control/store/summaries.h"

/* Ids are texts, because a number of JSON cannot hold each of them. */
static json_t *id_json(uint64_t id)
{
	return json_sprintf("%llu", (unsigned long long)id);
}

static int list_lines(struct db *db, const struct job *j, const json_t *episode, json_t *lines)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_EPISODE_LINES);
	int err;

	db_bind_text(s, 1, json_string_value(json_object_get(episode, "guild")));
	db_bind_uint(s, 2, (uint64_t)json_integer_value(json_object_get(episode, "session")));
	db_bind_uint(s, 3, (uint64_t)json_integer_value(json_object_get(episode, "done")));
	db_bind_uint(s, 4, j->version);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(
			lines,
			json_pack("{s:I,s:o,s:s,s:I,s:s}", "id", (json_int_t)db_uint(s, 0), "user",
				  id_json(db_uint(s, 1)), "name", db_text(s, 2), "at_ms",
				  (json_int_t)db_uint(s, 3), "text", db_text(s, 4)));
	return err == ENOENT ? 0 : err;
}

int episodes_next(struct db *db, const struct job *j, char **out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_EPISODE);
	json_t *episode = NULL, *lines;
	int err;

	db_bind_uint(s, 1, j->now_ms);
	db_bind_text(s, 2, j->text ? j->text : "[]");
	db_bind_uint(s, 3, j->until_ms);
	db_bind_uint(s, 4, j->version - 1);
	err = db_step(db, s);
	if (!err)
		episode = json_pack(
			"{s:o,s:I,s:o,s:I,s:I,s:I,s:[]}", "guild", id_json(db_uint(s, 0)),
			"session", (json_int_t)db_uint(s, 1), "channel", id_json(db_uint(s, 2)),
			"done", (json_int_t)db_uint(s, 3), "extracted", (json_int_t)db_uint(s, 4),
			"servers", (json_int_t)db_uint(s, 5), "lines");
	sqlite3_reset(s);
	lines = json_object_get(episode, "lines");
	if (lines)
		err = list_lines(db, j, episode, lines);
	if (!err)
		*out = json_dumps(episode, JSON_COMPACT);
	json_decref(episode);
	return !err && !*out ? ENOMEM : err;
}

static int mark_session(struct db *db, enum db_statement statement, const char *kind,
			const struct job *j)
{
	sqlite3_stmt *s = db_use(db, statement);
	char key[80];

	snprintf(key, sizeof key, "%s:%llu:%llu", kind, (unsigned long long)j->guild,
		 (unsigned long long)j->owner);
	db_bind_text(s, 1, key);
	db_bind_uint(s, 2, j->version);
	return db_run(db, s);
}

int episodes_end(struct db *db, const struct job *j)
{
	int err = db_begin(db);

	if (err)
		return err;
	err = mark_session(db, DB_MARK_EXTRACTED, "extracted", j);
	if (!err)
		err = mark_session(db, DB_SET_META, "summed", j);
	if (!err && j->text)
		err = summaries_add(db, j);
	if (!err)
		return db_commit(db);
	db_rollback(db);
	return err;
}
