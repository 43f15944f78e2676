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

#include <jansson.h>
#include <sqlite3.h>

#include "control/configure/environment.h"
#include "control/configure/live_settings.h"
#include "control/consent/consent.h"
#include "control/erased_told.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/store/audit.h"
#include "control/store/consents.h"
#include "control/store/db.h"
#include "control/store/deletions.h"
#include "control/store/erase.h"
#include "control/store/erase_fault.h"
#include "control/store/export.h"
#include "control/store/faults.h"
#include "control/store/incident.h"
#include "control/store/memory_file.h"
#include "control/store/reserve.h"
#include "control/store/scan.h"
#include "control/store/session_file.h"
#include "control/store/subject.h"
#include "control/words/words.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum {
	PATH_SIZE = 640,
	/* Of an erasure by a control that runs. */
	POLL_MS = 50,
	TELL_MS = 2000,
	END_MS = 600000,
};

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

/* A short number is in settings, audit texts and files by chance, and all of them would be changed
 * for good. */
static bool parse_account(const char *option, const char *user, uint64_t *id)
{
	if (!parse_user(option, user, id))
		return false;
	if (!discord_is_account(*id))
		fprintf(stderr,
			"control: %s wants an id as Discord gives them, of 17 to 19 digits: %s\n",
			option, user);
	return discord_is_account(*id);
}

/* An erasure that a control carries out. */
struct asked {
	const char *dir;
	uint64_t user, at_ms;
	pid_t control;
};

static void tell_wait(const struct asked *a, int err, bool rows_done, unsigned waited_ms)
{
	fprintf(stderr, "control: waiting for the control that runs with %s: %s (%u s)\n", a->dir,
		err	    ? "the files are being searched"
		: rows_done ? "the rows are erased, the files are next"
			    : "the rows are to be erased",
		waited_ms / 1000);
}

/* 0 as long as it is worth waiting. ENOENT: that control will not do it. Else why it cannot. */
static int look_for_end(struct db *db, const struct asked *a, unsigned waited_ms)
{
	struct erase_state state;
	int err = erase_fault_read(a->dir, a->at_ms);

	if (err)
		return err == ENOENT ? EIO : err;
	err = erase_read_request(db, a->user, &state);
	if (err && err != ENOENT)
		return err;
	if (!err && *state.failed) {
		fprintf(stderr, "control: the control that runs could not do it: %s\n",
			state.failed);
		return ENOENT;
	}
	if (state_holder(a->dir) != a->control) {
		fprintf(stderr, "control: the control that was asked has ended\n");
		return ENOENT;
	}
	if (waited_ms && waited_ms % TELL_MS == 0)
		tell_wait(a, err, state.rows_done, waited_ms);
	/* The rows and the files of a large database take long, and nothing is seen of the rows
	 * before all are gone. */
	return waited_ms < END_MS ? 0 : ENOENT;
}

static int await_receipt(struct db *db, const struct asked *a, char **receipt)
{
	static const struct timespec moment = {.tv_nsec = POLL_MS * 1000000};

	for (unsigned ms = 0;; ms += POLL_MS) {
		int err = look_for_end(db, a, ms);

		if (err)
			return err;
		nanosleep(&moment, NULL);
		err = erase_find_receipt(db, a->dir, a->user, a->at_ms, receipt);
		if (err != ENOENT)
			return err;
	}
}

/* Noted beside the database, which is to be replaced: the next control erases from the new one. */
static void note_deletion(const char *dir, const struct asked *a)
{
	struct subject_key key;
	char mac[SUBJECT_MAC];

	fprintf(stderr,
		"control: the control that runs with %s cannot use its database, so nobody is "
		"erased. Once it can, run this command again.\n",
		dir);
	if (subject_key_find(dir, &key))
		return;
	subject_mac(&key, a->user, mac);
	explicit_bzero(&key, sizeof key);
	deletions_add(dir, a->at_ms, mac);
}

