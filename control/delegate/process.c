#include "control/delegate/process.h"

#include <errno.h>
#include <stdlib.h>

#include "control/delegate/kinds.h"
#include "control/settings/record.h"

struct delegate_process {
	const struct worker_kind *kind;
	void *worker;
};

static const struct worker_kind *kind_of(const struct worker_record *record)
{
	static const struct worker_kind *const kinds[] = {[WORKER_ACP] = &worker_acp,
							  [WORKER_COMMAND] = &worker_command,
							  [WORKER_MODEL] = &worker_model};

	return kinds[record->kind];
}

bool delegate_process_jailed(const struct worker_record *record)
{
	return kind_of(record)->jailed;
}

int delegate_process_alloc(struct delegate_process **out, const struct delegate_process_conf *conf)
{
	struct delegate_process *w = calloc(1, sizeof *w);
	int err;

	if (!w)
		return ENOMEM;
	w->kind = kind_of(conf->record);
	err = w->kind->alloc(&w->worker, conf);
	if (err) {
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

struct delegate_process *delegate_process_free(struct delegate_process *w)
{
	if (!w)
		return NULL;
	w->kind->free(w->worker);
	free(w);
	return NULL;
}

void delegate_process_stop(struct delegate_process *w)
{
	w->kind->stop(w->worker);
}

enum delegate_process_state delegate_process_state(const struct delegate_process *w)
{
	return w->kind->state(w->worker);
}

bool delegate_process_runs(const struct delegate_process *w)
{
	return w->kind->runs(w->worker);
}

const char *delegate_process_why(const struct delegate_process *w)
{
	return w->kind->why(w->worker);
}

int delegate_process_prompt(struct delegate_process *w, const struct delegate_task *task)
{
	return w->kind->prompt(w->worker, task);
}

void delegate_process_cancel(struct delegate_process *w, uint64_t task)
{
	w->kind->cancel(w->worker, task);
}

void delegate_process_event(struct delegate_process *w, const struct delegate_event *ev)
{
	if (w->kind->event)
		w->kind->event(w->worker, ev);
}

void delegate_process_output(struct delegate_process *w, uint32_t id, bool ok, struct slice text)
{
	if (w->kind->output)
		w->kind->output(w->worker, id, ok, text);
}
