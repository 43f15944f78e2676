/* What the memory puts into a prompt: the agent asks the store for what fits a question, and tells
 * the room. */
#include "control/agent/retrieval.h"

#include "control/room/inside.h"
#include "tests/unit/control/agent/memory_scene.h"

TEST(facts_that_fit_a_question_reach_the_room)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(s.agent->room->retrieval.present);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the meeting is on sunday\",\"type\":\"plan\"}]"));
	CHECK(write_fact(&s, ALICE, "[{\"text\":\"my locker is at the meeting room\"}]"));
	/* Of her own memory she is told while nobody else listens. */
	CHECK(strstr(retrieve(&s, "parley where is the meeting"), "\"the meeting is on sunday\""));
	CHECK_INT(s.agent->room->retrieval.items, 2);
	come(&s, BOB, "Bob");
	CHECK(!strstr(retrieve(&s, "parley where is the meeting"), "locker"));
	CHECK(!agent_retrieval_quotes_others(s.agent->retrieval));
	CHECK(strstr(retrieve_for(&s, BOB, "parley where is the meeting"), "sunday"));
	CHECK(agent_retrieval_quotes_others(s.agent->retrieval));
	CHECK_INT(s.agent->room->retrieval.items, 1);
	CHECK_INT(s.agent->room->retrieval.item[0].rule, ROOM_RULE_MEMORY_FACT);
	/* Nothing fits: not even the newest facts. */
	CHECK_STR(retrieve(&s, "parley what is it"), "");
	CHECK_STR(retrieve(&s, "parley is there cake"), "");
	/* She does not agree any more. */
	media_call_consent(s.call, ALICE, false);
	CHECK_STR(retrieve(&s, "parley where is the meeting"), "");
	s.settings->store_words_hours = 0;
	agent_retrieval_settings(s.agent->retrieval);
	CHECK(!s.agent->room->retrieval.present);
	close_memory(&s);
}

/* Facts and lines are told under the present name of their speaker; a namesake is another one. */
TEST(recalled_text_bears_the_present_name_of_its_speaker)
{
	static struct scene s;
	char to[ROOM_NAME_MAX];
	json_t *row = json_pack("{s:s,s:s}", "user", "5", "name", "Al");

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, 0, "[{\"text\":\"the meeting is on sunday\",\"type\":\"plan\"}]"));
	CHECK_STR(agent_label(s.agent, row, to), "Alice");
	come(&s, ALICE, "Alicia");
	come(&s, BOB, "Alice");
	CHECK(strstr(retrieve(&s, "parley where is the meeting"), "- Alicia, "));
	json_object_set_new(row, "user", json_string("77"));
	json_object_set_new(row, "name", json_string("Alicia"));
	CHECK_STR(agent_label(s.agent, row, to), "Alicia (2)");
	json_decref(row);
	close_memory(&s);
}

/* A question means whoever is called so now, under all names of that person. */
TEST(lines_of_a_renamed_person_come_first_when_the_question_has_the_present_name)
{
	static struct scene s;
	const char *slice, *own, *other;

	CHECK(open_memory(&s));
	come(&s, BOB, "Robert");
	add_line(&s, BOB, "Bob", "the birthday cake is burnt", 5);
	add_line(&s, ALICE, "Robert", "the birthday cake is ready", 3);
	/* Behind the lines in the queue of the store, which a prompt's search may overtake. */
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	slice = retrieve(&s, "parley what did Robert say about the birthday cake");
	own = strstr(slice, "burnt");
	other = strstr(slice, "ready");
	CHECK(own && other && own < other);
	close_memory(&s);
}

TEST(a_prompt_tells_that_nothing_was_said_at_the_time_asked_about)
{
	static struct scene s;

	CHECK(open_memory(&s));
	s.settings->store_words_hours = 240;
	come(&s, BOB, "Bob");
	add_line(&s, BOB, "Bob", "the birthday cake is burnt", 100);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	CHECK(strstr(
		retrieve(&s, "parley what about the birthday cake yesterday"),
		"(not of the time asked about, of which nothing was found): \"the birthday cake"));
	CHECK(strstr(retrieve(&s, "parley what about the birthday cake"), ": \"the birthday cake"));
	CHECK(!strstr(s.agent->room->retrieval.slice, "not of the time"));
	close_memory(&s);
}

/* What was said five minutes ago stands in the conversation: a line of yesterday is no answer to
 * it, and nobody looked whether there is none. */
