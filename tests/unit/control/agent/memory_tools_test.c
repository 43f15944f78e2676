/* What the tools of the memory tell a model in voice, and what they write for it. */
#include "control/agent/agent_memory.h"

#include "control/room/base/turns.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "tests/unit/control/agent/memory_scene.h"

static char told_people[128];

static void note_told(const struct bus_event *ev, void *arg)
{
	(void)arg;
	snprintf(told_people, sizeof told_people, "%s", ev->turn.told ? ev->turn.told : "");
}

/* Those whom an answer may repeat by now, because tools told its model of them. */
static const char *people_told(const struct scene *s)
{
	static const struct room_turn t = {.id = 1, .user = ALICE, .name = "Alice"};

	turns_tell(s->agent->turns, &t, TURNS_ENDED);
	return told_people;
}

/* A search for the first one does not find the other. */
static bool write_conflict(struct scene *s)
{
	bool ok = write_fact_of(s, 77, 0, 0, "[{\"text\":\"the picnic is on friday\"}]") &&
		  write_fact_of(s, 78, 0, 0, "[{\"text\":\"our outing is on sunday\"}]");

	run_store_sql(s, "INSERT OR REPLACE INTO fact_pairs VALUES(1, 2, 'conflict', 1)");
	return ok;
}

TEST(a_tool_that_tells_a_fact_notes_whom_the_answer_may_repeat)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_TURN), note_told, NULL), 0);
	CHECK(write_conflict(&s));
	CHECK_STR(people_told(&s), "");
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"picnic\"}"),
		     "contradicted_by"));
	CHECK(strstr(people_told(&s), "\"77\"") && strstr(people_told(&s), "\"78\""));
	close_memory(&s);
}

TEST(answers_repeat_nobody_of_whom_tools_told_before_somebody_withdrew)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_TURN), note_told, NULL), 0);
	CHECK(write_conflict(&s));
	call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"picnic\"}");
	agent_consent(s.agent, 77, false);
	CHECK(strstr(people_told(&s), "\"77\""));
	agent_consent(s.agent, 77, true);
	CHECK_STR(people_told(&s), "");
	close_memory(&s);
}

static const char *search_lines(struct scene *s, const char *asked, const char *query)
{
	return search_lines_of(s, "", asked, query);
}

/* Transcripts may have no marks, so a question may hold the whole sentence that it asks for. */
TEST(a_line_that_the_question_repeats_is_evidence_unless_it_is_the_question)
{
	static const char asked[] = "parley who said the meeting is on friday";
	static struct scene s;

	CHECK(open_memory(&s));
	come(&s, BOB, "Bob");
	strcpy(s.settings->time_zone, "Etc/GMT-5");
	add_line(&s, ALICE, "Alice", "the meeting is on friday", 2);
	add_line(&s, BOB, "Bob", asked, 0);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	CHECK(strstr(search_lines(&s, asked, "meeting friday"),
		     "\"speaker\":\"Alice\",\"speaker_id\":\""));
	CHECK(strstr(memory_output, "\"said\":\"the meeting is on friday\",\"at\":\"20"));
	CHECK(!strstr(memory_output, "parley who"));
	close_memory(&s);
}

TEST(a_tool_that_tells_a_line_notes_whom_the_answer_may_repeat)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_TURN), note_told, NULL), 0);
	add_line(&s, ALICE, "Alice", "the meeting is on friday", 2);
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	CHECK_STR(people_told(&s), "");
	CHECK(strstr(search_lines(&s, "parley when", "meeting friday"), "on friday"));
	CHECK(strstr(people_told(&s), "\""));
	close_memory(&s);
}

/* Results call the bot "you", and people call it by its name. Somebody of that name comes first. */
TEST(the_bots_own_lines_are_found_by_its_names)
{
	static const char *const names[] = {"you", "Bot", "parley"};
	static struct scene s;
	uint64_t at;

	CHECK(open_memory(&s));
	at = env_wall_ms(s.fake.env) - 7200000;
	add_line(&s, ALICE, "Alice", "the cake is for friday", 2);
	bus_publish(s.bus, &(struct bus_event){.type = EVENT_TURN,
					       .at_ms = at,
					       .guild = media_call_want(s.call)->guild,
					       .user = ALICE,
					       .turn = {.session = at,
							.channel = media_call_want(s.call)->channel,
							.turn = 1,
							.stage = "ended",
							.reason = "answered",
							.text = "it was answered",
							.segments = "[]",
							.why = "[]",
							.name = "Alice",
							.heard = "a cake",
							.said = "I promise a cake"}});
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *found = search_lines_of(&s, names[i], "parley when", "cake");

		CHECK(strstr(found,
			     "[{\"id\":2,\"speaker\":\"you\",\"said\":\"I promise a cake\""));
	}
	come(&s, BOB, "Bot");
	CHECK_STR(search_lines_of(&s, "bot", "parley when", "cake"), "[]");
	close_memory(&s);
}

TEST(a_memory_whose_store_fails_is_unavailable)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is green\"}]"));
	run_store_sql(&s, "ALTER TABLE facts RENAME TO lost");
	CHECK(strncmp(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"tea\"}"),
		      "memory_unavailable: ", 20) == 0);
	close_memory(&s);
}

TEST(tools_tell_when_a_fact_was_said_again)
{
	static const char tea[] = "[{\"text\":\"the tea is green\"}]";
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, 0, tea));
	CHECK(!strstr(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"tea\"}"), "saidAgain"));
	CHECK(write_fact(&s, 0, tea));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"tea\"}"),
		     "\"saidAgain\":\"2"));
	close_memory(&s);
}

