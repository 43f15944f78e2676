/* Checks what models reach through tools: workers, servers of MCP, the web search. Programs are
 * tried in the sandbox with the mounts of their record. */
#include "control/check_inside.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/dialect/text.h"
#include "control/engine/engine.h"
#include "control/jail/jail.h"
#include "control/jail/texts.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/web.h"
#include "control/tools/policy.h"
#include "control/tools/registry.h"
#include "control/unit_file.h"
#include "ipc/spawn.h"

#define RECORD(r)                                                                                  \
	{                                                                                          \
		(r)->command, (r)->folder, (r)->read, (r)->network                                 \
	}

enum { PATH_SIZE = 1024, LABEL_SIZE = 64 };

/* 0: a program ran in this jail. */
static int try_jail(const struct jail *of)
{
	static const char *const command[] = {"/usr/bin/true", NULL};
	static const char *const nothing[] = {NULL};
	const char *argv[JAIL_ARGS_MAX];
	struct jail jail = *of;
	char bwrap[PATH_SIZE];
	struct spawned p;
	int status = 0;

	jail.bwrap = bwrap;
	jail.command = command;
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

/* The script of an interpreter: its first argument that is no option. NULL: it names none by an
 * absolute path. */
static const char *find_script(const json_t *command, const char *program)
{
	static const char *const interpreters[] = {"node", "python3", "python", "sh", "bash",
						   "perl", "ruby",    "deno",	"bun"};
	const char *base = strrchr(program, '/'), *arg;
	bool interprets = false;
	size_t i = 1;

	base = base ? base + 1 : program;
	for (size_t k = 0; k < sizeof interpreters / sizeof interpreters[0]; k++)
		interprets = interprets || strcmp(base, interpreters[k]) == 0;
	while ((arg = json_string_value(json_array_get(command, i))) && *arg == '-')
		i++;
	return interprets && arg && *arg == '/' ? arg : NULL;
}

/* The members of a record that a program's sandbox is made of. */
struct program_record {
	const char *command, *folder, *read;
	bool network;
};

/* Each fault is told; the number of them. */
static unsigned check_file(struct check *c, const char *label, const struct program_record *r,
			   const char *path, int mode)
{
	bool there = access(path, mode) == 0, shown = is_shown(path, r->folder, r->read);

	if (!there)
		check_say(c, CHECK_WARNING, label, "%s is not there or cannot be %s", path,
			  mode == X_OK ? "run" : "read");
	if (!shown)
		check_say(c, CHECK_WARNING, label,
			  "the sandbox does not show %s; name its folder in \"read\"", path);
	return !there + !shown;
}

static unsigned check_mounts(struct check *c, const char *label, const struct program_record *r)
{
	struct texts read = {0};
	struct jail jail = {.folder = *r->folder ? r->folder : NULL, .network = r->network};
	unsigned faults = 0;

	jail.read = texts_read(&read, r->read);
	for (unsigned i = 0; jail.read[i]; i++)
		if (access(jail.read[i], R_OK)) {
			check_say(c, CHECK_WARNING, label,
				  "%s of \"read\" is not there or cannot be read", jail.read[i]);
			faults++;
		}
	if (*r->folder && access(r->folder, F_OK)) {
		check_say(c, CHECK_WARNING, label, "its folder %s is not there", r->folder);
		faults++;
	} else if (*r->folder && access(r->folder, R_OK | W_OK | X_OK)) {
		check_say(c, CHECK_WARNING, label, "its folder %s cannot be written", r->folder);
		faults++;
	}
	if (!faults && try_jail(&jail)) {
		check_say(c, CHECK_WARNING, label,
			  "no program runs in a sandbox with its \"read\" and \"folder\"");
		faults++;
	}
	texts_clear(&read);
	return faults;
}

static void check_program(struct check *c, const char *label, const struct program_record *r)
{
	json_t *list = *r->command ? json_loads(r->command, 0, NULL) : NULL;
	const char *name = json_string_value(json_array_get(list, 0));
	const char *script = name ? find_script(list, name) : NULL;
	char path[PATH_SIZE];
	unsigned faults = 0;

	if (name && find_program(name, path)) {
		faults += check_file(c, label, r, path, X_OK);
	} else {
		check_say(c, CHECK_WARNING, label, "%s is not there or cannot be run",
			  name ? name : "its program");
		faults++;
	}
	if (script)
		faults += check_file(c, label, r, script, R_OK);
	faults += check_mounts(c, label, r);
	if (!faults)
		check_say(c, CHECK_OK, label, "%s runs in the sandbox, %s network",
			  script ? script : path, r->network ? "with the" : "without a");
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

/* Rows of the table of built-in tools; those of MCP servers have "__" in their names. */
static bool is_for_models(const char *tool)
{
	static const struct {
		const char *name;
		bool fits;
	} rows[] = {
#define T(NAME, tool_name, effect, rank, ms, next, abort, repeat, most, taints, asks, ...)         \
	{#tool_name, TOOL_EFFECT_##effect == TOOL_EFFECT_NONE &&                                   \
			     TOOL_WHO_##rank == TOOL_WHO_EVERYONE &&                               \
			     TOOL_FOLLOW_##next == TOOL_FOLLOW_UP && !(asks)},
		TOOLS(T)
#undef T
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].name, tool) == 0)
			return rows[i].fits;
	return strstr(tool, "__") != NULL;
}

static unsigned check_model_tools(struct check *c, const char *label, const char *tools)
{
	json_t *list = *tools ? json_loads(tools, 0, NULL) : NULL, *item;
	unsigned faults = 0, service;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *tool = json_string_value(item);

		if (!is_for_models(tool)) {
			check_say(c, CHECK_WARNING, label,
				  "there is no tool %s that a worker may call", tool);
			faults++;
		} else if (strcmp(tool, "web_search") == 0 &&
			   !builtin_web_service(c->settings, &service)) {
			check_say(c, CHECK_WARNING, label,
				  "web_search has no service; set search_url, or search_key");
			faults++;
		}
	}
	json_decref(list);
	return faults;
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
		if (check_model_tools(c, label, r->worker[i].tools))
			continue;
		if (p)
			check_say(c, CHECK_OK, label, "provider %s does its tasks", p->name);
		else
			check_say(c, CHECK_WARNING, label,
				  "no provider serves the purpose worker, nor the role text");
	}
}

