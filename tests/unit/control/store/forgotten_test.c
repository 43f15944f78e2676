/* What was forgotten or deleted stays away after the restore of a backup, and in an import. */
#include "control/store/forgotten_replay.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include "control/state.h"
#include "control/store/db.h"
#include "control/store/forgotten.h"
#include "control/store/memory_file.h"
#include "tests/unit/control/store/store_scene.h"

enum { ANA = 4, BOB = 5, GUILD = 7, OTHER_GUILD = 8, TEXTS = 3, LOBBY = 6 };

static struct store_scene *const s = &store_scene;
static size_t written;

static void on_answer(int err, const struct store_document *document, void *arg)
{
	json_t *answer = json_loads(document->document, 0, NULL);

	(void)arg;
	s->err = err;
	written = json_array_size(json_object_get(answer, "written")) +
		  json_array_size(json_object_get(answer, "forgotten"));
	json_decref(answer);
	env_stop(s->l.env);
}

static struct store_facts by(uint64_t guild, uint64_t user, const char *request)
{
	return (struct store_facts){.guild = guild,
				    .user = user,
				    .name = user == ANA ? "Ana" : "Bob",
				    .since_ms = 1,
				    .request = request};
}

static bool tell(uint64_t guild, uint64_t user, const char *text)
{
	char request[256];
	struct store_facts f = by(guild, user, request);

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]}]", text);
	return store_write_facts(s->store, &f, on_answer, NULL) == 0 && loop_run(&s->l) &&
	       s->err == 0 && written == 1;
}

static bool forget(const char *words)
{
	char request[256];
	struct store_facts f = by(GUILD, ANA, request);

	snprintf(request, sizeof request, "{\"words\":\"%s\"}", words);
	return store_forget_facts(s->store, &f, on_answer, NULL) == 0 && loop_run(&s->l) &&
	       s->err == 0 && written == 1;
}

static bool forget_guild(uint64_t guild)
{
	return store_forget_guild(s->store, guild, on_answer, NULL) == 0 && loop_run(&s->l) &&
	       s->err == 0;
}

static void say(uint64_t user, uint64_t session, const char *text)
{
	bus_publish(s->bus,
		    &(struct bus_event){.type = EVENT_UTTERANCE,
					.at_ms = store_scene_ms(session),
					.guild = GUILD,
					.user = user,
					.utterance = {.session = store_scene_ms(session),
						      .channel = LOBBY,
						      .name = user == ANA ? "Ana" : "Bob",
						      .text = text,
						      .started_ms = store_scene_ms(session + 1),
						      .ended_ms = store_scene_ms(session + 2),
						      .consent = true}});
}

/* message 0: all of the channel. */
static void change(const char *what, uint64_t channel, uint64_t message, const char *text)
{
	bus_publish(s->bus, &(struct bus_event){.type = EVENT_MESSAGE,
						.at_ms = store_scene_ms(5000),
						.guild = GUILD,
						.user = ANA,
						.message = {.channel = channel,
							    .message = message,
							    .change = what,
							    .name = "Ana",
							    .text = text,
							    .written_ms = store_scene_ms(1000)}});
}

