/* Tasks of rooms that workers do, against a stand-in (tests/standins/worker.sh). */
#include "tests/unit/control/delegate/tasks_fixture.h"

#include <errno.h>

#include "ipc/reaper.h"

TEST(rule_100_tasks_are_done_one_after_another_in_one_session)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "first"), 0);
	CHECK_INT(tasks_ask(2, "second"), 0);
	CHECK(tasks_run(2));
	CHECK_INT(tasks.output[0].id, 1);
	CHECK(tasks.output[0].ok && strstr(tasks.output[0].text, "Task 1 is done."));
	CHECK(strstr(tasks.output[0].text, "<untrusted id=") &&
	      strstr(tasks.output[0].text, "origin=\"worker helper\""));
	CHECK_INT(tasks.output[1].id, 2);
	CHECK(strstr(tasks.output[1].text, "Task 2 is done."));
	CHECK_INT(tasks.writings, 0);
	tasks_end();
}

TEST(rule_100_equal_tasks_are_joined)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "the same"), 0);
	CHECK_INT(tasks_ask(2, "the same"), 0);
	CHECK(tasks_run(2));
	CHECK(strstr(tasks.output[0].text, "Task 1 is done."));
	CHECK(strstr(tasks.output[1].text, "Task 1 is done."));
	/* Later it is another task. */
	CHECK_INT(tasks_ask(3, "the same"), 0);
	CHECK(tasks_run(3));
	CHECK(strstr(tasks.output[2].text, "Task 2 is done."));
	tasks_end();
}

/* The task runs for the person that gave it. */
TEST(rule_100_equal_tasks_of_two_people_are_two)
{
	CHECK(tasks_begin("", ""));
	tasks.user = 5;
	CHECK_INT(tasks_ask(1, "the same"), 0);
	tasks.user = 6;
	CHECK_INT(tasks_ask(2, "the same"), 0);
	CHECK(tasks_run(2));
	CHECK(strstr(tasks.output[0].text, "Task 1 is done."));
	CHECK(strstr(tasks.output[1].text, "Task 2 is done."));
	tasks_end();
}

/* The task of a turn of several people runs for nobody. */
TEST(a_task_of_several_people_has_no_rights_of_its_first_speaker)
{
	const struct task *t;

	CHECK(tasks_begin("", ""));
	tasks.user = 5;
	CHECK_INT(tasks_ask(1, "the same"), 0);
	tasks.shared = true;
	CHECK_INT(tasks_ask(2, "the same"), 0);
	t = delegate_task_find(tasks.seat, 2);
	CHECK(t && t->user == 0);
	CHECK(tasks_run(2));
	tasks_end();
}

TEST(the_worker_of_a_task_decides_whether_it_acts_outside)
{
	const struct tool *t;

	CHECK(tasks_begin("", ""));
	CHECK_INT(settings_set(tasks.settings, "workers",
			       "[{\"name\":\"a\",\"command\":[\"x\"],\"effects\":\"none\"},"
			       "{\"name\":\"b\",\"command\":[\"x\"]}]"),
		  0);
	delegates_update(tasks.delegates);
	t = tools_registry_find(tasks.registry, "ask");
	CHECK(t && t->row.effect == TOOL_EFFECT_OUTSIDE);
	CHECK_INT(t->shell->effect("{\"task\":\"x\"}", t->arg), TOOL_EFFECT_NONE);
	CHECK_INT(t->shell->effect("{\"task\":\"x\",\"worker\":\"a\"}", t->arg), TOOL_EFFECT_NONE);
	CHECK_INT(t->shell->effect("{\"task\":\"x\",\"worker\":\"b\"}", t->arg),
		  TOOL_EFFECT_OUTSIDE);
	CHECK_INT(t->shell->effect("{\"task\":\"x\",\"worker\":\"c\"}", t->arg),
		  TOOL_EFFECT_OUTSIDE);
	tasks_end();
}

