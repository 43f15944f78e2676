/* Whose voice the agent keeps. */
#include "tests/unit/control/agent/agent_scene.h"

#include <sqlite3.h>

#include "control/store/store.h"
#include "tests/unit/ipc/loop.h"

static struct scene s;
static struct store *store;
static struct bus *bus; /* of the store alone, which ends before the agent does */
static char dir[32];

static bool keeps_audio(struct scene *scene)
{
	return scene_waits_for_the_end(scene) &&
	       !settings_set(scene->settings, "keep_audio_hours", "1");
}

static bool keeps_nothing(struct scene *scene)
{
	return scene_waits_for_the_end(scene);
}

static bool nobody(uint64_t user, void *arg)
{
	(void)user;
	(void)arg;
	return false;
}

static void on_done(int err, void *arg)
{
	(void)err;
	env_stop(arg);
}

static bool begin(bool (*prepare)(struct scene *scene))
{
	if (!scene_begin(&s, "off", prepare) || !folder_make(dir) || bus_alloc(&bus) ||
	    store_alloc(&store, s.fake.env, bus, s.settings, dir))
		return false;
	s.agent->store = store;
	s.words = "parley what time is it";
	return true;
}

/* Bytes of sound that are kept of Alice. */
static unsigned end(void)
{
	sqlite3 *sql = NULL;
	sqlite3_stmt *row = NULL;
	char path[64];
	unsigned n = 0;

	if (store_sync(store, on_done, s.fake.env) == 0)
		env_run(s.fake.env);
	s.agent->store = NULL;
	store_free(store);
	bus_free(bus);
	scene_end(&s);
	snprintf(path, sizeof path, "%s/parley.db", dir);
	if (sqlite3_open(path, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql,
			       "SELECT sum(length(sound)) FROM recordings WHERE user = 5"
			       " AND utterance > 0 AND ms > 0",
			       -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(sql);
	folder_remove(dir);
	return n;
}

TEST(the_voice_of_somebody_who_is_remembered_is_kept_if_the_setting_says_so)
{
	CHECK(begin(keeps_audio));
	CHECK(scene_run(&s, scene_answered));
	CHECK(end() >= ROOM_RATE / 2);
	CHECK(begin(keeps_nothing));
	CHECK(scene_run(&s, scene_answered));
	CHECK_INT(end(), 0);
}

TEST(the_voice_of_somebody_who_has_not_agreed_is_not_kept)
{
	CHECK(begin(keeps_audio));
	s.agent->remembersh = nobody;
	CHECK(scene_run(&s, scene_answered));
	CHECK_INT(end(), 0);
}

TEST(a_consent_that_is_withdrawn_takes_what_was_recorded_so_far)
{
	CHECK(begin(keeps_audio));
	CHECK(scene_run(&s, scene_answered));
	agent_consent(s.agent, ALICE, true);
	CHECK(!s.agent->recordings);
	CHECK_INT(end(), 0);
}
