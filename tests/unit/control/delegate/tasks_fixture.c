#include "tests/unit/control/delegate/tasks_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/media.h"
#include "tests/unit/control/jail/fake_sandbox.h"

enum { LIST_SIZE = 600 };

struct tasks_fixture tasks;

static void on_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	unsigned at = tasks.outputs++ % OUTPUTS;

	(void)arg;
	tasks.output[at].id = id;
	tasks.output[at].ok = ok;
	snprintf(tasks.output[at].text, sizeof tasks.output[at].text, "%.*s", (int)text.n,
		 (const char *)text.p);
	if (tasks.outputs == tasks.until)
		env_stop(tasks.loop.env);
}

static void on_progress(uint32_t id, const char *text, void *arg)
{
	(void)id;
	(void)arg;
	tasks.tellings++;
	snprintf(tasks.progress, sizeof tasks.progress, "%s", text);
	env_stop(tasks.loop.env);
}

static int on_write(const char *text, void *arg)
{
	(void)arg;
	tasks.writings++;
	tasks.written += strlen(text);
	return strlen(text) > 2000;
}

static void on_changed(void *arg)
{
	(void)arg;
	tasks.changes++;
}

static int on_ask(const struct engine_ask *ask, void *arg)
{
	(void)arg;
	tasks.turn = ask->turn;
	tasks.tools = ask->n_tools;
	tasks.messages = ask->n;
	snprintf(tasks.last, sizeof tasks.last, "%s", ask->messages[ask->n - 1].text);
	tasks.asks++;
	return 0;
}

static void on_stop(uint32_t turn, void *arg)
{
	(void)arg;
	tasks.stopped = turn;
}

static enum tool_verdict judge_call(const struct tool_request *request, void *arg)
{
	(void)arg;
	return tool_policy_lists(tasks.settings->tools_off, request->row->name) ? TOOL_OFF
										: TOOL_ALLOWED;
}

static void on_called(const struct tool_output *call, void *arg)
{
	size_t n = strlen(tasks.called);

	(void)arg;
	snprintf(tasks.called + n, sizeof tasks.called - n, "%s %s ",
		 call->type == TOOL_DO_JOURNAL ? "began" : tool_code_name(call->code), call->tool);
}

bool tasks_open(const char *workers)
{
	const struct tool_host host = {
		.outputh = on_output, .progressh = on_progress, .writeh = on_write};

	memset(&tasks, 0, sizeof tasks);
	if (!folder_make(tasks.dir) || !fake_sandbox(tasks.dir, tasks.path, sizeof tasks.path))
		return false;
	return loop_open(&tasks.loop, NULL) == 0 && settings_alloc(&tasks.settings) == 0 &&
	       settings_set(tasks.settings, "workers", workers) == 0 &&
	       delegates_alloc(&tasks.delegates, tasks.loop.env, tasks.settings, "1") == 0 &&
	       tools_registry_alloc(&tasks.registry) == 0 &&
	       delegate_seat_alloc(&tasks.seat, tasks.delegates,
				   &(struct tool_room){tasks.registry, host, on_changed},
				   &(struct delegate_model){.askh = on_ask,
							    .stoph = on_stop,
							    .judgeh = judge_call,
							    .calledh = on_called}) == 0;
}

static void list_worker(char *list, size_t size, const char *argument, const char *more)
{
	snprintf(list, size,
		 "[{\"name\":\"helper\",\"about\":\"good at tests\",\"command\":[\"/bin/sh\","
		 "\"tests/standins/worker.sh\",\"%s\"],\"effects\":\"none\"%s}]",
		 argument, more);
}

bool tasks_name_worker(const char *argument, const char *more)
{
	char list[LIST_SIZE];

	list_worker(list, sizeof list, argument, more);
	return settings_set(tasks.settings, "workers", list) == 0;
}

bool tasks_begin(const char *argument, const char *more)
{
	char list[LIST_SIZE];

	list_worker(list, sizeof list, argument, more);
	return tasks_open(list);
}

void tasks_end(void)
{
	delegate_seat_free(tasks.seat);
	tools_registry_free(tasks.registry);
	delegates_free(tasks.delegates);
	settings_free(tasks.settings);
	loop_close(&tasks.loop);
	setenv("PATH", tasks.path, 1);
	folder_remove(tasks.dir);
}

int tasks_call(const char *name, uint32_t id, const char *arguments)
{
	const struct tool *t = tools_registry_find(tasks.registry, name);

	return t ? t->shell->start(&(struct tool_start){.id = id,
							.user = tasks.user,
							.shared = tasks.shared,
							.tool = name,
							.arguments = arguments},
				   t->arg)
		 : ENOENT;
}

int tasks_ask(uint32_t id, const char *task)
{
	char arguments[400];

	snprintf(arguments, sizeof arguments, "{\"task\":\"%s\"}", task);
	return tasks_call("ask", id, arguments);
}

bool tasks_run(unsigned outputs)
{
	tasks.until = outputs;
	return tasks.outputs >= outputs || loop_run(&tasks.loop);
}

void tasks_cancel(uint32_t id)
{
	const struct tool *t = tools_registry_find(tasks.registry, "ask");

	t->shell->cancel(id, t->arg);
}
