/* Tasks of a room and the workers that do them (delegates.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/delegate/inside.h"
#include "control/jail/sandbox.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { MINUTE_S = 60 };

/* ---- the end of a task ---- */

static struct task *find_task(struct delegate_seat *seat, uint64_t number)
{
	for (unsigned i = 0; i < TASKS_MAX; i++)
		if (seat->task[i].number && seat->task[i].number == number)
			return &seat->task[i];
	return NULL;
}

static void close_task(struct delegate_seat *seat, struct task *t, enum acp_outcome outcome)
{
	t->state = TASK_ENDED;
	t->outcome = delegate_result_name(outcome);
	t->ended_at = seat->desk[t->desk].idle_since = env_now(seat->set->env);
	if (t->untold)
		*t->progress = '\0';
	log_info("task_ended", "task=%llu outcome=\"%s\"", (unsigned long long)t->number,
		 t->outcome);
	tmr_start(seat->step, 0);
}

/* cost: millionths of a dollar. The ledger counts models of ours by itself. */
static void tell_cost(const struct delegate_seat *seat, unsigned at, uint32_t call, uint64_t cost)
{
	const struct worker_record *r = &seat->set->record[at];

	if (cost && call && seat->room.host.costh)
		seat->room.host.costh(call,
				      &(struct tool_cost){.service = r->name,
							  .nano = cost * 1000,
							  .counted = r->kind == WORKER_MODEL},
				      seat->room.host.arg);
}

static void end_task(struct delegate_seat *seat, struct task *t, const struct acp_result *result)
{
	const char *worker = seat->set->record[t->desk].name;
	uint32_t calls[JOINED_MAX], payer = 0;

	memcpy(calls, t->calls, sizeof calls);
	memset(t->calls, 0, sizeof t->calls);
	t->cost = result->cost;
	/* The first of the calls that wait for the task pays. */
	for (unsigned i = 0; i < JOINED_MAX && !payer; i++)
		payer = calls[i];
	tell_cost(seat, t->desk, payer, t->cost);
	close_task(seat, t, result->outcome);
	delegate_result_write(seat, result);
	for (unsigned i = 0; i < JOINED_MAX; i++)
		if (calls[i])
			delegate_result_give(seat, calls[i], worker, result);
}

static void lose_task(struct delegate_seat *seat, struct task *t, const char *why)
{
	end_task(seat, t, &(struct acp_result){.outcome = ACP_LOST, .text = why, .n = strlen(why)});
}

/* ---- workers ---- */

static void on_change(void *arg)
{
	struct desk *desk = arg;

	desk->ready = desk->ready ||
		      (desk->worker && delegate_process_state(desk->worker) == DELEGATE_IDLE);
	tmr_start(desk->seat->step, 0);
}

static void on_progress(uint64_t number, const char *text, void *arg)
{
	const struct desk *desk = arg;
	struct delegate_seat *seat = desk->seat;
	struct task *t = find_task(seat, number);

	if (!t || t->state != TASK_RUNS)
		return;
	snprintf(t->progress, sizeof t->progress, "%s", text);
	for (unsigned i = 0; seat->room.host.progressh && i < JOINED_MAX; i++)
		if (t->calls[i])
			seat->room.host.progressh(t->calls[i], t->progress, seat->room.host.arg);
}

static void on_result(uint64_t number, const struct acp_result *result, void *arg)
{
	struct desk *desk = arg;
	struct task *t = find_task(desk->seat, number);

	desk->served = desk->served || result->outcome != ACP_LOST;
	if (t && t->state == TASK_RUNS)
		end_task(desk->seat, t, result);
	else /* No call waits for a task that was cancelled, but it has cost something. */
		tell_cost(desk->seat, (unsigned)(desk - desk->seat->desk), DELEGATE_NUMBER,
			  result->cost);
}

static unsigned count_running(const struct delegates *d)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++) {
		const struct delegate_seat *seat = d->seats.seat[i];

		for (unsigned k = 0; seat && k < WORKERS_MAX; k++)
			n += seat->desk[k].worker && delegate_process_jailed(&d->record[k]);
	}
	return n + reaper_count(d->reaper);
}

static uint32_t next_number(void *arg)
{
	const struct desk *desk = arg;

	return DELEGATE_NUMBER | ++desk->seat->asks;
}

/* NULL, or why it cannot be started. */
static const char *start_worker(struct desk *desk, unsigned at)
{
	struct delegates *d = desk->seat->set;
	const struct delegate_process_conf conf = {.env = d->env,
						   .record = &d->record[at],
						   .bwrap = sandbox_bwrap(d->sandbox),
						   .version = d->version,
						   .reaper = d->reaper,
						   .model = &desk->seat->model,
						   .registry = desk->seat->room.registry,
						   .off = d->settings->tools_off,
						   .numberh = next_number,
						   .changeh = on_change,
						   .progressh = on_progress,
						   .resulth = on_result,
						   .arg = desk};

	if (delegate_process_jailed(conf.record) && !conf.bwrap)
		return "there is no sandbox here (bubblewrap), and no program runs without one";
	if (delegate_process_jailed(conf.record) && count_running(d) >= RUNNING_MAX)
		return "too many workers run for other rooms";
	desk->ready = desk->served = desk->knows = false;
	desk->idle_since = env_now(d->env);
	desk->tasks = 0;
	return delegate_process_alloc(&desk->worker, &conf) ? "it cannot be started" : NULL;
}

