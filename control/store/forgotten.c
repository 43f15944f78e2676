#include "control/store/forgotten.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/consents.h"
#include "control/store/db.h"
#include "control/store/erased_facts.h"
#include "control/store/record_file.h"
#include "ipc/log.h"

enum { NOTE = 128 };

struct forgotten {
	struct db *db;
	char *dir;
	uint64_t at_ms;
	struct subject_key key;
	char *text; /* the lines */
	size_t n, room;
};

/* ---- pseudonyms ---- */

void forgotten_mac_guild(const struct subject_key *key, uint64_t guild, char out[SUBJECT_MAC])
{
	subject_mac_text(key, &guild, 1, "guild", out);
}

void forgotten_mac_line(const struct subject_key *key, const struct forgotten_line *l,
			char out[SUBJECT_MAC])
{
	const uint64_t ids[] = {l->guild,      l->session, l->utterance, l->user,
				l->started_ms, l->turn,	   l->message};

	subject_mac_text(key, ids, sizeof ids / sizeof ids[0], "line", out);
}

void forgotten_mac_message(const struct subject_key *key, uint64_t message, char out[SUBJECT_MAC])
{
	subject_mac_text(key, &message, 1, "message", out);
}

void forgotten_mac_text(const struct subject_key *key, uint64_t message, const char *text,
			char out[SUBJECT_MAC])
{
	subject_mac_text(key, &message, 1, text, out);
}

void forgotten_mac_channel(const struct subject_key *key, uint64_t guild, uint64_t channel,
			   char out[SUBJECT_MAC])
{
	const uint64_t ids[] = {guild, channel};

	subject_mac_text(key, ids, 2, "channel", out);
}

/* ---- notes ---- */

static void warn_not_noted(const char *dir, int err)
{
	log_warn("forgotten_not_noted",
		 "dir=\"%s\" error=\"%s\" text=\"A backup from before would bring back what was "
		 "just forgotten or deleted\"",
		 dir, strerror(err));
}

int forgotten_alloc(struct forgotten **out, struct db *db, const char *dir, uint64_t at_ms)
{
	struct forgotten *f = calloc(1, sizeof *f);
	int err = 0;

	*out = NULL;
	if (f)
		f->dir = strdup(dir);
	if (!f || !f->dir)
		err = ENOMEM;
	if (!err)
		err = consents_read_key(db, dir, &f->key);
	if (err) {
		forgotten_free(f);
		if (err == ENOMEM || err == ENOSPC)
			return err;
		warn_not_noted(dir, err);
		return 0;
	}
	f->db = db;
	f->at_ms = at_ms;
	*out = f;
	return 0;
}

struct forgotten *forgotten_free(struct forgotten *f)
{
	if (!f)
		return NULL;
	explicit_bzero(&f->key, sizeof f->key);
	free(f->dir);
	free(f->text);
	free(f);
	return NULL;
}

/* mac_text: NULL for a line with one pseudonym. */
static int add_line(struct forgotten *f, const char *kind, const char *mac, const char *mac_text)
{
	if (f->n + NOTE > f->room) {
		size_t room = f->room ? 2 * f->room : 8 * (size_t)NOTE;
		char *text = realloc(f->text, room);

		if (!text)
			return ENOMEM;
		f->text = text;
		f->room = room;
	}
	f->n += (size_t)snprintf(f->text + f->n, f->room - f->n, "%" PRIu64 " %s %s%s%s\n",
				 f->at_ms, kind, mac, mac_text ? " " : "",
				 mac_text ? mac_text : "");
	return 0;
}

int forgotten_note_fact(struct forgotten *f, const struct erased_fact *fact)
{
	char mac[SUBJECT_MAC];
	int err;

	if (!f)
		return 0;
	erased_facts_mac(&f->key, fact, mac);
	err = erased_facts_add(f->db, mac, f->at_ms);
	return err ? err : add_line(f, "fact", mac, NULL);
}

int forgotten_note_guild(struct forgotten *f, uint64_t guild)
{
	char mac[SUBJECT_MAC];
	int err;

	if (!f)
		return 0;
	forgotten_mac_guild(&f->key, guild, mac);
	err = erased_facts_add(f->db, mac, f->at_ms);
	return err ? err : add_line(f, "guild", mac, NULL);
}

int forgotten_note_line(struct forgotten *f, const struct forgotten_line *line)
{
	char mac[SUBJECT_MAC];

	if (!f)
		return 0;
	forgotten_mac_line(&f->key, line, mac);
	return add_line(f, "line", mac, NULL);
}

int forgotten_note_message(struct forgotten *f, uint64_t message)
{
	char mac[SUBJECT_MAC];

	if (!f)
		return 0;
	forgotten_mac_message(&f->key, message, mac);
	return add_line(f, "message", mac, NULL);
}

int forgotten_note_edit(struct forgotten *f, uint64_t message, const char *text)
{
	char mac[SUBJECT_MAC], now[SUBJECT_MAC];

	if (!f)
		return 0;
	forgotten_mac_message(&f->key, message, mac);
	forgotten_mac_text(&f->key, message, text, now);
	return add_line(f, "edited", mac, now);
}

int forgotten_note_channel(struct forgotten *f, uint64_t guild, uint64_t channel)
{
	char mac[SUBJECT_MAC];

	if (!f)
		return 0;
	forgotten_mac_channel(&f->key, guild, channel, mac);
	return add_line(f, "channel", mac, NULL);
}

/* ---- the file ---- */

/* Of notes that failed before this database has to hear again: then the place stays. */
static int move_seen(struct db *db, const struct record_span *span)
{
	struct sqlite3_stmt *s = db_use(db, DB_GET_META);
	char place[24];
	uint64_t seen = 0;
	int err;

	db_bind_text(s, 1, FORGOTTEN_SEEN);
	err = db_step(db, s);
	if (!err)
		seen = db_uint(s, 0);
	db_use(db, DB_GET_META); /* ends the read */
	if (err && err != ENOENT)
		return err;
	if (seen != span->from)
		return 0;
	snprintf(place, sizeof place, "%" PRIu64, span->to);
	s = db_use(db, DB_SET_META);
	db_bind_text(s, 1, FORGOTTEN_SEEN);
	db_bind_text(s, 2, place);
	return db_run(db, s);
}

int forgotten_save(struct forgotten *f)
{
	struct record_span span;
	int err;

	if (!f || !f->n)
		return 0;
	err = record_file_append(f->dir, FORGOTTEN_FILE, f->text, &span);
	f->n = 0;
	if (err == ENOSPC)
		return err;
	if (err) {
		warn_not_noted(f->dir, err);
		return 0;
	}
	return move_seen(f->db, &span);
}
