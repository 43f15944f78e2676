#include "control/delegate/delegates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/delegate/inside.h"
#include "control/jail/sandbox.h"
#include "control/settings/settings.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"
#include "proto/media.h"

/* ---- the set ---- */

static void on_tried(void *arg)
{
	struct delegates *d = arg;

	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++) {
		const struct delegate_seat *seat = d->seats.seat[i];

		if (seat)
			tmr_start(seat->step, 0);
	}
}

static unsigned count_named(const struct settings *s)
{
	return s->tools ? s->records.n[RECORD_KIND_WORKER] : 0;
}

static void copy_records(struct delegates *d)
{
	explicit_bzero(d->record, sizeof d->record);
	d->n = count_named(d->settings);
	memcpy(d->record, d->settings->records.worker, d->n * sizeof d->record[0]);
}

int delegates_alloc(struct delegates **out, struct env *env, const struct settings *settings,
		    const char *version)
{
	struct delegates *d = calloc(1, sizeof *d);
	int err;

	if (!d)
		return ENOMEM;
	d->env = env;
	d->settings = settings;
	snprintf(d->version, sizeof d->version, "%s", version);
	err = sandbox_alloc(&d->sandbox, env, on_tried, d);
	if (!err)
		err = reaper_alloc(&d->reaper, env);
	if (err) {
		sandbox_free(d->sandbox);
		free(d);
		return err;
	}
	copy_records(d);
	*out = d;
	return 0;
}

struct delegates *delegates_free(struct delegates *d)
{
	if (!d)
		return NULL;
	reaper_free(d->reaper);
	sandbox_free(d->sandbox);
	explicit_bzero(d->record, sizeof d->record);
	free(d);
	return NULL;
}

/* Its calls get their one output. */
static void drop_tasks(struct delegate_seat *seat)
{
	static const char why[] = "the settings changed";

	for (unsigned i = 0; i < TASKS_MAX; i++) {
		struct task *t = &seat->task[i];

		for (unsigned k = 0; t->number && k < JOINED_MAX; k++) {
			uint32_t call = t->calls[k];

			t->calls[k] = 0;
			if (call)
				delegate_result_give(seat, call, seat->set->record[t->desk].name,
						     &(struct acp_result){.outcome = ACP_LOST,
									  .text = why,
									  .n = sizeof why - 1});
		}
	}
	delegate_tasks_end(seat);
}

static void add_rows(struct delegate_seat *seat)
{
	int err = delegate_rows_add(seat);

	if (err)
		log_warn("worker_tools_left_out", "error=\"%s\"", strerror(err));
}

void delegates_update(struct delegates *d)
{
	if (d->n == count_named(d->settings) &&
	    memcmp(d->record, d->settings->records.worker, d->n * sizeof d->record[0]) == 0)
		return;
	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++)
		if (d->seats.seat[i]) {
			delegate_rows_remove(d->seats.seat[i]);
			drop_tasks(d->seats.seat[i]);
		}
	copy_records(d);
	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++) {
		struct delegate_seat *seat = d->seats.seat[i];

		if (!seat)
			continue;
		add_rows(seat);
		seat->room.changedh(seat->room.host.arg);
	}
}

/* ---- rooms ---- */

int delegate_seat_alloc(struct delegate_seat **out, struct delegates *d,
			const struct tool_room *room, const struct delegate_model *model)
{
	struct delegate_seat *seat = calloc(1, sizeof *seat);
	int err;

	if (!seat)
		return ENOMEM;
	seat->set = d;
	seat->room = *room;
	seat->model = *model;
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		seat->desk[i].seat = seat;
	err = tmr_alloc(&seat->step, d->env, delegate_tasks_step, seat);
	if (!err)
		err = tmr_alloc(&seat->idle, d->env, delegate_tasks_step, seat);
	if (!err)
		err = tool_seats_add(&d->seats, seat);
	if (err) {
		tmr_free(seat->step);
		tmr_free(seat->idle);
		free(seat);
		return err;
	}
	add_rows(seat);
	*out = seat;
	return 0;
}

struct delegate_seat *delegate_seat_free(struct delegate_seat *seat)
{
	if (!seat)
		return NULL;
	delegate_rows_remove(seat);
	delegate_tasks_end(seat);
	tool_seats_remove(&seat->set->seats, seat);
	tmr_free(seat->step);
	tmr_free(seat->idle);
	free(seat);
	return NULL;
}

void delegate_seat_event(struct delegate_seat *seat, const struct delegate_event *ev)
{
	for (unsigned i = 0; seat && i < WORKERS_MAX; i++)
		if (seat->desk[i].worker)
			delegate_process_event(seat->desk[i].worker, ev);
}

void delegate_seat_output(struct delegate_seat *seat, uint32_t id, bool ok, struct slice text)
{
	for (unsigned i = 0; seat && i < WORKERS_MAX; i++)
		if (seat->desk[i].worker)
			delegate_process_output(seat->desk[i].worker, id, ok, text);
}

void delegate_seat_forget(struct delegate_seat *seat)
{
	if (seat)
		delegate_tasks_forget(seat);
}

/* ---- people ---- */

void delegate_seat_listen(struct delegate_seat *seat, delegate_told_h *h, void *arg)
{
	seat->toldh = h;
	seat->told_arg = arg;
}

int delegate_seat_give(struct delegate_seat *seat, uint32_t call, uint64_t user, const char *text,
		       const char *worker)
{
	const struct tool_start start = {.id = call, .user = user};

	return delegate_task_give(seat, &start, text, worker);
}

void delegate_seat_leave(struct delegate_seat *seat, uint32_t call)
{
	delegate_task_leave(seat, call);
}

const char *delegate_seat_progress(const struct delegate_seat *seat, uint32_t call)
{
	for (unsigned i = 0; i < TASKS_MAX; i++)
		for (unsigned k = 0; k < JOINED_MAX; k++)
			if (seat->task[i].number && seat->task[i].calls[k] == call)
				return seat->task[i].progress;
	return "";
}

const char *delegates_worker(const struct delegates *d, unsigned i, bool *outside)
{
	if (i >= d->n)
		return NULL;
	*outside = d->record[i].effects == EFFECTS_OUTSIDE;
	return d->record[i].name;
}
