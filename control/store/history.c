#include "control/store/history.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/store/db.h"
#include "control/store/job.h"
#include "control/store/recordings.h"
#include "control/store/store.h"
#include "control/store/turn_costs.h"
#include "control/store/turn_heard.h"
#include "control/events/action_id.h"
#include "control/events/events.h"
#include "control/events/turn_stages.h"
#include "control/store/audit.h"
#include "proto/base/iso_time.h"

enum { COSTS_MAX = 500, WHY_MAX = 64, AFTER_MS = 3600000 };

/* Of TURN_COLUMNS. */
enum { SEQ, GUILD, SESSION, CHANNEL, TURN, USER, NAME, REASON, AT, FIRST, LASTED, SAID, WHY };

/* ---- values ---- */

static json_t *id_json(uint64_t id)
{
	return id ? json_sprintf("%llu", (unsigned long long)id) : json_null();
}

static json_t *time_json(uint64_t ms)
{
	char text[ISO_TIME_SIZE];

	iso_time_format(text, ms);
	return json_string(text);
}

static bool is_null(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL;
}

static json_t *text_json(sqlite3_stmt *s, int column)
{
	return is_null(s, column) ? json_null() : json_string(db_text(s, column));
}

static json_t *number_json(sqlite3_stmt *s, int column)
{
	return is_null(s, column) ? json_null()
				  : json_integer((json_int_t)sqlite3_column_int64(s, column));
}

static json_t *usd_json(uint64_t nano)
{
	return json_real((double)nano / 1e9);
}

/* ---- turns ---- */

/* Null when no words are kept. */
static json_t *heard_json(struct db *db, uint64_t seq, uint64_t speaker)
{
	char *text = turn_heard(db, seq, speaker);
	json_t *heard = !text ? NULL : *text ? json_string(text) : json_null();

	free(text);
	return heard;
}

static json_t *turn_json(struct db *db, sqlite3_stmt *s, bool words)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o}", "id",
			 id_json(db_uint(s, SEQ)), "at", time_json(db_uint(s, AT)), "guild",
			 id_json(db_uint(s, GUILD)), "session", time_json(db_uint(s, SESSION)),
			 "channel", id_json(db_uint(s, CHANNEL)), "turn", number_json(s, TURN),
			 "user", id_json(db_uint(s, USER)), "name", text_json(s, NAME), "reason",
			 text_json(s, REASON), "part", (int)bus_turn_is_part(db_text(s, REASON)),
			 "firstAudioMs", number_json(s, FIRST), "lastedMs", number_json(s, LASTED),
			 "heard",
			 words ? heard_json(db, db_uint(s, SEQ), db_uint(s, USER)) : json_null(),
			 "said", words ? text_json(s, SAID) : json_null());
}

static bool is_yes(const json_t *v)
{
	return json_is_true(v) || json_integer_value(v) != 0;
}

/* As rows.c keeps it. */
static json_t *why_json(const char *text)
{
	json_t *in = json_loads(text, 0, NULL), *out = json_array(), *d;
	size_t i;

	json_array_foreach(in, i, d)
	{
		if (i == WHY_MAX || !json_is_string(json_array_get(d, 0)))
			break;
		json_array_append_new(
			out, json_pack("{s:O,s:b,s:O,s:O}", "rule", json_array_get(d, 0), "yes",
				       (int)is_yes(json_array_get(d, 1)), "value",
				       json_array_get(d, 2), "limit", json_array_get(d, 3)));
	}
	json_decref(in);
	return out;
}

/* ---- one turn ---- */

struct turn {
	uint64_t seq, guild, session, number, at_ms;
	int64_t first_ms;   /* below 0: no sound */
	uint64_t spoken_ms; /* the end of the speech; 0: not known */
	json_t *timeline;
};

static json_t *relative_json(const struct turn *t, uint64_t ms)
{
	return t->spoken_ms && ms ? json_integer((json_int_t)ms - (json_int_t)t->spoken_ms)
				  : json_null();
}

/* The speech that ended last is what the answer waited for. */
static void find_end_of_speech(struct db *db, struct turn *t)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_SPEAKERS);

	db_bind_uint(s, 1, t->seq);
	db_bind_uint(s, 2, t->guild);
	db_bind_uint(s, 3, t->session);
	while (db_step(db, s) == 0)
		if (db_uint(s, 4) > t->spoken_ms)
			t->spoken_ms = db_uint(s, 4);
}

