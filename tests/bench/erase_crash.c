#include "tests/bench/erase_crash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/store/db.h"
#include "control/store/deletions.h"
#include "control/store/erase.h"
#include "control/store/session_file.h"
#include "control/store/store.h"
#include "control/store_commands.h"
#include "tests/bench/bench.h"
#include "tests/bench/erase_corpus.h"
#include "tests/bench/traces.h"

enum { CRASH_STEPS = 22, CRASHED = 9 };

/* In the process that is to be killed: system calls that are left; below 0: it is not. */
static int steps_left = -1;

static void step(void)
{
	if (steps_left >= 0 && steps_left-- == 0)
		_exit(CRASHED);
}

/* In place of the library's: control and SQLite come to these. */
int fsync(int fd)
{
	step();
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	step();
	return (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
	step();
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
	step();
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void erase_until_crash(const struct erase_corpus *c)
{
	const struct erase e = {.dir = c->dir,
				.turns_file = c->turns,
				.room_journals = c->rooms,
				.user = c->ana,
				.now_ms = erase_corpus_now(c),
				.via = "bench"};
	struct db *db = NULL;
	char *receipt = NULL;
	int err = db_open(&db, c->dir, DB_OWN);

	steps_left = rand() % CRASH_STEPS;
	if (!err)
		err = erase_person(db, &e, &receipt);
	_exit(err ? 1 : 0);
}

/* As control does when it starts. */
static void start_again(struct erase_corpus *c)
{
	unsigned people;

	BENCH_OK(deletions_replay(c->dir, &people));
	BENCH_OK(store_alloc(&c->store, c->env, c->bus, c->settings, c->dir));
	erase_corpus_wait(c, store_list_erase_requests(c->store, erase_corpus_on_list, c));
	for (size_t i = 0; i < c->n_listed; i++)
		erase_corpus_wait(c, store_erase_person(c->store, c->listed[i], "bench", false,
							erase_corpus_on_document, c));
}

/* True if the erasure was killed before it was done. */
bool erase_crash(struct erase_corpus *c)
{
	int status = 0;
	pid_t child;

	erase_corpus_close_store(c);
	child = fork();
	if (child == 0)
		erase_until_crash(c);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) && WEXITSTATUS(status) != CRASHED))
		bench_die("the erasure that was to be killed ended otherwise");
	start_again(c);
	return WEXITSTATUS(status) == CRASHED;
}

/* As the last control left it: a command of hers was under way. */
static void leave_session(const struct erase_corpus *c)
{
	char text[200];

	snprintf(text, sizeof text, "{\"commands\":[{\"user\":\"%llu\",\"question\":\"%s\"}]}",
		 (unsigned long long)c->ana, c->word[3]);
	BENCH_OK(session_file_save(c->dir, text));
	erase_corpus_write(c->dir, "/session.json.new", text);
}

static void run_command(const struct erase_corpus *c)
{
	char user[24];

	snprintf(user, sizeof user, "%llu", (unsigned long long)c->ana);
	if (setenv("PARLEY_TURNS", c->turns, 1) || setenv("PARLEY_ROOM_JOURNALS", c->rooms, 1) ||
	    !freopen("/dev/null", "w", stdout))
		_exit(1);
	_exit(store_command_erase(c->dir, user, NULL));
}

void erase_crash_command(struct erase_corpus *c)
{
	int status = 0;
	pid_t child;

	erase_corpus_close_store(c);
	leave_session(c);
	child = fork();
	if (child == 0)
		run_command(c);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		bench_die("control --erase failed");
	BENCH_OK(store_alloc(&c->store, c->env, c->bus, c->settings, c->dir));
}

static void name_older(const struct erase_corpus *c, char path[96])
{
	snprintf(path, 96, "%s-older", c->dir);
}

/* An operator keeps a copy elsewhere. */
void erase_crash_keep_older(const struct erase_corpus *c)
{
	char path[96];
	struct db *db = NULL;

	name_older(c, path);
	BENCH_OK(db_open(&db, c->dir, DB_CHECK));
	BENCH_OK(db_backup(db, path));
	db_close(db);
}

/* A copy of a version before lines had people, the audit a second seal, facts a second time, and
 * sessions their speech. */
#define TO_SCHEMA_24                                                                               \
	"DROP TABLE utterance_people; ALTER TABLE audit DROP COLUMN said_salt;"                    \
	"ALTER TABLE audit DROP COLUMN said_sealed; ALTER TABLE facts DROP COLUMN said_ms;"        \
	"DROP TABLE music_positions;"                                                              \
	"DROP INDEX costs_session; ALTER TABLE sessions DROP COLUMN spoken_ms;"                    \
	"PRAGMA user_version = 24"

unsigned erase_crash_restore_older(struct erase_corpus *c, bool schema)
{
	static const char *const beside[] = {"-wal", "-shm"};
	char path[96], file[96], other[112];

	name_older(c, path);
	if (schema)
		erase_corpus_run_sql(path, TO_SCHEMA_24);
	erase_corpus_close_store(c);
	snprintf(file, sizeof file, "%s/parley.db", c->dir);
	for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		snprintf(other, sizeof other, "%s%s", file, beside[i]);
		unlink(other);
	}
	if (rename(path, file))
		bench_die("%s", path);
	start_again(c);
	erase_corpus_close_store(c);
	return traces_in_folder(c->dir);
}
