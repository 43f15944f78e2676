/* memory_search in a text channel: what it tells of a fact, as in voice. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/rest.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/fact_rows.h"
#include "control/store/job.h"
#include "control/store/store.h"
#include "control/text_session/tools_inside.h"
#include "control/tools/builtin/builtins.h"
#include "control/tools/run.h"
#include "ipc/env.h"
#include "proto/media.h"
#include "tests/unit/control/text_session/text_stage.h"
#include "tests/unit/ipc/loop.h"

enum { CHANNEL_ELSEWHERE = 2001, STAGE_CARL = 503, HOUR = 3600000 };

static struct text_stage s;
static struct text_seat seat;
static struct db *db;
static struct store *store;
static char dir[32], answer[4096];

static void tell_as(uint64_t user, uint64_t channel, const char *text, unsigned hours_ago)
{
	char request[256], *out = NULL;
	struct job j = {.guild = STAGE_GUILD,
			.user = user,
			.channel = channel,
			.author = (char *)"bob",
			.text = request,
			.now_ms = env_wall_ms(s.fake.env) - (uint64_t)hours_ago * HOUR};

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]}]", text);
	CHECK_INT(fact_rows_write(db, NULL, &j, &out), 0);
	free(out);
}

static void tell(uint64_t channel, const char *text, unsigned hours_ago)
{
	tell_as(STAGE_BOB, channel, text, hours_ago);
}

/* On the store's database. Returns the first number of its first row; 0: none. */
static int run_sql(const char *text)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *sql = NULL;
	char path[64];
	int n = 0;

	snprintf(path, sizeof path, "%s/parley.db", dir);
	if (sqlite3_open(path, &sql) == SQLITE_OK)
		sqlite3_prepare_v2(sql, text, -1, &statement, NULL);
	if (sqlite3_step(statement) == SQLITE_ROW)
		n = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(sql);
	return n;
}

static const char *words_of(uint32_t turn, void *arg)
{
	(void)turn, (void)arg;
	return "";
}

static void take_output(const struct tool_output *o, void *arg)
{
	(void)o, (void)arg;
}

static void publish(const struct tool_output *o, enum event_type type, uint64_t nano, void *arg)
{
	(void)o, (void)type, (void)nano, (void)arg;
}

static uint64_t spend(uint32_t turn, const char *tool, const struct tool_cost *cost, void *arg)
{
	(void)turn, (void)tool, (void)cost, (void)arg;
	return 0;
}

static void open_scene(void)
{
	CHECK(folder_make(dir));
	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "store_words_hours", "168"));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
}

static void open_seat(void)
{
	const struct tool_calls_conf conf = {.env = s.fake.env,
					     .settings = s.settings,
					     .wordsh = words_of,
					     .outputh = take_output,
					     .publishh = publish,
					     .spendh = spend,
					     .arg = &seat};
	struct tool_host host;

	db = db_close(db);
	CHECK_INT(store_alloc(&store, s.fake.env, s.bus, s.settings, dir), 0);
	s.conf.store = store;
	CHECK(text_stage_begin(&s));
	seat = (struct text_seat){.g = text_session_open(s.ts, STAGE_GUILD),
				  .channel = STAGE_CHANNEL};
	CHECK(seat.g != NULL);
	host = text_tool_host(&seat);
	CHECK_INT(tool_calls_alloc(&seat.calls, &conf), 0);
	CHECK_INT(builtins_alloc(&seat.builtins, &host), 0);
	CHECK_INT(builtins_add(seat.builtins, tool_calls_registry(seat.calls)), 0);
}

static void begin_call(const char *tool, const char *arguments)
{
	static unsigned calls;
	char id[16];

	snprintf(id, sizeof id, "c%u", ++calls);
	answer[0] = '\0';
	tool_calls_feed(seat.calls, &(struct tool_input){.type = TOOL_IN_CALL,
							 .turn = 1,
							 .user = STAGE_ANA,
							 .session = 1,
							 .call = id,
							 .tool = tool,
							 .text = slice_str(arguments)});
}

static const char *end_call(void)
{
	struct engine_message m[2 * TOOLS_CALLS];

	for (unsigned i = 0; i < 50 && !*answer; i++) {
		text_stage_run(&s);
		size_t n = tools_run_messages(tool_calls_run(seat.calls), 1, m, 2 * TOOLS_CALLS);

		for (size_t k = 0; k < n; k++)
			if (m[k].role == ENGINE_RESULT)
				snprintf(answer, sizeof answer, "%s", m[k].text);
	}
	return answer;
}

