/* Workers that are commands (tests/standins/command.sh) or models, and the recycling of workers. */
#include "tests/unit/control/delegate/tasks_fixture.h"

#include "ipc/child.h"
#include "proto/media.h"

enum { LIST_SIZE = 600 };

static bool open_command(const char *arguments, const char *more)
{
	char list[LIST_SIZE];

	snprintf(list, sizeof list,
		 "[{\"name\":\"helper\",\"kind\":\"command\",\"effects\":\"none\",\"command\":"
		 "[\"/bin/sh\",\"tests/standins/command.sh\",%s]%s}]",
		 arguments, more);
	return tasks_open(list);
}

TEST(a_command_gets_its_task_on_stdin)
{
	CHECK(open_command("\"read\"", ""));
	CHECK_INT(tasks_ask(1, "count to ten"), 0);
	CHECK(tasks_run(1));
	CHECK(tasks.output[0].ok && strstr(tasks.output[0].text, "Read: count to ten") &&
	      strstr(tasks.output[0].text, "origin=\"worker helper\""));
	CHECK_INT(tasks_ask(2, "count to two"), 0);
	CHECK(tasks_run(2));
	CHECK(strstr(tasks.output[1].text, "Read: count to two"));
	tasks_end();
}

TEST(a_command_gets_its_task_as_an_argument)
{
	CHECK(open_command("\"told\",\"task: {task}.\"", ""));
	CHECK_INT(tasks_ask(1, "a $(b) 'c'"), 0);
	while (!tasks.outputs)
		CHECK(tasks_run(1));
	CHECK(strstr(tasks.output[0].text, "Told: task: a $(b) 'c'"));
	CHECK_STR(tasks.progress, "Looking around");
	tasks_end();
}

TEST(a_command_that_fails_says_why)
{
	CHECK(open_command("\"fail\"", ""));
	CHECK_INT(tasks_ask(1, "one"), 0);
	while (!tasks.outputs)
		CHECK(tasks_run(1));
	CHECK(!tasks.output[0].ok &&
	      strstr(tasks.output[0].text, "ended with status 3: There is no such thing"));
	tasks_end();
}

TEST(a_command_is_cancelled_and_the_next_task_begins)
{
	CHECK(open_command("\"slow\"", ""));
	CHECK_INT(tasks_ask(1, "one"), 0);
	CHECK(loop_run(&tasks.loop));
	CHECK_STR(tasks.progress, "Working");
	CHECK_INT(tasks_ask(2, "two"), 0);
	tasks_cancel(1);
	CHECK_INT(tasks_call("ask_status", 9, "{\"task\":1}"), 0);
	CHECK(strstr(tasks.output[0].text, "\"cancelled\""));
	CHECK(loop_run(&tasks.loop)); /* until the second one tells what it does */
	CHECK_INT(tasks_call("ask_status", 9, "{\"task\":2}"), 0);
	CHECK(strstr(tasks.output[1].text, "\"running\""));
	tasks_end();
}

TEST(a_command_that_fills_the_memory_ends)
{
	CHECK(open_command("\"fill\"", ",\"memory_mib\":64"));
	CHECK_INT(tasks_ask(1, "one"), 0);
	while (!tasks.outputs)
		CHECK(tasks_run(1));
	CHECK(strstr(tasks.progress, "memory exhausted"));
	CHECK(!strstr(tasks.output[0].text, "Filled"));
	tasks_end();
}

/* ---- models ---- */

static struct {
	unsigned calls;
	uint32_t id;
	bool tainted;
} tool;

static int start_tool(const struct tool_start *call, void *arg)
{
	(void)arg;
	tool.calls++;
	tool.id = call->id;
	tool.tainted = call->tainted;
	return 0;
}
static const struct tool_shell shell = {.start = start_tool};