/* ---- steps ---- */

/* The task that runs at this desk, or else the one that has waited longest. */
static struct task *next_task(struct delegate_seat *seat, unsigned at)
{
	struct task *best = NULL;

	for (unsigned i = 0; i < TASKS_MAX; i++) {
		struct task *t = &seat->task[i];

		if (!t->number || t->desk != at || t->state == TASK_ENDED)
			continue;
		if (t->state == TASK_RUNS)
			return t;
		if (!best || t->number < best->number)
			best = t;
	}
	return best;
}

static void begin_task(struct delegate_seat *seat, struct desk *desk, struct task *t)
{
	bool written = seat->toldh || !seat->room.host.writeh;
	const char *format = written ? PROMPT_WORKER_WRITTEN : PROMPT_WORKER_TASK;
	size_t size = strlen(t->text) + strlen(format);
	char *prompt = malloc(size);
	uint64_t now = env_now(seat->set->env);
	bool late = now - t->given_at >= TASK_WAIT_MS * NS_PER_MS;
	int err = !prompt ? ENOMEM : late ? ETIMEDOUT : 0;

	t->state = TASK_RUNS;
	t->begun_at = now;
	if (!err) {
		snprintf(prompt, size, format, t->text);
		desk->tasks++;
		err = delegate_process_prompt(desk->worker,
					      &(struct delegate_task){.number = t->number,
								      .user = t->user,
								      .tainted = t->tainted,
								      .text = prompt,
								      .timeout_ms = TASK_MS});
	}
	if (err)
		lose_task(seat, t, strerror(err));
	free(prompt);
}

/* The worker has ended. One that never was ready would not be the next time. One that ended without
 * a result is started again with a growing delay. */
static void clear_desk(struct delegate_seat *seat, struct desk *desk, unsigned at)
{
	static const struct backoff_conf again = {.first_ms = 500, .max_ms = 60000, .at_once = 1};
	struct task *t;

	desk->backoff.conf = &again;
	if (desk->served)
		backoff_reset(&desk->backoff);
	desk->start_at =
		env_now(seat->set->env) + (desk->served ? 0 : backoff_next(&desk->backoff, 0));

	while (!desk->ready && (t = next_task(seat, at)))
		lose_task(seat, t, delegate_process_why(desk->worker));
	desk->worker = delegate_process_free(desk->worker);
}

static uint64_t idle_until(const struct delegate_seat *seat, unsigned at)
{
	uint32_t minutes = seat->set->record[at].recycle_minutes;

	return minutes ? seat->desk[at].idle_since + minutes * MINUTE_S * NS_PER_S : UINT64_MAX;
}

/* It has done its tasks, may repeat somebody, or has been idle for long. */
static bool is_spent(const struct delegate_seat *seat, unsigned at, bool wanted)
{
	uint32_t most = seat->set->record[at].recycle_tasks;

	return seat->desk[at].knows || (most && seat->desk[at].tasks >= most) ||
	       (!wanted && env_now(seat->set->env) >= idle_until(seat, at));
}

/* Starts a worker for the task, and gives it the task if it is ready at once. */
static void start_task(struct delegate_seat *seat, unsigned at, struct task *t)
{
	struct desk *desk = &seat->desk[at];
	const char *why = NULL;

	if (delegate_process_jailed(&seat->set->record[at])) {
		sandbox_try(seat->set->sandbox);
		if (!sandbox_tried(seat->set->sandbox))
			return;
	}
	if (!desk->worker && env_now(seat->set->env) < desk->start_at)
		return;
	if (!desk->worker)
		why = start_worker(desk, at);
	if (why) {
		lose_task(seat, t, why);
		return;
	}
	if (delegate_process_state(desk->worker) != DELEGATE_IDLE)
		return;
	desk->ready = true;
	begin_task(seat, desk, t);
}

static bool has_ended(const struct desk *desk)
{
	return delegate_process_state(desk->worker) == DELEGATE_ENDED;
}

static void step_desk(struct delegate_seat *seat, unsigned at)
{
	struct desk *desk = &seat->desk[at];
	struct task *t = next_task(seat, at);

	if (t && t->state == TASK_RUNS)
		return;
	if (desk->worker && !has_ended(desk) && is_spent(seat, at, t))
		delegate_process_stop(desk->worker);
	if (desk->worker && has_ended(desk)) {
		if (delegate_process_runs(desk->worker))
			return; /* it is being killed */
		clear_desk(seat, desk, at);
		t = next_task(seat, at);
	}
	if (t)
		start_task(seat, at, t);
}