static int add_speech(struct db *db, const struct turn *t, bool words)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_SPEAKERS);
	int err;

	db_bind_uint(s, 1, t->seq);
	db_bind_uint(s, 2, t->guild);
	db_bind_uint(s, 3, t->session);
	while (!(err = db_step(db, s)))
		json_array_append_new(
			t->timeline,
			json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "kind", "speech", "startMs",
				  relative_json(t, db_uint(s, 3)), "endMs",
				  relative_json(t, db_uint(s, 4)), "user", id_json(db_uint(s, 0)),
				  "name", text_json(s, 1), "text",
				  words && *db_text(s, 2) ? text_json(s, 2) : json_null()));
	return err == ENOENT ? 0 : err;
}

static sqlite3_stmt *use_for_turn(struct db *db, enum db_statement statement, const struct turn *t)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, t->guild);
	db_bind_uint(s, 2, t->session);
	db_bind_uint(s, 3, t->number);
	if (sqlite3_bind_parameter_count(s) >= 4)
		db_bind_uint(s, 4, t->at_ms + AFTER_MS);
	return s;
}

static int add_calls(struct db *db, const struct turn *t, bool words)
{
	sqlite3_stmt *s = use_for_turn(db, DB_LIST_TURN_CALLS, t);
	int err;

	while (!(err = db_step(db, s))) {
		bool running = strcmp(db_text(s, 1), "running") == 0;
		uint64_t end = db_uint(s, 2), lasted = running ? 0 : db_uint(s, 3);

		json_array_append_new(
			t->timeline,
			json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "kind", "tool", "startMs",
				  relative_json(t, end > lasted ? end - lasted : 0), "endMs",
				  running ? json_null() : relative_json(t, end), "name",
				  text_json(s, 0), "state", text_json(s, 1), "text",
				  words ? text_json(s, 4) : json_null(), "usd",
				  usd_json(db_uint(s, 5))));
	}
	return err == ENOENT ? 0 : err;
}

static void add_answer(const struct turn *t)
{
	if (t->first_ms >= 0)
		json_array_append_new(t->timeline, json_pack("{s:s,s:I,s:o}", "kind", "answer",
							     "startMs", (json_int_t)t->first_ms,
							     "endMs", relative_json(t, t->at_ms)));
}

static int add_costs(struct db *db, const struct turn *t, json_t *list)
{
	const struct turn_costs of = {.seq = t->seq,
				      .guild = t->guild,
				      .session = t->session,
				      .number = t->number,
				      .until_ms = t->at_ms + AFTER_MS};

	return turn_costs_add(db, &of, list);
}

/* What the model was told, if keep_contexts had it kept. */
static int add_context(struct db *db, const struct turn *t, bool words, json_t *all)
{
	sqlite3_stmt *s = use_for_turn(db, DB_GET_TURN_CONTEXT, t);
	int err = words ? db_step(db, s) : ENOENT;
	json_t *told = err ? NULL : json_loads(db_text(s, 1), 0, NULL);

	if (told)
		json_object_set_new(told, "prompts", number_json(s, 0));
	json_object_set_new(all, "context", told ? told : json_null());
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* The turn's SpeakerUtterances, as the seeds have them; their text is null without words. */
static json_t *read_lines(struct db *db, uint64_t seq, bool words)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_TURN_LINES);
	json_t *list = json_array();

	db_bind_uint(s, 1, seq);
	while (db_step(db, s) == 0)
		json_array_append_new(
			list,
			json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "seq", number_json(s, 0),
				  "speakerId", id_json(db_uint(s, 1)), "speakerName",
				  text_json(s, 2), "text", words ? text_json(s, 3) : json_null(),
				  "startedAtMs", number_json(s, 4), "endedAtMs", number_json(s, 5),
				  "source", text_json(s, 6)));
	return list;
}

