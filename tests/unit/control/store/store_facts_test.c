/* Facts: written, found, replaced and forgotten (store_write_facts and its neighbours). */
#include "tests/unit/control/store/store_scene.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

enum { ANA = 4, BOB = 5, GUILD = 7, OTHER_GUILD = 8 };

static struct store_scene *const s = &store_scene;
static json_t *answer;

static void on_answer(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	s->err = err;
	json_decref(answer);
	answer = json_loads(document->document, 0, NULL);
	env_stop(s->l.env);
}

static struct store_facts by(uint64_t user)
{
	return (struct store_facts){.guild = GUILD,
				    .user = user,
				    .name = user == ANA ? "Ana" : "Bob",
				    .since_ms = 1,
				    .most = 5};
}

/* "inserted", "updated", or why it was skipped. */
static const char *send_fact(struct store_facts f, const char *request)
{
	const char *status;

	f.request = request;
	if (store_write_facts(s->store, &f, on_answer, NULL) || !loop_run(&s->l) || s->err)
		return "not asked";
	status = json_string_value(
		json_object_get(json_array_get(json_object_get(answer, "written"), 0), "status"));
	return status ? status
		      : json_string_value(json_object_get(
				json_array_get(json_object_get(answer, "skipped"), 0), "reason"));
}

static const char *write_fact(struct store_facts f, const char *text)
{
	char request[256];

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[\"t\"]}]", text);
	return send_fact(f, request);
}

/* The texts, each with its former ones in brackets. */
static const char *find(struct store_facts f, const char *request)
{
	static char found[512];
	json_t *fact, *former;
	size_t i, k, n = 0;

	f.request = request;
	found[0] = '\0';
	if (store_find_facts(s->store, &f, on_answer, NULL) || !loop_run(&s->l) || s->err)
		return "not asked";
	json_array_foreach(answer, i, fact)
	{
		n += (size_t)snprintf(found + n, sizeof found - n, "%s%s", i ? "; " : "",
				      json_string_value(json_object_get(fact, "text")));
		json_array_foreach(json_object_get(fact, "former"), k, former)
		{
			n += (size_t)snprintf(found + n, sizeof found - n, " (%s)",
					      json_string_value(json_object_get(former, "text")));
		}
	}
	return found;
}

static size_t forget(struct store_facts f, const char *request)
{
	f.request = request;
	if (store_forget_facts(s->store, &f, on_answer, NULL) || !loop_run(&s->l) || s->err)
		return 99;
	return json_array_size(json_object_get(answer, "forgotten"));
}

static void open_scene(void)
{
	store_scene_begin();
	store_scene_open(NULL);
}

static void close_scene(void)
{
	json_decref(answer);
	answer = NULL;
	store_scene_close();
	store_scene_end();
}

TEST(a_correction_ends_the_older_fact_and_keeps_it)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(write_fact(by(ANA), "The release is on Tuesday."), "duplicate");
	CHECK_STR(write_fact(by(ANA), "the release is on Friday"), "updated");
	CHECK_STR(find(by(ANA), "{\"words\":\"when is the release\"}"),
		  "the release is on Friday (the release is on Tuesday)");
	CHECK_STR(find(by(ANA), "{\"words\":\"where is the harbour\"}"), "");
	close_scene();
}

TEST(a_contradiction_by_somebody_else_stands_beside_the_fact)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the release is on Friday"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the release is on Tuesday"), "updated");
	CHECK_STR(find(by(ANA), "{\"words\":\"when is the release\"}"),
		  "the release is on Tuesday (the release is on Friday); "
		  "the release is on Tuesday");
	/* Each of them forgets their own. */
	CHECK_INT(forget(by(BOB), "{\"words\":\"release\"}"), 1);
	CHECK_STR(find(by(BOB), "{\"words\":\"when is the release\"}"),
		  "the release is on Tuesday");
	close_scene();
}

/* The words of the older one fit better. */
TEST(of_facts_that_contradict_each_other_the_newer_comes_first)
{
	open_scene();
	CHECK_STR(write_fact(by(BOB), "the meeting is on Friday"), "inserted");
	CHECK_STR(write_fact(by(ANA), "the meeting is on Sunday afternoon"), "inserted");
	CHECK_STR(find(by(BOB), "{\"words\":\"when is the meeting\"}"),
		  "the meeting is on Sunday afternoon; the meeting is on Friday");
	close_scene();
}