static const char *call(const char *tool, const char *arguments)
{
	begin_call(tool, arguments);
	return end_call();
}

/* The output of memory_search. */
static const char *search(const char *query)
{
	char arguments[128];

	snprintf(arguments, sizeof arguments, "{\"query\":\"%s\"}", query);
	return call("memory_search", arguments);
}

static void close_scene(void)
{
	tool_calls_end(seat.calls);
	tool_calls_free(seat.calls);
	builtins_free(seat.builtins);
	text_tool_memory_free(&seat);
	s.rest = rest_free(s.rest);
	s.ts = text_session_free(s.ts);
	store_free(store);
	text_stage_close(&s);
	folder_remove(dir);
}

TEST(a_search_in_writing_tells_former_values_with_their_dates)
{
	const char *told;

	open_scene();
	tell(0, "the meeting is at four", 60);
	tell(0, "the meeting is at five", 30);
	open_seat();
	told = search("meeting");
	CHECK(strstr(told, "\"former\":[{\"text\":\"the meeting is at four\",\"from\":\"2"));
	CHECK(strstr(told, "\"until\":\"2") && strstr(told, "\"metadata\":{\"createdAt\":\"2"));
	close_scene();
}

TEST(a_search_in_writing_says_that_a_former_value_may_still_be_true)
{
	const char *told;

	open_scene();
	tell(0, "our lantern fell off the boat", 48);
	tell(0, "we keep a lantern on the boat", 20);
	open_seat();
	told = search("boat");
	CHECK(strstr(told, "\"former\":[{\"text\":\"our lantern fell off the boat\",\"from\":\"2"));
	CHECK(strstr(told, "\"unsure\":true}]"));
	close_scene();
}

/* The newer one comes first, unless the words name the time of the older one.
 * 1: the newer one; 0: the older one; -1: one of both is missing. */
static int tells_newer_first(const char *query)
{
	const char *told, *older, *newer;
	int first;

	open_scene();
	tell(0, "our lantern fell off the boat", 48);
	tell(0, "we keep a lantern on the boat", 20);
	open_seat();
	told = search(query);
	older = strstr(told, "fell off");
	newer = strstr(told, "we keep");
	first = older && newer ? newer < older : -1;
	close_scene();
	return first;
}

TEST(a_search_in_writing_tells_the_fact_of_the_time_that_is_named_first)
{
	CHECK_INT(tells_newer_first("which lantern fell"), 1);
	CHECK_INT(tells_newer_first("two days ago which lantern fell"), 0);
}

TEST(a_search_in_writing_tells_when_a_fact_was_said_again)
{
	const char *told;

	open_scene();
	tell(0, "the meeting is at four", 60);
	tell(0, "the meeting is at four", 6);
	open_seat();
	told = search("meeting");
	CHECK(strstr(told, "\"saidAgain\":\"2"));
	close_scene();
}

/* By the last time; models count days badly. */
TEST(a_search_in_writing_tells_how_many_days_ago_a_fact_was_said)
{
	open_scene();
	tell(0, "the meeting is at four", 60);
	open_seat();
	CHECK(strstr(search("meeting"), "\"days_ago\":2,") || strstr(answer, "\"days_ago\":3,"));
	close_scene();
	open_scene();
	tell(0, "the meeting is at four", 60);
	tell(0, "the meeting is at four", 0);
	open_seat();
	CHECK(strstr(search("meeting"), "\"days_ago\":0,"));
	close_scene();
}

/* The present name: she had another one when it was told. */
TEST(a_search_in_writing_tells_whom_a_fact_is_about)
{
	open_scene();
	tell(0, "annie has the key of the shed", 5);
	run_sql("INSERT INTO fact_people VALUES(1, 501, 1)");
	open_seat();
	text_member_keep(seat.g, STAGE_ANA, 0, "Anastasia", NULL);
	CHECK(strstr(search("key of the shed"), "\"about\":[\"Anastasia\"]"));
	close_scene();
}

