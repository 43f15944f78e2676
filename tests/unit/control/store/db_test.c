#include "control/store/db.h"
#include "control/store/db_merge.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "control/events/events.h"
#include "control/store/rows.h"
#include "control/store/store.h"
#include "tests/unit/control/store/old_schema.h"
#include "tests/unit/control/store/store_scene.h"
#include "tests/unit/ipc/loop.h"

static char dir[32], path[64];

static bool make_folder(void)
{
	bool made = folder_make(dir);

	snprintf(path, sizeof path, "%s/parley.db", dir);
	return made;
}

/* A number that SQL gives of the file, beside whoever has it open; -1 when there is none. */
static int number(const char *file, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int n = -1;

	if (sqlite3_open(file, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

static bool run(const char *file, const char *sql)
{
	sqlite3 *db = NULL;
	bool ok = sqlite3_open(file, &db) == SQLITE_OK &&
		  sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(db);
	return ok;
}

static struct bus_event utterance_of(uint64_t user, const char *text, uint64_t at_ms)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = at_ms, .guild = 1, .user = user};

	ev.utterance = (struct event_utterance){
		.session = 5, .utterance = 9, .name = "alice", .text = text, .started_ms = at_ms};
	return ev;
}

static struct bus_event turn_of(uint64_t user, uint64_t at_ms)
{
	struct bus_event ev = {.type = EVENT_TURN, .at_ms = at_ms, .guild = 1, .user = user};

	ev.turn = (struct event_turn){
		.session = 5,
		.channel = 300,
		.turn = 3,
		.name = "alice",
		.reason = "answered",
		.said = "the answer",
		.first_audio_ms = -1,
		.segments =
			"[{\"user\":\"501\",\"name\":\"alice\",\"utterance\":9,\"text\":\"hello\"},"
			"{\"user\":\"502\",\"name\":\"bob\",\"utterance\":10,\"text\":\"you\"}]",
		.why = "[{\"rule\":\"direct_address\",\"yes\":true,\"value\":1,\"limit\":1}]"};
	return ev;
}

TEST(a_new_database_is_made_private_and_ends_clean)
{
	struct db *db = NULL;
	struct stat st;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_CHECK), ENOENT);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(number(path, "SELECT value FROM meta WHERE key = 'clean'"), 0);
	db_close(db);
	CHECK_INT(number(path, "SELECT value FROM meta WHERE key = 'clean'"), 1);
	CHECK_INT(number(path, "PRAGMA integrity_check(1)"), 0); /* "ok" is no number */
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	folder_remove(dir);
}

TEST_OOM(a_database_survives_a_lack_of_memory)
{
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_OOM(db_open(&db, dir, DB_OWN), folder_remove(dir));
	db_close(db);
	folder_remove(dir);
}

TEST(an_older_database_is_migrated_after_a_copy_was_made)
{
	char before[96];
	struct db *db = NULL;
	struct bus_event ev = utterance_of(501, "hello", 1000);

	CHECK(make_folder());
	snprintf(before, sizeof before, "%s.before-2", path);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	db_close(db);
	/* As the first version left it. */
	CHECK(run(path, OLD_SCHEMA));
	CHECK(run(path, "INSERT INTO sessions(guild, started_ms) VALUES(1, 50), (2, 50), (1, 60);"
			"INSERT INTO utterances(guild, session, user, started_ms, ended_ms, source)"
			" VALUES(1, 50, 501, 100, 400, 'asr'), (1, 50, 502, 500, 520, 'asr'),"
			" (1, 50, 0, 600, 900, 'bot'), (2, 50, 501, 100, 107, 'asr');"
			"INSERT INTO speech(guild, session, user, started_ms, ended_ms)"
			" VALUES(1, 50, 502, 700, 704), (1, 50, 502, 900, 800)"));
	CHECK_INT(db_open(&db, dir, DB_JOIN), ENOTSUP);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK_INT(number(path, "PRAGMA user_version"), 29);
	CHECK_INT(number(path, "SELECT count(*) FROM guild_states"), 0);
	CHECK_INT(number(path, "SELECT count(*) FROM utterances"), 5);
	CHECK_INT(number(path, "SELECT count(*) FROM terms WHERE terms MATCH 'hello'"), 1);
	/* All that people said then, and nothing of the bot. */
	CHECK_INT(number(path, "SELECT spoken_ms FROM sessions WHERE guild = 1"
			       " AND started_ms = 50"),
		  324);
	CHECK_INT(number(path, "SELECT spoken_ms FROM sessions WHERE guild = 2"), 7);
	CHECK_INT(number(path, "SELECT spoken_ms FROM sessions WHERE started_ms = 60"), 0);
	CHECK_INT(number(before, "PRAGMA user_version"), 1);
	CHECK_INT(number(before, "SELECT count(*) FROM utterances"), 5);
	folder_remove(dir);
}

