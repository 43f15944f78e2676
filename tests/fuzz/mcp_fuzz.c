/* A server of MCP that sends what it likes, line by line, to a client that opens, calls and
 * cancels: no input may crash, leak or pass a bound, and every call gets exactly one result. The
 * first byte chooses the transport; lines that begin with ! are commands. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/mcp.h"
#include "proto/base/utf8.h"
#include "tests/fuzz/peer_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 64 };

struct state {
	struct mcp *m;
	uint64_t now;
	unsigned calls, results[CALLS];
	uint32_t id;
};

static void on_send(const struct mcp_message *message, void *arg)
{
	struct state *s = arg;

	require(message->n == strlen(message->text) && !strchr(message->text, '\n'));
	for (unsigned i = 0; message->headers && message->headers[i]; i++)
		require(!strpbrk(message->headers[i], "\r\n"));
	if (message->id)
		s->id = message->id;
}

static void on_drop(uint32_t id, void *arg)
{
	(void)arg;
	require(id);
}

static void on_change(void *arg)
{
	struct state *s = arg;
	size_t n;
	const struct mcp_tool *t = mcp_tools(s->m, &n);

	require(n <= MCP_TOOLS_MAX);
	for (size_t i = 0; i < n; i++)
		require(*t[i].name && json_is_object(t[i].schema) && utf8_valid(t[i].description));
}

static void on_result(uint64_t call, const struct mcp_result *result, void *arg)
{
	struct state *s = arg;

	require(call < s->calls && !s->results[call]++);
	require(result->n <= MCP_RESULT_MAX && utf8_valid(result->text));
}

static void on_progress(uint64_t call, double share, const char *text, void *arg)
{
	const struct state *s = arg;

	require(call < s->calls && !s->results[call] && share <= 1 && utf8_valid(text));
}

static void run_command(const uint8_t *p, size_t n, void *arg)
{
	struct state *s = arg;

	switch (n ? p[0] : 0) {
	case 'o':
		mcp_open(s->m, s->now);
		break;
	case 'x':
		mcp_close(s->m);
		break;
	case 'c':
		if (s->calls < CALLS &&
		    mcp_call(s->m, s->calls++, (enum mcp_verb)(n % 5), "echo", NULL, 1000, s->now))
			s->results[s->calls - 1]++;
		break;
	case 'k':
		mcp_cancel(s->m, n > 1 ? p[1] % CALLS : 0, "enough");
		break;
	case 't':
		s->now += UINT64_C(1000000000) * n;
		mcp_timer(s->m, s->now);
		break;
	case 'u':
		mcp_unanswered(s->m, s->id, n > 1 ? 400 + p[1] % 10 : 0, NULL, s->now);
		break;
	default:
		break;
	}
}

static void take_message(const char *p, size_t n, void *arg)
{
	struct state *s = arg;

	mcp_receive(s->m, p, n, s->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state s = {.now = 1};
	struct mcp_conf conf = {.client = "parley",
				.version = "1",
				.http = size && data[0] % 2,
				.sendh = on_send,
				.droph = on_drop,
				.changeh = on_change,
				.resulth = on_result,
				.progressh = on_progress,
				.arg = &s};

	if (!size || mcp_alloc(&s.m, &conf))
		return 0;
	mcp_open(s.m, s.now);
	feed_peer_lines(data, size, run_command, take_message, &s);
	mcp_close(s.m);
	for (unsigned i = 0; i < s.calls; i++)
		require(s.results[i] == 1);
	mcp_free(s.m);
	return 0;
}
