/* Erasing a person: no table and no full-text index may keep a trace, and each eraser is needed. */
#include "control/store/db.h"
#include "control/store/db_merge.h"

#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/erase.h"
#include "control/store/job.h"
#include "control/store/receipt.h"
#include "control/words/words.h"
#include "control/store/rows.h"
#include "tests/unit/control/store/still_clock.h"
#include "tests/unit/ipc/loop.h"

enum { ANA = 501777123, BOB = 502777123 };
#define ANA_TEXT "501777123"

static char dir[32], path[64];
static struct db *db;

static bool run(const char *script)
{
	sqlite3 *sql = NULL;
	bool ok = sqlite3_open(path, &sql) == SQLITE_OK &&
		  sqlite3_exec(sql, script, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(sql);
	return ok;
}

/* ---- what a person leaves ---- */

static void add_lines(void)
{
	struct bus_event own = {.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = 1, .user = ANA};
	struct bus_event other = own, dropped = own, turn = own, quoted = own, context = own;

	own.utterance = (struct event_utterance){.session = 5,
						 .channel = 3,
						 .utterance = 9,
						 .name = "anacanary",
						 .text = "xyzzyplugh said",
						 .started_ms = 1000,
						 .source = "realtime-transcription"};
	other.user = BOB;
	other.utterance = own.utterance;
	other.utterance.name = "bob";
	other.utterance.text = "frobozz stays";
	dropped.type = EVENT_SPEECH_DROPPED;
	dropped.speech = (struct event_speech){.session = 5, .name = "anacanary", .reason = "x"};
	turn.type = EVENT_TURN;
	turn.turn = (struct event_turn){.session = 5,
					.channel = 3,
					.turn = 1,
					.name = "anacanary",
					.said = "plughanswer",
					.segments = "[{\"user\":\"" ANA_TEXT
						    "\",\"name\":\"anacanary\",\"utterance\":9,"
						    "\"text\":\"xyzzyplugh said\"}]"};
	/* Bob asked what Ana had said. */
	quoted.type = EVENT_TURN;
	quoted.user = BOB;
	quoted.turn = (struct event_turn){.session = 5,
					  .channel = 3,
					  .turn = 2,
					  .name = "bob",
					  .said = "anacanary said xyzzyplugh",
					  .segments = "[]"};
	context.type = EVENT_CONTEXT;
	context.context =
		(struct event_context){.session = 5, .channel = 3, .turn = 1, .told = "xyzzyplugh"};
	CHECK_INT(rows_add(db, &own, true), 0);
	CHECK_INT(rows_add(db, &other, true), 0);
	CHECK_INT(rows_add(db, &dropped, true), 0);
	CHECK_INT(rows_add(db, &turn, true), 0);
	CHECK_INT(rows_add(db, &quoted, true), 0);
	CHECK_INT(rows_add(db, &context, true), 0);
}

/* In another session Bob's prompt held a fact of hers, and the answer quotes it. */
static void add_quotes(void)
{
	struct bus_event turn = {.type = EVENT_TURN, .at_ms = 1000, .guild = 1, .user = BOB};
	struct bus_event context = {.type = EVENT_CONTEXT, .at_ms = 1000, .guild = 1};

	turn.turn = (struct event_turn){
		.session = 7,
		.channel = 3,
		.turn = 3,
		.name = "bob",
		.said = "anacanary once said xyzzyplugh",
		.segments = "[]",
		.why = "[{\"rule\":\"memory_fact\",\"yes\":true,\"value\":1,\"limit\":0}]"};
	context.context =
		(struct event_context){.session = 7, .channel = 3, .turn = 3, .told = "xyzzyplugh"};
	CHECK_INT(rows_add(db, &turn, true), 0);
	CHECK_INT(rows_add(db, &context, true), 0);
}

static void add_calls(void)
{
	struct bus_event command = {.type = EVENT_COMMAND, .at_ms = 1000, .guild = 1, .user = ANA};
	struct bus_event call = {.type = EVENT_TOOL_CALLED, .at_ms = 1000, .guild = 1, .user = BOB};

	command.command = (struct event_command){.kind = "status"};
	call.tool = (struct event_tool){.session = 5,
					.channel = 3,
					.turn = 2,
					.call = 1,
					.name = "conversation_search",
					.code = "ok",
					.arguments = "0",
					.summary = "anacanary: xyzzyplugh"};
	CHECK_INT(rows_add(db, &command, true), 0);
	CHECK_INT(rows_add(db, &call, true), 0);
	call.user = ANA;
	call.tool.call = 2;
	call.tool.name = "roll";
	CHECK_INT(rows_add(db, &call, true), 0);
}

/* Facts of hers, and one of Bob's that rests on her words. */
static bool add_facts(void)
{
	return run("INSERT INTO facts(id, guild, owner, said_by, name, text) VALUES"
		   "(1, 1, 0, " ANA_TEXT ", 'anacanary', 'xyzzyplugh fact'),"
		   "(2, 1, 0, 502777123, 'bob', 'plughmixed fact'),"
		   "(3, 1, 0, 502777123, 'bob', 'frobozz fact'),"
		   "(4, 1, 0, 502777123, 'bob', 'anacanary likes plughtea');"
		   "INSERT INTO fact_people VALUES(4, " ANA_TEXT ", 1), (3, 503777123, 1),"
		   "(1, 503777123, 1);"
		   "INSERT INTO utterance_people VALUES(2, " ANA_TEXT ", 1);"
		   "INSERT INTO fact_terms(rowid, text) SELECT id, text FROM facts;"
		   "INSERT INTO fact_sources VALUES(1, 1), (2, 1), (3, 2);"
		   /* vectors of her lines and facts, and of Bob's */
		   "INSERT INTO utterance_vectors VALUES(1, 1, 1, 1, 'vectorplugh'),"
		   "(1, 2, 1, 1, 'frobozzvector');"
		   "INSERT INTO fact_vectors VALUES(1, 1, 1, 1, 'factvectorplugh'),"
		   "(1, 2, 1, 1, 'factvectorplugh'), (1, 3, 1, 1, 'frobozzvector');"
		   "INSERT INTO audit(at_ms, actor, via, kind, target, result) VALUES"
		   "(1, '" ANA_TEXT "', 'tool', 'memory_write', 'guild:1', 'inserted 1'),"
		   "(2, 'discord:" ANA_TEXT "', 'settings document', 'setting_changed',"
		   " 'hold_ms', 'now');"
		   "INSERT INTO settings_documents VALUES('global', 1, '{\"version\":1,"
		   "\"author\":\"discord:" ANA_TEXT "\",\"intent\":{}}', 'discord:" ANA_TEXT
		   "', 1)");
}

/* Of a session with her words, and of one with Bob's alone. */
static bool add_summaries(void)
{
	return run("INSERT INTO summaries VALUES(1, 5, 2, 3, 'they spoke of plughsummary'),"
		   "(1, 7, 4, 3, 'frobozz summary');"
		   "INSERT INTO summary_people VALUES(1, 5, 2, " ANA_TEXT "),"
		   "(1, 5, 2, 502777123), (1, 7, 4, 502777123);"
		   "INSERT INTO summary_sources VALUES(1, 5, 2, 1), (1, 7, 4, 2)");
}

static bool add_queue(void)
{
	return run("INSERT INTO music_queues VALUES(1, '{\"tracks\":[{\"title\":\"frobozz song\","
		   "\"requester\":\"" ANA_TEXT "\"},{\"requester\":\"502777123\"}]}'),"
		   "(2, 'no document')");
}

static bool add_consents(void)
{
	return run("INSERT INTO consent_ledger(at_ms, guild, user, mac, before, after, via) VALUES"
		   "(1, 1, " ANA_TEXT ", 'f00', 'heard', 'remembered', '/consent');"
		   "INSERT INTO erase_requests(user, at_ms) VALUES(" ANA_TEXT ", 1)");
}

/* ---- what is left ---- */

static unsigned count(sqlite3 *sql, const char *query)
{
	sqlite3_stmt *s = NULL;
	unsigned n = 999;

	if (sqlite3_prepare_v2(sql, query, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return n;
}

/* Cells of ordinary tables that hold a canary or her id. */
static unsigned traces_in_tables(sqlite3 *sql)
{
	sqlite3_stmt *s = NULL, *row;
	unsigned traces = 0;
	char query[128];

	sqlite3_prepare_v2(sql,
			   "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE"
			   " '%terms%' AND name NOT LIKE 'sqlite%'",
			   -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW) {
		snprintf(query, sizeof query, "SELECT * FROM %s", sqlite3_column_text(s, 0));
		sqlite3_prepare_v2(sql, query, -1, &row, NULL);
		while (sqlite3_step(row) == SQLITE_ROW)
			for (int i = 0; i < sqlite3_column_count(row); i++) {
				const char *text = (const char *)sqlite3_column_text(row, i);

				traces +=
					text && (strstr(text, "plugh") || strstr(text, "canary") ||
						 strstr(text, ANA_TEXT));
			}
		sqlite3_finalize(row);
	}
	sqlite3_finalize(s);
	return traces;
}

static unsigned count_traces(void)
{
	sqlite3 *sql = NULL;
	unsigned traces = 0;

	if (sqlite3_open(path, &sql) == SQLITE_OK)
		traces = traces_in_tables(sql) +
			 count(sql, "SELECT count(*) FROM terms WHERE terms MATCH"
				    " 'xyzzyplugh OR plughanswer'") +
			 count(sql, "SELECT count(*) FROM fact_terms WHERE fact_terms MATCH"
				    " 'xyzzyplugh OR plughmixed'") +
			 count(sql, "SELECT count(*) FROM fact_sources WHERE fact <> 3") +
			 count(sql, "SELECT count(*) FROM fact_people WHERE fact <> 3") +
			 count(sql, "SELECT count(*) FROM summary_sources WHERE session = 5") +
			 count(sql, "SELECT count(*) FROM tool_calls WHERE arguments NOT NULL") +
			 count(sql, "SELECT count(*) FROM contexts");
	sqlite3_close(sql);
	return traces;
}

static bool file_holds(const char *file, const char *text)
{
	static char all[1 << 21];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(all, 1, sizeof all, f) : 0;

	if (f)
		fclose(f);
	return memmem(all, n, text, strlen(text)) != NULL;
}

static void open_full(void)
{
	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/parley.db", dir);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	add_lines();
	add_quotes();
	add_calls();
	CHECK(add_facts());
	CHECK(add_summaries());
	CHECK(add_queue());
	CHECK(add_consents());
}

TEST(an_erased_person_leaves_no_trace)
{
	const struct erase e = {.dir = dir, .user = ANA, .now_ms = 5000, .via = "test"};
	char wal[80], *receipt = NULL;
	struct words sentence = {0};

	open_full();
	snprintf(wal, sizeof wal, "%s-wal", path);
	CHECK(count_traces() > 10);
	CHECK_INT(erase_person(db, &e, &receipt), 0);
	CHECK_INT(count_traces(), 0);
	CHECK(strstr(receipt, "\"traces\":0") && strstr(receipt, "\"utterances\":"));
	CHECK(!strstr(receipt, ANA_TEXT));
	CHECK_INT(receipt_tell(&sentence, receipt), 0);
	CHECK(strstr(sentence.text, "found no trace"));
	free(receipt);
	/* The index keeps terms without the beginning that they share with others. */
	CHECK(!file_holds(path, "zyplugh") && !file_holds(wal, "zyplugh"));
	CHECK(!file_holds(path, "ghansw") && !file_holds(path, "ghmixed"));
	CHECK(!file_holds(path, "ectorplugh") && !file_holds(wal, "ectorplugh"));
	CHECK(file_holds(path, "frobozz") && file_holds(path, "frobozzvector"));
	CHECK(file_holds(path, "frobozz summary") && file_holds(path, "frobozz song"));
	CHECK(file_holds(path, "\"requester\":\"502777123\""));
	db_close(db);
	folder_remove(dir);
}

TEST(every_eraser_is_needed)
{
	static const enum db_statement all[] = {
#define E(statement) DB_##statement,
		ERASERS(E)
#undef E
	};
	enum { ALL = sizeof all / sizeof all[0] };

	for (unsigned off = 0; off < ALL; off++) {
		open_full();
		for (unsigned i = 0; i < ALL; i++) {
			sqlite3_stmt *s = db_use(db, all[i]);

			db_bind_uint(s, 1, ANA);
			db_bind_text(s, 2, "[1]");
			if (i != off)
				CHECK_INT(db_run(db, s), 0);
		}
		if (!count_traces())
			test_fail(__FILE__, __LINE__, "nothing misses eraser %u", off);
		db_close(db);
		folder_remove(dir);
	}
}

/* Whom a restored backup brings back is found by any row that an erasure takes. */
TEST(everybody_whom_an_eraser_knows_is_found_again)
{
	static const uint64_t people[] = {601, 602, 603, 604};
	sqlite3_stmt *s;
	unsigned found = 0;

	open_full();
	CHECK(run("INSERT INTO text_taken VALUES(1, 1, 4, 601, 'ended', 0, 1);"
		  "INSERT INTO recordings(user, at_ms) VALUES(602, 1);"
		  "INSERT INTO audit(at_ms, actor) VALUES(1, 'discord:603');"
		  "INSERT INTO settings_documents VALUES('global', 9, '{}', 'discord:604', 1)"));
	s = db_use(db, DB_FIND_PEOPLE);
	while (db_step(db, s) == 0)
		for (size_t i = 0; i < sizeof people / sizeof people[0]; i++)
			found += db_uint(s, 0) == people[i];
	sqlite3_reset(s);
	CHECK_INT(found, 4);
	db_close(db);
	folder_remove(dir);
}

/* So many parts are rewritten before another job waits. */
static bool waits(void *arg)
{
	unsigned *left = arg;

	if (!*left)
		return true;
	--*left;
	return false;
}

struct merging {
	struct queue queue;
	struct job_runner runner;
	unsigned left;
};

static void open_merging(struct merging *m)
{
	*m = (struct merging){.queue = {.lock = PTHREAD_MUTEX_INITIALIZER}};
	m->queue.tail = &m->queue.head;
	open_full();
	m->runner = (struct job_runner){
		.queue = &m->queue, .db = db, .embedder = "none", .waitsh = waits, .arg = &m->left};
	snprintf(m->runner.dir, sizeof m->runner.dir, "%s", dir);
}

/* left: parts that may be rewritten before another job waits. */
static void expire(struct merging *m, uint64_t words_ms, unsigned left)
{
	struct job j = {.kind = JOB_EXPIRE, .now_ms = 2000, .words_ms = words_ms};

	m->left = left;
	job_run(&j, NULL, &m->runner);
	CHECK_INT(m->runner.err, 0);
}

static void close_merging(struct merging *m)
{
	job_runner_close(&m->runner);
	CHECK(!file_holds(path, "ghansw"));
	CHECK(file_holds(path, "frobozz fact"));
	folder_remove(dir);
}

/* Another job waits while the first one expires them; the index is rewritten behind the next one.
 */
TEST(words_that_expire_leave_the_index_when_nobody_waits)
{
	struct merging m;

	open_merging(&m);
	expire(&m, 2000, 0);
	CHECK(!file_holds(path, "robozz stays") && file_holds(path, "ghansw"));
	expire(&m, 2000, 0);
	CHECK(file_holds(path, "ghansw"));
	expire(&m, 2000, 99);
	CHECK(!file_holds(path, "ghansw"));
	close_merging(&m);
}

TEST(words_that_expired_leave_the_index_at_the_end)
{
	struct merging m;

	open_merging(&m);
	expire(&m, 2000, 0);
	CHECK(file_holds(path, "ghansw"));
	close_merging(&m);
}

/* A part was rewritten before they went. */
TEST(words_that_expire_in_between_leave_the_index)
{
	struct merging m;

	open_merging(&m);
	expire(&m, 1, 1);
	CHECK_INT(m.runner.merge[DB_INDEX_LINES], MERGE_GOES_ON);
	expire(&m, 2000, 0);
	expire(&m, 2000, 99);
	CHECK(!file_holds(path, "ghansw"));
	close_merging(&m);
}

/* Somebody always waits. */
TEST(words_that_expire_leave_a_busy_index_within_minutes)
{
	struct merging m;

	open_merging(&m);
	expire(&m, 2000, 0);
	expire(&m, 2000, 0);
	CHECK(file_holds(path, "ghansw"));
	still_clock_pass(61000);
	for (unsigned i = 0; i < 4; i++)
		expire(&m, 2000, 0);
	CHECK(!file_holds(path, "ghansw"));
	close_merging(&m);
}

/* Control was killed between the end of facts and the end of their words in the index. */
TEST(words_of_facts_leave_the_index_after_a_kill)
{
	struct merging m;

	open_merging(&m);
	CHECK_INT(db_begin(db), 0);
	CHECK_INT(rows_run_erasers(db, ANA, NULL, NULL), 0);
	CHECK_INT(db_commit(db), 0);
	CHECK_INT(db_truncate_wal(db), 0);
	/* Of "plughtea" the index keeps what it does not share with the term before. */
	CHECK(file_holds(path, "tea"));
	expire(&m, 1, 99);
	CHECK(!file_holds(path, "tea"));
	close_merging(&m);
}

/* ---- words that are kept for long ---- */

enum { LINE = 1, QUOTE_TURN = 7 };

static void quote_ana(uint64_t said_ms, uint64_t quoted_ms)
{
	struct bus_event own = {.type = EVENT_UTTERANCE, .at_ms = said_ms, .guild = 1, .user = ANA};
	struct bus_event quote = {.type = EVENT_TURN, .at_ms = quoted_ms, .guild = 1, .user = BOB};

	own.utterance = (struct event_utterance){.session = said_ms,
						 .channel = 3,
						 .utterance = 9,
						 .name = "anacanary",
						 .text = "xyzzyplugh said",
						 .started_ms = said_ms,
						 .source = "realtime-transcription",
						 .consent = true};
	quote.turn = (struct event_turn){
		.session = quoted_ms,
		.channel = 3,
		.turn = QUOTE_TURN,
		.name = "bob",
		.said = "she said xyzzyplugh",
		.segments = "[]",
		.why = "[{\"rule\":\"memory_line\",\"yes\":true,\"value\":1,\"limit\":0}]"};
	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/parley.db", dir);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &own, true), 0);
	CHECK_INT(rows_add(db, &quote, true), 0);
}

static uint64_t first_quoted(void)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_QUOTED);
	uint64_t user;

	db_bind_uint(s, 1, LINE + 1);
	user = db_step(db, s) == 0 ? db_uint(s, 0) : 0;
	sqlite3_reset(s);
	return user;
}

static void erase_and_look(void)
{
	CHECK_INT(rows_run_erasers(db, ANA, NULL, NULL), 0);
	CHECK_INT(count_traces(), 0);
	db_close(db);
	folder_remove(dir);
}

/* The rows that say so stay as long as the line of the bot has its words. */
TEST(a_line_from_weeks_ago_that_quotes_a_person_goes_with_them)
{
	const uint64_t day = 86400000;
	unsigned changed;

	quote_ana(100 * day, 101 * day);
	CHECK_INT(rows_expire(db, 136 * day, 46 * day, &changed), 0);
	CHECK_INT(first_quoted(), ANA);
	/* her words went, and the quote has not */
	CHECK_INT(rows_expire(db, 191 * day, 101 * day - 1, &changed), 0);
	CHECK_INT(first_quoted(), ANA);
	CHECK(count_traces() > 0);
	erase_and_look();
}

/* Such as those of a fact, which has a term of its own. */
TEST(a_line_that_quotes_a_person_goes_with_them_without_their_rows)
{
	quote_ana(1000, 2000);
	CHECK(run("INSERT INTO terms(terms, rowid, text) VALUES('delete', 1, 'xyzzyplugh said');"
		  "DELETE FROM utterances WHERE seq = 1"));
	CHECK_INT(first_quoted(), ANA);
	erase_and_look();
}

TEST(a_migration_finds_whom_lines_quote)
{
	quote_ana(1000, 2000);
	db_close(db);
	CHECK(run("DROP TABLE utterance_people; ALTER TABLE audit DROP COLUMN said_salt; "
		  "ALTER TABLE audit DROP COLUMN said_sealed;"
		  "ALTER TABLE facts DROP COLUMN said_ms;"
		  "DROP TABLE music_positions; DROP INDEX costs_session; ALTER TABLE sessions DROP "
		  "COLUMN spoken_ms;"
		  "PRAGMA user_version=24"));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(first_quoted(), ANA);
	db_close(db);
	folder_remove(dir);
}

TEST(whom_a_line_quoted_goes_with_its_words)
{
	unsigned changed;

	quote_ana(1000, 2000);
	CHECK_INT(rows_expire(db, 3000, 2500, &changed), 0);
	CHECK_INT(first_quoted(), 0);
	db_close(db);
	folder_remove(dir);
}

/* ---- who left no words ---- */

/* Her messages are deleted, or were never kept, and answers and a tool repeat them. */
static void erase_who_left(const char *left)
{
	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/parley.db", dir);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(run("INSERT INTO utterances(guild, session, user, text, source, message) VALUES"
		  "(1, 0, 502777123, 'she wrote xyzzyplugh', 'bot', 55);"
		  "INSERT INTO terms(rowid, text) VALUES(1, 'she wrote xyzzyplugh');"
		  "INSERT INTO tool_calls(guild, session, call, user, tool, summary) VALUES"
		  "(1, 0, 1, 502777123, 'image_lookup', 'a picture of xyzzyplugh')"));
	CHECK(run(left));
	erase_and_look();
}