TEST(what_is_no_database_of_ours_is_left_alone)
{
	struct db *db = NULL;
	struct stat st;
	FILE *f;

	CHECK(make_folder());
	f = fopen(path, "w");
	CHECK(f);
	for (unsigned i = 0; i < 1000; i++)
		fputs("this is not a database\n", f);
	fclose(f);
	CHECK_INT(db_open(&db, dir, DB_OWN), EBADMSG);
	CHECK_INT(db_open(&db, dir, DB_CHECK), EBADMSG);
	CHECK(stat(path, &st) == 0 && st.st_size == 23000);
	unlink(path);
	/* Another program's. */
	CHECK(run(path, "CREATE TABLE theirs(x)"));
	CHECK_INT(db_open(&db, dir, DB_OWN), EBADMSG);
	CHECK_INT(number(path, "SELECT count(*) FROM sqlite_master"), 1);
	unlink(path);
	CHECK_INT(symlink("/dev/null", path), 0);
	CHECK_INT(db_open(&db, dir, DB_OWN), EBADMSG);
	folder_remove(dir);
}

static unsigned mode_of(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : st.st_mode & 0777;
}

TEST(a_database_that_others_can_reach_is_closed_or_left_alone)
{
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK_INT(chmod(path, 0602), 0);
	CHECK_INT(db_open(&db, dir, DB_OWN), EPERM);
	CHECK_INT(db_open(&db, dir, DB_READ), EPERM);
	CHECK_INT(chmod(path, 0644), 0);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK_INT(mode_of(path), 0600);
	if (geteuid() == 0) {
		CHECK_INT(chown(path, 0, 12345), 0);
		CHECK_INT(chmod(path, 0660), 0);
		CHECK_INT(db_open(&db, dir, DB_OWN), EPERM);
		CHECK_INT(chown(path, 12345, 12345), 0);
		CHECK_INT(chmod(path, 0600), 0);
		CHECK_INT(db_open(&db, dir, DB_OWN), EPERM);
		CHECK_INT(db_open(&db, dir, DB_READ), 0); /* an administrator looks */
		db_close(db);
	}
	folder_remove(dir);
}

/* Kubernetes does this to every file of a volume with fsGroup, at each start of a pod. */
TEST(a_database_that_a_group_of_this_process_can_write_is_closed_and_used)
{
	char copy[64];
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK_INT(chown(path, geteuid(), getegid()), 0);
	CHECK_INT(chmod(path, 0660), 0);
	CHECK_INT(db_open(&db, dir, DB_CHECK), 0);
	snprintf(copy, sizeof copy, "%s/copy", dir);
	CHECK_INT(db_backup(db, copy), 0);
	db_close(db);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK_INT(mode_of(path), 0600);
	folder_remove(dir);
}

/* In a directory that others can write to, anybody could put a log with pages of their own. */
TEST(a_database_with_parts_of_others_is_left_alone)
{
	struct db *db = NULL;
	char wal[80];
	FILE *f;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	snprintf(wal, sizeof wal, "%s-wal", path);
	f = fopen(wal, "w");
	CHECK(f);
	fclose(f);
	CHECK_INT(chmod(wal, 0602), 0);
	CHECK_INT(db_open(&db, dir, DB_OWN), EPERM);
	CHECK_INT(db_open(&db, dir, DB_READ), EPERM);
	unlink(wal);
	CHECK_INT(symlink(path, wal), 0);
	CHECK_INT(db_open(&db, dir, DB_OWN), EPERM);
	unlink(wal);
	if (geteuid() == 0) {
		f = fopen(wal, "w");
		CHECK(f);
		fclose(f);
		CHECK_INT(chown(wal, 12345, 12345), 0);
		CHECK_INT(chmod(wal, 0600), 0);
		CHECK_INT(db_open(&db, dir, DB_OWN), EPERM);
	}
	folder_remove(dir);
}

