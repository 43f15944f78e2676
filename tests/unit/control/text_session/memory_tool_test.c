/* memory_search in a text channel: what it tells of a fact, as in voice. */
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

enum { CHANNEL_ELSEWHERE = 2001, HOUR = 3600000 };

static struct text_stage s;
static struct text_seat seat;
static struct db *db;
static struct store *store;
static char dir[32], answer[4096];

static void tell(uint64_t channel, const char *text, unsigned hours_ago)
{
	char request[256], *out = NULL;
	struct job j = {.guild = STAGE_GUILD,
			.user = STAGE_BOB,
			.channel = channel,
			.author = (char *)"bob",
			.text = request,
			.now_ms = env_wall_ms(s.fake.env) - (uint64_t)hours_ago * HOUR};

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[]}]", text);
	CHECK_INT(fact_rows_write(db, NULL, &j, &out), 0);
	free(out);
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

/* The output of memory_search. */
static const char *search(const char *query)
{
	struct engine_message m[2 * TOOLS_CALLS];
	char arguments[128];

	snprintf(arguments, sizeof arguments, "{\"query\":\"%s\"}", query);
	answer[0] = '\0';
	tool_calls_feed(seat.calls, &(struct tool_input){.type = TOOL_IN_CALL,
							 .turn = 1,
							 .user = STAGE_ANA,
							 .session = 1,
							 .call = "c1",
							 .tool = "memory_search",
							 .text = slice_str(arguments)});
	for (unsigned i = 0; i < 50 && !*answer; i++) {
		text_stage_run(&s);
		size_t n = tools_run_messages(tool_calls_run(seat.calls), 1, m, 2 * TOOLS_CALLS);

		for (size_t k = 0; k < n; k++)
			if (m[k].role == ENGINE_RESULT)
				snprintf(answer, sizeof answer, "%s", m[k].text);
	}
	return answer;
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
