#include "control/store_commands.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/erased_told.h"
#include "control/events/events.h"
#include "control/store/consents.h"
#include "control/state.h"
#include "control/store/db.h"
#include "control/store/erase_fault.h"
#include "control/store/memory_file.h"
#include "control/store/rows.h"
#include "control/store/session_file.h"
#include "control/store/store.h"
#include "tests/unit/ipc/loop.h"

TEST(a_backup_holds_what_an_erased_person_said_no_more)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = 1, .guild = 1, .user = 501000000000000000};
	char dir[32], file[64], before[64];
	struct db *db = NULL;
	struct sqlite3_stmt *s;
	FILE *f;

	CHECK(folder_make(dir));
	snprintf(file, sizeof file, "%s/copy", dir);
	snprintf(before, sizeof before, "%s/parley.db.before-2", dir);
	CHECK_INT(store_command_backup(dir, file), 1); /* there is none */
	ev.utterance = (struct event_utterance){.text = "hello", .started_ms = 1};
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	f = fopen(before, "w");
	CHECK(f);
	fclose(f);
	CHECK_INT(store_command_erase(dir, "nobody", NULL), 2);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	CHECK(access(before, F_OK) != 0);
	CHECK_INT(store_command_backup(dir, file), 0);
	CHECK_INT(store_command_backup(dir, "/nowhere/at/all"), 1);
	db_close(db);
	db = NULL;
	CHECK_INT(db_open_file(&db, file, DB_READ), 0);
	s = db_use(db, DB_FIND_UNUSED);
	db_bind_uint(s, 2, 0);
	db_bind_uint(s, 3, 0);
	db_bind_uint(s, 4, 0);
	db_bind_uint(s, 5, 9);
	CHECK_INT(db_step(db, s), ENOENT);
	db_close(db);
	folder_remove(dir);
}

TEST(the_audit_is_checked_and_exported_from_the_command_line)
{
	struct bus_event ev = {.type = EVENT_OPERATOR_ACTION,
			       .at_ms = 1,
			       .action = {.actor = "nobody", .kind = "sign_in"}};
	struct db *db = NULL;
	char dir[32], file[64];
	sqlite3 *other = NULL;

	CHECK(folder_make(dir));
	CHECK_INT(store_command_audit_check(dir, NULL), 1); /* there is none */
	CHECK_INT(store_command_audit_export(dir), 1);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(store_command_audit_check(dir, NULL), 0);
	CHECK_INT(store_command_audit_check(dir, "1"), 2);
	CHECK_INT(store_command_audit_export(dir), 0);
	db_close(db);
	snprintf(file, sizeof file, "%s/parley.db", dir);
	CHECK_INT(sqlite3_open(file, &other), SQLITE_OK);
	CHECK_INT(sqlite3_exec(other, "DELETE FROM audit WHERE seq = 1", NULL, NULL, NULL),
		  SQLITE_OK);
	sqlite3_close(other);
	CHECK_INT(store_command_audit_check(dir, NULL), 1);
	folder_remove(dir);
}

static unsigned count_rows(const char *dir, const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *sqlite = NULL;
	char file[64];
	unsigned n = 0;

	snprintf(file, sizeof file, "%s/parley.db", dir);
	if (sqlite3_open(file, &sqlite) == SQLITE_OK &&
	    sqlite3_prepare_v2(sqlite, sql, -1, &s, NULL) == SQLITE_OK)
		while (sqlite3_step(s) == SQLITE_ROW)
			n++;
	sqlite3_finalize(s);
	sqlite3_close(sqlite);
	return n;
}

/* Numbers of few digits are in older settings and in texts of the audit, and mean nobody. */
TEST(a_number_that_no_account_has_is_not_erased)
{
	struct bus_event ev = {
		.type = EVENT_OPERATOR_ACTION,
		.at_ms = 1,
		.action = {.actor = "nobody", .kind = "mute", .target = "server 42 person 5"}};
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	db_close(db);
	CHECK_INT(store_command_erase(dir, "5", NULL), 2);
	CHECK_INT(store_command_erase(dir, "9999999999999999", NULL), 2);
	CHECK_INT(count_rows(dir, "SELECT 1 FROM audit WHERE before = 'person 5'"), 1);
	CHECK_INT(count_rows(dir, "SELECT 1 FROM deletions"), 0);
	folder_remove(dir);
}

