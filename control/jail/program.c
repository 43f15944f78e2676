#include "control/jail/program.h"

#include <stdio.h>

#include "control/jail/jail.h"
#include "control/jail/texts.h"

enum { MEMORY_SIZE = 32 };

static int join_environment(struct texts *t, const struct program *p)
{
	int err;

	t->v[t->n++] = "PATH=/usr/local/bin:/usr/bin:/bin";
	err = texts_join(t, p->environment, "=", NULL);
	return err ? err : texts_join(t, p->values, "=", p->secrets);
}

int program_start(struct child **out, struct env *env, const struct program *p)
{
	char memory[MEMORY_SIZE];
	struct texts command = {0}, read = {0}, variables = {0};
	const char *argv[JAIL_ARGS_MAX];
	const struct jail jail = {.bwrap = p->bwrap,
				  .folder = *p->folder ? p->folder : NULL,
				  .command = texts_read(&command, p->command),
				  .read = texts_read(&read, p->read),
				  .memory = p->memory_mib ? memory : NULL,
				  .network = p->network};
	int err = jail_command(&jail, argv);

	snprintf(memory, sizeof memory, "--data=%llu", (unsigned long long)p->memory_mib << 20);
	if (!err)
		err = join_environment(&variables, p);
	if (!err)
		err = child_alloc(out, env,
				  &(struct child_conf){.argv = argv,
						       .environment = variables.v,
						       .input = true,
						       .log_errors = !p->errorh || p->log_errors,
						       .once = p->once,
						       .line_max = p->line_max,
						       .readh = p->readh,
						       .lineh = p->lineh,
						       .errorh = p->errorh,
						       .stateh = p->stateh,
						       .arg = p->arg});
	texts_clear(&command);
	texts_clear(&read);
	texts_clear(&variables);
	return err;
}
