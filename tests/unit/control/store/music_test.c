/* Queues of music: they survive a restart, and an export tells who requested which track. */
#include "control/music/queue_document.h"

#include <jansson.h>
#include <sqlite3.h>

#include "control/store/db.h"
#include "control/store/export.h"
#include "tests/unit/control/music/tracks.h"
#include "tests/unit/control/store/store_scene.h"

static char *write_queue(const char *of_alice, const char *of_bob)
{
	struct music_queue *q = NULL;
	char *text = NULL;

	if (music_queue_alloc(&q, GUILD, CHANNEL) == 0 && add_letters(q, of_alice, ALICE) == 0 &&
	    add_letters(q, of_bob, BOB) == 0)
		text = music_queue_write(q);
	music_queue_free(q);
	return text;
}

TEST(a_queue_survives_a_restart)
{
	struct store_scene *s = &store_scene;
	char *text = write_queue("ab", "c"), *again;
	struct music_queue *q = NULL;
	json_t *all;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK(!store_read_queues(s->dir)); /* no database yet */
	CHECK_INT(store_save_queue(s->store, GUILD, "{}"), 0);
	CHECK_INT(store_save_queue(s->store, GUILD, text), 0);
	CHECK_INT(store_save_queue(s->store, 42, "{}"), 0);
	CHECK_INT(store_save_queue(s->store, 42, NULL), 0);
	store_scene_close();
	all = store_read_queues(s->dir);
	CHECK_INT(json_object_size(all), 1);
	again = json_dumps(json_object_get(all, "77"), JSON_COMPACT);
	CHECK_INT(music_queue_read(&q, again), 0);
	CHECK_STR(spell_queue(q), "|abc");
	music_queue_free(q);
	json_decref(all);
	free(again);
	free(text);
	store_scene_end();
}

/* The document of a queue may have a megabyte, and its position changes all the time. */
TEST(a_position_has_a_row_of_its_own)
{
	struct store_scene *s = &store_scene;
	char *text = write_queue("ab", "c");
	struct music_queue *q = NULL;
	json_t *all;

	CHECK_INT(music_queue_read(&q, text), 0);
	store_scene_begin();
	store_scene_open(NULL);
	CHECK_INT(store_save_position(s->store, GUILD, 1, 48000), 0); /* of no queue yet */
	CHECK_INT(store_save_queue(s->store, GUILD, text), 0);
	CHECK_INT(store_save_queue(s->store, 42, text), 0);
	CHECK_INT(store_save_position(s->store, GUILD, 1, 96000), 0);
	CHECK_INT(store_save_position(s->store, GUILD, 1, 144000), 0);
	/* Its document could not be written: the track is another one. */
	CHECK_INT(store_save_position(s->store, 42, 2, 96000), 0);
	store_scene_close();
	all = store_read_queues(s->dir);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(all, "77"), "position")),
		  144000);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(all, "42"), "position")), 0);
	CHECK_INT(json_array_size(json_object_get(json_object_get(all, "77"), "tracks")), 3);
	json_decref(all);
	/* A newer document has a position of its own. */
	store_scene_open(NULL);
	music_queue_set_position(q, 192000);
	free(text);
	text = music_queue_write(q);
	CHECK_INT(store_save_queue(s->store, GUILD, text), 0);
	CHECK_INT(store_save_queue(s->store, 42, "no document"), 0);
	store_scene_close();
	all = store_read_queues(s->dir);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(all, "77"), "position")),
		  192000);
	CHECK_INT(json_object_size(all), 1);
	json_decref(all);
	music_queue_free(q);
	free(text);
	store_scene_end();
}

TEST(an_export_names_the_tracks_that_a_person_requested)
{
	char *text = write_queue("ab", "c"), *document = NULL, dir[32];
	struct db *db = NULL;
	sqlite3_stmt *s;
	bool found = false;
	json_t *j, *list;
	int err;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	s = db_use(db, DB_SET_QUEUE);
	db_bind_uint(s, 1, GUILD);
	db_bind_text(s, 2, text);
	CHECK_INT(db_run(db, s), 0);
	s = db_use(db, DB_SET_QUEUE);
	db_bind_uint(s, 1, 42);
	db_bind_text(s, 2, "damaged");
	CHECK_INT(db_run(db, s), 0);
	CHECK_INT(export_person(db, BOB, 3000, 0, &(uint64_t){0}, &document), 0);
	j = json_loads(document, 0, NULL);
	list = json_object_get(j, "music");
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "title")), "c");
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "guild")), "77");
	/* After a restore, an older erasure finds them. */
	s = db_use(db, DB_FIND_PEOPLE);
	while ((err = db_step(db, s)) == 0)
		found = found || db_uint(s, 0) == BOB;
	CHECK_INT(err, ENOENT);
	CHECK(found);
	json_decref(j);
	free(document);
	free(text);
	db_close(db);
	folder_remove(dir);
}
