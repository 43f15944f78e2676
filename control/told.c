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

/* Columns of DB_FIND_CONTEXT. */
enum { AT, GUILD, CHANNEL, TURN, PROMPTS, TOLD };

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
	fprintf(out, "turn %" PRIu64 ", %s UTC, prompts %" PRIu64 "\n", db_uint(s, TURN), when,
		db_uint(s, PROMPTS));
	print_lines(out, "", text_of(root, "instructions"));
	json_array_foreach(json_object_get(root, "messages"), i, m) print_message(out, m);
	json_decref(root);
}

int told_run(FILE *out, const char *state_dir, uint64_t turn, uint64_t guild)
{
	struct words w = {0};
	struct db *db = NULL;
	int err = db_open(&db, state_dir, DB_READ);
	sqlite3_stmt *s;

	if (err == ENOENT)
		words_store_missing(&w, state_dir);
	else if (err)
		store_fault_words(&w, state_dir, err);
	if (!err) {
		s = db_use(db, DB_FIND_CONTEXT);
		db_bind_uint(s, 1, turn);
		db_bind_uint(s, 2, guild);
		err = db_step(db, s);
		if (!err)
			print_told(out, s);
		else
			words_context_none(&w);
	}
	db_close(db);
	if (w.n)
		fprintf(stderr, "control: %s\n", w.text);
	return err ? 1 : 0;
}
