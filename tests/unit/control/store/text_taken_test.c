/* What a restart is to know of written messages: rows that are written, read again, expire, and go
 * with a person. */
#include "control/store/store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "ipc/env.h"
#include "tests/test.h"
#include "tests/unit/control/store/store_scene.h"

static void on_done(int err, void *arg)
{
	(void)arg;
	store_scene.err = err;
	env_stop(store_scene.l.env);
}

static void on_erased(int err, const struct store_document *d, void *arg)
{
	(void)d;
	on_done(err, arg);
}

static void save(const char *rows)
{
	store_scene.err = -1;
	CHECK_INT(store_save_taken(store_scene.store, rows, on_done, NULL), 0);
	loop_run(&store_scene.l);
}

static void run_sql(const char *text)
{
	sqlite3 *sql = NULL;

	CHECK_INT(sqlite3_open(store_scene.path, &sql), SQLITE_OK);
	CHECK_INT(sqlite3_exec(sql, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
}

/* The rows as a start reads them. */
static void is(const char *wanted)
{
	json_t *rows = store_read_taken(store_scene.dir);
	char *text = rows ? json_dumps(rows, JSON_COMPACT) : NULL;

	CHECK_STR(text ? text : "none", wanted);
	free(text);
	json_decref(rows);
}

static size_t count(void)
{
	json_t *rows = store_read_taken(store_scene.dir);
	size_t n = json_array_size(rows);

	json_decref(rows);
	return n;
}

TEST(taken_messages_outlive_the_program)
{
	store_scene_begin();
	store_scene_open(NULL);
	save("[[10,7,5,501,\"waits\",0],[11,7,5,502,\"sending\",4611686018427387904]]");
	CHECK_INT(store_scene.err, 0);
	save("[[10,7,5,501,\"ended\",0]]");
	is("[[11,7,5,502,\"sending\",4611686018427387904],[10,7,5,501,\"ended\",0]]");
	store_scene_close();
	is("[[11,7,5,502,\"sending\",4611686018427387904],[10,7,5,501,\"ended\",0]]");
	/* Of a person who is erased the messages alone are left, and have ended. */
	store_scene_open(NULL);
	CHECK_INT(store_erase_person(store_scene.store, 502, "test", false, on_erased, NULL), 0);
	loop_run(&store_scene.l);
	CHECK_INT(store_scene.err, 0);
	is("[[11,7,5,0,\"ended\",0],[10,7,5,501,\"ended\",0]]");
	/* Somebody who writes any number of messages drives out no others'. */
	store_scene_close();
	run_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
		" INSERT INTO text_taken SELECT 1000 + i, 7, 5, 666, 'ended', 0, at_ms FROM n,"
		" (SELECT max(at_ms) AS at_ms FROM text_taken)");
	CHECK_INT(count(), 128 + 2);
	run_sql("DELETE FROM text_taken WHERE user = 666");
	store_scene_open(NULL);
	/* Old ones go by themselves: a store looks a second after it was opened. */
	store_scene_close();
	store_scene.drops = true;
	run_sql("UPDATE text_taken SET at_ms = at_ms - 9 * 86400000");
	store_scene_open(NULL);
	save("[[12,7,5,501,\"waits\",0]]");
	for (unsigned i = 0; i < 400; i++) {
		if (count() == 1)
			break;
		usleep(50000);
		CHECK_INT(store_sync(store_scene.store, on_done, NULL), 0);
		loop_run(&store_scene.l);
	}
	is("[[12,7,5,501,\"waits\",0]]");
	store_scene_close();
	store_scene_end();
}