TEST(a_newer_database_is_left_alone)
{
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	CHECK(run(path, "PRAGMA user_version=99"));
	CHECK_INT(db_open(&db, dir, DB_OWN), ENOTSUP);
	CHECK_INT(number(path, "PRAGMA user_version"), 99);
	folder_remove(dir);
}

/* A control that takes over opens it before the other has ended. */
TEST(who_ends_while_another_goes_on_leaves_no_mark_of_a_clean_stop)
{
	struct db *first = NULL, *second = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&first, dir, DB_OWN), 0);
	CHECK_INT(db_open(&second, dir, DB_OWN), 0);
	db_close(first);
	CHECK_INT(number(path, "SELECT value FROM meta WHERE key = 'clean'"), 0);
	db_close(second);
	CHECK_INT(number(path, "SELECT value FROM meta WHERE key = 'clean'"), 1);
	folder_remove(dir);
}

/* Overwrites the file from the third page on. */
static bool spoil(void)
{
	char noise[4096];
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0;

	memset(noise, 0x5a, sizeof noise);
	for (off_t at = 2 * 4096; ok && at < 12 * 4096; at += 4096)
		ok = pwrite(fd, noise, sizeof noise, at) == sizeof noise;
	close(fd);
	return ok;
}

TEST(after_an_unclean_stop_the_pages_are_looked_through)
{
	struct bus_event ev = utterance_of(501, "hello", 1000);
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 0; i < 200; i++)
		CHECK_INT(rows_add(db, &ev, true), 0);
	db_close(db);
	CHECK(run(path, "UPDATE meta SET value = 0 WHERE key = 'clean'"));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0); /* nothing is wrong with it */
	db_close(db);
	CHECK(run(path, "UPDATE meta SET value = 0 WHERE key = 'clean'"));
	CHECK(spoil());
	CHECK_INT(db_open(&db, dir, DB_OWN), EUCLEAN);
	CHECK_INT(db_open(&db, dir, DB_CHECK), 0);
	CHECK_INT(db_check_integrity(db), EUCLEAN);
	db_close(db);
	folder_remove(dir);
}

static bool damage_page(int n, int size)
{
	FILE *f = fopen(path, "r+");
	bool ok = f && fseek(f, (long)(n - 1) * size, SEEK_SET) == 0;

	for (int i = 0; i < size && ok; i++)
		ok = fputc(0xff, f) != EOF;
	return f && fclose(f) == 0 && ok;
}

/* Who found the damage does not hide it from the next one. */
TEST(a_database_whose_damage_was_found_is_not_marked_clean)
{
	struct bus_event ev = utterance_of(501, "hello", 1000);
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 0; i < 200; i++)
		CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(db_truncate_wal(db), 0);
	CHECK(damage_page(number(path, "SELECT rootpage FROM sqlite_schema"
				       " WHERE name = 'utterances'"),
			  4096));
	db_close(db);
	CHECK_INT(number(path, "SELECT value FROM meta WHERE key = 'clean'"), 1);
	db = NULL;
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), EUCLEAN);
	db_close(db);
	CHECK_INT(number(path, "SELECT value FROM meta WHERE key = 'clean'"), 0);
	CHECK_INT(db_open(&db, dir, DB_OWN), EUCLEAN);
	folder_remove(dir);
}

