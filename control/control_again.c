/* Asks the room again with other settings, for the dashboard: one process at a time
 * (control/again/again.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/again/again.h"
#include "control/control_inside.h"
#include "control/one_run.h"
#include "control/settings/settings.h"
#include "control/web/web.h"

enum { WAIT_S = 20, PATH_SIZE = 1024, ENDED_LINE_MAX = 256 << 10 };

static void on_done(int status, const char *line, size_t len, void *arg)
{
	struct control *c = arg;

	(void)status;
	c->again_told.h(line ? json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL) : NULL,
			c->again_told.arg);
}

void control_end_again(struct control *c)
{
	c->again = one_run_free(c->again);
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

int control_ask_again(const struct web_again *what, web_again_h *h, void *h_arg, void *arg)
{
	static const char *const arguments[] = {"--again", NULL};
	struct control *c = arg;
	char *request;
	int err;

	if (!*c->settings->room_journals)
		return ENOENT;
	if (c->again)
		return EBUSY;
	request = print_request(c, what);
	if (!request)
		return EMSGSIZE;
	c->again_told.h = h;
	c->again_told.arg = h_arg;
	err = one_run_begin(&(struct one_run_conf){.env = c->env,
						   .arguments = arguments,
						   .input = request,
						   .line_max = ENDED_LINE_MAX,
						   .wait_s = WAIT_S,
						   .name = "again",
						   .doneh = on_done,
						   .arg = c,
						   .place = &c->again});
	free(request);
	return err;
}
