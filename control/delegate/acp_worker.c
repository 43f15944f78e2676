/* A worker of kind acp: an agent of the Agent Client Protocol, whose client is
 * control/dialect/acp.h (kinds.h). */
#include "control/delegate/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/jail/program.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"

struct acp_worker {
	struct delegate_process_conf conf;
	struct acp *client;
	struct child *child;
	struct tmr *due;
	bool up, ended;
	char why[ACP_WHY_MAX];
};

/* ---- the client's ---- */

static void on_send(const char *text, size_t n, void *arg)
{
	struct acp_worker *w = arg;

	if (w->child && child_write_line(w->child, text, n))
		log_warn("worker", "worker=%s state=full", w->conf.record->name);
}

static void on_progress(uint64_t task, const char *text, void *arg)
{
	const struct acp_worker *w = arg;

	w->conf.progressh(task, text, w->conf.arg);
}

static void on_result(uint64_t task, const struct acp_result *result, void *arg)
{
	const struct acp_worker *w = arg;

	w->conf.resulth(task, result, w->conf.arg);
}

static void end_worker(struct acp_worker *w, const char *why)
{
	if (w->ended)
		return;
	w->ended = true;
	snprintf(w->why, sizeof w->why, "%s", why);
	log_info("worker", "worker=%s state=ended why=\"%s\"", w->conf.record->name, why);
	if (w->child)
		child_stop(w->child);
}

static void on_change(void *arg)
{
	struct acp_worker *w = arg;

	if (acp_state(w->client) == ACP_REFUSED)
		end_worker(w, acp_why(w->client));
	w->conf.changeh(w->conf.arg);
}

static void set_timer(struct acp_worker *w)
{
	uint64_t due = acp_deadline(w->client);

	if (due == UINT64_MAX)
		tmr_stop(w->due);
	else
		tmr_start_at(w->due, due);
}

static void on_due(void *arg)
{
	struct acp_worker *w = arg;

	acp_timer(w->client, env_now(w->conf.env));
	set_timer(w);
}

/* ---- the program ---- */

static void on_read(size_t n, void *arg)
{
	struct acp_worker *w = arg;

	acp_count_bytes(w->client, n, env_now(w->conf.env));
	set_timer(w);
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct acp_worker *w = arg;

	acp_receive(w->client, line, len, env_now(w->conf.env));
	set_timer(w);
}

static void on_state(bool up, int status, void *arg)
{
	struct acp_worker *w = arg;
	char why[ACP_WHY_MAX];

	w->up = up;
	if (up) {
		acp_open(w->client, env_now(w->conf.env));
	} else {
		snprintf(why, sizeof why, "its program ended with status %d", status);
		end_worker(w, why);
		acp_close(w->client, w->why);
		w->conf.changeh(w->conf.arg);
	}
	set_timer(w);
}

static int start_program(struct acp_worker *w)
{
	const struct worker_record *r = w->conf.record;

	return program_start(&w->child, w->conf.env,
			     &(struct program){.bwrap = w->conf.bwrap,
					       PROGRAM_OF_RECORD(r),
					       .once = true,
					       .line_max = ACP_MESSAGE_MAX,
					       .readh = on_read,
					       .lineh = on_line,
					       .stateh = on_state,
					       .arg = w});
}

static void acp_worker_free(void *worker)
{
	struct acp_worker *w = worker;

	reaper_take(w->conf.reaper, w->child);
	tmr_free(w->due);
	acp_free(w->client);
	free(w);
}

static int acp_worker_alloc(void **out, const struct delegate_process_conf *conf)
{
	const struct worker_record *r = conf->record;
	struct acp_worker *w = calloc(1, sizeof *w);
	struct acp_conf ac = {.client = "parley",
			      .version = conf->version,
			      .folder = *r->folder ? r->folder : "/home",
			      .grants = (enum acp_grants)r->permissions,
			      .cost_max = r->usd,
			      .sendh = on_send,
			      .changeh = on_change,
			      .progressh = on_progress,
			      .resulth = on_result,
			      .arg = w};
	int err;

	if (!w)
		return ENOMEM;
	w->conf = *conf;
	err = acp_alloc(&w->client, &ac);
	if (!err)
		err = tmr_alloc(&w->due, conf->env, on_due, w);
	if (!err)
		err = start_program(w);
	if (err) {
		acp_worker_free(w);
		return err;
	}
	*out = w;
	return 0;
}

static void acp_worker_stop(void *worker)
{
	struct acp_worker *w = worker;

	end_worker(w, "it was told to end");
	acp_close(w->client, w->why);
	set_timer(w);
}

/* ---- in use ---- */

static enum delegate_process_state acp_worker_state(const void *worker)
{
	const struct acp_worker *w = worker;

	if (w->ended)
		return DELEGATE_ENDED;
	switch (acp_state(w->client)) {
	case ACP_READY:
		return DELEGATE_IDLE;
	case ACP_WORKING:
	case ACP_STOPPING:
		return DELEGATE_BUSY;
	default:
		return DELEGATE_STARTING;
	}
}

static bool acp_worker_runs(const void *worker)
{
	const struct acp_worker *w = worker;

	return w->up;
}

static const char *acp_worker_why(const void *worker)
{
	const struct acp_worker *w = worker;

	return w->why;
}

static int acp_worker_prompt(void *worker, const struct delegate_task *task)
{
	struct acp_worker *w = worker;
	int err = acp_prompt(w->client, task->number, task->text, task->timeout_ms,
			     env_now(w->conf.env));

	set_timer(w);
	return err;
}

static void acp_worker_cancel(void *worker, uint64_t task)
{
	struct acp_worker *w = worker;

	acp_cancel(w->client, task, env_now(w->conf.env));
	set_timer(w);
}

const struct worker_kind worker_acp = {.jailed = true,
				       .alloc = acp_worker_alloc,
				       .free = acp_worker_free,
				       .stop = acp_worker_stop,
				       .state = acp_worker_state,
				       .runs = acp_worker_runs,
				       .why = acp_worker_why,
				       .prompt = acp_worker_prompt,
				       .cancel = acp_worker_cancel};