TEST(a_backup_is_whole_and_of_one_file_while_others_write)
{
	struct bus_event ev = utterance_of(501, "hello", 1000);
	struct db *db = NULL, *other = NULL;
	char file[80], wal[96];
	struct stat st;

	CHECK(make_folder());
	snprintf(file, sizeof file, "%s/backup", dir);
	snprintf(wal, sizeof wal, "%s-wal", file);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(db_open(&other, dir, DB_JOIN), 0);
	CHECK_INT(db_begin(db), 0);
	CHECK_INT(rows_add(db, &ev, true), 0); /* not committed */
	CHECK_INT(db_backup(other, file), 0);
	CHECK_INT(db_commit(db), 0);
	CHECK_INT(stat(file, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK(stat(wal, &st) != 0);
	CHECK_INT(number(file, "SELECT count(*) FROM utterances"), 1);
	CHECK_INT(db_backup(other, file), 0); /* replaces it */
	CHECK_INT(number(file, "SELECT count(*) FROM utterances"), 2);
	db_close(other);
	other = NULL;
	CHECK_INT(db_open_file(&other, file, DB_CHECK), 0);
	CHECK_INT(db_check_integrity(other), 0);
	db_close(other);
	db_close(db);
	folder_remove(dir);
}

/* A copy that keeps recordings for ever is none. */
TEST(a_copy_that_cannot_be_rid_of_its_recordings_fails)
{
	struct db *db = NULL;
	char file[96];

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	db_close(db);
	db = NULL;
	CHECK(damage_page(
		number(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'recordings'"),
		number(path, "PRAGMA page_size")));
	CHECK_INT(db_open(&db, dir, DB_CHECK), 0);
	snprintf(file, sizeof file, "%s/backup", dir);
	CHECK_INT(db_backup(db, file), EUCLEAN);
	db_close(db);
	folder_remove(dir);
}

/* The database may be a stranger's. */
TEST(a_trigger_does_not_run_in_a_copy)
{
	struct db *db = NULL;
	char file[96];

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(run(path, "CREATE TABLE ran(x);"
			"CREATE TRIGGER runs BEFORE DELETE ON recordings BEGIN"
			" INSERT INTO ran VALUES(1); END;"
			"INSERT INTO recordings(guild, session, utterance, user, at_ms, ms, sound)"
			" VALUES(1, 2, 3, 4, 5, 6, x'00')"));
	snprintf(file, sizeof file, "%s/backup", dir);
	CHECK_INT(db_backup(db, file), 0);
	CHECK_INT(number(file, "SELECT count(*) FROM recordings"), 0);
	CHECK_INT(number(file, "SELECT count(*) FROM ran"), 0);
	db_close(db);
	folder_remove(dir);
}

TEST(a_folder_may_be_reached_by_a_symbolic_link)
{
	struct db *db = NULL;
	char link[64], file[96];

	CHECK(make_folder());
	snprintf(link, sizeof link, "%s/link", dir);
	snprintf(file, sizeof file, "%s/backup", link);
	CHECK_INT(symlink(".", link), 0);
	CHECK_INT(db_open(&db, link, DB_OWN), 0); /* as systemd has it with DynamicUser= */
	CHECK_INT(db_backup(db, file), 0);
	db_close(db);
	db = NULL;
	CHECK_INT(db_open_file(&db, file, DB_CHECK), 0);
	db_close(db);
	folder_remove(dir);
}

TEST(a_backup_never_replaces_the_database)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	struct bus_event ev = utterance_of(501, "hello", 1000);
	struct db *db = NULL, *other = NULL;
	char file[80];

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(db_open(&other, dir, DB_CHECK), 0);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(file, sizeof file, "%s/./parley.db%s", dir, ends[i]);
		CHECK_INT(db_backup(other, file), EEXIST);
	}
	CHECK_INT(rows_add(db, &ev, true), 0);
	db_close(other);
	db_close(db);
	CHECK_INT(number(path, "SELECT count(*) FROM utterances"), 2);
	folder_remove(dir);
}

static _Atomic unsigned synced;

/* SQLite's; the disk itself is not waited for. */
int fdatasync(int fd)
{
	(void)fd;
	synced++;
	return 0;
}

TEST(a_synced_commit_is_on_the_disk_when_it_returns)
{
	struct bus_event ev = utterance_of(501, "hello", 1000);
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 0; i < 4; i++) {
		synced = 0;
		CHECK_INT(i % 2 ? db_begin_synced(db) : db_begin(db), 0);
		CHECK_INT(rows_add(db, &ev, true), 0);
		CHECK_INT(db_commit(db), 0);
		CHECK_INT(synced, i % 2);
	}
	db_close(db);
	folder_remove(dir);
}