/* Speech, calls of tools and the answer, from the end of speech, and the stages between them. */
static int add_timeline(struct db *db, sqlite3_stmt *s, bool words, struct turn *t, json_t *all)
{
	char *why = strdup(db_text(s, WHY));
	int err;

	t->seq = db_uint(s, SEQ);
	t->guild = db_uint(s, GUILD);
	t->session = db_uint(s, SESSION);
	t->number = db_uint(s, TURN);
	t->at_ms = db_uint(s, AT);
	t->first_ms = is_null(s, FIRST) ? -1 : sqlite3_column_int64(s, FIRST);
	t->timeline = json_array();
	json_object_set_new(all, "timeline", t->timeline);
	find_end_of_speech(db, t);
	err = add_speech(db, t, words);
	if (!err)
		err = add_calls(db, t, words);
	add_answer(t);
	json_object_set_new(all, "spokenAt", t->spoken_ms ? time_json(t->spoken_ms) : json_null());
	json_object_set_new(all, "stages",
			    turn_stages(why, t->first_ms,
					t->spoken_ms ? (int64_t)(t->at_ms - t->spoken_ms) : -1));
	free(why);
	return err;
}

/* Among the channels that are read. */
static bool is_seen(const struct job *j, uint64_t channel)
{
	json_t *all = j->author && *j->author ? json_loads(j->author, 0, NULL) : NULL, *one;
	bool seen = !j->author || !*j->author;
	size_t i;

	json_array_foreach(all, i, one) seen = seen || (uint64_t)json_integer_value(one) == channel;
	json_decref(all);
	return seen;
}

static int read_turn(struct db *db, const struct job *j, json_t **out)
{
	sqlite3_stmt *s = db_use(db, DB_GET_TURN);
	struct turn t = {0};
	json_t *costs, *all;
	int err;

	db_bind_uint(s, 1, j->until_ms);
	err = db_step(db, s);
	if (!err &&
	    ((j->guild && db_uint(s, GUILD) != j->guild) || !is_seen(j, db_uint(s, CHANNEL)))) {
		sqlite3_reset(s);
		err = ENOENT;
	}
	if (err)
		return err;
	costs = json_array();
	all = turn_json(db, s, j->any);
	json_object_set_new(all, "sessionId",
			    json_sprintf("%llu-%llu", (unsigned long long)db_uint(s, GUILD),
					 (unsigned long long)db_uint(s, SESSION)));
	json_object_set_new(all, "why", why_json(db_text(s, WHY)));
	json_object_set_new(all, "costs", costs);
	err = add_timeline(db, s, j->any, &t, all);
	sqlite3_reset(s);
	json_object_set_new(all, "mergedInto", id_json(turn_merged_into(db, t.seq)));
	json_object_set_new(all, "utterances", read_lines(db, t.seq, j->any));
	if (!err)
		err = add_costs(db, &t, costs);
	if (!err)
		err = add_context(db, &t, j->any, all);
	json_object_set_new(all, "recordings",
			    j->any ? recordings_of_turn(db, t.seq) : json_array());
	if (err)
		json_decref(all);
	else
		*out = all;
	return err;
}

/* ---- lists ---- */

/* The seeds' ToolCallEvent. Only a hash of the arguments is kept. */
static json_t *call_json(sqlite3_stmt *s, bool words)
{
	const char *state = db_text(s, 7), *tool = db_text(s, 5), *hash = db_text(s, 6);
	bool running = strcmp(state, "running") == 0, ok = strcmp(state, "ok") == 0;
	uint64_t end = db_uint(s, 0), lasted = running ? 0 : db_uint(s, 8);
	const char *server = strstr(tool, "__");

	return json_pack(
		"{s:o,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}",
		"callId",
		json_sprintf("%llu-%llu", (unsigned long long)db_uint(s, 2),
			     (unsigned long long)db_uint(s, 3)),
		"toolName", tool, "toolType", server ? "mcp" : "function", "arguments",
		words && *hash ? json_pack("{s:s}", "hash", hash) : json_object(), "argumentsHash",
		words ? text_json(s, 6) : json_null(), "startedAt", time_json(end - lasted),
		"completedAt", running ? json_null() : time_json(end), "runtimeMs",
		running ? json_null() : json_integer((json_int_t)lasted), "success", (int)ok,
		"outputSummary", words && ok ? text_json(s, 9) : json_null(), "error",
		ok || running ? json_null()
		: words	      ? text_json(s, 9)
			      : json_string(state),
		/* What is written has no voice session. */
		"guild", id_json(db_uint(s, 1)), "sessionId",
		db_uint(s, 2) ? time_json(db_uint(s, 2)) : json_null(), "turn", number_json(s, 4),
		"turnId", is_null(s, 11) ? json_null() : id_json(db_uint(s, 11)), "serverName",
		server ? json_stringn(tool, (size_t)(server - tool)) : json_null(), "state", state,
		"usd", usd_json(db_uint(s, 10)));
}