/* Their words, and those of others, may stand in any of them. */
TEST(after_somebody_is_forgotten_nobody_is_told_of_tasks_before)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "the rash of Bob"), 0);
	CHECK(tasks_run(1));
	CHECK_INT(tasks_ask(2, "the cat of Bob"), 0);
	delegate_seat_forget(tasks.seat);
	CHECK_INT(tasks_call("ask_list", 3, "{}"), 0);
	CHECK(!strstr(tasks.output[1].text, "Bob"));
	CHECK(strstr(tasks.output[1].text, "\"task\":2") &&
	      !strstr(tasks.output[1].text, "\"task\":1"));
	CHECK_INT(tasks_call("ask_status", 4, "{\"task\":1}"), 0);
	CHECK(!tasks.output[2].ok);
	/* The one that waits is done, by a worker that knows nothing of the first. */
	CHECK(tasks_run(4));
	CHECK(tasks.output[3].ok && strstr(tasks.output[3].text, "Task 1 is done."));
	CHECK_INT(tasks_call("ask_status", 5, "{}"), 0);
	CHECK(strstr(tasks.output[4].text, "\"what\":\"\"") &&
	      strstr(tasks.output[4].text, "done"));
	delegate_seat_forget(NULL);
	tasks_end();
}

TEST(a_long_answer_is_written_as_well)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "a long one"), 0);
	CHECK(tasks_run(1));
	CHECK(tasks.output[0].ok && strstr(tasks.output[0].text, "Line 0 of") &&
	      strstr(tasks.output[0].text, "stands in the text channel"));
	CHECK_INT(tasks.writings, 2);
	CHECK(tasks.written > 3000);
	tasks_end();
}

TEST(a_worker_gets_the_variables_of_its_record)
{
	CHECK(tasks_begin("",
			  ",\"environment\":{\"NAME\":\"Ann\"},\"secrets\":{\"KEY\":\"/a/file\"}"));
	CHECK_INT(settings_set(tasks.settings, SETTINGS_VALUES_OF_WORKER "helper",
			       "{\"KEY\":\"hush\"}"),
		  0);
	delegates_update(tasks.delegates);
	CHECK_INT(tasks.changes, 1);
	CHECK_INT(tasks_ask(1, "tell"), 0);
	CHECK(tasks_run(1));
	CHECK(strstr(tasks.output[0].text, "NAME is Ann, KEY is hush."));
	tasks_end();
}

TEST(a_task_is_cancelled_and_the_next_one_begins)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "slow"), 0);
	CHECK_INT(tasks_ask(2, "next"), 0);
	CHECK(loop_run(&tasks.loop)); /* until it tells what it does */
	CHECK_STR(tasks.progress, "step 1 of 2: Look around");
	CHECK_INT(tasks_call("ask_list", 9, "{}"), 0);
	CHECK(strstr(tasks.output[0].text, "\"doing\":\"<untrusted id=") &&
	      strstr(tasks.output[0].text, "\\nstep 1 of 2: Look around\\n</untrusted id=") &&
	      strstr(tasks.output[0].text, "\"running\"") &&
	      strstr(tasks.output[0].text, "\"waiting\""));
	tasks_cancel(1);
	CHECK(tasks_run(2));
	CHECK_INT(tasks.output[1].id, 2);
	CHECK(tasks.output[1].ok);
	CHECK_INT(tasks_call("ask_status", 9, "{\"task\":1}"), 0);
	CHECK(strstr(tasks.output[2].text, "\"cancelled\""));
	CHECK_INT(tasks_call("ask_status", 9, "{\"task\":7}"), 0);
	CHECK(!tasks.output[3].ok);
	tasks_end();
}

TEST(of_two_calls_for_one_task_one_may_be_cancelled)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "slow"), 0);
	CHECK_INT(tasks_ask(2, "slow"), 0);
	CHECK(loop_run(&tasks.loop));
	tasks_cancel(1);
	CHECK_INT(tasks_call("ask_status", 9, "{}"), 0);
	CHECK(strstr(tasks.output[0].text, "\"running\""));
	tasks_cancel(2);
	CHECK_INT(tasks_call("ask_status", 9, "{}"), 0);
	CHECK(strstr(tasks.output[1].text, "\"cancelled\""));
	tasks_end();
}

/* The call of a killed worker is told why, and the next task has a new one. */
TEST(a_worker_that_dies_is_told_and_replaced)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "die"), 0);
	CHECK_INT(tasks_ask(2, "next"), 0);
	CHECK(tasks_run(2));
	CHECK_INT(tasks.output[0].id, 1);
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "ended with status 9"));
	CHECK(tasks.output[1].ok && strstr(tasks.output[1].text, "Task 1 is done."));
	tasks_end();
}