static void on_written(int err, void *arg)
{
	CHECK_INT(err, 0);
	env_stop(arg);
}

/* How often the disk is waited for while this event becomes a row; below 0: it did not. */
static int syncs_of(const struct bus_event *ev)
{
	struct store_scene *s = &store_scene;

	synced = 0;
	bus_publish(s->bus, ev);
	if (store_sync(s->store, on_written, s->l.env) || !loop_run(&s->l))
		return -1;
	return (int)synced;
}

/* A cut of power after an order takes no row of it. */
TEST(rows_of_the_audit_are_on_the_disk_when_they_are_written)
{
	const struct bus_event order = {.type = EVENT_OPERATOR_ACTION,
					.at_ms = 1790000000000,
					.action = {.kind = "say", .target = "server 1"}};
	const struct bus_event fault = {
		.type = EVENT_FAULT, .at_ms = 1790000000000, .guild = 1, .fault = {.fault = "x"}};

	store_scene_begin();
	store_scene_open(NULL);
	syncs_of(&fault); /* the database is made */
	CHECK_INT(syncs_of(&fault), 0);
	CHECK_INT(syncs_of(&order), 1);
	CHECK_INT(syncs_of(&fault), 0);
	store_scene_close();
	store_scene_end();
}

/* ---- rows ---- */

TEST(a_turn_is_kept_with_its_segments_and_its_rules)
{
	struct bus_event ev = turn_of(501, 1000);
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(rows_add(db, &ev, false), 0);
	CHECK_INT(number(path, "SELECT count(*) FROM segments"), 4);
	CHECK_INT(number(path, "SELECT count(*) FROM segments WHERE text IS NULL"), 2);
	CHECK_INT(number(path, "SELECT count(*) FROM turns WHERE said IS NULL"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM turns"
			       " WHERE why = '[[\"direct_address\",true,1,1]]'"),
		  2);
	CHECK_INT(number(path, "SELECT count(*) FROM turns WHERE first_audio_ms IS NULL"), 2);
	db_close(db);
	folder_remove(dir);
}

TEST(words_tell_whether_text_of_strangers_was_read_before_them)
{
	struct bus_event before = turn_of(501, 1000), after = turn_of(501, 2000),
			 call = {.type = EVENT_TOOL_CALLED, .at_ms = 1500, .guild = 1, .user = 501};
	struct db *db = NULL;
	json_t *lines;

	after.turn.turn = before.turn.turn + 1;
	call.tool = (struct event_tool){.session = 5,
					.turn = after.turn.turn,
					.call = 1,
					.name = "web_search",
					.code = "ok",
					.tainted = true};
	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &before, true), 0);
	CHECK_INT(rows_add(db, &call, true), 0);
	CHECK_INT(rows_add(db, &after, true), 0);
	db_close(db);
	lines = store_read_words(dir, 1, 300, 5);
	CHECK_INT(json_array_size(lines), 6);
	CHECK(json_is_false(json_object_get(json_array_get(lines, 2), "tainted")));
	CHECK(json_is_true(json_object_get(json_array_get(lines, 5), "tainted")));
	json_decref(lines);
	folder_remove(dir);
}

static size_t count_words(void)
{
	json_t *lines = store_read_words(dir, 1, 300, 5);
	size_t n = json_array_size(lines);

	json_decref(lines);
	return n;
}

/* Neither the line that told it nor the answer that repeats it. */
TEST(turns_with_a_forgotten_fact_are_not_told_to_the_next_control)
{
	struct bus_event first = turn_of(501, 1000), second = turn_of(501, 2000);
	struct db *db = NULL;

	second.turn.turn = first.turn.turn + 1;
	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &first, true), 0);
	CHECK_INT(rows_add(db, &second, true), 0);
	db_close(db);
	CHECK(run(path, "UPDATE segments SET utterance = utterance + 10 WHERE turn_seq = 2"));
	CHECK(run(path, "INSERT INTO utterances(guild, session, utterance, user, text) SELECT 1, 5,"
			" utterance, user, text FROM segments"));
	CHECK_INT(count_words(), 6);
	CHECK(run(path, "UPDATE utterances SET forgotten = 1 WHERE source = 'bot'"
			" AND turn = (SELECT min(turn) FROM turns)"));
	CHECK_INT(count_words(), 3);
	CHECK(run(path, "UPDATE utterances SET forgotten = NULL"));
	CHECK(run(path, "UPDATE utterances SET forgotten = 1 WHERE utterance ="
			" (SELECT max(utterance) FROM segments)"));
	CHECK_INT(count_words(), 3);
	folder_remove(dir);
}