/* Also in a folder whose name means something to glob(7), and in no other one. */
TEST(erasing_removes_the_copies_of_this_folder_alone)
{
	char top[32], dir[64], other[64], copy[96], foreign[96];
	struct db *db = NULL;

	CHECK(folder_make(top));
	snprintf(dir, sizeof dir, "%s/a[b]", top);
	snprintf(other, sizeof other, "%s/ab", top);
	CHECK(mkdir(dir, 0700) == 0 && mkdir(other, 0700) == 0);
	snprintf(copy, sizeof copy, "%s/parley.db.before-2", dir);
	snprintf(foreign, sizeof foreign, "%s/parley.db.before-2", other);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(symlink("nowhere", copy), 0);
	CHECK_INT(symlink("nowhere", foreign), 0);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	CHECK(unlink(copy) != 0);
	CHECK_INT(unlink(foreign), 0);
	db_close(db);
	folder_remove(dir);
	folder_remove(other);
	folder_remove(top);
}

static uid_t owner_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* The files that SQLite makes meanwhile stay usable for the control that owns the directory. */
TEST(root_erases_a_person_from_the_database_of_another_user)
{
	static struct state s;
	char dir[32], path[64], wal[80], session[64], *text;
	struct db *control = NULL;
	uint64_t strict;

	if (geteuid() != 0)
		return;
	CHECK(folder_make(dir));
	s.commands = json_pack("[s]", "501000000000000000");
	encrypted_channels_add(&s.encrypted, 100, 200, &strict);
	text = state_text(&s);
	CHECK_INT(session_file_save(dir, text), 0);
	free(text);
	json_decref(s.commands);
	snprintf(session, sizeof session, "%s/session.json", dir);
	CHECK_INT(chown(session, 12345, 12345), 0);
	snprintf(path, sizeof path, "%s/parley.db", dir);
	snprintf(wal, sizeof wal, "%s-wal", path);
	CHECK_INT(db_open(&control, dir, DB_OWN), 0);
	db_close(control);
	CHECK(chown(dir, 12345, 12345) == 0 && chown(path, 12345, 12345) == 0);
	control = NULL;
	CHECK_INT(db_open(&control, dir, DB_JOIN), 0); /* keeps the WAL there */
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	CHECK_INT(owner_of(path), 12345);
	CHECK_INT(owner_of(wal), 12345);
	CHECK_INT(owner_of(session), 12345);
	db_close(control);
	folder_remove(dir);
}

static void put_settings(struct db *db, const char *document)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_DOCUMENT);

	db_bind_text(s, 1, STORE_SETTINGS_GLOBAL);
	db_bind_uint(s, 2, 1);
	db_bind_text(s, 3, document);
	db_bind_text(s, 4, "test");
	db_bind_uint(s, 5, 1);
	CHECK_INT(db_run(db, s), 0);
}

/* In servers 7 and 8, with an answer of hers in server 9. Server 8 remembers nobody unasked. */
static void erase_with_settings(const char *dir, const char *document)
{
	const struct consent_change refusal = {.guild = 9,
					       .user = UINT64_C(501000000000000000),
					       .before = "default",
					       .after = "neither",
					       .via = "/consent"};
	struct db *db = NULL;

	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (uint64_t guild = 7; guild < 10; guild++) {
		struct bus_event ev = {.type = EVENT_UTTERANCE,
				       .at_ms = 1,
				       .guild = guild,
				       .user = UINT64_C(501000000000000000)};

		ev.utterance = (struct event_utterance){.text = "hello", .started_ms = 1};
		CHECK_INT(rows_add(db, &ev, true), 0);
	}
	CHECK_INT(consents_put(db, dir, &refusal), 0);
	put_settings(db, document);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	db_close(db);
}

/* "7 heard;9 neither;" */
static const char *list_answers(const char *dir)
{
	static char text[128];
	struct db *db = NULL;
	sqlite3_stmt *s;
	size_t n = 0;

	text[0] = '\0';
	if (db_open(&db, dir, DB_OWN))
		return "no database";
	s = db_use(db, DB_LIST_CONSENTS);
	while (db_step(db, s) == 0)
		n += (size_t)snprintf(text + n, sizeof text - n, "%llu %s;",
				      (unsigned long long)db_uint(s, 0), db_text(s, 2));
	db_close(db);
	return text;
}

TEST(an_erasure_without_control_ends_default_consents)
{
	char dir[32];

	CHECK(folder_make(dir));
	erase_with_settings(dir, "{\"updatedAt\":\"2026-11-23T00:00:00Z\",\"author\":\"x\","
				 "\"intent\":{\"consent\":"
				 "\"remembered\",\"guilds\":{\"8\":{\"consent\":\"heard\"}}}}");
	CHECK_STR(list_answers(dir), "7 heard;9 neither;");
	folder_remove(dir);
}