/* ENOENT: no control runs, or it does not answer. */
static int ask_control(struct db *db, const char *dir, uint64_t user, char **receipt)
{
	const struct asked a = {dir, user, wall_ms(), state_holder(dir)};
	int err;

	if (a.control <= 0)
		return ENOENT;
	err = erase_request(db, user, a.at_ms);
	if (err)
		return err;
	if (kill(a.control, SIGUSR1))
		return ENOENT;
	err = await_receipt(db, &a, receipt);
	if (err && err != ENOENT)
		note_deletion(dir, &a);
	return err;
}

/* ---- without a control ---- */

/* An erasure, and the settings that a control would have. */
struct offline {
	struct erase e;
	struct db *db;
	struct settings *settings;
	struct live_settings *live; /* NULL: the stored ones cannot be read */
};

static int refuse_change(const struct live_settings_version *version, void *arg)
{
	(void)version, (void)arg;
	return EROFS;
}

static void read_settings(struct offline *o)
{
	json_t *kept = state_read_settings(o->e.dir);
	const struct live_settings_conf conf = {
		.settings = o->settings, .kept = kept, .saveh = refuse_change};

	if (live_settings_alloc(&o->live, &conf) || o->settings->unread)
		o->live = live_settings_free(o->live);
	json_decref(kept);
}

static bool is_remembered_by_default(const struct offline *o, uint64_t guild)
{
	struct settings *s = NULL;
	bool is = false;

	if (settings_alloc(&s) == 0) {
		live_settings_wanted_of(o->live, guild, s);
		is = s->consent == CONSENT_REMEMBERED;
	}
	settings_free(s);
	return is;
}

/* ENOENT: this person has given none there. */
static int find_answer(const struct offline *o, uint64_t guild, const char *mac)
{
	sqlite3_stmt *s = db_use(o->db, DB_FIND_CONSENT);
	int err;

	db_bind_uint(s, 1, guild);
	db_bind_text(s, 2, mac);
	err = db_step(o->db, s);
	sqlite3_reset(s);
	return err;
}

static int end_default_consent(const struct offline *o, uint64_t guild, const char *mac)
{
	const struct consent_change change = {.guild = guild,
					      .user = o->e.user,
					      .at_ms = o->e.now_ms,
					      .before = consent_name(CONSENT_DEFAULT),
					      .after = consent_name(CONSENT_HEARD),
					      .via = "erasure",
					      .by_default = true};
	int err = find_answer(o, guild, mac);

	if (err != ENOENT || !is_remembered_by_default(o, guild))
		return err == ENOENT ? 0 : err;
	return consents_put(o->db, o->e.dir, &change);
}