/* What the next control tells the models of a conversation. */
TEST(words_of_answered_turns_are_read_in_their_order)
{
	struct bus_event first = turn_of(501, 1000), cut = turn_of(502, 2000),
			 denied = turn_of(501, 3000), wordless = turn_of(501, 4000);
	struct db *db = NULL;
	json_t *lines;

	cut.turn.reason = "interrupted";
	cut.turn.said = "half";
	denied.turn.reason = "not_addressed";
	denied.turn.said = "";
	CHECK(make_folder());
	CHECK(!store_read_words(dir, 1, 300, 5));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &first, true), 0);
	CHECK_INT(rows_add(db, &cut, true), 0);
	CHECK_INT(rows_add(db, &denied, true), 0);
	CHECK_INT(rows_add(db, &wordless, false), 0); /* store_words_hours is 0 */
	db_close(db);
	lines = store_read_words(dir, 1, 300, 5);
	CHECK_INT(json_array_size(lines), 6);
	for (size_t i = 0; i < 6; i++) {
		static const char *const texts[] = {"hello", "you", "the answer",
						    "hello", "you", "half"};
		const json_t *x = json_array_get(lines, i);

		CHECK_STR(json_string_value(json_object_get(x, "text")), texts[i]);
		CHECK_INT(json_is_true(json_object_get(x, "bot")), i % 3 == 2);
		CHECK_INT(json_is_true(json_object_get(x, "cut")), i == 5);
	}
	CHECK_STR(json_string_value(json_object_get(json_array_get(lines, 1), "name")), "bob");
	json_decref(lines);
	lines = store_read_words(dir, 1, 300, 6); /* of another conversation */
	CHECK_INT(json_array_size(lines), 0);
	json_decref(lines);
	lines = store_read_words(dir, 1, 301, 5); /* of another channel */
	CHECK_INT(json_array_size(lines), 0);
	json_decref(lines);
	lines = store_read_words(dir, 2, 300, 5);
	CHECK_INT(json_array_size(lines), 0);
	json_decref(lines);
	folder_remove(dir);
}

TEST(every_kept_event_has_a_row)
{
	struct db *db = NULL;

	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		struct bus_event ev = {.type = (enum event_type)i, .at_ms = 1, .guild = 1};

		if (rows_kept(&ev))
			CHECK_INT(rows_add(db, &ev, true), 0);
	}
	CHECK_INT(number(path, "SELECT count(*) FROM sessions"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM speech"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM audit"),
		  3); /* setting_changed, operator_action, order_ended */
	CHECK_INT(number(path, "SELECT count(*) FROM costs"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM events"),
		  14); /* member, engine_refused, failover, fault, command, memory_written,
			  text_message, of a share: created, reused, stopped, shown, hidden, and
			  of a video: shown, over */
	db_close(db);
	folder_remove(dir);
}

