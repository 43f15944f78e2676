#include "control/one_run.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/child.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { PATH_SIZE = 1024 };

struct one_run {
	struct child *child;
	struct tmr *timer; /* limits the time that people wait; also frees the child */
	char *input;
	unsigned wait_s;
	const char *name;
	one_run_h *doneh; /* NULL: it was told */
	void *arg;
	struct one_run **place;
	bool over;
};

/* The child may not be freed inside its handlers. */
static void finish(struct one_run *r, int status, const char *line, size_t len)
{
	one_run_h *h = r->doneh;

	r->doneh = NULL;
	r->over = true;
	tmr_start(r->timer, 0);
	h(status, line, len, r->arg);
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct one_run *r = arg;

	if (r->doneh)
		finish(r, 0, line, len);
}

static void on_state(bool up, int status, void *arg)
{
	struct one_run *r = arg;

	if (up && r->input && child_write_line(r->child, r->input, strlen(r->input)))
		child_stop(r->child);
	else if (!up && r->doneh)
		finish(r, status, NULL, 0);
}

static void on_timer(void *arg)
{
	struct one_run *r = arg, **place = r->place;

	if (r->over) {
		*place = one_run_free(r);
		return;
	}
	log_warn("run_took_too_long", "what=%s seconds=%u", r->name, r->wait_s);
	child_stop(r->child);
	finish(r, -1, NULL, 0);
}

struct one_run *one_run_free(struct one_run *r)
{
	if (!r)
		return NULL;
	tmr_free(r->timer);
	child_free(r->child);
	free(r->input);
	free(r);
	return NULL;
}

static int start(struct one_run *r, const struct one_run_conf *conf)
{
	static const char *const nothing[] = {NULL};
	char program[PATH_SIZE];
	const char *argv[ONE_RUN_ARGUMENTS + 2] = {program};
	unsigned n = 0;
	int err = spawn_locate(conf->env, "control", program, sizeof program);

	for (; conf->arguments[n]; n++) {
		if (n == ONE_RUN_ARGUMENTS)
			return E2BIG;
		argv[n + 1] = conf->arguments[n];
	}
	if (!err)
		err = tmr_alloc(&r->timer, conf->env, on_timer, r);
	if (!err)
		err = child_alloc(&r->child, conf->env,
				  &(struct child_conf){.argv = argv,
						       .environment = nothing,
						       .input = conf->input != NULL,
						       .log_errors = true,
						       .once = true,
						       .line_max = conf->line_max,
						       .lineh = conf->line_max ? on_line : NULL,
						       .stateh = on_state,
						       .arg = r});
	return err;
}

int one_run_begin(const struct one_run_conf *conf)
{
	struct one_run *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return ENOMEM;
	*r = (struct one_run){.wait_s = conf->wait_s,
			      .name = conf->name,
			      .doneh = conf->doneh,
			      .arg = conf->arg,
			      .place = conf->place};
	r->input = conf->input ? strdup(conf->input) : NULL;
	err = conf->input && !r->input ? ENOMEM : start(r, conf);
	if (err) {
		one_run_free(r);
		return err;
	}
	*conf->place = r;
	tmr_start(r->timer, conf->wait_s * NS_PER_S);
	return 0;
}
