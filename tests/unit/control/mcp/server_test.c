/* A server of MCP as a program and over HTTP, with scripted servers on the same loop. */
#include "control/mcp/server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/settings/record.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/mcp/toy_http.h"
#include "tests/unit/ipc/loop.h"

static struct rig {
	struct env *env;
	struct mcp_server *server;
	struct mcp_record record;
	enum mcp_state until; /* stops the loop */
	unsigned results, stop_results, readies;
	enum mcp_outcome outcome;
	char text[200];
} rig;

static void on_change(struct mcp_server *server, void *arg)
{
	(void)arg;
	rig.readies += mcp_state(mcp_server_client(server)) == MCP_READY;
	if (mcp_state(mcp_server_client(server)) == rig.until)
		env_stop(rig.env);
}

static void on_result(uint64_t call, const struct mcp_result *result, void *arg)
{
	(void)call;
	(void)arg;
	rig.results++;
	rig.outcome = result->outcome;
	snprintf(rig.text, sizeof rig.text, "%s", result->text);
	if (rig.results == rig.stop_results)
		env_stop(rig.env);
}

static void on_progress(uint64_t call, double share, const char *text, void *arg)
{
	(void)call;
	(void)share;
	(void)text;
	(void)arg;
}

static int begin(struct env *env, struct http *http, const char *bwrap)
{
	struct mcp_server_conf conf = {.env = env,
				       .http = http,
				       .record = &rig.record,
				       .bwrap = bwrap,
				       .version = "1",
				       .changeh = on_change,
				       .resulth = on_result,
				       .progressh = on_progress};

	rig.env = env;
	return mcp_server_alloc(&rig.server, &conf);
}

/* ---- programs ---- */

/* Stands where bubblewrap would: answers by the request's number, and tells its environment. */
static const char program[] =
	"#!/bin/sh\n"
	"e='\"error\":{\"code\":-32601,\"message\":\"no\"}'\n"
	"i='\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}}}'\n"
	"t='\"result\":{\"tools\":[{\"name\":\"tell\",\"inputSchema\":{}}]}'\n"
	"n=0\n"
	"while read -r line; do\n"
	"  case $line in\n"
	"  *die*) exit 3 ;;\n"
	"  *flood*) head -c 40000000 /dev/zero ;;\n"
	"  *tell*) echo "
	"\"{\\\"id\\\":4,\\\"result\\\":{\\\"content\\\":[{\\\"type\\\":\\\"text\\\","
	"\\\"text\\\":\\\"$NAME $KEY ${HOME-none}\\\"}]}}\" ;;\n"
	"  *server/discover*) echo \"{\\\"id\\\":1,$e}\" ;;\n"
	"  *protocolVersion*) echo \"{\\\"id\\\":2,$i}\" ;;\n"
	"  *tools/list*) echo \"{\\\"id\\\":3,$t}\" ;;\n"
	"  esac\n"
	"done\n";

static bool write_program(const char *path, const char *text)
{
	size_t n = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	bool fine = fd >= 0 && write(fd, text, n) == (ssize_t)n;

	close(fd);
	return fine;
}

static struct script {
	char dir[32], path[64];
	struct loop loop;
} script;

static bool open_script(void)
{
	memset(&rig, 0, sizeof rig);
	if (!folder_make(script.dir))
		return false;
	snprintf(script.path, sizeof script.path, "%s/server", script.dir);
	snprintf(rig.record.name, sizeof rig.record.name, "toy");
	snprintf(rig.record.command, sizeof rig.record.command, "[\"any\"]");
	rig.until = MCP_READY;
	return write_program(script.path, program) && loop_open(&script.loop, NULL) == 0;
}

static bool run_script(void)
{
	return begin(script.loop.env, NULL, script.path) == 0 && loop_run(&script.loop);
}

static void close_script(void)
{
	mcp_server_free(rig.server);
	loop_close(&script.loop);
	folder_remove(script.dir);
}

