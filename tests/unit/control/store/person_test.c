/* One person in the store: the receipt of an erasure, what a restored backup brings back, the
 * export, consents. */
#include "tests/unit/control/store/person_scene.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "control/store/store.h"
#include "control/store/consent_file.h"
#include "control/store/deletions.h"
#include "control/words/words.h"
#include "control/store/export.h"
#include "control/store/fact_people.h"
#include "control/store/receipt.h"
#include "control/store/rows.h"
#include "control/store/scan.h"
#include "control/store/subject.h"
#include "control/events/events.h"
#include "control/state.h"

TEST(an_erasure_reaches_turn_files_and_journals_of_rooms)
{
	char turns[64], old[72], rooms[64], journal[96], other[96], line[256] = "", *receipt = NULL;
	FILE *f;

	person_open();
	snprintf(turns, sizeof turns, "%s/turns", person_dir);
	snprintf(rooms, sizeof rooms, "%s/rooms", person_dir);
	snprintf(journal, sizeof journal, "%s/one", rooms);
	snprintf(other, sizeof other, "%s/two", rooms);
	CHECK_INT(mkdir(rooms, 0700), 0);
	snprintf(old, sizeof old, "%s.old", turns);
	person_write(turns,
		     "{\"user\":\"501234567890123456\"}\n{\"user\":\"502234567890123456\"}\n");
	person_write(old, "{\"user\":\"501234567890123456\"}\n");
	person_write(journal, "xx501234567890123456yy");
	person_write(other, "nothing of hers");
	CHECK_INT(person_erase_ana(turns, rooms, &receipt), 0);
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
	db_close(person_db);
	unlink(other);
	rmdir(rooms);
	folder_remove(person_dir);
}

/* A store that nobody erases, in a database of ours. */
TEST(a_receipt_tells_of_what_is_left)
{
	struct words sentence = {0};
	char *receipt = NULL;
	struct sqlite3_stmt *s;

	person_open();
	s = db_use(person_db, DB_SET_META);
	db_bind_text(s, 1, "forgotten store");
	db_bind_text(s, 2, "501234567890123456");
	CHECK_INT(db_run(person_db, s), 0);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	CHECK(!strstr(receipt, "\"traces\":0"));
	CHECK_INT(receipt_tell(&sentence, receipt), 0);
	CHECK(strstr(sentence.text, "found 1 trace:"));
	free(receipt);
	db_close(person_db);
	folder_remove(person_dir);
}

