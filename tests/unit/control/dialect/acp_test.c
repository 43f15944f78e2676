/* A client of ACP against a scripted agent. */
#include "control/dialect/acp.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct rig {
	struct acp *a;
	uint64_t now;
	char sent[8][1024]; /* the newest at sends % 8 - 1 */
	unsigned sends, results, tellings;
	uint64_t task;
	enum acp_outcome outcome;
	bool cut;
	uint64_t cost;
	size_t n;
	char text[400], progress[ACP_PROGRESS_MAX];
	uint64_t next; /* a task that the result's handler gives */
	int next_err;
} rig;

static void on_send(const char *text, size_t n, void *arg)
{
	(void)arg;
	CHECK(n == strlen(text) && !strchr(text, '\n'));
	snprintf(rig.sent[rig.sends++ % 8], sizeof rig.sent[0], "%s", text);
}

static void on_change(void *arg)
{
	(void)arg;
}

static void on_progress(uint64_t task, const char *text, void *arg)
{
	(void)arg;
	(void)task;
	rig.tellings++;
	snprintf(rig.progress, sizeof rig.progress, "%s", text);
}

static void on_result(uint64_t task, const struct acp_result *result, void *arg)
{
	(void)arg;
	rig.results++;
	rig.task = task;
	rig.outcome = result->outcome;
	rig.cut = result->cut;
	rig.cost = result->cost;
	rig.n = result->n;
	snprintf(rig.text, sizeof rig.text, "%s", result->text);
	if (rig.next)
		rig.next_err = acp_prompt(rig.a, rig.next, "next", 1000, rig.now);
}

static const char *sent(unsigned back)
{
	return rig.sent[(rig.sends - 1 - back) % 8];
}

static void receive(const char *text)
{
	acp_receive(rig.a, text, strlen(text), rig.now);
}

static void update(const char *members)
{
	char line[2048];

	snprintf(line, sizeof line,
		 "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
		 "\"s1\",\"update\":{%s}}}",
		 members);
	receive(line);
}

static void write_words(const char *words)
{
	char members[1400];

	snprintf(members, sizeof members,
		 "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
		 "\"text\":\"%s\"}",
		 words);
	update(members);
}

static bool make(enum acp_grants grants, uint64_t cost_max)
{
	struct acp_conf conf = {.client = "parley",
				.version = "1",
				.folder = "/home",
				.grants = grants,
				.cost_max = cost_max,
				.sendh = on_send,
				.changeh = on_change,
				.progressh = on_progress,
				.resulth = on_result};

	memset(&rig, 0, sizeof rig);
	rig.now = SECOND;
	return acp_alloc(&rig.a, &conf) == 0;
}

static bool begin(enum acp_grants grants, uint64_t cost_max)
{
	if (!make(grants, cost_max))
		return false;
	acp_open(rig.a, rig.now);
	receive("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentInfo\":{"
		"\"name\":\"toy\",\"version\":\"1\"}}}");
	receive("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s1\"}}");
	return acp_state(rig.a) == ACP_READY;
}

/* The session is open, and the agent works at task 7. */
static bool begin_work(enum acp_grants grants, uint64_t cost_max)
{
	return begin(grants, cost_max) && acp_prompt(rig.a, 7, "do it", 60000, rig.now) == 0 &&
	       acp_state(rig.a) == ACP_WORKING;
}

static void stop(const char *reason)
{
	char line[200];

	snprintf(line, sizeof line,
		 "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"%s\"}}", reason);
	receive(line);
}

TEST(acp_opens_a_session_without_files_and_terminals)
{
	CHECK(begin(ACP_GRANTS_READING, 0));
	CHECK_STR(sent(1), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
			   "\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{"
			   "\"readTextFile\":false,\"writeTextFile\":false},\"terminal\":false},"
			   "\"clientInfo\":{\"name\":\"parley\",\"version\":\"1\"}}}");
	CHECK_STR(sent(0), "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{"
			   "\"cwd\":\"/home\",\"mcpServers\":[]}}");
	CHECK_STR(acp_agent(rig.a), "toy");
	CHECK(acp_deadline(rig.a) == UINT64_MAX);
	acp_free(rig.a);
}