static json_t *time_or_null(sqlite3_stmt *s, int column)
{
	return is_null(s, column) ? json_null() : time_json(db_uint(s, column));
}

/* The seeds' MemoryItem, without its embedding, and what else there is of a fact. */
static json_t *fact_json(sqlite3_stmt *s)
{
	json_t *metadata =
		json_pack("{s:o,s:o,s:s?}", "createdAt", time_or_null(s, 8), "authorSpeakerId",
			  id_json(db_uint(s, 3)), "source", db_uint(s, 12) ? "conversation" : NULL);
	uint64_t owner = db_uint(s, 2);
	json_t *tags = owner ? NULL : json_loads(db_text(s, 6), 0, NULL);
	json_t *space = owner ? json_sprintf("user:%llu", (unsigned long long)owner)
			      : json_sprintf("guild:%llu", (unsigned long long)db_uint(s, 1));

	return json_pack("{s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id",
			 id_json(db_uint(s, 0)), "metadata", metadata, "namespace", space, "guild",
			 id_json(db_uint(s, 1)), "private", owner != 0, "saidBy",
			 id_json(db_uint(s, 3)), "name", text_json(s, 4), "type", text_json(s, 5),
			 "tags", tags ? tags : json_array(), "text", text_json(s, 7), "createdAt",
			 time_or_null(s, 8), "saidAgainAt", time_or_null(s, 13), "validFrom",
			 time_or_null(s, 9), "validUntil", time_or_null(s, 10), "supersededBy",
			 is_null(s, 11) ? json_null() : id_json(db_uint(s, 11)));
}

static json_t *session_json(sqlite3_stmt *s)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id",
			 json_sprintf("%llu-%llu", (unsigned long long)db_uint(s, 1),
				      (unsigned long long)db_uint(s, 0)),
			 "startedAt", time_json(db_uint(s, 0)), "guild", id_json(db_uint(s, 1)),
			 "channel", id_json(db_uint(s, 2)), "endedAt", time_or_null(s, 3), "why",
			 text_json(s, 4), "turns", number_json(s, 5), "usd",
			 usd_json(db_uint(s, 6)));
}

static json_t *error_json(sqlite3_stmt *s)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "id", id_json(db_uint(s, 0)), "at",
			 time_json(db_uint(s, 1)), "guild", id_json(db_uint(s, 3)), "kind",
			 text_json(s, 2), "event", json_loads(db_text(s, 4), 0, NULL));
}

static json_t *audit_json(sqlite3_stmt *s)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", id_json(db_uint(s, 0)),
			 "at", time_json(db_uint(s, 1)), "actor", text_json(s, 2), "via",
			 text_json(s, 3), "kind", text_json(s, 4), "target", text_json(s, 5),
			 "result", text_json(s, 6), "before", text_json(s, 7), "after",
			 text_json(s, 8));
}

/* The seeds' row of actions, in camel case. */
static json_t *action_json(sqlite3_stmt *s, bool words)
{
	json_t *detail = json_loads(db_text(s, 8), 0, NULL);
	const struct action action = {.kind = db_text(s, 5),
				      .at_ms = db_uint(s, 1),
				      .guild = db_uint(s, 2),
				      .user = db_uint(s, 4),
				      .details = detail};

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", action_id(&action),
			 "createdAt", time_json(db_uint(s, 1)), "guildId", id_json(db_uint(s, 2)),
			 "channelId", id_json(db_uint(s, 3)), "messageId", id_json(db_uint(s, 9)),
			 "userId", id_json(db_uint(s, 4)), "kind", text_json(s, 5), "content",
			 words ? text_json(s, 6) : json_null(), "metadata",
			 detail ? detail : json_object(), "usdCost",
			 is_null(s, 7) ? json_null() : usd_json(db_uint(s, 7)));
}

