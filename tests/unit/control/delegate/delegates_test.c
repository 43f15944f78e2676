/* Tasks of rooms that workers do, against a stand-in (tests/standins/worker.sh). A script stands
 * where bubblewrap would. */
#include "control/delegate/delegates.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "control/delegate/inside.h"
#include "control/settings/settings.h"
#include "control/tools/registry.h"
#include "ipc/reaper.h"
#include "proto/media.h"
#include "tests/unit/ipc/loop.h"

enum { OUTPUTS = 8 };

static struct rig {
	struct loop loop;
	char dir[32], path[4096];
	struct settings *settings;
	struct delegates *delegates;
	struct tools_registry *registry;
	struct delegate_seat *seat;
	unsigned outputs, until, tellings, writings, changes;
	struct {
		uint32_t id;
		bool ok;
		char text[9000];
	} output[OUTPUTS];
	char progress[200];
	size_t written;
} rig;

static void on_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	unsigned at = rig.outputs++ % OUTPUTS;

	(void)arg;
	rig.output[at].id = id;
	rig.output[at].ok = ok;
	snprintf(rig.output[at].text, sizeof rig.output[at].text, "%.*s", (int)text.n,
		 (const char *)text.p);
	if (rig.outputs == rig.until)
		env_stop(rig.loop.env);
}

static void on_progress(uint32_t id, const char *text, void *arg)
{
	(void)id;
	(void)arg;
	rig.tellings++;
	snprintf(rig.progress, sizeof rig.progress, "%s", text);
	env_stop(rig.loop.env);
}

static int on_write(const char *text, void *arg)
{
	(void)arg;
	rig.writings++;
	rig.written += strlen(text);
	return strlen(text) > 2000;
}

static void on_changed(void *arg)
{
	(void)arg;
	rig.changes++;
}

static bool write_sandbox(const char *dir)
{
	static const char script[] = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n"
				     "exec \"$@\"\n";
	char path[64];
	bool fine;
	int fd;

	snprintf(path, sizeof path, "%s/bwrap", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	fine = fd >= 0 && write(fd, script, sizeof script - 1) == (ssize_t)sizeof script - 1;
	close(fd);
	return fine;
}

static bool name_worker(const char *argument, const char *more)
{
	char list[600];

	snprintf(list, sizeof list,
		 "[{\"name\":\"helper\",\"about\":\"good at tests\",\"command\":[\"/bin/sh\","
		 "\"tests/standins/worker.sh\",\"%s\"],\"effects\":\"none\"%s}]",
		 argument, more);
	return settings_set(rig.settings, "workers", list) == 0;
}

static bool begin(const char *argument, const char *more)
{
	const struct tool_host host = {
		.outputh = on_output, .progressh = on_progress, .writeh = on_write};
	char path[4200];

	memset(&rig, 0, sizeof rig);
	snprintf(rig.path, sizeof rig.path, "%s", getenv("PATH"));
	if (!folder_make(rig.dir) || !write_sandbox(rig.dir))
		return false;
	snprintf(path, sizeof path, "%s:%s", rig.dir, rig.path);
	setenv("PATH", path, 1);
	return loop_open(&rig.loop, NULL) == 0 && settings_alloc(&rig.settings) == 0 &&
	       name_worker(argument, more) &&
	       delegates_alloc(&rig.delegates, rig.loop.env, rig.settings, "1") == 0 &&
	       tools_registry_alloc(&rig.registry) == 0 &&
	       delegate_seat_alloc(&rig.seat, rig.delegates,
				   &(struct tool_room){rig.registry, host, on_changed}) == 0;
}

static void end(void)
{
	delegate_seat_free(rig.seat);
	tools_registry_free(rig.registry);
	delegates_free(rig.delegates);
	settings_free(rig.settings);
	loop_close(&rig.loop);
	setenv("PATH", rig.path, 1);
	folder_remove(rig.dir);
}

static int call(const char *name, uint32_t id, const char *arguments)
{
	const struct tool *t = tools_registry_find(rig.registry, name);

	return t ? t->shell->start(
			   &(struct tool_start){.id = id, .tool = name, .arguments = arguments},
			   t->arg)
		 : ENOENT;
}

static int ask(uint32_t id, const char *task)
{
	char arguments[200];

	snprintf(arguments, sizeof arguments, "{\"task\":\"%s\"}", task);
	return call("ask", id, arguments);
}

static bool run_until(unsigned outputs)
{
	rig.until = outputs;
	return rig.outputs >= outputs || loop_run(&rig.loop);
}

static void cancel(uint32_t id)
{
	const struct tool *t = tools_registry_find(rig.registry, "ask");

	t->shell->cancel(id, t->arg);
}

TEST(tasks_are_done_one_after_another_in_one_session)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "first"), 0);
	CHECK_INT(ask(2, "second"), 0);
	CHECK(run_until(2));
	CHECK_INT(rig.output[0].id, 1);
	CHECK(rig.output[0].ok && strstr(rig.output[0].text, "Task 1 is done."));
	CHECK(strstr(rig.output[0].text, "<untrusted id=") &&
	      strstr(rig.output[0].text, "origin=\"worker helper\""));
	CHECK_INT(rig.output[1].id, 2);
	CHECK(strstr(rig.output[1].text, "Task 2 is done."));
	CHECK_INT(rig.writings, 0);
	end();
}

