/* Summaries of sessions: found by channel and time, and gone with any of their people. */
#include "control/store/summaries.h"

#include <errno.h>
#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/episodes.h"
#include "control/store/export.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "tests/unit/ipc/loop.h"

enum { GUILD = 7, CHANNEL = 300, ANA = 501, BOB = 502, CYN = 503, SESSION = 5000, LATER = 9000 };

static char dir[32];
static struct db *db;
static char *found;

static void say(uint64_t session, uint64_t user, bool consent)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = GUILD, .user = user};

	ev.utterance = (struct event_utterance){.session = session,
						.channel = CHANNEL,
						.name = "x",
						.text = "we meet on friday",
						.started_ms = 1000,
						.consent = consent};
	CHECK_INT(rows_add(db, &ev, true), 0);
}

static void begin_sessions(void)
{
	static const uint64_t started[] = {SESSION, LATER};

	db = NULL;
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (size_t i = 0; i < 2; i++) {
		struct bus_event ev = {
			.type = EVENT_SESSION_STARTED, .at_ms = started[i], .guild = GUILD};

		ev.session.session = started[i];
		ev.session.channel = CHANNEL;
		ev.session.why = "";
		CHECK_INT(rows_add(db, &ev, true), 0);
		say(started[i], i ? BOB : ANA, true);
		say(started[i], BOB, true);
		say(started[i], CYN, false);
		ev.type = EVENT_SESSION_OVER;
		ev.at_ms += 500;
		CHECK_INT(rows_add(db, &ev, true), 0);
	}
}

static void end(void)
{
	free(found);
	found = NULL;
	db = db_close(db);
	folder_remove(dir);
}

static int sum_up(uint64_t session, uint64_t line, const char *summary)
{
	return episodes_end(db, &(struct job){.kind = JOB_END_EPISODE,
					      .guild = GUILD,
					      .owner = session,
					      .channel = CHANNEL,
					      .version = line,
					      .text = (char *)summary});
}

static const char *find(uint64_t channel, uint64_t since_ms)
{
	const struct job j = {.kind = JOB_FIND_SUMMARIES,
			      .guild = GUILD,
			      .channel = channel,
			      .now_ms = since_ms,
			      .version = 2};

	free(found);
	found = NULL;
	return summaries_find(db, &j, &found) == 0 ? found : "failed";
}

/* The session whose lines would be summed up next; 0: none. */
static uint64_t next_session(void)
{
	char *text = NULL;
	json_t *episode;
	uint64_t session;

	if (episodes_next(db, &(struct job){.kind = JOB_NEXT_EPISODE, .version = 9}, &text))
		return 0;
	episode = json_loads(text, 0, NULL);
	session = (uint64_t)json_integer_value(json_object_get(episode, "session"));
	json_decref(episode);
	free(text);
	return session;
}

TEST(summaries_are_found_by_channel_and_time)
{
	begin_sessions();
	CHECK_INT(sum_up(SESSION, 3, "{\"text\":\"old\",\"people\":[\"501\",\"502\"]}"), 0);
	CHECK_INT(sum_up(LATER, 6, "{\"text\":\"new\",\"people\":[\"502\"]}"), 0);
	CHECK_STR(find(CHANNEL, 0),
		  "[{\"session\":9000,\"line\":6,\"text\":\"new\",\"ended_ms\":9500,\"people\":["
		  "\"502\"]},{\"session\":5000,\"line\":3,\"text\":\"old\",\"ended_ms\":5500,"
		  "\"people\":[\"501\",\"502\"]}]");
	CHECK(!strstr(find(CHANNEL, SESSION + 1), "old"));
	CHECK_STR(find(CHANNEL + 1, 0), "[]");
	CHECK_INT(next_session(), 0);
	end();
}

TEST(a_summary_of_words_that_are_gone_is_refused)
{
	begin_sessions();
	CHECK_INT(sum_up(SESSION, 3, "{\"text\":\"x\",\"people\":[\"501\",\"503\"]}"), ESTALE);
	CHECK_INT(sum_up(SESSION, 3, "{\"text\":\"x\",\"people\":[]}"), EINVAL);
	CHECK_INT(sum_up(SESSION, 3, "{\"people\":[\"501\"]}"), EINVAL);
	CHECK_STR(find(CHANNEL, 0), "[]");
	CHECK_INT(next_session(), SESSION); /* its episode stays open */
	end();
}

