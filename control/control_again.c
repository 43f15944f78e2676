/* Asks the room again with other settings, for the dashboard: one process at a time
 * (control/again/again.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/again/again.h"
#include "control/control_inside.h"
#include "control/settings/settings.h"
#include "control/web/web.h"
#include "ipc/child.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { WAIT_S = 20, PATH_SIZE = 1024, ENDED_LINE_MAX = 256 << 10 };

struct control_again {
	struct child *child;
	struct tmr *timer;  /* limits the time that people wait; also frees the child */
	web_again_h *doneh; /* NULL: it was answered */
	void *arg;
	char *request;
	bool over;
};

/* The child may not be freed inside its handlers. */
static void finish(struct control_again *g, json_t *answer)
{
	web_again_h *h = g->doneh;

	g->doneh = NULL;
	g->over = true;
	tmr_start(g->timer, 0);
	if (h)
		h(answer, g->arg);
	else
		json_decref(answer);
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct control_again *g = arg;

	if (g->doneh)
		finish(g, json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL));
}

static void on_state(bool up, int status, void *arg)
{
	struct control_again *g = arg;

	(void)status;
	if (up && (child_write(g->child, g->request, strlen(g->request)) ||
		   child_write(g->child, "\n", 1)))
		child_stop(g->child);
	else if (!up && g->doneh)
		finish(g, NULL);
}

static void on_timer(void *arg)
{
	struct control *c = arg;
	struct control_again *g = c->again;

	if (!g->over) {
		log_warn("again_took_too_long", "seconds=%d", WAIT_S);
		child_stop(g->child);
		finish(g, NULL);
		return;
	}
	control_end_again(c);
}

void control_end_again(struct control *c)
{
	struct control_again *g = c->again;

	c->again = NULL;
	if (!g)
		return;
	tmr_free(g->timer);
	child_free(g->child);
	free(g->request);
	free(g);
}

static char *print_request(const struct control *c, const struct web_again *what)
{
	char file[PATH_SIZE];
	json_t *j;
	char *text;

	if ((size_t)snprintf(file, sizeof file, "%s/%llu-%llu.parley-room",
			     c->settings->room_journals, (unsigned long long)what->guild,
			     (unsigned long long)what->session) >= sizeof file)
		return NULL;
	j = json_pack("{s:s,s:I,s:O}", "file", file, "turn", (json_int_t)what->turn, "settings",
		      what->settings);
	text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	json_decref(j);
	if (text && strlen(text) + 2 > AGAIN_LINE_MAX) {
		free(text);
		text = NULL;
	}
	return text;
}

static int start(struct control *c, struct control_again *g)
{
	static const char *const nothing[] = {NULL};
	char program[PATH_SIZE];
	const char *argv[] = {program, "--again", NULL};
	int err = spawn_locate(c->env, "control", program, sizeof program);

	if (!err)
		err = tmr_alloc(&g->timer, c->env, on_timer, c);
	if (!err)
		err = child_alloc(&g->child, c->env,
				  &(struct child_conf){.argv = argv,
						       .environment = nothing,
						       .input = true,
						       .log_errors = true,
						       .once = true,
						       .line_max = ENDED_LINE_MAX,
						       .lineh = on_line,
						       .stateh = on_state,
						       .arg = g});
	return err;
}

int control_ask_again(const struct web_again *what, web_again_h *h, void *h_arg, void *arg)
{
	struct control *c = arg;
	struct control_again *g;
	int err;

	if (!*c->settings->room_journals)
		return ENOENT;
	if (c->again)
		return EBUSY;
	g = calloc(1, sizeof *g);
	if (!g)
		return ENOMEM;
	g->doneh = h;
	g->arg = h_arg;
	g->request = print_request(c, what);
	err = g->request ? start(c, g) : EMSGSIZE;
	c->again = g;
	if (err) {
		g->doneh = NULL;
		control_end_again(c);
		return err;
	}
	tmr_start(g->timer, WAIT_S * NS_PER_S);
	return 0;
}