static void check_addresses(struct check *c)
{
	const struct settings_records *r = &c->settings->records;
	char label[LABEL_SIZE];

	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++) {
		if (!r->mcp[i].transport)
			continue;
		snprintf(label, sizeof label, "MCP server %s", r->mcp[i].name);
		if (*r->mcp[i].url)
			check_say(c, CHECK_OK, label,
				  "is at %.*s; GET /api/mcp/status tells whether it answers",
				  (int)strcspn(r->mcp[i].url, "?"), r->mcp[i].url);
		else
			check_say(c, CHECK_WARNING, label, "its record has no url");
	}
}

static void check_search_url(struct check *c)
{
	if (*c->settings->search_url)
		check_say(c, CHECK_OK, "web search", "is at %.*s; it is not tried here",
			  (int)strcspn(c->settings->search_url, "?"), c->settings->search_url);
}

/* Another provider that takes over may have no search either; models then answer without one. */
static void check_search(struct check *c)
{
	const struct settings *s = c->settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_VOICE_REPLY, 0);
	const struct text_dialect *d = p ? engine_text_dialect((enum dialect)p->dialect) : NULL;

	if (s->search != SETTINGS_SEARCH_PROVIDER) {
		check_search_url(c);
	} else if (s->reply_path != SETTINGS_REPLY_BRAIN) {
		check_say(c, CHECK_WARNING, "web search",
			  "search is provider, but voice models have no search of their own here; "
			  "set reply_path to brain");
	} else if (!d || !d->searches) {
		check_say(c, CHECK_WARNING, "web search",
			  "search is provider, but provider %s has no search of its own here; only "
			  "the dialect responses has one",
			  p ? p->name : "of the answers");
	} else if (!s->tools || !tool_policy_is_free(s, "web_search")) {
		check_say(c, CHECK_WARNING, "web search",
			  "search is provider, but tools are off, or web_search is off or only for "
			  "some people, so nothing is searched");
	} else {
		check_say(c, CHECK_OK, "web search", "provider %s searches by itself", p->name);
	}
}

#define LOST	"no worker, no server of MCP and no music_downloader that is a program runs"
#define DROP_IN "/etc/systemd/system/" UNIT_CONTROL ".d/programs.conf"

/* False: no program runs in one here, which is told. */
static bool check_sandbox(struct check *c)
{
	char bwrap[PATH_SIZE];

	if (spawn_find("bwrap", bwrap, sizeof bwrap)) {
		check_say(c, CHECK_WARNING, "sandbox",
			  "bubblewrap is not there, so " LOST "; install the package bubblewrap");
		return false;
	}
	if (try_jail(&(struct jail){0})) {
		check_say(
			c, CHECK_WARNING, "sandbox",
			"user namespaces are off here, so " LOST
			"; allow them (sysctl kernel.unprivileged_userns_clone, "
			"user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)");
		return false;
	}
	if (unit_forbids_programs(""))
		check_say(c, CHECK_WARNING, "sandbox",
			  "it works here, but " UNIT_CONTROL " forbids it, so as a service " LOST
			  "; install the drop-in parley-programs.conf (share/parley/programs.conf) "
			  "as " DROP_IN ", then: systemctl daemon-reload");
	return true;
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
	check_addresses(c);
	check_search(c);
	programs += *c->settings->music_downloader != '\0';
	if (!programs || !check_sandbox(c))
		return;
	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++) {
		const struct worker_record *w = &r->worker[i];

		snprintf(label, sizeof label, "worker %s", w->name);
		if (w->kind != WORKER_MODEL)
			check_program(c, label, &(struct program_record)RECORD(w));
	}
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++) {
		const struct mcp_record *m = &r->mcp[i];

		snprintf(label, sizeof label, "MCP server %s", m->name);
		if (*m->command && !m->transport)
			check_program(c, label, &(struct program_record)RECORD(m));
	}
}
