/* Whose name a word is: what somebody's display name does to the facts of others. */
#include "control/store/name_claim.h"

#include <sqlite3.h>

#include "tests/unit/control/store/store_scene.h"

#define ANA	UINT64_C(501234567890123456)
#define BOB	UINT64_C(502234567890123456)
#define MALLORY UINT64_C(503234567890123456)
#define OTHER	UINT64_C(504234567890123456)

enum { GUILD = 7 };

static struct store_scene *const s = &store_scene;
static char answer[4096];

static void on_answer(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	s->err = err;
	snprintf(answer, sizeof answer, "%s", document->document);
	env_stop(s->l.env);
}

static bool answers(int err)
{
	return !err && loop_run(&s->l) && !s->err;
}

static void say_at(uint64_t ms, uint64_t user, const char *name, const char *text)
{
	static uint32_t utterance;
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = ms, .guild = GUILD, .user = user};

	ev.utterance = (struct event_utterance){.session = 1000,
						.channel = 300,
						.utterance = ++utterance,
						.name = name,
						.text = text,
						.started_ms = ms,
						.consent = true};
	bus_publish(s->bus, &ev);
}

static void say(uint64_t user, const char *name, const char *text)
{
	say_at(1000, user, name, text);
}

/* By Bob. evidence: "" or ",\"evidence\":[1]". */
static void tell(const char *text, const char *evidence)
{
	char request[256];
	const struct store_facts f = {.guild = GUILD,
				      .user = BOB,
				      .name = "Bob",
				      .since_ms = INT64_MAX,
				      .request = request};

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]%s}]", text, evidence);
	CHECK(answers(store_write_facts(s->store, &f, on_answer, NULL)));
	CHECK(strstr(answer, "\"inserted\"") != NULL);
}

/* "mallory:1 " for each person of the newest fact and whether it is bound to them. */
static const char *people(void)
{
	static char out[128];
	sqlite3 *sql = NULL;
	sqlite3_stmt *row = NULL;
	size_t n = 0;

	out[0] = '\0';
	if (sqlite3_open(s->path, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql,
			       "SELECT user, bound FROM fact_people WHERE fact ="
			       " (SELECT max(id) FROM facts) ORDER BY user",
			       -1, &row, NULL) == SQLITE_OK)
		while (sqlite3_step(row) == SQLITE_ROW)
			n += (size_t)snprintf(
				out + n, sizeof out - n, "%s:%d ",
				sqlite3_column_int64(row, 0) == (sqlite3_int64)MALLORY ? "mallory"
				: sqlite3_column_int64(row, 0) == (sqlite3_int64)ANA   ? "ana"
										       : "other",
				sqlite3_column_int(row, 1));
	sqlite3_finalize(row);
	sqlite3_close(sql);
	return out;
}

static bool is_known(const char *word)
{
	char request[64];
	const struct store_facts f = {
		.guild = GUILD, .user = BOB, .name = "Bob", .most = 5, .request = request};

	snprintf(request, sizeof request, "{\"words\":\"%s\"}", word);
	return answers(store_find_facts(s->store, &f, on_answer, NULL)) && strstr(answer, word);
}

static bool is_exported(uint64_t user, const char *word)
{
	return answers(store_export_person(s->store, user, on_answer, NULL)) &&
	       strstr(answer, word);
}

static void erase(uint64_t user)
{
	CHECK(answers(store_erase_person(s->store, user, "test", false, on_answer, NULL)));
	CHECK(strstr(answer, "\"traces\":0") != NULL);
}

static void open_scene(void)
{
	store_scene_begin();
	store_scene_open(NULL);
}

static void close_scene(void)
{
	store_scene_close();
	store_scene_end();
}

TEST(what_others_talked_about_before_is_not_shown_to_nor_erased_with_who_takes_its_name)
{
	open_scene();
	say(BOB, "Bob", "Falcon ships in May");
	say(MALLORY, "Falcon", "good evening");
	tell("Falcon needs twelve more tests", "");
	CHECK_STR(people(), "");
	CHECK(!is_exported(MALLORY, "twelve"));
	erase(MALLORY);
	CHECK(is_known("twelve"));
	close_scene();
}

