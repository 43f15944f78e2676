/* Written messages in the store: kept, edited, deleted, expired, exported and erased. */
#include "control/store/messages.h"

#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/erase.h"
#include "control/store/export.h"
#include "control/store/job.h"
#include "control/store/lookups.h"
#include "control/store/rows.h"
#include "control/store/scan.h"
#include "tests/unit/ipc/loop.h"

#define ANA   UINT64_C(501234567890123456)
#define BOB   UINT64_C(502234567890123456)
#define WORDS "the quarterly frobozz numbers are in"

static char dir[32];
static struct db *db;

static void take(const char *change, uint64_t message, uint64_t user, const char *text)
{
	const struct bus_event ev = {.type = EVENT_MESSAGE,
				     .at_ms = 1000,
				     .guild = 7,
				     .user = user,
				     .message = {.channel = 3,
						 .message = message,
						 .change = change,
						 .name = "x",
						 .text = text,
						 .written_ms = 1000}};

	CHECK_INT(rows_add(db, &ev, true), 0);
}

static void write_answer(uint64_t message, uint64_t user, const char *text)
{
	const struct bus_event ev = {.type = EVENT_MESSAGE,
				     .at_ms = 1000,
				     .guild = 7,
				     .user = user,
				     .message = {.channel = 4,
						 .message = message,
						 .change = "written",
						 .text = text,
						 .bot = true,
						 .written_ms = 1000}};

	CHECK_INT(rows_add(db, &ev, true), 0);
}

static void open_with_messages(void)
{
	db = NULL;
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	take("written", 11, ANA, WORDS);
	take("written", 12, BOB, "nobody told me about the plugh");
}

static void close_all(void)
{
	db_close(db);
	folder_remove(dir);
}