TEST(an_erasure_says_that_the_settings_cannot_be_read)
{
	char dir[32];

	CHECK(folder_make(dir));
	erase_with_settings(dir, "no document");
	CHECK_STR(list_answers(dir), "9 neither;");
	folder_remove(dir);
}

/* A control whose database cannot be used. It answers the first request for an erasure. */
static void hold_state(const char *dir, int ready)
{
	sigset_t asked;
	int lock = -1, signal_number;

	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	if (state_lock(dir, &lock) || write(ready, "x", 1) != 1 || sigwait(&asked, &signal_number))
		_exit(1);
	erase_fault_tell(dir, EUCLEAN);
	pause();
	_exit(1);
}

TEST(an_erasure_ends_with_an_error_if_the_control_that_runs_has_no_database)
{
	char dir[32], byte;
	struct db *db = NULL;
	int ready[2], status;
	pid_t control;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	erase_fault_tell(dir, EIO); /* of another time */
	CHECK_INT(erase_fault_read(dir, 1), EIO);
	CHECK_INT(erase_fault_read(dir, UINT64_MAX), 0);
	CHECK_INT(pipe(ready), 0);
	control = fork();
	if (control == 0)
		hold_state(dir, ready[1]);
	close(ready[1]);
	CHECK_INT(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 1);
	/* Nobody erases behind the back of a control that cannot follow. */
	CHECK(store_has_erase_requests(dir));
	CHECK_INT(kill(control, SIGKILL), 0);
	CHECK_INT(waitpid(control, &status, 0), control);
	erase_fault_end(dir);
	CHECK_INT(erase_fault_read(dir, 1), 0);
	db_close(db);
	folder_remove(dir);
}

/* What else the next control needs stays, and so do other servers. */
TEST(a_server_is_forgotten_whose_channels_had_encrypted_calls)
{
	static struct state s, back;
	char dir[32], *text;
	uint64_t strict;
	json_t *kept;
	int lock = -1;

	CHECK(folder_make(dir));
	CHECK_INT(store_command_forget_encrypted(dir, "100"), 1); /* there is no state */
	s = (struct state){.epoch = 7, .user = 900, .application = 901, .text_newest = 5};
	s.commands = json_pack("[s]", "kept");
	encrypted_channels_add(&s.encrypted, 1001, 302, &strict);
	for (uint64_t i = 1; i <= ENCRYPTED_CHANNELS_GUILD + 1; i++)
		encrypted_channels_add(&s.encrypted, 100, i, &strict);
	text = state_text(&s);
	CHECK_INT(session_file_save(dir, text), 0);
	CHECK_INT(store_command_forget_encrypted(dir, "nobody"), 2);
	CHECK_INT(state_lock(dir, &lock), 0);
	CHECK_INT(store_command_forget_encrypted(dir, "100"), 1);
	close(lock);
	kept = state_read_session(dir);
	CHECK_INT(state_parse(kept, &back), 0);
	CHECK(encrypted_channels_has(&back.encrypted, 100, 0));
	json_decref(kept);
	CHECK_INT(store_command_forget_encrypted(dir, "100"), 0);
	CHECK_INT(store_command_forget_encrypted(dir, "100"), 0); /* nothing is left */
	encrypted_channels_forget(&s.encrypted, 100);
	free(text);
	text = state_text(&s);
	kept = state_read_session(dir);
	json_decref(s.commands);
	s.commands = json_loads(text, 0, NULL);
	CHECK(json_equal(kept, s.commands));
	json_decref(s.commands);
	json_decref(kept);
	free(text);
	folder_remove(dir);
}

