/* A client of MCP against a scripted server, both eras. */
#include "control/dialect/mcp.h"
#include "control/dialect/mcp_inside.h"
#include "tests/test.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct rig {
	struct mcp *m;
	char sent[8][4096]; /* newest last */
	char name[64], version[32], header[128];
	unsigned sends, drops, changes, results, progress;
	uint32_t id, dropped; /* newest */
	uint64_t call;
	struct mcp_result result;
	char text[200], words[100];
	double share;
} rig;

static void on_send(const struct mcp_message *message, void *arg)
{
	(void)arg;
	snprintf(rig.sent[rig.sends++ % 8], sizeof rig.sent[0], "%s", message->text);
	rig.id = message->id ? message->id : rig.id;
	snprintf(rig.name, sizeof rig.name, "%s", message->name ? message->name : "-");
	snprintf(rig.version, sizeof rig.version, "%s", message->version ? message->version : "-");
	snprintf(rig.header, sizeof rig.header, "%s",
		 message->headers && message->headers[0] ? message->headers[0] : "-");
}

static void on_drop(uint32_t id, void *arg)
{
	(void)arg;
	rig.drops++;
	rig.dropped = id;
}

static void on_change(void *arg)
{
	(void)arg;
	rig.changes++;
}

static void on_result(uint64_t call, const struct mcp_result *result, void *arg)
{
	(void)arg;
	rig.results++;
	rig.call = call;
	rig.result = *result;
	snprintf(rig.text, sizeof rig.text, "%s", result->text);
}

static void on_progress(uint64_t call, double share, const char *text, void *arg)
{
	(void)arg;
	rig.progress++;
	rig.call = call;
	rig.share = share;
	snprintf(rig.words, sizeof rig.words, "%s", text);
}

static int begin(bool http)
{
	struct mcp_conf conf = {.client = "parley",
				.version = "1",
				.http = http,
				.sendh = on_send,
				.droph = on_drop,
				.changeh = on_change,
				.resulth = on_result,
				.progressh = on_progress};

	memset(&rig, 0, sizeof rig);
	return mcp_alloc(&rig.m, &conf);
}

static const char *sent(unsigned back)
{
	return rig.sent[(rig.sends - 1 - back) % 8];
}

static void receive_at(const char *text, uint64_t now)
{
	mcp_receive(rig.m, text, strlen(text), now);
}

static void receive(const char *text)
{
	receive_at(text, SECOND);
}

/* Answers the newest request. */
static void answer_at(const char *member, const char *value, uint64_t now)
{
	char text[4096];

	snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"%s\":%s}", rig.id, member,
		 value);
	receive_at(text, now);
}

static void answer(const char *member, const char *value)
{
	answer_at(member, value, SECOND);
}

static const char changed[] =
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";

static const char unknown_method[] = "{\"code\":-32601,\"message\":\"Method not found\"}";
static const char tools[] =
	"{\"tools\":[{\"name\":\"echo\",\"description\":\"Says it\\nagain\",\"inputSchema\":{"
	"\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
	"\"x-mcp-header\":\"Region\"}}},\"annotations\":{\"readOnlyHint\":true}},{\"name\":"
	"\"\"},{\"name\":\"echo\",\"inputSchema\":{}}]}";