/* Runs the statement in the database of the scene; its first number, if it returns a row. */
static int run_sql(const char *sql)
{
	sqlite3_stmt *row = NULL;
	sqlite3 *db = NULL;
	int n = -1;

	if (sqlite3_open(s->path, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		n = sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(db);
	return n;
}

TEST(forgetting_a_fact_reaches_its_former_values_and_nobody_elses)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the bakery opens at five"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the bakery opens at six"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the bakery opens at seven"), "updated");
	CHECK_STR(write_fact(by(BOB), "the bakery opens at eight"), "updated");
	/* As databases of earlier versions have it. */
	CHECK_INT(run_sql("UPDATE facts SET valid_until_ms = 9, superseded_by = 4"
			  " WHERE id = 1 RETURNING id"),
		  1);
	CHECK_STR(find(by(BOB), "{\"words\":\"bakery\"}"),
		  "the bakery opens at eight (the bakery opens at seven)");
	CHECK_INT(forget(by(BOB), "{\"words\":\"bakery\"}"), 1);
	CHECK_INT(run_sql("SELECT count(*) FROM facts"), 1);
	close_scene();
}

TEST(my_facts_come_before_those_of_others)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "my bike is red"), "inserted");
	CHECK_STR(write_fact(by(BOB), "my bike is green"), "inserted");
	CHECK_STR(find(by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is red; my bike is green");
	CHECK_STR(find(by(BOB), "{\"mine\":true}"), "my bike is green");
	CHECK_STR(find(by(BOB), "{\"words\":\"bike\",\"tags\":[\"other\"]}"), "");
	close_scene();
}

/* "we" and "us" are no words about the asker, and a better match of somebody else comes first. */
TEST(a_question_that_the_asker_takes_part_in_is_not_about_the_asker)
{
	open_scene();
	CHECK_STR(write_fact(by(BOB), "the trip leaves at nine"), "inserted");
	CHECK_STR(write_fact(by(ANA), "the bakery is closed when it rains"), "inserted");
	CHECK_STR(write_fact(by(ANA), "a trip to Rome is long"), "inserted");
	CHECK(strncmp(find(by(ANA), "{\"words\":\"when the trip leaves for us\"}"),
		      "the trip leaves at nine", 23) == 0);
	CHECK(strncmp(find(by(ANA), "{\"words\":\"when leaves my trip\"}"),
		      "the trip leaves at nine", 23) == 0);
	close_scene();
}

TEST(a_memory_is_seen_by_its_owner_and_in_its_server)
{
	struct store_facts own = by(ANA), elsewhere = by(ANA), both = by(ANA), bobs = by(BOB);

	own.owner = both.owner = ANA;
	both.any = bobs.any = true;
	bobs.owner = BOB;
	elsewhere.guild = OTHER_GUILD;
	open_scene();
	CHECK_STR(write_fact(own, "my locker is number nine"), "inserted");
	CHECK_STR(write_fact(elsewhere, "the locker is blue"), "inserted");
	CHECK_STR(find(both, "{\"words\":\"locker\"}"), "my locker is number nine");
	CHECK_STR(find(bobs, "{\"words\":\"locker\"}"), "");
	CHECK_STR(find(by(ANA), "{\"words\":\"locker\"}"), "");
	CHECK_STR(find(elsewhere, "{\"words\":\"locker\"}"), "the locker is blue");
	close_scene();
}

TEST(rule_098_five_facts_are_written_in_a_minute)
{
	static const char *const texts[] = {"Ana plays the cello", "the cat sleeps all day",
					    "lunch costs nine euros", "rain falls in autumn",
					    "the door squeaks"};
	struct store_facts elsewhere = by(BOB);

	elsewhere.guild = OTHER_GUILD;
	open_scene();
	for (unsigned i = 0; i < 5; i++)
		CHECK_STR(write_fact(by(i % 2 ? ANA : BOB), texts[i]), "inserted");
	CHECK_STR(write_fact(by(ANA), "the moon is full"), "write_rate_limited");
	/* Forgetting one does not make room for another. */
	CHECK_INT(forget(by(ANA), "{\"last\":true}"), 1);
	CHECK_STR(write_fact(by(ANA), "the moon is full"), "write_rate_limited");
	CHECK_STR(write_fact(elsewhere, "the moon is full"), "inserted");
	close_scene();
}

TEST(an_operator_forgets_the_memory_of_a_whole_server)
{
	struct store_facts other = by(ANA), own = by(BOB);

	other.guild = OTHER_GUILD;
	own.owner = BOB;
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(write_fact(by(ANA), "the release is on Friday"), "updated");
	CHECK_STR(write_fact(own, "my bike is red"), "inserted");
	CHECK_STR(write_fact(other, "the harbour is closed"), "inserted");
	CHECK_INT(store_forget_guild(s->store, GUILD, on_answer, NULL), 0);
	CHECK(loop_run(&s->l) && !s->err);
	CHECK_INT(json_integer_value(json_object_get(answer, "forgotten")), 3);
	CHECK_STR(find(by(ANA), "{\"words\":\"when is the release\"}"), "");
	CHECK_STR(find(own, "{\"words\":\"what colour has my bike\"}"), "");
	CHECK_STR(find(other, "{\"words\":\"is the harbour closed\"}"), "the harbour is closed");
	/* The index knows of nothing that is gone. */
	CHECK_STR(write_fact(by(ANA), "the release is on Tuesday"), "inserted");
	close_scene();
}

TEST(people_forget_what_they_said_themselves)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the bakery opens at six"), "inserted");
	CHECK_STR(write_fact(by(ANA), "the bakery opens at seven"), "updated");
	CHECK_STR(write_fact(by(BOB), "the library closes at nine"), "inserted");
	CHECK_INT(forget(by(BOB), "{\"words\":\"bakery\"}"), 0);
	CHECK_INT(forget(by(BOB), "{\"id\":2}"), 0);
	CHECK_INT(forget(by(ANA), "{\"words\":\"the bakery\"}"), 1);
	CHECK_STR(find(by(ANA), "{\"words\":\"bakery\"}"), "");
	CHECK_STR(find(by(ANA), "{\"words\":\"library\"}"), "the library closes at nine");
	CHECK_INT(forget(by(BOB), "{\"id\":3}"), 1);
	CHECK_INT(forget(by(BOB), "{\"tags\":[\"t\"]}"), 0);
	close_scene();
}