/* It is ready each time, so its tasks are not given up. */
TEST(a_worker_that_ends_without_a_result_is_started_less_and_less_often)
{
	const struct desk *desk;

	CHECK(tasks_begin("fleeting", ""));
	desk = &tasks.seat->desk[0];
	for (uint32_t id = 1; id <= 3; id++) {
		char task[16];

		snprintf(task, sizeof task, "task %u", id);
		CHECK_INT(tasks_ask(id, task), 0);
	}
	LOOP_UNTIL(&tasks.loop, desk->backoff.tries == 2);
	CHECK_INT(desk->backoff.tries, 2);
	CHECK(!desk->worker && desk->start_at > env_now(tasks.loop.env));
	tasks_end();
}

TEST(a_worker_with_results_is_started_again_at_once)
{
	const struct desk *desk;

	CHECK(tasks_begin("", ""));
	desk = &tasks.seat->desk[0];
	for (uint32_t id = 1; id < 6; id += 2) {
		CHECK_INT(tasks_ask(id, "next"), 0);
		CHECK(tasks_run(id));
		CHECK_INT(tasks_ask(id + 1, "die"), 0);
		CHECK(tasks_run(id + 1));
		CHECK_INT(desk->backoff.tries, 0);
	}
	tasks_end();
}

/* A task has its whole time, however long it waited. */
TEST(a_task_that_waited_is_begun)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "slow"), 0);
	CHECK_INT(tasks_ask(2, "another"), 0);
	for (unsigned i = 0; i < TASKS_MAX; i++)
		if (tasks.seat->task[i].number == 2)
			tasks.seat->task[i].given_at -= (TASK_MS + 1) * NS_PER_MS;
	tasks_cancel(1);
	CHECK(tasks_run(1));
	CHECK(tasks.output[0].id == 2 && tasks.output[0].ok);
	tasks_end();
}

/* One that does not stop is killed; nobody waits for it. */
TEST(a_worker_that_hangs_is_killed)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "deaf"), 0);
	LOOP_UNTIL(&tasks.loop, tasks.seat->task[0].state == TASK_RUNS);
	tasks_cancel(1);
	CHECK_INT(tasks_ask(2, "next"), 0);
	CHECK(tasks_run(1));
	CHECK(tasks.output[0].ok && strstr(tasks.output[0].text, "Task 1 is done."));
	tasks_end();
}

/* No line of it ever ends. */
TEST(a_worker_that_floods_its_stdout_is_ended)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "flood"), 0);
	CHECK(tasks_run(1));
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "floods its connection"));
	tasks_end();
}

TEST(a_worker_that_cannot_be_used_says_why)
{
	CHECK(tasks_begin("broken", ""));
	CHECK_INT(tasks_ask(1, "one"), 0);
	CHECK_INT(tasks_ask(2, "two"), 0);
	CHECK(tasks_run(2));
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "sign-in"));
	CHECK(!tasks.output[1].ok && strstr(tasks.output[1].text, "sign-in"));
	tasks_end();
	CHECK(tasks_begin("gone", ""));
	CHECK_INT(tasks_ask(1, "one"), 0);
	CHECK(tasks_run(1));
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "status 4"));
	tasks_end();
}

TEST(too_many_tasks_are_refused)
{
	CHECK(tasks_begin("", ""));
	for (uint32_t i = 1; i <= 4; i++) {
		char task[20];

		snprintf(task, sizeof task, "slow %u", i);
		CHECK_INT(tasks_ask(i, task), 0);
	}
	CHECK_INT(tasks_ask(5, "one more"), EBUSY);
	CHECK_INT(tasks_call("ask", 6, "{\"task\":\"x\",\"worker\":\"nobody\"}"), EINVAL);
	tasks_end();
}