TEST(mcp_server_runs_a_program_with_the_environment_that_it_was_given)
{
	CHECK(open_script());
	snprintf(rig.record.environment, sizeof rig.record.environment, "{\"NAME\":\"Ann\"}");
	snprintf(rig.record.secrets, sizeof rig.record.secrets, "{\"KEY\":\"/a/file\"}");
	snprintf(rig.record.values, sizeof rig.record.values,
		 "{\"KEY\":\"hush\",\"Authorization\":\"of headers\"}");
	CHECK(run_script());
	rig.stop_results = 1;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "tell", NULL, 5000), 0);
	CHECK(loop_run(&script.loop));
	CHECK_STR(rig.text, "Ann hush none");
	/* It ends: the call is lost, and it is started again. */
	rig.stop_results = 2;
	CHECK_INT(mcp_server_call(rig.server, 2, MCP_CALL_TOOL, "die", NULL, 5000), 0);
	CHECK(loop_run(&script.loop));
	CHECK_INT(rig.outcome, MCP_LOST);
	close_script();
}

/* No line of it ever ends, so that no message is counted. */
TEST(mcp_server_refuses_a_program_that_floods_its_stdout_without_lines)
{
	CHECK(open_script());
	CHECK(run_script());
	rig.stop_results = 1;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "flood", NULL, 60000), 0);
	CHECK(loop_run(&script.loop));
	CHECK_INT(rig.outcome, MCP_LOST);
	CHECK(strstr(mcp_server_why(rig.server), "floods its connection"));
	close_script();
}

/* Replaces the program by one that says this and ends, and waits until that is told. */
static const char *tell_end_of(const char *text)
{
	static char why[MCP_WHY_MAX];

	if (!open_script() || unlink(script.path) || !write_program(script.path, text))
		return "no script";
	snprintf(rig.record.values, sizeof rig.record.values, "{\"KEY\":\"hush\"}");
	if (begin(script.loop.env, NULL, script.path) == 0)
		for (unsigned i = 0; i < 200 && !strstr(mcp_server_why(rig.server), "ended"); i++)
			loop_run_for(&script.loop, 20 * NS_PER_MS);
	snprintf(why, sizeof why, "%s", mcp_server_why(rig.server));
	close_script();
	return why;
}

TEST(mcp_server_tells_what_its_program_said_before_it_ended)
{
	CHECK_STR(tell_end_of("#!/bin/sh\n"
			      "echo \"bwrap: Can't find source path /opt/mcp\" >&2\n"
			      "exit 1\n"),
		  "its program ended with status 1: bwrap: Can't find source path /opt/mcp");
	CHECK_STR(tell_end_of("#!/bin/sh\n"
			      "echo 'node:internal/modules/cjs/loader:1228' >&2\n"
			      "echo 'Error: Cannot find module /opt/mcp/index.js' >&2\n"
			      "echo 'Node.js v20.1' >&2\n"
			      "exit 1\n"),
		  "its program ended with status 1: Error: Cannot find module /opt/mcp/index.js");
	CHECK_STR(tell_end_of("#!/bin/sh\necho 'Error: the key hush is wrong' >&2\nexit 1\n"),
		  "its program ended with status 1");
	CHECK_STR(tell_end_of("#!/bin/sh\necho 'nothing to do' >&2\nexit 0\n"),
		  "its program ended with status 0");
}

TEST(mcp_server_runs_no_program_without_a_sandbox)
{
	struct loop loop;

	memset(&rig, 0, sizeof rig);
	CHECK_INT(loop_open(&loop, NULL), 0);
	snprintf(rig.record.command, sizeof rig.record.command, "[\"any\"]");
	CHECK_INT(begin(loop.env, NULL, NULL), 0);
	loop_run_for(&loop, 20 * NS_PER_MS);
	CHECK(strstr(mcp_server_why(rig.server), "no sandbox"));
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "tell", NULL, 5000), ENOTCONN);
	mcp_server_free(rig.server);
	loop_close(&loop);
}

/* ---- addresses ---- */

static void address(const char *base)
{
	memset(&rig, 0, sizeof rig);
	memset(&toy_http, 0, sizeof toy_http);
	snprintf(rig.record.name, sizeof rig.record.name, "far");
	rig.record.transport = 1;
	snprintf(rig.record.url, sizeof rig.record.url, "%s/mcp", base);
	snprintf(rig.record.headers, sizeof rig.record.headers, "{\"Authorization\":\"/a/file\"}");
	snprintf(rig.record.values, sizeof rig.record.values,
		 "{\"Authorization\":\"Bearer hush\",\"KEY\":\"of a program\"}");
}