TEST(words_expire_before_what_else_is_known)
{
	const uint64_t day = 86400000;
	struct bus_event old = utterance_of(501, "hello", 10 * day), young = old, ancient = old,
			 turn = turn_of(501, 10 * day);
	const struct bus_event call = {.type = EVENT_TOOL_CALLED,
				       .at_ms = 10 * day,
				       .guild = 1,
				       .tool = {.name = "roll", .code = "ok", .arguments = "00ff"}};
	struct db *db = NULL;
	unsigned changed;

	young.at_ms = young.utterance.started_ms = 40 * day;
	ancient.at_ms = ancient.utterance.started_ms = day;
	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ancient, true), 0);
	CHECK_INT(rows_add(db, &old, true), 0);
	CHECK_INT(rows_add(db, &young, true), 0);
	CHECK_INT(rows_add(db, &turn, true), 0);
	CHECK_INT(rows_add(db, &call, true), 0);
	CHECK_INT(rows_expire(db, 39 * day, 39 * day, &changed), 0);
	/* words of two utterances and an answer, a turn, its segments, a call; a row */
	CHECK_INT(changed, 3 + 1 + 2 + 1 + 1);
	CHECK_INT(number(path, "SELECT count(*) FROM tool_calls WHERE arguments IS NULL"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM utterances"), 3);
	CHECK_INT(number(path, "SELECT count(*) FROM utterances WHERE text IS NOT NULL"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM turns"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM segments WHERE text IS NOT NULL"), 0);
	CHECK_INT(rows_expire(db, 41 * day, 39 * day, &changed), 0);
	CHECK_INT(number(path, "SELECT count(*) FROM turns"), 0);
	CHECK_INT(number(path, "SELECT count(*) FROM segments"), 0);
	db_close(db);
	folder_remove(dir);
}

TEST(marks_of_sessions_go_with_the_sessions)
{
	const uint64_t day = 86400000;
	struct bus_event old = {.type = EVENT_SESSION_STARTED, .at_ms = 10 * day, .guild = 1};
	struct bus_event young = old;
	struct db *db = NULL;
	unsigned changed;

	old.session = (struct event_session){.session = 10 * day, .channel = 2};
	young.session = (struct event_session){.session = 40 * day, .channel = 2};
	young.at_ms = 40 * day;
	CHECK(make_folder());
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &old, true), 0);
	CHECK_INT(rows_add(db, &young, true), 0);
	CHECK_INT(number(path, "INSERT INTO meta SELECT kind.value || g.guild || ':' ||"
			       " g.started_ms, 5 FROM sessions g,"
			       " json_each('[\"extracted:\",\"summed:\"]') kind RETURNING 0"),
		  0);
	CHECK_INT(rows_expire(db, 39 * day, day, &changed), 0);
	CHECK_INT(number(path, "SELECT count(*) FROM meta WHERE key LIKE '%:%'"), 4);
	CHECK_INT(rows_expire(db, 41 * day, day, &changed), 0);
	CHECK_INT(number(path, "SELECT count(*) FROM sessions"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM meta WHERE key LIKE '%:%'"), 2);
	CHECK_INT(number(path, "SELECT count(*) FROM meta WHERE key = 'claim'"), 1);
	db_close(db);
	folder_remove(dir);
}

static bool file_holds(const char *file, const char *text)
{
	static char all[1 << 20];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(all, 1, sizeof all, f) : 0;

	if (f)
		fclose(f);
	return memmem(all, n, text, strlen(text)) != NULL;
}

TEST(an_erased_person_leaves_no_word_in_any_file)
{
	struct bus_event own = utterance_of(501, "xyzzyplugh", 1000),
			 other = utterance_of(502, "frobozz", 1000), turn = turn_of(501, 1000);
	struct db *db = NULL, *beside = NULL;
	char wal[80];

	CHECK(make_folder());
	snprintf(wal, sizeof wal, "%s-wal", path);
	turn.turn.name = "plughalice";
	turn.turn.said = "xyzzyplugh indeed";
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &own, true), 0);
	CHECK_INT(rows_add(db, &other, true), 0);
	CHECK_INT(rows_add(db, &turn, true), 0);
	CHECK(file_holds(path, "xyzzyplugh") || file_holds(wal, "xyzzyplugh"));
	CHECK_INT(db_open(&beside, dir, DB_JOIN), 0); /* another process */
	CHECK_INT(db_begin_synced(beside), 0);
	CHECK_INT(rows_run_erasers(beside, 501, NULL, NULL), 0);
	CHECK_INT(db_commit(beside), 0);
	CHECK_INT(db_merge_terms(beside), 0);
	CHECK_INT(db_truncate_wal(beside), 0);
	CHECK(!file_holds(path, "plugh") && !file_holds(wal, "plugh"));
	CHECK(file_holds(path, "frobozz"));
	CHECK_INT(number(path, "SELECT count(*) FROM turns WHERE user = 0 AND name = 'erased'"), 1);
	CHECK_INT(number(path, "SELECT count(*) FROM segments"), 1);
	CHECK_INT(rows_add(db, &other, true), 0); /* the control that runs goes on */
	db_close(beside);
	db_close(db);
	folder_remove(dir);
}