static unsigned count_rows(const char *table)
{
	char path[64], query[64];
	sqlite3_stmt *s = NULL;
	sqlite3 *sql = NULL;
	unsigned n = 99;

	snprintf(path, sizeof path, "%s/parley.db", dir);
	snprintf(query, sizeof query, "SELECT count(*) FROM %s", table);
	if (sqlite3_open(path, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql, query, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

static void erase(uint64_t user)
{
	CHECK_INT(db_begin(db), 0);
	CHECK_INT(summaries_reopen(db, user), 0);
	CHECK_INT(rows_run_erasers(db, user, NULL, NULL), 0);
	CHECK_INT(db_commit(db), 0);
}

TEST(a_summary_goes_with_each_of_its_people)
{
	begin_sessions();
	CHECK_INT(sum_up(SESSION, 3, "{\"text\":\"old\",\"people\":[\"501\",\"502\"]}"), 0);
	CHECK_INT(sum_up(LATER, 6, "{\"text\":\"new\",\"people\":[\"502\"]}"), 0);
	erase(ANA);
	CHECK(!strstr(find(CHANNEL, 0), "old"));
	CHECK(strstr(find(CHANNEL, 0), "new"));
	CHECK_INT(next_session(), SESSION); /* the words of the others */
	end();
}

static const char *next_episode(void)
{
	free(found);
	found = NULL;
	return episodes_next(db, &(struct job){.kind = JOB_NEXT_EPISODE, .version = 9}, &found)
		       ? ""
		       : found;
}

TEST(a_session_is_summed_up_again_from_the_part_of_the_person_on)
{
	begin_sessions();
	say(SESSION, BOB, true); /* line 7 */
	CHECK_INT(sum_up(LATER, 6, NULL), 0);
	CHECK_INT(sum_up(SESSION, 1, "{\"text\":\"one\",\"people\":[\"501\"]}"), 0);
	CHECK_INT(sum_up(SESSION, 2, "{\"text\":\"two\",\"people\":[\"502\"]}"), 0);
	CHECK_INT(sum_up(SESSION, 7, "{\"text\":\"three\",\"people\":[\"502\"]}"), 0);
	CHECK_STR(next_episode(), "");
	erase(ANA);
	/* The lines after her part get new parts. */
	CHECK_STR(find(CHANNEL, 0), "[]");
	CHECK(strstr(next_episode(), "\"extracted\":7"));
	CHECK(strstr(found, "\"id\":2") && strstr(found, "\"id\":7"));
	CHECK_INT(sum_up(SESSION, 2, "{\"text\":\"two\",\"people\":[\"502\"]}"), 0);
	CHECK(strstr(next_episode(), "\"extracted\":7"));
	CHECK(!strstr(found, "\"id\":2") && strstr(found, "\"id\":7"));
	CHECK_INT(sum_up(SESSION, 7, "{\"text\":\"three\",\"people\":[\"502\"]}"), 0);
	CHECK_STR(next_episode(), "");
	end();
}

TEST(parts_before_those_of_an_erased_person_stay)
{
	begin_sessions();
	say(SESSION, ANA, true); /* line 7 */
	CHECK_INT(sum_up(LATER, 6, NULL), 0);
	CHECK_INT(sum_up(SESSION, 2, "{\"text\":\"one\",\"people\":[\"502\"]}"), 0);
	CHECK_INT(sum_up(SESSION, 7, "{\"text\":\"two\",\"people\":[\"501\"]}"), 0);
	erase(ANA);
	CHECK(strstr(find(CHANNEL, 0), "one"));
	CHECK(!strstr(found, "two"));
	CHECK_STR(next_episode(), ""); /* nothing is left to sum up */
	end();
}

TEST(later_parts_stay_when_no_words_are_left_to_sum_up)
{
	unsigned changed = 0;

	begin_sessions();
	CHECK_INT(sum_up(SESSION, 1, "{\"text\":\"one\",\"people\":[\"501\"]}"), 0);
	CHECK_INT(sum_up(SESSION, 2, "{\"text\":\"two\",\"people\":[\"502\"]}"), 0);
	CHECK_INT(rows_expire(db, 2000, 1002, &changed), 0);
	erase(ANA);
	CHECK(strstr(find(CHANNEL, 0), "two"));
	CHECK(!strstr(found, "one"));
	end();
}

TEST(a_summary_goes_with_the_speakers_of_its_lines)
{
	begin_sessions();
	CHECK_INT(sum_up(SESSION, 3, "{\"text\":\"old\",\"people\":[\"502\"],\"lines\":[1]}"), 0);
	CHECK(strstr(find(CHANNEL, 0), "\"people\":[\"501\",\"502\"]"));
	erase(ANA);
	CHECK_STR(find(CHANNEL, 0), "[]");
	CHECK_INT(count_rows("summary_sources"), 0);
	end();
}

TEST(a_summary_of_lines_that_are_gone_is_refused)
{
	static const char *const lines[] = {"99", "4", "3"}; /* none, of LATER, without consent */
	char summary[80];

	begin_sessions();
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		snprintf(summary, sizeof summary,
			 "{\"text\":\"x\",\"people\":[\"501\"],\"lines\":[%s]}", lines[i]);
		CHECK_INT(sum_up(SESSION, 3, summary), ESTALE);
	}
	CHECK_STR(find(CHANNEL, 0), "[]");
	CHECK_INT(count_rows("summary_sources"), 0);
	end();
}

/* A fact of Ana's that rests on her line 1. */
static void add_fact(const char *text)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_FACT);

	db_bind_uint(s, 1, GUILD);
	db_bind_uint(s, 3, ANA);
	db_bind_text(s, 7, text);
	CHECK_INT(db_run(db, s), 0);
	s = db_use(db, DB_ADD_FACT_SOURCE);
	db_bind_uint(s, 1, 1);
	db_bind_uint(s, 2, 1);
	db_bind_uint(s, 3, ANA);
	db_bind_uint(s, 4, GUILD);
	CHECK_INT(db_run(db, s), 0);
}

