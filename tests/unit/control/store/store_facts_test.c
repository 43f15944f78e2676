/* Facts: written, found, replaced and forgotten (store_write_facts and its neighbours). */
#include "tests/unit/control/store/facts_scene.h"

#include <fcntl.h>
#include <unistd.h>

static struct store_scene *const s = &store_scene;

TEST(a_correction_ends_the_older_fact_and_keeps_it)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "The release is on Tuesday."),
		  "duplicate");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Friday"), "updated");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"when is the release\"}"),
		  "the release is on Friday (the release is on Tuesday)");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"where is the harbour\"}"),
		  "");
	facts_scene_close();
}

/* No command takes a change back or brings back what was forgotten: it is told again. */
TEST(a_fact_that_is_told_again_after_a_change_or_its_end_stands)
{
	const char *what = "{\"words\":\"when is the release\"}";

	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Friday"), "updated");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "updated");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), what),
		  "the release is on Tuesday (the release is on Friday)");
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"release\"}"), 1);
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), what), "");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Friday"), "inserted");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), what), "the release is on Friday");
	facts_scene_close();
}

TEST(a_contradiction_by_somebody_else_stands_beside_the_fact)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the release is on Friday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the release is on Tuesday"), "updated");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"when is the release\"}"),
		  "the release is on Tuesday (the release is on Friday); "
		  "the release is on Tuesday");
	/* Each of them forgets their own. */
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"words\":\"release\"}"), 1);
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"when is the release\"}"),
		  "the release is on Tuesday");
	facts_scene_close();
}

/* The words of the older one fit better. */
TEST(of_facts_that_contradict_each_other_the_newer_comes_first)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the meeting is on Friday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the meeting is on Sunday afternoon"),
		  "inserted");
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"when is the meeting\"}"),
		  "the meeting is on Sunday afternoon; the meeting is on Friday");
	facts_scene_close();
}

TEST(my_facts_come_before_those_of_others)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "my bike is red"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "my bike is green"), "inserted");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is red; my bike is green");
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"mine\":true}"), "my bike is green");
	CHECK_STR(
		facts_scene_find(facts_scene_by(BOB), "{\"words\":\"bike\",\"tags\":[\"other\"]}"),
		"");
	facts_scene_close();
}

/* "we" and "us" are no words about the asker, and a better match of somebody else comes first. */
TEST(a_question_that_the_asker_takes_part_in_is_not_about_the_asker)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the trip leaves at nine"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the bakery is closed when it rains"),
		  "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "a trip to Rome is long"), "inserted");
	CHECK(strncmp(facts_scene_find(facts_scene_by(ANA),
				       "{\"words\":\"when the trip leaves for us\"}"),
		      "the trip leaves at nine", 23) == 0);
	CHECK(strncmp(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"when leaves my trip\"}"),
		      "the trip leaves at nine", 23) == 0);
	facts_scene_close();
}

TEST(a_memory_is_seen_by_its_owner_and_in_its_server)
{
	struct store_facts own = facts_scene_by(ANA), elsewhere = facts_scene_by(ANA),
			   both = facts_scene_by(ANA), bobs = facts_scene_by(BOB);

	own.owner = both.owner = ANA;
	both.any = bobs.any = true;
	bobs.owner = BOB;
	elsewhere.guild = OTHER_GUILD;
	facts_scene_open();
	CHECK_STR(facts_scene_write(own, "my locker is number nine"), "inserted");
	CHECK_STR(facts_scene_write(elsewhere, "the locker is blue"), "inserted");
	CHECK_STR(facts_scene_find(both, "{\"words\":\"locker\"}"), "my locker is number nine");
	CHECK_STR(facts_scene_find(bobs, "{\"words\":\"locker\"}"), "");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"locker\"}"), "");
	CHECK_STR(facts_scene_find(elsewhere, "{\"words\":\"locker\"}"), "the locker is blue");
	facts_scene_close();
}

TEST(rule_098_five_facts_are_written_in_a_minute)
{
	static const char *const texts[] = {"Ana plays the cello", "the cat sleeps all day",
					    "lunch costs nine euros", "rain falls in autumn",
					    "the door squeaks"};
	struct store_facts elsewhere = facts_scene_by(BOB);

	elsewhere.guild = OTHER_GUILD;
	facts_scene_open();
	for (unsigned i = 0; i < 5; i++)
		CHECK_STR(facts_scene_write(facts_scene_by(i % 2 ? ANA : BOB), texts[i]),
			  "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the moon is full"), "write_rate_limited");
	/* Forgetting one does not make room for another. */
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"last\":true}"), 1);
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the moon is full"), "write_rate_limited");
	CHECK_STR(facts_scene_write(elsewhere, "the moon is full"), "inserted");
	facts_scene_close();
}

