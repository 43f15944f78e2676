#include "control/state.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/consent/consent.h"
#include "control/settings/document.h"
#include "control/store/db.h"
#include "control/store/store.h"
#include "tests/test.h"

static struct state sample(void)
{
	struct state s = {.epoch = 18446744073709551614ull,
			  .user = 900,
			  .application = 901,
			  .saved_ms = 1700000000000,
			  .bot_name = "Parley",
			  .session = {.id = "sess", .url = "wss://resume.example", .seq = 42},
			  .n_calls = 1};
	uint64_t strict;

	s.calls[0] = (struct state_call){.guild = 100,
					 .channel = 301,
					 .standing = true,
					 .since_ms = 1699999000000,
					 .music_message = 77};
	encrypted_channels_add(&s.encrypted, 100, 302, &strict);
	encrypted_channels_add(&s.encrypted, 0, 303, &strict);
	s.encrypted.v[s.encrypted.n++] = (struct encrypted_channel){.guild = 200};
	s.lacks_real_time = true;
	under_way_add(&s.under_way,
		      &(struct turn_under_way){.guild = 100, .turn = 3, .speaking = true});
	return s;
}

TEST(state_keeps_what_is_read_of_text_chat)
{
	struct state s = sample();
	json_t *all = state_format(&s);

	CHECK(!json_object_get(all, "text_reading"));
	json_decref(all);
	s.reading = json_pack("{s:i}", "floor", 5);
	all = state_format(&s);
	CHECK(json_equal(json_object_get(all, "text_reading"), s.reading));
	json_decref(s.reading);
	json_decref(all);
}

TEST(state_comes_back_from_disk)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	struct state s = sample(), back;
	struct state_kept kept;
	char *text;
	FILE *f;

	s.intents = 1 << 9 | 1 << 15;
	s.text_newest = UINT64_C(1576778768700145665);
	text = state_text(&s);
	CHECK(text && mkdtemp(dir));
	state_read(dir, &kept);
	CHECK(!kept.session && !kept.guilds);
	state_kept_clear(&kept);
	snprintf(path, sizeof path, "%s/session.json", dir);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0);
	fclose(f);
	free(text);
	CHECK_INT(chmod(path, 0600), 0);
	state_read(dir, &kept);
	CHECK(kept.session && !kept.guilds);
	CHECK_INT(state_parse(kept.session, &back), 0);
	state_kept_clear(&kept);
	CHECK(back.epoch == s.epoch && back.user == 900 && back.application == 901);
	CHECK_STR(back.session.id, "sess");
	CHECK_STR(back.session.url, "wss://resume.example");
	CHECK_INT(back.session.seq, 42);
	CHECK(back.text_newest == s.text_newest);
	CHECK_INT(back.intents, 1 << 9 | 1 << 15);
	CHECK_INT(back.n_calls, 1);
	CHECK(back.calls[0].guild == 100 && back.calls[0].channel == 301 && back.calls[0].standing);
	CHECK_INT(back.calls[0].since_ms, s.calls[0].since_ms);
	CHECK_INT(back.calls[0].music_message, 77);
	CHECK_INT(back.encrypted.n, 3);
	CHECK(encrypted_channels_has(&back.encrypted, 100, 302) && back.lacks_real_time);
	CHECK(encrypted_channels_has(&back.encrypted, 1, 303));
	CHECK(encrypted_channels_has(&back.encrypted, 200, 0));
	CHECK(back.under_way.n == 1 && back.under_way.v[0].guild == 100 &&
	      back.under_way.v[0].turn == 3 && back.under_way.v[0].speaking);
	unlink(path);
	CHECK_INT(rmdir(dir), 0); /* and nothing else was left */
}

