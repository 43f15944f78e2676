#include "control/store/forgotten_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/erased_facts.h"
#include "control/store/fact_rows.h"
#include "control/store/forgotten.h"
#include "control/store/guild_facts.h"
#include "control/store/record_file.h"
#include "control/store/reserve.h"
#include "control/store/summaries.h"
#include "control/store/timeline.h"

enum kind { FACT, LINE, GUILD, MESSAGE, EDITED, CHANNEL, KINDS };
static const char *const kinds[KINDS] = {"fact", "line", "guild", "message", "edited", "channel"};

struct note {
	enum kind kind;
	unsigned place; /* in the file */
	unsigned long long at_ms;
	char mac[SUBJECT_MAC], text[SUBJECT_MAC];
};

struct replay {
	struct db *db;
	struct subject_key key;
	struct note *notes; /* sorted by kind, pseudonym and place */
	unsigned n, room, of[KINDS];
	struct forgotten_replayed *out;
};

/* ---- the notes ---- */

static int take_note(const char *line, void *arg)
{
	struct replay *r = arg;
	struct note note = {.place = r->n};
	char kind[16];
	int n = sscanf(line, "%20llu %15s %32s %32s", &note.at_ms, kind, note.mac, note.text);

	while (note.kind < KINDS && (n < 3 || strcmp(kinds[note.kind], kind) != 0))
		note.kind++;
	/* A line that a crash has cut short. */
	if (note.kind == KINDS || strlen(note.mac) != SUBJECT_MAC - 1 ||
	    (note.kind == EDITED && strlen(note.text) != SUBJECT_MAC - 1))
		return 0;
	if (r->n == r->room) {
		unsigned room = r->room ? 2 * r->room : 256;
		struct note *notes = realloc(r->notes, room * sizeof *notes);

		if (!notes)
			return ENOMEM;
		r->notes = notes;
		r->room = room;
	}
	r->notes[r->n++] = note;
	r->of[note.kind]++;
	return 0;
}

static int compare_macs(const struct note *a, const struct note *b)
{
	return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
				  : strcmp(a->mac, b->mac);
}