TEST(a_summary_goes_with_a_forgotten_fact)
{
	static const char *const saying[] = {
		"{\"text\":\"a date\",\"people\":[\"501\"],\"lines\":[1]}",
		"{\"text\":\"Ana meets us on friday.\",\"people\":[\"501\"]}"};

	for (size_t i = 0; i < sizeof saying / sizeof saying[0]; i++) {
		begin_sessions();
		add_fact("we meet on friday");
		CHECK_INT(sum_up(SESSION, 1, saying[i]), 0);
		CHECK_INT(sum_up(SESSION, 2, "{\"text\":\"boats\",\"people\":[\"502\"]}"), 0);
		CHECK_INT(sum_up(LATER, 6,
				 "{\"text\":\"Bob meets us on friday.\",\"people\":["
				 "\"502\"]}"),
			  0);
		CHECK_INT(summaries_forget(db, 1, "", NULL), 0);
		/* The other session is not the one in which she said it. */
		CHECK(strstr(find(CHANNEL, 0), "Bob meets us"));
		CHECK(!strstr(found, "Ana meets us") && !strstr(found, "a date"));
		CHECK(!strstr(found, "boats")); /* summed up again with what is left */
		CHECK_INT(count_rows("summary_sources"), 0);
		CHECK_INT(count_rows("summary_people"), 1);
		CHECK_INT(next_session(), SESSION);
		CHECK(!strstr(next_episode(), "\"id\":1") && strstr(found, "\"id\":2"));
		end();
	}
}

/* Number of the bot's lines with this text that a search still finds. */
static int count_answers(const char *text)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_NEWEST);
	int n = 0;

	db_bind_uint(s, 1, GUILD);
	db_bind_uint(s, 2, CHANNEL);
	db_bind_uint(s, 3, 0);
	db_bind_uint(s, 4, INT64_MAX);
	db_bind_text(s, 5, "");
	db_bind_uint(s, 6, 99);
	db_bind_uint(s, 9, 0);
	while (db_step(db, s) == 0)
		n += strcmp(db_text(s, 4), text) == 0;
	return n;
}