TEST(a_prompt_does_not_deny_what_was_said_minutes_ago)
{
	static struct scene s;

	CHECK(open_memory(&s));
	s.settings->store_words_hours = 240;
	come(&s, BOB, "Bob");
	add_line(&s, BOB, "Bob", "the birthday cake is burnt", 100);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	CHECK(!strstr(retrieve(&s, "parley what did Bob say five minutes ago about the birthday "
				   "cake"),
		      "birthday"));
	CHECK(strstr(retrieve(&s, "parley what about the birthday cake"), "birthday"));
	close_memory(&s);
}

static void hear_line(struct scene *s, const char *text, uint64_t minutes_ago)
{
	add_line_at(s, BOB, "Bob", text, minutes_ago);
	room_history_add(&s->agent->room->history,
			 &(struct room_history_words){.at = env_now(s->fake.env) -
							    minutes_ago * 60 * NS_PER_S,
						      .user = BOB,
						      .name = "Bob",
						      .text = text});
}

/* A text model is told the newest lines alone: what was said before them is searched, however short
 * ago that was. */
TEST(lines_of_minutes_ago_that_the_prompt_does_not_tell_are_found)
{
	static const char asked[] =
		"parley what did Bob say five minutes ago about the birthday cake";
	static struct scene s;
	const char *slice;

	CHECK(open_memory(&s));
	s.settings->store_words_hours = 240;
	s.settings->reply_path = SETTINGS_REPLY_BRAIN;
	s.settings->context_turns = 2;
	come(&s, BOB, "Bob");
	add_line(&s, BOB, "Bob", "the birthday cake is burnt", 100);
	hear_line(&s, "the birthday cake has five candles", 5);
	hear_line(&s, "the birthday cake is on the table", 2);
	hear_line(&s, "it rains", 1);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	slice = retrieve(&s, asked);
	CHECK(strstr(slice, "five candles"));
	CHECK(!strstr(slice, "on the table") && !strstr(slice, "burnt"));
	/* With them in the prompt nothing is left to find. */
	s.settings->context_turns = 10;
	slice = retrieve(&s, asked);
	CHECK(!strstr(slice, "candles") && !strstr(slice, "burnt"));
	/* The question itself is no answer to it. */
	s.settings->context_turns = 0;
	add_line(&s, ALICE, "Alice", "what about the birthday cake", 0);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the milk is sour\"}]"));
	slice = retrieve(&s, "parley what about the birthday cake");
	CHECK(strstr(slice, "on the table") && !strstr(slice, "what about"));
	close_memory(&s);
}

TEST(private_facts_are_not_retrieved_for_somebody_who_has_left)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, ALICE, "[{\"text\":\"my locker is at the meeting room\"}]"));
	CHECK(strstr(retrieve(&s, "parley where is the meeting"), "locker"));
	come(&s, BOB, "Bob");
	agent_member(s.agent, ALICE, "", false, false);
	CHECK_STR(retrieve(&s, "parley where is the meeting"), "");
	close_memory(&s);
}

/* The newer one comes first, unless the question names the time of the older one. */
TEST(the_fact_of_the_time_that_is_named_is_told_first)
{
	static struct scene s;
	const char *told;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, 0, "[{\"text\":\"our lantern fell off the boat\"}]"));
	run_store_sql(&s, "UPDATE facts SET valid_from_ms = valid_from_ms - 172800000");
	CHECK(write_fact(&s, 0, "[{\"text\":\"we keep a lantern on the boat\"}]"));
	told = retrieve(&s, "parley which lantern fell");
	CHECK(strstr(told, "we keep") && strstr(told, "we keep") < strstr(told, "fell off"));
	told = retrieve(&s, "parley two days ago which lantern fell");
	CHECK(strstr(told, "we keep") && strstr(told, "we keep") > strstr(told, "fell off"));
	/* The tool says that the older one may have ended, the prompt tells both with their days.
	 */
	CHECK(!strstr(told, "before that"));
	told = call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"which lantern fell\"}");
	CHECK(strstr(told, "we keep") && strstr(told, "we keep") < strstr(told, "fell off"));
	CHECK(strstr(told, "\"former\":[{") && strstr(told, "\"unsure\":true}]"));
	told = call_memory(&s, TOOL_MEMORY_FIND, true,
			   "{\"words\":\"two days ago which lantern fell\"}");
	CHECK(strstr(told, "we keep") && strstr(told, "we keep") > strstr(told, "fell off"));
	close_memory(&s);
}
