/* The store when its disk is full, slow or gone. */
#include "tests/unit/control/store/documents_scene.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/control/store/still_clock.h"
#include "control/store/db.h"
#include "control/store/erase_fault.h"
#include "control/store/faults.h"
#include "control/words/words.h"

static struct store_scene *const s = &store_scene;

static bool words_of(int err, const char *must)
{
	struct words w = {0};

	store_fault_words(&w, "/some/dir", err);
	return strstr(w.text, "/some/dir") && strstr(w.text, must);
}

TEST(what_is_wrong_with_the_database_is_told_in_words)
{
	CHECK(words_of(ENOSPC, "full"));
	CHECK(words_of(EROFS, "cannot be written"));
	CHECK(words_of(EBADMSG, "not a database"));
	CHECK(words_of(EPERM, "another user"));
	CHECK(words_of(ENOTSUP, "newer version"));
	CHECK(words_of(EUCLEAN, "damaged"));
	CHECK(words_of(EBUSY, "cannot be used"));
}

/* Files of this process cannot grow any more; then they can again. */
TEST(a_disk_that_takes_nothing_is_an_error_until_it_does)
{
	struct rlimit before, small;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct stat st;

	store_scene_begin();
	store_scene_open(NULL);
	store_scene_publish_utterances(10);
	CHECK(store_scene_put("{}", false, 0));
	CHECK_INT(s->err, 0);
	CHECK_INT(stat(s->path, &st), 0);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = (rlim_t)st.st_size;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
	store_scene_publish_utterances(5000);
	CHECK(store_scene_put("{}", false, 0));
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK_INT(s->err, EIO);
	CHECK(store_scene_put("{}", false, 0));
	CHECK_INT(s->err, 0);
	CHECK_INT(s->got.version, 2);
	store_scene_close();
	signal(SIGXFSZ, handler);
	store_scene_end();
}

