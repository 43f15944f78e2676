#include "control/told.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "control/store/db.h"
#include "control/store/faults.h"
#include "control/words/words.h"
#include "proto/base/utf8.h"

/* A clock may be set a little while an answer is made. */
enum { SLACK_MS = 1000 };

/* Columns of DB_FIND_CONTEXT. */
enum { AT, GUILD, CHANNEL, TURN, PROMPTS, TOLD, SESSION };

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* Prints the text of people and models without control characters for the terminal; its lines stay
 * lines, behind `indent`. */
static void print_lines(FILE *out, const char *indent, const char *text)
{
	char *plain = strdup(text), *line = plain, *rest;

	for (; line; line = rest) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		utf8_plain(line);
		fprintf(out, "%s%s\n", line == plain ? "" : indent, line);
	}
	free(plain);
}

static void print_message(FILE *out, const json_t *m)
{
	const char *speaker = text_of(m, "speaker");
	char who[160];

	utf8_copy(who, sizeof who, speaker);
	utf8_plain(who);
	fprintf(out, "%s%s%s: ", text_of(m, "role"), *who ? " " : "", who);
	print_lines(out, "  ",
		    json_is_string(json_object_get(m, "text")) ? text_of(m, "text") : "(left out)");
}

static void print_told(FILE *out, sqlite3_stmt *s)
{
	json_t *root = json_loads(db_text(s, TOLD), 0, NULL), *m;
	time_t at = (time_t)(db_uint(s, AT) / 1000);
	char when[32] = "";
	struct tm tm;
	size_t i;

	if (gmtime_r(&at, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
	if (db_uint(s, SESSION))
		fprintf(out, "turn %" PRIu64, db_uint(s, TURN));
	else
		fprintf(out, "answer %" PRIu64 " in channel %" PRIu64 " of server %" PRIu64,
			db_uint(s, TURN), db_uint(s, CHANNEL), db_uint(s, GUILD));
	fprintf(out, ", %s UTC, prompts %" PRIu64 "\n", when, db_uint(s, PROMPTS));
	print_lines(out, "", text_of(root, "instructions"));
	json_array_foreach(json_object_get(root, "messages"), i, m) print_message(out, m);
	json_decref(root);
}

/* A written answer, as the store tells how it ended. */
struct answer {
	uint64_t at_ms, guild, channel, number, lasted_ms;
};

/* ENOENT: there is none. */
static int find_answer(struct db *db, const struct why_query *q, struct answer *a)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_REPLY);
	int err;

	db_bind_uint(s, 1, q->turn);
	db_bind_uint(s, 2, q->guild);
	db_bind_uint(s, 3, q->message);
	err = db_step(db, s);
	if (!err)
		*a = (struct answer){.at_ms = db_uint(s, 0),
				     .guild = db_uint(s, 1),
				     .channel = db_uint(s, 2),
				     .number = db_uint(s, 3),
				     .lasted_ms = db_uint(s, 4)};
	return err;
}

/* a: the answer whose context it is to be; NULL: any of that number. */
static int find_context(struct db *db, const struct why_query *q, const struct answer *a,
			sqlite3_stmt **out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_CONTEXT);
	uint64_t before = a ? a->lasted_ms + SLACK_MS : 0;

	db_bind_uint(s, 1, a ? a->number : q->turn);
	db_bind_uint(s, 2, a ? a->guild : q->guild);
	db_bind_uint(s, 3, a ? a->channel : 0);
	db_bind_uint(s, 4, a && a->at_ms > before ? a->at_ms - before : 0);
	db_bind_uint(s, 5, a ? a->at_ms : 0);
	*out = s;
	return db_step(db, s);
}

/* Numbers begin anew in each server, in direct messages and with each start: what is told is of the
 * newest answer, or nothing. */
static int print_context(FILE *out, struct db *db, const struct why_query *q, struct words *w)
{
	struct answer a = {0};
	sqlite3_stmt *s = NULL;
	int found = q->turn || q->message ? find_answer(db, q, &a) : ENOENT;
	int err = q->message ? ENOENT : find_context(db, q, NULL, &s);
	bool other = !err && !found && a.at_ms >= db_uint(s, AT);

	if ((q->message && !found && a.number) || other)
		err = find_context(db, q, &a, &s);
	if (!err)
		print_told(out, s);
	else if (other)
		words_context_other(w);
	else
		words_context_none(w);
	return err;
}

int told_run(FILE *out, const struct why_query *q)
{
	struct words w = {0};
	struct db *db = NULL;
	int err = db_open(&db, q->state_dir, DB_READ);

	if (err == ENOENT)
		words_store_missing(&w, q->state_dir);
	else if (err)
		store_fault_words(&w, q->state_dir, err);
	else
		err = print_context(out, db, q, &w);
	db_close(db);
	if (w.n)
		fprintf(stderr, "control: %s\n", w.text);
	return err ? 1 : 0;
}
