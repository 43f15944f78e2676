/* Music for the tools of a room: the document that a model gets for the hits of the library. */
#include "control/agent/agent_music.h"

#include <jansson.h>

#include "control/library/library.h"
#include "tests/unit/control/library/folders.h"
#include "tests/unit/ipc/loop.h"

static struct loop l;
static struct library *library;
static struct agent_music *music;
static char state[32], output[1024];

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)arg;
	snprintf(output, sizeof output, "%u %s%.*s", id, ok ? "" : "failed: ", (int)text.n,
		 (const char *)text.p);
	env_stop(l.env);
}

static bool open_music(void)
{
	return make_folder() && folder_make(state) && loop_open(&l, NULL) == 0 &&
	       library_alloc(&library, l.env, state, folder) == 0 &&
	       agent_music_alloc(&music, library, take_output, NULL) == 0;
}

static void close_music(void)
{
	agent_music_free(music);
	library_free(library);
	loop_close(&l);
	remove_folder();
	folder_remove(state);
}

TEST(a_model_gets_tracks_it_can_select)
{
	const json_t *track;
	json_t *told;

	CHECK(open_music());
	CHECK(write_music("Toto/Toto IV/01 - Rosanna.mp3", "") && write_music("Nena.mp3", ""));
	*output = '\0';
	/* The scan runs beside. */
	for (unsigned i = 0; i < 500 && !strstr(output, "Rosanna"); i++) {
		loop_run_for(&l, 5 * NS_PER_MS);
		CHECK_INT(agent_music_search(music, 7, "rosana", 5), 0);
		CHECK(loop_run(&l));
	}
	CHECK(strncmp(output, "7 {", 3) == 0);
	told = json_loads(output + 2, 0, NULL);
	CHECK_INT(json_array_size(json_object_get(told, "tracks")), 1);
	track = json_array_get(json_object_get(told, "tracks"), 0);
	CHECK_STR(json_string_value(json_object_get(track, "title")), "Rosanna");
	CHECK_STR(json_string_value(json_object_get(track, "artist")), "Toto");
	CHECK_STR(json_string_value(json_object_get(track, "album")), "Toto IV");
	CHECK_STR(json_string_value(json_object_get(track, "source")), "local");
	CHECK(strncmp(json_string_value(json_object_get(track, "selection_id")), "local-", 6) == 0);
	json_decref(told);
	close_music();
}

TEST(searches_have_a_cap_and_end_with_the_room)
{
	unsigned n = 0;

	CHECK(open_music());
	while (agent_music_search(music, n, "x", 5) == 0)
		n++;
	CHECK_INT(n, 8);
	CHECK_INT(agent_music_search(music, n, "x", 5), ENOSPC);
	*output = '\0';
	music = agent_music_free(music); /* its searches are under way */
	loop_run_for(&l, 50 * NS_PER_MS);
	CHECK_STR(output, "");
	close_music();
}

TEST(a_library_that_fails_is_told)
{
	CHECK(open_music());
	CHECK_INT(rmdir(state), 0);
	CHECK_INT(agent_music_search(music, 7, "x", 5), 0);
	CHECK(loop_run(&l));
	CHECK(strncmp(output, "7 failed: ", 10) == 0);
	close_music();
}
