#include "control/store_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control/configure/environment.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/store/db.h"
#include "control/store/erase.h"
#include "control/store/export.h"
#include "control/store/faults.h"
#include "control/store/memory_file.h"
#include "control/store/scan.h"
#include "control/words/words.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { PATH_SIZE = 640, ANSWER_TRIES = 600 /* of 50 ms */ };

static bool belongs_to_another(const char *dir)
{
	char path[PATH_SIZE];
	struct stat st;

	if ((size_t)snprintf(path, sizeof path, "%s/parley.db", dir) >= sizeof path)
		return false;
	return stat(path, &st) ? errno == EACCES : st.st_uid != geteuid();
}

static int tell_fault(const char *dir, int err)
{
	struct words w = {0};

	if (err == ENOENT)
		words_store_missing(&w, dir);
	else if ((err == EPERM || err == EROFS) && geteuid() && belongs_to_another(dir))
		words_store_of_another(&w, dir);
	else
		store_fault_words(&w, dir, err);
	fprintf(stderr, "control: %s\n", w.text);
	return 1;
}

int store_command_backup(const char *dir, const char *file)
{
	struct db *db = NULL, *copy = NULL;
	int err = db_open(&db, dir, DB_CHECK);

	if (err)
		return tell_fault(dir, err);
	err = db_backup(db, file);
	db_close(db);
	if (err) {
		fprintf(stderr, "control: %s not written: %s\n", file,
			err == EEXIST ? "it is the database itself" : strerror(err));
		return 1;
	}
	err = db_open_file(&copy, file, DB_CHECK);
	if (!err)
		err = db_check_integrity(copy);
	db_close(copy);
	if (err) {
		fprintf(stderr, "control: %s is no whole copy: %s\n", file, strerror(err));
		return 1;
	}
	printf("%s: a copy of %s/parley.db\n", file, dir);
	return 0;
}

/* ---- erasing ---- */

static uint64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ms_of_timespec(&now);
}

static bool parse_user(const char *option, const char *user, uint64_t *id)
{
	if (discord_snowflake(user, id))
		return true;
	fprintf(stderr, "control: %s wants the id of a user: %s\n", option, user);
	return false;
}

/* ENOENT: no control runs, or it does not answer. */
static int ask_control(struct db *db, const char *dir, uint64_t user, char **receipt)
{
	static const struct timespec moment = {.tv_nsec = 50000000};
	uint64_t at_ms = wall_ms();
	pid_t control = state_holder(dir);
	int err;

	if (control <= 0)
		return ENOENT;
	err = erase_request(db, user, at_ms);
	if (err)
		return err;
	if (kill(control, SIGUSR1))
		return ENOENT;
	err = ENOENT;
	for (unsigned i = 0; i < ANSWER_TRIES && err == ENOENT; i++) {
		nanosleep(&moment, NULL);
		err = erase_find_receipt(db, dir, user, at_ms, receipt);
	}
	return err;
}

static int erase(struct db *db, const struct erase *e, char **receipt)
{
	int err = ask_control(db, e->dir, e->user, receipt);

	if (err == ENOENT && state_locked(e->dir))
		fprintf(stderr,
			"control: the control that runs with %s does not answer. Restart it: "
			"it may still have in memory what is erased on the disk.\n",
			e->dir);
	return err == ENOENT ? erase_person(db, e, receipt) : err;
}

/* A session that names the person, of a control that does not run. */
static void forget_session(const char *dir, const char *user)
{
	struct scan *s = calloc(1, sizeof *s);
	char path[PATH_SIZE];
	uint64_t hits = 0;

	if (s)
		scan_add_text(s, user);
	if (s && !state_locked(dir) &&
	    (size_t)snprintf(path, sizeof path, "%s/session.json", dir) < sizeof path &&
	    scan_file(s, path, &hits) == 0 && hits)
		unlink(path);
	free(s);
}

static void ignore_fault(const char *text, void *arg)
{
	(void)text, (void)arg;
}

int store_command_erase(const char *dir, const char *user, const char *config)
{
	struct erase e = {.dir = dir, .now_ms = wall_ms(), .via = "control --erase"};
	struct settings *settings = NULL;
	char *receipt = NULL;
	struct words sentence = {0};
	struct db *db = NULL;
	int err;

	if (!parse_user("--erase", user, &e.user))
		return 2;
	environment_settings(&settings, config, ignore_fault, NULL);
	e.turns_file = settings ? settings->turns_file : NULL;
	e.room_journals = settings ? settings->room_journals : NULL;
	err = db_open(&db, dir, DB_JOIN);
	if (!err)
		err = erase(db, &e, &receipt);
	db_close(db);
	settings_free(settings);
	if (err)
		return tell_fault(dir, err);
	forget_session(dir, user);
	erase_tell(&sentence, receipt);
	printf("user %s: %s\n%s\n", user, sentence.text, receipt);
	free(receipt);
	return 0;
}

int store_command_export(const char *dir, const char *user)
{
	struct db *db = NULL;
	char *text = NULL;
	uint64_t id = 0;
	int err;

	if (!parse_user("--export", user, &id))
		return 2;
	err = db_open(&db, dir, DB_READ);
	if (!err)
		err = export_person(db, id, wall_ms(), &text);
	db_close(db);
	if (err)
		return tell_fault(dir, err);
	puts(text);
	free(text);
	return 0;
}

/* ---- facts as a file ---- */

static int tell_file(const char *file, const char *what, int err)
{
	fprintf(stderr, "control: %s %s: %s\n", file, what,
		err == EBADMSG ? "it is no file of facts, or one of them is malformed"
			       : strerror(err));
	return 1;
}

static int write_file(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), err = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return errno;
	if (fputs(text, f) == EOF || fflush(f) || fsync(fd))
		err = errno;
	if (fclose(f) && !err)
		err = errno;
	return err;
}

int store_command_export_memory(const char *dir, const char *file)
{
	struct db *db = NULL;
	char *text = NULL;
	int err = db_open(&db, dir, DB_READ);

	if (!err)
		err = memory_file_write(db, &text);
	db_close(db);
	if (err)
		return tell_fault(dir, err);
	err = write_file(file, text);
	free(text);
	if (err)
		return tell_file(file, "not written", err);
	printf("%s: the facts of %s/parley.db\n", file, dir);
	return 0;
}

static int read_file(const char *file, json_t **facts)
{
	char *text = malloc(MEMORY_FILE_MAX + 1);
	FILE *f = fopen(file, "re");
	size_t n = 0;
	int err = !text ? ENOMEM : !f ? errno : 0;

	if (!err)
		n = fread(text, 1, MEMORY_FILE_MAX + 1, f);
	if (!err && ferror(f))
		err = EIO;
	if (!err)
		err = memory_file_parse(text, n, facts);
	if (f)
		fclose(f);
	free(text);
	return err;
}

int store_command_import_memory(const char *dir, const char *file)
{
	struct memory_import done;
	json_t *facts = NULL;
	struct db *db = NULL;
	int err = read_file(file, &facts);

	if (err)
		return tell_file(file, "not imported", err);
	err = db_open(&db, dir, DB_JOIN);
	if (!err)
		err = memory_file_import(db, dir, facts, &done);
	db_close(db);
	json_decref(facts);
	if (err)
		return tell_fault(dir, err);
	printf("%s: %u facts imported, %u known already, %u of people erased since\n", file,
	       done.added, done.known, done.erased);
	return 0;
}
