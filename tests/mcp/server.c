/* A server of MCP as a program, of the legacy era, for tests and benches:
 *
 *   mcp_server good    answers
 *   mcp_server mute    reads nothing and answers nothing
 *   mcp_server hangs   once its tools are listed, reads and answers nothing
 *   mcp_server spins   once its tools are listed, keeps a core busy
 *   mcp_server floods  once its tools are listed, tells without end that the list has changed
 *   mcp_server stamps  answers no call, and writes when calls and cancellations came ("called N
 * NS", "ended 0 NS", CLOCK_MONOTONIC) into the file stamps of its folder; its tool wait takes an n
 *
 * Tools: echo {text} gives the text; spent gives how long the server held the call, in ns, as a
 * decimal number; wait {ms} answers after so long, and reads nothing meanwhile; die ends the
 * program without an answer. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char tools[] =
	"{\"tools\":["
	"{\"name\":\"echo\",\"description\":\"Says the text again.\",\"inputSchema\":{\"type\":"
	"\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"pattern\":\".\"}}},"
	"\"annotations\":{\"readOnlyHint\":true}},"
	"{\"name\":\"spent\",\"description\":\"Tells the time that the server took.\","
	"\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}},"
	"{\"name\":\"wait\",\"description\":\"Takes its time.\",\"inputSchema\":{\"type\":"
	"\"object\",\"properties\":{\"ms\":{\"type\":\"integer\"}}},\"annotations\":{"
	"\"readOnlyHint\":true}},"
	"{\"name\":\"die\",\"description\":\"Ends the server.\",\"inputSchema\":{\"type\":"
	"\"object\"},\"annotations\":{\"readOnlyHint\":true}}]}";

static struct timespec read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

/* Steals result. */
static void answer(const json_t *id, const char *member, json_t *result)
{
	json_t *root = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, member, result);

	json_dumpf(root, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(root);
}

static void answer_text(const json_t *id, const char *text)
{
	answer(id, "result",
	       json_pack("{s:[{s:s, s:s}]}", "content", "type", "text", "text", text));
}

static void run_tool(const json_t *id, const json_t *params, const struct timespec *from)
{
	const char *name = json_string_value(json_object_get(params, "name"));
	const json_t *arguments = json_object_get(params, "arguments");
	const char *text = json_string_value(json_object_get(arguments, "text"));
	json_int_t ms = json_integer_value(json_object_get(arguments, "ms"));
	struct timespec now, wait = {ms / 1000, ms % 1000 * 1000000};
	char spent[32];

	if (name && strcmp(name, "die") == 0)
		exit(3);
	if (name && strcmp(name, "wait") == 0)
		nanosleep(&wait, NULL);
	now = read_clock();
	snprintf(spent, sizeof spent, "%lld",
		 (now.tv_sec - from->tv_sec) * 1000000000LL + now.tv_nsec - from->tv_nsec);
	answer_text(id, text ? text : name && strcmp(name, "spent") == 0 ? spent : "done");
}

static void write_stamp(const char *what, json_int_t n, const struct timespec *at)
{
	FILE *f = fopen("stamps", "a");

	if (!f)
		exit(4);
	fprintf(f, "%s %lld %lld\n", what, (long long)n, at->tv_sec * 1000000000LL + at->tv_nsec);
	fclose(f);
}

/* True if the message is one that this mode only notes. */
static bool note_message(const char *method, const json_t *params, const struct timespec *at)
{
	const json_t *arguments = json_object_get(params, "arguments");

	if (method && strcmp(method, "notifications/cancelled") == 0)
		write_stamp("ended", 0, at);
	else if (method && strcmp(method, "tools/call") == 0)
		write_stamp("called", json_integer_value(json_object_get(arguments, "n")), at);
	else
		return false;
	return true;
}

static _Noreturn void flood(void)
{
	for (;;)
		puts("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
}

static _Noreturn void hang(void)
{
	for (;;)
		pause();
}

static _Noreturn void spin(void)
{
	for (volatile unsigned long n = 0;; n++)
		;
}

static void end_listing(const char *mode)
{
	if (strcmp(mode, "floods") == 0)
		flood();
	if (strcmp(mode, "hangs") == 0)
		hang();
	if (strcmp(mode, "spins") == 0)
		spin();
}

static void take_line(const char *line, const char *mode)
{
	struct timespec from = read_clock();
	json_t *root = json_loads(line, 0, NULL);
	const json_t *id = json_object_get(root, "id");
	const char *method = json_string_value(json_object_get(root, "method"));

	if ((strcmp(mode, "stamps") == 0 &&
	     note_message(method, json_object_get(root, "params"), &from)) ||
	    !id || !method) {
		json_decref(root);
		return;
	}
	if (strcmp(method, "initialize") == 0)
		answer(id, "result",
		       json_pack("{s:s, s:{s:{s:b}}, s:{s:s, s:s}}", "protocolVersion",
				 "2025-11-25", "capabilities", "tools", "listChanged", 1,
				 "serverInfo", "name", "toy", "version", "1"));
	else if (strcmp(method, "tools/list") == 0)
		answer(id, "result", json_loads(tools, 0, NULL));
	else if (strcmp(method, "tools/call") != 0)
		answer(id, "error",
		       json_pack("{s:i, s:s}", "code", -32601, "message", "Method not found"));
	else
		run_tool(id, json_object_get(root, "params"), &from);
	if (strcmp(method, "tools/list") == 0)
		end_listing(mode);
	json_decref(root);
}

int main(int argc, char **argv)
{
	static char line[1 << 16];

	if (argc != 2) {
		fprintf(stderr, "usage: mcp_server good|mute|hangs|spins|floods|stamps\n");
		return 2;
	}
	if (strcmp(argv[1], "mute") == 0)
		hang();
	while (fgets(line, sizeof line, stdin))
		take_line(line, argv[1]);
	return 0;
}
