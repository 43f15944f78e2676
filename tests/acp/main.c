/* A client of one worker, as control is one, for tests beside agents that nobody here wrote:
 *
 *   acp RECORD TASK...     RECORD: an entry of workers in JSON
 *
 * Gives the tasks one after another, prints what comes of them, and ends: 0 when every task had a
 * result, 1 when the worker could not be used or 60 s have passed. A task "cancel:TEXT" is
 * cancelled when the agent tells what it is doing, or after 3 s. */
#include <stdio.h>
#include <string.h>

#include "control/delegate/process.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { LIMIT_S = 60, TASK_MS = 20000, CANCEL_S = 3 };

static struct {
	struct env *env;
	struct delegate_process *worker;
	struct tmr *limit, *cancel;
	char **argv;
	int argc, at;
	bool failed, cancels;
} run;

static void finish(bool failed)
{
	run.failed = run.failed || failed;
	env_stop(run.env);
}

static void on_cancel(void *arg)
{
	(void)arg;
	if (run.cancels)
		delegate_process_cancel(run.worker, (uint64_t)run.at);
}

static void give_next(void)
{
	const char *text;

	if (run.at + 1 >= run.argc) {
		finish(false);
		return;
	}
	text = run.argv[++run.at];
	run.cancels = strncmp(text, "cancel:", 7) == 0;
	if (delegate_process_prompt(run.worker, &(struct delegate_task){.number = (uint64_t)run.at,
									.text = text,
									.timeout_ms = TASK_MS}))
		finish(true);
	if (run.cancels)
		tmr_start(run.cancel, CANCEL_S * NS_PER_S);
}

static void on_change(void *arg)
{
	(void)arg;
	if (delegate_process_state(run.worker) == DELEGATE_IDLE) {
		give_next();
	} else if (delegate_process_state(run.worker) == DELEGATE_ENDED) {
		printf("ended: %s\n", delegate_process_why(run.worker));
		finish(true);
	}
}

static void on_progress(uint64_t task, const char *text, void *arg)
{
	(void)task;
	(void)arg;
	printf("progress: %s\n", text);
	if (run.cancels)
		tmr_start(run.cancel, 0);
}

static void on_result(uint64_t task, const struct acp_result *result, void *arg)
{
	static const char *const names[] = {"done",	 "cut short", "declined", "failed",
					    "cancelled", "late",      "too dear", "lost"};

	(void)task;
	(void)arg;
	printf("%s: %s\n", names[result->outcome], result->text);
}

static void on_limit(void *arg)
{
	(void)arg;
	printf("time is over: %s\n", delegate_process_why(run.worker));
	finish(true);
}

int main(int argc, char **argv)
{
	struct settings *settings = NULL;
	char list[4096], bwrap[512];

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(list, sizeof list, "[%s]", argc > 1 ? argv[1] : "");
	if (argc < 2 || settings_alloc(&settings) || settings_set(settings, "workers", list) ||
	    !settings->records.n[RECORD_KIND_WORKER] || spawn_find("bwrap", bwrap, sizeof bwrap)) {
		fprintf(stderr, "usage: acp RECORD TASK...\n");
		return 2;
	}
	run.argv = argv;
	run.argc = argc;
	run.at = 1;
	if (env_alloc(&run.env, &(struct env_conf){.loop = true}) ||
	    tmr_alloc(&run.limit, run.env, on_limit, NULL) ||
	    tmr_alloc(&run.cancel, run.env, on_cancel, NULL))
		return 1;
	tmr_start(run.limit, LIMIT_S * NS_PER_S);
	if (delegate_process_alloc(&run.worker, &(struct delegate_process_conf){
							.env = run.env,
							.record = &settings->records.worker[0],
							.bwrap = bwrap,
							.version = "1",
							.changeh = on_change,
							.progressh = on_progress,
							.resulth = on_result}))
		return 1;
	if (delegate_process_state(run.worker) == DELEGATE_IDLE)
		give_next();
	env_run(run.env);
	delegate_process_free(run.worker);
	tmr_free(run.limit);
	tmr_free(run.cancel);
	env_free(run.env);
	settings_free(settings);
	return run.failed;
}
