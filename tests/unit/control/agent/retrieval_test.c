/* The agent asks the store for what fits a question, and tells the room. */
#include "control/agent/retrieval.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "control/agent/agent_memory.h"
#include "control/room/base/turns.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "control/store/store.h"
#include "control/tools/builtin/host.h"
#include "tests/unit/control/agent/agent_scene.h"

enum { BOB = ALICE + 1 };

static struct store *store;
static bool written;

static void on_written(int err, const struct store_document *document, void *arg)
{
	(void)document;
	(void)arg;
	CHECK_INT(err, 0);
	written = true;
}

static bool is_written(const struct scene *s)
{
	(void)s;
	return written;
}

static bool write_fact_of(struct scene *s, uint64_t user, uint64_t channel, uint64_t owner,
			  const char *request)
{
	const struct store_facts f = {.guild = media_call_want(s->call)->guild,
				      .channel = channel,
				      .owner = owner,
				      .user = user,
				      .name = user == ALICE ? "Alice" : "Carl",
				      .request = request};

	written = false;
	tmr_start(scene_watch, 0);
	return store_write_facts(store, &f, on_written, s) == 0 && scene_run(s, is_written);
}

static bool write_fact_in(struct scene *s, uint64_t channel, uint64_t owner, const char *request)
{
	return write_fact_of(s, ALICE, channel, owner, request);
}

static void run_store_sql(const struct scene *s, const char *statement)
{
	char path[64];
	sqlite3 *sql = NULL;

	snprintf(path, sizeof path, "%s-store/parley.db", s->dir);
	CHECK(sqlite3_open(path, &sql) == SQLITE_OK &&
	      sqlite3_exec(sql, statement, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(sql);
}

/* Five facts a minute may be written. */
static void clear_rate(const struct scene *s)
{
	run_store_sql(s, "UPDATE audit SET at_ms = 1");
}

static bool write_fact(struct scene *s, uint64_t owner, const char *request)
{
	return write_fact_in(s, 0, owner, request);
}

static bool is_retrieved(const struct scene *s)
{
	return s->agent->room->retrieval.ready;
}

static const char *retrieve_for(struct scene *s, uint64_t user, const char *words)
{
	struct room_retrieval *r = &s->agent->room->retrieval;
	const struct room_effect e = {
		.type = ROOM_DO_RETRIEVE, .user = user, .chunk = r->number, .text = words};

	r->ready = false;
	r->items = 0;
	r->slice[0] = '\0';
	agent_perform(s->agent, &e);
	tmr_start(scene_watch, 0);
	return scene_run(s, is_retrieved) ? r->slice : "none came";
}

static const char *retrieve(struct scene *s, const char *words)
{
	return retrieve_for(s, ALICE, words);
}

static void come(struct scene *s, uint64_t user, const char *name)
{
	agent_member(s->agent, user, name, false, true);
}

/* A scene with a store, in which Alice is alone with the bot and her own question is answered, so
 * that the room retrieves nothing by itself. */
static bool open_memory(struct scene *s)
{
	char dir[48];

	if (!scene_begin(s, "off", NULL))
		return false;
	s->words = "parley what time is it";
	if (!scene_run(s, scene_answered))
		return false;
	snprintf(dir, sizeof dir, "%s-store", s->dir);
	if (mkdir(dir, 0700) || store_alloc(&store, s->fake.env, s->bus, s->settings, dir))
		return false;
	s->agent->store = store;
	agent_retrieval_settings(s->agent->retrieval);
	return true;
}

static void close_memory(struct scene *s)
{
	char rm[64];

	snprintf(rm, sizeof rm, "rm -rf %s-store", s->dir);
	s->agent = agent_free(s->agent);
	store_free(store);
	CHECK_INT(system(rm), 0);
	scene_end(s);
}

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

static void add_line_at(struct scene *s, uint64_t user, const char *name, const char *text,
			uint64_t minutes_ago)
{
	const struct media_want *where = media_call_want(s->call);
	uint64_t at = env_wall_ms(s->fake.env) - minutes_ago * 60000;

	bus_publish(s->bus, &(struct bus_event){.type = EVENT_UTTERANCE,
						.at_ms = at,
						.guild = where->guild,
						.user = user,
						.utterance = {.session = at,
							      .channel = where->channel,
							      .name = name,
							      .text = text,
							      .consent = true,
							      .started_ms = at}});
}

static void add_line(struct scene *s, uint64_t user, const char *name, const char *text,
		     uint64_t hours_ago)
{
	add_line_at(s, user, name, text, 60 * hours_ago);
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

static char output[1024];

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)id;
	(void)ok;
	(void)arg;
	snprintf(output, sizeof output, "%.*s", (int)text.n, (const char *)text.p);
}

static bool has_output(const struct scene *s)
{
	(void)s;
	return *output;
}

/* The output of a call by Alice. */
static const char *call_memory(struct scene *s, enum tool_memory_op op, bool any,
			       const char *request)
{
	const struct tool_memory q = {
		.op = op, .user = ALICE, .owner = ALICE, .any = any, .request = request, .most = 5};
	struct agent_memory *m = NULL;
	int err = agent_memory_alloc(&m, s->agent, take_output, NULL);

	output[0] = '\0';
	if (!err)
		err = agent_memory_facts(m, 1, &q);
	tmr_start(scene_watch, 0);
	if (!err && !scene_run(s, has_output))
		err = ETIMEDOUT;
	agent_memory_free(m);
	return err ? strerror(err) : output;
}

/* What conversation_search tells in a turn with these words of Bob. speaker: "" for anybody. */
static const char *search_lines_of(struct scene *s, const char *speaker, const char *asked,
				   const char *query)
{
	struct room_turn *turn = &s->agent->room->turns.turn[ROOM_TURNS - 1], before = *turn;
	struct room_turn *active = s->agent->room->turns.active;
	const struct tool_said q = {.speaker = speaker, .query = query, .most = 5};
	struct agent_memory *m = NULL;
	int err = agent_memory_alloc(&m, s->agent, take_output, NULL);

	*turn = (struct room_turn){.phase = ROOM_PHASE_ASKED, .user = BOB};
	room_segment_add(turn, BOB, "Bob", 1, asked);
	s->agent->room->turns.active = turn;
	output[0] = '\0';
	if (!err)
		err = agent_memory_search(m, 1, &q);
	tmr_start(scene_watch, 0);
	if (!err && !scene_run(s, has_output))
		err = ETIMEDOUT;
	agent_memory_free(m);
	*turn = before;
	s->agent->room->turns.active = active;
	return err ? strerror(err) : output;
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
	CHECK(strstr(output, "\"said\":\"the meeting is on friday\",\"at\":\"20"));
	CHECK(!strstr(output, "parley who"));
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
	CHECK(!strstr(output, "\"open\""));
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
	CHECK(!strstr(output, "number nine"));
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FIND, false, words),
		  "{\"matches\":[],\"withheld\":\"others_listen\"}");
	CHECK_INT(s.agent->private_told, 0);
	/* She may forget it, and nobody hears what it was. */
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FORGET, false, words),
		  "{\"forgotten\":[{\"id\":2}]}");
	close_memory(&s);
}

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
	CHECK(!strstr(output, "sunday"));
	CHECK(write_fact_in(&s, STAFF, 0, "[{\"text\":\"the meeting is on monday\"}]"));
	CHECK_STR(call_memory(&s, TOOL_MEMORY_FORGET, true, "{\"id\":3}"),
		  "{\"forgotten\":[{\"id\":3}]}");
	close_memory(&s);
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

