#include "control/store/erase.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "control/store/audit.h"
#include "control/store/consents.h"
#include "control/store/copies.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/deletions.h"
#include "control/store/erased_facts.h"
#include "control/store/listed.h"
#include "control/store/rows.h"
#include "control/store/scan.h"
#include "control/store/subject.h"
#include "control/store/summaries.h"
#include "control/store/turn_file.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

/* TEXTS: the id needs some of the SCAN_NEEDLES, too. */
enum { PATH_SIZE = 896, WAL_TRIES = 20, TEXTS = 24 };
#define DATABASE "parley.db"

/* An erasure under way. */
struct run {
	struct db *db;
	const struct erase *e;
	struct subject_key key;
	char mac[SUBJECT_MAC];
	struct scan scan;
	json_t *erased, *files, *searched, *found;
	json_t *guilds; /* whose memory may know the person: [id, …] */
	unsigned copies;
	unsigned texts;	   /* to search for */
	uint64_t since_ms; /* when the rows went; 0: they have not yet */
	uint64_t traces;
	unsigned listed; /* how often the settings in force name them */
};

/* ---- rows ---- */

static void count_rows(const char *table, unsigned rows, void *arg)
{
	struct run *r = arg;
	json_int_t before = json_integer_value(json_object_get(r->erased, table));

	json_object_set_new(r->erased, table, json_integer(before + rows));
}

/* The rows and texts of an earlier run that was interrupted: its rows are gone, so nothing else
 * tells what to look for in the files. */
static int load_progress(struct run *r)
{
	sqlite3_stmt *s = db_use(r->db, DB_GET_ERASE_PROGRESS);
	json_t *progress = NULL, *text;
	const json_t *erased;
	size_t i;
	int err;

	db_bind_uint(s, 1, r->e->user);
	err = db_step(r->db, s);
	if (!err)
		progress = json_loads(db_text(s, 0), 0, NULL);
	sqlite3_reset(s);
	erased = json_object_get(progress, "erased");
	if (erased)
		json_object_update(r->erased, (json_t *)(uintptr_t)erased);
	json_array_extend(r->guilds, json_object_get(progress, "guilds"));
	r->since_ms = (uint64_t)json_integer_value(json_object_get(progress, "since"));
	json_array_foreach(json_object_get(progress, "texts"), i, text)
	{
		if (r->scan.n < TEXTS)
			scan_add_text(&r->scan, json_string_value(text));
	}
	json_decref(progress);
	return err == ENOENT ? 0 : err;
}

static int save_progress(struct run *r)
{
	json_t *texts = json_array(), *progress;
	sqlite3_stmt *s = db_use(r->db, DB_SET_ERASE_PROGRESS);
	char *text;
	int err = ENOMEM;

	for (unsigned i = 0; i < r->scan.n; i++)
		json_array_append_new(texts,
				      json_stringn(r->scan.needle[i].bytes, r->scan.needle[i].n));
	progress = json_pack("{s:O,s:o,s:O,s:I}", "erased", r->erased, "texts", texts, "guilds",
			     r->guilds, "since",
			     (json_int_t)(r->since_ms ? r->since_ms : r->e->now_ms));
	text = progress ? json_dumps(progress, JSON_COMPACT) : NULL;
	if (text) {
		db_bind_uint(s, 1, r->e->user);
		db_bind_text(s, 2, text);
		err = db_run(r->db, s);
	}
	free(text);
	json_decref(progress);
	return err;
}

/* Before the rows go that tell of them. */
static int take_guilds(struct run *r)
{
	char *text = NULL;
	json_t *list;
	int err = rows_find_guilds(r->db, r->e->user, &text);

	if (err)
		return err;
	list = json_loads(text, 0, NULL);
	if (!list || json_array_extend(r->guilds, list))
		err = ENOMEM;
	json_decref(list);
	free(text);
	return err;
}