/* Forgetting has no way back: one shared word is too little. */
TEST(words_that_name_no_fact_delete_none_and_tell_the_near_ones)
{
	json_t *near;

	facts_scene_open();
	CHECK_STR(
		facts_scene_write(facts_scene_by(ANA), "the appointment with the bank is at nine"),
		"inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the dentist moved the appointment"),
		  "inserted");
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"my dentist appointment\"}"),
		  0);
	near = json_object_get(facts_scene_answer, "candidates");
	CHECK_INT(json_array_size(near), 1);
	CHECK_INT(json_integer_value(json_object_get(json_array_get(near, 0), "id")), 1);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"the cello\"}"), 0);
	CHECK(!json_object_get(facts_scene_answer, "candidates"));
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA),
				     "{\"words\":\"my dentist appointment\",\"id\":1}"),
		  1);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts"), 1);
	facts_scene_close();
}

static struct store_facts in_server(uint64_t guild, uint64_t user)
{
	struct store_facts f = facts_scene_by(user);

	f.guild = guild;
	f.owner = user;
	f.any = true;
	return f;
}

/* Of a direct message. The words mean one fact, wherever it lies. */
TEST(a_fact_is_forgotten_in_every_server_that_has_it)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(in_server(7, ANA), "I live in Bonn"), "inserted");
	CHECK_STR(facts_scene_write(in_server(8, ANA), "I live in Bonn"), "inserted");
	CHECK_STR(facts_scene_write(in_server(8, ANA), "my bike is red"), "inserted");
	CHECK_STR(facts_scene_write(in_server(9, BOB), "I live in Bonn"), "inserted");
	CHECK_STR(facts_scene_list_own(ANA, 9), "my bike is red; I live in Bonn; I live in Bonn");
	CHECK_STR(facts_scene_list_own(ANA, 1), "my bike is red");
	CHECK_INT(facts_scene_forget(in_server(0, ANA), "{\"words\":\"I live in Bonn\"}"), 2);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts"), 2);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts WHERE said_by = 5"), 1);
	/* By the id that was suggested, too. */
	CHECK_STR(facts_scene_write(in_server(7, ANA), "my bike is red"), "inserted");
	CHECK_INT(facts_scene_forget(in_server(0, ANA), "{\"id\":3}"), 2);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts"), 1);
	facts_scene_close();
}

/* The server that is asked first has no part in it. */
TEST(words_that_name_other_facts_in_other_servers_forget_none)
{
	const json_t *which;

	facts_scene_open();
	CHECK_STR(facts_scene_write(in_server(7, ANA), "my address is Elm Street nine"),
		  "inserted");
	CHECK_STR(facts_scene_write(in_server(8, ANA), "my address is Oak Road two"), "inserted");
	CHECK_INT(facts_scene_forget(in_server(0, ANA), "{\"words\":\"my address\"}"), 0);
	which = json_object_get(facts_scene_answer, "candidates");
	CHECK_INT(json_array_size(which), 2);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts"), 2);
	CHECK_INT(facts_scene_forget(in_server(0, ANA), "{\"words\":\"Oak Road\"}"), 1);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts WHERE guild = 7"), 1);
	facts_scene_close();
}

TEST(a_request_that_is_no_json_writes_nothing)
{
	struct store_facts f = facts_scene_by(ANA);
	int saved = dup(STDERR_FILENO), fd;
	char log[64];

	facts_scene_open();
	snprintf(log, sizeof log, "%s/log", s->dir);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	f.request = "[{";
	CHECK_INT(store_write_facts(s->store, &f, facts_scene_on_answer, NULL), 0);
	CHECK(loop_run(&s->l));
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	CHECK_INT(s->err, EINVAL);
	/* The database has no fault. */
	CHECK_INT(store_scene_count(log, "store_fault"), 0);
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{"), "");
	facts_scene_close();
}

/* The speaker was erased while a model looked for facts in their lines. */
TEST(a_fact_without_its_lines_is_refused)
{
	struct store_facts f = facts_scene_by(ANA);

	facts_scene_open();
	f.request = "[{\"text\":\"my bike is red\",\"type\":\"preference\",\"tags\":[],"
		    "\"evidence\":[41,42]}]";
	CHECK(store_write_facts(s->store, &f, facts_scene_on_answer, NULL) == 0 && loop_run(&s->l));
	CHECK_INT(json_array_size(json_object_get(facts_scene_answer, "written")), 0);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(facts_scene_answer, "skipped"), 0),
			  "reason")),
		  "no_evidence");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "");
	facts_scene_close();
}