/* Forgetting has no way back: one shared word is too little. */
TEST(words_that_name_no_fact_delete_none_and_tell_the_near_ones)
{
	json_t *near;

	open_scene();
	CHECK_STR(write_fact(by(ANA), "the appointment with the bank is at nine"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the dentist moved the appointment"), "inserted");
	CHECK_INT(forget(by(ANA), "{\"words\":\"my dentist appointment\"}"), 0);
	near = json_object_get(answer, "candidates");
	CHECK_INT(json_array_size(near), 1);
	CHECK_INT(json_integer_value(json_object_get(json_array_get(near, 0), "id")), 1);
	CHECK_INT(forget(by(ANA), "{\"words\":\"the cello\"}"), 0);
	CHECK(!json_object_get(answer, "candidates"));
	CHECK_INT(forget(by(ANA), "{\"words\":\"my dentist appointment\",\"id\":1}"), 1);
	CHECK_INT(run_sql("SELECT count(*) FROM facts"), 1);
	close_scene();
}

TEST(a_request_that_is_no_json_writes_nothing)
{
	struct store_facts f = by(ANA);
	int saved = dup(STDERR_FILENO), fd;
	char log[64];

	open_scene();
	snprintf(log, sizeof log, "%s/log", s->dir);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	f.request = "[{";
	CHECK_INT(store_write_facts(s->store, &f, on_answer, NULL), 0);
	CHECK(loop_run(&s->l));
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	CHECK_INT(s->err, EINVAL);
	/* The database has no fault. */
	CHECK_INT(store_scene_count(log, "store_fault"), 0);
	CHECK_STR(find(by(ANA), "{"), "");
	close_scene();
}

/* The speaker was erased while a model looked for facts in their lines. */
TEST(a_fact_without_its_lines_is_refused)
{
	struct store_facts f = by(ANA);

	open_scene();
	f.request = "[{\"text\":\"my bike is red\",\"type\":\"preference\",\"tags\":[],"
		    "\"evidence\":[41,42]}]";
	CHECK(store_write_facts(s->store, &f, on_answer, NULL) == 0 && loop_run(&s->l));
	CHECK_INT(json_array_size(json_object_get(answer, "written")), 0);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(answer, "skipped"), 0), "reason")),
		  "no_evidence");
	CHECK_STR(find(by(ANA), "{\"words\":\"what colour is my bike\"}"), "");
	close_scene();
}

TEST(a_person_forgets_their_own_fact_among_many_of_others)
{
	enum { AT_ONCE = 5, REQUESTS = 14 }; /* more than a search reads */
	char request[512];

	open_scene();
	CHECK_STR(write_fact(by(ANA), "the allergy that troubles me since childhood is peanuts"),
		  "inserted");
	for (unsigned i = 0; i < REQUESTS; i++) {
		size_t n = 0;

		for (unsigned k = 0; k < AT_ONCE; k++)
			n += (size_t)snprintf(request + n, sizeof request - n,
					      "%s{\"text\":\"allergy %cx%cx\",\"tags\":[]}",
					      k ? "," : "[", (char)('a' + i), (char)('a' + k));
		snprintf(request + n, sizeof request - n, "]");
		run_sql("DELETE FROM audit"); /* a minute is over */
		CHECK_STR(send_fact(by(BOB), request), "inserted");
	}
	CHECK_INT(run_sql("SELECT count(*) FROM facts"), AT_ONCE * REQUESTS + 1);
	CHECK_INT(forget(by(ANA), "{\"words\":\"allergy\"}"), 1);
	CHECK_INT(run_sql("SELECT count(*) FROM facts WHERE said_by = 4"), 0);
	close_scene();
}

static void say_line(uint64_t user, unsigned ms, const char *text)
{
	uint64_t at_ms = store_scene_ms(ms);
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = at_ms, .guild = GUILD, .user = user};

	ev.utterance = (struct event_utterance){.session = 1000,
						.channel = 300,
						.name = "Ana",
						.text = text,
						.started_ms = at_ms,
						.consent = true};
	bus_publish(s->bus, &ev);
}