/* Texts of theirs before they go. */
static int take_samples(struct run *r)
{
	sqlite3_stmt *s = db_use(r->db, DB_SAMPLE_TEXTS);
	int err;

	db_bind_uint(s, 1, r->e->user);
	while ((err = db_step(r->db, s)) == 0 && r->scan.n < TEXTS) {
		char text[SCAN_TEXT];

		utf8_copy(text, sizeof text, db_text(s, 0));
		scan_add_text(&r->scan, text);
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* Other people may have said the same. A quote by the bot is a trace. */
static int drop_shared_samples(struct run *r)
{
	struct scan kept = {0};

	for (unsigned i = 0; i < r->scan.n; i++) {
		const struct scan_needle *needle = &r->scan.needle[i];
		sqlite3_stmt *s = db_use(r->db, DB_FIND_TEXT);
		int err;

		sqlite3_bind_text(s, 1, needle->bytes, (int)needle->n, SQLITE_TRANSIENT);
		err = db_step(r->db, s);
		sqlite3_reset(s);
		if (err == ENOENT)
			kept.needle[kept.n++] = *needle;
		else if (err)
			return err;
	}
	r->scan = kept;
	return 0;
}

static int save_guild_state(struct db *db, uint64_t guild, const json_t *state)
{
	char *text = json_dumps(state, JSON_COMPACT);
	sqlite3_stmt *s = db_use(db, DB_SET_GUILD);
	int err = ENOMEM;

	if (text) {
		db_bind_uint(s, 1, guild);
		db_bind_text(s, 2, text);
		err = db_run(db, s);
	}
	free(text);
	return err;
}

static void forget_member(json_t *state, const char *id)
{
	static const char *const parts[] = {"members", "voice"};
	const char *owner = json_string_value(json_object_get(state, "owner"));

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		json_object_del(json_object_get(state, parts[i]), id);
	if (owner && strcmp(owner, id) == 0)
		json_object_set_new(state, "owner", json_string("0"));
}

/* Erases the member data that Discord sent. A control that runs has its own copy, and writes the
 * row again while the person is in a voice channel or owns the server. */
static int erase_guild_states(struct run *r)
{
	json_t *found = json_array(), *row;
	sqlite3_stmt *s = db_use(r->db, DB_FIND_GUILD_STATES);
	char id[24];
	size_t i;
	int err;

	snprintf(id, sizeof id, "%llu", (unsigned long long)r->e->user);
	db_bind_uint(s, 1, r->e->user);
	while ((err = db_step(r->db, s)) == 0)
		json_array_append_new(found, json_pack("[I,o?]", (json_int_t)db_uint(s, 0),
						       json_loads(db_text(s, 1), 0, NULL)));
	err = err == ENOENT ? 0 : err;
	json_array_foreach(found, i, row)
	{
		json_t *state = json_array_get(row, 1);

		forget_member(state, id);
		if (!err)
			err = save_guild_state(
				r->db, (uint64_t)json_integer_value(json_array_get(row, 0)), state);
	}
	if (!err && json_array_size(found))
		count_rows("guild_states", (unsigned)json_array_size(found), r);
	json_decref(found);
	return err;
}

static int save_receipt(struct db *db, const char *mac, uint64_t at_ms, const char *receipt)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_DELETION);

	db_bind_uint(s, 1, at_ms);
	db_bind_text(s, 2, mac);
	db_bind_text(s, 3, receipt);
	return db_run(db, s);
}

int erase_consents(struct db *db, const char *mac, uint64_t at_ms)
{
	sqlite3_stmt *s = db_use(db, DB_NOTE_ENDED_CONSENTS);
	int err;

	db_bind_text(s, 1, mac);
	db_bind_uint(s, 2, at_ms);
	err = db_run(db, s);
	if (err)
		return err;
	s = db_use(db, DB_END_CONSENTS);
	db_bind_text(s, 1, mac);
	db_bind_uint(s, 2, at_ms);
	err = db_run(db, s);
	return err ? err : save_receipt(db, mac, at_ms, "");
}

/* Their id in settings, and in what the audit says of these and of orders. */
static int erase_listed(struct run *r)
{
	unsigned texts = 0, documents = 0;
	int err = audit_erase_texts(r->db, r->e->user, r->mac, r->e->now_ms, &texts);

	if (!err)
		err = listed_erase(r->db, r->e->user, &documents);
	if (err)
		return err;
	if (texts)
		count_rows("audit", texts, r);
	if (documents)
		count_rows("settings_documents", documents, r);
	return 0;
}