/* What one says of oneself contradicts what one said in the other memory, and nobody else. */
TEST(of_what_an_author_says_of_themselves_in_both_memories_the_newer_comes_first)
{
	struct store_facts both = facts_scene_by(ANA), own = facts_scene_by(ANA);

	facts_scene_open();
	own.owner = both.owner = ANA;
	both.any = true;
	CHECK_STR(facts_scene_write(own, "my bike is red"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA),
				    "my bike is blue and quite shiny in the sun"),
		  "inserted");
	CHECK_STR(facts_scene_find(both, "{\"words\":\"my bike\"}"),
		  "my bike is blue and quite shiny in the sun; my bike is red");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB),
				    "my bike is green and quite shiny in the rain and snow"),
		  "inserted");
	CHECK_STR(facts_scene_find(both, "{\"words\":\"my bike\"}"),
		  "my bike is blue and quite shiny in the sun; my bike is red; "
		  "my bike is green and quite shiny in the rain and snow");
	facts_scene_close();
}

/* Those of a person whom models may not be told of, or of a closed channel, take no place. */
TEST(a_search_leaves_out_what_the_request_names)
{
	struct store_facts f = facts_scene_by(BOB);
	char text[64];

	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(BOB),
				    "the release with all its tests is on friday at noon"),
		  "inserted");
	for (unsigned i = 0; i < 4; i++) {
		snprintf(text, sizeof text, "release %c", 'a' + i);
		CHECK_STR(facts_scene_write(facts_scene_by(ANA), text), "inserted");
	}
	facts_scene_sql("UPDATE facts SET channels = '[\"31\",\"32\"]' WHERE said_by = 4");
	f.most = 4;
	CHECK(!strstr(facts_scene_find(f, "{\"words\":\"release\"}"), "friday"));
	CHECK_STR(facts_scene_find(f, "{\"words\":\"release\",\"without_authors\":[\"4\"]}"),
		  "the release with all its tests is on friday at noon");
	CHECK_STR(
		facts_scene_find(f, "{\"words\":\"release\",\"without_channels\":[\"32\",\"31\"]}"),
		"the release with all its tests is on friday at noon");
	CHECK(!strstr(facts_scene_find(f, "{\"words\":\"release\",\"without_channels\":[\"32\"]}"),
		      "friday"));
	/* Her own she may be told. */
	f.user = ANA;
	CHECK(!strstr(
		facts_scene_find(f, "{\"words\":\"release\",\"without_channels\":[\"32\",\"31\"]}"),
		"friday"));
	facts_scene_close();
}

TEST(a_line_whose_words_have_expired_carries_no_fact)
{
	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "my bike is red");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"bike\"}"),
		  ""); /* the line is saved by now */
	facts_scene_sql("UPDATE utterances SET text = NULL");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 1), "no_evidence");
	facts_scene_close();
}

TEST(an_older_line_does_not_end_a_newer_fact)
{
	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "my bike is red");
	facts_scene_say_line(ANA, 6000, "my bike is green");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is green", 2), "inserted");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 1), "outdated");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is green");
	CHECK_INT(
		json_integer_value(json_object_get(json_array_get(facts_scene_answer, 0), "at_ms")),
		(int64_t)store_scene_ms(6000));
	/* A fact without lines is said now. */
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "my bike is blue"), "updated");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 1), "outdated");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is blue (my bike is green)");
	facts_scene_close();
}

TEST(a_newer_line_ends_an_older_fact_at_its_own_time)
{
	json_t *former;

	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "my bike is red");
	facts_scene_say_line(ANA, 6000, "my bike is green");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 1), "inserted");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is green", 2), "updated");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"what colour is my bike\"}"),
		  "my bike is green (my bike is red)");
	former =
		json_array_get(json_object_get(json_array_get(facts_scene_answer, 0), "former"), 0);
	CHECK_INT(json_integer_value(json_object_get(former, "from_ms")),
		  (int64_t)store_scene_ms(5000));
	CHECK_INT(json_integer_value(json_object_get(former, "until_ms")),
		  (int64_t)store_scene_ms(6000));
	facts_scene_close();
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
	facts_scene_find(facts_scene_by(BOB), request);
	dumped = json_dumps(json_object_get(json_array_get(facts_scene_answer, 0), "people"),
			    JSON_COMPACT);
	snprintf(text, sizeof text, "%s", dumped ? dumped : "nobody");
	free(dumped);
	return text;
}

