#include "control/play.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "control/settings/settings.h"
#include "control/show.h"
#include "control/store/db.h"
#include "control/why.h"

enum { LINES_MAX = 100000, NAMES_SIZE = 2048 };

bool play_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void add_line(json_t *list, uint64_t at, const char *text)
{
	json_array_append_new(list, json_pack("{s:I,s:s}", "at", (json_int_t)at, "line", text));
}

/* The names of members that differ, with a blank before each. */
static void list_changes(const json_t *a, const json_t *b, char out[NAMES_SIZE])
{
	json_t *all = json_object();
	const char *name;
	json_t *value;
	size_t n = 0;

	*out = '\0';
	json_object_update(all, (json_t *)(uintptr_t)a);
	json_object_update(all, (json_t *)(uintptr_t)b);
	json_object_foreach(all, name, value)
	{
		if (!json_equal(json_object_get(a, name), json_object_get(b, name)) &&
		    n < NAMES_SIZE)
			n += (size_t)snprintf(out + n, NAMES_SIZE - n, " %s", name);
	}
	json_decref(all);
}

static json_t *read_intent(const char *text)
{
	json_t *document = json_loads(text, 0, NULL), *intent = json_object_get(document, "intent");

	json_incref(intent);
	if (!intent)
		return document;
	json_decref(document);
	return intent;
}

static void add_version(json_t *list, sqlite3_stmt *s, json_t **before, char scope[64])
{
	json_t *now = read_intent(db_text(s, 3));
	char names[NAMES_SIZE], line[NAMES_SIZE + 128];
	bool first = strcmp(scope, db_text(s, 1)) != 0;

	list_changes(first ? NULL : *before, now, names);
	snprintf(line, sizeof line, "settings %s, version %llu%s%s", db_text(s, 1),
		 (unsigned long long)db_uint(s, 2), first ? ", has" : ", changed", names);
	snprintf(scope, 64, "%s", db_text(s, 1));
	json_decref(*before);
	*before = now;
	add_line(list, db_uint(s, 0), line);
}

static int add_lines(const char *dir, json_t *list)
{
	char scope[64] = "";
	json_t *before = NULL;
	struct db *db = NULL;
	int err = db_open(&db, dir, DB_READ);
	sqlite3_stmt *s;

	if (err)
		return err;
	s = db_use(db, DB_PLAY_INCIDENT);
	db_bind_uint(s, 1, LINES_MAX);
	while (!(err = db_step(db, s)))
		add_line(list, db_uint(s, 0), db_text(s, 1));
	if (err == ENOENT) {
		s = db_use(db, DB_PLAY_SETTINGS);
		while (!(err = db_step(db, s)))
			add_version(list, s, &before, scope);
	}
	json_decref(before);
	db_close(db);
	return err == ENOENT ? 0 : err;
}

static int print_all(const char *dir)
{
	const struct why_query q = {.state_dir = dir, .most = LINES_MAX};
	json_t *list = NULL;
	int err = why_find(&list, &q);

	if (err == ENOENT) {
		list = json_array();
		err = 0;
	}
	if (!err)
		err = add_lines(dir, list);
	if (!err) {
		list = why_sort(list);
		why_print(list);
	}
	json_decref(list);
	return err;
}

int play_run(const char *folder)
{
	struct settings *settings = NULL;
	struct show shown;
	int err;

	show_hold_signals(true);
	err = show_open(&shown, folder, &settings);
	if (!err) {
		err = print_all(shown.dir);
		settings_free(settings);
		show_close(&shown);
	}
	if (err)
		fprintf(stderr, "control: %s cannot be replayed: %s\n", folder,
			err == ENOTSUP ? "it is of another version" : strerror(err));
	return err ? 1 : 0;
}