static bool open_model(const char *more)
{
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}}}";
	struct tool_row look = {.name = "look",
				.description = "Looks",
				.schema = schema,
				.timeout_ms = 1000,
				.max_output = 1000,
				.taints = TOOL_TAINTS_SESSION};
	struct tool_row act = look;
	char list[LIST_SIZE];

	act.name = "act";
	act.effect = TOOL_EFFECT_ROOM;
	memset(&tool, 0, sizeof tool);
	snprintf(list, sizeof list,
		 "[{\"name\":\"helper\",\"kind\":\"model\",\"effects\":\"none\","
		 "\"tools\":[\"look\",\"act\",\"none\"]%s}]",
		 more);
	return tasks_open(list) && tools_registry_add(tasks.registry, &look, &shell, NULL) == 0 &&
	       tools_registry_add(tasks.registry, &act, &shell, NULL) == 0;
}

static void tell(struct delegate_event ev)
{
	ev.turn = tasks.turn;
	delegate_seat_event(tasks.seat, &ev);
}

static void call_tool(const char *name, const char *arguments)
{
	tell((struct delegate_event){
		.type = DELEGATE_CALL, .call = "c1", .tool = name, .text = slice_str(arguments)});
	tell((struct delegate_event){.type = DELEGATE_DONE, .end = ENGINE_END_TOOLS});
}

static void answer(const char *text)
{
	tell((struct delegate_event){.type = DELEGATE_WORDS, .text = slice_str(text)});
	tell((struct delegate_event){.type = DELEGATE_DONE});
}

static bool begin_task(uint32_t id)
{
	bool fine = tasks_ask(id, "look it up") == 0;
	unsigned before = tasks.asks;

	LOOP_UNTIL(&tasks.loop, tasks.asks != before);
	return fine && tasks.asks > before;
}

TEST(a_model_calls_tools_and_answers)
{
	CHECK(open_model(""));
	CHECK(begin_task(1));
	CHECK_INT(tasks.asks, 1);
	CHECK(strstr(tasks.last, "look it up"));
	CHECK_INT(tasks.tools, 1); /* not the one that acts */
	call_tool("look", "{\"q\":\"x\"}");
	CHECK_INT(tool.calls, 1);
	CHECK(tool.id & DELEGATE_NUMBER && !tool.tainted);
	delegate_seat_output(tasks.seat, tool.id, true, slice_str("a find"));
	CHECK_INT(tasks.asks, 2);
	CHECK_INT(tasks.messages, 3);
	CHECK(strstr(tasks.last, "a find") && strstr(tasks.last, "untrusted"));
	call_tool("look", "{\"q\":\"y\"}");
	CHECK(tool.tainted);
	delegate_seat_output(tasks.seat, tool.id, false, slice_str("broken"));
	CHECK(strstr(tasks.last, "\"ok\":false") && strstr(tasks.last, "broken"));
	CHECK_STR(tasks.called, "began look ok look began look failed look ");
	answer("It is there.");
	CHECK_INT(tasks.outputs, 1);
	CHECK(tasks.output[0].ok && strstr(tasks.output[0].text, "It is there."));
	tasks_end();
}

TEST(a_model_calls_no_other_tools)
{
	CHECK(open_model(""));
	CHECK(begin_task(1));
	call_tool("act", "{}");
	CHECK_INT(tool.calls, 0);
	CHECK(strstr(tasks.last, "unknown_tool"));
	call_tool("ask", "{\"task\":\"again\"}");
	CHECK(strstr(tasks.last, "unknown_tool"));
	call_tool("look", "{\"q\":7}");
	CHECK(strstr(tasks.last, "bad_arguments"));
	CHECK_INT(tool.calls, 0);
	tasks_end();
}