static int compare_notes(const void *one, const void *two)
{
	const struct note *a = one, *b = two;
	int order = compare_macs(a, b);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* The last note of this kind; NULL: none. */
static const struct note *find_note(const struct replay *r, enum kind kind, const char *mac)
{
	struct note sought = {.kind = kind};
	unsigned from = 0, to = r->n;

	snprintf(sought.mac, sizeof sought.mac, "%s", mac);
	while (from < to) {
		unsigned middle = from + (to - from) / 2;

		if (compare_macs(&r->notes[middle], &sought) <= 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from && compare_macs(&r->notes[from - 1], &sought) == 0 ? &r->notes[from - 1] : NULL;
}

/* ---- the rows ---- */

/* True if the row, whose number is *id, is to go. */
typedef bool(is_noted_h)(const struct replay *r, sqlite3_stmt *s, uint64_t *id);
typedef int(drop_h)(struct db *db, uint64_t id);

/* All rows are read before the first one goes. */
static int drop_noted(struct replay *r, enum db_statement list, is_noted_h *is_noted, drop_h *drop,
		      unsigned *count)
{
	json_t *found = json_array(), *id;
	sqlite3_stmt *s = db_use(r->db, list);
	uint64_t of;
	size_t i;
	int err;

	while ((err = db_step(r->db, s)) == 0)
		if (is_noted(r, s, &of))
			json_array_append_new(found, json_integer((json_int_t)of));
	sqlite3_reset(s);
	err = err == ENOENT ? 0 : err;
	json_array_foreach(found, i, id)
	{
		err = err ? err : drop(r->db, (uint64_t)json_integer_value(id));
	}
	*count = (unsigned)json_array_size(found);
	json_decref(found);
	return err;
}

static bool is_fact_noted(const struct replay *r, sqlite3_stmt *s, uint64_t *id)
{
	const struct erased_fact fact = {db_uint(s, 1), db_uint(s, 2), db_uint(s, 3),
					 db_text(s, 7)};
	char mac[SUBJECT_MAC];
	const struct note *note;

	*id = db_uint(s, 0);
	erased_facts_mac(&r->key, &fact, mac);
	note = find_note(r, FACT, mac);
	/* Somebody may have told it again since. */
	return note && db_uint(s, 8) <= note->at_ms;
}

static int drop_fact(struct db *db, uint64_t id)
{
	return fact_rows_drop(db, id, "", NULL);
}

static bool is_line_noted(const struct replay *r, sqlite3_stmt *s, uint64_t *id)
{
	const struct forgotten_line line = {.guild = db_uint(s, 0),
					    .session = db_uint(s, 1),
					    .utterance = db_uint(s, 2),
					    .user = db_uint(s, 3),
					    .started_ms = db_uint(s, 4),
					    .turn = db_uint(s, 5),
					    .message = db_uint(s, 6)};
	char mac[SUBJECT_MAC];

	*id = db_uint(s, 7);
	forgotten_mac_line(&r->key, &line, mac);
	return find_note(r, LINE, mac) != NULL;
}

static int drop_line(struct db *db, uint64_t id)
{
	return summaries_forget_line(db, id, NULL);
}

/* Deleted, of a channel that was deleted, or with other words than it has on Discord. */
static bool is_message_noted(const struct replay *r, sqlite3_stmt *s, uint64_t *id)
{
	char mac[SUBJECT_MAC];
	const struct note *note;

	*id = db_uint(s, 5);
	forgotten_mac_message(&r->key, db_uint(s, 0), mac);
	if (find_note(r, MESSAGE, mac))
		return true;
	note = find_note(r, EDITED, mac);
	forgotten_mac_text(&r->key, db_uint(s, 0), db_text(s, 4), mac);
	if (note && strcmp(note->text, mac) != 0)
		return true;
	forgotten_mac_channel(&r->key, db_uint(s, 1), db_uint(s, 2), mac);
	note = find_note(r, CHANNEL, mac);
	return note && db_uint(s, 3) <= note->at_ms;
}

static int drop_guilds(struct replay *r)
{
	json_t *found = json_array(), *id;
	sqlite3_stmt *s = db_use(r->db, DB_LIST_GUILDS_OF_MEMORY);
	size_t i;
	int err;

	while ((err = db_step(r->db, s)) == 0)
		json_array_append_new(found, json_integer((json_int_t)db_uint(s, 0)));
	sqlite3_reset(s);
	err = err == ENOENT ? 0 : err;
	json_array_foreach(found, i, id)
	{
		uint64_t guild = (uint64_t)json_integer_value(id);
		char mac[SUBJECT_MAC];
		const struct note *note;

		forgotten_mac_guild(&r->key, guild, mac);
		note = find_note(r, GUILD, mac);
		if (!note || err)
			continue;
		err = guild_facts_drop(r->db, guild, note->at_ms, &(unsigned){0});
		r->out->servers++;
	}
	json_decref(found);
	return err;
}

/* An import refuses them, too. */
static int add_facts(struct replay *r)
{
	int err = 0;

	for (unsigned i = 0; i < r->n && !err; i++)
		if (r->notes[i].kind == FACT || r->notes[i].kind == GUILD)
			err = erased_facts_add(r->db, r->notes[i].mac, r->notes[i].at_ms);
	return err;
}

static int drop_all(struct replay *r)
{
	struct forgotten_replayed *out = r->out;
	int err = add_facts(r);

	if (!err && r->of[GUILD])
		err = drop_guilds(r);
	if (!err && r->of[FACT])
		err = drop_noted(r, DB_LIST_FACTS, is_fact_noted, drop_fact, &out->facts);
	if (!err && r->of[LINE])
		err = drop_noted(r, DB_LIST_NAMES_OF_LINES, is_line_noted, drop_line, &out->lines);
	if (!err && out->lines)
		err = summaries_forget_parts(r->db);
	if (!err && (r->of[MESSAGE] || r->of[EDITED] || r->of[CHANNEL]))
		err = drop_noted(r, DB_LIST_MESSAGES, is_message_noted, timeline_drop,
				 &out->messages);
	return err;
}

/* ---- the database ---- */

static int set_seen(struct db *db, uint64_t to)
{
	sqlite3_stmt *s = db_use(db, DB_SET_META);
	char place[24];

	snprintf(place, sizeof place, "%" PRIu64, to);
	db_bind_text(s, 1, FORGOTTEN_SEEN);
	db_bind_text(s, 2, place);
	return db_run(db, s);
}

static int run(struct replay *r, uint64_t to)
{
	int err = db_begin_synced(r->db);

	*r->out = (struct forgotten_replayed){0};
	if (err)
		return err;
	err = drop_all(r);
	if (!err)
		err = set_seen(r->db, to);
	if (err) {
		db_rollback(r->db);
		return err;
	}
	err = db_commit(r->db);
	if (!err)
		err = db_merge_terms(r->db);
	/* A reader elsewhere ends it later. */
	if (!err)
		db_truncate_wal(r->db);
	return err;
}

static int open_and_run(struct replay *r, const char *dir, uint64_t to)
{
	int err = db_open(&r->db, dir, DB_OWN);

	if (err == ENOSPC && reserve_drop(dir))
		err = db_open(&r->db, dir, DB_OWN);
	if (!err)
		err = run(r, to);
	if (err == ENOSPC && r->db && reserve_drop(dir))
		err = run(r, to);
	r->db = db_close(r->db);
	return err;
}

/* 0 bytes if it is of an older version. ENOENT: there is none. */
static int read_seen(const char *dir, uint64_t *seen)
{
	struct db *db = NULL;
	sqlite3_stmt *s;
	int err = db_open(&db, dir, DB_READ);

	*seen = 0;
	if (!err) {
		s = db_use(db, DB_GET_META);
		db_bind_text(s, 1, FORGOTTEN_SEEN);
		err = db_step(db, s);
		*seen = err ? 0 : db_uint(s, 0);
		err = err == ENOENT ? 0 : err;
	}
	db_close(db);
	return err == ENOTSUP ? 0 : err;
}

int forgotten_replay(const char *dir, struct forgotten_replayed *out)
{
	struct replay r = {.out = out};
	struct record_span span = {0};
	int err = read_seen(dir, &span.from);

	*out = (struct forgotten_replayed){0};
	if (err)
		return err == ENOENT ? 0 : err;
	err = record_file_each_from(dir, FORGOTTEN_FILE, &span, take_note, &r);
	if (!err && r.n)
		err = subject_key_find(dir, &r.key);
	if (err == ENOENT)
		err = ENOKEY;
	if (!err && r.n) {
		qsort(r.notes, r.n, sizeof *r.notes, compare_notes);
		err = open_and_run(&r, dir, span.to);
	}
	explicit_bzero(&r.key, sizeof r.key);
	free(r.notes);
	return err;
}