TEST(acp_refuses_an_agent_that_cannot_be_used)
{
	static const struct {
		const char *first, *second, *why;
	} rows[] = {
		{"{\"id\":1,\"result\":{\"protocolVersion\":2}}", "", "no version"},
		{"{\"id\":1,\"result\":{}}", "", "no version"},
		{"{\"id\":1,\"result\":7}", "", "no version"},
		{"{\"id\":1,\"error\":{\"code\":-32603,\"message\":\"broken\\nline\"}}", "",
		 "broken"},
		{"{\"id\":1,\"result\":{\"protocolVersion\":1}}",
		 "{\"id\":2,\"error\":{\"code\":-32000,\"message\":\"Authentication required\"}}",
		 "sign-in"},
		{"{\"id\":1,\"result\":{\"protocolVersion\":1}}",
		 "{\"id\":2,\"result\":{\"sessionId\":\"\"}}", "no id"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK(make(ACP_GRANTS_READING, 0));
		acp_open(rig.a, rig.now);
		receive(rows[i].first);
		receive(rows[i].second);
		CHECK_INT(acp_state(rig.a), ACP_REFUSED);
		if (!strstr(acp_why(rig.a), rows[i].why))
			CHECK_STR(acp_why(rig.a), rows[i].why);
		CHECK_INT(acp_prompt(rig.a, 1, "x", 1000, rig.now), ENOTCONN);
		acp_free(rig.a);
	}
	CHECK(make(ACP_GRANTS_READING, 0));
	acp_open(rig.a, rig.now);
	acp_timer(rig.a, acp_deadline(rig.a));
	CHECK_INT(acp_state(rig.a), ACP_REFUSED);
	CHECK_STR(acp_why(rig.a), "it does not answer");
	acp_free(rig.a);
}

TEST(acp_collects_the_words_of_an_answer)
{
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	CHECK_STR(sent(0), "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":"
			   "{\"sessionId\":\"s1\",\"prompt\":[{\"type\":\"text\",\"text\":"
			   "\"do it\"}]}}");
	CHECK_INT(acp_prompt(rig.a, 8, "more", 1000, rig.now), EBUSY);
	write_words("I look. ");
	update("\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\","
	       "\"text\":\"hm\"}");
	update("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"Read a\\nfile\"");
	write_words("It is ");
	write_words("done.");
	CHECK_STR(rig.progress, "Read a file");
	CHECK_INT(rig.results, 0);
	stop("end_turn");
	CHECK_INT(rig.results, 1);
	CHECK_INT(rig.task, 7);
	CHECK_INT(rig.outcome, ACP_DONE);
	CHECK_STR(rig.text, "I look. \n\nIt is done.");
	CHECK_INT(acp_state(rig.a), ACP_READY);
	/* Words after the end belong to nothing, and a second end is none. */
	write_words("late");
	stop("end_turn");
	CHECK_INT(rig.results, 1);
	CHECK_INT(acp_prompt(rig.a, 8, "more", 1000, rig.now), 0);
	receive("{\"id\":4,\"result\":{\"stopReason\":\"max_tokens\"}}");
	CHECK_INT(rig.outcome, ACP_CUT_SHORT);
	CHECK_STR(rig.text, "");
	acp_free(rig.a);
}

TEST(acp_tells_what_the_agent_is_doing_once_each)
{
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	for (int i = 0; i < 3; i++)
		update("\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"look\",\"status\":"
		       "\"completed\"},{\"content\":\"think\",\"status\":\"in_progress\"}]");
	CHECK_INT(rig.tellings, 1);
	CHECK_STR(rig.progress, "step 2 of 2: think");
	update("\"sessionUpdate\":\"plan\",\"entries\":7");
	update("\"sessionUpdate\":\"tool_call\"");
	CHECK_INT(rig.tellings, 1);
	acp_free(rig.a);
}

TEST(acp_results_by_stop_reason)
{
	static const struct {
		const char *reason;
		enum acp_outcome outcome;
	} rows[] = {{"refusal", ACP_DECLINED},
		    {"max_turn_requests", ACP_CUT_SHORT},
		    {"cancelled", ACP_CANCELLED},
		    {"because", ACP_FAILED}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK(begin_work(ACP_GRANTS_READING, 0));
		stop(rows[i].reason);
		CHECK_INT(rig.outcome, rows[i].outcome);
		CHECK_INT(acp_state(rig.a), ACP_READY);
		acp_free(rig.a);
	}
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	receive("{\"id\":3,\"error\":{\"code\":-32603,\"message\":\"no credit\"}}");
	CHECK_INT(rig.outcome, ACP_FAILED);
	CHECK_STR(rig.text, "no credit (-32603)");
	CHECK_INT(acp_state(rig.a), ACP_READY);
	acp_free(rig.a);
}

TEST(acp_cancels_at_once_and_waits_for_the_agent)
{
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	acp_cancel(rig.a, 6, rig.now);
	CHECK_INT(rig.results, 0);
	rig.next = 8;
	acp_cancel(rig.a, 7, rig.now);
	CHECK_INT(rig.results, 1);
	CHECK_INT(rig.outcome, ACP_CANCELLED);
	CHECK_INT(rig.next_err, EBUSY);
	CHECK_STR(sent(0), "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{"
			   "\"sessionId\":\"s1\"}}");
	rig.next = 0;
	CHECK_INT(acp_state(rig.a), ACP_STOPPING);
	stop("cancelled");
	CHECK_INT(acp_state(rig.a), ACP_READY);
	CHECK_INT(rig.results, 1);
	acp_free(rig.a);
	/* An agent that does not stop is refused, so that its owner kills it. */
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	acp_cancel(rig.a, 7, rig.now);
	acp_timer(rig.a, rig.now + ACP_STOP_NS - 1);
	CHECK_INT(acp_state(rig.a), ACP_STOPPING);
	acp_timer(rig.a, rig.now + ACP_STOP_NS);
	CHECK_INT(acp_state(rig.a), ACP_REFUSED);
	CHECK_INT(rig.results, 1);
	acp_free(rig.a);
}

TEST(acp_ends_what_takes_too_long_and_costs_too_much)
{
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	write_words("so far");
	acp_timer(rig.a, acp_deadline(rig.a));
	CHECK_INT(rig.outcome, ACP_LATE);
	CHECK_STR(rig.text, "so far");
	acp_free(rig.a);
	CHECK(begin_work(ACP_GRANTS_READING, 500000));
	update("\"sessionUpdate\":\"usage_update\",\"used\":1,\"size\":2,\"cost\":{\"amount\":0.4,"
	       "\"currency\":\"USD\"}");
	stop("end_turn");
	CHECK_INT(rig.outcome, ACP_DONE);
	CHECK_INT(rig.cost, 400000);
	/* The agent counts for its session, the limit is one of a task. */
	CHECK_INT(acp_prompt(rig.a, 8, "more", 1000, rig.now), 0);
	update("\"sessionUpdate\":\"usage_update\",\"cost\":{\"amount\":0.9,\"currency\":\"USD\"}");
	CHECK_INT(rig.results, 1);
	update("\"sessionUpdate\":\"usage_update\",\"cost\":{\"amount\":9,\"currency\":\"EUR\"}");
	CHECK_INT(rig.results, 1);
	update("\"sessionUpdate\":\"usage_update\",\"cost\":{\"amount\":0.91,\"currency\":"
	       "\"USD\"}");
	CHECK_INT(rig.outcome, ACP_TOO_DEAR);
	CHECK_INT(rig.cost, 510000);
	CHECK_INT(acp_state(rig.a), ACP_STOPPING);
	acp_free(rig.a);
}

static void ask_permission(const char *kind, const char *options)
{
	char line[800];

	snprintf(line, sizeof line,
		 "{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"method\":\"session/request_permission\","
		 "\"params\":{\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"c\",\"kind\":"
		 "\"%s\"},\"options\":[%s]}}",
		 kind, options);
	receive(line);
}

TEST(acp_answers_permission_requests_by_the_policy)
{
	static const char both[] =
		"{\"optionId\":\"always\",\"name\":\"A\",\"kind\":\"allow_always\"},"
		"{\"optionId\":\"once\",\"name\":\"B\",\"kind\":\"allow_once\"},"
		"{\"optionId\":\"no\",\"name\":\"C\",\"kind\":\"reject_once\"}";
	static const char always[] =
		"{\"optionId\":\"always\",\"name\":\"A\",\"kind\":\"allow_always\"}";
	static const struct {
		enum acp_grants grants;
		const char *kind, *options, *answer;
	} rows[] = {{ACP_GRANTS_READING, "read", both, "\"optionId\":\"once\""},
		    {ACP_GRANTS_READING, "search", both, "\"optionId\":\"once\""},
		    {ACP_GRANTS_READING, "execute", both, "\"optionId\":\"no\""},
		    {ACP_GRANTS_READING, "", both, "\"optionId\":\"no\""},
		    {ACP_GRANTS_NOTHING, "read", both, "\"optionId\":\"no\""},
		    {ACP_GRANTS_ALL, "delete", both, "\"optionId\":\"once\""},
		    {ACP_GRANTS_ALL, "read", always, "\"outcome\":\"cancelled\""},
		    {ACP_GRANTS_ALL, "read", "7", "\"outcome\":\"cancelled\""}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK(begin_work(rows[i].grants, 0));
		ask_permission(rows[i].kind, rows[i].options);
		CHECK(strncmp(sent(0), "{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"result\":", 35) == 0);
		if (!strstr(sent(0), rows[i].answer))
			CHECK_STR(sent(0), rows[i].answer);
		/* A prompt that was cancelled grants nothing any more. */
		acp_cancel(rig.a, 7, rig.now);
		ask_permission(rows[i].kind, rows[i].options);
		CHECK(strstr(sent(0), "{\"outcome\":{\"outcome\":\"cancelled\"}}"));
		acp_free(rig.a);
	}
}

TEST(acp_gives_no_file_and_no_terminal)
{
	static const char *const methods[] = {"fs/read_text_file", "fs/write_text_file",
					      "terminal/create", "elicitation/create"};
	char line[200];

	CHECK(begin_work(ACP_GRANTS_ALL, 0));
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		snprintf(line, sizeof line,
			 "{\"id\":%zu,\"method\":\"%s\",\"params\":{\"sessionId\":\"s1\",\"path\":"
			 "\"/etc/passwd\"}}",
			 i, methods[i]);
		receive(line);
		CHECK(strstr(sent(0), "\"error\":{\"code\":-32601"));
	}
	/* Nor does another session get anything. */
	receive("{\"id\":9,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
		"\"s2\",\"options\":[{\"optionId\":\"x\",\"kind\":\"allow_once\"}]}}");
	CHECK(strstr(sent(0), "\"error\""));
	acp_free(rig.a);
}

