/* Facts of people that are forgotten, and what comes back of them. */
#include "tests/unit/control/store/facts_scene.h"

static struct store_scene *const s = &store_scene;

TEST(forgetting_a_fact_reaches_its_former_values_and_nobody_elses)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the bakery opens at five"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the bakery opens at six"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the bakery opens at seven"), "updated");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the bakery opens at eight"), "updated");
	/* As databases of earlier versions have it. */
	CHECK_INT(facts_scene_sql("UPDATE facts SET valid_until_ms = 9, superseded_by = 4"
				  " WHERE id = 1 RETURNING id"),
		  1);
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"bakery\"}"),
		  "the bakery opens at eight (the bakery opens at seven)");
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"words\":\"bakery\"}"), 1);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts"), 1);
	facts_scene_close();
}

TEST(an_operator_forgets_the_memory_of_a_whole_server)
{
	struct store_facts other = facts_scene_by(ANA), own = facts_scene_by(BOB);

	other.guild = OTHER_GUILD;
	own.owner = BOB;
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Friday"), "updated");
	CHECK_STR(facts_scene_write(own, "my bike is red"), "inserted");
	CHECK_STR(facts_scene_write(other, "the harbour is closed"), "inserted");
	CHECK_INT(store_forget_guild(s->store, GUILD, facts_scene_on_answer, NULL), 0);
	CHECK(loop_run(&s->l) && !s->err);
	CHECK_INT(json_integer_value(json_object_get(facts_scene_answer, "forgotten")), 3);
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"when is the release\"}"), "");
	CHECK_STR(facts_scene_find(own, "{\"words\":\"what colour has my bike\"}"), "");
	CHECK_STR(facts_scene_find(other, "{\"words\":\"is the harbour closed\"}"),
		  "the harbour is closed");
	/* The index knows of nothing that is gone. */
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the release is on Tuesday"), "inserted");
	facts_scene_close();
}

TEST(people_forget_what_they_said_themselves)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the bakery opens at six"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the bakery opens at seven"), "updated");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "the library closes at nine"), "inserted");
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"words\":\"bakery\"}"), 0);
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"id\":2}"), 0);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"the bakery\"}"), 1);
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"bakery\"}"), "");
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"library\"}"),
		  "the library closes at nine");
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"id\":3}"), 1);
	CHECK_INT(facts_scene_forget(facts_scene_by(BOB), "{\"tags\":[\"t\"]}"), 0);
	facts_scene_close();
}

TEST(a_person_forgets_their_own_fact_among_many_of_others)
{
	enum { AT_ONCE = 5, REQUESTS = 14 }; /* more than a search reads */
	char request[512];

	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA),
				    "the allergy that troubles me since childhood is peanuts"),
		  "inserted");
	for (unsigned i = 0; i < REQUESTS; i++) {
		size_t n = 0;

		for (unsigned k = 0; k < AT_ONCE; k++)
			n += (size_t)snprintf(request + n, sizeof request - n,
					      "%s{\"text\":\"allergy %cx%cx\",\"tags\":[]}",
					      k ? "," : "[", (char)('a' + i), (char)('a' + k));
		snprintf(request + n, sizeof request - n, "]");
		facts_scene_sql("DELETE FROM audit"); /* a minute is over */
		CHECK_STR(facts_scene_send(facts_scene_by(BOB), request), "inserted");
	}
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts"), AT_ONCE * REQUESTS + 1);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"allergy\"}"), 1);
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM facts WHERE said_by = 4"), 0);
	facts_scene_close();
}

TEST(a_forgotten_fact_does_not_come_back_beside_another_line)
{
	static const char both[] = "[{\"text\":\"my bike is red\",\"tags\":[],\"evidence\":[1,2]}]";

	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "my bike is red");
	facts_scene_say_line(ANA, 6000, "the bike has a bell");
	CHECK_STR(facts_scene_send(facts_scene_by(ANA), both), "inserted");
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"red bike\"}"), 1);
	facts_scene_say_line(ANA, 7000, "the bike is old");
	CHECK_STR(
		facts_scene_send(facts_scene_by(ANA),
				 "[{\"text\":\"my bike is red\",\"tags\":[],\"evidence\":[1,3]}]"),
		"no_evidence");
	CHECK_STR(
		facts_scene_send(facts_scene_by(ANA),
				 "[{\"text\":\"my bike is red\",\"tags\":[],\"evidence\":[3,1]}]"),
		"no_evidence");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is old", 3), "inserted");
	facts_scene_close();
}

TEST(a_forgotten_fact_does_not_come_back_from_a_line_that_repeats_it)
{
	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "my bike is red and fast");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red and fast", 1),
		  "inserted");
	facts_scene_say_line(ANA, 6000, "my bike is red and old");
	facts_scene_say_line(ANA, 7000, "forget the thing about my bike");
	facts_scene_say_line(BOB, 8000, "my bike is red");
	facts_scene_say_line(ANA, 9000, "my cat is red");
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"bike\"}"), 1);
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 2), "no_evidence");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 3), "no_evidence");
	CHECK_STR(facts_scene_write_line(facts_scene_by(BOB), "my bike is red", 4), "inserted");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my cat is red", 5), "inserted");
	facts_scene_close();
}

/* The lines that the question finds, as JSON. Borrowed. */
static const char *find_lines(const char *words)
{
	static char text[1024];
	const struct store_said q = {
		.guild = GUILD, .channel = 300, .name = "", .words = words, .most = 5};

	if (store_find_said(s->store, &q, facts_scene_on_answer, NULL) || !loop_run(&s->l) ||
	    s->err)
		return "not asked";
	text[json_dumpb(facts_scene_answer, text, sizeof text - 1, JSON_COMPACT)] = '\0';
	return text;
}

