/* Exports an incident for the dashboard by `control --incident`, a process of its own: it reads the
 * database for seconds, which neither the loop nor the store's worker has. One at a time. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "control/control_inside.h"
#include "control/web/web.h"
#include "ipc/child.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/iso_time.h"
#include "proto/base/time.h"

enum { WAIT_S = 60, PATH_SIZE = 1024, NUMBER_SIZE = 24, KEPT_MAX = 20 };

struct control_incident {
	struct child *child;
	struct tmr *timer;     /* limits the time that people wait; also frees the child */
	web_incident_h *doneh; /* NULL: it was answered */
	void *arg;
	char dir[PATH_SIZE];
	bool over;
};

/* The child may not be freed inside its handlers. */
static void finish(struct control_incident *g, const char *dir)
{
	web_incident_h *h = g->doneh;

	g->doneh = NULL;
	g->over = true;
	tmr_start(g->timer, 0);
	if (h)
		h(dir, g->arg);
}

static void on_state(bool up, int status, void *arg)
{
	struct control_incident *g = arg;

	if (!up && g->doneh)
		finish(g, status == 0 ? g->dir : NULL);
}

static void on_timer(void *arg)
{
	struct control *c = arg;
	struct control_incident *g = c->incident;

	if (!g->over) {
		log_warn("incident_took_too_long", "seconds=%d", WAIT_S);
		child_stop(g->child);
		finish(g, NULL);
		return;
	}
	control_end_incident(c);
}

void control_end_incident(struct control *c)
{
	struct control_incident *g = c->incident;

	c->incident = NULL;
	if (!g)
		return;
	tmr_free(g->timer);
	child_free(g->child);
	free(g);
}

static bool is_full(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n >= KEPT_MAX;
}

/* STATE/incidents/20261130T023015.123Z. No client names a path. */
static int name_folder(const struct control *c, char out[PATH_SIZE])
{
	char folder[PATH_SIZE], at[ISO_TIME_SIZE], *to = at;

	if ((size_t)snprintf(folder, sizeof folder, "%s/incidents", c->conf.state_dir) >=
	    sizeof folder)
		return ENAMETOOLONG;
	if (mkdir(folder, 0700) && errno != EEXIST)
		return errno;
	if (is_full(folder))
		return ENOSPC;
	iso_time_format(at, env_wall_ms(c->env));
	for (const char *p = at; *p; p++)
		if (*p != '-' && *p != ':')
			*to++ = *p;
	*to = '\0';
	return (size_t)snprintf(out, PATH_SIZE, "%s/%s", folder, at) < PATH_SIZE ? 0 : ENAMETOOLONG;
}

static int start(struct control *c, struct control_incident *g, const struct web_incident *what)
{
	static const char *const nothing[] = {NULL};
	char program[PATH_SIZE], hours[NUMBER_SIZE], guild[NUMBER_SIZE];
	const char *argv[] = {program,	 "--incident", g->dir,	  "--state-dir", c->conf.state_dir,
			      "--since", hours,	       "--guild", guild,	 NULL};
	int err = spawn_locate(c->env, "control", program, sizeof program);

	snprintf(hours, sizeof hours, "%" PRIu32 "h", what->hours);
	snprintf(guild, sizeof guild, "%" PRIu64, what->guild);
	if (!what->guild)
		argv[7] = NULL;
	if (!err)
		err = tmr_alloc(&g->timer, c->env, on_timer, c);
	if (!err)
		err = child_alloc(&g->child, c->env,
				  &(struct child_conf){.argv = argv,
						       .environment = nothing,
						       .log_errors = true,
						       .once = true,
						       .stateh = on_state,
						       .arg = g});
	return err;
}

int control_make_incident(const struct web_incident *what, web_incident_h *h, void *h_arg,
			  void *arg)
{
	struct control *c = arg;
	struct control_incident *g;
	int err;

	if (!c->conf.state_dir)
		return ENOENT;
	if (c->incident)
		return EBUSY;
	g = calloc(1, sizeof *g);
	if (!g)
		return ENOMEM;
	g->doneh = h;
	g->arg = h_arg;
	err = (int)env_answer(c->env, name_folder(c, g->dir));
	if (!err)
		err = start(c, g, what);
	c->incident = g;
	if (err) {
		g->doneh = NULL;
		control_end_incident(c);
		return err;
	}
	tmr_start(g->timer, WAIT_S * NS_PER_S);
	return 0;
}