static json_t *write_json(sqlite3_stmt *s)
{
	static const char *const counts[] = {"inserted", "updated", "duplicate", "refused"};
	json_t *e = json_loads(db_text(s, 3), 0, NULL),
	       *all = json_pack("{s:o,s:o,s:o,s:O?}", "id", id_json(db_uint(s, 0)), "at",
				time_json(db_uint(s, 1)), "guild", id_json(db_uint(s, 2)), "source",
				json_object_get(e, "source"));

	for (unsigned i = 0; all && i < sizeof counts / sizeof counts[0]; i++)
		json_object_set(all, counts[i], json_object_get(e, counts[i]));
	json_decref(e);
	return all;
}

/* One whose memory, or whose words in a server's, some facts are. */
static json_t *subject_json(sqlite3_stmt *s)
{
	uint64_t owner = db_uint(s, 2);

	return json_pack("{s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "guild", id_json(db_uint(s, 1)),
			 "private", owner != 0, "subject", id_json(db_uint(s, 3)), "name",
			 text_json(s, 4), "facts", number_json(s, 5), "validFacts",
			 number_json(s, 6), "lastWrittenAt", time_or_null(s, 7), "id",
			 id_json(db_uint(s, 0)));
}

static json_t *reflection_json(sqlite3_stmt *s, bool words)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "id", id_json(db_uint(s, 0)), "guild",
			 id_json(db_uint(s, 1)), "sessionId", time_json(db_uint(s, 2)), "channel",
			 id_json(db_uint(s, 3)), "text", words ? text_json(s, 4) : json_null());
}

static sqlite3_stmt *bind_list(struct db *db, enum db_statement statement, const struct job *j)
{
	sqlite3_stmt *s = db_use(db, statement);

	sqlite3_bind_int64(s, 1, (sqlite3_int64)j->until_ms);
	db_bind_uint(s, 2, j->guild);
	db_bind_uint(s, 3, j->user);
	db_bind_text(s, 4, j->text);
	db_bind_uint(s, 5, j->now_ms);
	/* One more, to know whether a page follows. */
	db_bind_uint(s, 6, j->version + 1);
	if (sqlite3_bind_parameter_count(s) >= 7)
		db_bind_uint(s, 7, j->grants);
	if (sqlite3_bind_parameter_count(s) >= 8)
		db_bind_uint(s, 8, j->channel);
	if (sqlite3_bind_parameter_count(s) >= 9)
		db_bind_uint(s, 9, j->words_ms);
	if (sqlite3_bind_parameter_count(s) >= 10)
		db_bind_text(s, 10, j->author ? j->author : "");
	return s;
}

/* Of a list: the words stand beside the timeline. */
static json_t *turn_row_json(struct db *db, sqlite3_stmt *s, const struct job *j)
{
	json_t *row = turn_json(db, s, j->any);
	struct turn t;

	if (row && j->compare && add_timeline(db, s, false, &t, row)) {
		json_decref(row);
		row = NULL;
	}
	return row;
}

static json_t *row_json(struct db *db, sqlite3_stmt *s, const struct job *j)
{
	switch (j->owner) {
	case STORE_TURNS:
		return turn_row_json(db, s, j);
	case STORE_ERRORS:
		return error_json(s);
	case STORE_CALLS:
		return call_json(s, j->any);
	case STORE_FACTS:
		return fact_json(s);
	case STORE_SESSIONS:
		return session_json(s);
	case STORE_ACTIONS:
		return action_json(s, j->any);
	case STORE_WRITES:
		return write_json(s);
	case STORE_SUBJECTS:
		return subject_json(s);
	case STORE_REFLECTIONS:
		return reflection_json(s, j->any);
	default:
		return audit_json(s);
	}
}