TEST(an_older_backup_does_not_bring_an_erased_person_back)
{
	char backup[64], path[64], *receipt = NULL, *document = NULL;
	unsigned people = 9;

	person_open();
	snprintf(path, sizeof path, "%s/parley.db", person_dir);
	snprintf(backup, sizeof backup, "%s/copy", person_dir);
	CHECK_INT(deletions_replay(person_dir, &people), 0); /* nobody was erased */
	CHECK_INT(people, 0);
	CHECK_INT(db_backup(person_db, backup), 0);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	db_close(person_db);
	CHECK_INT(deletions_replay(person_dir, &people), 0);
	CHECK_INT(people, 0);
	CHECK_INT(rename(backup, path), 0);
	CHECK_INT(deletions_replay(person_dir, &people), 0);
	CHECK_INT(people, 1);
	person_db = NULL;
	CHECK_INT(db_open(&person_db, person_dir, DB_OWN), 0);
	CHECK_INT(export_person(person_db, ANA, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(!strstr(document, "frobozz"));
	free(document);
	CHECK_INT(export_person(person_db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(strstr(document, "plugh"));
	free(document);
	db_close(person_db);
	folder_remove(person_dir);
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
	const struct erase e = {.dir = person_dir, .user = BOB, .now_ms = 2001, .via = "test"};
	char *receipt = NULL;
	int err = erase_person(person_db, &e, &receipt);

	free(receipt);
	return err;
}

static void restore_and_replay(const char *stuck, int *err, unsigned *people)
{
	char backup[64], path[64], *receipt = NULL;

	person_open();
	snprintf(path, sizeof path, "%s/parley.db", person_dir);
	snprintf(backup, sizeof backup, "%s/copy", person_dir);
	CHECK_INT(db_backup(person_db, backup), 0);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(erase_bob(), 0);
	db_close(person_db);
	CHECK_INT(rename(backup, path), 0);
	CHECK(run_on_file(path, stuck));
	*err = deletions_replay(person_dir, people);
}

static bool is_told_of_nobody(void)
{
	struct state_kept kept = {0};
	bool is;

	state_read(person_dir, &kept);
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
	person_db = NULL;
	CHECK_INT(db_open(&person_db, person_dir, DB_OWN), 0);
	CHECK_INT(export_person(person_db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(!strstr(document, "plugh"));
	free(document);
	db_close(person_db);
	CHECK(is_told_of_nobody());
	folder_remove(person_dir);
}

/* The control that starts tells nobody of her, and erases her (control_take_erase_requests). */
TEST(an_erasure_of_a_backup_that_is_requested_again_stops_nothing)
{
	unsigned people = 9;
	int err;

	restore_and_replay(STUCK_ROWS, &err, &people);
	CHECK_INT(err, 0);
	CHECK_INT(people, 1);
	CHECK(store_has_erase_requests(person_dir));
	CHECK(!is_told_of_nobody());
	folder_remove(person_dir);
}

static bool is_requested(void)
{
	bool is = db_step(person_db, person_use(DB_FIND_ERASE_REQUEST, ANA)) == 0;

	db_use(person_db, DB_FIND_ERASE_REQUEST);
	return is;
}

static uint64_t count_words(const char *file)
{
	struct scan scan = {0};
	char path[64];
	uint64_t hits = 0;

	scan_add_text(&scan, WORDS_OF_ANA);
	snprintf(path, sizeof path, "%s/%s", person_dir, file);
	return scan_file(&scan, path, &hits) ? 99 : hits;
}

static void check_texts(uint64_t now_ms, bool kept)
{
	struct sqlite3_stmt *s;
	unsigned changed;
	bool keeps;

	CHECK_INT(rows_expire(person_db, now_ms, 0, &changed), 0);
	s = person_use(DB_GET_ERASE_PROGRESS, ANA);
	keeps = db_step(person_db, s) == 0 && strstr(db_text(s, 0), WORDS_OF_ANA);
	db_use(person_db, DB_GET_ERASE_PROGRESS); /* ends the read */
	CHECK(keeps == kept);
}

/* Its files can never be read: what she had said is in the database for a week, and no longer. */
TEST(an_erasure_that_cannot_end_keeps_no_words_for_ever)
{
	const uint64_t day = 86400000;
	char turns[64], *receipt = NULL;

	person_open();
	snprintf(turns, sizeof turns, "%s/turns", person_dir);
	CHECK_INT(symlink("/nowhere", turns), 0);
	CHECK_INT(person_erase_ana(turns, NULL, &receipt), ELOOP);
	check_texts(6 * day, true);
	/* Another try of it begins no other week. */
	CHECK_INT(erase_request(person_db, ANA, 6 * day), 0);
	CHECK_INT(person_erase_ana(turns, NULL, &receipt), ELOOP);
	check_texts(8 * day, false);
	CHECK(is_requested());
	unlink(turns);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"texts\":0"));
	free(receipt);
	db_close(person_db);
	folder_remove(person_dir);
}

/* The turn file cannot be read, as after a crash before its turn came. */
TEST(an_interrupted_erasure_stays_requested_until_it_is_done)
{
	char turns[64], *receipt = NULL;
	unsigned people = 9;

	person_open();
	snprintf(turns, sizeof turns, "%s/turns", person_dir);
	CHECK_INT(symlink("/nowhere", turns), 0);
	CHECK_INT(person_erase_ana(turns, NULL, &receipt), ELOOP);
	CHECK(is_requested());
	db_close(person_db);
	CHECK(store_has_erase_requests(person_dir));
	/* It reaches the rows alone, so it leaves the rest to the control that starts. */
	CHECK_INT(deletions_replay(person_dir, &people), 0);
	CHECK_INT(people, 0);
	CHECK(store_has_erase_requests(person_dir));
	unlink(turns);
	/* Bob's turn quotes her: the rows that say so are gone. */
	person_write(turns, "{\"user\":\"501234567890123456\"}\n"
			    "{\"said\":\"" WORDS_OF_ANA "\"}\n{\"said\":\"hello\"}\n");
	person_db = NULL;
	CHECK_INT(db_open(&person_db, person_dir, DB_OWN), 0);
	CHECK_INT(erase_request(person_db, ANA, 4000), 0);
	CHECK_INT(person_erase_ana(turns, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"turn_lines\":2") && strstr(receipt, "\"traces\":0"));
	CHECK(strstr(receipt, "\"utterances\":1") && strstr(receipt, "\"texts\":1"));
	CHECK_INT(count_words("parley.db") + count_words("parley.db-wal"), 0);
	CHECK(!is_requested());
	free(receipt);
	db_close(person_db);
	CHECK(!store_has_erase_requests(person_dir));
	folder_remove(person_dir);
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
		int err = db_open(&its, person_dir, DB_JOIN);

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

	CHECK(folder_make(person_dir));
	begin_other();
	person_db = NULL;
	CHECK_INT(db_open(&person_db, person_dir, DB_OWN), 0);
	person_says(ANA, WORDS_OF_ANA);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	ask_other('.');
	ask_other('!');
	CHECK(is_requested());
	CHECK_INT(db_run(person_db, person_use(DB_END_ERASE_REQUEST, ANA)), 0);
	CHECK_INT(db_open(&second, person_dir, DB_READ), 0); /* as the nightly check */
	db_close(second);
	ask_other('.');
	ask_other('!');
	CHECK(is_requested());
	db_close(person_db);
	end_other();
	folder_remove(person_dir);
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
	CHECK_INT(rows_add(person_db, &ev, true), 0);
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
	CHECK_INT(rows_add(person_db, &turn, true), 0);
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

		person_open();
		quote_ana(of[i].session, 3, of[i].why);
		CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
		CHECK(strstr(receipt, "\"said\":1") && strstr(receipt, "\"utterances\":2"));
		CHECK(strstr(receipt, "\"traces\":0"));
		free(receipt);
		db_close(person_db);
		folder_remove(person_dir);
	}
}

/* The second answer repeats the first one, from the history of the conversation. */
TEST(an_erasure_reaches_echoes_of_a_quote)
{
	char *receipt = NULL;

	person_open();
	quote_ana(8, 3, "[{\"rule\":\"memory_fact\",\"yes\":true,\"value\":1,\"limit\":0}]");
	quote_ana(8, 4, "[]");
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"said\":2") && strstr(receipt, "\"traces\":0"));
	free(receipt);
	db_close(person_db);
	folder_remove(person_dir);
}

TEST(a_receipt_tells_of_quotes_that_stay)
{
	char *receipt = NULL;

	person_open();
	quote_ana(8, 3, "[]");
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"scan\"") && !strstr(receipt, "\"traces\":0"));
	free(receipt);
	db_close(person_db);
	folder_remove(person_dir);
}