/* As an extraction writes it. */
static const char *write_line(struct store_facts f, const char *text, unsigned line)
{
	char request[256];

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[],\"evidence\":[%u]}]", text,
		 line);
	return send_fact(f, request);
}

TEST(a_forgotten_fact_does_not_come_back_beside_another_line)
{
	static const char both[] = "[{\"text\":\"my bike is red\",\"tags\":[],\"evidence\":[1,2]}]";

	open_scene();
	say_line(ANA, 5000, "my bike is red");
	say_line(ANA, 6000, "the bike has a bell");
	CHECK_STR(send_fact(by(ANA), both), "inserted");
	CHECK_INT(forget(by(ANA), "{\"words\":\"red bike\"}"), 1);
	say_line(ANA, 7000, "the bike is old");
	CHECK_STR(send_fact(by(ANA),
			    "[{\"text\":\"my bike is red\",\"tags\":[],\"evidence\":[1,3]}]"),
		  "no_evidence");
	CHECK_STR(send_fact(by(ANA),
			    "[{\"text\":\"my bike is red\",\"tags\":[],\"evidence\":[3,1]}]"),
		  "no_evidence");
	CHECK_STR(write_line(by(ANA), "my bike is old", 3), "inserted");
	close_scene();
}

TEST(a_forgotten_fact_does_not_come_back_from_a_line_that_repeats_it)
{
	open_scene();
	say_line(ANA, 5000, "my bike is red and fast");
	CHECK_STR(write_line(by(ANA), "my bike is red and fast", 1), "inserted");
	say_line(ANA, 6000, "my bike is red and old");
	say_line(ANA, 7000, "forget the thing about my bike");
	say_line(BOB, 8000, "my bike is red");
	say_line(ANA, 9000, "my cat is red");
	CHECK_INT(forget(by(ANA), "{\"words\":\"bike\"}"), 1);
	CHECK_STR(write_line(by(ANA), "my bike is red", 2), "no_evidence");
	CHECK_STR(write_line(by(ANA), "my bike is red", 3), "no_evidence");
	CHECK_STR(write_line(by(BOB), "my bike is red", 4), "inserted");
	CHECK_STR(write_line(by(ANA), "my cat is red", 5), "inserted");
	close_scene();
}

/* The lines that the question finds, as JSON. Borrowed. */
static const char *find_lines(const char *words)
{
	static char text[1024];
	const struct store_said q = {
		.guild = GUILD, .channel = 300, .name = "", .words = words, .most = 5};

	if (store_find_said(s->store, &q, on_answer, NULL) || !loop_run(&s->l) || s->err)
		return "not asked";
	text[json_dumpb(answer, text, sizeof text - 1, JSON_COMPACT)] = '\0';
	return text;
}

TEST(lines_of_a_forgotten_fact_are_not_found)
{
	open_scene();
	say_line(ANA, 5000, "remember that my bike is red");
	say_line(BOB, 600000, "the harbour is far away");
	CHECK_STR(write_line(by(ANA), "my bike is red", 1), "inserted");
	CHECK(strstr(find_lines("what colour is the bike"), "red"));
	CHECK_INT(forget(by(ANA), "{\"words\":\"bike\"}"), 1);
	CHECK(!strstr(find_lines("what colour is the bike"), "red"));
	CHECK(!strstr(find_lines(""), "red"));
	CHECK(strstr(find_lines("where is the harbour"), "far away"));
	close_scene();
}

/* Of all that was said in the minute before. */
TEST(what_was_said_beside_a_fact_is_still_found_once_it_is_forgotten)
{
	struct store_facts f = by(ANA);

	open_scene();
	say_line(ANA, 5000, "the release is on tuesday");
	say_line(ANA, 6000, "and the demo is in room four");
	say_line(ANA, 7000, "remember that my bike is red");
	say_line(ANA, 8000, "thanks");
	f.channel = 300;
	CHECK_STR(write_fact(f, "my bike is red"), "inserted");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_sources"), 1);
	CHECK_INT(run_sql("SELECT utterance FROM fact_sources"), 3);
	CHECK_INT(forget(by(ANA), "{\"last\":true}"), 1);
	CHECK(strstr(find_lines("when is the release"), "tuesday"));
	CHECK(strstr(find_lines("where is the demo"), "four"));
	CHECK(!strstr(find_lines("what colour is the bike"), "red"));
	/* In other words than those of the fact, the newest line is the evidence. */
	CHECK_STR(write_fact(f, "Ana owns a sailing boat"), "inserted");
	CHECK_INT(run_sql("SELECT utterance FROM fact_sources"), 4);
	close_scene();
}

static uint64_t told_of;

static void note_forgotten(uint64_t guild, void *arg)
{
	(void)arg;
	told_of = guild;
}

