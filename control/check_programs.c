/* True if the programs that the settings name, workers and servers of MCP, can run in the sandbox.
 */
#include "control/check_inside.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/jail/jail.h"
#include "control/settings/settings.h"
#include "ipc/spawn.h"

enum { PATH_SIZE = 1024, LABEL_SIZE = 64 };

/* 0: a jailed program ran. */
static int try_sandbox(void)
{
	static const char *const command[] = {"/usr/bin/true", NULL};
	static const char *const nothing[] = {NULL};
	const char *argv[JAIL_ARGS_MAX];
	char bwrap[PATH_SIZE];
	const struct jail jail = {.bwrap = bwrap, .command = command};
	struct spawned p;
	int status = 0;

	if (spawn_find("bwrap", bwrap, sizeof bwrap) || jail_command(&jail, argv) ||
	    spawn_program(
		    &p, &(struct spawn_conf){.argv = argv, .environment = nothing, .errors = true}))
		return -1;
	waitpid(p.pid, &status, 0);
	spawn_close(&p);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In the folders of the PATH that it gets. */
static bool find_program(const char *name, char *path)
{
	static const char *const folders[] = {"/usr/local/bin", "/usr/bin", "/bin"};

	snprintf(path, PATH_SIZE, "%s", name);
	if (strchr(name, '/'))
		return access(path, X_OK) == 0;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, PATH_SIZE, "%s/%s", folders[i], name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static bool is_under(const char *path, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	while (n && folder[n - 1] == '/')
		n--;
	return n && strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}

static bool is_shown(const char *path, const char *folder, const char *read)
{
	static const char *const system[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64"};
	json_t *list = *read ? json_loads(read, 0, NULL) : NULL, *item;
	bool shown = is_under(path, folder);
	size_t i;

	for (i = 0; i < sizeof system / sizeof system[0]; i++)
		shown = shown || is_under(path, system[i]);
	json_array_foreach(list, i, item) shown = shown || is_under(path, json_string_value(item));
	json_decref(list);
	return shown;
}

static void check_program(struct check *c, const char *label, const char *command,
			  const char *folder, const char *read, bool network)
{
	json_t *list = *command ? json_loads(command, 0, NULL) : NULL;
	const char *name = json_string_value(json_array_get(list, 0));
	char path[PATH_SIZE];

	if (!name || !find_program(name, path))
		check_say(c, CHECK_WARNING, label, "%s is not there or cannot be run",
			  name ? name : "its program");
	else if (!is_shown(path, folder, read))
		check_say(c, CHECK_WARNING, label,
			  "the sandbox does not show %s; name its folder in \"read\"", path);
	else if (*folder && access(folder, F_OK))
		check_say(c, CHECK_WARNING, label, "its folder %s is not there", folder);
	else if (*folder && access(folder, R_OK | W_OK | X_OK))
		check_say(c, CHECK_WARNING, label, "its folder %s cannot be written", folder);
	else
		check_say(c, CHECK_OK, label, "%s runs in the sandbox, %s network", path,
			  network ? "with the" : "without a");
	json_decref(list);
}

/* files: paths by name; values: what was read from them. */
static void check_values(struct check *c, const char *label, const char *files, const char *values)
{
	json_t *paths = *files ? json_loads(files, 0, NULL) : NULL;
	json_t *read = *values ? json_loads(values, 0, NULL) : NULL;
	const char *name;
	json_t *path;

	json_object_foreach(paths, name, path)
	{
		const char *value = json_string_value(json_object_get(read, name));

		if (!value || !*value)
			check_say(c, CHECK_WARNING, label,
				  "the file %s for %s is not there, or holds nothing",
				  json_string_value(path), name);
	}
	json_decref(read);
	json_decref(paths);
}

static void check_secrets(struct check *c)
{
	const struct settings_records *r = &c->settings->records;
	char label[LABEL_SIZE];

	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++) {
		snprintf(label, sizeof label, "worker %s", r->worker[i].name);
		check_values(c, label, r->worker[i].secrets, r->worker[i].values);
	}
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++) {
		snprintf(label, sizeof label, "MCP server %s", r->mcp[i].name);
		check_values(c, label, r->mcp[i].headers, r->mcp[i].values);
		check_values(c, label, r->mcp[i].secrets, r->mcp[i].values);
	}
}

static void check_models(struct check *c)
{
	const struct settings_records *r = &c->settings->records;
	const struct provider_record *p = settings_purpose(c->settings, PURPOSE_WORKER, 0);
	char label[LABEL_SIZE];

	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++) {
		if (r->worker[i].kind != WORKER_MODEL)
			continue;
		snprintf(label, sizeof label, "worker %s", r->worker[i].name);
		if (p)
			check_say(c, CHECK_OK, label, "provider %s does its tasks", p->name);
		else
			check_say(c, CHECK_WARNING, label,
				  "no provider serves the purpose worker, nor the role text");
	}
}

void check_programs(struct check *c)
{
	const struct settings_records *r = &c->settings->records;
	char label[LABEL_SIZE];
	unsigned programs = 0;

	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++)
		programs += r->worker[i].kind != WORKER_MODEL;
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++)
		programs += *r->mcp[i].command != '\0';
	check_secrets(c);
	check_models(c);
	if (!programs)
		return;
	if (try_sandbox()) {
		check_say(c, CHECK_WARNING, "sandbox",
			  "bubblewrap is not installed, or user namespaces are off here; no "
			  "worker and no server of MCP that is a program runs");
		return;
	}
	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++) {
		const struct worker_record *w = &r->worker[i];

		snprintf(label, sizeof label, "worker %s", w->name);
		if (w->kind != WORKER_MODEL)
			check_program(c, label, w->command, w->folder, w->read, w->network);
	}
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++) {
		const struct mcp_record *m = &r->mcp[i];

		snprintf(label, sizeof label, "MCP server %s", m->name);
		if (*m->command && !m->transport)
			check_program(c, label, m->command, m->folder, m->read, m->network);
	}
}
