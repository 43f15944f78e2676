#include "control/store/messages.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/forgotten.h"
#include "control/store/timeline.h"

bool messages_takes_away(const struct bus_event *ev)
{
	return ev->type == EVENT_MESSAGE && ev->message.change &&
	       strcmp(ev->message.change, "written") != 0;
}

/* *seq 0: the store has no such message. */
static int find(struct db *db, uint64_t message, uint64_t *seq)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_MESSAGE);
	int err;

	*seq = 0;
	db_bind_uint(s, 1, message);
	err = db_step(db, s);
	if (!err)
		*seq = db_uint(s, 0);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int write_message(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_message *m = &ev->message;
	uint64_t seq;
	int err = find(db, m->message, &seq);

	/* Discord may tell of a message again after a lost connection. */
	if (err || seq || !words || !m->text || !*m->text)
		return err;
	return timeline_add(db,
			    &(struct timeline_line){.guild = ev->guild,
						    .channel = m->channel,
						    .user = ev->user,
						    .name = m->bot ? NULL : m->name,
						    .text = m->text,
						    .started_ms = m->written_ms,
						    .ended_ms = m->written_ms,
						    .message = m->message,
						    .source = m->bot ? "bot" : "text",
						    .addressee = m->bot	     ? NULL
								 : m->to_bot ? "bot"
									     : "room",
						    .told = m->bot ? m->told : NULL,
						    .confidence = -1,
						    .consent = true},
			    true);
}

/* To the newest line, which takes the place of this one. A line of which somebody forgot a fact is
 * found no more, whatever it says now: what the fact was is not known. */
static int move_rest(struct db *db, uint64_t seq)
{
	static const enum db_statement all[] = {DB_MOVE_TOLD, DB_MOVE_LINE_SOURCES,
						DB_MOVE_FORGOTTEN};

	return db_run_each(db, all, sizeof all / sizeof all[0], seq);
}

/* A new line takes the place of the old one, so that it gets a vector of its own. */
static int edit_message(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_message *m = &ev->message;
	sqlite3_stmt *s = db_use(db, DB_FIND_MESSAGE);
	struct timeline_line line = {.message = m->message, .confidence = -1, .consent = true};
	char *name = NULL, *source = NULL, *addressee = NULL;
	uint64_t seq = 0;
	bool same = false;
	int err;

	db_bind_uint(s, 1, m->message);
	err = db_step(db, s);
	if (!err) {
		seq = db_uint(s, 0);
		/* Words that have expired do not come back. */
		same = !*db_text(s, 1) || (m->text && strcmp(db_text(s, 1), m->text) == 0);
		line.guild = db_uint(s, 2);
		line.channel = db_uint(s, 3);
		line.user = db_uint(s, 4);
		line.name = name = strdup(db_text(s, 5));
		line.started_ms = line.ended_ms = db_uint(s, 6);
		line.source = source = strdup(db_text(s, 7));
		line.addressee = addressee = strdup(db_text(s, 8));
		line.text = m->text;
		err = name && source && addressee ? 0 : ENOMEM;
	}
	sqlite3_reset(s);
	if (!err && seq && !same && words && m->text && *m->text) {
		err = timeline_add(db, &line, true);
		if (!err)
			err = move_rest(db, seq);
	}
	if (!err && seq && !same)
		err = timeline_drop(db, seq);
	free(name);
	free(source);
	free(addressee);
	return err == ENOENT ? 0 : err;
}

static int delete_channel(struct db *db, uint64_t guild, uint64_t channel)
{
	int err;

	do {
		sqlite3_stmt *s = db_use(db, DB_FIND_MESSAGE_OF_CHANNEL);
		uint64_t seq = 0;

		db_bind_uint(s, 1, guild);
		db_bind_uint(s, 2, channel);
		err = db_step(db, s);
		if (!err)
			seq = db_uint(s, 0);
		sqlite3_reset(s);
		if (!err)
			err = timeline_drop(db, seq);
	} while (!err);
	return err == ENOENT ? 0 : err;
}

static int delete_message(struct db *db, const struct bus_event *ev)
{
	uint64_t seq = 0;
	int err;

	if (!ev->message.message)
		return delete_channel(db, ev->guild, ev->message.channel);
	err = find(db, ev->message.message, &seq);
	return err || !seq ? err : timeline_drop(db, seq);
}

int messages_take(struct db *db, const struct bus_event *ev, bool words)
{
	const char *change = ev->message.change ? ev->message.change : "";

	if (strcmp(change, "deleted") == 0)
		return delete_message(db, ev);
	return strcmp(change, "edited") == 0 ? edit_message(db, ev, words)
					     : write_message(db, ev, words);
}

/* ---- what a backup from before would bring back ---- */

/* Words that have expired are no words. */
static int find_text(struct db *db, uint64_t message, char **text)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_MESSAGE);
	int err;

	*text = NULL;
	db_bind_uint(s, 1, message);
	err = db_step(db, s);
	if (!err && *db_text(s, 1)) {
		*text = strdup(db_text(s, 1));
		err = *text ? 0 : ENOMEM;
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int messages_note(struct db *db, const struct bus_event *ev, bool words, struct forgotten *f)
{
	const struct event_message *m = &ev->message;
	char *text = NULL;
	int err;

	if (!m->message)
		return forgotten_note_channel(f, ev->guild, m->channel);
	err = find_text(db, m->message, &text);
	if (!err && text) {
		bool edited = strcmp(m->change, "edited") == 0 && words && m->text && *m->text;

		err = edited ? forgotten_note_edit(f, m->message, m->text)
			     : forgotten_note_message(f, m->message);
	}
	free(text);
	return err;
}