static void answer(uint64_t user, const char *text)
{
	struct bus_event ev = {.type = EVENT_TURN, .at_ms = 2000, .guild = GUILD, .user = user};

	ev.turn = (struct event_turn){.session = SESSION,
				      .channel = CHANNEL,
				      .turn = (uint32_t)user,
				      .stage = "ended",
				      .name = "x",
				      .heard = "",
				      .reason = "answered",
				      .said = text,
				      .segments = "[]",
				      .why = "[]"};
	CHECK_INT(rows_add(db, &ev, true), 0);
}

/* What the bot said of it would keep it alive. */
TEST(answers_that_repeat_a_forgotten_fact_are_found_no_more)
{
	begin_sessions();
	add_fact("we meet Cleo on Friday");
	answer(ANA, "I will remember that you meet Cleo on Friday.");
	answer(BOB, "Ana said that they meet Cleo on Friday.");
	answer(BOB, "Ana is free on Friday.");
	CHECK_INT(count_answers("Ana said that they meet Cleo on Friday."), 1);
	CHECK_INT(summaries_forget(db, 1, "", NULL), 0);
	CHECK_INT(count_answers("I will remember that you meet Cleo on Friday."), 0);
	CHECK_INT(count_answers("Ana said that they meet Cleo on Friday."), 0);
	CHECK_INT(count_answers("Ana is free on Friday."), 1);
	end();
}

/* A search for one such character finds the words that begin with it. */
TEST(answers_with_some_words_of_a_forgotten_fact_stay)
{
	begin_sessions();
	add_fact("\u732b Kira");
	answer(BOB, "Kira is here.");
	answer(BOB, "Kira \u732b");
	CHECK_INT(summaries_forget(db, 1, "", NULL), 0);
	CHECK_INT(count_answers("Kira is here."), 1);
	CHECK_INT(count_answers("Kira \u732b"), 0);
	end();
}

TEST(a_forgotten_fact_of_one_word_takes_no_answers_to_others)
{
	begin_sessions();
	add_fact("i am at the zoo");
	answer(ANA, "You are at the zoo.");
	answer(BOB, "The zoo opens at nine.");
	CHECK_INT(summaries_forget(db, 1, "", NULL), 0);
	CHECK_INT(count_answers("You are at the zoo."), 0);
	CHECK_INT(count_answers("The zoo opens at nine."), 1);
	end();
}

TEST(other_parts_stay_when_no_words_are_left_but_the_forgotten_ones)
{
	unsigned changed = 0;

	begin_sessions();
	add_fact("we meet on friday");
	CHECK_INT(sum_up(SESSION, 1, "{\"text\":\"a date\",\"people\":[\"501\"],\"lines\":[1]}"),
		  0);
	CHECK_INT(sum_up(SESSION, 2, "{\"text\":\"boats\",\"people\":[\"502\"]}"), 0);
	CHECK_INT(rows_expire(db, 2000, 1002, &changed), 0);
	CHECK_INT(summaries_forget(db, 1, "", NULL), 0);
	CHECK(strstr(find(CHANNEL, 0), "boats"));
	CHECK(!strstr(found, "a date"));
	end();
}

TEST(an_export_names_the_persons_lines_of_a_summary)
{
	char *text = NULL;

	begin_sessions();
	CHECK_INT(sum_up(SESSION, 3,
			 "{\"text\":\"old\",\"people\":[\"501\",\"502\"],\"lines\":[2,1]}"),
		  0);
	CHECK_INT(export_person(db, ANA, 1, 0, &(uint64_t){0}, &text), 0);
	CHECK(text && strstr(text, "\"evidence\": [\n    1\n   ]"));
	CHECK(text && strstr(text, "\"id\": 1,"));
	free(text);
	end();
}

TEST(old_summaries_expire)
{
	unsigned changed = 0;

	begin_sessions();
	CHECK_INT(sum_up(SESSION, 3, "{\"text\":\"old\",\"people\":[\"501\"]}"), 0);
	CHECK_INT(summaries_expire(db, SESSION, &changed), 0);
	CHECK_INT(changed, 0);
	CHECK_INT(summaries_expire(db, SESSION + 1, &changed), 0);
	CHECK_INT(changed, 1);
	CHECK_STR(find(CHANNEL, 0), "[]");
	end();
}