/* A value that was told in a channel which not everybody here may follow. */
TEST(a_search_in_writing_tells_no_former_value_of_a_closed_channel)
{
	const char *told;

	open_scene();
	tell(CHANNEL_ELSEWHERE, "the meeting is at four", 60);
	tell(0, "the meeting is at five", 30);
	open_seat();
	told = search("meeting");
	CHECK(strstr(told, "at five") && !strstr(told, "at four"));
	close_scene();
}

/* A search for the first one does not find the other. */
static void write_conflict(void)
{
	tell(0, "the picnic is at four", 60);
	tell_as(STAGE_CARL, 0, "our outing is at five", 30);
	run_sql("INSERT OR REPLACE INTO fact_pairs VALUES(1, 2, 'conflict', 1)");
}

/* Discord tells the bot's own message, an answer to this one. */
static void post_answer(uint64_t first)
{
	json_t *m = text_stage_message(STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_SELF,
				       "At four, or at five.");

	json_object_set_new(m, "nonce", json_sprintf("%llu.0", (unsigned long long)first));
	text_session_event(s.ts, "MESSAGE_CREATE", m);
	json_decref(m);
}

/* The event has them in the same form as those of turns. */
TEST(a_written_answer_names_the_people_of_whom_a_tool_told)
{
	uint64_t first;
	json_t *told;

	open_scene();
	write_conflict();
	open_seat();
	first = text_stage_id(&s, 0);
	seat.g->answer[0] =
		(struct text_answer){.first = first, .reply = 1, .user = STAGE_ANA, .keep = true};
	seat.g->n_answers = 1;
	search("picnic");
	post_answer(first);
	CHECK_STR(s.stored, "At four, or at five.");
	told = json_loads(s.told, 0, NULL);
	CHECK_INT(json_array_size(told), 2);
	CHECK(json_is_string(json_array_get(told, 0)) && json_is_string(json_array_get(told, 1)));
	json_decref(told);
	seat.g->answer[0].n_told = 0;
	post_answer(first);
	CHECK_STR(s.told, "");
	close_scene();
}

/* Whoever may not be told of one of them later is not told the answer. */
TEST(an_answer_after_a_search_in_writing_may_repeat_whom_it_told_of)
{
	struct text_answer *a;

	open_scene();
	write_conflict();
	open_seat();
	a = &seat.g->answer[0];
	*a = (struct text_answer){.reply = 1, .user = STAGE_ANA, .keep = true};
	CHECK(strstr(search("picnic"), "contradicted_by"));
	CHECK_INT(a->n_told, 2);
	CHECK_INT(a->told[0] + a->told[1], STAGE_BOB + STAGE_CARL);
	close_scene();
}

static bool forgets_carl(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)arg;
	return user != STAGE_CARL;
}

/* As voice: nothing of people who may not be told of, beside a fact either. */
TEST(a_search_in_writing_tells_no_contradiction_of_somebody_who_is_not_remembered)
{
	const char *told;

	open_scene();
	write_conflict();
	s.conf.remembersh = forgets_carl;
	open_seat();
	told = search("picnic");
	CHECK(strstr(told, "at four") && !strstr(told, "at five"));
	close_scene();
}

static void write_line_of(uint64_t user, const char *name, uint64_t channel, const char *text,
			  uint64_t ms_ago)
{
	bus_publish(s.bus, &(struct bus_event){
				   .type = EVENT_MESSAGE,
				   .at_ms = env_wall_ms(s.fake.env),
				   .guild = STAGE_GUILD,
				   .user = user,
				   .message = {.channel = channel,
					       .message = text_stage_id(&s, ms_ago),
					       .change = "written",
					       .name = name,
					       .text = text,
					       .written_ms = env_wall_ms(s.fake.env) - ms_ago}});
}

static void write_line(uint64_t channel, const char *text, uint64_t ms_ago)
{
	write_line_of(STAGE_ANA, "ana", channel, text, ms_ago);
}

/* They agreed to be remembered again at once. Until the store has erased what it had, no search
 * tells of them, not even one that had begun before. */
TEST(a_search_in_writing_tells_nothing_of_somebody_who_was_forgotten_a_moment_ago)
{
	open_scene();
	write_conflict();
	open_seat();
	begin_call("memory_search", "{\"query\":\"picnic\"}");
	text_session_forget(s.ts, STAGE_GUILD, STAGE_CARL, false);
	CHECK(strstr(end_call(), "at four") && !strstr(answer, "at five"));
	text_session_forget(s.ts, STAGE_GUILD, STAGE_BOB, false);
	CHECK(strstr(search("picnic"), "\"matches\":[]"));
	close_scene();
}