static bool run_sql(const char *sql)
{
	sqlite3 *own = NULL;
	bool ok = sqlite3_open(s->path, &own) == SQLITE_OK &&
		  sqlite3_exec(own, sql, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(own);
	return ok;
}

static int count_of(const char *table, const char *text)
{
	char sql[192];

	snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE text LIKE '%%%s%%'", table, text);
	return store_scene_number(sql);
}

static const char *backup_path(void)
{
	static char path[64];

	snprintf(path, sizeof path, "%.31s/copy", s->dir);
	return path;
}

/* The store is closed by then, and open again afterwards. */
static void back_up(void)
{
	struct db *db = NULL;

	store_scene_close();
	CHECK_INT(db_open(&db, s->dir, DB_READ), 0);
	CHECK_INT(db_backup(db, backup_path()), 0);
	db_close(db);
	store_scene_open(NULL);
}

/* What a control that starts does. */
static bool start(void)
{
	struct state_kept kept = {0};
	bool told;

	state_read(s->dir, &kept);
	told = !json_is_true(json_object_get(kept.consents, "unread"));
	state_kept_clear(&kept);
	return told;
}

static void restore(void)
{
	store_scene_close();
	CHECK_INT(rename(backup_path(), s->path), 0);
}

static void begin(void)
{
	store_scene_begin();
	store_scene_open(NULL);
}

TEST(a_backup_does_not_bring_back_a_fact_that_was_forgotten)
{
	begin();
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	CHECK(tell(GUILD, BOB, "the plugh is blue"));
	back_up();
	CHECK(forget("frobozz cellar"));
	restore();
	CHECK_INT(count_of("facts", "frobozz"), 1);
	CHECK(start());
	CHECK_INT(count_of("facts", "frobozz"), 0);
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM fact_terms WHERE fact_terms MATCH 'frobozz'"),
		  0);
	CHECK_INT(count_of("facts", "plugh"), 1);
	store_scene_end();
}

/* The extraction would write it anew. */
TEST(a_backup_from_before_the_fact_knows_that_its_lines_were_forgotten)
{
	begin();
	say(ANA, 1000, "I keep my frobozz in the cellar");
	say(BOB, 1000, "the plugh is blue");
	back_up();
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	CHECK(forget("frobozz cellar"));
	restore();
	CHECK(run_sql("INSERT INTO summaries VALUES(7, 1, 1, 6, 'of the frobozz');"
		      "INSERT INTO summary_sources SELECT 7, 1, 1, seq FROM utterances"
		      " WHERE text LIKE '%frobozz%';"
		      "INSERT INTO summaries VALUES(7, 2, 1, 6, 'of the plugh')"));
	CHECK(start());
	CHECK_INT(
		store_scene_number("SELECT count(*) FROM utterances WHERE forgotten AND user = 4"),
		1);
	CHECK_INT(
		store_scene_number("SELECT count(*) FROM utterances WHERE forgotten AND user = 5"),
		0);
	CHECK_INT(count_of("summaries", "frobozz"), 0);
	CHECK_INT(count_of("summaries", "plugh"), 1);
	store_scene_end();
}

TEST(a_backup_does_not_bring_back_messages_that_were_deleted_or_edited)
{
	begin();
	change("written", TEXTS, 11, "the frobozz is old");
	change("written", TEXTS, 12, "the xyzzy is wrong");
	change("written", TEXTS, 13, "the plugh is blue");
	change("written", LOBBY, 14, "the gnusto is loud");
	back_up();
	change("deleted", TEXTS, 11, NULL);
	change("edited", TEXTS, 12, "the xyzzy is right");
	change("deleted", LOBBY, 0, NULL);
	restore();
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances"), 4);
	CHECK(start());
	CHECK_INT(count_of("utterances", "plugh"), 1);
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances"), 1);
	CHECK_INT(store_scene_number("SELECT count(*) FROM terms WHERE terms MATCH 'frobozz OR "
				     "xyzzy OR gnusto'"),
		  0);
	store_scene_end();
}

TEST(a_backup_does_not_bring_back_the_memory_of_a_server)
{
	begin();
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	CHECK(tell(OTHER_GUILD, ANA, "Ana keeps her plugh in the attic"));
	say(ANA, 1000, "I keep my frobozz in the cellar");
	back_up();
	CHECK(forget_guild(GUILD));
	restore();
	CHECK(start());
	CHECK_INT(store_scene_number("SELECT count(*) FROM facts"), 1);
	CHECK_INT(count_of("facts", "plugh"), 1);
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances WHERE forgotten"), 1);
	store_scene_end();
}

