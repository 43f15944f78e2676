#include "control/jail/sandbox.h"

#include <errno.h>
#include <stdlib.h>

#include "control/jail/jail.h"
#include "ipc/child.h"
#include "ipc/log.h"
#include "ipc/spawn.h"

struct sandbox {
	struct env *env;
	void (*triedh)(void *arg);
	void *arg;
	struct child *trial;
	char bwrap[512];
	enum { UNTRIED, TRYING, WORKS, FAILS } state;
};

int sandbox_alloc(struct sandbox **out, struct env *env, void (*triedh)(void *arg), void *arg)
{
	struct sandbox *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	s->env = env;
	s->triedh = triedh;
	s->arg = arg;
	*out = s;
	return 0;
}

struct sandbox *sandbox_free(struct sandbox *s)
{
	if (!s)
		return NULL;
	child_free(s->trial);
	free(s);
	return NULL;
}

static void on_tried(bool up, int status, void *arg)
{
	struct sandbox *s = arg;

	if (up || s->state != TRYING)
		return;
	s->state = status == 0 ? WORKS : FAILS;
	if (status)
		log_warn("sandbox",
			 "works=0 status=%d advice=\"user namespaces are off here, the unit lacks "
			 "its drop-in for programs, or bubblewrap is not installed\"",
			 status);
	s->triedh(s->arg);
}

void sandbox_try(struct sandbox *s)
{
	static const char *const command[] = {"/usr/bin/true", NULL};
	const char *argv[JAIL_ARGS_MAX];
	const struct jail jail = {.bwrap = s->bwrap, .command = command};

	if (s->state != UNTRIED)
		return;
	s->state = TRYING;
	if (spawn_locate(s->env, "bwrap", s->bwrap, sizeof s->bwrap) || jail_command(&jail, argv) ||
	    child_alloc(&s->trial, s->env,
			&(struct child_conf){.argv = argv,
					     .once = true,
					     .log_errors = true,
					     .stateh = on_tried,
					     .arg = s}))
		on_tried(false, SPAWN_CANNOT_RUN, s);
}

bool sandbox_tried(const struct sandbox *s)
{
	return s->state == WORKS || s->state == FAILS;
}

const char *sandbox_bwrap(const struct sandbox *s)
{
	return s->state == WORKS ? s->bwrap : NULL;
}