static int read_list(struct db *db, const struct job *j, json_t **out)
{
	static const struct {
		const char *name;
		enum db_statement statement;
	} lists[] = {[STORE_TURNS] = {"turns", DB_LIST_TURNS},
		     [STORE_ERRORS] = {"errors", DB_LIST_ERRORS},
		     [STORE_AUDIT] = {"audit", DB_LIST_AUDIT},
		     [STORE_CALLS] = {"events", DB_LIST_CALLS},
		     [STORE_FACTS] = {"facts", DB_BROWSE_FACTS},
		     [STORE_SESSIONS] = {"sessions", DB_LIST_SESSIONS},
		     [STORE_ACTIONS] = {"actions", DB_LIST_ACTIONS},
		     [STORE_WRITES] = {"writes", DB_LIST_WRITES},
		     [STORE_SUBJECTS] = {"subjects", DB_LIST_SUBJECTS},
		     [STORE_REFLECTIONS] = {"reflections", DB_LIST_REFLECTIONS}};
	sqlite3_stmt *s = bind_list(db, lists[j->owner].statement, j);
	json_t *list = json_array();
	uint64_t last = 0;
	bool more = false;
	int err;

	while (!(err = db_step(db, s)) && !more) {
		more = json_array_size(list) == j->version;
		if (more)
			break;
		last = db_uint(s, 0);
		json_array_append_new(list, row_json(db, s, j));
	}
	sqlite3_reset(s);
	if (err && err != ENOENT) {
		json_decref(list);
		return err;
	}
	*out = json_pack("{s:o,s:o}", lists[j->owner].name, list, "next",
			 more ? id_json(last) : json_null());
	return 0;
}

/* ---- costs ---- */

static json_t *day_json(uint64_t day)
{
	char text[ISO_TIME_SIZE];

	iso_time_format(text, day * 86400000);
	text[10] = '\0';
	return json_string(text);
}

/* Columns of DB_FIND_COSTS. */
static json_t *spent_json(sqlite3_stmt *s)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:b,s:b,s:o}", "day",
			 day_json(db_uint(s, 0)), "guild", id_json(db_uint(s, 1)), "channel",
			 id_json(db_uint(s, 2)), "user", id_json(db_uint(s, 3)), "name",
			 text_json(s, 4), "provider", text_json(s, 5), "model", text_json(s, 6),
			 "role", text_json(s, 7), "usd", usd_json(db_uint(s, 8)), "priced",
			 (int)db_uint(s, 9), "estimated", (int)db_uint(s, 11), "written",
			 (int)db_uint(s, 12), "turns", number_json(s, 10));
}

/* What was spent by one of the things that costs are divided by: {key: {…, "nano"}}. what is
 * stolen. The row is borrowed. */
static json_t *add_sum(json_t *sums, json_t *what, uint64_t nano)
{
	char *key = json_dumps(what, JSON_COMPACT);
	json_t *row = key ? json_object_get(sums, key) : NULL;
	json_int_t before = json_integer_value(json_object_get(row, "nano"));

	if (!row)
		row = what;
	else
		json_decref(what);
	if (key) {
		json_object_set_new(row, "nano", json_integer(before + (json_int_t)nano));
		if (row == what)
			json_object_set_new(sums, key, what);
	} else {
		json_decref(row);
		row = NULL;
	}
	free(key);
	return row;
}

static int compare_sums(const void *a, const void *b)
{
	json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, "nano"));
	json_int_t y = json_integer_value(json_object_get(*(json_t *const *)b, "nano"));

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The rows, the most expensive first, COSTS_MAX of them; sums is stolen. */
static json_t *list_sums(json_t *sums)
{
	size_t n = json_object_size(sums), i = 0;
	json_t **v = calloc(n + 1, sizeof(json_t *)), *list = json_array(), *row;
	const char *key;

	json_object_foreach(v ? sums : NULL, key, row) v[i++] = row;
	if (v)
		qsort(v, i, sizeof(json_t *), compare_sums);
	for (size_t k = 0; k < i && k < COSTS_MAX; k++) {
		json_int_t nano = json_integer_value(json_object_get(v[k], "nano"));

		json_object_set_new(v[k], "usd", usd_json((uint64_t)nano));
		json_object_del(v[k], "nano");
		json_array_append(list, v[k]);
	}
	free(v);
	json_decref(sums);
	return list;
}

/* Columns of DB_FIND_COSTS. A speaker's name may have changed: it is that of their first row. */
static void add_sums(sqlite3_stmt *s, json_t *servers, json_t *speakers, json_t *providers)
{
	uint64_t nano = db_uint(s, 8);

	add_sum(servers, json_pack("{s:o}", "guild", id_json(db_uint(s, 1))), nano);
	/* Transcription is of no turn: it is divided (add_transcription). */
	if (db_uint(s, 3) || strcmp(db_text(s, 7), "transcribe") != 0 || !db_uint(s, 13))
		add_sum(speakers, json_pack("{s:o}", "user", id_json(db_uint(s, 3))), nano);
	add_sum(providers,
		json_pack("{s:o,s:o}", "provider", text_json(s, 5), "role", text_json(s, 7)), nano);
}