/* A tool wrote it into the server's memory, and an extraction into hers. */
TEST(whoever_forgets_a_fact_forgets_it_in_both_memories)
{
	struct store_facts both = by(ANA), own = by(ANA);

	open_scene();
	store_watch_forgotten(s->store, note_forgotten, NULL);
	own.owner = both.owner = ANA;
	both.any = true;
	CHECK_STR(write_fact(by(ANA), "my bike is red"), "inserted");
	CHECK_STR(write_fact(own, "My bike is red."), "inserted");
	CHECK_STR(write_fact(own, "the bike shop opens at nine"), "inserted");
	CHECK_STR(write_fact(by(BOB), "my bike is red"), "inserted");
	CHECK_INT(told_of, 0);
	CHECK_INT(forget(both, "{\"words\":\"red bike\"}"), 2);
	CHECK_INT(told_of, GUILD);
	CHECK_STR(find(both, "{\"words\":\"bike\"}"),
		  "my bike is red; the bike shop opens at nine");
	close_scene();
}

/* What one says of oneself contradicts what one said in the other memory, and nobody else. */
TEST(of_what_an_author_says_of_themselves_in_both_memories_the_newer_comes_first)
{
	struct store_facts both = by(ANA), own = by(ANA);

	open_scene();
	own.owner = both.owner = ANA;
	both.any = true;
	CHECK_STR(write_fact(own, "my bike is red"), "inserted");
	CHECK_STR(write_fact(by(ANA), "my bike is blue and quite shiny in the sun"), "inserted");
	CHECK_STR(find(both, "{\"words\":\"my bike\"}"),
		  "my bike is blue and quite shiny in the sun; my bike is red");
	CHECK_STR(write_fact(by(BOB), "my bike is green and quite shiny in the rain and snow"),
		  "inserted");
	CHECK_STR(find(both, "{\"words\":\"my bike\"}"),
		  "my bike is blue and quite shiny in the sun; my bike is red; "
		  "my bike is green and quite shiny in the rain and snow");
	close_scene();
}

TEST(facts_that_the_words_name_too_come_back_when_one_is_forgotten)
{
	const json_t *others;

	open_scene();
	CHECK_STR(write_fact(by(ANA), "my bike is red"), "inserted");
	CHECK_STR(write_fact(by(ANA), "my bike is in the garage"), "inserted");
	CHECK_STR(write_fact(by(BOB), "my bike is green"), "inserted");
	CHECK_INT(forget(by(ANA), "{\"words\":\"my bike\"}"), 1);
	others = json_object_get(answer, "candidates");
	CHECK_INT(json_array_size(others), 1);
	CHECK_INT(forget(by(ANA), "{\"words\":\"my bike\"}"), 1);
	CHECK(!json_object_get(answer, "candidates"));
	close_scene();
}

TEST(a_fact_that_says_more_stays_when_a_shorter_one_is_forgotten)
{
	struct store_facts both = by(ANA), own = by(ANA);

	open_scene();
	own.owner = both.owner = ANA;
	both.any = true;
	CHECK_STR(write_fact(by(ANA), "I like tea with milk and honey"), "inserted");
	CHECK_STR(write_fact(by(ANA), "I want to live in Rome"), "inserted");
	CHECK_STR(write_fact(own, "I like tea"), "inserted");
	CHECK_STR(write_fact(own, "I live in Rome"), "inserted");
	CHECK_INT(forget(both, "{\"id\":3}"), 1);
	CHECK_INT(forget(both, "{\"id\":4}"), 1);
	CHECK_STR(find(both, "{\"words\":\"tea\"}"), "I like tea with milk and honey");
	CHECK_STR(find(both, "{\"words\":\"rome\"}"), "I want to live in Rome");
	close_scene();
}

/* Those of a person whom models may not be told of, or of a closed channel, take no place. */
TEST(a_search_leaves_out_what_the_request_names)
{
	struct store_facts f = by(BOB);
	char text[64];

	open_scene();
	CHECK_STR(write_fact(by(BOB), "the release with all its tests is on friday at noon"),
		  "inserted");
	for (unsigned i = 0; i < 4; i++) {
		snprintf(text, sizeof text, "release %c", 'a' + i);
		CHECK_STR(write_fact(by(ANA), text), "inserted");
	}
	run_sql("UPDATE facts SET channels = '[\"31\",\"32\"]' WHERE said_by = 4");
	f.most = 4;
	CHECK(!strstr(find(f, "{\"words\":\"release\"}"), "friday"));
	CHECK_STR(find(f, "{\"words\":\"release\",\"without_authors\":[\"4\"]}"),
		  "the release with all its tests is on friday at noon");
	CHECK_STR(find(f, "{\"words\":\"release\",\"without_channels\":[\"32\",\"31\"]}"),
		  "the release with all its tests is on friday at noon");
	CHECK(!strstr(find(f, "{\"words\":\"release\",\"without_channels\":[\"32\"]}"), "friday"));
	/* Her own she may be told. */
	f.user = ANA;
	CHECK(!strstr(find(f, "{\"words\":\"release\",\"without_channels\":[\"32\",\"31\"]}"),
		      "friday"));
	close_scene();
}

