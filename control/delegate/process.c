#include "control/delegate/process.h"

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

struct delegate_process {
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
	struct delegate_process *w = arg;

	if (w->child && child_write_line(w->child, text, n))
		log_warn("worker", "worker=%s state=full", w->conf.record->name);
}

static void on_progress(uint64_t task, const char *text, void *arg)
{
	const struct delegate_process *w = arg;

	w->conf.progressh(task, text, w->conf.arg);
}

static void on_result(uint64_t task, const struct acp_result *result, void *arg)
{
	const struct delegate_process *w = arg;

	w->conf.resulth(task, result, w->conf.arg);
}

static void end(struct delegate_process *w, const char *why)
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
	struct delegate_process *w = arg;

	if (acp_state(w->client) == ACP_REFUSED)
		end(w, acp_why(w->client));
	w->conf.changeh(w->conf.arg);
}

static void set_timer(struct delegate_process *w)
{
	uint64_t due = acp_deadline(w->client);

	if (due == UINT64_MAX)
		tmr_stop(w->due);
	else
		tmr_start_at(w->due, due);
}

static void on_due(void *arg)
{
	struct delegate_process *w = arg;

	acp_timer(w->client, env_now(w->conf.env));
	set_timer(w);
}

/* ---- the program ---- */

static void on_line(const char *line, size_t len, void *arg)
{
	struct delegate_process *w = arg;

	acp_receive(w->client, line, len, env_now(w->conf.env));
	set_timer(w);
}

static void on_state(bool up, int status, void *arg)
{
	struct delegate_process *w = arg;
	char why[ACP_WHY_MAX];

	w->up = up;
	if (up) {
		acp_open(w->client, env_now(w->conf.env));
	} else {
		snprintf(why, sizeof why, "its program ended with status %d", status);
		end(w, why);
		acp_close(w->client, w->why);
		w->conf.changeh(w->conf.arg);
	}
	set_timer(w);
}

static int start_program(struct delegate_process *w)
{
	const struct worker_record *r = w->conf.record;

	return program_start(&w->child, w->conf.env,
			     &(struct program){.bwrap = w->conf.bwrap,
					       PROGRAM_OF_RECORD(r),
					       .once = true,
					       .line_max = ACP_MESSAGE_MAX,
					       .lineh = on_line,
					       .stateh = on_state,
					       .arg = w});
}

int delegate_process_alloc(struct delegate_process **out, const struct delegate_process_conf *conf)
{
	const struct worker_record *r = conf->record;
	struct delegate_process *w = calloc(1, sizeof *w);
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
		delegate_process_free(w);
		return err;
	}
	*out = w;
	return 0;
}

struct delegate_process *delegate_process_free(struct delegate_process *w)
{
	if (!w)
		return NULL;
	reaper_take(w->conf.reaper, w->child);
	tmr_free(w->due);
	acp_free(w->client);
	free(w);
	return NULL;
}

void delegate_process_stop(struct delegate_process *w)
{
	end(w, "it was told to end");
	acp_close(w->client, w->why);
	set_timer(w);
}

/* ---- in use ---- */

enum delegate_process_state delegate_process_state(const struct delegate_process *w)
{
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

bool delegate_process_runs(const struct delegate_process *w)
{
	return w->up;
}

const char *delegate_process_why(const struct delegate_process *w)
{
	return w->why;
}

int delegate_process_prompt(struct delegate_process *w, uint64_t task, const char *text,
			    uint32_t timeout_ms)
{
	int err = acp_prompt(w->client, task, text, timeout_ms, env_now(w->conf.env));

	set_timer(w);
	return err;
}

void delegate_process_cancel(struct delegate_process *w, uint64_t task)
{
	acp_cancel(w->client, task, env_now(w->conf.env));
	set_timer(w);
}
