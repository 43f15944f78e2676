/* A worker of kind model while allocations fail (control/delegate/model_worker.c). */
#include "control/delegate/process.h"

#include "control/settings/record.h"
#include "control/tools/registry.h"
#include "ipc/env.h"
#include "proto/media.h"
#include "tests/test.h"

static struct {
	struct env *env;
	struct tools_registry *registry;
	struct delegate_process *worker;
	uint32_t numbers, turn, call, cancelled;
	bool tainted;
	unsigned results;
	enum acp_outcome outcome;
} run;

static int ask_model(const struct engine_ask *ask, void *arg)
{
	(void)arg;
	run.turn = ask->turn;
	return 0;
}

static void stop_model(uint32_t turn, void *arg)
{
	(void)turn, (void)arg;
}

static enum tool_verdict judge_call(const struct tool_request *request, void *arg)
{
	(void)request, (void)arg;
	return TOOL_ALLOWED;
}

static void on_called(const struct tool_output *call, void *arg)
{
	(void)call, (void)arg;
}

static uint32_t next_number(void *arg)
{
	(void)arg;
	return DELEGATE_NUMBER | ++run.numbers;
}

static void on_change(void *arg)
{
	(void)arg;
}

static void on_progress(uint64_t task, const char *text, void *arg)
{
	(void)task, (void)text, (void)arg;
}

static void on_result(uint64_t task, const struct acp_result *result, void *arg)
{
	(void)task, (void)arg;
	run.results++;
	run.outcome = result->outcome;
}

static int start_tool(const struct tool_start *call, void *arg)
{
	(void)arg;
	run.call = call->id;
	run.tainted = call->tainted;
	return 0;
}

static const struct tool_shell shell = {.start = start_tool};
static const struct tool_row look = {.name = "look",
				     .description = "Looks",
				     .schema = "{\"type\":\"object\"}",
				     .timeout_ms = 1000,
				     .max_output = 1000};
static const struct worker_record record = {
	.name = "helper", .kind = WORKER_MODEL, .tools = "[\"look\",\"far\"]", .steps = 4};
static const struct delegate_model model = {
	.askh = ask_model, .stoph = stop_model, .judgeh = judge_call, .calledh = on_called};

static bool open_worker(void)
{
	struct delegate_process_conf conf = {.record = &record,
					     .model = &model,
					     .version = "1",
					     .off = "",
					     .numberh = next_number,
					     .changeh = on_change,
					     .progressh = on_progress,
					     .resulth = on_result};

	memset(&run, 0, sizeof run);
	if (env_alloc(&run.env, &(struct env_conf){.loop = true}) ||
	    tools_registry_alloc(&run.registry) ||
	    tools_registry_add(run.registry, &look, &shell, NULL))
		return false;
	conf.env = run.env;
	conf.registry = run.registry;
	return delegate_process_alloc(&run.worker, &conf) == 0;
}

static void close_worker(void)
{
	delegate_process_free(run.worker);
	tools_registry_free(run.registry);
	env_free(run.env);
}

static void tell(struct delegate_event ev)
{
	ev.turn = run.turn;
	delegate_process_event(run.worker, &ev);
}

static void do_task(void)
{
	tell((struct delegate_event){.type = DELEGATE_WORDS, .text = slice_str("I look.")});
	tell((struct delegate_event){
		.type = DELEGATE_CALL, .call = "c1", .tool = "look", .text = slice_str("{}")});
	tell((struct delegate_event){.type = DELEGATE_DONE});
	delegate_process_output(run.worker, run.call, true, slice_str("a find"));
	tell((struct delegate_event){.type = DELEGATE_WORDS, .text = slice_str("It is there.")});
	tell((struct delegate_event){.type = DELEGATE_DONE});
}

TEST_OOM(a_task_of_a_model_has_one_result_without_memory)
{
	bool begun = open_worker() &&
		     delegate_process_prompt(run.worker,
					     &(struct delegate_task){.number = 1,
								     .text = "look",
								     .timeout_ms = 1000}) == 0;

	if (begun)
		do_task();
	close_worker();
	CHECK_INT(run.results, begun);
	CHECK(test_oom_hit() || run.outcome == ACP_DONE);
}

static void cancel_tool(uint32_t id, void *arg)
{
	(void)arg;
	run.cancelled = id;
}

static void begin_call(const char *name)
{
	CHECK_INT(delegate_process_prompt(
			  run.worker,
			  &(struct delegate_task){.number = 1, .text = "look", .timeout_ms = 1000}),
		  0);
	tell((struct delegate_event){
		.type = DELEGATE_CALL, .call = "c1", .tool = name, .text = slice_str("{}")});
	tell((struct delegate_event){.type = DELEGATE_DONE});
}

/* A server may take a tool from its list while a call of it runs. */
static bool open_with_server(void)
{
	static const struct tool_shell server = {.start = start_tool, .cancel = cancel_tool};
	struct tool_row row = look;

	row.name = "far";
	row.taints = TOOL_TAINTS_SESSION;
	if (!open_worker() || tools_registry_add(run.registry, &row, &server, NULL))
		return false;
	begin_call("far");
	tools_registry_remove(run.registry, &server, NULL);
	return true;
}

TEST(a_worker_stays_tainted_when_the_tool_that_it_called_goes)
{
	CHECK(open_with_server());
	delegate_process_output(run.worker, run.call, true, slice_str("read something else"));
	tell((struct delegate_event){
		.type = DELEGATE_CALL, .call = "c2", .tool = "look", .text = slice_str("{}")});
	tell((struct delegate_event){.type = DELEGATE_DONE});
	CHECK(run.tainted);
	close_worker();
}

TEST(a_cancelled_task_cancels_a_call_whose_tool_has_gone)
{
	CHECK(open_with_server());
	delegate_process_cancel(run.worker, 1);
	CHECK_INT(run.cancelled, run.call);
	close_worker();
}