static int erase_rows(struct run *r)
{
	int err = db_begin_synced(r->db);

	if (err)
		return err;
	err = load_progress(r);
	if (!err)
		err = take_guilds(r);
	if (!err)
		err = take_samples(r);
	if (!err)
		err = summaries_reopen(r->db, r->e->user);
	if (!err)
		err = erased_facts_note(r->db, &r->key, r->e->user, r->e->now_ms);
	if (!err)
		err = erase_listed(r);
	if (!err)
		err = audit_note_erased(r->db, r->e->user, r->mac, r->e->now_ms);
	if (!err)
		err = rows_run_erasers(r->db, r->e->user, count_rows, r);
	if (!err)
		err = erase_guild_states(r);
	if (!err)
		err = erase_consents(r->db, r->mac, r->e->now_ms);
	if (!err)
		err = drop_shared_samples(r);
	if (!err)
		err = save_progress(r);
	if (err)
		db_rollback(r->db);
	return err ? err : db_commit(r->db);
}

/* A control that runs may read just now. */
static int truncate_wal(struct db *db)
{
	int err = EBUSY;

	for (unsigned i = 0; i < WAL_TRIES && err == EBUSY; i++)
		err = db_truncate_wal(db);
	return err;
}

/* ---- files ---- */

static bool holds(const char *line, void *arg)
{
	const struct run *r = arg;

	return scan_holds(&r->scan, line);
}

static bool is_of_guilds(const struct run *r, const json_t *turn)
{
	const json_t *guild;
	size_t i;
	uint64_t of = 0;

	discord_u64(json_string_value(json_object_get(turn, "guild")), &of);
	json_array_foreach(r->guilds, i, guild)
	{
		if (of && (uint64_t)json_integer_value(guild) == of)
			return true;
	}
	return false;
}

static bool is_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text;
}

static bool has_words(const json_t *turn)
{
	const json_t *segment;
	size_t i;

	json_array_foreach(json_object_get(turn, "segments"), i, segment)
	{
		if (is_text(segment, "text"))
			return true;
	}
	return is_text(turn, "heard") || is_text(turn, "said");
}

/* A line of the turn file tells of one turn and names its speaker. Of a server whose memory may
 * know the person it goes if it has words: the answer, or what was asked, may quote them. Nothing
 * in the file tells what its prompt held, and the rows of older turns are gone. */
static bool may_quote(const char *line, void *arg)
{
	json_t *turn;
	bool may;

	if (holds(line, arg))
		return true;
	turn = json_loads(line, 0, NULL);
	may = has_words(turn) && is_of_guilds(arg, turn);
	json_decref(turn);
	return may;
}

static int erase_lines(struct run *r, const char *path)
{
	unsigned dropped = 0;
	int err = turn_file_erase(path, may_quote, r, &dropped);

	if (!err && dropped)
		json_object_set_new(r->files, "turn_lines", json_integer(dropped));
	return err;
}

/* A journal of a room is whole or nothing: without the events of one person it replays no more. */
static int erase_journals(struct run *r, const char *folder)
{
	DIR *d = opendir(folder);
	unsigned removed = 0;
	struct dirent *entry;
	int err = d || errno == ENOENT ? 0 : errno;

	while (d && (entry = readdir(d))) {
		char path[PATH_SIZE];
		uint64_t hits = 0;
		int failed;

		if (entry->d_name[0] == '.' || (size_t)snprintf(path, sizeof path, "%s/%s", folder,
								entry->d_name) >= sizeof path)
			continue;
		failed = scan_file(&r->scan, path, &hits);
		if (!failed && hits && unlink(path))
			failed = errno;
		removed += !failed && hits;
		err = err ? err : failed;
	}
	if (d)
		closedir(d);
	if (removed)
		json_object_set_new(r->files, "room_journals", json_integer(removed));
	return err;
}

static void count_copy(const char *path, void *arg)
{
	struct run *r = arg;

	(void)path;
	r->copies++;
}

static int erase_files(struct run *r)
{
	const char *turns = r->e->turns_file, *journals = r->e->room_journals;
	int err = copies_remove(r->e->dir, UINT64_MAX, count_copy, r);

	if (r->copies)
		json_object_set_new(r->files, "migration_copies", json_integer(r->copies));
	if (!err && turns && *turns)
		err = erase_lines(r, turns);
	if (!err && journals && *journals)
		err = erase_journals(r, journals);
	return err;
}

/* ---- the search ---- */

/* `hits` more traces in the files of this name; or less, of those that are none. */
static void count_traces(struct run *r, const char *name, json_int_t hits)
{
	json_int_t n = json_integer_value(json_object_get(r->found, name)) + hits;

	r->traces = (uint64_t)((json_int_t)r->traces + hits);
	if (n)
		json_object_set_new(r->found, name, json_integer(n));
	else
		json_object_del(r->found, name);
}

