#include "tests/unit/control/store/store_scene.h"

#include <sqlite3.h>

struct store_scene store_scene;

void store_scene_begin(void)
{
	struct store_scene *s = &store_scene;

	memset(s, 0, sizeof *s);
	CHECK(folder_make(s->dir));
	snprintf(s->path, sizeof s->path, "%.31s/parley.db", s->dir);
	CHECK_INT(settings_alloc(&s->settings), 0);
}

void store_scene_open(struct journal *journal)
{
	struct store_scene *s = &store_scene;

	CHECK_INT(loop_open(&s->l, journal), 0);
	/* Tests read it also before the loop runs. */
	store_scene_ms(0);
	CHECK_INT(bus_alloc(&s->bus), 0);
	CHECK_INT(store_alloc(&s->store, s->l.env, s->bus, s->settings, s->dir), 0);
	if (!s->drops)
		store_keep_all(s->store);
}

void store_scene_close(void)
{
	struct store_scene *s = &store_scene;

	store_free(s->store);
	bus_free(s->bus);
	loop_close(&s->l);
}

void store_scene_end(void)
{
	settings_free(store_scene.settings);
	folder_remove(store_scene.dir);
}

unsigned store_scene_count(const char *file, const char *text)
{
	char line[4096];
	unsigned n = 0;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof line, f))
		n += strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return n;
}

uint64_t store_scene_ms(uint64_t ms)
{
	static uint64_t an_hour_ago;

	if (!an_hour_ago)
		an_hour_ago = env_wall_ms(store_scene.l.env) - 3600000;
	return an_hour_ago + ms;
}

int store_scene_number(const char *sql)
{
	sqlite3_stmt *row = NULL;
	sqlite3 *own = NULL;
	int n = -1;

	if (sqlite3_open(store_scene.path, &own) == SQLITE_OK &&
	    sqlite3_prepare_v2(own, sql, -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		n = sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(own);
	return n;
}
