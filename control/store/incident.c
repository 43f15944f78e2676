#include "control/store/incident.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "control/settings/hide.h"
#include "control/store/db.h"

enum { PATH_SIZE = 640, BUSY_MS = 5000 };

/* People are numbered in the order of their ids, so that no row tells who they are; 0 stays the
 * bot. Columns that are not named here stay behind: a new one is private until somebody adds it. */
#define NUMBER_OF(user)	      "coalesce((SELECT n FROM temp.people WHERE id = " user "), 0)"
#define FROM_SINCE(table, at) " FROM src." table " WHERE " at " >= ?1 AND (?2 = 0 OR guild = ?2)"

static const char *const copies[] = {
	"CREATE TEMP TABLE people(n INTEGER PRIMARY KEY, id INTEGER UNIQUE)",
	"INSERT INTO temp.people(id) SELECT user FROM (SELECT user FROM src.turns UNION SELECT user"
	" FROM src.utterances UNION SELECT user FROM src.speech UNION SELECT user FROM"
	" src.tool_calls UNION SELECT user FROM src.segments UNION SELECT user FROM src.events)"
	" WHERE user > 0 ORDER BY user",
	"INSERT INTO main.sessions SELECT guild, started_ms, channel, ended_ms, why, "
	"spoken_ms" FROM_SINCE("sessions", "coalesce(ended_ms, 9223372036854775807)"),
	"INSERT INTO main.utterances(seq, guild, session, utterance, user, started_ms, ended_ms,"
	" source, channel, turn, language, confidence, addressee) SELECT seq, guild, session,"
	" utterance, " NUMBER_OF("user") ", started_ms, ended_ms, source, channel, turn, language,"
					 " confidence, addressee" FROM_SINCE("utterances",
									     "started_ms"),
	"INSERT INTO main.speech(seq, guild, session, utterance, user, name, started_ms, ended_ms,"
	" reason) SELECT seq, guild, session, utterance, " NUMBER_OF(
		"user") ", 'person ' || " NUMBER_OF("user") ", started_ms, ended_ms,"
							    " reason" FROM_SINCE("speech",
										 "started_ms"),
	"INSERT INTO main.turns(seq, guild, session, channel, turn, user, name, reason, at_ms,"
	" first_audio_ms, lasted_ms, why, prompts) SELECT seq, guild, session, channel,"
	" turn, " NUMBER_OF("user") ", 'person ' || " NUMBER_OF(
		"user") ", reason, at_ms, first_audio_ms, lasted_ms, why, prompts" FROM_SINCE("turn"
											      "s",
											      "at_"
											      "ms"),
	"INSERT INTO main.segments(turn_seq, n, user, utterance, at_ms) SELECT turn_seq, n,"
	" " NUMBER_OF("user") ", utterance, at_ms FROM src.segments WHERE turn_seq IN"
			      " (SELECT seq FROM main.turns)",
	"INSERT INTO main.tool_calls(guild, session, call, channel, turn, user, tool, tainted,"
	" state, at_ms, lasted_ms, nano) SELECT guild, session, call, channel,"
	" turn, " NUMBER_OF(
		"user") ", iif(state = 'unknown_tool', 'unknown', tool), tainted, state,"
			" at_ms, lasted_ms,"
			" nano" FROM_SINCE("tool_calls", "at_ms"),
	"INSERT INTO main.costs SELECT seq, at_ms, guild, session, channel, turn, provider, model,"
	" role, units, nano, priced" FROM_SINCE("costs", "at_ms"),
	/* Of the whole program there is no server. */
	"INSERT INTO main.events(seq, at_ms, type, guild, user, document) SELECT seq, at_ms, type,"
	" guild, " NUMBER_OF(
		"user") ", json_remove(json_set(document, '$.user', NULL), '$.why') FROM "
			"src.events WHERE at_ms >= ?1"
			" AND (?2 = 0 OR guild IN (0, ?2)) AND type IN ('fault', 'failover',"
			" 'engine_refused', 'command') AND json_valid(document)",
	/* What was changed and ordered, without who did it: rows of the audit, behind the events,
	 * which keep their numbers. */
	"INSERT INTO main.events(at_ms, type, guild, user, document) SELECT at_ms, "
	"'setting_changed',"
	" 0, 0, json_object('event', 'setting_changed', 'name', target, 'effect', result) FROM"
	" src.audit WHERE at_ms >= ?1 AND kind = 'setting_changed' AND (?2 = 0 OR target NOT GLOB"
	" 'guilds/*' OR target GLOB 'guilds/' || ?2 || '/*')",
	"INSERT INTO main.events(at_ms, type, guild, user, document) SELECT at_ms,"
	" 'operator_action', CAST(substr(target, 8) AS INTEGER), 0, json_object('event',"
	" 'operator_action', 'kind', kind, 'result', result) FROM src.audit WHERE at_ms >= ?1 AND"
	" target GLOB 'server [1-9]*' AND (?2 = 0 OR CAST(substr(target, 8) AS INTEGER) = ?2) AND"
	" kind IN ('say', 'stop', 'mute', 'unmute', 'leave', 'move', 'join', 'music_pause',"
	" 'music_resume', 'music_skip', 'music_stop')",
};