/* What can still be read says nothing of what can be written. */
TEST(a_full_disk_is_told_once_although_documents_are_read_meanwhile)
{
	struct rlimit before, small;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	int saved = dup(STDERR_FILENO), fd;
	char log[64];
	struct stat st;

	store_scene_begin();
	snprintf(log, sizeof log, "%s/log", s->dir);
	store_scene_open(NULL);
	store_scene_publish_utterances(10);
	CHECK(store_scene_put("{}", false, 0));
	CHECK_INT(stat(s->path, &st), 0);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = (rlim_t)st.st_size;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (unsigned i = 0; i < 3; i++) {
		store_scene_publish_utterances(5000);
		store_scene_sync();
		CHECK(store_settings_get(s->store, "global", 0, store_scene_on_document, NULL) ==
			      0 &&
		      loop_run(&s->l));
		CHECK_INT(s->err, 0);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(store_scene_put("{}", false, 0));
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	CHECK_INT(store_scene_count(log, "store_fault"), 1);
	CHECK_INT(store_scene_count(log, "store_well"), 1);
	store_scene_close();
	signal(SIGXFSZ, handler);
	store_scene_end();
}

TEST(what_waits_for_a_stalled_disk_is_bounded_in_bytes)
{
	static char big[1 << 20];
	sqlite3 *db = NULL;
	unsigned taken = 0;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	memset(big, 'x', sizeof big - 1);
	while (taken < 64 && store_save_guild(s->store, 41, big) == 0)
		taken++;
	CHECK(taken >= 8 && taken < 64);
	CHECK_INT(store_save_guild(s->store, 41, big), ENOSPC);
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	CHECK(store_scene_sync());
	CHECK_INT(store_save_guild(s->store, 41, big), 0);
	store_scene_close();
	store_scene_end();
}

static void refuse_some(void)
{
	static char big[1 << 20];
	struct store_put p = {.scope = "global", .document = big, .author = "me"};

	memset(big, 'x', sizeof big - 1);
	memset(big + STORE_DOCUMENT_MAX - 1, 0, 1);
	s->n = 0;
	while (s->n < 64 && store_save_guild(s->store, 41, big) == 0)
		s->n++;
	s->err = store_settings_put(s->store, &p, store_scene_on_document, NULL);
}

/* What a caller was told is what a replay tells it, although nothing waits for a disk there. */
TEST(a_refusal_of_a_stalled_disk_is_replayed)
{
	const struct env_conf conf = {.loop = true, .replaying = true};
	char path[] = "/tmp/parley-store-XXXXXX", recorded[1][65], hex[65], other[32];
	struct journal_reader *r = NULL;
	struct journal *j = NULL;
	sqlite3 *db = NULL;
	int fd = mkstemp(path);
	uint64_t at;
	size_t taken;

	CHECK(fd >= 0);
	close(fd);
	store_scene_begin();
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	store_scene_close();
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	store_scene_open(j);
	refuse_some();
	taken = s->n;
	CHECK(taken > 1 && taken < 64);
	CHECK_INT(s->err, ENOSPC);
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	env_finish(s->l.env);
	store_scene_close();
	journal_free(j);

	CHECK(folder_make(other));
	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(env_alloc(&s->l.env, &conf), 0);
	CHECK_INT(journal_attach(r, s->l.env, 0), 0);
	CHECK_INT(tmr_alloc(&s->l.deadline, s->l.env, loop_late, &s->l), 0);
	CHECK_INT(bus_alloc(&s->bus), 0);
	CHECK_INT(store_alloc(&s->store, s->l.env, s->bus, s->settings, other), 0);
	refuse_some();
	CHECK_INT(s->n, taken);
	CHECK_INT(s->err, ENOSPC);
	CHECK_INT(journal_replay(r, (struct env *[]){s->l.env}, 1, &at, recorded), 0);
	env_digest(s->l.env, hex);
	CHECK_STR(hex, recorded[0]);
	store_scene_close();
	CHECK_INT(rmdir(other), 0);
	journal_close(r);
	unlink(path);
	store_scene_end();
}

/* Words are looked for every ten minutes: those that would be too old by the next time go now. So
 * do the copies that a migration made, which hold the same. */
TEST(words_never_stay_longer_than_they_may)
{
	const uint64_t hour = 3600000;
	struct bus_event ev = {.type = EVENT_UTTERANCE, .guild = 1, .user = 501};
	char copy[96];
	uint64_t now;
	FILE *f;

	store_scene_begin();
	s->drops = true;
	CHECK_INT(settings_set(s->settings, "store_words_hours", "1"), 0);
	snprintf(copy, sizeof copy, "%s.before-2", s->path);
	f = fopen(copy, "w");
	CHECK(f);
	fclose(f);
	CHECK_INT(utimensat(AT_FDCWD, copy, (struct timespec[2]){{.tv_sec = 1}, {.tv_sec = 1}}, 0),
		  0);
	store_scene_open(NULL);
	now = env_wall_ms(s->l.env);
	for (unsigned i = 0; i < 2; i++) {
		ev.at_ms = now - hour + (i ? 20 : 5) * 60000;
		ev.utterance = (struct event_utterance){.text = "hello", .started_ms = ev.at_ms};
		bus_publish(s->bus, &ev);
	}
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances"), 2);
	LOOP_UNTIL(&s->l, store_scene_number(
				  "SELECT count(*) FROM utterances WHERE text IS NOT NULL") == 1);
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances WHERE text IS NOT NULL"), 1);
	/* the last thing that goes */
	LOOP_UNTIL(&s->l, access(copy, F_OK) != 0);
	CHECK(access(copy, F_OK) != 0);
	store_scene_close();
	store_scene_end();
}

/* --show has evidence to show, whatever the time is by now. */
TEST(a_store_that_keeps_all_drops_nothing)
{
	const uint64_t year = UINT64_C(365) * 24 * 3600000;
	struct bus_event ev = {.type = EVENT_UTTERANCE, .guild = 1, .user = 501};

	store_scene_begin();
	s->drops = true;
	CHECK_INT(settings_set(s->settings, "store_words_hours", "1"), 0);
	store_scene_open(NULL);
	store_keep_all(s->store);
	ev.at_ms = env_wall_ms(s->l.env) - year;
	ev.utterance = (struct event_utterance){
		.text = "hello", .started_ms = ev.at_ms, .ended_ms = ev.at_ms};
	bus_publish(s->bus, &ev);
	loop_run_for(&s->l, 1100 * NS_PER_MS);
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances WHERE text IS NOT NULL"), 1);
	store_scene_close();
	store_scene_end();
}

/* On replay the answers are those of the record, and the database is not touched. */
TEST(a_replay_gives_the_recorded_answers_and_touches_no_file)
{
	const struct env_conf conf = {.loop = true, .replaying = true};
	char path[] = "/tmp/parley-store-XXXXXX", recorded[1][65], hex[65], other[32];
	const struct store_put p = {.scope = "global", .document = "{}", .author = "me"};
	struct journal *j = NULL;
	struct journal_reader *r = NULL;
	int fd = mkstemp(path);
	struct stat st;
	uint64_t at;

	CHECK(fd >= 0);
	close(fd);
	store_scene_begin();
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	store_scene_open(j);
	store_scene_publish_utterances(10);
	CHECK(store_scene_put("{}", false, 0));
	CHECK_INT(s->got.version, 1);
	env_finish(s->l.env);
	store_scene_close();
	journal_free(j);

	CHECK(folder_make(other));
	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(env_alloc(&s->l.env, &conf), 0);
	CHECK_INT(journal_attach(r, s->l.env, 0), 0);
	CHECK_INT(tmr_alloc(&s->l.deadline, s->l.env, loop_late, &s->l), 0);
	CHECK_INT(bus_alloc(&s->bus), 0);
	CHECK_INT(store_alloc(&s->store, s->l.env, s->bus, s->settings, other), 0);
	store_scene_publish_utterances(10);
	s->got.version = 0;
	CHECK_INT(store_settings_put(s->store, &p, store_scene_on_document, NULL), 0);
	CHECK_INT(journal_replay(r, (struct env *[]){s->l.env}, 1, &at, recorded), 0);
	CHECK_INT(s->got.version, 1);
	CHECK_STR(s->document, "{}");
	env_digest(s->l.env, hex);
	CHECK_STR(hex, recorded[0]);
	store_scene_close();
	CHECK(stat(other, &st) == 0);
	CHECK_INT(rmdir(other), 0); /* nothing is in it */
	journal_close(r);
	unlink(path);
	store_scene_end();
}

TEST(a_database_that_could_not_be_opened_is_tried_again_half_a_minute_later)
{
	store_scene_begin();
	CHECK_INT(rmdir(s->dir), 0);
	store_scene_open(NULL);
	CHECK(store_scene_put("{}", false, 0));
	CHECK(s->err);
	CHECK_INT(mkdir(s->dir, 0700), 0);
	still_clock_pass(29999);
	CHECK(store_scene_put("{}", false, 0));
	CHECK(s->err);
	still_clock_pass(1);
	CHECK(store_scene_put("{}", false, 0));
	CHECK_INT(s->err, 0);
	store_scene_close();
	store_scene_end();
}

/* Whoever waits for an erasure in another process is told, until the database can be opened. */
TEST(a_store_without_a_database_says_so_to_who_waits_for_an_erasure)
{
	FILE *f;

	store_scene_begin();
	f = fopen(s->path, "w");
	CHECK(f && fputs("no database of ours, but longer than a header of one hundred bytes is, "
			 "so that SQLite looks at what it says",
			 f) >= 0);
	fclose(f);
	store_scene_open(NULL);
	CHECK_INT(erase_fault_read(s->dir, 1), 0);
	CHECK_INT(store_list_erase_requests(s->store, store_scene_on_list, NULL), 0);
	CHECK(loop_run(&s->l));
	CHECK_INT(s->err, EBADMSG);
	CHECK_INT(erase_fault_read(s->dir, 1), EBADMSG);
	store_scene_close();
	CHECK_INT(unlink(s->path), 0);
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	CHECK_INT(erase_fault_read(s->dir, 1), 0);
	store_scene_close();
	store_scene_end();
}