TEST(lines_of_a_forgotten_fact_are_not_found)
{
	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "remember that my bike is red");
	facts_scene_say_line(BOB, 600000, "the harbour is far away");
	CHECK_STR(facts_scene_write_line(facts_scene_by(ANA), "my bike is red", 1), "inserted");
	CHECK(strstr(find_lines("what colour is the bike"), "red"));
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"bike\"}"), 1);
	CHECK(!strstr(find_lines("what colour is the bike"), "red"));
	CHECK(!strstr(find_lines(""), "red"));
	CHECK(strstr(find_lines("where is the harbour"), "far away"));
	facts_scene_close();
}

/* Of all that was said in the minute before. */
TEST(what_was_said_beside_a_fact_is_still_found_once_it_is_forgotten)
{
	struct store_facts f = facts_scene_by(ANA);

	facts_scene_open();
	facts_scene_say_line(ANA, 5000, "the release is on tuesday");
	facts_scene_say_line(ANA, 6000, "and the demo is in room four");
	facts_scene_say_line(ANA, 7000, "remember that my bike is red");
	facts_scene_say_line(ANA, 8000, "thanks");
	f.channel = 300;
	CHECK_STR(facts_scene_write(f, "my bike is red"), "inserted");
	CHECK_INT(facts_scene_sql("SELECT count(*) FROM fact_sources"), 1);
	CHECK_INT(facts_scene_sql("SELECT utterance FROM fact_sources"), 3);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"last\":true}"), 1);
	CHECK(strstr(find_lines("when is the release"), "tuesday"));
	CHECK(strstr(find_lines("where is the demo"), "four"));
	CHECK(!strstr(find_lines("what colour is the bike"), "red"));
	/* In other words than those of the fact, the newest line is the evidence. */
	CHECK_STR(facts_scene_write(f, "Ana owns a sailing boat"), "inserted");
	CHECK_INT(facts_scene_sql("SELECT utterance FROM fact_sources"), 4);
	facts_scene_close();
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
	struct store_facts both = facts_scene_by(ANA), own = facts_scene_by(ANA);

	facts_scene_open();
	store_watch_forgotten(s->store, note_forgotten, NULL);
	own.owner = both.owner = ANA;
	both.any = true;
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "my bike is red"), "inserted");
	CHECK_STR(facts_scene_write(own, "My bike is red."), "inserted");
	CHECK_STR(facts_scene_write(own, "the bike shop opens at nine"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "my bike is red"), "inserted");
	CHECK_INT(told_of, 0);
	CHECK_INT(facts_scene_forget(both, "{\"words\":\"red bike\"}"), 2);
	CHECK_INT(told_of, GUILD);
	CHECK_STR(facts_scene_find(both, "{\"words\":\"bike\"}"),
		  "my bike is red; the bike shop opens at nine");
	facts_scene_close();
}

TEST(facts_that_the_words_name_too_come_back_when_one_is_forgotten)
{
	const json_t *others;

	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "my bike is red"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "my bike is in the garage"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(BOB), "my bike is green"), "inserted");
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"my bike\"}"), 1);
	others = json_object_get(facts_scene_answer, "candidates");
	CHECK_INT(json_array_size(others), 1);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"words\":\"my bike\"}"), 1);
	CHECK(!json_object_get(facts_scene_answer, "candidates"));
	facts_scene_close();
}

TEST(a_fact_that_says_more_stays_when_a_shorter_one_is_forgotten)
{
	struct store_facts both = facts_scene_by(ANA), own = facts_scene_by(ANA);

	facts_scene_open();
	own.owner = both.owner = ANA;
	both.any = true;
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "I like tea with milk and honey"),
		  "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "I want to live in Rome"), "inserted");
	CHECK_STR(facts_scene_write(own, "I like tea"), "inserted");
	CHECK_STR(facts_scene_write(own, "I live in Rome"), "inserted");
	CHECK_INT(facts_scene_forget(both, "{\"id\":3}"), 1);
	CHECK_INT(facts_scene_forget(both, "{\"id\":4}"), 1);
	CHECK_STR(facts_scene_find(both, "{\"words\":\"tea\"}"), "I like tea with milk and honey");
	CHECK_STR(facts_scene_find(both, "{\"words\":\"rome\"}"), "I want to live in Rome");
	facts_scene_close();
}

/* ---- more facts than a search reads ---- */

static bool add_newer_facts(void)
{
	return facts_scene_sql(
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
		       " WHERE i < 200) INSERT INTO facts(guild, owner, said_by, name, tags, text,"
		       " written_ms, valid_from_ms) SELECT 7, 0, 4, 'Ana', '[]', 'the fact ' || i,"
		       " 9000000000000 + i, 9000000000000 + i FROM n RETURNING 0") == 0;
}

TEST(a_fact_is_found_and_forgotten_behind_hundreds_of_newer_ones)
{
	facts_scene_open();
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the bakery opens at six"), "inserted");
	CHECK_STR(facts_scene_write(facts_scene_by(ANA), "the library closes at nine"), "inserted");
	CHECK(add_newer_facts());
	CHECK_STR(facts_scene_find(facts_scene_by(BOB), "{\"words\":\"\",\"tags\":[\"t\"]}"),
		  "the library closes at nine; the bakery opens at six");
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"id\":1}"), 1);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"tags\":[\"t\",\"u\"]}"), 0);
	CHECK_INT(facts_scene_forget(facts_scene_by(ANA), "{\"tags\":[\"t\"]}"), 1);
	CHECK_STR(facts_scene_find(facts_scene_by(ANA), "{\"words\":\"bakery library\"}"), "");
	facts_scene_close();
}