static sqlite3_stmt *use_speech(struct db *db, const struct job *j, uint64_t guild,
				uint64_t session)
{
	sqlite3_stmt *s = db_use(db, DB_SUM_SPEECH);

	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, session);
	db_bind_uint(s, 3, j->now_ms);
	return s;
}

/* Divides what was paid for a session's transcription, and is of no one person, by how long each
 * one spoke. The share of speech whose rows are gone (erased, expired) is of nobody ("user": null).
 */
static int divide_transcription(struct db *db, const struct job *j, sqlite3_stmt *of,
				json_t *speakers)
{
	uint64_t guild = db_uint(of, 0), session = db_uint(of, 1), left = db_uint(of, 2), rows = 0;
	double nano = (double)left;
	sqlite3_stmt *s = use_speech(db, j, guild, session);
	uint64_t total;
	int err;

	while (!(err = db_step(db, s)))
		rows += db_uint(s, 1);
	total = rows;
	/* The rows of a session that began before the asked time are those since then alone, so
	 * its spoken_ms is no measure of them. */
	if (err == ENOENT && session >= j->now_ms) {
		uint64_t spoken;
		int failed = turn_costs_spoken(db, guild, session, &spoken);

		if (failed)
			return failed;
		total = spoken > rows ? spoken : rows;
	}
	s = use_speech(db, j, guild, session);
	while (err == ENOENT && total && !db_step(db, s)) {
		uint64_t share = (uint64_t)(nano * (double)db_uint(s, 1) / (double)total);

		share = share < left ? share : left;
		left -= share;
		json_object_set_new(add_sum(speakers,
					    json_pack("{s:o}", "user", id_json(db_uint(s, 0))),
					    share),
				    "estimated", json_true());
	}
	sqlite3_reset(s);
	if (left && (!rows || total > rows))
		add_sum(speakers, json_pack("{s:n}", "user"), left);
	return err == ENOENT ? 0 : err;
}

static int add_transcription(struct db *db, const struct job *j, json_t *speakers)
{
	sqlite3_stmt *s = db_use(db, DB_SUM_TRANSCRIPTION);
	int err, divided = 0;

	db_bind_uint(s, 1, j->now_ms);
	while (!(err = db_step(db, s)) && !divided)
		if (!j->guild || db_uint(s, 0) == j->guild)
			divided = divide_transcription(db, j, s, speakers);
	sqlite3_reset(s);
	return divided ? divided : err;
}

static int read_costs(struct db *db, const struct job *j, json_t **out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_COSTS);
	json_t *list = json_array(), *servers = json_object(), *speakers = json_object(),
	       *providers = json_object();
	uint64_t nano = 0;
	bool truncated = false;
	int err;

	db_bind_uint(s, 1, j->now_ms);
	while (!(err = db_step(db, s))) {
		if (j->guild && db_uint(s, 1) != j->guild)
			continue;
		nano += db_uint(s, 8);
		add_sums(s, servers, speakers, providers);
		if (json_array_size(list) < COSTS_MAX)
			json_array_append_new(list, spent_json(s));
		else
			truncated = true;
	}
	if (err == ENOENT)
		err = add_transcription(db, j, speakers);
	*out = json_pack("{s:o,s:o,s:b,s:o,s:o,s:o}", "costs", list, "usd", usd_json(nano),
			 "truncated", (int)truncated, "servers", list_sums(servers), "speakers",
			 list_sums(speakers), "providers", list_sums(providers));
	if (err != ENOENT) {
		json_decref(*out);
		*out = NULL;
		return err;
	}
	return 0;
}

int history_read(struct db *db, const struct job *j, char **out)
{
	json_t *all = NULL;
	int err = db_begin_search(db, j->search_ms);

	if (err)
		return err;
	err = j->owner == STORE_TURN	? read_turn(db, j, &all)
	      : j->owner == STORE_COSTS ? read_costs(db, j, &all)
	      : j->owner == STORE_CHAIN ? audit_tell(db, &all)
					: read_list(db, j, &all);
	db_rollback(db);
	if (err)
		return err;
	*out = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
	json_decref(all);
	return *out ? 0 : ENOMEM;
}