static void keep_version(struct db *db, unsigned version, const char *text)
{
	struct sqlite3_stmt *stmt = db_use(db, DB_ADD_DOCUMENT);

	db_bind_text(stmt, 1, "global");
	db_bind_uint(stmt, 2, version);
	db_bind_text(stmt, 3, text);
	db_bind_text(stmt, 4, "me");
	db_bind_uint(stmt, 5, 1);
	CHECK_INT(db_run(db, stmt), 0);
}

/* What state_read found, as a document; empty when there is none. */
static struct document *read_document(const char *dir)
{
	struct document *d = NULL;
	struct state_kept kept;
	char *text;

	state_read(dir, &kept);
	text = json_dumps(kept.settings, JSON_COMPACT);
	if (document_alloc(&d) == 0 && text)
		document_parse(d, text, strlen(text));
	free(text);
	state_kept_clear(&kept);
	return d;
}

static bool is_unread(const char *dir)
{
	struct state_kept kept;
	bool unread;

	state_read(dir, &kept);
	unread = json_is_true(json_object_get(kept.settings, "unread"));
	state_kept_clear(&kept);
	return unread;
}

/* The database is damaged, or its key is gone. */
TEST(consents_that_cannot_be_read_are_not_taken_for_none)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	struct consent_table *t = NULL;
	struct state_kept kept;
	FILE *f;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/parley.db", dir);
	f = fopen(path, "w");
	CHECK(f && fputs("no database at all, and long enough to be one's header", f) >= 0);
	fclose(f);
	CHECK_INT(chmod(path, 0600), 0);
	state_read(dir, &kept);
	CHECK_INT(consent_table_alloc(&t, kept.consents), 0);
	CHECK(consent_table_unread(t));
	consent_table_free(t);
	state_kept_clear(&kept);
	unlink(path);
	rmdir(dir);
}

static bool reads_session(const char *dir)
{
	json_t *j = state_read_session(dir);
	bool there = j != NULL;

	json_decref(j);
	return there;
}

/* In a directory that others can write to, anybody could name the address that gets the token. */
TEST(state_of_others_is_not_read)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100], other[100];
	struct state s = sample();
	char *text = state_text(&s);
	FILE *f;

	CHECK(text && mkdtemp(dir));
	snprintf(path, sizeof path, "%s/session.json", dir);
	snprintf(other, sizeof other, "%s/other", dir);
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK(!reads_session(dir)); /* and nobody waits for its writer */
	unlink(path);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0);
	fclose(f);
	free(text);
	CHECK_INT(chmod(path, 0600), 0);
	CHECK(reads_session(dir));
	if (geteuid() == 0) {
		CHECK_INT(chown(path, 0, 12345), 0);
		CHECK_INT(chmod(path, 0620), 0);
		CHECK(!reads_session(dir));
		CHECK_INT(chown(path, 0, getegid()), 0);
	}
	CHECK_INT(chmod(path, 0660), 0); /* as Kubernetes does it */
	CHECK(reads_session(dir));
	CHECK_INT(chmod(path, 0602), 0);
	CHECK(!reads_session(dir));
	CHECK_INT(chmod(path, 0600), 0);
	CHECK_INT(rename(path, other), 0);
	CHECK_INT(symlink(other, path), 0);
	CHECK(!reads_session(dir));
	unlink(path);
	CHECK_INT(rename(other, path), 0);
	CHECK_INT(truncate(path, 9 << 20), 0);
	CHECK(!reads_session(dir));
	unlink(path);
	rmdir(dir);
}

