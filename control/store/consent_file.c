#include "control/store/consent_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/store/db.h"
#include "control/store/record_file.h"
#include "control/store/subject.h"

enum { STATE_SIZE = 16 };

struct answer {
	unsigned long long at_ms, guild;
	char mac[SUBJECT_MAC], state[STATE_SIZE];
};

int consent_file_add(const char *dir, const struct consent_change *c, const char *mac)
{
	char line[128];

	snprintf(line, sizeof line, "%llu %llu %s %s", (unsigned long long)c->at_ms,
		 (unsigned long long)c->guild, mac, c->after);
	return record_file_add(dir, "consents", line);
}

static bool is_state(const char *state)
{
	static const char *const states[] = {"heard", "remembered", "neither"};

	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (strcmp(state, states[i]) == 0)
			return true;
	return false;
}

/* False also for a line that a crash has cut short: it must not stand for an older answer. */
static bool read_answer(const char *line, struct answer *out)
{
	return sscanf(line, "%20llu %20llu %32s %15s", &out->at_ms, &out->guild, out->mac,
		      out->state) == 4 &&
	       strlen(out->mac) == SUBJECT_MAC - 1 &&
	       strspn(out->mac, "0123456789abcdef") == SUBJECT_MAC - 1 && is_state(out->state) &&
	       out->guild <= INT64_MAX && out->at_ms <= INT64_MAX;
}

/* The newest answer of each person and server; others, and lines of another form, are left out. */
static int take_line(const char *line, void *arg)
{
	json_t *newest = arg;
	char key[24 + SUBJECT_MAC], text[64 + SUBJECT_MAC];
	struct answer a;

	if (!read_answer(line, &a))
		return 0;
	snprintf(key, sizeof key, "%llu:%s", a.guild, a.mac);
	/* Without what follows in the line, which may be no text. */
	snprintf(text, sizeof text, "%llu %llu %s %s", a.at_ms, a.guild, a.mac, a.state);
	return json_object_set_new(newest, key, json_string(text)) ? ENOMEM : 0;
}

/* ---- what the database lacks ---- */

static int find_change(struct db *db, struct answer *a, struct consent_change *out,
		       char before[STATE_SIZE])
{
	struct sqlite3_stmt *s = db_use(db, DB_FIND_CONSENT);
	bool known = false, erased;
	int err;

	snprintf(before, STATE_SIZE, "default");
	db_bind_uint(s, 1, a->guild);
	db_bind_text(s, 2, a->mac);
	err = db_step(db, s);
	if (!err) {
		known = db_uint(s, 1) >= a->at_ms;
		snprintf(before, STATE_SIZE, "%s", db_text(s, 0));
	}
	db_use(db, DB_FIND_CONSENT); /* ends the read */
	if (known || (err && err != ENOENT))
		return known ? ENOENT : err;
	s = db_use(db, DB_FIND_DELETION);
	db_bind_text(s, 1, a->mac);
	db_bind_uint(s, 2, a->at_ms);
	err = db_step(db, s);
	erased = !err;
	db_use(db, DB_FIND_DELETION);
	if (err && err != ENOENT)
		return err;
	if (erased && strcmp(a->state, "remembered") == 0)
		snprintf(a->state, STATE_SIZE, "heard");
	*out = (struct consent_change){.guild = a->guild,
				       .at_ms = a->at_ms,
				       .before = before,
				       .after = a->state,
				       .via = "restore",
				       .by_default = true}; /* nobody knows */
	return 0;
}

/* ENOENT: nothing is lacking. */
static int find_lacking(struct db *db, const json_t *newest)
{
	char before[STATE_SIZE];
	struct consent_change c;
	int err = ENOENT;
	const char *key;
	json_t *line;

	json_object_foreach((json_t *)(uintptr_t)newest, key, line)
	{
		struct answer a;

		if (err == ENOENT && read_answer(json_string_value(line), &a))
			err = find_change(db, &a, &c, before);
	}
	return err;
}

static int put_lacking(struct db *db, const json_t *newest, unsigned *changed)
{
	const char *key;
	json_t *line;
	int err = db_begin_synced(db);

	if (err)
		return err;
	json_object_foreach((json_t *)(uintptr_t)newest, key, line)
	{
		char before[STATE_SIZE];
		struct consent_change c;
		struct answer a;
		int found;

		if (err || !read_answer(json_string_value(line), &a))
			continue;
		found = find_change(db, &a, &c, before);
		if (!found)
			err = consents_add_row(db, &c, a.mac);
		else if (found != ENOENT)
			err = found;
		*changed += !found && !err;
	}
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

/* Writes only if it must: the disk may be full, or readable alone. */
static int bring_up(const char *dir, const json_t *newest, unsigned *changed)
{
	struct db *db = NULL;
	int err = db_open(&db, dir, DB_READ);

	if (!err)
		err = find_lacking(db, newest);
	else if (err == ENOENT || err == ENOTSUP)
		err = 0; /* made, or migrated, below */
	db_close(db);
	db = NULL;
	if (err)
		return err == ENOENT ? 0 : err;
	err = db_open(&db, dir, DB_OWN);
	if (!err)
		err = put_lacking(db, newest, changed);
	db_close(db);
	return err;
}

int consents_replay(const char *dir, unsigned *changed)
{
	json_t *newest = json_object();
	int err = newest ? record_file_each(dir, "consents", take_line, newest) : ENOMEM;

	*changed = 0;
	if (!err && json_object_size(newest))
		err = bring_up(dir, newest, changed);
	json_decref(newest);
	return err;
}