/* A session that names somebody goes, but not in which channels a call must be encrypted. */
TEST(an_erasure_without_control_keeps_what_was_encrypted)
{
	static struct state s, back;
	char dir[32], file[64], *text;
	struct db *db = NULL;
	uint64_t strict;
	json_t *kept;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	s = (struct state){
		.epoch = 7, .user = 900, .application = 901, .saved_ms = 8, .n_calls = 1};
	s.calls[0] = (struct state_call){.guild = 100, .channel = 200};
	s.commands = json_pack("[{s:s}]", "user", "501000000000000000");
	encrypted_channels_add(&s.encrypted, 100, 200, &strict);
	encrypted_channels_add(&s.encrypted, 101, 201, &strict);
	text = state_text(&s);
	CHECK_INT(session_file_save(dir, text), 0);
	free(text);
	CHECK_INT(store_command_erase(dir, "502000000000000000", NULL), 0);
	kept = state_read_session(dir);
	CHECK(kept && json_array_size(json_object_get(kept, "commands")) == 1);
	json_decref(kept);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	kept = state_read_session(dir);
	CHECK(kept && json_array_size(json_object_get(kept, "commands")) == 0);
	CHECK_INT(state_parse(kept, &back), 0);
	CHECK(back.epoch == 7 && !back.n_calls && !back.user && back.encrypted.n == 2);
	CHECK(encrypted_channels_require(&back.encrypted, 100, 200));
	CHECK(encrypted_channels_require(&back.encrypted, 101, 201));
	json_decref(kept);
	/* Nobody can read it: it goes. */
	CHECK_INT(session_file_save(dir, "{\"501000000000000000\""), 0);
	CHECK_INT(store_command_erase(dir, "501000000000000000", NULL), 0);
	snprintf(file, sizeof file, "%s/session.json", dir);
	CHECK(access(file, F_OK) != 0);
	json_decref(s.commands);
	db_close(db);
	folder_remove(dir);
}

/* What the command writes to its standard error; NULL if it fails. */
static const char *complaint_of(const char *dir, int (*command)(const char *dir))
{
	static char said[256];
	int kept = dup(STDERR_FILENO), status;
	FILE *f = tmpfile();
	size_t n;

	if (!f || kept < 0)
		return NULL;
	dup2(fileno(f), STDERR_FILENO);
	status = command(dir);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(f);
	n = fread(said, 1, sizeof said - 1, f);
	said[n] = '\0';
	fclose(f);
	return status ? NULL : said;
}

/* -1: it failed. */
static int doubts(const char *dir, int (*command)(const char *dir))
{
	const char *said = complaint_of(dir, command);

	return said ? strstr(said, "is the id right?") != NULL : -1;
}

static int erase_bob(const char *dir)
{
	return store_command_erase(dir, "501000000000000000", NULL);
}

static int export_bob(const char *dir)
{
	return store_command_export(dir, "501000000000000000");
}

TEST(an_id_of_whom_nothing_is_known_is_asked_about)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = 1, .guild = 1, .user = 501000000000000000};
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	ev.utterance = (struct event_utterance){.text = "hello", .started_ms = 1};
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(doubts(dir, export_bob), 1);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(doubts(dir, export_bob), 0);
	CHECK_INT(doubts(dir, erase_bob), 0);
	CHECK_INT(doubts(dir, erase_bob), 1);
	db_close(db);
	folder_remove(dir);
}

/* As somebody gives the id of a server in place of a person's. */
TEST(an_erasure_of_nobody_asks_before_it_tells_of_traces)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE,
			       .at_ms = 1,
			       .guild = 41771983423143937,
			       .user = 501000000000000000};
	struct db *db = NULL;
	char dir[32], *text = NULL;
	const char *asked, *found;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	CHECK(folder_make(dir) && f);
	ev.utterance = (struct event_utterance){.text = "hello", .started_ms = 1};
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(store_command_erase(dir, "41771983423143937", NULL), 1);
	CHECK_INT(store_command_erase(dir, "41771983423143936", NULL), 0);
	db_close(db);
	CHECK(erased_told(f, f, "41771983423143937",
			  "{\"erased\":{\"a\":0},\"scan\":{\"traces\":3,\"listed\":0}}"));
	fflush(f);
	asked = strstr(text, "is the id right?");
	found = strstr(text, "it may be the id of a server");
	CHECK(asked && found && asked < found);
	CHECK(!strstr(text, "rows erased"));
	rewind(f);
	CHECK(erased_told(f, f, "41771983423143937",
			  "{\"erased\":{\"a\":2},\"scan\":{\"traces\":1,\"listed\":0}}"));
	fputc('\0', f);
	fclose(f);
	CHECK(!strstr(text, "is the id right?") && strstr(text, "a fault of Parley"));
	free(text);
	folder_remove(dir);
}

TEST(a_file_that_is_no_memory_is_refused_with_the_place)
{
	static const char *const rows[][2] = {
		{"some\nnotes", "it is no JSON, line 1: "},
		{"[]", "it is no file of --export-memory"},
		{"{\"format\":\"parley-memory-2\",\"facts\":[]}",
		 "it is no file of --export-memory"},
		{"{\"format\":\"parley-memory-1\",\"facts\":[{\"id\":1}]}",
		 "fact 1 of 1 is malformed"},
	};
	char why[256];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		memory_file_fault(rows[i][0], strlen(rows[i][0]), why, sizeof why);
		if (!strstr(why, rows[i][1]))
			CHECK_STR(why, rows[i][1]);
	}
}