/* A number that the SQL gives. */
static int count(const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *of = sqlite3_db_handle(db_use(db, DB_LAST_AUDIT));
	int n = -1;

	if (sqlite3_prepare_v2(of, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return n;
}

static int count_term(const char *term)
{
	char sql[96];

	snprintf(sql, sizeof sql, "SELECT count(*) FROM terms WHERE terms MATCH '%s'", term);
	return count(sql);
}

TEST(a_message_is_a_line_of_the_timeline_once)
{
	open_with_messages();
	take("written", 11, ANA, WORDS);
	CHECK_INT(count("SELECT count(*) FROM utterances WHERE message = 11 AND session = 0"
			" AND source = 'text' AND consent = 1"),
		  1);
	CHECK_INT(count_term("frobozz"), 1);
	close_all();
}

TEST(without_words_no_message_is_kept)
{
	const struct bus_event ev = {
		.type = EVENT_MESSAGE,
		.guild = 7,
		.user = ANA,
		.message = {.channel = 3, .message = 13, .change = "written", .text = WORDS}};

	open_with_messages();
	CHECK_INT(rows_add(db, &ev, false), 0);
	CHECK_INT(count("SELECT count(*) FROM utterances WHERE message = 13"), 0);
	close_all();
}

TEST(an_edit_takes_the_place_of_the_text)
{
	open_with_messages();
	take("edited", 11, ANA, "the yearly xyzzy numbers are in");
	CHECK_INT(count_term("frobozz"), 0);
	CHECK_INT(count_term("xyzzy"), 1);
	CHECK_INT(count("SELECT count(*) FROM utterances WHERE message = 11 AND user > 500"
			" AND started_ms = 1000 AND name = 'x'"),
		  1);
	/* Its author may not be remembered any more. */
	take("edited", 11, ANA, "");
	CHECK_INT(count("SELECT count(*) FROM utterances WHERE message = 11"), 0);
	CHECK_INT(count_term("xyzzy"), 0);
	/* Nobody knows whether it was to be kept when it was written. */
	take("edited", 14, ANA, WORDS);
	CHECK_INT(count("SELECT count(*) FROM utterances"), 1);
	close_all();
}

TEST(an_edit_does_not_bring_back_words_that_expired)
{
	unsigned changed;

	open_with_messages();
	CHECK_INT(rows_expire(db, 2000, 2000, &changed), 0);
	CHECK_INT(count("SELECT count(*) FROM utterances WHERE text IS NULL"), 2);
	CHECK_INT(count_term("frobozz"), 0);
	take("edited", 11, ANA, WORDS);
	CHECK_INT(count("SELECT count(*) FROM utterances WHERE text IS NOT NULL"), 0);
	close_all();
}

TEST(a_deletion_takes_the_line_and_all_that_hangs_on_it)
{
	open_with_messages();
	CHECK_INT(count("SELECT count(*) FROM utterance_vectors"), 0);
	sqlite3_exec(
		sqlite3_db_handle(db_use(db, DB_LAST_AUDIT)),
		"INSERT INTO utterance_vectors SELECT guild, seq, 1, 0.5, x'00' FROM utterances;"
		"INSERT INTO fact_sources SELECT 1, seq FROM utterances",
		NULL, NULL, NULL);
	take("deleted", 11, 0, "");
	CHECK_INT(count("SELECT count(*) FROM utterances"), 1);
	CHECK_INT(count("SELECT count(*) FROM utterance_vectors"), 1);
	CHECK_INT(count("SELECT count(*) FROM fact_sources"), 1);
	CHECK_INT(count_term("frobozz"), 0);
	take("deleted", 99, 0, "");
	take("written", 15, BOB, "more of the plugh");
	/* The channel is gone. */
	take("deleted", 0, 0, "");
	CHECK_INT(count("SELECT count(*) FROM utterances"), 0);
	close_all();
}

TEST(edits_and_deletions_take_words_away)
{
	struct bus_event ev = {.type = EVENT_MESSAGE, .message = {.change = "written"}};

	CHECK(!messages_takes_away(&ev));
	ev.message.change = "edited";
	CHECK(messages_takes_away(&ev));
	ev.message.change = "deleted";
	CHECK(messages_takes_away(&ev));
	ev.type = EVENT_TURN;
	CHECK(!messages_takes_away(&ev));
}

TEST(an_export_lists_the_messages_of_the_person)
{
	char *text = NULL;
	json_t *j, *line;

	open_with_messages();
	write_answer(16, ANA, "you asked for numbers");
	CHECK_INT(export_person(db, ANA, 3000, 0, &(uint64_t){0}, &text), 0);
	j = json_loads(text, 0, NULL);
	CHECK_INT(json_array_size(json_object_get(j, "utterances")), 0);
	CHECK_INT(json_array_size(json_object_get(j, "messages")), 1);
	line = json_array_get(json_object_get(j, "messages"), 0);
	CHECK_STR(json_string_value(json_object_get(line, "text")), WORDS);
	CHECK_STR(json_string_value(json_object_get(line, "message")), "11");
	CHECK_STR(json_string_value(json_object_get(line, "channel")), "3");
	CHECK_STR(json_string_value(json_object_get(line, "addressee")), "room");
	line = json_array_get(json_object_get(j, "written_answers"), 0);
	CHECK_STR(json_string_value(json_object_get(line, "text")), "you asked for numbers");
	CHECK_STR(json_string_value(json_object_get(line, "message")), "16");
	json_decref(j);
	free(text);
	close_all();
}

/* The bot's written answers may quote the person, in whatever channel. */
TEST(an_erasure_takes_messages_and_written_answers_of_the_server)
{
	const struct erase e = {.dir = dir, .user = ANA, .now_ms = 2000, .via = "test"};
	char *receipt = NULL;

	open_with_messages();
	write_answer(16, BOB, "Ana wrote that " WORDS);
	CHECK_INT(erase_person(db, &e, &receipt), 0);
	CHECK(receipt && strstr(receipt, "\"traces\":0") && strstr(receipt, "\"utterances\":2"));
	CHECK_INT(count("SELECT count(*) FROM utterances"), 1);
	free(receipt);
	close_all();
}

TEST(an_erasure_takes_written_answers_that_may_quote_what_was_said_aloud)
{
	const struct erase e = {.dir = dir, .user = 9, .now_ms = 2000, .via = "test"};
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = 7, .user = 9};
	char *receipt = NULL;

	open_with_messages();
	ev.utterance = (struct event_utterance){
		.session = 5, .channel = 8, .name = "Cem", .text = "zork", .started_ms = 1000};
	CHECK_INT(rows_add(db, &ev, true), 0);
	write_answer(16, BOB, "Cem said zork");
	CHECK_INT(erase_person(db, &e, &receipt), 0);
	CHECK_INT(count("SELECT count(*) FROM utterances"), 2);
	free(receipt);
	close_all();
}

static void look_up(uint64_t channel, const char *tool, const char *code, const char *text,
		    uint64_t at)
{
	static uint64_t call;
	const struct bus_event ev = {.type = EVENT_TOOL_CALLED,
				     .at_ms = at,
				     .guild = 7,
				     .user = ANA,
				     .tool = {.channel = channel,
					      .call = ++call,
					      .name = tool,
					      .code = code,
					      .summary = text}};

	CHECK_INT(rows_add(db, &ev, true), 0);
}

TEST(lookups_are_those_of_the_channel_the_newest_first)
{
	const struct job j = {.guild = 7, .channel = 3, .now_ms = 1000, .version = 2};
	char *text = NULL;

	open_with_messages();
	look_up(3, "web_search", "ok", "too old", 999);
	look_up(3, "web_search", "ok", "one", 1000);
	look_up(3, "web_read", "ok", "two", 1001);
	look_up(3, "web_search", "timeout", "failed", 1002);
	look_up(3, "roll", "ok", "a six", 1003);
	look_up(4, "web_search", "ok", "elsewhere", 1004);
	CHECK_INT(lookups_find(db, &j, &text), 0);
	CHECK_STR(text, "[{\"at_ms\":1001,\"tool\":\"web_read\",\"text\":\"two\",\"user\":"
			"\"501234567890123456\"},"
			"{\"at_ms\":1000,\"tool\":\"web_search\",\"text\":\"one\",\"user\":"
			"\"501234567890123456\"}]");
	free(text);
	close_all();
}

/* Nobody else knows whom a written answer quotes once they allow less. */
static int count_found(const char *term)
{
	char sql[192];

	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM terms t JOIN utterances u ON u.seq = t.rowid"
		 " WHERE t.terms MATCH '%s' AND u.forgotten IS NULL",
		 term);
	return count(sql);
}

