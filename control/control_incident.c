/* Exports an incident for the dashboard by `control --incident` (control/one_run.h). One at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "control/control_inside.h"
#include "control/one_run.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "proto/base/iso_time.h"

enum { WAIT_S = 60, PATH_SIZE = CONTROL_INCIDENT_PATH, NUMBER_SIZE = 24, KEPT_MAX = 20 };

static void on_done(int status, const char *line, size_t len, void *arg)
{
	struct control *c = arg;

	(void)line;
	(void)len;
	c->incident_told.h(status == 0 ? c->incident_told.dir : NULL, c->incident_told.arg);
}

void control_end_incident(struct control *c)
{
	c->incident = one_run_free(c->incident);
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

int control_make_incident(const struct web_incident *what, web_incident_h *h, void *h_arg,
			  void *arg)
{
	struct control *c = arg;
	char *dir = c->incident_told.dir, hours[NUMBER_SIZE], guild[NUMBER_SIZE];
	const char *arguments[ONE_RUN_ARGUMENTS + 1] = {"--incident",	   dir,	      "--state-dir",
							c->conf.state_dir, "--since", hours};
	int err;

	if (!c->conf.state_dir)
		return ENOENT;
	if (c->incident)
		return EBUSY;
	snprintf(hours, sizeof hours, "%" PRIu32 "h", what->hours);
	snprintf(guild, sizeof guild, "%" PRIu64, what->guild);
	if (what->guild) {
		arguments[6] = "--guild";
		arguments[7] = guild;
	}
	err = (int)env_answer(c->env, name_folder(c, dir));
	if (err)
		return err;
	c->incident_told.h = h;
	c->incident_told.arg = h_arg;
	return one_run_begin(&(struct one_run_conf){.env = c->env,
						    .arguments = arguments,
						    .wait_s = WAIT_S,
						    .name = "incident",
						    .doneh = on_done,
						    .arg = c,
						    .place = &c->incident});
}