TEST(a_fact_is_bound_to_the_only_person_of_its_name)
{
	facts_scene_open();
	speak(ANA, "Ana", 1);
	speak(BOB, "Bob", 2);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana likes tea"), "inserted");
	CHECK_STR(people_of("tea"), "{\"4\":true}");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the banana cake is ready"), "inserted");
	CHECK_STR(people_of("cake"), "nobody");
	/* Its author is known anyway. */
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Bob likes coal"), "inserted");
	CHECK_STR(people_of("coal"), "nobody");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana likes coffee since Tuesday"),
		  "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana likes coffee since Friday"),
		  "updated");
	facts_scene_close();
}

/* Nobody can tell which Ana it is: it takes nothing's place, and goes with each of them. */
TEST(a_fact_of_a_namesake_stays_unbound)
{
	facts_scene_open();
	speak(ANA, "Ana", 1);
	speak(6, "ana", 2);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana moves on Tuesday"), "inserted");
	CHECK_STR(people_of("moves"), "{\"4\":false,\"6\":false}");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana moves on Friday"), "inserted");
	facts_scene_close();
}

/* Each of them may be erased, so the fact has to know all of them. */
TEST(a_fact_knows_every_bearer_of_a_name)
{
	facts_scene_open();
	for (unsigned i = 0; i < 40; i++)
		speak(100 + i, "Ana", i + 1);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana moves on Tuesday"), "inserted");
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM fact_people WHERE NOT bound"), 40);
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"moves\"}"),
		  "Ana moves on Tuesday");
	facts_scene_close();
}

TEST(a_fact_stays_with_its_person_when_names_change)
{
	facts_scene_open();
	speak(ANA, "Ana", 1);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana moves on Tuesday"), "inserted");
	speak(ANA, "Anita", 2);
	speak(6, "Ana", 3);
	CHECK_STR(people_of("moves"), "{\"4\":true}");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Anita bakes on Sunday"), "inserted");
	CHECK_STR(people_of("bakes"), "{\"4\":true}");
	facts_scene_close();
}

/* However long ago they spoke. */
TEST(a_fact_is_bound_to_people_behind_thousands_of_lines)
{
	facts_scene_open();
	speak(ANA, "Ana", 1);
	speak(6, "Eve", 2);
	speak(7, "Ida", 3);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the first line is written"), "inserted");
	CHECK_INT(
		facts_scene_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
				" WHERE i < 6000) INSERT INTO utterances(guild, session, utterance,"
				" user, name, text, started_ms, source) SELECT 7, 2000, i,"
				" iif(i % 2, 5, 8), iif(i % 2, 'Bob', iif(i = 10, 'eve', 'Zoe')),"
				" 'good evening', 2000 + i, 'transcription' FROM n RETURNING 0"),
		0);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ana likes tea"), "inserted");
	CHECK_STR(people_of("tea"), "{\"4\":true}");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Ida and Zoe like coal"), "inserted");
	CHECK_STR(people_of("coal"), "{\"7\":true,\"8\":true}");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "Eve likes rye"), "inserted");
	CHECK_STR(people_of("rye"), "{\"6\":false,\"8\":false}");
	facts_scene_close();
}

/* ---- a fact that is said again ---- */

TEST(a_fact_that_is_said_again_is_kept_from_then_on_and_is_the_newest)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the bakery opens at six"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the library closes at nine"), "inserted");
	/* Long ago, and soon too old to be kept. */
	CHECK_INT(facts_scene_sql("UPDATE facts SET written_ms = id, valid_from_ms = id"
				  " WHERE id <= 2 RETURNING 0"),
		  0);
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "The bakery opens at six."), "duplicate");
	CHECK_INT(facts_scene_sql("SELECT written_ms > 1000000 FROM facts WHERE id = 1"), 1);
	CHECK_INT(facts_scene_sql("SELECT valid_from_ms FROM facts WHERE id = 1"), 1);
	CHECK_INT(facts_scene_sql("SELECT written_ms FROM facts WHERE id = 2"), 2);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"last\":true}"), 1);
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"bakery library\"}"),
		  "the library closes at nine");
	facts_scene_close();
}

/* ms of the nth fact that was found; 0: it has none. */
static int64_t ms_of(unsigned nth, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(facts_scene_answer, nth), key));
}

