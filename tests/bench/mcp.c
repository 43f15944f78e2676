/* mcp_call_overhead_ms: a call of a tool of an MCP server that is a program in its sandbox, from
 * mcp_server_call to its result, less the time in which the server worked on it.
 *
 *   BENCH_CALLS=n   calls (3000) */
#include "control/mcp/server.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MAX = 100000, LIMIT_S = 120, CALL_MS = 5000 };

static struct {
	struct env *env;
	struct mcp_server *server;
	struct tmr *limit;
	uint64_t from;
	double ms[CALLS_MAX];
	unsigned n, calls;
	bool ready;
} w;

static void call(void)
{
	w.from = bench_clock();
	BENCH_OK(mcp_server_call(w.server, w.n + 1, MCP_CALL_TOOL, "spent", NULL, CALL_MS));
}

static void on_change(struct mcp_server *server, void *arg)
{
	(void)arg;
	if (w.ready || mcp_state(mcp_server_client(server)) != MCP_READY)
		return;
	w.ready = true;
	w.server = server;
	call();
}

static void on_result(uint64_t number, const struct mcp_result *result, void *arg)
{
	double ns = (double)(bench_clock() - w.from);

	(void)number;
	(void)arg;
	if (result->outcome != MCP_DONE)
		bench_die("a call failed: %s", result->text);
	w.ms[w.n++] = (ns - strtod(result->text, NULL)) / 1e6;
	if (w.n == w.calls)
		env_stop(w.env);
	else
		call();
}

static void on_progress(uint64_t number, double share, const char *text, void *arg)
{
	(void)number;
	(void)share;
	(void)text;
	(void)arg;
}

static void on_limit(void *arg)
{
	(void)arg;
	bench_die("%u calls in %d s: %s", w.n, LIMIT_S, mcp_server_why(w.server));
}

int main(void)
{
	const char *calls = getenv("BENCH_CALLS");
	struct mcp_record record = {.name = "toy"};
	char *program, bwrap[200];
	struct mcp_server_conf conf = {.record = &record,
				       .bwrap = bwrap,
				       .version = "1",
				       .changeh = on_change,
				       .resulth = on_result,
				       .progressh = on_progress};

	w.calls = calls ? (unsigned)strtoul(calls, NULL, 10) : 3000;
	if (!w.calls || w.calls > CALLS_MAX)
		bench_die("BENCH_CALLS is 1 to %d", CALLS_MAX);
	program = realpath("build/tests/mcp_server", NULL);
	if (!program)
		bench_die("build/tests/mcp_server is not built");
	snprintf(record.command, sizeof record.command, "[\"%s\",\"good\"]", program);
	snprintf(record.read, sizeof record.read, "[\"%s\"]", program);
	free(program);
	BENCH_OK(env_alloc(&w.env, &(struct env_conf){.loop = true}));
	BENCH_OK(spawn_locate(w.env, "bwrap", bwrap, sizeof bwrap));
	BENCH_OK(tmr_alloc(&w.limit, w.env, on_limit, NULL));
	tmr_start(w.limit, LIMIT_S * NS_PER_S);
	conf.env = w.env;
	BENCH_OK(mcp_server_alloc(&w.server, &conf));
	env_run(w.env);
	bench_raw("mcp_call_overhead_ms", w.ms, w.n);
	bench_row_more("mcp_call_overhead_ms", bench_quantile(w.ms, w.n, 0.99), "ms",
		       "\"p50\": %.3f, \"max\": %.3f, \"n\": %u", bench_quantile(w.ms, w.n, 0.5),
		       bench_quantile(w.ms, w.n, 1), w.n);
	mcp_server_free(w.server);
	tmr_free(w.limit);
	env_free(w.env);
	return 0;
}