TEST(state_has_the_newest_versions_of_the_stored_document)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100], text[128];
	struct db *db = NULL;
	struct document *d;
	json_t *list;

	CHECK(mkdtemp(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 1; i <= 40; i++) {
		snprintf(text, sizeof text,
			 "{\"version\":%u,\"updatedAt\":\"x\",\"author\":\"me\",\"intent\":{\"hold_"
			 "ms\":%u}}",
			 i, i);
		keep_version(db, i, text);
	}
	d = read_document(dir);
	CHECK_INT(document_version(d), 40);
	CHECK(!is_unread(dir));
	list = document_history(d);
	CHECK_INT(json_array_size(list), DOCUMENT_HISTORY_MAX + 1);
	json_decref(list);
	document_free(d);
	/* One that cannot be read has no settings, but can be changed and undone. */
	keep_version(db, 41, "{\"version\":41,");
	d = read_document(dir);
	CHECK_INT(document_version(d), 41);
	CHECK(is_unread(dir));
	CHECK_INT(json_object_size(document_intent(d)), 0);
	list = document_diff(d, 40, 41);
	CHECK_INT(json_array_size(list), 1);
	json_decref(list);
	document_free(d);
	db_close(db);
	snprintf(path, sizeof path, "%s/parley.db", dir);
	unlink(path);
	rmdir(dir);
}

TEST(state_tells_a_document_that_cannot_be_read_from_none)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	FILE *f;

	CHECK(mkdtemp(dir));
	CHECK(!is_unread(dir));
	snprintf(path, sizeof path, "%s/parley.db", dir);
	f = fopen(path, "w");
	CHECK(f && fputs("This is no database, but it stands where one was.", f) >= 0);
	fclose(f);
	CHECK_INT(chmod(path, 0600), 0);
	CHECK(is_unread(dir));
	unlink(path);
	CHECK_INT(rmdir(dir), 0);
}

TEST(state_has_the_empty_version_before_the_first_one)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	struct db *db = NULL;
	struct document *d;
	json_t *list;

	CHECK(mkdtemp(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	keep_version(
		db, 1,
		"{\"version\":1,\"updatedAt\":\"x\",\"author\":\"me\",\"intent\":{\"hold_ms\":1}}");
	d = read_document(dir);
	list = document_diff(d, 0, 1);
	CHECK_INT(json_array_size(list), 1);
	json_decref(list);
	list = document_history(d);
	CHECK_INT(json_array_size(list), 1);
	json_decref(list);
	document_free(d);
	db_close(db);
	snprintf(path, sizeof path, "%s/parley.db", dir);
	unlink(path);
	rmdir(dir);
}

/* Versions so long that not all of them fit into a document. */
TEST(state_has_as_many_versions_as_a_document_takes)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	static char text[130000];
	struct db *db = NULL;
	struct document *d;
	json_t *list;

	CHECK(mkdtemp(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 1; i <= 12; i++) {
		int n = snprintf(text, sizeof text,
				 "{\"version\":%u,\"updatedAt\":\"x\",\"author\":\"me\",\"intent\":"
				 "{\"language\":\"",
				 i);

		memset(text + n, 'x', sizeof text - (size_t)n - 4);
		strcpy(text + sizeof text - 4, "\"}}");
		keep_version(db, i, text);
	}
	d = read_document(dir);
	CHECK_INT(document_version(d), 12);
	list = document_history(d);
	CHECK_INT(json_array_size(list), 8);
	json_decref(list);
	document_free(d);
	db_close(db);
	snprintf(path, sizeof path, "%s/parley.db", dir);
	unlink(path);
	rmdir(dir);
}

/* The next control's epoch would be 0, which mediad obeys never again. */
TEST(state_with_the_last_epoch_is_refused)
{
	struct state s = sample(), back;
	json_t *j;

	s.epoch = UINT64_MAX;
	j = state_format(&s);
	CHECK_INT(state_parse(j, &back), EBADMSG);
	json_decref(j);
}

/* Whoever can read the token can change every setting, and whoever can write it can choose it. */
TEST(state_has_a_web_token_of_its_own)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100], token[STATE_TOKEN_MAX];
	char again[STATE_TOKEN_MAX];
	struct stat st;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/web-token", dir);
	CHECK_INT(state_read_web_token(dir, token, sizeof token), ENOENT);
	CHECK_INT(state_web_token(dir, token, sizeof token), 0);
	CHECK_INT(strlen(token), 64);
	CHECK_INT(state_web_token(dir, again, sizeof again), 0);
	CHECK_STR(again, token);
	CHECK_INT(chmod(path, 0660), 0); /* as Kubernetes does it */
	CHECK_INT(state_web_token(dir, again, sizeof again), 0);
	CHECK_INT(state_web_token(dir, again, sizeof again), 0);
	CHECK_STR(again, token);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(chmod(path, 0604), 0);
	CHECK_INT(state_web_token(dir, again, sizeof again), EPERM);
	CHECK_INT(chmod(path, 0602), 0);
	CHECK_INT(state_web_token(dir, again, sizeof again), EPERM);
	CHECK_INT(chmod(path, 0600), 0);
	if (geteuid() == 0) {
		CHECK_INT(chown(path, 12345, 12345), 0);
		CHECK_INT(state_web_token(dir, again, sizeof again), EPERM);
		CHECK_INT(chown(path, 0, 12345), 0);
		CHECK_INT(chmod(path, 0640), 0);
		CHECK_INT(state_web_token(dir, again, sizeof again), EPERM);
		CHECK_INT(chmod(path, 0600), 0);
		CHECK_INT(chown(path, 0, 0), 0);
	}
	CHECK_INT(truncate(path, 15), 0);
	CHECK_INT(state_web_token(dir, again, sizeof again), EINVAL);
	unlink(path);
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(state_web_token(dir, again, sizeof again),
		  EPERM); /* nobody waits for its writer */
	unlink(path);
	rmdir(dir);
}