TEST(an_erasure_leaves_servers_alone_that_never_knew_the_person)
{
	char *receipt = NULL, *document = NULL;

	person_open();
	say_bot(7, "somebody said the frobozz numbers are in");
	say_bot(8, "somebody said the harbour is closed");
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	free(receipt);
	CHECK_INT(export_person(person_db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	CHECK(!strstr(document, "numbers are in"));
	CHECK(strstr(document, "harbour is closed"));
	free(document);
	db_close(person_db);
	folder_remove(person_dir);
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

	person_open();
	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
	CHECK_INT(export_person(person_db, ANA, 3000, 0, &(uint64_t){0}, &text), 0);
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
	db_close(person_db);
	folder_remove(person_dir);
}

static void add_fact(uint64_t owner, uint64_t author, const char *text, bool bound)
{
	struct fact_person of = {ANA, bound};
	const struct fact_people people = {1, &of};
	sqlite3_stmt *s = db_use(person_db, DB_IMPORT_FACT);

	db_bind_uint(s, 1, 7);
	db_bind_uint(s, 2, owner);
	db_bind_uint(s, 3, author);
	db_bind_text(s, 4, "x");
	db_bind_text(s, 5, "plan");
	db_bind_text(s, 6, "[]");
	db_bind_text(s, 7, text);
	db_bind_uint(s, 8, 1000);
	db_bind_uint(s, 9, 1000);
	CHECK_INT(db_run(person_db, s), 0);
	CHECK_INT(fact_people_add(person_db, db_last_row(person_db), &people), 0);
}

/* Lines of others hold neither the id nor the words of a line of hers. */
TEST(turn_file_lines_that_may_quote_the_person_are_erased)
{
	char turns[64], *receipt = NULL, left[512] = "";
	FILE *f;

	person_open();
	snprintf(turns, sizeof turns, "%s/turns", person_dir);
	person_write(turns,
		     "{\"guild\":\"7\",\"user\":\"502\",\"said\":\"her PIN is 4711\"}\n"
		     "{\"guild\":\"7\",\"user\":\"502\",\"segments\":[{\"text\":\"4711\"}]}\n"
		     "{\"guild\":\"7\",\"user\":\"502\",\"said\":\"\",\"segments\":[{}]}\n"
		     "{\"guild\":\"8\",\"user\":\"502\",\"said\":\"it rains\"}\n"
		     "half a line\n");
	CHECK_INT(person_erase_ana(turns, NULL, &receipt), 0);
	CHECK(receipt && strstr(receipt, "\"turn_lines\":2"));
	f = fopen(turns, "r");
	CHECK(f && fread(left, 1, sizeof left - 1, f) > 0);
	if (f)
		fclose(f);
	CHECK(!strstr(left, "4711") && strstr(left, "it rains") && strstr(left, "half a line"));
	CHECK(strstr(left, "\"segments\":[{}]"));
	free(receipt);
	db_close(person_db);
	folder_remove(person_dir);
}

/* Nobody else's private memory, nothing that was told in a channel, and no name that may be another
 * person's. */
TEST(an_export_holds_what_others_told_everybody_about_the_person)
{
	char *text = NULL;
	json_t *j, *list;

	person_open();
	add_fact(0, BOB, "Ana likes rye", true);
	add_fact(BOB, BOB, "Ana owes me a coffee", true);
	add_fact(0, BOB, "Ana sails", false);
	add_fact(0, ANA, "Ana is me", true);
	/* Two moderators said it among themselves. */
	add_fact(0, BOB, "Ana will be banned", true);
	CHECK(person_sql("UPDATE facts SET channels = '[\"4711\"]'"
			 " WHERE text = 'Ana will be banned'"));
	CHECK_INT(export_person(person_db, ANA, 3000, 0, &(uint64_t){0}, &text), 0);
	j = json_loads(text, 0, NULL);
	list = json_object_get(j, "facts_about");
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "text")),
		  "Ana likes rye");
	CHECK(!strstr(text, "502234567890123456") && !strstr(text, "coffee"));
	CHECK_INT(json_array_size(json_object_get(j, "facts")), 1);
	json_decref(j);
	free(text);
	db_close(person_db);
	folder_remove(person_dir);
}

TEST(a_search_finds_every_encoding_also_across_blocks)
{
	static const char decimal[] = "501234567890123456";
	static struct scan s;
	char path[64], big[8], little[8];
	uint64_t hits = 0;
	FILE *f;

	CHECK(folder_make(person_dir));
	snprintf(path, sizeof path, "%s/file", person_dir);
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
	folder_remove(person_dir);
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

	CHECK(folder_make(person_dir));
	snprintf(path, sizeof path, "%s/subject-key", person_dir);
	CHECK_INT(subject_key_find(person_dir, &one), ENOENT);
	CHECK_INT(subject_key_read(person_dir, &one), 0);
	CHECK_INT(subject_key_read(person_dir, &two), 0);
	CHECK(memcmp(&one, &two, sizeof one) == 0);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	subject_mac(&one, ANA, a);
	subject_mac(&one, BOB, b);
	CHECK(strlen(a) == 32 && strcmp(a, b) != 0);
	person_write(path, "short");
	CHECK_INT(subject_key_read(person_dir, &one), EINVAL);
	folder_remove(person_dir);
}