static int search(struct run *r, const char *path, const char *name)
{
	uint64_t hits = 0;
	int err = scan_file(&r->scan, path, &hits);

	json_array_append_new(r->searched, json_string(name));
	count_traces(r, name, (json_int_t)hits);
	return err;
}

struct position {
	struct db *db;
	uint64_t offset;
};

static int read_database(void *buf, size_t n, size_t *got, void *arg)
{
	struct position *at = arg;
	int err = db_read_file(at->db, at->offset, buf, n, got);

	at->offset += err ? 0 : *got;
	return err;
}

static int search_database(struct run *r)
{
	struct position at = {.db = r->db};
	uint64_t hits = 0;
	int err = scan_bytes(&r->scan, read_database, &at, &hits);

	json_array_append_new(r->searched, json_string(DATABASE));
	count_traces(r, DATABASE, (json_int_t)hits);
	return err;
}

static int search_folder(struct run *r, const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	int err = 0;

	while (d && !err && (entry = readdir(d))) {
		char path[PATH_SIZE];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		err = search(r, path, "room journal");
	}
	if (d)
		closedir(d);
	return err;
}

static int search_turns(struct run *r, const char *turns)
{
	char old[TURN_FILE_PATH];
	int err = search(r, turns, "turns_file");

	if (!err && turn_file_old(turns, old) && access(old, F_OK) == 0)
		err = search(r, old, "turns_file.old");
	return err;
}

static int search_all(struct run *r)
{
	static const char *const names[] = {"parley.db-wal", "deletions", "consents", "forgotten"};
	const char *turns = r->e->turns_file, *journals = r->e->room_journals;
	int err = search_database(r);

	for (size_t i = 0; i < sizeof names / sizeof names[0] && !err; i++) {
		char path[PATH_SIZE];

		snprintf(path, sizeof path, "%s/%s", r->e->dir, names[i]);
		err = search(r, path, names[i]);
	}
	if (!err && turns && *turns)
		err = search_turns(r, turns);
	if (!err && journals && *journals)
		err = search_folder(r, journals);
	return err;
}

/* ---- the receipt ---- */

static char *print_receipt(const struct run *r)
{
	json_t *j = json_pack("{s:s,s:I,s:s,s:s,s:O,s:O,s:{s:O,s:I,s:I,s:I,s:O}}", "format",
			      "parley-erasure-1", "at_ms", (json_int_t)r->e->now_ms, "subject",
			      r->mac, "via", r->e->via ? r->e->via : "", "erased", r->erased,
			      "files", r->files, "scan", "searched", r->searched, "texts",
			      (json_int_t)r->texts, "traces", (json_int_t)r->traces, "listed",
			      (json_int_t)r->listed, "found", r->found);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text;
}

/* What the settings in force list is no trace: an erasure is no way around a block. */
static int search_but_lists(struct run *r)
{
	int err;
	json_int_t there;

	r->traces = 0;
	json_array_clear(r->searched);
	json_object_clear(r->found);
	err = search_all(r);
	if (!err)
		err = listed_count(r->db, r->e->user, &r->listed);
	there = json_integer_value(json_object_get(r->found, DATABASE));
	count_traces(r, DATABASE, -(r->listed < there ? (json_int_t)r->listed : there));
	return err;
}

/* A trace may stand between the rows of a page. Without room to write the file anew it stays, and
 * is told. */
static int search_again(struct run *r)
{
	int err = search_but_lists(r);

	if (err || !r->traces || db_rebuild(r->db) || truncate_wal(r->db))
		return err;
	return search_but_lists(r);
}

static int give_receipt(struct run *r, char **receipt)
{
	char *text = print_receipt(r);
	int err;

	if (!text)
		return ENOMEM;
	err = save_receipt(r->db, r->mac, r->e->now_ms, text);
	if (err)
		free(text);
	else
		*receipt = text;
	return err;
}

/* No row told of them, nor does an earlier run that was interrupted. */
static bool has_nothing(const struct run *r)
{
	json_t *rows;
	const char *table;
	bool none = !r->scan.n && !r->since_ms;

	json_object_foreach(r->erased, table, rows)
	{
		none = none && !json_integer_value(rows);
	}
	return none;
}