static int run_one(sqlite3 *sql, const char *text, const struct incident *what)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(sql, text, -1, &s, NULL);

	if (rc == SQLITE_OK && sqlite3_bind_parameter_count(s) == 2) {
		sqlite3_bind_int64(s, 1, (sqlite3_int64)what->since_ms);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)what->guild);
	}
	while (rc == SQLITE_OK || rc == SQLITE_ROW)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : rc == SQLITE_NOMEM ? ENOMEM : EIO;
}

/* ---- the settings ---- */

/* Leaves those of one server, if of is one. */
static void drop_servers(json_t *document, uint64_t of)
{
	json_t *intent = json_object_get(document, "intent"), *of_server;
	json_t *guilds = json_object_get(intent ? intent : document, "guilds");
	const char *id;
	void *next;

	json_object_foreach_safe(guilds, next, id, of_server)
	{
		if (of && strtoull(id, NULL, 10) != of)
			json_object_del(guilds, id);
	}
}

static int add_document(sqlite3 *sql, const struct incident *what, const char *scope,
			sqlite3_int64 version, sqlite3_int64 at_ms, const char *text)
{
	json_t *document = json_loads(text ? text : "", 0, NULL);
	sqlite3_stmt *s = NULL;
	char *hidden;
	int rc;

	drop_servers(document, what->guild);
	settings_hide_texts(document);
	hidden = document ? json_dumps(document, JSON_COMPACT) : NULL;
	json_decref(document);
	rc = sqlite3_prepare_v2(sql,
				"INSERT INTO main.settings_documents VALUES(?1, ?2, ?3, NULL, ?4)",
				-1, &s, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_text(s, 1, scope, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 2, version);
		sqlite3_bind_text(s, 3, hidden ? hidden : "{}", -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 4, at_ms);
		rc = sqlite3_step(s);
	}
	sqlite3_finalize(s);
	free(hidden);
	return rc == SQLITE_DONE ? 0 : EIO;
}

/* The version that was in effect when it began, and those since. */
static int copy_settings(sqlite3 *sql, const struct incident *what)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(
		sql,
		"SELECT scope, version, document, coalesce(updated_ms, 0) FROM"
		" src.settings_documents s WHERE coalesce(updated_ms, 0) >= ?1 OR version ="
		" (SELECT max(version) FROM src.settings_documents WHERE scope = s.scope AND"
		" coalesce(updated_ms, 0) < ?1) ORDER BY scope, version",
		-1, &s, NULL);
	int err = rc == SQLITE_OK ? 0 : EIO;

	if (!err)
		sqlite3_bind_int64(s, 1, (sqlite3_int64)what->since_ms);
	while (!err && (rc = sqlite3_step(s)) == SQLITE_ROW)
		err = add_document(sql, what, (const char *)sqlite3_column_text(s, 0),
				   sqlite3_column_int64(s, 1), sqlite3_column_int64(s, 3),
				   (const char *)sqlite3_column_text(s, 2));
	sqlite3_finalize(s);
	return err ? err : rc == SQLITE_DONE ? 0 : EIO;
}

static uint64_t count(sqlite3 *sql, const char *text)
{
	sqlite3_stmt *s = NULL;
	uint64_t n = 0;

	if (sqlite3_prepare_v2(sql, text, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static int attach(sqlite3 *sql, const char *dir)
{
	char path[PATH_SIZE];
	sqlite3_stmt *s = NULL;
	int rc;

	if ((size_t)snprintf(path, sizeof path, "%s/parley.db", dir) >= sizeof path)
		return ENAMETOOLONG;
	rc = sqlite3_prepare_v2(sql, "ATTACH ?1 AS src", -1, &s, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
		rc = sqlite3_step(s);
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : EIO;
}

static int fill(const struct incident *what, struct incident_rows *out)
{
	char path[PATH_SIZE];
	sqlite3 *sql = NULL;
	int err;

	if ((size_t)snprintf(path, sizeof path, "%s/parley.db", what->to) >= sizeof path)
		return ENAMETOOLONG;
	err = sqlite3_open_v2(path, &sql, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK ? 0 : EIO;
	sqlite3_busy_timeout(sql, BUSY_MS);
	if (!err)
		err = attach(sql, what->dir);
	/* One state of the file for all of them. */
	if (!err)
		err = run_one(sql, "BEGIN", what);
	for (unsigned i = 0; i < sizeof copies / sizeof copies[0] && !err; i++)
		err = run_one(sql, copies[i], what);
	if (!err)
		err = copy_settings(sql, what);
	if (!err)
		err = run_one(sql, "COMMIT", what);
	/* Whoever reads it writes nothing beside it. */
	if (!err)
		err = run_one(sql, "PRAGMA main.journal_mode=DELETE", what);
	out->turns = count(sql, "SELECT count(*) FROM main.turns");
	out->events = count(sql, "SELECT count(*) FROM main.events");
	sqlite3_close(sql);
	return err;
}

int incident_export(const struct incident *what, struct incident_rows *out)
{
	struct db *db = NULL;
	int err = db_open(&db, what->dir, DB_READ);

	db_close(db);
	if (!err && mkdir(what->to, 0700))
		err = errno;
	if (err)
		return err;
	db = NULL;
	err = db_open(&db, what->to, DB_OWN);
	db_close(db);
	return err ? err : fill(what, out);
}