/* Runs until the server behind the address is ready. */
static bool open_address(struct fake_http *f,
			 void (*serve)(struct fake_http *f, struct evhttp_request *req))
{
	if (!fake_http_begin(f, serve, NULL))
		return false;
	address(f->base);
	rig.until = MCP_READY;
	if (begin(f->env, f->http, NULL))
		return false;
	env_run(f->env);
	return mcp_state(mcp_server_client(rig.server)) == MCP_READY;
}

static void close_address(struct fake_http *f)
{
	mcp_server_free(rig.server);
	CHECK(!f->timed_out);
	fake_http_end(f);
}

TEST(mcp_server_speaks_over_http_in_a_session)
{
	static struct fake_http f;

	CHECK(open_address(&f, toy_http_serve));
	CHECK_STR(toy_http.session, "s1");
	CHECK_STR(toy_http.revision, "2025-11-25");
	CHECK_STR(toy_http.secret, "Bearer hush");
	rig.stop_results = 1;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(f.env);
	CHECK_INT(rig.outcome, MCP_DONE);
	CHECK_STR(rig.text, "spoken");
	/* The server has no stream to listen to: it is requested once. */
	rig.stop_results = 4;
	for (uint64_t i = 2; i <= 4; i++)
		CHECK_INT(mcp_server_call(rig.server, i, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(f.env);
	CHECK_INT(toy_http.listens, 1);
	close_address(&f);
}

TEST(mcp_server_opens_a_session_anew_when_the_server_forgot_it)
{
	static struct fake_http f;

	CHECK(open_address(&f, toy_http_serve));
	toy_http.forgets = true;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(f.env);
	CHECK(rig.results == 1 && rig.outcome == MCP_LOST);
	CHECK_STR(toy_http.session, "s2");
	rig.stop_results = 2;
	CHECK_INT(mcp_server_call(rig.server, 2, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(f.env);
	CHECK_INT(rig.outcome, MCP_DONE);
	close_address(&f);
}

/* One call is wrong; then the server, started again, rejects all until a session is opened. */
TEST(mcp_server_keeps_its_session_over_one_bad_request)
{
	static struct fake_http f;

	CHECK(open_address(&f, toy_http_serve));
	rig.until = MCP_CLOSED;
	for (unsigned i = 1; i <= 3; i++) {
		toy_http.rejects = i % 2;
		rig.stop_results = i;
		CHECK_INT(mcp_server_call(rig.server, i, MCP_CALL_TOOL, "say", NULL, 5000), 0);
		env_run(f.env);
		CHECK_INT(rig.outcome, i % 2 ? MCP_REFUSES : MCP_DONE);
	}
	CHECK_INT(toy_http.sessions, 1);
	toy_http.rejects = 1;
	rig.until = MCP_READY;
	rig.stop_results = 0;
	CHECK_INT(mcp_server_call(rig.server, 4, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(f.env);
	CHECK_INT(rig.results, 4);
	CHECK_INT(toy_http.sessions, 2);
	close_address(&f);
}

static void hold(struct fake_http *f, struct evhttp_request *req)
{
	fake_http_open(f, req, "text/event-stream");
	env_stop(f->env);
}

TEST(mcp_server_may_be_freed_while_it_is_being_asked)
{
	static struct fake_http f;

	CHECK(fake_http_begin(&f, hold, NULL));
	address(f.base);
	CHECK_INT(begin(f.env, f.http, NULL), 0);
	env_run(f.env);
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 5000), ENOTCONN);
	close_address(&f);
}

static void flood(struct fake_http *f, struct evhttp_request *req)
{
	static char comments[MCP_READ_BYTES + 100];

	if (!strstr((const char *)f->body, "tools/call")) {
		toy_http_serve(f, req);
		return;
	}
	memset(comments, '\n', sizeof comments);
	for (size_t i = 0; i < sizeof comments; i += 2)
		comments[i] = ':';
	fake_http_open(f, req, "text/event-stream");
	fake_http_piece(req, comments, sizeof comments);
}

/* Comments of a stream are no messages either. */
TEST(mcp_server_refuses_an_address_that_floods_its_stream_without_data)
{
	static struct fake_http f;

	CHECK(open_address(&f, flood));
	rig.stop_results = 1;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 60000), 0);
	env_run(f.env);
	CHECK_INT(rig.outcome, MCP_LOST);
	CHECK(strstr(mcp_server_why(rig.server), "floods its connection"));
	close_address(&f);
}
