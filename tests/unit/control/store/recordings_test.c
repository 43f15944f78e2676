/* Recordings of utterances: kept, listed, read, and gone with time, consent, person and backup. */
#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include "control/store/db.h"
#include "tests/unit/control/store/store_scene.h"

#define ANA UINT64_C(501234567890123456)
#define BOB UINT64_C(502234567890123456)

static void on_done(int err, void *arg)
{
	(void)arg;
	store_scene.err = err;
	env_stop(store_scene.l.env);
}

static void settle(void)
{
	CHECK_INT(store_sync(store_scene.store, on_done, NULL), 0);
	loop_run(&store_scene.l);
}

static void keep(uint64_t user, uint32_t utterance, uint64_t at_ms)
{
	static const uint8_t sound[] = "frobozz-frobozz-frobozz";
	const struct store_recording r = {.guild = 7,
					  .session = 5,
					  .user = user,
					  .utterance = utterance,
					  .at_ms = at_ms,
					  .ms = 20,
					  .sound = sound,
					  .n = sizeof sound};

	CHECK_INT(store_keep_recording(store_scene.store, &r), 0);
}

static unsigned count(const char *where)
{
	unsigned n = 0;
	sqlite3 *sql = NULL;
	sqlite3_stmt *s = NULL;
	char query[120];

	snprintf(query, sizeof query, "SELECT count(*) FROM recordings WHERE %s", where);
	if (sqlite3_open(store_scene.path, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql, query, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

static void say_turn(void)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = 7, .user = ANA};

	ev.at_ms = env_wall_ms(store_scene.l.env);
	ev.turn = (struct event_turn){
		.session = 5,
		.channel = 3,
		.turn = 1,
		.name = "ana",
		.reason = "answered",
		.first_audio_ms = -1,
		.segments = "[{\"user\":\"501234567890123456\",\"name\":\"ana\",\"utterance\":9,"
			    "\"text\":\"hello\"}]",
		.why = "[]"};
	bus_publish(store_scene.bus, &ev);
	settle();
}

static char got[64];
static size_t got_n;
static char whose[64];

static void on_read(int err, const struct store_document *d, void *arg)
{
	(void)arg;
	store_scene.err = err;
	got_n = d->size;
	snprintf(got, sizeof got, "%.*s", (int)d->size, d->document);
	snprintf(whose, sizeof whose, "%s", d->author);
	env_stop(store_scene.l.env);
}

static void read_one(uint64_t row, uint64_t utterance)
{
	CHECK_INT(store_read_recording(store_scene.store, row, utterance, on_read, NULL), 0);
	loop_run(&store_scene.l);
	CHECK_INT(store_scene.err, 0);
}

static bool file_holds(const char *file, const char *text)
{
	static char all[1 << 20];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(all, 1, sizeof all, f) : 0;

	if (f)
		fclose(f);
	return memmem(all, n, text, strlen(text)) != NULL;
}

static void begin(void)
{
	store_scene_begin();
	CHECK_INT(settings_set(store_scene.settings, "keep_audio_hours", "2"), 0);
	store_scene_open(NULL);
}

static void finish(void)
{
	store_scene_close();
	store_scene_end();
}

TEST(a_recording_is_read_by_its_turn)
{
	begin();
	say_turn();
	keep(ANA, 9, env_wall_ms(store_scene.l.env));
	keep(BOB, 9, env_wall_ms(store_scene.l.env)); /* not of the turn */
	settle();
	read_one(1, 9);
	CHECK_STR(got, "frobozz-frobozz-frobozz");
	CHECK_INT(got_n, 24);
	CHECK_STR(whose, "7 501234567890123456");
	read_one(1, 8);
	CHECK_INT(got_n, 0);
	read_one(2, 9);
	CHECK_INT(got_n, 0);
	/* Older than the setting allows, even if it is still there. */
	CHECK_INT(settings_set(store_scene.settings, "keep_audio_hours", "0"), 0);
	read_one(1, 9);
	CHECK_INT(got_n, 0);
	finish();
}

TEST(recordings_go_with_their_time)
{
	uint64_t now;

	begin();
	now = env_wall_ms(store_scene.l.env);
	keep(ANA, 1, now - 3 * 3600000);
	keep(ANA, 2, now - 60000);
	settle();
	CHECK_INT(count("1"), 2);
	store_scene_close();
	/* A store looks a second after it was opened. */
	store_scene.drops = true;
	store_scene_open(NULL);
	for (unsigned i = 0; i < 400 && count("1") > 1; i++) {
		settle();
		usleep(50000);
	}
	CHECK_INT(count("utterance = 2"), 1);
	CHECK_INT(count("1"), 1);
	finish();
}

static void put_consent(uint64_t user, const char *after)
{
	const struct store_consent c = {.guild = 7,
					.user = user,
					.before = "remembered",
					.after = after,
					.via = "/consent"};

	CHECK_INT(store_put_consent(store_scene.store, &c, on_done, NULL), 0);
	loop_run(&store_scene.l);
	CHECK_INT(store_scene.err, 0);
}

TEST(an_answer_that_allows_less_deletes_recordings)
{
	begin();
	keep(ANA, 1, env_wall_ms(store_scene.l.env));
	keep(BOB, 2, env_wall_ms(store_scene.l.env));
	settle();
	put_consent(ANA, "remembered");
	CHECK_INT(count("1"), 2);
	put_consent(ANA, "heard");
	CHECK_INT(count("1"), 1);
	CHECK_INT(count("utterance = 2"), 1);
	CHECK_INT(store_drop_recordings(store_scene.store, 8, BOB), 0); /* another server */
	settle();
	CHECK_INT(count("1"), 1);
	CHECK_INT(store_drop_recordings(store_scene.store, 7, BOB), 0);
	settle();
	CHECK_INT(count("1"), 0);
	finish();
}

TEST(a_backup_has_no_recordings)
{
	struct db *db = NULL;
	char copy[80];

	begin();
	keep(ANA, 1, env_wall_ms(store_scene.l.env));
	settle();
	snprintf(copy, sizeof copy, "%s/copy", store_scene.dir);
	CHECK_INT(db_open(&db, store_scene.dir, DB_CHECK), 0);
	CHECK_INT(db_backup(db, copy), 0);
	db_close(db);
	CHECK_INT(count("1"), 1);
	CHECK(file_holds(copy, "CREATE TABLE recordings") && !file_holds(copy, "frobozz"));
	unlink(copy);
	finish();
}

TEST(a_recording_that_is_too_long_is_refused)
{
	const struct store_recording r = {.guild = 7, .n = STORE_RECORDING_MAX + 1};

	begin();
	CHECK_INT(store_keep_recording(store_scene.store, &r), EMSGSIZE);
	finish();
}
