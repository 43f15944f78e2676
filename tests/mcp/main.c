/* A client of one server of MCP, as control is one, for tests beside servers that nobody here
 * wrote:
 *
 *   mcp RECORD [TOOL ARGUMENTS]...     RECORD: an entry of mcp_servers in JSON, or the URL of a
 * server
 *
 * Prints the server, its tools, and each result, and ends: 0 when every call was answered, 1 when
 * the server could not be used or 20 s have passed. With a URL alone it calls every tool that has
 * no needed argument. A call whose tool is "cancel:TOOL" is cancelled after 300 ms. Arguments
 * "@TOOL" are {"schema": the schema of that tool}. STATE_DIRECTORY: where sign-ins are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/mcp/server.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { LIMIT_S = 20, CALL_MS = 10000, CANCEL_MS = 300 };

static struct {
	struct env *env;
	struct mcp_server *server;
	struct tmr *limit, *cancel;
	char **argv;
	int argc, at;
	size_t tool;
	uint64_t call;
	bool ready, failed, all;
} run;

static void next(void);

static void finish(bool failed)
{
	run.failed = run.failed || failed;
	env_stop(run.env);
}

static void on_cancel(void *arg)
{
	(void)arg;
	mcp_server_cancel(run.server, run.call, "stopped");
}

static json_t *read_arguments(const char *text)
{
	size_t n;
	const struct mcp_tool *t = mcp_tools(mcp_server_client(run.server), &n);

	for (size_t i = 0; *text == '@' && i < n; i++)
		if (strcmp(t[i].name, text + 1) == 0)
			return json_pack("{s:O}", "schema", t[i].schema);
	return json_loads(text, 0, NULL);
}

static void begin_call(const char *name, const char *arguments)
{
	bool cancel = strncmp(name, "cancel:", 7) == 0;
	json_t *args = read_arguments(arguments);
	int err = mcp_server_call(run.server, ++run.call, MCP_CALL_TOOL, cancel ? name + 7 : name,
				  args, CALL_MS);

	json_decref(args);
	if (err) {
		printf("call %s: %s\n", name, strerror(err));
		finish(true);
	} else if (cancel) {
		tmr_start(run.cancel, CANCEL_MS * NS_PER_MS);
	}
}

static bool needs_arguments(const struct mcp_tool *t)
{
	return json_array_size(json_object_get(t->schema, "required")) > 0;
}

static void next(void)
{
	size_t n;
	const struct mcp_tool *t = mcp_tools(mcp_server_client(run.server), &n);

	if (run.at + 1 < run.argc) {
		run.at += 2;
		begin_call(run.argv[run.at - 2], run.argv[run.at - 1]);
		return;
	}
	while (run.all && run.tool < n && needs_arguments(&t[run.tool]))
		run.tool++;
	if (run.all && run.tool < n)
		begin_call(t[run.tool++].name, "{}");
	else
		finish(false);
}

static void on_change(struct mcp_server *server, void *arg)
{
	const struct mcp *m = mcp_server_client(server);
	size_t n;
	const struct mcp_tool *t = mcp_tools(m, &n);

	(void)arg;
	if (mcp_state(m) == MCP_REFUSED) {
		printf("refused: %s\n", mcp_why(m));
		finish(true);
	}
	if (mcp_state(m) != MCP_READY || run.ready)
		return;
	run.ready = true;
	printf("ready: %s %s\n", mcp_server(m), mcp_revision(m));
	for (size_t i = 0; i < n; i++)
		printf("tool: %s\n", t[i].name);
	next();
}

static void on_result(uint64_t call, const struct mcp_result *result, void *arg)
{
	static const char *const names[] = {"done", "failed",	 "refused",
					    "late", "cancelled", "lost"};

	(void)call;
	(void)arg;
	printf("%s: %s\n", names[result->outcome], result->text);
	next();
}

static void on_progress(uint64_t call, double share, const char *text, void *arg)
{
	(void)call;
	(void)arg;
	printf("progress: %.2f %s\n", share, text);
}

static void on_limit(void *arg)
{
	(void)arg;
	printf("time is over: %s\n", mcp_server_why(run.server));
	finish(true);
}

static struct mcp_record *read_record(struct settings *s, const char *text)
{
	char list[4096];

	if (*text == '{')
		snprintf(list, sizeof list, "[%s]", text);
	else
		snprintf(list, sizeof list,
			 "[{\"name\":\"server\",\"transport\":\"http\",\"url\":\"%s\"}]", text);
	if (settings_set(s, "mcp_servers", list) || !s->records.n[RECORD_KIND_MCP])
		return NULL;
	return &s->records.mcp[0];
}

int main(int argc, char **argv)
{
	struct settings *settings = NULL;
	struct http *http = NULL;
	struct mcp_record *record;
	char bwrap[512];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2 || settings_alloc(&settings) || !(record = read_record(settings, argv[1]))) {
		fprintf(stderr, "usage: mcp RECORD|URL [TOOL ARGUMENTS]...\n");
		return 2;
	}
	run.argv = argv;
	run.argc = argc;
	run.at = 2;
	run.all = argc == 2;
	if (env_alloc(&run.env, &(struct env_conf){.loop = true}) ||
	    http_alloc(&http, run.env, NULL, "parley-test") ||
	    tmr_alloc(&run.limit, run.env, on_limit, NULL) ||
	    tmr_alloc(&run.cancel, run.env, on_cancel, NULL))
		return 1;
	tmr_start(run.limit, LIMIT_S * NS_PER_S);
	if (mcp_server_alloc(
		    &run.server,
		    &(struct mcp_server_conf){
			    .env = run.env,
			    .http = http,
			    .state_dir = getenv("STATE_DIRECTORY"),
			    .record = record,
			    .bwrap = spawn_find("bwrap", bwrap, sizeof bwrap) ? NULL : bwrap,
			    .version = "1",
			    .changeh = on_change,
			    .resulth = on_result,
			    .progressh = on_progress}))
		return 1;
	env_run(run.env);
	mcp_server_free(run.server);
	tmr_free(run.limit);
	tmr_free(run.cancel);
	http_free(http);
	env_free(run.env);
	settings_free(settings);
	return run.failed;
}