TEST(state_directories_are_made)
{
	char dir[] = "/tmp/parley-state-XXXXXX", deep[100];

	CHECK(mkdtemp(dir));
	snprintf(deep, sizeof deep, "%s/a/b", dir);
	CHECK_INT(state_dir_check(deep), 0);
	CHECK_INT(rmdir(deep), 0);
	snprintf(deep, sizeof deep, "%s/a", dir);
	CHECK_INT(rmdir(deep), 0);
	CHECK_INT(rmdir(dir), 0);
}

TEST(state_that_is_damaged_is_refused)
{
	static const char *const bad[] = {
		"[]", "{}", "{\"format\":2}",
		"{\"format\":1,\"epoch\":\"x\",\"user\":\"1\",\"application\":\"1\",\"saved_ms\":1,"
		"\"bot_name\":\"\",\"session\":{\"id\":\"\",\"url\":\"\",\"seq\":1},\"calls\":[]}",
		"{\"format\":1,\"epoch\":\"1\",\"user\":\"1\",\"application\":\"1\",\"saved_ms\":-"
		"1,"
		"\"bot_name\":\"\",\"session\":{\"id\":\"\",\"url\":\"\",\"seq\":1},\"calls\":[]}"};
	struct state s;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		json_t *j = json_loads(bad[i], 0, NULL);

		CHECK_INT(state_parse(j, &s), EBADMSG);
		json_decref(j);
	}
}

TEST(state_is_fresh_for_five_minutes)
{
	struct state s = sample();

	CHECK(state_fresh(&s, s.saved_ms));
	CHECK(state_fresh(&s, s.saved_ms + 299000));
	CHECK(!state_fresh(&s, s.saved_ms + 300000));
	CHECK(!state_fresh(&s, s.saved_ms - 1)); /* the clock was set back */
	s.session.id[0] = '\0';
	CHECK(!state_fresh(&s, s.saved_ms));
}

TEST(state_is_alive_while_it_is_saved)
{
	struct state s = sample();

	s.epoch = s.saved_ms - 1000;
	CHECK(state_alive(&s, s.saved_ms));
	CHECK(state_alive(&s, s.saved_ms + 44000));
	CHECK(!state_alive(&s, s.saved_ms + 45000));
	CHECK(!state_alive(&s, s.saved_ms - 1));
	s.epoch = s.saved_ms + 1; /* what it found of the control before */
	CHECK(!state_alive(&s, s.saved_ms));
	s.epoch = s.saved_ms;
	s.session.id[0] = '\0'; /* not on Discord */
	CHECK(!state_alive(&s, s.saved_ms));
}