TEST(a_line_whose_words_have_expired_carries_no_fact)
{
	open_scene();
	say_line(ANA, 5000, "my bike is red");
	CHECK_STR(find(by(ANA), "{\"words\":\"bike\"}"), ""); /* the line is saved by now */
	run_sql("UPDATE utterances SET text = NULL");
	CHECK_STR(write_line(by(ANA), "my bike is red", 1), "no_evidence");
	close_scene();
}

TEST(an_older_line_does_not_end_a_newer_fact)
{
	open_scene();
	say_line(ANA, 5000, "my bike is red");
	say_line(ANA, 6000, "my bike is green");
	CHECK_STR(write_line(by(ANA), "my bike is green", 2), "inserted");
	CHECK_STR(write_line(by(ANA), "my bike is red", 1), "outdated");
	CHECK_STR(find(by(ANA), "{\"words\":\"what colour is my bike\"}"), "my bike is green");
	CHECK_INT(json_integer_value(json_object_get(json_array_get(answer, 0), "at_ms")),
		  (int64_t)store_scene_ms(6000));
	/* A fact without lines is said now. */
	CHECK_STR(write_fact(by(ANA), "my bike is blue"), "updated");
	CHECK_STR(write_line(by(ANA), "my bike is red", 1), "outdated");
	CHECK_STR(find(by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is blue (my bike is green)");
	close_scene();
}

TEST(a_newer_line_ends_an_older_fact_at_its_own_time)
{
	json_t *former;

	open_scene();
	say_line(ANA, 5000, "my bike is red");
	say_line(ANA, 6000, "my bike is green");
	CHECK_STR(write_line(by(ANA), "my bike is red", 1), "inserted");
	CHECK_STR(write_line(by(ANA), "my bike is green", 2), "updated");
	CHECK_STR(find(by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is green (my bike is red)");
	former = json_array_get(json_object_get(json_array_get(answer, 0), "former"), 0);
	CHECK_INT(json_integer_value(json_object_get(former, "from_ms")),
		  (int64_t)store_scene_ms(5000));
	CHECK_INT(json_integer_value(json_object_get(former, "until_ms")),
		  (int64_t)store_scene_ms(6000));
	close_scene();
}

/* ---- names ---- */

static void speak(uint64_t user, const char *name, uint32_t utterance)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = 1000, .guild = GUILD, .user = user};

	ev.utterance = (struct event_utterance){.session = 1000,
						.channel = 300,
						.utterance = utterance,
						.name = name,
						.text = "good evening",
						.started_ms = 1000,
						.consent = true};
	bus_publish(s->bus, &ev);
}

/* {"ID": bound} of the first fact that is found. */
static const char *people_of(const char *words)
{
	static char text[128];
	char request[128], *dumped;

	snprintf(request, sizeof request, "{\"words\":\"%s\"}", words);
	find(by(BOB), request);
	dumped = json_dumps(json_object_get(json_array_get(answer, 0), "people"), JSON_COMPACT);
	snprintf(text, sizeof text, "%s", dumped ? dumped : "nobody");
	free(dumped);
	return text;
}

TEST(a_fact_is_bound_to_the_only_person_of_its_name)
{
	open_scene();
	speak(ANA, "Ana", 1);
	speak(BOB, "Bob", 2);
	CHECK_STR(write_fact(by(BOB), "Ana likes tea"), "inserted");
	CHECK_STR(people_of("tea"), "{\"4\":true}");
	CHECK_STR(write_fact(by(BOB), "the banana cake is ready"), "inserted");
	CHECK_STR(people_of("cake"), "nobody");
	/* Its author is known anyway. */
	CHECK_STR(write_fact(by(BOB), "Bob likes coal"), "inserted");
	CHECK_STR(people_of("coal"), "nobody");
	CHECK_STR(write_fact(by(BOB), "Ana likes coffee since Tuesday"), "inserted");
	CHECK_STR(write_fact(by(BOB), "Ana likes coffee since Friday"), "updated");
	close_scene();
}

/* Nobody can tell which Ana it is: it takes nothing's place, and goes with each of them. */
TEST(a_fact_of_a_namesake_stays_unbound)
{
	open_scene();
	speak(ANA, "Ana", 1);
	speak(6, "ana", 2);
	CHECK_STR(write_fact(by(BOB), "Ana moves on Tuesday"), "inserted");
	CHECK_STR(people_of("moves"), "{\"4\":false,\"6\":false}");
	CHECK_STR(write_fact(by(BOB), "Ana moves on Friday"), "inserted");
	close_scene();
}

/* Each of them may be erased, so the fact has to know all of them. */
TEST(a_fact_knows_every_bearer_of_a_name)
{
	open_scene();
	for (unsigned i = 0; i < 40; i++)
		speak(100 + i, "Ana", i + 1);
	CHECK_STR(write_fact(by(BOB), "Ana moves on Tuesday"), "inserted");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_people WHERE NOT bound"), 40);
	CHECK_STR(find(by(BOB), "{\"words\":\"moves\"}"), "Ana moves on Tuesday");
	close_scene();
}

TEST(a_fact_stays_with_its_person_when_names_change)
{
	open_scene();
	speak(ANA, "Ana", 1);
	CHECK_STR(write_fact(by(BOB), "Ana moves on Tuesday"), "inserted");
	speak(ANA, "Anita", 2);
	speak(6, "Ana", 3);
	CHECK_STR(people_of("moves"), "{\"4\":true}");
	CHECK_STR(write_fact(by(BOB), "Anita bakes on Sunday"), "inserted");
	CHECK_STR(people_of("bakes"), "{\"4\":true}");
	close_scene();
}

/* However long ago they spoke. */
TEST(a_fact_is_bound_to_people_behind_thousands_of_lines)
{
	open_scene();
	speak(ANA, "Ana", 1);
	speak(6, "Eve", 2);
	speak(7, "Ida", 3);
	CHECK_STR(write_fact(by(BOB), "the first line is written"), "inserted");
	CHECK_INT(run_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
			  " WHERE i < 6000) INSERT INTO utterances(guild, session, utterance,"
			  " user, name, text, started_ms, source) SELECT 7, 2000, i,"
			  " iif(i % 2, 5, 8), iif(i % 2, 'Bob', iif(i = 10, 'eve', 'Zoe')),"
			  " 'good evening', 2000 + i, 'transcription' FROM n RETURNING 0"),
		  0);
	CHECK_STR(write_fact(by(BOB), "Ana likes tea"), "inserted");
	CHECK_STR(people_of("tea"), "{\"4\":true}");
	CHECK_STR(write_fact(by(BOB), "Ida and Zoe like coal"), "inserted");
	CHECK_STR(people_of("coal"), "{\"7\":true,\"8\":true}");
	CHECK_STR(write_fact(by(BOB), "Eve likes rye"), "inserted");
	CHECK_STR(people_of("rye"), "{\"6\":false,\"8\":false}");
	close_scene();
}

/* ---- more facts than a search reads ---- */

static bool add_newer_facts(void)
{
	return run_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
		       " WHERE i < 200) INSERT INTO facts(guild, owner, said_by, name, tags, text,"
		       " written_ms, valid_from_ms) SELECT 7, 0, 4, 'Ana', '[]', 'the fact ' || i,"
		       " 9000000000000 + i, 9000000000000 + i FROM n RETURNING 0") == 0;
}