TEST(equal_tasks_are_joined)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "the same"), 0);
	CHECK_INT(ask(2, "the same"), 0);
	CHECK(run_until(2));
	CHECK(strstr(rig.output[0].text, "Task 1 is done."));
	CHECK(strstr(rig.output[1].text, "Task 1 is done."));
	/* Later it is another task. */
	CHECK_INT(ask(3, "the same"), 0);
	CHECK(run_until(3));
	CHECK(strstr(rig.output[2].text, "Task 2 is done."));
	end();
}

TEST(a_long_answer_is_written_as_well)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "a long one"), 0);
	CHECK(run_until(1));
	CHECK(rig.output[0].ok && strstr(rig.output[0].text, "Line 0 of") &&
	      strstr(rig.output[0].text, "stands in the text channel"));
	CHECK_INT(rig.writings, 2);
	CHECK(rig.written > 3000);
	end();
}

TEST(a_worker_gets_the_variables_of_its_record)
{
	CHECK(begin("", ",\"environment\":{\"NAME\":\"Ann\"},\"secrets\":{\"KEY\":\"/a/file\"}"));
	CHECK_INT(settings_set(rig.settings, SETTINGS_VALUES_OF_WORKER "helper",
			       "{\"KEY\":\"hush\"}"),
		  0);
	delegates_update(rig.delegates);
	CHECK_INT(rig.changes, 1);
	CHECK_INT(ask(1, "tell"), 0);
	CHECK(run_until(1));
	CHECK(strstr(rig.output[0].text, "NAME is Ann, KEY is hush."));
	end();
}

TEST(a_task_is_cancelled_and_the_next_one_begins)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "slow"), 0);
	CHECK_INT(ask(2, "next"), 0);
	CHECK(loop_run(&rig.loop)); /* until it tells what it does */
	CHECK_STR(rig.progress, "step 1 of 2: Look around");
	CHECK_INT(call("ask_list", 9, "{}"), 0);
	CHECK(strstr(rig.output[0].text, "\"doing\":\"step 1 of 2: Look around\"") &&
	      strstr(rig.output[0].text, "\"running\"") &&
	      strstr(rig.output[0].text, "\"waiting\""));
	cancel(1);
	CHECK(run_until(2));
	CHECK_INT(rig.output[1].id, 2);
	CHECK(rig.output[1].ok);
	CHECK_INT(call("ask_status", 9, "{\"task\":1}"), 0);
	CHECK(strstr(rig.output[2].text, "\"cancelled\""));
	CHECK_INT(call("ask_status", 9, "{\"task\":7}"), 0);
	CHECK(!rig.output[3].ok);
	end();
}

TEST(of_two_calls_for_one_task_one_may_be_cancelled)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "slow"), 0);
	CHECK_INT(ask(2, "slow"), 0);
	CHECK(loop_run(&rig.loop));
	cancel(1);
	CHECK_INT(call("ask_status", 9, "{}"), 0);
	CHECK(strstr(rig.output[0].text, "\"running\""));
	cancel(2);
	CHECK_INT(call("ask_status", 9, "{}"), 0);
	CHECK(strstr(rig.output[1].text, "\"cancelled\""));
	end();
}