TEST(acp_loses_a_task_with_its_agent)
{
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	acp_close(rig.a, "it died");
	CHECK_INT(rig.outcome, ACP_LOST);
	CHECK_STR(rig.text, "it died");
	acp_close(rig.a, "again");
	CHECK_INT(rig.results, 1);
	acp_free(rig.a);
}

TEST(acp_bounds_an_answer_and_a_flood)
{
	char words[1001];

	memset(words, 'x', sizeof words - 1);
	words[sizeof words - 1] = '\0';
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	for (int i = 0; i < 70; i++)
		write_words(words);
	stop("end_turn");
	CHECK_INT(rig.n, ACP_TEXT_MAX);
	CHECK(rig.cut);
	acp_free(rig.a);
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	for (int i = 0; i <= ACP_MESSAGES_MAX; i++)
		receive("{}");
	CHECK_INT(acp_state(rig.a), ACP_REFUSED);
	CHECK_INT(rig.outcome, ACP_LOST);
	acp_free(rig.a);
}

/* The messages of one prompt may be as many as the limit on their number allows and still be a
 * gigabyte. */
TEST(acp_ends_an_agent_that_floods_its_connection)
{
	CHECK(begin_work(ACP_GRANTS_READING, 0));
	for (unsigned i = 0; i < 10; i++) {
		acp_count_bytes(rig.a, ACP_FLOOD_BYTES, rig.now);
		CHECK_INT(acp_state(rig.a), ACP_WORKING);
		rig.now += ACP_FLOOD_NS;
	}
	acp_count_bytes(rig.a, ACP_FLOOD_BYTES, rig.now);
	acp_count_bytes(rig.a, 1, rig.now + ACP_FLOOD_NS - 1);
	CHECK_INT(acp_state(rig.a), ACP_REFUSED);
	CHECK(rig.results == 1 && rig.outcome == ACP_LOST);
	acp_free(rig.a);
}