/* Nobody knows from the answer whether there is one. */
TEST(who_asks_before_others_what_is_known_of_them_hears_that_there_may_be_more)
{
	static const char mine[] = "{\"words\":\"what do you know about me\",\"mine\":true}";
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, ALICE, "[{\"text\":\"my locker is number nine\"}]"));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, mine), "number nine"));
	CHECK(!strstr(memory_output, "\"open\""));
	come(&s, BOB, "Bob");
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FIND, true, mine), "{\"matches\":[],\"open\":true}");
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FIND, true, "{\"words\":\"locker\"}"),
		  "{\"matches\":[]}");
	close_memory(&s);
}

TEST(tools_tell_private_facts_only_while_their_owner_is_alone)
{
	static const char words[] = "{\"words\":\"locker\"}";
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, 0, "[{\"text\":\"the locker room is open\"}]"));
	CHECK_INT(s.agent->private_told, 0);
	CHECK(write_fact(&s, ALICE, "[{\"text\":\"my locker is number nine\"}]"));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, words), "number nine"));
	CHECK_INT(s.agent->private_told, ALICE);
	come(&s, BOB, "Bob");
	CHECK_INT(s.agent->private_told, 0);
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FIND, true, words), "room is open"));
	CHECK(!strstr(memory_output, "number nine"));
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FIND, false, words),
		  "{\"matches\":[],\"withheld\":\"others_listen\"}");
	CHECK_INT(s.agent->private_told, 0);
	/* She may forget it, and nobody hears what it was. */
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FORGET, false, words),
		  "{\"forgotten\":[{\"id\":2}]}");
	close_memory(&s);
}

/* The answer may repeat what was forgotten, so whoever comes is not to find it in the conversation.
 */
TEST(a_private_fact_that_is_forgotten_is_held_as_one_that_is_told)
{
	static struct scene s;

	CHECK(open_memory(&s));
	CHECK(write_fact(&s, 0, "[{\"text\":\"the tea is hot\"}]"));
	CHECK(write_fact(&s, ALICE, "[{\"text\":\"my locker is number nine\"}]"));
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FORGET, true, "{\"words\":\"tea\"}"), "tea"));
	CHECK_INT(s.agent->private_told, 0);
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_FORGET, true, "{\"words\":\"locker\"}"),
		     "number nine"));
	CHECK_INT(s.agent->private_told, ALICE);
	come(&s, BOB, "Bob");
	CHECK_INT(s.agent->private_told, 0);
	close_memory(&s);
}

TEST(nothing_is_written_of_a_turn_in_which_somebody_speaks_who_is_not_remembered)
{
	static const char item[] = "[{\"text\":\"the code is blue\"}]";
	static struct scene s;
	struct room_context *context;
	struct room_turn *t;

	CHECK(open_memory(&s));
	come(&s, BOB, "Bob");
	context = &s.agent->room->context;
	t = room_turn_new_prompted(context, "the code is blue");
	CHECK(t);
	room_segment_add(t, BOB, "Bob", 3, "and parley remember that");
	t->segment[0].user = t->user = ALICE;
	room_turn_activate(context, t);
	media_call_consent(s.call, BOB, false);
	CHECK_STR(call_memory(&s, TOOL_MEMORY_WRITE, false, item), strerror(EACCES));
	media_call_consent(s.call, BOB, true);
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_WRITE, false, item), "inserted"));
	close_memory(&s);
}

static uint64_t remembered; /* this person alone */

static bool remembers(uint64_t user, void *arg)
{
	(void)arg;
	return user == remembered;
}

/* The server's default does not count for a prompt that quotes a member's own words. */
TEST(a_question_in_writing_is_written_to_the_memory_if_its_writer_is_remembered)
{
	static const char item[] = "[{\"text\":\"the code is blue\"}]";
	static struct scene s;
	struct room_turn *t;

	CHECK(open_memory(&s));
	t = room_turn_new_prompted(&s.agent->room->context, "(Alice: the code is blue)");
	CHECK(t);
	t->quoted_at = 8;
	t->quoted_n = 16;
	t->quoted_user = BOB;
	room_turn_activate(&s.agent->room->context, t);
	s.agent->remembersh = remembers;
	remembered = ALICE;
	CHECK_STR(call_memory(&s, TOOL_MEMORY_WRITE, false, item), strerror(EACCES));
	t->quoted_user = ALICE;
	CHECK(strstr(call_memory(&s, TOOL_MEMORY_WRITE, false, item), "inserted"));
	s.agent->remembersh = NULL;
	close_memory(&s);
}

static uint64_t refused, refused_in;

static void note_refused(const struct bus_event *ev, void *arg)
{
	(void)arg;
	refused += ev->memory.refused;
	refused_in = ev->guild;
	CHECK_STR(ev->memory.source, "asked");
}

TEST(facts_that_a_model_in_voice_may_not_write_are_told_to_the_bus)
{
	static struct scene s;
	struct agent_memory *m = NULL;

	CHECK(open_memory(&s));
	refused = 0;
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_MEMORY_WRITTEN), note_refused, NULL), 0);
	CHECK_INT(agent_memory_alloc(&m, s.agent, take_memory_output, NULL), 0);
	agent_memory_unwritten(m, 2);
	CHECK_INT(refused, 2);
	CHECK_INT(refused_in, media_call_want(s.call)->guild);
	agent_memory_free(m);
	close_memory(&s);
}