/* The call of a killed worker is told why, and the next task has a new one. */
TEST(a_worker_that_dies_is_told_and_replaced)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "die"), 0);
	CHECK_INT(ask(2, "next"), 0);
	CHECK(run_until(2));
	CHECK_INT(rig.output[0].id, 1);
	CHECK(!rig.output[0].ok && strstr(rig.output[0].text, "ended with status 9"));
	CHECK(rig.output[1].ok && strstr(rig.output[1].text, "Task 1 is done."));
	end();
}

/* One that does not stop is killed; nobody waits for it. */
TEST(a_worker_that_hangs_is_killed)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "deaf"), 0);
	loop_run_for(&rig.loop, 300 * NS_PER_MS);
	cancel(1);
	CHECK_INT(ask(2, "next"), 0);
	CHECK(run_until(1));
	CHECK(rig.output[0].ok && strstr(rig.output[0].text, "Task 1 is done."));
	end();
}

TEST(a_worker_that_cannot_be_used_says_why)
{
	CHECK(begin("broken", ""));
	CHECK_INT(ask(1, "one"), 0);
	CHECK_INT(ask(2, "two"), 0);
	CHECK(run_until(2));
	CHECK(!rig.output[0].ok && strstr(rig.output[0].text, "sign-in"));
	CHECK(!rig.output[1].ok && strstr(rig.output[1].text, "sign-in"));
	end();
	CHECK(begin("gone", ""));
	CHECK_INT(ask(1, "one"), 0);
	CHECK(run_until(1));
	CHECK(!rig.output[0].ok && strstr(rig.output[0].text, "status 4"));
	end();
}

TEST(too_many_tasks_are_refused)
{
	CHECK(begin("", ""));
	for (uint32_t i = 1; i <= 4; i++) {
		char task[20];

		snprintf(task, sizeof task, "slow %u", i);
		CHECK_INT(ask(i, task), 0);
	}
	CHECK_INT(ask(5, "one more"), EBUSY);
	CHECK_INT(call("ask", 6, "{\"task\":\"x\",\"worker\":\"nobody\"}"), EINVAL);
	end();
}

TEST(what_a_task_does_outside_is_what_the_operator_says)
{
	const struct tool *t;

	CHECK(begin("", ""));
	t = tools_registry_find(rig.registry, "ask");
	CHECK(t && t->row.effect == TOOL_EFFECT_NONE && t->row.who == TOOL_WHO_EVERYONE &&
	      t->row.taints && t->row.abort == TOOL_ABORT_DETACH);
	CHECK(strstr(t->row.description, "helper, good at tests"));
	/* Other settings: tasks end, rows are others. */
	CHECK_INT(ask(1, "slow"), 0);
	CHECK(loop_run(&rig.loop));
	CHECK(name_worker("", ",\"network\":\"on\"") &&
	      settings_set(rig.settings, "workers", "[{\"name\":\"b\",\"command\":[\"x\"]}]") == 0);
	delegates_update(rig.delegates);
	CHECK_INT(rig.outputs, 1);
	CHECK(!rig.output[0].ok && strstr(rig.output[0].text, "settings"));
	t = tools_registry_find(rig.registry, "ask");
	CHECK(t && t->row.effect == TOOL_EFFECT_OUTSIDE && t->row.confirm &&
	      t->row.who == TOOL_WHO_MODERATORS);
	CHECK_INT(settings_set(rig.settings, "workers", "[]"), 0);
	delegates_update(rig.delegates);
	CHECK(!tools_registry_find(rig.registry, "ask"));
	end();
}

/* The program has not been waited for: it ends behind the room's back. */
TEST(leaving_a_room_waits_for_no_worker)
{
	CHECK(begin("", ""));
	CHECK_INT(ask(1, "deaf"), 0);
	loop_run_for(&rig.loop, 300 * NS_PER_MS);
	rig.seat = delegate_seat_free(rig.seat);
	CHECK_INT(reaper_count(rig.delegates->reaper), 1);
	end();
}
