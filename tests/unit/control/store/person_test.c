/* One person in the store: the receipt of an erasure, what a restored backup brings back, the
 * export, consents. */
#include "control/store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "control/store/consent_file.h"
#include "control/store/db.h"
#include "control/store/deletions.h"
#include "control/store/erase.h"
#include "control/words/words.h"
#include "control/store/export.h"
#include "control/store/fact_people.h"
#include "control/store/rows.h"
#include "control/store/scan.h"
#include "control/store/subject.h"
#include "control/events/events.h"
#include "control/state.h"
#include "tests/unit/ipc/loop.h"

#define ANA UINT64_C(501234567890123456)
#define BOB UINT64_C(502234567890123456)

#define WORDS_OF_ANA "the quarterly frobozz numbers are in"

static char dir[32];
static struct db *db;

static void say(uint64_t user, const char *text)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = 7, .user = user};

	ev.utterance = (struct event_utterance){
		.session = 5, .channel = 3, .name = "x", .text = text, .started_ms = 1000};
	CHECK_INT(rows_add(db, &ev, true), 0);
}

static void open_with_words(void)
{
	db = NULL;
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	say(ANA, WORDS_OF_ANA);
	say(BOB, "nobody told me about the plugh");
}

static bool run_sql(const char *sql)
{
	return sqlite3_exec(sqlite3_db_handle(db_use(db, DB_BEGIN)), sql, NULL, NULL, NULL) ==
	       SQLITE_OK;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static int erase_ana(const char *turns, const char *journals, char **receipt)
{
	const struct erase e = {.dir = dir,
				.turns_file = turns,
				.room_journals = journals,
				.user = ANA,
				.now_ms = 2000,
				.via = "test"};

	return erase_person(db, &e, receipt);
}

TEST(an_erasure_reaches_turn_files_and_journals_of_rooms)
{
	char turns[64], old[72], rooms[64], journal[96], other[96], line[256] = "", *receipt = NULL;
	FILE *f;

	open_with_words();
	snprintf(turns, sizeof turns, "%s/turns", dir);
	snprintf(rooms, sizeof rooms, "%s/rooms", dir);
	snprintf(journal, sizeof journal, "%s/one", rooms);
	snprintf(other, sizeof other, "%s/two", rooms);
	CHECK_INT(mkdir(rooms, 0700), 0);
	snprintf(old, sizeof old, "%s.old", turns);
	write_text(turns, "{\"user\":\"501234567890123456\"}\n{\"user\":\"502234567890123456\"}\n");
	write_text(old, "{\"user\":\"501234567890123456\"}\n");
	write_text(journal, "xx501234567890123456yy");
	write_text(other, "nothing of hers");
	CHECK_INT(erase_ana(turns, rooms, &receipt), 0);
	CHECK(strstr(receipt, "\"turn_lines\":2") && strstr(receipt, "\"room_journals\":1"));
	CHECK(strstr(receipt, "\"turns_file.old\""));
	f = fopen(old, "r");
	CHECK(f && getc(f) == EOF);
	fclose(f);
	CHECK(strstr(receipt, "\"traces\":0"));
	CHECK(access(journal, F_OK) != 0 && access(other, F_OK) == 0);
	f = fopen(turns, "r");
	CHECK(f && fgets(line, sizeof line, f) && strstr(line, "\"502"));
	CHECK(!fgets(line, sizeof line, f));
	fclose(f);
	free(receipt);
	db_close(db);
	unlink(other);
	rmdir(rooms);
	folder_remove(dir);
}

/* A store that nobody erases, in a database of ours. */
TEST(a_receipt_tells_of_what_is_left)
{
	struct words sentence = {0};
	char *receipt = NULL;
	struct sqlite3_stmt *s;

	open_with_words();
	s = db_use(db, DB_SET_META);
	db_bind_text(s, 1, "forgotten store");
	db_bind_text(s, 2, "501234567890123456");
	CHECK_INT(db_run(db, s), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	CHECK(!strstr(receipt, "\"traces\":0"));
	CHECK_INT(erase_tell(&sentence, receipt), 0);
	CHECK(strstr(sentence.text, "traces"));
	free(receipt);
	db_close(db);
	folder_remove(dir);
}

TEST(an_older_backup_does_not_bring_an_erased_person_back)
{
	char backup[64], path[64], *receipt = NULL, *document = NULL;
	unsigned people = 9;

	open_with_words();
	snprintf(path, sizeof path, "%s/parley.db", dir);
	snprintf(backup, sizeof backup, "%s/copy", dir);
	CHECK_INT(deletions_replay(dir, &people), 0); /* nobody was erased */
	CHECK_INT(people, 0);
	CHECK_INT(db_backup(db, backup), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	db_close(db);
	CHECK_INT(deletions_replay(dir, &people), 0);
	CHECK_INT(people, 0);
	CHECK_INT(rename(backup, path), 0);
	CHECK_INT(deletions_replay(dir, &people), 0);
	CHECK_INT(people, 1);
	db = NULL;
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(export_person(db, ANA, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(!strstr(document, "frobozz"));
	free(document);
	CHECK_INT(export_person(db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(strstr(document, "plugh"));
	free(document);
	db_close(db);
	folder_remove(dir);
}

static bool run_on_file(const char *path, const char *script)
{
	sqlite3 *sql = NULL;
	bool ok = sqlite3_open(path, &sql) == SQLITE_OK &&
		  sqlite3_exec(sql, script, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(sql);
	return ok;
}

/* Her rows cannot be erased: both would get the name "erased". */
#define STUCK_ROWS                                                                                 \
	"INSERT INTO speech(user, name) VALUES(501234567890123456, 'a'),"                          \
	" (501234567890123456, 'b'); CREATE UNIQUE INDEX stuck_rows ON speech(name);"
/* And no request of the time at which she was erased can be written. */
#define STUCK_REQUEST                                                                              \
	"INSERT INTO erase_requests(user, at_ms) VALUES(1, 2000);"                                 \
	"CREATE UNIQUE INDEX stuck_request ON erase_requests(at_ms);"

static int erase_bob(void)
{
	const struct erase e = {.dir = dir, .user = BOB, .now_ms = 2001, .via = "test"};
	char *receipt = NULL;
	int err = erase_person(db, &e, &receipt);

	free(receipt);
	return err;
}

static void restore_and_replay(const char *stuck, int *err, unsigned *people)
{
	char backup[64], path[64], *receipt = NULL;

	open_with_words();
	snprintf(path, sizeof path, "%s/parley.db", dir);
	snprintf(backup, sizeof backup, "%s/copy", dir);
	CHECK_INT(db_backup(db, backup), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(erase_bob(), 0);
	db_close(db);
	CHECK_INT(rename(backup, path), 0);
	CHECK(run_on_file(path, stuck));
	*err = deletions_replay(dir, people);
}

static bool is_told_of_nobody(void)
{
	struct state_kept kept = {0};
	bool is;

	state_read(dir, &kept);
	is = json_is_true(json_object_get(kept.consents, "unread"));
	state_kept_clear(&kept);
	return is;
}

/* Models learn nothing then: a control that started would tell them Ana's words. */
TEST(who_cannot_be_erased_again_keeps_nobody_else_from_it_and_is_not_told)
{
	unsigned people = 9;
	char *document = NULL;
	int err;

	restore_and_replay(STUCK_ROWS STUCK_REQUEST, &err, &people);
	CHECK(err != 0);
	CHECK_INT(people, 1);
	db = NULL;
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(export_person(db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(!strstr(document, "plugh"));
	free(document);
	db_close(db);
	CHECK(is_told_of_nobody());
	folder_remove(dir);
}

/* The control that starts tells nobody of her, and erases her (control_take_erase_requests). */
TEST(an_erasure_of_a_backup_that_is_requested_again_stops_nothing)
{
	unsigned people = 9;
	int err;

	restore_and_replay(STUCK_ROWS, &err, &people);
	CHECK_INT(err, 0);
	CHECK_INT(people, 1);
	CHECK(store_has_erase_requests(dir));
	CHECK(!is_told_of_nobody());
	folder_remove(dir);
}

/* ---- the request ---- */

static struct sqlite3_stmt *use_with(enum db_statement statement, uint64_t user)
{
	struct sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, user);
	return s;
}

static bool is_requested(void)
{
	bool is = db_step(db, use_with(DB_FIND_ERASE_REQUEST, ANA)) == 0;

	db_use(db, DB_FIND_ERASE_REQUEST);
	return is;
}

static uint64_t count_words(const char *file)
{
	struct scan scan = {0};
	char path[64];
	uint64_t hits = 0;

	scan_add_text(&scan, WORDS_OF_ANA);
	snprintf(path, sizeof path, "%s/%s", dir, file);
	return scan_file(&scan, path, &hits) ? 99 : hits;
}

static void check_texts(uint64_t now_ms, bool kept)
{
	struct sqlite3_stmt *s;
	unsigned changed;
	bool keeps;

	CHECK_INT(rows_expire(db, now_ms, 0, &changed), 0);
	s = use_with(DB_GET_ERASE_PROGRESS, ANA);
	keeps = db_step(db, s) == 0 && strstr(db_text(s, 0), WORDS_OF_ANA);
	db_use(db, DB_GET_ERASE_PROGRESS); /* ends the read */
	CHECK(keeps == kept);
}

/* Its files can never be read: what she had said is in the database for a week, and no longer. */
TEST(an_erasure_that_cannot_end_keeps_no_words_for_ever)
{
	const uint64_t day = 86400000;
	char turns[64], *receipt = NULL;

	open_with_words();
	snprintf(turns, sizeof turns, "%s/turns", dir);
	CHECK_INT(symlink("/nowhere", turns), 0);
	CHECK_INT(erase_ana(turns, NULL, &receipt), ELOOP);
	check_texts(6 * day, true);
	/* Another try of it begins no other week. */
	CHECK_INT(erase_request(db, ANA, 6 * day), 0);
	CHECK_INT(erase_ana(turns, NULL, &receipt), ELOOP);
	check_texts(8 * day, false);
	CHECK(is_requested());
	unlink(turns);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"texts\":0"));
	free(receipt);
	db_close(db);
	folder_remove(dir);
}

/* The turn file cannot be read, as after a crash before its turn came. */
TEST(an_interrupted_erasure_stays_requested_until_it_is_done)
{
	char turns[64], *receipt = NULL;
	unsigned people = 9;

	open_with_words();
	snprintf(turns, sizeof turns, "%s/turns", dir);
	CHECK_INT(symlink("/nowhere", turns), 0);
	CHECK_INT(erase_ana(turns, NULL, &receipt), ELOOP);
	CHECK(is_requested());
	db_close(db);
	CHECK(store_has_erase_requests(dir));
	/* It reaches the rows alone, so it leaves the rest to the control that starts. */
	CHECK_INT(deletions_replay(dir, &people), 0);
	CHECK_INT(people, 0);
	CHECK(store_has_erase_requests(dir));
	unlink(turns);
	/* Bob's turn quotes her: the rows that say so are gone. */
	write_text(turns, "{\"user\":\"501234567890123456\"}\n"
			  "{\"said\":\"" WORDS_OF_ANA "\"}\n{\"said\":\"hello\"}\n");
	db = NULL;
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(erase_request(db, ANA, 4000), 0);
	CHECK_INT(erase_ana(turns, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"turn_lines\":2") && strstr(receipt, "\"traces\":0"));
	CHECK(strstr(receipt, "\"utterances\":1") && strstr(receipt, "\"texts\":1"));
	CHECK_INT(count_words("parley.db") + count_words("parley.db-wal"), 0);
	CHECK(!is_requested());
	free(receipt);
	db_close(db);
	CHECK(!store_has_erase_requests(dir));
	folder_remove(dir);
}

/* Another process, as `control --export` is one. It begins before SQLite does here, because a fork
 * would copy what SQLite knows of its locks. */
static struct {
	pid_t pid;
	int to, from;
} other;

/* Opens and closes the database for each byte that comes; '!' requests an erasure, too. */
static void serve_other(int in, int out)
{
	char ask;

	while (read(in, &ask, 1) == 1) {
		struct db *its = NULL;
		int err = db_open(&its, dir, DB_JOIN);

		if (!err && ask == '!')
			err = erase_request(its, ANA, 3000);
		db_close(its);
		ask = err ? 'n' : 'y';
		if (write(out, &ask, 1) != 1)
			break;
	}
	_exit(0);
}

static void begin_other(void)
{
	int to[2], from[2];

	CHECK_INT(pipe(to) || pipe(from), 0);
	other.pid = fork();
	if (other.pid == 0) {
		close(to[1]);
		close(from[0]);
		serve_other(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	other.to = to[1];
	other.from = from[0];
}

static void end_other(void)
{
	close(other.to);
	close(other.from);
	CHECK_INT(waitpid(other.pid, NULL, 0), other.pid);
}

static void ask_other(char ask)
{
	char answer = 'n';

	CHECK(write(other.to, &ask, 1) == 1 && read(other.from, &answer, 1) == 1);
	CHECK_INT(answer, 'y');
}

/* Whoever closes a database last takes its WAL away. A process that has lost its locks, because it
 * closed the file beside SQLite, is not counted. */
TEST(other_processes_leave_the_wal_of_an_open_database)
{
	struct db *second = NULL;
	char *receipt = NULL;

	CHECK(folder_make(dir));
	begin_other();
	db = NULL;
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	say(ANA, WORDS_OF_ANA);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	ask_other('.');
	ask_other('!');
	CHECK(is_requested());
	CHECK_INT(db_run(db, use_with(DB_END_ERASE_REQUEST, ANA)), 0);
	CHECK_INT(db_open(&second, dir, DB_READ), 0); /* as the nightly check */
	db_close(second);
	ask_other('.');
	ask_other('!');
	CHECK(is_requested());
	db_close(db);
	end_other();
	folder_remove(dir);
}

static void say_bot(uint64_t guild, const char *text)
{
	struct bus_event ev = {.type = EVENT_TURN, .at_ms = 1000, .guild = guild, .user = BOB};

	ev.turn = (struct event_turn){
		.session = 5,
		.channel = 3,
		.turn = 1,
		.name = "x",
		.said = text,
		.segments = "[]",
		.why = "[{\"rule\":\"memory_fact\",\"yes\":true,\"value\":1,\"limit\":0}]"};
	CHECK_INT(rows_add(db, &ev, true), 0);
}

/* The answer to Bob, who asked where Ana is. */
static void quote_ana(uint64_t session, uint32_t number, const char *why)
{
	struct bus_event turn = {.type = EVENT_TURN, .at_ms = 1000, .guild = 7, .user = BOB};

	turn.turn = (struct event_turn){
		.session = session,
		.channel = 3,
		.turn = number,
		.name = "bob",
		.said = "Ana said: the quarterly frobozz numbers are in",
		.segments = "[{\"user\":\"502234567890123456\",\"name\":\"bob\","
			    "\"utterance\":1,\"text\":\"where is Ana\"}]",
		.why = why};
	CHECK_INT(rows_add(db, &turn, true), 0);
}

/* In a session that Ana spoke in, and in a later one whose history began with her line. */
TEST(an_erasure_reaches_quotes_of_the_person_in_answers_to_others)
{
	static const struct {
		uint64_t session;
		const char *why;
	} of[] = {{5, "[]"},
		  {8, "[{\"rule\":\"memory_recalled\",\"yes\":true,\"value\":1,\"limit\":0}]"}};

	for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
		char *receipt = NULL;

		open_with_words();
		quote_ana(of[i].session, 3, of[i].why);
		CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
		CHECK(strstr(receipt, "\"said\":1") && strstr(receipt, "\"utterances\":2"));
		CHECK(strstr(receipt, "\"traces\":0"));
		free(receipt);
		db_close(db);
		folder_remove(dir);
	}
}

/* The second answer repeats the first one, from the history of the conversation. */
TEST(an_erasure_reaches_echoes_of_a_quote)
{
	char *receipt = NULL;

	open_with_words();
	quote_ana(8, 3, "[{\"rule\":\"memory_fact\",\"yes\":true,\"value\":1,\"limit\":0}]");
	quote_ana(8, 4, "[]");
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"said\":2") && strstr(receipt, "\"traces\":0"));
	free(receipt);
	db_close(db);
	folder_remove(dir);
}

TEST(a_receipt_tells_of_quotes_that_stay)
{
	char *receipt = NULL;

	open_with_words();
	quote_ana(8, 3, "[]");
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"scan\"") && !strstr(receipt, "\"traces\":0"));
	free(receipt);
	db_close(db);
	folder_remove(dir);
}

TEST(an_erasure_leaves_servers_alone_that_never_knew_the_person)
{
	char *receipt = NULL, *document = NULL;

	open_with_words();
	say_bot(7, "somebody said the frobozz numbers are in");
	say_bot(8, "somebody said the harbour is closed");
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(export_person(db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(!strstr(document, "numbers are in"));
	CHECK(strstr(document, "harbour is closed"));
	free(document);
	db_close(db);
	folder_remove(dir);
}

TEST(an_export_holds_what_is_kept_of_one_person)
{
	const struct consent_change change = {.guild = 7,
					      .user = ANA,
					      .at_ms = 1500,
					      .before = "default",
					      .after = "remembered",
					      .via = "/consent"};
	char *text = NULL;
	json_t *j, *line;

	open_with_words();
	CHECK_INT(consents_put(db, dir, &change), 0);
	CHECK_INT(export_person(db, ANA, 3000, 0, &(uint64_t){0}, &text), 0);
	j = json_loads(text, 0, NULL);
	CHECK_STR(json_string_value(json_object_get(j, "format")), "parley-export-1");
	CHECK_STR(json_string_value(json_object_get(j, "user")), "501234567890123456");
	CHECK_INT(json_array_size(json_object_get(j, "utterances")), 1);
	line = json_array_get(json_object_get(j, "utterances"), 0);
	CHECK_STR(json_string_value(json_object_get(line, "text")),
		  "the quarterly frobozz numbers are in");
	CHECK_STR(json_string_value(json_object_get(line, "guild")), "7");
	line = json_array_get(json_object_get(j, "consent"), 0);
	CHECK_STR(json_string_value(json_object_get(line, "after")), "remembered");
	CHECK(!strstr(text, "plugh"));
	json_decref(j);
	free(text);
	db_close(db);
	folder_remove(dir);
}

static void add_fact(uint64_t owner, uint64_t author, const char *text, bool bound)
{
	struct fact_person of = {ANA, bound};
	const struct fact_people people = {1, &of};
	sqlite3_stmt *s = db_use(db, DB_IMPORT_FACT);

	db_bind_uint(s, 1, 7);
	db_bind_uint(s, 2, owner);
	db_bind_uint(s, 3, author);
	db_bind_text(s, 4, "x");
	db_bind_text(s, 5, "plan");
	db_bind_text(s, 6, "[]");
	db_bind_text(s, 7, text);
	db_bind_uint(s, 8, 1000);
	db_bind_uint(s, 9, 1000);
	CHECK_INT(db_run(db, s), 0);
	CHECK_INT(fact_people_add(db, db_last_row(db), &people), 0);
}

/* Lines of others hold neither the id nor the words of a line of hers. */
TEST(turn_file_lines_that_may_quote_the_person_are_erased)
{
	char turns[64], *receipt = NULL, left[512] = "";
	FILE *f;

	open_with_words();
	snprintf(turns, sizeof turns, "%s/turns", dir);
	write_text(turns, "{\"guild\":\"7\",\"user\":\"502\",\"said\":\"her PIN is 4711\"}\n"
			  "{\"guild\":\"7\",\"user\":\"502\",\"segments\":[{\"text\":\"4711\"}]}\n"
			  "{\"guild\":\"7\",\"user\":\"502\",\"said\":\"\",\"segments\":[{}]}\n"
			  "{\"guild\":\"8\",\"user\":\"502\",\"said\":\"it rains\"}\n"
			  "half a line\n");
	CHECK_INT(erase_ana(turns, NULL, &receipt), 0);
	CHECK(receipt && strstr(receipt, "\"turn_lines\":2"));
	f = fopen(turns, "r");
	CHECK(f && fread(left, 1, sizeof left - 1, f) > 0);
	if (f)
		fclose(f);
	CHECK(!strstr(left, "4711") && strstr(left, "it rains") && strstr(left, "half a line"));
	CHECK(strstr(left, "\"segments\":[{}]"));
	free(receipt);
	db_close(db);
	folder_remove(dir);
}

/* Nobody else's private memory, nothing that was told in a channel, and no name that may be another
 * person's. */
TEST(an_export_holds_what_others_told_everybody_about_the_person)
{
	char *text = NULL;
	json_t *j, *list;

	open_with_words();
	add_fact(0, BOB, "Ana likes rye", true);
	add_fact(BOB, BOB, "Ana owes me a coffee", true);
	add_fact(0, BOB, "Ana sails", false);
	add_fact(0, ANA, "Ana is me", true);
	/* Two moderators said it among themselves. */
	add_fact(0, BOB, "Ana will be banned", true);
	CHECK(run_sql("UPDATE facts SET channels = '[\"4711\"]'"
		      " WHERE text = 'Ana will be banned'"));
	CHECK_INT(export_person(db, ANA, 3000, 0, &(uint64_t){0}, &text), 0);
	j = json_loads(text, 0, NULL);
	list = json_object_get(j, "facts_about");
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "text")),
		  "Ana likes rye");
	CHECK(!strstr(text, "502234567890123456") && !strstr(text, "coffee"));
	CHECK_INT(json_array_size(json_object_get(j, "facts")), 1);
	json_decref(j);
	free(text);
	db_close(db);
	folder_remove(dir);
}

static const char *state_of(const json_t *kept, uint64_t user)
{
	struct subject_key key;
	char mac[SUBJECT_MAC], row[64];

	if (subject_key_parse(json_string_value(json_object_get(kept, "key")), &key))
		return "no key";
	subject_mac(&key, user, mac);
	snprintf(row, sizeof row, "7:%s", mac);
	return json_string_value(json_object_get(json_object_get(kept, "rows"), row));
}

/* The same of the object `times`, in milliseconds. server: "7" or, of an erasure, "0". */
static json_int_t time_of(const json_t *kept, const char *times, const char *server)
{
	struct subject_key key;
	char mac[SUBJECT_MAC], row[64];

	if (subject_key_parse(json_string_value(json_object_get(kept, "key")), &key))
		return -1;
	subject_mac(&key, ANA, mac);
	snprintf(row, sizeof row, "%s:%s", server, mac);
	return json_integer_value(json_object_get(json_object_get(kept, times), row));
}

static json_int_t withdrawn_ms(const json_t *kept, const char *server)
{
	return json_integer_value(json_object_get(json_object_get(kept, "withdrawn"), server));
}

TEST(a_restart_knows_since_when_answers_hold)
{
	struct consent_change change = {.guild = 7,
					.user = ANA,
					.at_ms = 1500,
					.before = "default",
					.after = "neither",
					.via = "/consent"};
	char *receipt = NULL;
	json_t *kept;

	open_with_words();
	CHECK_INT(consents_put(db, dir, &change), 0);
	change.at_ms = 1600;
	change.before = "neither";
	change.after = "heard";
	CHECK_INT(consents_put(db, dir, &change), 0);
	change.at_ms = 1700;
	change.before = "heard";
	change.after = "remembered";
	CHECK_INT(consents_put(db, dir, &change), 0);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_INT(time_of(kept, "since", "7"), 1700);
	CHECK_INT(time_of(kept, "unread_before", "7"), 1600);
	CHECK_INT(time_of(kept, "unread_before", "0"), 0);
	CHECK_INT(withdrawn_ms(kept, "7"), 1500);
	CHECK_INT(withdrawn_ms(kept, "0"), 0);
	json_decref(kept);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK(time_of(kept, "unread_before", "0") > 0);
	CHECK(time_of(kept, "since", "7") == time_of(kept, "unread_before", "0"));
	CHECK_INT(time_of(kept, "unread_before", "7"), 1600);
	CHECK(withdrawn_ms(kept, "0") == time_of(kept, "unread_before", "0"));
	/* They were remembered until the erasure. */
	CHECK(withdrawn_ms(kept, "7") == withdrawn_ms(kept, "0"));
	json_decref(kept);
	db_close(db);
	folder_remove(dir);
}

/* The ledger keeps the change without the id; a refusal to be heard holds on. */
TEST(consents_survive_a_restart_and_refusals_an_erasure)
{
	struct consent_change change = {.guild = 7,
					.user = ANA,
					.at_ms = 1500,
					.before = "default",
					.after = "remembered",
					.via = "/consent"};
	char *receipt = NULL;
	json_t *kept;

	open_with_words();
	CHECK_INT(consents_put(db, dir, &change), 0);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_STR(state_of(kept, ANA), "remembered");
	json_decref(kept);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"traces\":0"));
	free(receipt);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_STR(state_of(kept, ANA), "heard");
	json_decref(kept);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_STR(state_of(kept, ANA), "heard");
	json_decref(kept);
	change.after = "neither";
	CHECK_INT(consents_put(db, dir, &change), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"traces\":0"));
	free(receipt);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_STR(state_of(kept, ANA), "neither");
	json_decref(kept);
	db_close(db);
	folder_remove(dir);
}

static void answer_consent(uint64_t user, uint64_t at_ms, const char *after)
{
	const struct consent_change change = {.guild = 7,
					      .user = user,
					      .at_ms = at_ms,
					      .before = "default",
					      .after = after,
					      .via = "/consent",
					      .grants = strcmp(after, "remembered") == 0};

	CHECK_INT(consents_put(db, dir, &change), 0);
}

/* Puts the copy in the place of the database and starts; *kept: the consents. */
static void restore(const char *backup, unsigned *changed, json_t **kept)
{
	char path[64];
	unsigned people;

	db_close(db);
	db = NULL;
	snprintf(path, sizeof path, "%s/parley.db", dir);
	CHECK_INT(rename(backup, path), 0);
	CHECK_INT(deletions_replay(dir, &people), 0);
	CHECK_INT(consents_replay(dir, changed), 0);
	CHECK_INT(store_read_consents(dir, kept), 0);
}

static void open_for_backup(char backup[64])
{
	db = NULL;
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	snprintf(backup, 64, "%s/copy", dir);
}

TEST(an_older_backup_does_not_bring_back_a_consent_or_lose_a_refusal)
{
	char backup[64];
	unsigned changed = 9;
	json_t *kept;

	open_with_words();
	snprintf(backup, sizeof backup, "%s/copy", dir);
	answer_consent(ANA, 1500, "remembered");
	CHECK_INT(db_backup(db, backup), 0);
	answer_consent(ANA, 1600, "neither");
	answer_consent(ANA, 1700, "heard");
	answer_consent(BOB, 1600, "neither");
	restore(backup, &changed, &kept);
	CHECK_INT(changed, 2);
	CHECK_STR(state_of(kept, ANA), "heard");
	CHECK_STR(state_of(kept, BOB), "neither");
	json_decref(kept);
	CHECK_INT(consents_replay(dir, &changed), 0);
	CHECK_INT(changed, 0);
	folder_remove(dir);
}

/* The member was told that nothing changed. */
TEST(an_answer_that_was_not_saved_allows_nothing_after_a_restart)
{
	struct consent_change change = {.guild = 7,
					.user = ANA,
					.at_ms = 1600,
					.before = "neither",
					.after = "heard",
					.via = "/consent",
					.grants = true};
	unsigned changed = 9;
	json_t *kept;

	open_with_words();
	answer_consent(ANA, 1500, "neither");
	CHECK(run_sql("PRAGMA query_only = ON"));
	CHECK(consents_put(db, dir, &change));
	db_close(db);
	CHECK_INT(consents_replay(dir, &changed), 0);
	CHECK_INT(changed, 0);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_STR(state_of(kept, ANA), "neither");
	json_decref(kept);
	folder_remove(dir);
}

/* The backup holds the consent and no other row of the person. */
TEST(an_older_backup_does_not_bring_back_the_consent_of_an_erased_person)
{
	char backup[64], *receipt = NULL;
	unsigned changed = 9;
	json_t *kept;

	open_for_backup(backup);
	answer_consent(ANA, 1500, "remembered");
	answer_consent(BOB, 1500, "heard");
	/* Old rows of the ledger may be gone. */
	CHECK_INT(db_run(db, use_with(DB_ERASE_CONSENT_LEDGER, ANA)), 0);
	CHECK_INT(db_backup(db, backup), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	restore(backup, &changed, &kept);
	CHECK_INT(changed, 0);
	CHECK_STR(state_of(kept, ANA), "heard");
	CHECK_STR(state_of(kept, BOB), "heard");
	json_decref(kept);
	folder_remove(dir);
}

/* The backup is older than the consent, which the file alone knows. */
TEST(an_older_backup_does_not_make_an_erased_person_remembered)
{
	char backup[64], *receipt = NULL;
	unsigned changed = 9;
	json_t *kept;

	open_for_backup(backup);
	answer_consent(BOB, 1400, "heard");
	CHECK_INT(db_backup(db, backup), 0);
	answer_consent(ANA, 1500, "remembered");
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	restore(backup, &changed, &kept);
	CHECK_INT(changed, 1);
	CHECK_STR(state_of(kept, ANA), "heard");
	json_decref(kept);
	CHECK_INT(consents_replay(dir, &changed), 0);
	CHECK_INT(changed, 0);
	folder_remove(dir);
}

/* A crash cut the last line short, and a disk damaged another. */
TEST(a_broken_line_does_not_hide_an_older_answer)
{
	char backup[64], path[64], mac[SUBJECT_MAC];
	struct subject_key key;
	unsigned changed = 9;
	json_t *kept;
	FILE *f;

	open_for_backup(backup);
	answer_consent(BOB, 1400, "heard");
	CHECK_INT(db_backup(db, backup), 0);
	answer_consent(ANA, 1500, "neither");
	CHECK_INT(subject_key_find(dir, &key), 0);
	subject_mac(&key, ANA, mac);
	snprintf(path, sizeof path, "%s/consents", dir);
	f = fopen(path, "a");
	CHECK(f && fprintf(f, "1600 7 \377 heard\n1600 7 %s remem", mac) > 0);
	fclose(f);
	restore(backup, &changed, &kept);
	CHECK_INT(changed, 1);
	CHECK_STR(state_of(kept, ANA), "neither");
	json_decref(kept);
	folder_remove(dir);
}

TEST(consents_without_their_key_are_not_read)
{
	char key[64];
	json_t *kept;

	open_with_words();
	snprintf(key, sizeof key, "%s/subject-key", dir);
	answer_consent(ANA, 1500, "neither");
	write_text(key, "short");
	CHECK_INT(store_read_consents(dir, &kept), EINVAL);
	CHECK(!kept);
	unlink(key);
	CHECK_INT(store_read_consents(dir, &kept), ENOKEY);
	CHECK(access(key, F_OK) != 0);
	/* Another key would match nobody. */
	write_text(key, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	CHECK_INT(chmod(key, 0600), 0);
	CHECK_INT(store_read_consents(dir, &kept), EKEYREJECTED);
	db_close(db);
	folder_remove(dir);
}

/* Another key would make a pseudonym that matches nobody once the right one is back. */
TEST(an_erasure_without_the_key_of_the_consents_fails)
{
	char key[64], away[72], *receipt = NULL;
	json_t *kept;

	open_with_words();
	answer_consent(ANA, 1500, "remembered");
	snprintf(key, sizeof key, "%s/subject-key", dir);
	snprintf(away, sizeof away, "%s.away", key);
	CHECK_INT(rename(key, away), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), ENOKEY);
	CHECK(!receipt && access(key, F_OK) != 0);
	CHECK_INT(rename(away, key), 0);
	CHECK_INT(erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(store_read_consents(dir, &kept), 0);
	CHECK_STR(state_of(kept, ANA), "heard");
	json_decref(kept);
	db_close(db);
	folder_remove(dir);
}

TEST(a_search_finds_every_encoding_also_across_blocks)
{
	static const char decimal[] = "501234567890123456";
	static struct scan s;
	char path[64], big[8], little[8];
	uint64_t hits = 0;
	FILE *f;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/file", dir);
	for (unsigned i = 0; i < 8; i++)
		little[i] = big[7 - i] = (char)(ANA >> 8 * i);
	f = fopen(path, "w");
	for (unsigned i = 0; i < (1 << 20) - 9; i++)
		putc('.', f);
	fputs(decimal, f);
	fwrite(big, 1, sizeof big, f);
	fwrite(little, 1, sizeof little, f);
	fprintf(f, " %llx", (unsigned long long)ANA);
	fclose(f);
	scan_add_id(&s, ANA);
	CHECK_INT(scan_file(&s, path, &hits), 0);
	CHECK_INT(hits, 4);
	scan_add_text(&s, "..");
	hits = 0;
	CHECK_INT(scan_file(&s, "/nowhere/at/all", &hits), 0);
	CHECK_INT(hits, 0);
	folder_remove(dir);
}

/* A line is not of person 5 for a time that has the digit. */
TEST(an_id_within_a_number_is_not_found)
{
	struct scan s = {0};

	scan_add_id(&s, 5);
	CHECK(!scan_holds(&s, "{\"at_ms\":1750,\"user\":\"501\"}"));
	CHECK(scan_holds(&s, "{\"at_ms\":1750,\"user\":\"5\"}"));
}

TEST(the_key_of_pseudonyms_is_made_once_and_kept_private)
{
	struct subject_key one, two;
	char path[64], a[SUBJECT_MAC], b[SUBJECT_MAC];
	struct stat st;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/subject-key", dir);
	CHECK_INT(subject_key_find(dir, &one), ENOENT);
	CHECK_INT(subject_key_read(dir, &one), 0);
	CHECK_INT(subject_key_read(dir, &two), 0);
	CHECK(memcmp(&one, &two, sizeof one) == 0);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	subject_mac(&one, ANA, a);
	subject_mac(&one, BOB, b);
	CHECK(strlen(a) == 32 && strcmp(a, b) != 0);
	write_text(path, "short");
	CHECK_INT(subject_key_read(dir, &one), EINVAL);
	folder_remove(dir);
}
