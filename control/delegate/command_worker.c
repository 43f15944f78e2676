/* A worker of kind command: a program in the sandbox, run once for each task (kinds.h).
 *
 *   in    the task, in the place of the argument {task}, or else on its stdin
 *   out   stdout is the result, each line of stderr tells what it is doing
 *
 * Exit status 0 is success. A program that is cancelled or too late gets SIGTERM, and SIGKILL 3 s
 * later (ipc/child.h). */
#include "control/delegate/kinds.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/jail/program.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { COMMAND_LINE_MAX = 16 << 10 };
#define TASK_MARK "{task}"

struct command_worker {
	struct delegate_process_conf conf;
	struct child *child; /* of the last task */
	struct tmr *due;
	uint64_t task; /* 0: none */
	bool up, ended;
	char *input; /* for its stdin; NULL: it has the task as an argument */
	char *text;  /* of its stdout */
	size_t n;
	bool cut;
	char progress[ACP_PROGRESS_MAX];
};

/* ---- the end of a task ---- */

static void give_result(struct command_worker *w, enum acp_outcome outcome, const char *text)
{
	uint64_t task = w->task;

	if (!task)
		return;
	w->task = 0;
	tmr_stop(w->due);
	w->conf.resulth(task,
			&(struct acp_result){
				.outcome = outcome, .text = text, .n = strlen(text), .cut = w->cut},
			w->conf.arg);
}

static void end_task(struct command_worker *w, enum acp_outcome outcome, const char *why)
{
	if (w->child)
		child_stop(w->child);
	give_result(w, outcome, why);
}

static void tell_end(struct command_worker *w, int status)
{
	char why[ACP_WHY_MAX];

	if (!status) {
		give_result(w, ACP_DONE, w->text ? w->text : "");
		return;
	}
	snprintf(why, sizeof why, "its program ended with %s %d%s%s",
		 status > 128 ? "signal" : "status", status > 128 ? status - 128 : status,
		 *w->progress ? ": " : "", w->progress);
	give_result(w, ACP_FAILED, why);
}

/* ---- the program ---- */

static void on_line(const char *line, size_t len, void *arg)
{
	struct command_worker *w = arg;
	size_t room = ACP_TEXT_MAX - w->n;
	char *text;

	if (!w->task || w->cut)
		return;
	w->cut = len + 1 > room;
	if (w->cut)
		len = room ? utf8_whole(line, room - 1) : 0;
	text = realloc(w->text, w->n + len + 2);
	if (!text) {
		w->cut = true;
		return;
	}
	w->text = text;
	memcpy(text + w->n, line, len);
	text[w->n + len] = '\n';
	text[w->n + len + 1] = '\0';
	w->n += utf8_mend(text + w->n);
}

static void on_error(const char *line, size_t len, void *arg)
{
	struct command_worker *w = arg;

	(void)len;
	if (!w->task || !*line)
		return;
	utf8_copy(w->progress, sizeof w->progress, line);
	utf8_mend(w->progress);
	utf8_plain(w->progress);
	w->conf.progressh(w->task, w->progress, w->conf.arg);
}

static void give_input(struct command_worker *w)
{
	if (w->input && child_write(w->child, w->input, strlen(w->input)))
		log_warn("worker", "worker=%s state=full", w->conf.record->name);
	child_end_input(w->child);
}

static void on_state(bool up, int status, void *arg)
{
	struct command_worker *w = arg;

	w->up = up;
	if (up) {
		give_input(w);
		return;
	}
	tell_end(w, status);
	w->conf.changeh(w->conf.arg);
}

static void on_due(void *arg)
{
	end_task(arg, ACP_LATE, "");
}

/* ---- its command ---- */

/* The argument with the task in the place of its mark; NULL: it has none, or there is no memory. */
static char *put_task(const char *argument, const char *task)
{
	const char *mark = strstr(argument, TASK_MARK);
	size_t size = strlen(argument) + strlen(task) + 1;
	char *out = mark ? malloc(size) : NULL;

	if (out)
		snprintf(out, size, "%.*s%s%s", (int)(mark - argument), argument, task,
			 mark + strlen(TASK_MARK));
	return out;
}