TEST(a_word_of_an_older_fact_is_no_name)
{
	open_scene();
	tell("Falcon ships in May", "");
	/* The clock of lines here is long ago. */
	say_at(INT64_C(4102444800000), MALLORY, "Falcon", "good evening");
	tell("Falcon needs twelve more tests", "");
	CHECK_STR(people(), "");
	erase(MALLORY);
	CHECK(is_known("twelve") && is_known("ships"));
	close_scene();
}

TEST(a_word_that_speaks_may_be_a_name)
{
	open_scene();
	say(BOB, "Bob", "I work on the falcon");
	say(MALLORY, "Falcon", "good evening");
	tell("Falcon needs twelve more tests", "");
	CHECK_STR(people(), "");
	tell("Falcon said that tea is out", "");
	CHECK_STR(people(), "mallory:0 ");
	close_scene();
}

TEST(a_former_name_binds_no_fact)
{
	open_scene();
	say_at(1000, MALLORY, "Falcon", "good evening");
	tell("Falcon likes rye", "");
	CHECK_STR(people(), "mallory:1 ");
	say_at(2000, MALLORY, "Mallory", "good night");
	tell("Falcon needs twelve more tests", "");
	CHECK_STR(people(), "mallory:0 ");
	CHECK(!is_exported(MALLORY, "twelve"));
	erase(MALLORY);
	CHECK(!is_known("twelve"));
	close_scene();
}

/* Extraction writes facts hours after they were told. */
TEST(a_name_taken_since_a_fact_was_told_does_not_bind_it)
{
	open_scene();
	say_at(1000, BOB, "Bob", "it needs twelve more tests");
	say_at(2000, MALLORY, "Falcon", "good evening");
	say_at(3000, BOB, "Bob", "likes rye");
	tell("Falcon needs twelve more tests", ",\"evidence\":[1]");
	CHECK_STR(people(), "");
	tell("Falcon likes rye", ",\"evidence\":[3]");
	CHECK_STR(people(), "");
	close_scene();
}

static void run_sql(const char *statements)
{
	sqlite3 *sql = NULL;

	CHECK(sqlite3_open(s->path, &sql) == SQLITE_OK &&
	      sqlite3_exec(sql, statements, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(sql);
}

/* Her lines go after 30 days, and facts that are said again stay. */
TEST(a_name_stays_that_of_the_person_whom_older_facts_are_about)
{
	open_scene();
	say(ANA, "Ana", "good evening");
	tell("Ana likes tea", "");
	CHECK_STR(people(), "ana:1 ");
	run_sql("DELETE FROM utterances");
	say_at(INT64_C(4102444800000), ANA, "Ana", "good evening");
	tell("Ana plays chess", "");
	CHECK_STR(people(), "ana:1 ");
	CHECK(is_exported(ANA, "tea"));
	erase(ANA);
	CHECK(!is_known("tea") && !is_known("chess"));
	close_scene();
}

/* What was said of the first Ana does not make the name of the second one a word. */
TEST(a_namesake_is_erased_with_facts_that_may_be_about_them)
{
	open_scene();
	say(ANA, "Ana", "good evening");
	say(BOB, "Bob", "Ana is here");
	say(OTHER, "Ana", "good evening");
	tell("Ana likes tea", "");
	CHECK_STR(people(), "ana:0 other:0 ");
	close_scene();
}

TEST(an_everyday_word_is_a_name_until_others_use_it_as_a_noun)
{
	open_scene();
	say(BOB, "Bob", "please mark the line");
	say(MALLORY, "Mark", "good evening");
	tell("Mark likes tea", "");
	CHECK_STR(people(), "mallory:1 ");
	say(BOB, "Bob", "the mark is on the wall");
	tell("Mark my words", "");
	CHECK_STR(people(), "");
	close_scene();
}

TEST(names_of_scripts_without_blanks_are_claimed_as_others)
{
	open_scene();
	say(BOB, "Bob", "佐藤さんは元気です");
	say(MALLORY, "佐藤", "こんばんは");
	say(OTHER, "田中", "こんばんは");
	tell("佐藤さんは犬が好きです", "");
	CHECK_STR(people(), "");
	tell("田中さんは猫が好きです", "");
	CHECK_STR(people(), "other:1 ");
	close_scene();
}