#define ANSWER_BY_VOICE                                                                            \
	"INSERT INTO sessions VALUES(1, 1000, 4, 2000, 'left', 0);"                                \
	"INSERT INTO turns(guild, session, turn, user, said) VALUES"                               \
	"(1, 1000, 3, 502777123, 'it shows xyzzyplugh');"

TEST(answers_about_who_left_no_words_go_with_them)
{
	erase_who_left("INSERT INTO text_taken VALUES(1, 1, 4, " ANA_TEXT ", 'ended', 0, 1)");
	/* in a conversation in which she said nothing: her screen, a picture in its channel */
	erase_who_left(ANSWER_BY_VOICE
		       "INSERT INTO events(at_ms, type, guild, user, document) VALUES"
		       "(1500, 'screen_share_session_created', 1, " ANA_TEXT ", '{}')");
	erase_who_left(ANSWER_BY_VOICE
		       "INSERT INTO text_taken VALUES((1500 - 1420070400000) << 22, 1, 4, " ANA_TEXT
		       ", 'ended', 0, 1)");
	erase_who_left("INSERT INTO events(at_ms, type, guild, user, document) VALUES"
		       "(1, 'command', 1, " ANA_TEXT ", '{}')");
	erase_who_left("INSERT INTO speech(guild, session, user) VALUES(1, 5, " ANA_TEXT ")");
	erase_who_left("INSERT INTO recordings(guild, user, at_ms) VALUES(1, " ANA_TEXT ", 1)");
}
