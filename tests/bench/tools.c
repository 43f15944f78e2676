/* A call of a tool in the running programs, from the model's words to the tool's server and back:
 * tool_dispatch_p99_ms, tool_cancel_p99_ms.
 *
 * guildd, the bot's mediad and control run unmodified (rooms.h), on the reply path brain. The text
 * model, the voice, speech-to-text and an MCP server over HTTP are scripts in this process; a
 * second server is a program in control's sandbox (tests/mcp/server.c), which writes down what it
 * reads. The model says a sentence of three seconds and calls a tool of one server or the other in
 * turn; the server never answers the call, and the member interrupts the sentence.
 *
 *   dispatch  from the last byte of the call on the model's socket to the request at the server, or
 *             to the line that the program has read from its stdin: the worse of the two
 *   cancel    from control's read of the frame that confirms the interruption (the room's journal)
 *             to the end of that request, or to the program's line that cancels it
 *
 *   BENCH_ASKS=n      questions in all (150)      BENCH_ROOMS=n      rooms at a time (4) */
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/journal_times.h"
#include "tests/bench/rooms.h"
#include "tests/bench/scripted.h"
#include "tests/bench/speech.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RATE = 24000,
	SOUND = RATE * 3,
	REQUESTS = 4096,
	BODY_MAX = 1 << 20,
};

static struct {
	unsigned n;
	uint64_t called[REQUESTS]; /* by the number of the call */
	double dispatch[REQUESTS], stdin_dispatch[REQUESTS];
	size_t dispatches, stdin_dispatches;
	char folder[40];	  /* of the program */
	uint64_t ended[REQUESTS]; /* calls that control gave up, in order */
	size_t ends;
	int16_t sound[SOUND];
} w;

static void on_question(struct http_exchange *x, const uint8_t *data, size_t n, bool last,
			void *arg)
{
	static const char form[] =
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":"
		"0,\"delta\":{\"content\":\"[[TO: person]] So it goes on and on, and then a bit "
		"more. \"}}]}\n\n"
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":"
		"0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_%u\",\"type\":"
		"\"function\",\"function\":{\"name\":\"%s__wait\",\"arguments\":\"{\\\"n\\\":%u}"
		"\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
	char text[sizeof form + 24];
	int size;

	(void)data, (void)n, (void)last, (void)arg;
	if (w.n == REQUESTS)
		bench_die("too many requests");
	size = snprintf(text, sizeof text, form, w.n, w.n % 2 ? "near" : "far", w.n);
	w.called[w.n++] = bench_clock();
	http_reply(x, 200, "text/event-stream", text, (size_t)size);
}

static void on_speech(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	(void)data, (void)n, (void)last, (void)arg;
	http_reply(x, 200, "audio/pcm", w.sound, sizeof w.sound);
}

static void on_gone(struct http_exchange *x, void *arg)
{
	(void)x, (void)arg;
	if (w.ends < REQUESTS)
		w.ended[w.ends++] = bench_clock();
}

static void note_call(const json_t *params)
{
	json_int_t n =
		json_integer_value(json_object_get(json_object_get(params, "arguments"), "n"));

	if (n < 0 || n >= w.n)
		bench_die("a call that nobody made");
	w.dispatch[w.dispatches++] = (double)(bench_clock() - w.called[n]) / 1e6;
}