void delegate_tasks_step(void *arg)
{
	struct delegate_seat *seat = arg;
	uint64_t due = UINT64_MAX, now = env_now(seat->set->env);

	for (unsigned i = 0; i < seat->set->n; i++) {
		step_desk(seat, i);
		if (seat->desk[i].worker && !has_ended(&seat->desk[i]) && !next_task(seat, i) &&
		    idle_until(seat, i) < due)
			due = idle_until(seat, i);
		if (!seat->desk[i].worker && next_task(seat, i) && seat->desk[i].start_at > now &&
		    seat->desk[i].start_at < due)
			due = seat->desk[i].start_at;
	}
	if (due == UINT64_MAX)
		tmr_stop(seat->idle);
	else
		tmr_start_at(seat->idle, due);
}

/* ---- what calls want ---- */

int delegate_desk_find(const struct delegates *d, const char *worker, unsigned *at)
{
	*at = 0;
	while (*worker && *at < d->n && strcmp(d->record[*at].name, worker) != 0)
		++*at;
	return *at < d->n ? 0 : EINVAL;
}

static bool join_task(struct task *t, uint32_t call)
{
	for (unsigned i = 0; i < JOINED_MAX; i++)
		if (!t->calls[i]) {
			t->calls[i] = call;
			return true;
		}
	return false;
}

/* A free place, or that of the task that ended first; NULL: too many wait. */
static struct task *find_place(struct delegate_seat *seat)
{
	struct task *best = NULL;
	unsigned waiting = 0;

	for (unsigned i = 0; i < TASKS_MAX; i++) {
		struct task *t = &seat->task[i];

		waiting += t->number && t->state == TASK_WAITS;
		if ((!t->number || t->state == TASK_ENDED) && (!best || t->number < best->number))
			best = t;
	}
	return waiting < WAITING_MAX ? best : NULL;
}

int delegate_task_give(struct delegate_seat *seat, const struct tool_start *call, const char *text,
		       const char *worker)
{
	/* A worker gets no rights of its own from words of several people. */
	uint64_t user = call->shared ? 0 : call->user;
	struct task *t;
	unsigned at;
	char *copy;

	if (delegate_desk_find(seat->set, worker, &at))
		return EINVAL;
	for (unsigned i = 0; i < TASKS_MAX; i++) {
		t = &seat->task[i];
		if (t->number && t->state != TASK_ENDED && t->desk == at && t->user == user &&
		    strcmp(t->text, text) == 0)
			return join_task(t, call->id) ? 0 : EBUSY;
	}
	t = find_place(seat);
	if (!t)
		return EBUSY;
	copy = strdup(text);
	if (!copy)
		return ENOMEM;
	free(t->text);
	*t = (struct task){.number = ++seat->numbers,
			   .desk = at,
			   .user = user,
			   .tainted = call->tainted || call->quoted,
			   .calls = {call->id},
			   .text = copy,
			   .given_at = env_now(seat->set->env)};
	tmr_start(seat->step, 0);
	return 0;
}

void delegate_task_leave(struct delegate_seat *seat, uint32_t call)
{
	for (unsigned i = 0; i < TASKS_MAX; i++) {
		struct task *t = &seat->task[i];
		bool runs = t->state == TASK_RUNS, others = false, its = false;

		for (unsigned k = 0; t->number && k < JOINED_MAX; k++) {
			its = its || t->calls[k] == call;
			if (t->calls[k] == call)
				t->calls[k] = 0;
			others = others || t->calls[k];
		}
		if (!its || others || t->state == TASK_ENDED)
			continue;
		close_task(seat, t, ACP_CANCELLED);
		if (runs)
			delegate_process_cancel(seat->desk[t->desk].worker, t->number);
	}
}

static void forget_task(struct task *t)
{
	if (t->state == TASK_ENDED) {
		free(t->text);
		*t = (struct task){0};
	} else {
		t->untold = true;
	}
}

void delegate_tasks_forget(struct delegate_seat *seat)
{
	for (unsigned i = 0; i < TASKS_MAX; i++)
		if (seat->task[i].number)
			forget_task(&seat->task[i]);
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		seat->desk[i].knows = seat->desk[i].worker != NULL;
	tmr_start(seat->step, 0);
}

void delegate_tasks_end(struct delegate_seat *seat)
{
	for (unsigned i = 0; i < TASKS_MAX; i++) {
		free(seat->task[i].text);
		seat->task[i] = (struct task){0};
	}
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		seat->desk[i].worker = delegate_process_free(seat->desk[i].worker);
}

const struct task *delegate_task_find(const struct delegate_seat *seat, uint64_t number)
{
	const struct task *best = NULL;

	for (unsigned i = 0; i < TASKS_MAX; i++) {
		const struct task *t = &seat->task[i];

		if (t->number && (number ? t->number == number : !best || t->number > best->number))
			best = t;
	}
	return best;
}