TEST(the_policy_of_the_room_holds_for_calls_of_a_model)
{
	CHECK(open_model(""));
	CHECK_INT(settings_set(tasks.settings, "tools_off", "look"), 0);
	CHECK(begin_task(1));
	CHECK_INT(tasks.tools, 0);
	call_tool("look", "{\"q\":\"x\"}");
	CHECK_INT(tool.calls, 0);
	CHECK(strstr(tasks.last, "switched off"));
	CHECK_STR(tasks.called, "denied look ");
	CHECK_INT(settings_set(tasks.settings, "tools_off", ""), 0);
	call_tool("look", "{\"q\":\"x\"}");
	CHECK_INT(tool.calls, 1);
	tasks_cancel(1);
	CHECK_STR(tasks.called, "denied look began look cancelled look ");
	tasks_end();
}

TEST(a_model_has_so_many_steps)
{
	CHECK(open_model(",\"steps\":2"));
	CHECK(begin_task(1));
	CHECK_INT(tasks.tools, 1);
	call_tool("look", "{}");
	delegate_seat_output(tasks.seat, tool.id, true, slice_str("a find"));
	CHECK_INT(tasks.tools, 0); /* the last step */
	call_tool("look", "{}");
	CHECK_INT(tool.calls, 1);
	CHECK_INT(tasks.outputs, 1);
	CHECK(strstr(tasks.output[0].text, "a limit of its own"));
	tasks_end();
}

TEST(a_model_that_costs_too_much_is_stopped)
{
	CHECK(open_model(",\"usd\":0.5"));
	CHECK(begin_task(1));
	tell((struct delegate_event){.type = DELEGATE_COST, .cost = 400000});
	call_tool("look", "{}");
	delegate_seat_output(tasks.seat, tool.id, true, slice_str("a find"));
	CHECK_INT(tasks.outputs, 0);
	tell((struct delegate_event){.type = DELEGATE_COST, .cost = 200000});
	while (!tasks.outputs)
		CHECK(tasks_run(1));
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "cost what the settings allow"));
	CHECK_INT(tasks.stopped, tasks.turn);
	tasks_end();
}

TEST(a_model_that_is_cancelled_or_fails)
{
	uint32_t old;

	CHECK(open_model(""));
	CHECK(begin_task(1));
	old = tasks.turn;
	tasks_cancel(1);
	CHECK_INT(tasks.stopped, old);
	CHECK(begin_task(2));
	delegate_seat_event(tasks.seat,
			    &(struct delegate_event){.type = DELEGATE_DONE, .turn = old});
	CHECK_INT(tasks.outputs, 0);
	tell((struct delegate_event){.type = DELEGATE_FAILED, .text = slice_str("no credit")});
	CHECK_INT(tasks.outputs, 1);
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "no credit"));
	tasks_end();
}

/* ---- recycling ---- */

TEST(a_worker_is_replaced_after_its_tasks)
{
	CHECK(tasks_begin("", ",\"recycle_tasks\":2"));
	CHECK_INT(tasks_ask(1, "one"), 0);
	CHECK_INT(tasks_ask(2, "two"), 0);
	CHECK_INT(tasks_ask(3, "three"), 0);
	CHECK(tasks_run(3));
	CHECK(strstr(tasks.output[1].text, "Task 2 is done."));
	CHECK(strstr(tasks.output[2].text, "Task 1 is done.")); /* of another process */
	tasks_end();
}

TEST(a_worker_that_is_idle_ends)
{
	CHECK(tasks_begin("", ",\"recycle_minutes\":1"));
	CHECK_INT(tasks_ask(1, "one"), 0);
	CHECK(tasks_run(1));
	loop_run_for(&tasks.loop, 50 * NS_PER_MS);
	CHECK(tasks.seat->desk[0].worker != NULL);
	/* A minute ago. */
	tasks.seat->desk[0].idle_since -= UINT64_C(60) * 1000 * NS_PER_MS;
	delegate_tasks_step(tasks.seat);
	LOOP_UNTIL(&tasks.loop, !tasks.seat->desk[0].worker);
	CHECK(tasks.seat->desk[0].worker == NULL);
	tasks_end();
}