static void on_mcp(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	json_t *root = json_loadb((const char *)data, n, 0, NULL);
	const char *method = json_string_value(json_object_get(root, "method")), *result = NULL;
	char text[400];

	(void)last, (void)arg;
	if (!method)
		bench_die("a message without a method");
	if (strcmp(method, "server/discover") == 0)
		result = "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}";
	else if (strcmp(method, "tools/list") == 0)
		result = "{\"tools\":[{\"name\":\"wait\",\"inputSchema\":{\"type\":\"object\","
			 "\"properties\":{\"n\":{\"type\":\"integer\"}}}}]}";
	if (result) {
		http_reply(x, 200, "application/json", text,
			   (size_t)snprintf(text, sizeof text,
					    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}",
					    (int)json_integer_value(json_object_get(root, "id")),
					    result));
	} else {
		http_on_gone(x, on_gone, NULL);
		note_call(json_object_get(root, "params"));
	}
	json_decref(root);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	static const struct http_body_limits limits = {.max = BODY_MAX};

	(void)arg;
	http_take_body(x, &limits,
		       strcmp(head->path, "/v1/audio/speech") == 0 ? on_speech
		       : strcmp(head->path, "/mcp") == 0	   ? on_mcp
								   : on_question,
		       NULL);
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What the program wrote down. */
static void read_stamps(void)
{
	char path[64], what[8];
	unsigned n;
	unsigned long long at;
	FILE *f;

	snprintf(path, sizeof path, "%s/stamps", w.folder);
	f = fopen(path, "r");
	if (!f)
		bench_die("the program has read no call");
	while (fscanf(f, "%7s %u %llu", what, &n, &at) == 3) {
		if (strcmp(what, "ended") == 0 && w.ends < REQUESTS)
			w.ended[w.ends++] = at;
		else if (strcmp(what, "called") == 0 && n < w.n)
			w.stdin_dispatch[w.stdin_dispatches++] = (double)(at - w.called[n]) / 1e6;
	}
	fclose(f);
	unlink(path);
	rmdir(w.folder);
	qsort(w.ended, w.ends, sizeof w.ended[0], compare_times);
}

static void print_dispatch(void)
{
	bool worse =
		w.stdin_dispatches && bench_quantile(w.stdin_dispatch, w.stdin_dispatches, 0.99) >
					      bench_quantile(w.dispatch, w.dispatches, 0.99);

	fprintf(stderr, "tool_dispatch: p99 to HTTP %.2f ms (n %zu), to a stdin %.2f ms (n %zu)\n",
		bench_quantile(w.dispatch, w.dispatches, 0.99), w.dispatches,
		bench_quantile(w.stdin_dispatch, w.stdin_dispatches, 0.99), w.stdin_dispatches);
	scripted_row("tool_dispatch_p99_ms", worse ? w.stdin_dispatch : w.dispatch,
		     worse ? w.stdin_dispatches : w.dispatches, w.n);
}

int main(void)
{
	static const char *const settings[] = {"PARLEY_TOOL_CALLS_A_MINUTE=120",
					       "PARLEY_TOOL_READS_A_MINUTE=120", NULL};
	unsigned asks = rooms_number("BENCH_ASKS", 150, REQUESTS / 2);
	static char config[800];
	char *program = realpath("build/tests/mcp_server", NULL);
	struct scripted scripted = {0};
	struct rooms_conf conf = {
		.settings = scripted.settings, .config = config, .journals = true};
	static double cancel[REQUESTS];
	size_t n = 0;

	snprintf(w.folder, sizeof w.folder, "/tmp/parley-stamps-XXXXXX");
	if (!program || !mkdtemp(w.folder))
		bench_die("build/tests/mcp_server is not built");
	speech_make(w.sound, SOUND, RATE, 2);
	scripted_open(&scripted, settings, on_request);
	snprintf(config, sizeof config,
		 "{\"mcp_servers\":[{\"name\":\"far\",\"transport\":\"http\",\"effects\":\"none\","
		 "\"url\":\"http://127.0.0.1:%u/mcp\"},{\"name\":\"near\",\"command\":[\"%s\","
		 "\"stamps\"],\"read\":[\"%s\"],\"folder\":\"%s\",\"effects\":\"none\"}]}",
		 http_server_port(scripted.server), program, program, w.folder);
	scripted_run(&conf, &w.n, asks);
	read_stamps();
	for (unsigned i = 0; i < rooms_count(); i++)
		n += journal_times_after_cuts(i, w.ended, w.ends, cancel + n);
	print_dispatch();
	scripted_row("tool_cancel_p99_ms", cancel, n, w.dispatches + w.stdin_dispatches);
	scripted_close(&scripted);
	free(program);
	return 0;
}
