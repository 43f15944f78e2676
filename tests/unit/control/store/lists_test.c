/* Lists of the store have no end: an erasure reaches every server that may know a person. */
#include "tests/unit/control/store/store_scene.h"

#include <sqlite3.h>

enum { ANA = 4, SERVERS = 450 };

static struct store_scene *const s = &store_scene;
static size_t listed;
static uint64_t sum;

static void on_list(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)arg;
	s->err = err;
	listed = n;
	sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += list[i].version;
	env_stop(s->l.env);
}

static void run_sql(const char *sql)
{
	sqlite3 *db = NULL;

	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 1000);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void on_synced(int err, void *arg)
{
	(void)err;
	(void)arg;
	env_stop(s->l.env);
}

static void open_scene(void)
{
	store_scene_begin();
	store_scene_open(NULL);
	CHECK_INT(store_sync(s->store, on_synced, NULL), 0); /* the database is there */
	CHECK(loop_run(&s->l));
}

static void close_scene(void)
{
	store_scene_close();
	store_scene_end();
}

#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450) "

TEST(an_erasure_knows_every_server_of_the_person)
{
	open_scene();
	run_sql(NUMBERS
		"INSERT INTO utterances(guild, session, user, name) SELECT i, 1, 4, 'Ana' FROM n");
	CHECK_INT(store_begin_erasure(s->store, ANA, false, on_list, NULL), 0);
	CHECK(loop_run(&s->l));
	CHECK_INT(s->err, 0);
	CHECK_INT(listed, SERVERS);
	CHECK_INT(sum, SERVERS * (SERVERS + 1) / 2);
	close_scene();
}

TEST(every_erasure_that_is_left_is_known)
{
	open_scene();
	run_sql(NUMBERS "INSERT INTO erase_requests(user, at_ms) SELECT i, i FROM n");
	CHECK_INT(store_list_erase_requests(s->store, on_list, NULL), 0);
	CHECK(loop_run(&s->l));
	CHECK_INT(s->err, 0);
	CHECK_INT(listed, SERVERS);
	close_scene();
}

TEST(costs_of_every_server_are_summed)
{
	open_scene();
	run_sql(NUMBERS "INSERT INTO costs(at_ms, guild, nano) SELECT 5, i, 2 FROM n");
	CHECK_INT(store_sum_costs(s->store, 1, on_list, NULL), 0);
	CHECK(loop_run(&s->l));
	CHECK_INT(s->err, 0);
	CHECK_INT(listed, SERVERS);
	CHECK_INT(sum, 2 * SERVERS);
	close_scene();
}