/* The evidence moves with the words, so that a fact that is forgotten later hides the new ones. */
TEST(a_line_of_which_somebody_forgot_a_fact_is_found_no_more_after_an_edit)
{
	open_with_messages();
	write_answer(21, BOB, "noted, the frobozz numbers");
	CHECK_INT(count("INSERT INTO fact_sources SELECT 1, seq FROM utterances WHERE message = 12"
			" RETURNING 1"),
		  1);
	CHECK_INT(count("UPDATE utterances SET forgotten = 1 WHERE message IN (11, 21)"
			" RETURNING 1"),
		  1);
	take("edited", 11, ANA, WORDS " by the way");
	take("edited", 21, 0, "noted, your frobozz numbers");
	take("edited", 12, BOB, "nobody told us about the plugh");
	CHECK_INT(count_term("frobozz"), 2);
	CHECK_INT(count_found("frobozz"), 0);
	CHECK_INT(count_found("plugh"), 1);
	CHECK_INT(count("SELECT count(*) FROM fact_sources s JOIN utterances u"
			" ON u.seq = s.utterance WHERE s.fact = 1 AND u.message = 12"),
		  1);
	/* It stays so with each edit. */
	take("edited", 11, ANA, "the frobozz numbers");
	CHECK_INT(count_found("frobozz"), 0);
	take("deleted", 12, 0, NULL);
	CHECK_INT(count("SELECT count(*) FROM fact_sources"), 0);
	close_all();
}

TEST(a_written_answer_quotes_whom_its_model_was_told_of)
{
	const struct bus_event ev = {
		.type = EVENT_MESSAGE,
		.at_ms = 1000,
		.guild = 7,
		.user = BOB,
		.message = {.channel = 4,
			    .message = 77,
			    .change = "written",
			    .text = "carl has a salary of four thousand",
			    .told = "[\"503234567890123456\",\"504234567890123456\"]",
			    .bot = true,
			    .written_ms = 1000}};

	open_with_messages();
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(count("SELECT count(*) FROM utterance_people p JOIN utterances u"
			" ON u.seq = p.utterance WHERE u.message = 77 AND told"
			" AND p.user IN (503234567890123456, 504234567890123456)"),
		  2);
	take("edited", 77, 0, "carl has a salary of four thousand, I think");
	CHECK_INT(count("SELECT count(*) FROM utterance_people p JOIN utterances u"
			" ON u.seq = p.utterance WHERE u.message = 77 AND told"),
		  2);
	take("deleted", 77, 0, NULL);
	CHECK_INT(count("SELECT count(*) FROM utterance_people"), 0);
	close_all();
}