TEST(a_fact_is_found_and_forgotten_behind_hundreds_of_newer_ones)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the bakery opens at six"), "inserted");
	CHECK_STR(write_fact(by(ANA), "the library closes at nine"), "inserted");
	CHECK(add_newer_facts());
	CHECK_STR(find(by(BOB), "{\"words\":\"\",\"tags\":[\"t\"]}"),
		  "the library closes at nine; the bakery opens at six");
	CHECK_INT(forget(by(ANA), "{\"id\":1}"), 1);
	CHECK_INT(forget(by(ANA), "{\"tags\":[\"t\",\"u\"]}"), 0);
	CHECK_INT(forget(by(ANA), "{\"tags\":[\"t\"]}"), 1);
	CHECK_STR(find(by(ANA), "{\"words\":\"bakery library\"}"), "");
	close_scene();
}

/* ---- a fact that is said again ---- */

TEST(a_fact_that_is_said_again_is_kept_from_then_on_and_is_the_newest)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the bakery opens at six"), "inserted");
	CHECK_STR(write_fact(by(ANA), "the library closes at nine"), "inserted");
	/* Long ago, and soon too old to be kept. */
	CHECK_INT(run_sql("UPDATE facts SET written_ms = id, valid_from_ms = id"
			  " WHERE id <= 2 RETURNING 0"),
		  0);
	CHECK_STR(write_fact(by(ANA), "The bakery opens at six."), "duplicate");
	CHECK_INT(run_sql("SELECT written_ms > 1000000 FROM facts WHERE id = 1"), 1);
	CHECK_INT(run_sql("SELECT valid_from_ms FROM facts WHERE id = 1"), 1);
	CHECK_INT(run_sql("SELECT written_ms FROM facts WHERE id = 2"), 2);
	CHECK_INT(forget(by(ANA), "{\"last\":true}"), 1);
	CHECK_STR(find(by(ANA), "{\"words\":\"bakery library\"}"), "the library closes at nine");
	close_scene();
}

/* ms of the nth fact that was found; 0: it has none. */
static int64_t ms_of(unsigned nth, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(answer, nth), key));
}