/* ---- the request ---- */

int erase_request(struct db *db, uint64_t user, uint64_t at_ms)
{
	sqlite3_stmt *s;
	int err = db_begin_synced(db);

	if (err)
		return err;
	s = db_use(db, DB_ADD_ERASE_REQUEST);
	db_bind_uint(s, 1, user);
	db_bind_uint(s, 2, at_ms);
	err = db_run(db, s);
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

/* It names the person, so it goes before the search. */
static int end_request(struct run *r)
{
	sqlite3_stmt *s;
	int err = db_begin_synced(r->db);

	if (err)
		return err;
	s = db_use(r->db, DB_END_ERASE_REQUEST);
	db_bind_uint(s, 1, r->e->user);
	err = db_run(r->db, s);
	if (err)
		db_rollback(r->db);
	else
		err = db_commit(r->db);
	return err ? err : truncate_wal(r->db);
}

/* Whoever waits for the receipt in another process is told why there is none. */
static void note_failure(struct db *db, uint64_t user, int why)
{
	sqlite3_stmt *s;

	if (db_begin(db))
		return;
	s = db_use(db, DB_FAIL_ERASE_REQUEST);
	db_bind_uint(s, 1, user);
	db_bind_text(s, 2, strerror(why));
	if (db_run(db, s) || db_commit(db))
		db_rollback(db);
}

static int run_erasure(struct run *r, char **receipt)
{
	int err = erase_rows(r);
	bool none = r->e->unrecorded && has_nothing(r);

	r->texts = r->scan.n;
	scan_add_id(&r->scan, r->e->user);
	if (!err && !none)
		err = db_merge_terms(r->db);
	if (!err)
		err = truncate_wal(r->db);
	if (!err)
		err = erase_files(r);
	if (!err)
		err = end_request(r);
	if (!err && none)
		err = listed_count(r->db, r->e->user, &r->listed);
	none = none && !json_object_size(r->files) && !r->listed;
	if (!err && !none)
		err = search_again(r);
	return err ? err : give_receipt(r, receipt);
}

int erase_person(struct db *db, const struct erase *e, char **receipt)
{
	struct run *r = calloc(1, sizeof *r);
	int err = r ? consents_read_key(db, e->dir, &r->key) : ENOMEM;

	if (err) {
		note_failure(db, e->user, err);
		free(r);
		return err;
	}
	r->db = db;
	r->e = e;
	r->erased = json_object();
	r->files = json_object();
	r->searched = json_array();
	r->found = json_object();
	r->guilds = json_array();
	subject_mac(&r->key, e->user, r->mac);
	if (!r->erased || !r->files || !r->searched || !r->found || !r->guilds)
		err = ENOMEM;
	if (!err)
		err = erase_request(db, e->user, e->now_ms);
	if (!err)
		err = deletions_add(e->dir, e->now_ms, r->mac);
	if (!err)
		err = run_erasure(r, receipt);
	if (err)
		note_failure(db, e->user, err);
	explicit_bzero(&r->key, sizeof r->key);
	json_decref(r->erased);
	json_decref(r->files);
	json_decref(r->searched);
	json_decref(r->found);
	json_decref(r->guilds);
	free(r);
	return err;
}

int erase_read_request(struct db *db, uint64_t user, struct erase_state *out)
{
	sqlite3_stmt *s = db_use(db, DB_READ_ERASE_REQUEST);
	int err;

	*out = (struct erase_state){0};
	db_bind_uint(s, 1, user);
	err = db_step(db, s);
	if (!err) {
		utf8_copy(out->failed, sizeof out->failed, db_text(s, 0));
		out->rows_done = db_uint(s, 1) != 0;
	}
	sqlite3_reset(s);
	return err;
}

int erase_find_receipt(struct db *db, const char *dir, uint64_t user, uint64_t from_ms,
		       char **receipt)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_DELETION);
	struct subject_key key;
	char mac[SUBJECT_MAC];
	int err = subject_key_find(dir, &key);

	if (err)
		return err;
	subject_mac(&key, user, mac);
	db_bind_text(s, 1, mac);
	db_bind_uint(s, 2, from_ms);
	err = db_step(db, s);
	if (!err) {
		*receipt = *db_text(s, 1) ? strdup(db_text(s, 1)) : NULL;
		err = *receipt ? 0 : ENOENT;
	}
	sqlite3_reset(s);
	return err;
}
