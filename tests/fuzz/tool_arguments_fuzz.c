/* Arguments of every built-in tool, through the registry and the run of a call to the tool itself:
 * lines of a letter for the tool and the arguments. No input may crash or leak, every call is
 * answered once, and each answer is one JSON object in UTF-8 of a bounded length. The tools of the
 * web begin nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/time_cue.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/builtins.h"
#include "control/tools/builtin/host.h"
#include "control/tools/run.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 40, ANSWER_MAX = 8 * TOOLS_OUTPUT_MAX };

static const char *const names[] = {
#define X(NAME, name, ...) #name,
	TOOLS(X)
#undef X
		"no_such_tool"};
enum { NAMES = sizeof names / sizeof names[0] };

struct state {
	struct env *env;
	struct settings *settings;
	struct tools_registry *registry;
	struct tools_run *run;
	struct builtins *builtins;
	struct tool_outputs *out;
	uint64_t now;
	unsigned calls, answers;
	/* The output that a tool gave from inside its start. */
	char *text;
	uint32_t id;
	bool given, ok;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void on_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	struct state *s = arg;

	require(!s->given);
	s->given = true;
	s->id = id;
	s->ok = ok;
	s->text = strndup(text.n ? (const char *)text.p : "", text.n);
}

static json_t *on_status(void *arg)
{
	(void)arg;
	return json_pack("{s:[s],s:i}", "people", "Ann", "minutes", 3);
}

static int on_write(const char *text, void *arg)
{
	(void)arg;
	require(utf8_valid(text));
	return 0;
}

static int on_sound(uint32_t id, const char *name, void *arg)
{
	(void)id, (void)arg;
	return strlen(name) % 2 ? 0 : 2;
}

static int on_leave(uint32_t turn, uint64_t user, void *arg)
{
	(void)turn, (void)user, (void)arg;
	return 0;
}

static int on_join(uint32_t turn, uint64_t user, const char *name, void *arg)
{
	(void)turn, (void)user, (void)arg;
	require(utf8_valid(name));
	return 0;
}

static int on_search(uint32_t id, const struct tool_said *what, void *arg)
{
	(void)id, (void)arg;
	require(utf8_valid(what->speaker) && utf8_valid(what->query) && what->most >= 1 &&
		what->most <= 8 && (!what->when || what->when->since_ms < what->when->until_ms));
	return 0;
}

static bool on_remember(void *arg)
{
	(void)arg;
	return true;
}

static uint64_t on_guild(void *arg)
{
	(void)arg;
	return 7;
}

static int on_memory(uint32_t id, const struct tool_memory *what, void *arg)
{
	json_t *request = json_loads(what->request, 0, NULL);

	(void)id, (void)arg;
	require(request && (!what->owner || what->owner == what->user) && what->most <= 20);
	json_decref(request);
	return 0;
}

static bool is_text(const json_t *v, size_t i)
{
	return json_is_string(json_array_get(v, i));
}

static int on_music(uint32_t id, const struct tool_music *what, void *arg)
{
	(void)id, (void)arg;
	require(what->op <= TOOL_MUSIC_HANDOFF && what->place >= -1);
	if (what->op == TOOL_MUSIC_SEARCH)
		require(what->query && *what->query && what->most >= 1 && what->most <= 25);
	for (size_t i = 0; i < json_array_size(what->tracks); i++)
		require(is_text(what->tracks, i));
	require(what->op != TOOL_MUSIC_CHANGE || json_is_object(what->changes));
	return 0;
}

static void step(struct state *s, const struct tool_input *in);

static void check_answer(const struct tool_output *o)
{
	json_t *root = json_loads(o->text, 0, NULL);

	require(json_is_object(root) && json_is_boolean(json_object_get(root, "ok")));
	require(utf8_valid(o->text) && strlen(o->text) <= ANSWER_MAX);
	json_decref(root);
}

/* True if a tool gave its output. */
static bool start(struct state *s, const struct tool_output *o)
{
	const struct tool *tool = tools_registry_find(s->registry, o->tool);
	const struct tool_start call = {
		.id = o->id, .turn = o->turn, .tool = o->tool, .arguments = o->arguments};
	int err;

	require(tool);
	if (strncmp(o->tool, "web_", 4) == 0)
		return false;
	s->given = false;
	err = tool->shell->start(&call, tool->arg);
	require(!err || !s->given);
	return s->given;
}

static void step(struct state *s, const struct tool_input *in)
{
	uint32_t given[TOOLS_OUTPUTS];
	size_t n = 0;

	s->now += NS_PER_MS;
	tools_run_step(s->run, in, s->now, s->out);
	for (size_t i = 0; i < s->out->n; i++) {
		const struct tool_output *o = &s->out->v[i];

		if (o->type == TOOL_DO_ANSWER) {
			s->answers++;
			check_answer(o);
		} else if (o->type == TOOL_DO_START && start(s, o)) {
			given[n++] = o->id;
		}
	}
	/* One call begins at a time, so its text is the newest. */
	if (n) {
		char *text = s->text;

		s->text = NULL;
		step(s, &(struct tool_input){.type = TOOL_IN_OUTPUT,
					     .id = given[n - 1],
					     .ok = s->ok,
					     .text = slice_str(text)});
		free(text);
	}
}

static void call(struct state *s, const uint8_t *line, size_t n)
{
	char id[16];

	snprintf(id, sizeof id, "c%u", s->calls++);
	step(s, &(struct tool_input){.type = TOOL_IN_CALL,
				     .turn = s->calls, /* limits of a turn are others' business */
				     .user = s->calls,
				     .rank = TOOL_RANK_OWNER,
				     .session = 1,
				     .call = id,
				     .tool = names[line[0] % NAMES],
				     .text = {line + 1, n - 1}});
	step(s, &(struct tool_input){.type = TOOL_IN_END, .turn = s->calls, .user = s->calls});
	require(s->answers == s->calls);
}

static void open_state(struct state *s)
{
	const struct tool_host host = {.settings = s->settings,
				       .env = s->env,
				       .outputh = on_output,
				       .statush = on_status,
				       .writeh = on_write,
				       .soundh = on_sound,
				       .leaveh = on_leave,
				       .joinh = on_join,
				       .searchh = on_search,
				       .rememberh = on_remember,
				       .guildh = on_guild,
				       .memoryh = on_memory,
				       .musich = on_music,
				       .music_search = true,
				       .music_plays = true,
				       .music_web = true,
				       .arg = s};

	require(!tools_registry_alloc(&s->registry) &&
		!tools_run_alloc(&s->run, s->registry, s->settings) &&
		!builtins_alloc(&s->builtins, &host) && !builtins_add(s->builtins, s->registry));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state s = {.now = NS_PER_S};
	const uint8_t *end = data + size;

	s.out = calloc(1, sizeof *s.out);
	require(s.out && !env_alloc(&s.env, &(struct env_conf){0}) &&
		!settings_alloc(&s.settings) &&
		!settings_set(s.settings, "search_url", "http://127.0.0.1:1"));
	open_state(&s);
	while (data < end && s.calls < LINES) {
		const uint8_t *cut = memchr(data, '\n', (size_t)(end - data));
		size_t n = cut ? (size_t)(cut - data) : (size_t)(end - data);

		if (n)
			call(&s, data, n);
		data += n + 1;
	}
	builtins_free(s.builtins);
	tools_run_free(s.run);
	tools_registry_free(s.registry);
	settings_free(s.settings);
	env_free(s.env);
	free(s.text);
	free(s.out);
	return 0;
}