/* The command as JSON with the task in it. Sets w->input if the task belongs on stdin. The caller
 * frees it; NULL without memory. */
static char *make_command(struct command_worker *w, const char *task)
{
	json_t *command = json_loads(w->conf.record->command, 0, NULL);
	const json_t *argument;
	bool put = false;
	char *text;
	size_t i;

	json_array_foreach(command, i, argument)
	{
		char *filled = put_task(json_string_value(argument), task);

		if (filled)
			json_array_set_new(command, i, json_string(filled));
		put = put || filled;
		free(filled);
	}
	text = command ? json_dumps(command, JSON_COMPACT) : NULL;
	json_decref(command);
	free(w->input);
	w->input = put ? NULL : strdup(task);
	return text;
}

static int start_program(struct command_worker *w, const char *command)
{
	const struct worker_record *r = w->conf.record;
	struct program p = {.bwrap = w->conf.bwrap,
			    PROGRAM_OF_RECORD(r),
			    .once = true,
			    .line_max = COMMAND_LINE_MAX,
			    .lineh = on_line,
			    .errorh = on_error,
			    .stateh = on_state,
			    .arg = w};

	p.command = command;
	return program_start(&w->child, w->conf.env, &p);
}

/* ---- the kind ---- */

static void command_worker_free(void *worker)
{
	struct command_worker *w = worker;

	reaper_take(w->conf.reaper, w->child);
	tmr_free(w->due);
	free(w->input);
	free(w->text);
	free(w);
}

static int command_worker_alloc(void **out, const struct delegate_process_conf *conf)
{
	struct command_worker *w = calloc(1, sizeof *w);
	int err;

	if (!w)
		return ENOMEM;
	w->conf = *conf;
	err = tmr_alloc(&w->due, conf->env, on_due, w);
	if (err) {
		command_worker_free(w);
		return err;
	}
	*out = w;
	return 0;
}

static void command_worker_stop(void *worker)
{
	struct command_worker *w = worker;

	w->ended = true;
	end_task(w, ACP_LOST, "it was told to end");
}

static enum delegate_process_state command_worker_state(const void *worker)
{
	const struct command_worker *w = worker;

	if (w->ended)
		return DELEGATE_ENDED;
	return w->task || w->up ? DELEGATE_BUSY : DELEGATE_IDLE;
}

static bool command_worker_runs(const void *worker)
{
	const struct command_worker *w = worker;

	return w->up;
}

static const char *command_worker_why(const void *worker)
{
	(void)worker;
	return "it was told to end";
}

static int command_worker_prompt(void *worker, const struct delegate_task *task)
{
	struct command_worker *w = worker;
	char *command;
	int err;

	if (w->ended)
		return ENOTCONN;
	if (w->task || w->up)
		return EBUSY;
	command = make_command(w, task->text);
	w->child = child_free(w->child);
	w->n = 0;
	w->cut = false;
	*w->progress = '\0';
	if (w->text)
		*w->text = '\0';
	err = command ? start_program(w, command) : ENOMEM;
	free(command);
	if (err)
		return err;
	w->task = task->number;
	tmr_start(w->due, task->timeout_ms * NS_PER_MS);
	return 0;
}

static void command_worker_cancel(void *worker, uint64_t task)
{
	struct command_worker *w = worker;

	if (w->task == task)
		end_task(w, ACP_CANCELLED, "");
}

const struct worker_kind worker_command = {.jailed = true,
					   .alloc = command_worker_alloc,
					   .free = command_worker_free,
					   .stop = command_worker_stop,
					   .state = command_worker_state,
					   .runs = command_worker_runs,
					   .why = command_worker_why,
					   .prompt = command_worker_prompt,
					   .cancel = command_worker_cancel};