TEST(state_with_a_long_name_is_written)
{
	struct state s = sample(), back;
	json_t *j;

	/* 31 × 4 bytes and more than fit: cut in the middle of one, it could not be written at all.
	 */
	for (unsigned i = 0; i < 15; i++)
		memcpy(s.bot_name + 4 * i, "\xf0\x9f\x98\x80", 4);
	strcpy(s.bot_name + 60, "ab");
	j = state_format(&s);
	CHECK(j);
	json_object_set_new(j, "bot_name",
			    json_string("x\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
					"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
					"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
					"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
					"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
					"\xf0\x9f\x98\x80"));
	CHECK_INT(state_parse(j, &back), 0);
	json_decref(j);
	CHECK_INT(strlen(back.bot_name), 61);
	j = state_format(&back);
	CHECK(j);
	json_decref(j);
}

/* A lock that cannot be used is no reason to pass the state over. */
TEST(state_tells_a_lock_that_cannot_be_used)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	int lock = -1;

	CHECK(mkdtemp(dir));
	CHECK(!state_is_used(dir));
	CHECK(!state_is_used("/nowhere/at/all"));
	snprintf(path, sizeof path, "%s/control.lock", dir);
	CHECK_INT(symlink("/nowhere/at/all", path), 0);
	CHECK(state_is_used(dir));
	CHECK_INT(state_lock_check(dir), ELOOP);
	CHECK_INT(state_lock(dir, &lock), ELOOP);
	unlink(path);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(state_lock(dir, &lock), EPERM);
	rmdir(path);
	CHECK_INT(state_lock_check(dir), 0);
	CHECK_INT(access(path, F_OK), -1); /* root's would keep the bot's user from starting */
	CHECK_INT(state_lock(dir, &lock), 0);
	close(lock);
	CHECK_INT(state_lock_check(dir), 0);
	if (geteuid() == 0) {
		CHECK_INT(chown(path, 12345, 12345), 0);
		CHECK_INT(state_lock(dir, &lock), EPERM); /* they could hold it for ever */
		CHECK_INT(state_lock_check(dir), EPERM);
		CHECK_INT(chown(dir, 12345, 12345), 0); /* root looks at another's */
		CHECK_INT(state_lock_check(dir), 0);
		CHECK_INT(chown(dir, 0, 0), 0);
	}
	unlink(path);
	rmdir(dir);
}

TEST(state_tells_whether_a_control_holds_its_directory)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	int lock = -1;

	CHECK(mkdtemp(dir));
	CHECK(!state_locked(dir));
	CHECK_INT(state_lock(dir, &lock), 0);
	CHECK(state_locked(dir));
	close(lock);
	CHECK(!state_locked(dir));
	snprintf(path, sizeof path, "%s/control.lock", dir);
	unlink(path);
	rmdir(dir);
}

/* Else the codes that an incident says were used leave no place for a right one. */
TEST(what_is_shown_has_no_say_in_sessions)
{
	char dir[] = "/tmp/parley-state-XXXXXX", path[100];
	struct state_kept kept;
	struct db *db = NULL;
	struct sqlite3_stmt *s;

	CHECK(mkdtemp(dir) != NULL);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	s = db_use(db, DB_SET_META);
	db_bind_text(s, 1, STORE_META_WEB);
	db_bind_text(s, 2, "{\"used\":[]}");
	CHECK_INT(db_run(db, s), 0);
	db_close(db);
	state_read(dir, &kept);
	CHECK(kept.web != NULL);
	state_kept_forget_sessions(&kept);
	CHECK(!kept.web);
	state_kept_clear(&kept);
	snprintf(path, sizeof path, "rm -r %s", dir);
	CHECK_INT(system(path), 0);
}