TEST(what_a_task_does_outside_is_what_the_operator_says)
{
	const struct tool *t;

	CHECK(tasks_begin("", ""));
	t = tools_registry_find(tasks.registry, "ask");
	CHECK(t && t->row.effect == TOOL_EFFECT_NONE && t->row.who == TOOL_WHO_EVERYONE &&
	      t->row.taints && t->row.abort == TOOL_ABORT_DETACH);
	CHECK(strstr(t->row.description, "helper, good at tests"));
	/* Other settings: tasks end, rows are others. */
	CHECK_INT(tasks_ask(1, "slow"), 0);
	CHECK(loop_run(&tasks.loop));
	CHECK(tasks_name_worker("", ",\"network\":\"on\"") &&
	      settings_set(tasks.settings, "workers", "[{\"name\":\"b\",\"command\":[\"x\"]}]") ==
		      0);
	delegates_update(tasks.delegates);
	CHECK_INT(tasks.outputs, 1);
	CHECK(!tasks.output[0].ok && strstr(tasks.output[0].text, "settings"));
	t = tools_registry_find(tasks.registry, "ask");
	CHECK(t && t->row.effect == TOOL_EFFECT_OUTSIDE && t->row.confirm &&
	      t->row.who == TOOL_WHO_EVERYONE);
	CHECK_INT(settings_set(tasks.settings, "workers", "[]"), 0);
	delegates_update(tasks.delegates);
	CHECK(!tools_registry_find(tasks.registry, "ask"));
	tasks_end();
}

/* The call of a task has a limit of its own, which runs while the task waits. */
TEST(a_task_that_waited_for_too_long_is_not_begun)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "slow"), 0);
	CHECK_INT(tasks_ask(2, "another"), 0);
	for (unsigned i = 0; i < TASKS_MAX; i++)
		if (tasks.seat->task[i].number == 2)
			tasks.seat->task[i].given_at -= (TASK_WAIT_MS + 1) * NS_PER_MS;
	tasks_cancel(1);
	CHECK(tasks_run(1));
	CHECK(tasks.output[0].id == 2 && !tasks.output[0].ok);
	CHECK(strstr(tasks.output[0].text, "timed out"));
	tasks_end();
}

/* The program has not been waited for: it ends behind the room's back. */
TEST(leaving_a_room_waits_for_no_worker)
{
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, "deaf"), 0);
	LOOP_UNTIL(&tasks.loop, tasks.seat->task[0].state == TASK_RUNS);
	tasks.seat = delegate_seat_free(tasks.seat);
	CHECK_INT(reaper_count(tasks.delegates->reaper), 1);
	tasks_end();
}

static uint64_t paid;
static uint32_t payer;

static void take_cost(uint32_t id, const struct tool_cost *cost, void *arg)
{
	(void)arg;
	payer = id;
	paid += cost->nano;
}

/* The call has ended already, so no call pays. */
TEST(the_cost_of_a_cancelled_task_is_told)
{
	char list[600], dir[300];

	paid = 0;
	CHECK(getcwd(dir, sizeof dir));
	snprintf(list, sizeof list,
		 "[{\"name\":\"helper\",\"command\":[\"/bin/sh\",\"%s/tests/standins/"
		 "paid_agent.sh\"],\"effects\":\"none\"}]",
		 dir);
	CHECK(tasks_open(list));
	tasks.seat->room.host.costh = take_cost;
	CHECK_INT(tasks_ask(1, "x"), 0);
	CHECK(loop_run(&tasks.loop)); /* until it tells its plan */
	tasks_cancel(1);
	LOOP_UNTIL(&tasks.loop, paid);
	CHECK_INT(paid, 400000000);
	CHECK_INT(payer, DELEGATE_NUMBER);
	tasks_end();
}

/* The text of a task is cut between characters where it is shown. */
TEST(a_long_task_in_any_script_has_a_status)
{
	char task[300] = "x";

	for (unsigned i = 0; i < 120; i++)
		strcat(task, "\u0436");
	CHECK(tasks_begin("", ""));
	CHECK_INT(tasks_ask(1, task), 0);
	CHECK_INT(tasks_call("ask_status", 9, "{\"task\":1}"), 0);
	CHECK(tasks.output[0].ok);
	CHECK(strstr(tasks.output[0].text, "\u0436"));
	CHECK_INT(tasks_call("ask_list", 9, "{}"), 0);
	CHECK(strstr(tasks.output[1].text, "\u0436"));
	tasks_end();
}