/* Ana, Bob, and Ana again to correct him: hers is the newest word. */
TEST(a_fact_that_is_said_again_is_newer_than_what_was_said_between)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the release is on Wednesday"),
		  "inserted");
	CHECK_INT(facts_scene_sql("UPDATE facts SET valid_from_ms = id RETURNING 0"), 0);
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"when is the release\"}"),
		  "the release is on Wednesday; the release is on Tuesday");
	CHECK_INT(ms_of(0, "again_ms") + ms_of(1, "again_ms"), 0);
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "duplicate");
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"when is the release\"}"),
		  "the release is on Tuesday; the release is on Wednesday");
	CHECK_INT(ms_of(0, "at_ms"), 1);
	CHECK(ms_of(0, "again_ms") > 1000000);
	CHECK_INT(ms_of(1, "again_ms"), 0);
	/* A line from between is older than what she said last. */
	facts_scene_say_line(ANA, 5000, "the release is on Monday");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "the release is on Monday", 1),
		  "outdated");
	facts_scene_close();
}

/* Anybody may call themselves so, and be erased. */
TEST(an_everyday_name_takes_no_facts_of_others_along)
{
	struct store_facts own = facts_scene_by(BOB);

	facts_scene_open();
	speak(9, "release", 1);
	speak(10, "Release", 2);
	own.owner = BOB;
	CHECK_STR(facts_scene_write(own, "my release party is blue"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the release is on Friday"), "inserted");
	CHECK_STR(people_of("Friday"), "nobody");
	CHECK_STR(facts_scene_write(own, "Release dates are in my calendar"), "inserted");
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM fact_people"), 0);
	/* Surely meant. */
	CHECK_STR(facts_scene_write(own, "yesterday Release said hello"), "inserted");
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM fact_people"), 2);
	facts_scene_close();
}

TEST(a_name_in_small_letters_binds_a_fact_unless_it_is_a_word_of_the_server)
{
	facts_scene_open();
	speak(9, "Zorbina", 1);
	speak(10, "roadmap", 2);
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "zorbina likes rye"), "inserted");
	CHECK_INT(facts_scene_sql("SELECT user FROM fact_people"), 9);
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "our roadmap is short"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "roadmap reviews are on tuesdays"),
		  "inserted");
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM fact_people"), 1);
	facts_scene_close();
}

/* "3 4": where the first fact that these words find was told; "all": for all of the server. */
static const char *told_in(const char *words)
{
	static char out[64];
	char request[64];
	json_t *list, *one;
	size_t i, n = 0;

	snprintf(request, sizeof request, "{\"words\":\"%s\"}", words);
	facts_scene_find(facts_scene_by(ANA), request);
	list = json_object_get(json_array_get(facts_scene_answer, 0), "channels");
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
	struct store_facts f = facts_scene_by(ANA);

	f.channel = channel;
	return f;
}

TEST(a_fact_knows_the_channels_in_which_it_was_told)
{
	const json_t *former;

	facts_scene_open();
	CHECK_STR(facts_scene_write(in(3), "the release is on Tuesday"), "inserted");
	CHECK_STR(told_in("release"), "3");
	CHECK_STR(facts_scene_write(in(4), "the release is on Tuesday"), "duplicate");
	CHECK_STR(facts_scene_write(in(3), "the release is on Tuesday"), "duplicate");
	CHECK_STR(told_in("release"), "3 4");
	CHECK_STR(facts_scene_write(in(5), "the release is on Friday"), "updated");
	CHECK_STR(told_in("release"), "5");
	former =
		json_array_get(json_object_get(json_array_get(facts_scene_answer, 0), "former"), 0);
	CHECK_INT(json_array_size(json_object_get(former, "channels")), 2);
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"words\":\"release\"}"), 0);
	/* A fact that the whole server may be told keeps no channels. */
	CHECK_STR(facts_scene_write(in(0), "the release is on Friday"), "duplicate");
	CHECK_STR(told_in("release"), "all");
	CHECK_STR(facts_scene_write(in(3), "the release is on Friday"), "duplicate");
	CHECK_STR(told_in("release"), "all");
	facts_scene_close();
}

/* What was told to a few stays theirs when its author tells less of it to all. */
TEST(a_shorter_telling_opens_no_fact)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(in(3), "I have a black dog"), "inserted");
	CHECK_STR(facts_scene_write(in(4), "I have a dog"), "duplicate");
	CHECK_STR(told_in("dog"), "3");
	CHECK_STR(facts_scene_write(in(0), "I have a dog"), "duplicate");
	CHECK_STR(told_in("dog"), "3");
	CHECK_STR(facts_scene_write(in(4), "i have a black dog"), "duplicate");
	CHECK_STR(told_in("dog"), "3 4");
	facts_scene_close();
}