TEST(somebody_who_was_forgotten_a_moment_ago_may_have_facts_kept_again)
{
	open_scene();
	open_seat();
	text_session_forget(s.ts, STAGE_GUILD, STAGE_ANA, false);
	write_line(STAGE_CHANNEL, "my bike is new, remember that", 1000);
	CHECK(strstr(call("memory_write", "{\"items\":[{\"text\":\"ana has a new bike\"}]}"),
		     "inserted"));
	close_scene();
}

/* The store erases the fact a little later, since it names her. */
TEST(a_search_in_writing_tells_nothing_about_somebody_who_was_forgotten_a_moment_ago)
{
	open_scene();
	tell(0, "annie has the key of the shed", 5);
	run_sql("INSERT INTO fact_people VALUES(1, 503, 0)");
	open_seat();
	CHECK(strstr(search("key of the shed"), "annie"));
	text_session_forget(s.ts, STAGE_GUILD, STAGE_CARL, true);
	CHECK(strstr(search("key of the shed"), "\"matches\":[]"));
	close_scene();
}

static bool open_to_all(uint64_t guild, uint64_t read, uint64_t channel, void *arg)
{
	(void)guild, (void)read, (void)channel, (void)arg;
	return true;
}

/* memory_write in this channel finds the message, and nothing else. */
static void write_in(uint64_t channel)
{
	struct text_job job = {.reply = 1, .channel = channel};

	open_scene();
	s.conf.openh = open_to_all;
	open_seat();
	seat.channel = channel;
	job.g = seat.g;
	job.first = text_stage_id(&s, 300000);
	seat.g->jobs = &job;
	write_line(channel, "my bike is new", 600000);
	write_line(channel, "got a crimson bicycle yesterday, keep that in mind", 300000);
	write_line(CHANNEL_ELSEWHERE, "a bike, a bike", 200000);
	CHECK(strstr(call("memory_write", "{\"items\":[{\"text\":\"ana's bike is red\"}]}"),
		     "inserted"));
	seat.g->jobs = NULL;
	CHECK_INT(run_sql("SELECT count(*) FROM fact_sources s JOIN utterances u"
			  " ON u.seq = s.utterance WHERE u.text LIKE '%crimson%'"),
		  1);
	CHECK_INT(run_sql("SELECT count(*) FROM fact_sources"), 1);
	close_scene();
}

/* Models may take minutes to answer a message. */
TEST(a_fact_that_is_written_in_writing_rests_on_the_message)
{
	write_in(STAGE_CHANNEL);
}

/* The fact is of the channel of the thread, and its words are not. */
TEST(a_fact_that_is_written_in_a_thread_rests_on_the_message)
{
	write_in(STAGE_POST);
}

/* Ana asks for the lantern, of which Bob and Carl wrote. */
static void open_lines(struct text_job *job)
{
	open_scene();
	open_seat();
	*job = (struct text_job){.reply = 1, .channel = STAGE_CHANNEL, .g = seat.g};
	job->first = text_stage_id(&s, 60000);
	seat.g->jobs = job;
	seat.g->answer[0] = (struct text_answer){.reply = 1, .user = STAGE_ANA, .keep = true};
	text_member_keep(seat.g, STAGE_BOB, 0, "Robert", NULL);
	write_line_of(STAGE_BOB, "bob", STAGE_CHANNEL, "the lantern is in the shed", 900000);
	write_line_of(STAGE_CARL, "carl", STAGE_CHANNEL, "the lantern is on the boat", 600000);
	write_line_of(STAGE_BOB, "bob", CHANNEL_ELSEWHERE, "the lantern is my secret", 300000);
	write_line(STAGE_CHANNEL, "where did they say the lantern is", 60000);
}

static void close_lines(void)
{
	seat.g->jobs = NULL;
	close_scene();
}

/* The output of conversation_search. speaker: "" for anybody. */
static const char *search_lines(const char *speaker)
{
	char arguments[128];

	snprintf(arguments, sizeof arguments, "{\"query\":\"lantern\",\"speaker\":\"%s\"}",
		 speaker);
	return call("conversation_search", arguments);
}