static void open_legacy(void)
{
	mcp_open(rig.m, 0);
	answer("error", unknown_method);
	answer("result", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{"
			 "\"listChanged\":true},\"resources\":{}},\"serverInfo\":{\"name\":\"every"
			 "thing\"}}");
	answer("result", tools);
}

static void open_modern(void)
{
	mcp_open(rig.m, 0);
	answer("result", "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{"
			 "\"listChanged\":true}},\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
			 "{\"name\":\"modern\"}}}");
	answer("result", tools);
}

TEST(mcp_finds_a_server_of_the_legacy_era)
{
	const struct mcp_tool *t;
	size_t n;

	CHECK_INT(begin(false), 0);
	mcp_open(rig.m, 0);
	CHECK(strstr(sent(0), "\"method\":\"server/discover\""));
	CHECK(strstr(sent(0), "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""));
	answer("error", unknown_method);
	CHECK(strstr(sent(0), "\"method\":\"initialize\"") && !strstr(sent(0), "_meta"));
	answer("result", "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
			 "\"serverInfo\":{\"name\":\"old\"}}");
	CHECK(strstr(sent(1), "notifications/initialized"));
	CHECK(strstr(sent(0), "tools/list"));
	CHECK_INT(mcp_state(rig.m), MCP_OPENING);
	answer("result", tools);
	CHECK_INT(mcp_state(rig.m), MCP_READY);
	CHECK_STR(mcp_server(rig.m), "old");
	CHECK_STR(mcp_revision(rig.m), "2025-06-18");
	t = mcp_tools(rig.m, &n);
	CHECK_INT(n, 1);
	CHECK_STR(t->name, "echo");
	CHECK_STR(t->description, "Says it again");
	CHECK(t->reads_only);
	CHECK_INT(mcp_left_out(rig.m), 2);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_finds_a_server_of_the_modern_era_and_listens_for_changes)
{
	CHECK_INT(begin(false), 0);
	open_modern();
	CHECK_INT(mcp_state(rig.m), MCP_READY);
	CHECK_INT(mcp_era(rig.m), MCP_MODERN);
	CHECK(strstr(sent(0), "subscriptions/listen"));
	CHECK(strstr(sent(1), "tools/list") && strstr(sent(1), "clientCapabilities"));
	receive_at(changed, MCP_LIST_NS + SECOND);
	CHECK(strstr(sent(0), "tools/list"));
	/* A change during a fetch makes the client fetch the list again, later. */
	receive_at(changed, MCP_LIST_NS + SECOND);
	answer_at("result", "{\"tools\":[]}", MCP_LIST_NS + 2 * SECOND);
	CHECK_INT(rig.id, 4);
	CHECK(mcp_deadline(rig.m) == 2 * MCP_LIST_NS + SECOND);
	mcp_timer(rig.m, 2 * MCP_LIST_NS + SECOND);
	CHECK(strstr(sent(0), "tools/list") && rig.id == 5);
	answer("result", tools);
	CHECK(!strstr(sent(0), "subscriptions"));
	CHECK(mcp_deadline(rig.m) == UINT64_MAX);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_requests_the_list_once_in_five_seconds_however_often_it_changes)
{
	unsigned sends, changes;

	CHECK_INT(begin(false), 0);
	open_legacy();
	sends = rig.sends;
	changes = rig.changes;
	/* Two notifications a second for a minute, each with the same list. */
	for (unsigned i = 0; i < 120; i++) {
		uint64_t now = SECOND + i * SECOND / 2;
		uint32_t id = rig.id;

		receive_at(changed, now);
		if (mcp_deadline(rig.m) <= now)
			mcp_timer(rig.m, now);
		if (rig.id != id)
			answer_at("result", tools, now);
	}
	CHECK(rig.sends - sends >= 11 && rig.sends - sends <= 12);
	CHECK_INT(rig.changes, changes);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_refuses_a_server_that_floods_its_connection)
{
	static const char *const floods[] = {
		changed,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		"\"progressToken\":4,\"progress\":1}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
		"this is a line of a log",
	};

	for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++) {
		unsigned n = 0;

		CHECK_INT(begin(false), 0);
		open_legacy();
		CHECK_INT(mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", NULL, 60000, SECOND), 0);
		/* What is within bounds does no harm, for however long. */
		for (unsigned k = 0; k < 4 * MCP_FLOOD_MESSAGES - 40; k++)
			receive_at(floods[i],
				   20 * SECOND + k * MCP_FLOOD_NS / (MCP_FLOOD_MESSAGES - 10));
		CHECK_INT(mcp_state(rig.m), MCP_READY);
		while (mcp_state(rig.m) == MCP_READY && n < 2 * MCP_FLOOD_MESSAGES) {
			receive_at(floods[i], 100 * SECOND);
			n++;
		}
		CHECK_INT(n, MCP_FLOOD_MESSAGES + 1);
		CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
		CHECK(rig.results == 1 && rig.result.outcome == MCP_LOST);
		rig.m = mcp_free(rig.m);
	}
}

TEST(mcp_counts_no_answers_as_a_flood)
{
	char *large = malloc(MCP_MESSAGE_MAX);

	CHECK_INT(begin(false), 0);
	open_legacy();
	for (unsigned i = 0; i < 2 * MCP_FLOOD_MESSAGES; i++) {
		CHECK_INT(mcp_call(rig.m, i, MCP_CALL_TOOL, "echo", NULL, 1000, 50 * SECOND), 0);
		answer_at("result", "{\"content\":[]}", 50 * SECOND);
	}
	CHECK_INT(rig.results, 2 * MCP_FLOOD_MESSAGES);
	CHECK_INT(mcp_state(rig.m), MCP_READY);
	/* Few large ones are a flood, too. */
	memset(large, ' ', MCP_MESSAGE_MAX);
	for (unsigned i = 0; i < MCP_FLOOD_BYTES / MCP_MESSAGE_MAX + 1; i++)
		mcp_receive(rig.m, large, MCP_MESSAGE_MAX, 61 * SECOND);
	CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
	free(large);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_retries_the_probe_once_with_a_version_that_the_server_names)
{
	static const char unsupported[] = "{\"code\":-32022,\"message\":\"Unsupported\",\"data\":{"
					  "\"supported\":[\"2026-07-28\"]}}";

	CHECK_INT(begin(true), 0);
	mcp_open(rig.m, 0);
	answer("error", unsupported);
	CHECK(strstr(sent(0), "server/discover") && rig.id == 2);
	answer("error", unsupported);
	CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_takes_silence_at_the_probe_for_the_legacy_era)
{
	CHECK_INT(begin(false), 0);
	mcp_open(rig.m, 0);
	CHECK_INT(mcp_deadline(rig.m), MCP_PROBE_NS);
	mcp_timer(rig.m, MCP_PROBE_NS);
	CHECK(strstr(sent(0), "\"initialize\""));
	mcp_timer(rig.m, MCP_PROBE_NS + MCP_OPEN_NS);
	CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
	CHECK_STR(mcp_why(rig.m), "it does not answer");
	CHECK(mcp_deadline(rig.m) == UINT64_MAX);
	/* Another try begins from the start. */
	mcp_close(rig.m);
	mcp_open(rig.m, 0);
	CHECK(strstr(sent(0), "server/discover"));
	rig.m = mcp_free(rig.m);
}

TEST(mcp_refuses_revisions_that_nobody_here_knows)
{
	CHECK_INT(begin(false), 0);
	mcp_open(rig.m, 0);
	answer("error", "{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":"
			"[\"2030-01-01\"]}}");
	CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
	mcp_close(rig.m);
	mcp_open(rig.m, 0);
	answer("error", unknown_method);
	answer("result", "{\"protocolVersion\":\"1900-01-01\",\"capabilities\":{}}");
	CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_calls_get_one_result_each)
{
	json_t *args = json_pack("{s:s}", "region", "north");

	CHECK_INT(begin(false), 0);
	CHECK_INT(mcp_call(rig.m, 7, MCP_CALL_TOOL, "echo", args, 1000, 0), ENOTCONN);
	open_legacy();
	CHECK_INT(mcp_call(rig.m, 7, MCP_CALL_TOOL, "echo", args, 1000, 0), 0);
	CHECK(strstr(sent(0), "\"params\":{\"name\":\"echo\",\"arguments\":{\"region\":\"north\"},"
			      "\"_meta\":{\"progressToken\":"));
	answer("result", "{\"content\":[{\"type\":\"text\",\"text\":\"Echo: north\"},{\"type\":"
			 "\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAA\"}]}");
	CHECK(rig.results == 1 && rig.call == 7 && rig.result.outcome == MCP_DONE);
	CHECK_STR(rig.text, "Echo: north\n[an image: image/png]");
	answer("result", "{\"content\":[]}"); /* once more: nobody asked */
	CHECK_INT(rig.results, 1);
	mcp_call(rig.m, 8, MCP_CALL_TOOL, "echo", NULL, 1000, 0);
	answer("result", "{\"content\":[{\"type\":\"text\",\"text\":\"bad\"}],\"isError\":true}");
	CHECK(rig.call == 8 && rig.result.outcome == MCP_TOOL_FAILED);
	mcp_call(rig.m, 9, MCP_CALL_TOOL, "echo", NULL, 1000, 0);
	answer("error", "{\"code\":-32602,\"message\":\"No\\nsuch tool\"}");
	CHECK(rig.call == 9 && rig.result.outcome == MCP_REFUSES);
	CHECK_STR(rig.text, "No such tool (-32602)");
	mcp_call(rig.m, 10, MCP_CALL_TOOL, "echo", NULL, 1000, 0);
	answer("result", "{\"resultType\":\"input_required\",\"inputRequests\":{}}");
	CHECK(rig.call == 10 && rig.result.outcome == MCP_REFUSES);
	mcp_call(rig.m, 11, MCP_CALL_TOOL, "echo", NULL, 1000, 0);
	answer("result", "{\"content\":[],\"structuredContent\":{\"sum\":3}}");
	CHECK_STR(rig.text, "{\"sum\":3}");
	json_decref(args);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_cancelled_and_late_calls_are_over_at_once)
{
	CHECK_INT(begin(false), 0);
	open_legacy();
	mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", NULL, 500, 0);
	mcp_cancel(rig.m, 1, "stopped by voice");
	CHECK(rig.result.outcome == MCP_CANCELLED && rig.results == 1);
	CHECK(strstr(sent(0), "notifications/cancelled") && strstr(sent(0), "stopped by voice"));
	mcp_cancel(rig.m, 1, "again");
	CHECK_INT(rig.results, 1);
	mcp_call(rig.m, 2, MCP_CALL_TOOL, "echo", NULL, 500, 0);
	CHECK_INT(mcp_deadline(rig.m), 500 * MS);
	mcp_timer(rig.m, 499 * MS);
	CHECK_INT(rig.results, 1);
	mcp_timer(rig.m, 500 * MS);
	CHECK(rig.call == 2 && rig.result.outcome == MCP_LATE);
	answer("result", "{\"content\":[]}");
	CHECK_INT(rig.results, 2);
	mcp_call(rig.m, 3, MCP_CALL_TOOL, "echo", NULL, 500, 0);
	mcp_close(rig.m);
	CHECK(rig.call == 3 && rig.result.outcome == MCP_LOST);
	CHECK_INT(mcp_state(rig.m), MCP_CLOSED);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_progress_reaches_calls_that_go_on_and_no_others)
{
	char text[200];

	CHECK_INT(begin(false), 0);
	open_legacy();
	mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", NULL, 500, 0);
	snprintf(text, sizeof text,
		 "{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%u,"
		 "\"progress\":1,\"total\":4,\"message\":\"one\\nof four\"}}",
		 rig.id);
	receive(text);
	CHECK(rig.progress == 1 && rig.share == 0.25);
	CHECK_STR(rig.words, "one of four");
	mcp_cancel(rig.m, 1, "enough");
	receive(text);
	CHECK_INT(rig.progress, 1);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_answers_requests_of_legacy_servers)
{
	CHECK_INT(begin(false), 0);
	open_legacy();
	receive("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}");
	CHECK_STR(sent(0), "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
	receive("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"sampling/createMessage\"}");
	CHECK(strstr(sent(0), "-32601"));
	rig.m = mcp_free(rig.m);
}

TEST(mcp_over_http_mirrors_what_headers_must_say)
{
	json_t *args = json_pack("{s:s}", "region",
				 "s\xc3\xbc"
				 "d");

	CHECK_INT(begin(true), 0);
	open_modern();
	CHECK_INT(mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", args, 1000, 0), 0);
	CHECK_STR(rig.name, "echo");
	CHECK_STR(rig.version, "2026-07-28");
	CHECK_STR(rig.header, "Mcp-Param-Region: =?base64?c8O8ZA==?=");
	mcp_cancel(rig.m, 1, "enough");
	CHECK(rig.drops == 1 && rig.dropped == rig.id); /* closing the response cancels */
	json_decref(args);
	rig.m = mcp_free(rig.m);
}

TEST(mcp_over_http_reads_statuses)
{
	CHECK_INT(begin(true), 0);
	mcp_open(rig.m, 0);
	mcp_unanswered(rig.m, rig.id, 404, NULL, 0);
	CHECK(strstr(sent(0), "initialize"));
	CHECK_STR(rig.version, "-");
	mcp_unanswered(rig.m, rig.id, 401, NULL, 0);
	CHECK_INT(mcp_state(rig.m), MCP_REFUSED);
	CHECK_STR(mcp_why(rig.m), "it answered with HTTP status 401");
	mcp_close(rig.m);
	mcp_open(rig.m, 0); /* the server may speak another era by now */
	CHECK(strstr(sent(0), "server/discover"));
	mcp_unanswered(rig.m, rig.id, 0, NULL, 0);
	CHECK_STR(mcp_why(rig.m), "it cannot be reached");
	rig.m = mcp_free(rig.m);
}

TEST(mcp_headers_that_cannot_be_obeyed_leave_a_tool_out)
{
	static const char *const wrong[] = {
		"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A b\"}}}",
		"{\"properties\":{\"a\":{\"type\":\"object\",\"x-mcp-header\":\"A\"}}}",
		"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":7}}}",
		"{\"x-mcp-header\":\"A\"}",
		"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"b\":{"
		"\"type\":\"string\",\"x-mcp-header\":\"a\"}}}",
		"{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
		"\"x-mcp-header\":\"A\"}}}}",
		"{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}"
		"}]}"};
	json_t *nested =
		json_loads("{\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":"
			   "\"integer\",\"x-mcp-header\":\"B\"},\"c\":{\"type\":\"string\","
			   "\"x-mcp-header\":\"C\"}}}}}",
			   0, NULL);
	json_t *args = json_loads("{\"a\":{\"b\":42,\"c\":\"\"}}", 0, NULL);
	char **lines;

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		json_t *schema = json_loads(wrong[i], 0, NULL);

		CHECK(schema && !mcp_header_valid(schema));
		json_decref(schema);
	}
	CHECK(mcp_header_valid(nested));
	lines = mcp_header_lines(nested, args);
	CHECK_STR(lines[0], "Mcp-Param-B: 42");
	CHECK_STR(lines[1], "Mcp-Param-C: "); /* an empty text is a value */
	CHECK(!lines[2]);
	mcp_header_free(lines);
	json_decref(nested);
	json_decref(args);
}

TEST(mcp_header_values_are_plain_or_wrapped)
{
	static const char *const rows[][2] = {
		{"plain value", "plain value"},
		{" led", "=?base64?IGxlZA==?="},
		{"a\nb", "=?base64?YQpi?="},
		{"=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="},
		{"", ""}};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *value = mcp_header_value(rows[i][0]);

		CHECK_STR(value, rows[i][1]);
		free(value);
	}
}