static unsigned conns;

TEST(a_setting_that_allows_less_takes_words_out_of_the_history)
{
	static struct scene s;
	const struct room_history *h;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	h = &s.agent->room->history;
	agent_settings(s.agent, true);
	CHECK(room_history_count(h) && !room_history_at(h, 0)->withheld);
	media_call_consent(s.call, ALICE, false);
	agent_settings(s.agent, true);
	for (unsigned i = 0; i < room_history_count(h); i++)
		CHECK(room_history_at(h, i)->withheld);
	scene_end(&s);
}

static bool has_connected_anew(const struct scene *s)
{
	return s->fake.conns > conns;
}

TEST(a_session_that_holds_private_facts_is_replaced_when_somebody_joins)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	conns = s.fake.conns;
	s.agent->memory_told = strdup("- Alice: \"my locker is number nine\"");
	agent_hold_private(s.agent, ALICE);
	come(&s, ALICE, "Alicia"); /* she is still alone */
	CHECK_INT(s.agent->private_told, ALICE);
	come(&s, BOB, "Bob");
	CHECK_INT(s.agent->private_told, 0);
	CHECK(!s.agent->memory_told);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, has_connected_anew));
	scene_end(&s);
}

/* The provider's session holds the words, too. */
TEST(a_withdrawn_consent_takes_words_out_of_the_history_and_the_session)
{
	static struct scene s;
	const struct room_history *h;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	conns = s.fake.conns;
	h = &s.agent->room->history;
	s.agent->memory_told = strdup("- Alice: \"my locker is number nine\"");
	agent_consent(s.agent, ALICE, false);
	CHECK(room_history_count(h) && !room_history_at(h, 0)->withheld);
	CHECK(s.agent->memory_told);
	agent_consent(s.agent, ALICE, true);
	for (unsigned i = 0; i < room_history_count(h); i++)
		CHECK(room_history_at(h, i)->withheld);
	CHECK(!s.agent->memory_told);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, has_connected_anew));
	scene_end(&s);
}