/* Of this channel alone, and not the question itself. */
TEST(a_search_in_writing_finds_lines_of_the_channel)
{
	struct text_job job;
	const struct text_answer *a;

	open_lines(&job);
	a = &seat.g->answer[0];
	CHECK(strstr(search_lines(""), "\"speaker\":\"Robert\""));
	CHECK(strstr(answer, "in the shed") && strstr(answer, "on the boat"));
	CHECK(!strstr(answer, "secret") && !strstr(answer, "where did"));
	CHECK_INT(a->n_told, 2);
	CHECK_INT(a->told[0] + a->told[1], STAGE_BOB + STAGE_CARL);
	close_lines();
}

/* By the name that models know him by, which is not the one of then. */
TEST(a_search_in_writing_finds_lines_of_a_member)
{
	struct text_job job;

	open_lines(&job);
	CHECK(strstr(search_lines("robert"), "in the shed"));
	CHECK(strstr(answer, "\"said\":\"the lantern is in the shed\",\"at\":\"2"));
	CHECK(!strstr(answer, "},{\"id\":")); /* Carl's is beside it */
	CHECK(strstr(search_lines("you"), "[]"));
	close_lines();
}

TEST(a_search_in_writing_finds_no_lines_of_people_who_may_not_be_recalled)
{
	struct text_job job;

	open_lines(&job);
	text_session_forget(s.ts, STAGE_GUILD, STAGE_BOB, false);
	CHECK(strstr(search_lines(""), "on the boat") && !strstr(answer, "in the shed"));
	close_lines();
	open_lines(&job);
	s.settings->store_words_hours = 0;
	CHECK(!strstr(search_lines(""), "lantern"));
	close_lines();
}

/* Nothing of direct messages is kept. */
TEST(models_of_direct_messages_are_offered_no_search)
{
	open_scene();
	open_seat();
	CHECK(text_tool_host(&seat).searchh != NULL);
	seat.g = text_session_open(s.ts, 0);
	CHECK(seat.g && !text_tool_host(&seat).searchh);
	seat.g = text_session_open(s.ts, STAGE_GUILD);
	close_scene();
}

static void take_outcome(const struct text_outcome *o, void *arg)
{
	(void)arg;
	snprintf(answer, sizeof answer, "%s", o->text ? o->text : o->reason);
}

/* A command asks, and the model calls this tool with these arguments (JSON in JSON). */
static const char *ask_by_command(const char *tool, const char *arguments)
{
	static char stream[512];
	const struct text_question q = {.guild = STAGE_GUILD,
					.channel = STAGE_CHANNEL,
					.user = STAGE_ANA,
					.id = text_stage_id(&s, 0),
					.name = "ana",
					.text = "when is it"};

	snprintf(stream, sizeof stream,
		 "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\","
		 "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"%s\"}}]},"
		 "\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
		 tool, arguments);
	s.first = stream;
	answer[0] = '\0';
	text_session_ask(s.ts, &q, take_outcome, NULL);
	for (unsigned i = 0; i < 50 && !*answer; i++)
		text_stage_run(&s);
	return answer;
}

static void open_command(void)
{
	open_scene();
	tell(0, "the meeting is at five", 30);
	db = db_close(db);
	CHECK_INT(store_alloc(&store, s.fake.env, s.bus, s.settings, dir), 0);
	s.conf.store = store;
	CHECK(text_stage_begin(&s));
}

static void close_command(void)
{
	s.rest = rest_free(s.rest);
	s.ts = text_session_free(s.ts);
	store_free(store);
	text_stage_close(&s);
	folder_remove(dir);
}

TEST(a_question_of_a_command_looks_into_the_memory)
{
	open_command();
	CHECK_STR(ask_by_command("memory_search", "{\\\"query\\\":\\\"meeting\\\"}"), "It is so.");
	CHECK_INT(s.asked, 2);
	CHECK(strstr(s.prompt, "\\\"matches\\\"") && strstr(s.prompt, "at five"));
	close_command();
}

/* Not offered, and called all the same: nobody there could watch it, or agree. */
TEST(a_question_of_a_command_changes_nothing)
{
	open_command();
	CHECK_STR(ask_by_command("memory_forget", "{\\\"query\\\":\\\"meeting is at five\\\"}"),
		  "It is so.");
	CHECK(strstr(s.prompt, "no such tool") && !strstr(s.prompt, "forgotten"));
	close_command();
}
