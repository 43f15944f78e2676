#include "control/embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jansson.h>

#include "control/settings/secret_names.h"
#include "ipc/child.h"
#include "ipc/log.h"
#include "ipc/spawn.h"

#define ANYWHERE "127.0.0.1:0"

enum { READY_LINE_MAX = 1024, STATUS_NO_MODEL = 3 /* of offlined */ };

struct embedded {
	struct child *child;
	embedded_ready_h *h;
	embedded_failed_h *failedh;
	void *arg;
	char program[512];
	char listen[32];
	bool told; /* printed its address since its last start */
};

int embedded_parse(const char *line, char *url, size_t size, unsigned *port)
{
	json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	const char *text = json_string_value(json_object_get(j, "url"));
	unsigned p;
	int err = EBADMSG;

	if (text && strlen(text) < size && sscanf(text, "ws://127.0.0.1:%5u", &p) == 1 && p > 0 &&
	    p < 65536) {
		snprintf(url, size, "%s", text);
		*port = p;
		err = 0;
	}
	json_decref(j);
	return err;
}

static int give_argv(struct embedded *e)
{
	const char *argv[] = {e->program, "--listen", e->listen, NULL};

	return child_set_argv(e->child, argv);
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct embedded *e = arg;
	char url[256];
	unsigned port;

	(void)len;
	if (embedded_parse(line, url, sizeof url, &port))
		return;
	e->told = true;
	snprintf(e->listen, sizeof e->listen, "127.0.0.1:%u", port);
	give_argv(e); /* without memory it takes another port next time */
	log_info("embedded_brain", "url=%s", url);
	e->h(url, e->arg);
}

/* Restarts offlined on its old port, or on any port if another process has taken that one. */
static void on_state(bool up, int status, void *arg)
{
	struct embedded *e = arg;

	bool failed = !up && !e->told;

	if (failed) {
		snprintf(e->listen, sizeof e->listen, ANYWHERE);
		give_argv(e);
	}
	e->told = false;
	if (failed && e->failedh)
		e->failedh(status == STATUS_NO_MODEL ? EMBEDDED_NO_MODEL : EMBEDDED_FAILS, e->arg);
}

enum embedded_fault embedded_check(const char *program)
{
	const char *argv[] = {program, "--check-model", NULL};
	const struct spawn_conf conf = {.argv = argv, .hide = secret_names, .errors = true};
	struct spawned p;
	int status = 0;

	if (spawn_program(&p, &conf))
		return EMBEDDED_FAILS;
	waitpid(p.pid, &status, 0);
	spawn_close(&p);
	if (!WIFEXITED(status))
		return EMBEDDED_FAILS;
	return WEXITSTATUS(status) == 0			? EMBEDDED_STARTS
	       : WEXITSTATUS(status) == STATUS_NO_MODEL ? EMBEDDED_NO_MODEL
							: EMBEDDED_FAILS;
}

int embedded_alloc(struct embedded **out, struct env *env, embedded_ready_h *h,
		   embedded_failed_h *failedh, void *arg)
{
	struct embedded *e;
	int err;

	if (!out || !env || !h)
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	e->h = h;
	e->failedh = failedh;
	e->arg = arg;
	snprintf(e->listen, sizeof e->listen, ANYWHERE);
	err = spawn_locate(env, "offlined", e->program, sizeof e->program);
	if (!err) {
		const char *argv[] = {e->program, "--listen", e->listen, NULL};

		err = child_alloc(&e->child, env,
				  &(struct child_conf){.argv = argv,
						       .hide = secret_names,
						       .line_max = READY_LINE_MAX,
						       .lineh = on_line,
						       .stateh = on_state,
						       .arg = e});
	}
	if (err)
		embedded_free(e);
	else
		*out = e;
	return err;
}

struct embedded *embedded_free(struct embedded *e)
{
	if (!e)
		return NULL;
	child_free(e->child);
	free(e);
	return NULL;
}

pid_t embedded_pid(const struct embedded *e)
{
	return child_pid(e->child);
}