static int list_guilds(const struct offline *o, json_t *guilds)
{
	sqlite3_stmt *s = db_use(o->db, DB_FIND_GUILDS_OF_PERSON);
	int err;

	db_bind_uint(s, 1, o->e.user);
	while ((err = db_step(o->db, s)) == 0)
		json_array_append_new(guilds, json_integer((json_int_t)db_uint(s, 0)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* As a control does before it erases somebody: where people are remembered who have not answered,
 * this person is heard alone from now on. */
static int end_default_consents(const struct offline *o)
{
	json_t *guilds = json_array(), *guild;
	struct subject_key key;
	char mac[SUBJECT_MAC];
	size_t i;
	int err = guilds ? consents_read_key(o->db, o->e.dir, &key) : ENOMEM;

	if (!err) {
		subject_mac(&key, o->e.user, mac);
		explicit_bzero(&key, sizeof key);
		err = list_guilds(o, guilds);
	}
	json_array_foreach(guilds, i, guild)
	{
		if (!err)
			err = end_default_consent(o, (uint64_t)json_integer_value(guild), mac);
	}
	json_decref(guilds);
	return err;
}

static int erase_offline(const struct offline *o, char **receipt)
{
	int err = 0;

	if (o->live)
		err = end_default_consents(o);
	else
		fprintf(stderr, "control: the settings in the database cannot be read. Where the "
				"setting consent is remembered, this person stays remembered until "
				"they answer /consent.\n");
	return err ? err : erase_person(o->db, &o->e, receipt);
}

static int erase(const struct offline *o, char **receipt)
{
	const struct erase *e = &o->e;
	int err = ask_control(o->db, e->dir, e->user, receipt);

	if (err == ENOENT && state_locked(e->dir))
		fprintf(stderr,
			"control: the control that runs with %s does not answer. Restart it: "
			"it may still have in memory what is erased on the disk.\n",
			e->dir);
	return err == ENOENT ? erase_offline(o, receipt) : err;
}

static int open_and_erase(struct offline *o, char **receipt)
{
	int err = db_open(&o->db, o->e.dir, DB_JOIN);

	if (!err)
		err = erase(o, receipt);
	o->db = db_close(o->db);
	return err;
}

/* Whoever owns it: root may erase in the folder of another user. */
static json_t *read_session(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	json_t *j = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		j = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	return j;
}

/* A session that names nobody, with what the next control must know: where calls were encrypted, so
 * that it accepts no clear one there (law 10). NULL: nobody can read it. Caller frees it. */
static char *leave_people_out(const char *path)
{
	json_t *session = read_session(path);
	struct state *s = calloc(2, sizeof *s);
	char *text = NULL;

	if (session && s && state_parse(session, &s[0]) == 0) {
		s[1].epoch = s[0].epoch;
		s[1].saved_ms = s[0].saved_ms;
		s[1].encrypted = s[0].encrypted;
		s[1].lacks_real_time = s[0].lacks_real_time;
		text = state_text(&s[1]);
	}
	json_decref(session);
	free(s);
	return text;
}

static int count_names(const char *path, const char *user, uint64_t *hits)
{
	struct scan *s = calloc(1, sizeof *s);
	int err;

	*hits = 0;
	if (!s)
		return ENOMEM;
	scan_add_text(s, user);
	err = scan_file(s, path, hits);
	free(s);
	return err;
}

/* A session that names the person, of a control that does not run, and one that it was writing when
 * it was killed. */
static int forget_session(const char *dir, const char *user)
{
	char path[PATH_SIZE], unfinished[PATH_SIZE + 8], *text;
	uint64_t hits;
	int err;

	if (state_locked(dir) ||
	    (size_t)snprintf(path, sizeof path, "%s/session.json", dir) >= sizeof path)
		return 0;
	snprintf(unfinished, sizeof unfinished, "%s.new", path);
	if (count_names(unfinished, user, &hits) == 0 && hits)
		unlink(unfinished);
	err = count_names(path, user, &hits);
	if (err || !hits)
		return err;
	text = leave_people_out(path);
	err = text ? session_file_replace(dir, text) : unlink(path) ? errno : 0;
	if (text && err == ENOSPC && reserve_drop(dir))
		err = session_file_replace(dir, text);
	free(text);
	return err;
}

static void ignore_fault(const char *text, void *arg)
{
	(void)text, (void)arg;
}

int store_command_erase(const char *dir, const char *user, const char *config)
{
	struct offline o = {.e = {.dir = dir, .now_ms = wall_ms(), .via = "control --erase"}};
	char *receipt = NULL;
	bool traces;
	int err;

	if (!parse_account("--erase", user, &o.e.user))
		return 2;
	environment_settings(&o.settings, config, ignore_fault, NULL);
	if (o.settings)
		read_settings(&o);
	o.e.turns_file = o.settings ? o.settings->turns_file : NULL;
	o.e.room_journals = o.settings ? o.settings->room_journals : NULL;
	err = open_and_erase(&o, &receipt);
	if (err == ENOSPC && reserve_drop(dir))
		err = open_and_erase(&o, &receipt);
	live_settings_free(o.live);
	settings_free(o.settings);
	if (err)
		return tell_fault(dir, err);
	err = forget_session(dir, user);
	traces = erased_told(stdout, stderr, user, receipt);
	free(receipt);
	if (err)
		fprintf(stderr, "control: %s/session.json may still name this person: %s\n", dir,
			strerror(err));
	return err || traces ? 1 : 0;
}

/* True if a list of the document of export_person has a row. */
static bool has_rows(const char *document)
{
	json_t *j = json_loads(document, 0, NULL), *list;
	const char *name;
	bool has = !j;

	json_object_foreach(j, name, list)
	{
		has = has || json_array_size(list);
	}
	json_decref(j);
	return has;
}

int store_command_export(const char *dir, const char *user)
{
	struct db *db = NULL;
	char *text = NULL;
	uint64_t id = 0, left_out;
	int err;

	if (!parse_user("--export", user, &id))
		return 2;
	err = db_open(&db, dir, DB_READ);
	if (!err)
		err = export_person(db, id, wall_ms(), 0, &left_out, &text);
	db_close(db);
	if (err)
		return tell_fault(dir, err);
	puts(text);
	if (!left_out && !has_rows(text))
		erased_told_unknown(stderr, user);
	free(text);
	return 0;
}

/* ---- encrypted calls ---- */

/* Entries are GUILD/CHANNEL (control/state.h). */
static unsigned drop_guild(json_t *list, uint64_t guild)
{
	unsigned dropped = 0;
	char prefix[24];
	size_t n = (size_t)snprintf(prefix, sizeof prefix, "%llu/", (unsigned long long)guild);

	for (size_t i = json_array_size(list); i-- > 0;) {
		const char *s = json_string_value(json_array_get(list, i));

		if (s && strncmp(s, prefix, n) == 0 && json_array_remove(list, i) == 0)
			dropped++;
	}
	return dropped;
}

static int forget_encrypted(const char *dir, uint64_t guild, unsigned *dropped)
{
	json_t *session = state_read_session(dir);
	char *text = NULL;
	int err = session ? 0 : ENOENT;

	*dropped = drop_guild(json_object_get(session, "encrypted"), guild);
	if (*dropped) {
		text = json_dumps(session, JSON_COMPACT);
		err = text ? session_file_save(dir, text) : ENOMEM;
	}
	json_decref(session);
	free(text);
	return err;
}

/* A control that runs would write its own list over this one. */
int store_command_forget_encrypted(const char *dir, const char *server)
{
	struct words w = {0};
	uint64_t guild = 0;
	unsigned dropped = 0;
	int lock = -1, err;

	if (!discord_snowflake(server, &guild)) {
		fprintf(stderr, "control: --forget-encrypted wants the id of a server: %s\n",
			server);
		return 2;
	}
	/* What root wrote could not be read by the user of the bot. */
	err = belongs_to_another(dir) ? EPERM : state_lock(dir, &lock);
	if (!err) {
		err = forget_encrypted(dir, guild, &dropped);
		close(lock);
	}
	if (err == EBUSY)
		words_state_in_use(&w, dir);
	if (err) {
		fprintf(stderr, "control: %s: %s\n", dir,
			err == EBUSY   ? w.text
			: err == EPERM ? "it belongs to another user: run this as that user"
				       : strerror(err));
		return 1;
	}
	printf("server %s: %s\n", server,
	       dropped ? "its channels count as never encrypted from now on"
		       : "none of its channels is known to have had an encrypted call");
	return 0;
}

/* ---- facts as a file ---- */

static int tell_file(const char *file, const char *what, int err)
{
	fprintf(stderr, "control: %s %s: %s\n", file, what, strerror(err));
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

/* EBADMSG: it was told what is wrong with it. */
static int read_file(const char *file, json_t **facts)
{
	char why[256];
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
	if (err == EBADMSG) {
		memory_file_fault(text, n, why, sizeof why);
		fprintf(stderr, "control: %s not imported: %s\n", file, why);
	}
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
		return err == EBADMSG ? 1 : tell_file(file, "not imported", err);
	err = db_open(&db, dir, DB_JOIN);
	if (!err)
		err = memory_file_import(db, dir, facts, wall_ms(), &done);
	db_close(db);
	json_decref(facts);
	if (err)
		return tell_fault(dir, err);
	printf("%s: %u fact%s imported, %u known already, %u erased or forgotten since, %u "
	       "refused\n",
	       file, done.added, done.added == 1 ? "" : "s", done.known, done.erased, done.refused);
	return 0;
}

/* ---- the audit ---- */

int store_command_audit_check(const char *dir, const char *head)
{
	static const char *const faults[] = {
		[AUDIT_GAP] = "rows before it are missing",
		[AUDIT_CHANGED] = "it is not the row that was written",
		[AUDIT_CUT] = "rows after it are missing",
		[AUDIT_DISGUISED] = "its actor was erased, but no erasure names it",
		[AUDIT_FORGOTTEN] = "it is the newest row, and the head given is not in the chain",
	};
	struct audit_state state;
	struct db *db = NULL;
	int err = db_open(&db, dir, DB_READ);

	if (err)
		return tell_fault(dir, err);
	err = audit_check(db, head, &state);
	db_close(db);
	if (err == EINVAL) {
		fprintf(stderr, "control: --audit-check wants SEQ:HASH, as it prints it: %s\n",
			head);
		return 2;
	}
	if (err)
		return tell_fault(dir, err);
	if (state.fault == AUDIT_TOO_OLD) {
		printf("the rows that are left are whole, but the row of the head given was "
		       "dropped as "
		       "too old, or with all rows before row %llu: it cannot be looked for; "
		       "compare the "
		       "heads of the log since (audit_head)\n",
		       (unsigned long long)state.seq - state.rows + 1);
		return 1;
	}
	if (state.fault) {
		printf("the audit was changed at row %llu: %s\n", (unsigned long long)state.seq,
		       faults[state.fault]);
		return 1;
	}
	printf("the audit is whole: %llu row%s, %llu of them of erased people, %llu from before "
	       "there was a chain\n",
	       (unsigned long long)state.rows, state.rows == 1 ? "" : "s",
	       (unsigned long long)state.erased, (unsigned long long)state.unchained);
	if (state.unsealed)
		printf("of %llu row%s of erased people, from before version 26 of the database, "
		       "nothing vouches for the settings before and after\n",
		       (unsigned long long)state.unsealed, state.unsealed == 1 ? "" : "s");
	printf("head %llu:%s\n", (unsigned long long)state.seq, state.head);
	return 0;
}

int store_command_audit_export(const char *dir)
{
	struct db *db = NULL;
	int err = db_open(&db, dir, DB_READ);

	if (!err)
		err = audit_export(db, stdout);
	db_close(db);
	return err ? tell_fault(dir, err) : 0;
}

/* ---- an incident ---- */

/* As they were saved last: a control that runs saves them each second. */
static int write_counters(const struct incident *what)
{
	json_t *session = state_read_session(what->dir);
	json_t *counters = json_object_get(session, "counters");
	char path[PATH_SIZE];
	int err = 0;

	if ((size_t)snprintf(path, sizeof path, "%s/counters.json", what->to) >= sizeof path)
		err = ENAMETOOLONG;
	else if (counters && json_dump_file(counters, path, JSON_INDENT(1)))
		err = EIO;
	json_decref(session);
	return err;
}

/* What the directory is, for control and for whoever finds it. */
static int mark_incident(const struct incident *what)
{
	char path[PATH_SIZE];
	FILE *f;

	if ((size_t)snprintf(path, sizeof path, "%s/" STATE_INCIDENT, what->to) >= sizeof path)
		return ENAMETOOLONG;
	f = fopen(path, "wx");
	if (!f)
		return errno;
	fputs("An incident of Parley. control --show opens it.\n", f);
	return fclose(f) ? EIO : 0;
}

int store_command_incident(const struct incident *what)
{
	struct incident_rows rows = {0};
	int err = incident_export(what, &rows);

	if (err == ENOENT)
		return tell_fault(what->dir, err);
	if (!err)
		err = write_counters(what);
	if (!err)
		err = mark_incident(what);
	if (err) {
		fprintf(stderr, "control: %s not written: %s\n", what->to, strerror(err));
		return 1;
	}
	printf("%s: %llu turn%s and %llu event%s, without words, names and ids of people. On any "
	       "machine: control --show %s\n",
	       what->to, (unsigned long long)rows.turns, rows.turns == 1 ? "" : "s",
	       (unsigned long long)rows.events, rows.events == 1 ? "" : "s", what->to);
	return 0;
}
