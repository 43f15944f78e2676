/* What was told in a channel that not everybody may see: neither a prompt nor a tool tells it
 * elsewhere. */
#include "control/agent/retrieval.h"

#include "control/room/inside.h"
#include "tests/unit/control/agent/memory_scene.h"

enum { STAFF = 4711 };

static bool is_open(uint64_t channel, void *arg)
{
	(void)arg;
	return channel != STAFF;
}

/* Whoever hears the bot here may not be allowed to hear what is said there. */
TEST(facts_that_were_told_in_a_closed_channel_are_told_nowhere_else)
{
	static const char words[] = "{\"words\":\"meeting\"}";
	static struct scene s;

	CHECK(open_memory(&s));
	s.agent->openh = is_open;
	CHECK(write_fact_in(&s, STAFF, 0, "[{\"text\":\"the meeting is on sunday\"}]"));
	come(&s, BOB, "Bob");
	CHECK_STR(retrieve_for(&s, BOB, "parley where is the meeting"), "");
	CHECK_STR(retrieve(&s, "parley where is the meeting"), "");
	CHECK(!strstr(call_memory(&s, TOOL_MEMORY_FIND, true, words), "sunday"));
	/* Where all may follow it ends the other one, and does not tell it. */
	CHECK(write_fact_in(&s, 12, 0, "[{\"text\":\"the meeting is on friday\"}]"));
	CHECK(strstr(retrieve_for(&s, BOB, "parley where is the meeting"), "friday"));
	CHECK(!strstr(s.agent->room->retrieval.slice, "sunday"));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, words), "friday"));
	CHECK(!strstr(memory_output, "sunday"));
	CHECK(write_fact_in(&s, STAFF, 0, "[{\"text\":\"the meeting is on monday\"}]"));
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FORGET, true, "{\"id\":3}"),
		  "{\"forgotten\":[{\"id\":3}]}");
	close_memory(&s);
}

/* Five facts a minute may be written. */
static void clear_rate(const struct scene *s)
{
	run_store_sql(s, "UPDATE audit SET at_ms = 1");
}

/* One fact of another member, and many of Alice's that may not be told. */
static bool write_many(struct scene *s)
{
	char request[256];
	bool ok = write_fact_of(s, 77, 0, 0,
				"[{\"text\":\"the meeting for all of us is on friday at noon\"}]");

	for (unsigned i = 0; i < 40 && ok; i++) {
		snprintf(request, sizeof request, "[{\"text\":\"meeting %c%c\"}]", 'a' + i / 26,
			 'a' + i % 26);
		ok = write_fact_in(s, STAFF, 0, request);
		clear_rate(s);
	}
	return ok;
}

/* Anybody could hide what others told, by facts that are not told. */
TEST(facts_that_may_not_be_told_take_no_place_of_others)
{
	static struct scene s;

	CHECK(open_memory(&s));
	s.agent->openh = is_open;
	CHECK(write_many(&s));
	come(&s, BOB, "Bob");
	CHECK(strstr(retrieve_for(&s, BOB, "parley where is the meeting"), "friday"));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"meeting\"}"), "friday"));
	s.agent->openh = NULL;
	media_call_consent(s.call, ALICE, false);
	CHECK(strstr(retrieve_for(&s, BOB, "parley where is the meeting"), "friday"));
	close_memory(&s);
}

TEST(the_newest_former_value_that_may_be_told_is_told)
{
	static struct scene s;
	json_t *fact = json_pack("{s:[{s:s,s:[s]},{s:s,s:[s]}]}", "former", "text", "secret",
				 "channels", "4711", "text", "known", "channels", "12");

	CHECK(open_memory(&s));
	s.agent->openh = is_open;
	CHECK_STR(json_string_value(json_object_get(agent_former_of(s.agent, fact, false), "text")),
		  "known");
	CHECK_STR(json_string_value(json_object_get(agent_former_of(s.agent, fact, true), "text")),
		  "secret");
	json_decref(fact);
	/* It may still be true: both stand in the prompt, each with its day. */
	fact = json_pack("{s:[{s:s,s:b}]}", "former", "text", "likely", "unsure", 1);
	CHECK(!agent_former_of(s.agent, fact, true));
	json_decref(fact);
	close_memory(&s);
}

TEST(an_author_alone_is_told_what_they_said_in_a_closed_channel)
{
	static struct scene s;

	CHECK(open_memory(&s));
	s.agent->openh = is_open;
	CHECK(write_fact_in(&s, STAFF, 0, "[{\"text\":\"the meeting is on sunday\"}]"));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"meeting\"}"), "sunday"));
	CHECK_INT(s.agent->private_told, ALICE);
	come(&s, BOB, "Bob");
	CHECK_INT(s.agent->private_told, 0);
	agent_member(s.agent, ALICE, "", false, false);
	CHECK_STR(retrieve_for(&s, BOB, "parley where is the meeting"), "");
	close_memory(&s);
}