/* The notes of a database that was not restored were heard. */
TEST(what_is_told_again_stays)
{
	struct forgotten_replayed again;

	begin();
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	change("written", TEXTS, 12, "the xyzzy is wrong");
	CHECK(forget("frobozz cellar"));
	change("edited", TEXTS, 12, "the xyzzy is right");
	change("edited", TEXTS, 12, "the xyzzy is wrong");
	usleep(2000);
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	store_scene_close();
	CHECK_INT(forgotten_replay(s->dir, &again), 0);
	CHECK_INT(count_of("facts", "frobozz"), 1);
	CHECK_INT(count_of("utterances", "xyzzy"), 1);
	/* Nor does it matter how often they are heard. */
	CHECK(run_sql("DELETE FROM meta WHERE key = '" FORGOTTEN_SEEN "'"));
	CHECK_INT(forgotten_replay(s->dir, &again), 0);
	CHECK_INT(again.facts + again.messages + again.lines, 0);
	CHECK_INT(count_of("facts", "frobozz"), 1);
	CHECK_INT(count_of("utterances", "wrong"), 1);
	CHECK(store_scene_number(
		      "SELECT CAST(value AS INTEGER) FROM meta WHERE key = '" FORGOTTEN_SEEN
		      "'") > 0);
	store_scene_end();
}

TEST(an_import_does_not_bring_back_a_fact_that_was_forgotten)
{
	struct memory_import done;
	struct db *db = NULL;
	json_t *facts = NULL;
	char *text = NULL;
	uint64_t at;

	begin();
	at = store_scene_ms(4000000); /* which an open scene knows */
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	CHECK(tell(OTHER_GUILD, ANA, "Ana keeps her plugh in the attic"));
	CHECK(tell(GUILD, BOB, "the xyzzy is blue"));
	store_scene_close();
	CHECK_INT(db_open(&db, s->dir, DB_READ), 0);
	CHECK_INT(memory_file_write(db, &text), 0);
	db_close(db);
	store_scene_open(NULL);
	CHECK(forget("frobozz cellar"));
	CHECK(forget_guild(OTHER_GUILD));
	store_scene_close();
	CHECK(run_sql("DELETE FROM facts"));
	CHECK_INT(memory_file_parse(text, strlen(text), &facts), 0);
	db = NULL;
	CHECK_INT(db_open(&db, s->dir, DB_OWN), 0);
	CHECK_INT(memory_file_import(db, s->dir, facts, at, &done), 0);
	CHECK_INT(done.added, 1);
	CHECK_INT(done.erased, 2);
	db_close(db);
	CHECK_INT(count_of("facts", "xyzzy"), 1);
	json_decref(facts);
	free(text);
	store_scene_end();
}

/* Models learn nothing about anybody then. */
TEST(models_learn_nothing_from_a_restored_database_without_the_key)
{
	char key[64];

	begin();
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	back_up();
	CHECK(forget("frobozz cellar"));
	restore();
	snprintf(key, sizeof key, "%.31s/subject-key", s->dir);
	CHECK_INT(unlink(key), 0);
	CHECK(!start());
	store_scene_end();
}

/* Whoever reads it learns neither ids nor words. */
TEST(the_file_of_what_was_forgotten_holds_pseudonyms_alone)
{
	char path[64];

	begin();
	CHECK(tell(GUILD, ANA, "Ana keeps her frobozz in the cellar"));
	change("written", TEXTS, 1234567890, "the xyzzy is wrong");
	CHECK(forget("frobozz cellar"));
	change("edited", TEXTS, 1234567890, "the xyzzy is right");
	store_scene_close();
	snprintf(path, sizeof path, "%.31s/%s", s->dir, FORGOTTEN_FILE);
	CHECK_INT(store_scene_count(path, " fact "), 1);
	CHECK_INT(store_scene_count(path, " edited "), 1);
	CHECK_INT(store_scene_count(path, "frobozz"), 0);
	CHECK_INT(store_scene_count(path, "xyzzy"), 0);
	CHECK_INT(store_scene_count(path, "1234567890"), 0);
	store_scene_end();
}