/* Ana, Bob, and Ana again to correct him: hers is the newest word. */
TEST(a_fact_that_is_said_again_is_newer_than_what_was_said_between)
{
	open_scene();
	CHECK_STR(write_fact(by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the release is on Wednesday"), "inserted");
	CHECK_INT(run_sql("UPDATE facts SET valid_from_ms = id RETURNING 0"), 0);
	CHECK_STR(find(by(BOB), "{\"words\":\"when is the release\"}"),
		  "the release is on Wednesday; the release is on Tuesday");
	CHECK_INT(ms_of(0, "again_ms") + ms_of(1, "again_ms"), 0);
	CHECK_STR(write_fact(by(ANA), "the release is on Tuesday"), "duplicate");
	CHECK_STR(find(by(BOB), "{\"words\":\"when is the release\"}"),
		  "the release is on Tuesday; the release is on Wednesday");
	CHECK_INT(ms_of(0, "at_ms"), 1);
	CHECK(ms_of(0, "again_ms") > 1000000);
	CHECK_INT(ms_of(1, "again_ms"), 0);
	/* A line from between is older than what she said last. */
	say_line(ANA, 5000, "the release is on Monday");
	CHECK_STR(write_line(by(ANA), "the release is on Monday", 1), "outdated");
	close_scene();
}

/* Anybody may call themselves so, and be erased. */
TEST(an_everyday_name_takes_no_facts_of_others_along)
{
	struct store_facts own = by(BOB);

	open_scene();
	speak(9, "release", 1);
	speak(10, "Release", 2);
	own.owner = BOB;
	CHECK_STR(write_fact(own, "my release party is blue"), "inserted");
	CHECK_STR(write_fact(by(BOB), "the release is on Friday"), "inserted");
	CHECK_STR(people_of("Friday"), "nobody");
	CHECK_STR(write_fact(own, "Release dates are in my calendar"), "inserted");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_people"), 0);
	/* Surely meant. */
	CHECK_STR(write_fact(own, "yesterday Release said hello"), "inserted");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_people"), 2);
	close_scene();
}

TEST(a_name_in_small_letters_binds_a_fact_unless_it_is_a_word_of_the_server)
{
	open_scene();
	speak(9, "Zorbina", 1);
	speak(10, "roadmap", 2);
	CHECK_STR(write_fact(by(BOB), "zorbina likes rye"), "inserted");
	CHECK_INT(run_sql("SELECT user FROM fact_people"), 9);
	CHECK_STR(write_fact(by(ANA), "our roadmap is short"), "inserted");
	CHECK_STR(write_fact(by(BOB), "roadmap reviews are on tuesdays"), "inserted");
	CHECK_INT(run_sql("SELECT count(*) FROM fact_people"), 1);
	close_scene();
}

/* "3 4": where the first fact that these words find was told; "all": for all of the server. */
static const char *told_in(const char *words)
{
	static char out[64];
	char request[64];
	json_t *list, *one;
	size_t i, n = 0;

	snprintf(request, sizeof request, "{\"words\":\"%s\"}", words);
	find(by(ANA), request);
	list = json_object_get(json_array_get(answer, 0), "channels");
	out[0] = '\0';
	json_array_foreach(list, i, one)
	{
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i ? " " : "",
				      json_string_value(one));
	}
	return list ? out : "all";
}

static struct store_facts in(uint64_t channel)
{
	struct store_facts f = by(ANA);

	f.channel = channel;
	return f;
}

TEST(a_fact_knows_the_channels_in_which_it_was_told)
{
	const json_t *former;

	open_scene();
	CHECK_STR(write_fact(in(3), "the release is on Tuesday"), "inserted");
	CHECK_STR(told_in("release"), "3");
	CHECK_STR(write_fact(in(4), "the release is on Tuesday"), "duplicate");
	CHECK_STR(write_fact(in(3), "the release is on Tuesday"), "duplicate");
	CHECK_STR(told_in("release"), "3 4");
	CHECK_STR(write_fact(in(5), "the release is on Friday"), "updated");
	CHECK_STR(told_in("release"), "5");
	former = json_array_get(json_object_get(json_array_get(answer, 0), "former"), 0);
	CHECK_INT(json_array_size(json_object_get(former, "channels")), 2);
	CHECK_INT(forget(by(BOB), "{\"words\":\"release\"}"), 0);
	/* A fact that the whole server may be told keeps no channels. */
	CHECK_STR(write_fact(in(0), "the release is on Friday"), "duplicate");
	CHECK_STR(told_in("release"), "all");
	CHECK_STR(write_fact(in(3), "the release is on Friday"), "duplicate");
	CHECK_STR(told_in("release"), "all");
	close_scene();
}

/* What was told to a few stays theirs when its author tells less of it to all. */
TEST(a_shorter_telling_opens_no_fact)
{
	open_scene();
	CHECK_STR(write_fact(in(3), "I have a black dog"), "inserted");
	CHECK_STR(write_fact(in(4), "I have a dog"), "duplicate");
	CHECK_STR(told_in("dog"), "3");
	CHECK_STR(write_fact(in(0), "I have a dog"), "duplicate");
	CHECK_STR(told_in("dog"), "3");
	CHECK_STR(write_fact(in(4), "i have a black dog"), "duplicate");
	CHECK_STR(told_in("dog"), "3 4");
	close_scene();
}