TEST(mcp_results_are_cut_at_whole_characters)
{
	char *big = malloc(2 * MCP_RESULT_MAX);
	size_t n = (size_t)snprintf(big, MCP_RESULT_MAX,
				    "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{"
				    "\"type\":\"text\",\"text\":\"a");

	CHECK_INT(begin(false), 0);
	open_legacy();
	mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", NULL, 500, 0);
	CHECK_INT(rig.id, 4);
	for (unsigned i = 0; i < MCP_RESULT_MAX / 2 + 10; i++, n += 2)
		memcpy(big + n, "\xc3\xa9", 2);
	strcpy(big + n, "\"}]}}");
	mcp_receive(rig.m, big, strlen(big), 0);
	CHECK(rig.results == 1 && rig.result.cut);
	CHECK_INT(rig.result.n, MCP_RESULT_MAX - 1);
	free(big);
	rig.m = mcp_free(rig.m);
}

TEST_OOM(mcp_survives_a_lack_of_memory)
{
	int err = begin(true);

	if (!err) {
		open_modern();
		mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", NULL, 500, 0);
		answer("result", "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}");
		mcp_close(rig.m);
		rig.m = mcp_free(rig.m);
	}
	CHECK_OOM(err, (void)0);
}

TEST(mcp_a_cancelled_call_over_http_keeps_no_connection_in_either_era)
{
	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(begin(true), 0);
		if (i)
			open_modern();
		else
			open_legacy();
		CHECK_INT(mcp_call(rig.m, 1, MCP_CALL_TOOL, "echo", NULL, 1000, SECOND), 0);
		mcp_cancel(rig.m, 1, "cancelled");
		CHECK(rig.drops == 1 && rig.dropped == rig.id);
		CHECK(!strstr(sent(0), "notifications/cancelled") == (i == 1));
		rig.m = mcp_free(rig.m);
	}
}
