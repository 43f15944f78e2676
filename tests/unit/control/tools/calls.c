#include "tests/unit/control/tools/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/media.h"

#define SCHEMA                                                                                     \
	"{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\",\"maxLength\":30000}},"   \
	"\"additionalProperties\":false}"

static int start(const struct tool_start *call, void *arg)
{
	(void)call;
	(void)arg;
	return 0;
}

/* Calls with the argument "read" read. */
static enum tool_effect find_effect(const char *arguments, void *arg)
{
	(void)arg;
	return strstr(arguments, "\"read\"") ? TOOL_EFFECT_NONE : TOOL_EFFECT_OUTSIDE;
}

static const struct tool_shell shell = {.start = start},
			       hand_shell = {.start = start, .effect = find_effect};

static const struct tool_row rows[] = {
	{.name = "look", .timeout_ms = 8000, .max_output = 100},
	{.name = "again", .timeout_ms = 8000, .max_output = 100, .repeat = TOOL_REPEAT_RUN},
	{.name = "page", .timeout_ms = 8000, .max_output = 100, .taints = TOOL_TAINTS_SESSION},
	{.name = "quote", .timeout_ms = 8000, .max_output = 100, .taints = TOOL_TAINTS_TURN},
	{.name = "titles", .timeout_ms = 8000, .max_output = 100, .taints = TOOL_TAINTS_NAMES},
	{.name = "quiet", .timeout_ms = 8000, .max_output = 100, .follow = TOOL_FOLLOW_SILENT},
	{.name = "fire",
	 .timeout_ms = 8000,
	 .max_output = 100,
	 .follow = TOOL_FOLLOW_FORGET,
	 .effect = TOOL_EFFECT_ROOM},
	{.name = "ring", .timeout_ms = 8000, .max_output = 100, .effect = TOOL_EFFECT_ROOM},
	{.name = "chime",
	 .timeout_ms = 8000,
	 .max_output = 100,
	 .effect = TOOL_EFFECT_ROOM,
	 .repeat = TOOL_REPEAT_RUN},
	{.name = "send",
	 .timeout_ms = 8000,
	 .max_output = 100,
	 .effect = TOOL_EFFECT_OUTSIDE,
	 .who = TOOL_WHO_MODERATORS},
	{.name = "hand",
	 .timeout_ms = 8000,
	 .max_output = 100,
	 .effect = TOOL_EFFECT_OUTSIDE,
	 .confirm = true},
	{.name = "wipe", .timeout_ms = 8000, .max_output = 100, .effect = TOOL_EFFECT_FINAL},
	{.name = "write",
	 .timeout_ms = 8000,
	 .max_output = 100,
	 .effect = TOOL_EFFECT_ROOM,
	 .follow = TOOL_FOLLOW_SILENT,
	 .abort = TOOL_ABORT_DETACH},
	{.name = "long", .timeout_ms = 600000, .max_output = 100, .abort = TOOL_ABORT_DETACH},
	{.name = "task",
	 .timeout_ms = 600000,
	 .max_output = 100,
	 .abort = TOOL_ABORT_DETACH,
	 .taints = TOOL_TAINTS_SESSION},
	{.name = "work", .timeout_ms = 60000, .max_output = 100, .abort = TOOL_ABORT_DETACH},
};

static int add_rows(struct calls *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof rows / sizeof rows[0]; i++) {
		struct tool_row row = rows[i];

		row.description = "A tool.";
		row.schema = SCHEMA;
		err = tools_registry_add(c->registry, &row,
					 strcmp(row.name, "hand") == 0 ? &hand_shell : &shell,
					 NULL);
	}
	return err;
}

bool calls_open(struct calls *c)
{
	*c = (struct calls){.ms = 1000};
	c->out = calloc(1, sizeof *c->out);
	return c->out && !settings_alloc(&c->settings) && !tools_registry_alloc(&c->registry) &&
	       !add_rows(c) && !tools_run_alloc(&c->run, c->registry, c->settings);
}

void calls_close(struct calls *c)
{
	tools_run_free(c->run);
	tools_registry_free(c->registry);
	settings_free(c->settings);
	free(c->out);
}

static void write_output(struct calls *c, const struct tool_output *o)
{
	size_t n = strlen(c->said), size = sizeof c->said - n;
	char *to = c->said + n;

	switch (o->type) {
	case TOOL_DO_BEGIN:
		c->id = o->id;
		snprintf(to, size, "begin:%u ", o->id);
		break;
	case TOOL_DO_JOURNAL:
		snprintf(to, size, "journal:%u%s ", o->id, o->await ? ":await" : "");
		break;
	case TOOL_DO_START:
		c->titled = o->titled;
		c->agreed = o->agreed;
		snprintf(to, size, "start:%u:%s:%.200s ", o->id, o->tool, o->arguments);
		break;
	case TOOL_DO_CANCEL:
		snprintf(to, size, "cancel:%u ", o->id);
		break;
	case TOOL_DO_ANSWER:
		snprintf(to, size, "answer:%s:%s ", o->call, o->text);
		break;
	case TOOL_DO_END:
		snprintf(to, size, "end:%u:%s ", o->id,
			 o->silent   ? "silent"
			 : o->follow ? "go"
				     : "stop");
		break;
	case TOOL_DO_SETTLE:
		snprintf(to, size, "settle:%u:%s ", o->id, tool_code_name(o->code));
		break;
	case TOOL_DO_LATE:
		snprintf(to, size, "late:%u:%s:%s ", o->id, tool_late_name(o->late), o->text);
		break;
	case TOOL_DO_PROGRESS:
		snprintf(to, size, "progress:%u:%s ", o->id, o->text);
		break;
	case TOOL_DO_JOBS:
		c->jobs = o->n;
		break;
	case TOOL_DO_LINE:
		snprintf(to, size, "line:%u:%u ", o->turn, o->n);
		break;
	}
}

void calls_step(struct calls *c, struct tool_input in)
{
	tools_run_step(c->run, &in, c->ms * NS_PER_MS, c->out);
	for (size_t i = 0; i < c->out->n; i++)
		write_output(c, &c->out->v[i]);
}

void calls_call(struct calls *c, uint32_t turn, const char *id, const char *tool, const char *arg)
{
	char arguments[256] = "";

	if (arg)
		snprintf(arguments, sizeof arguments, "{\"q\":\"%s\"}", arg);
	calls_step(c, (struct tool_input){.type = TOOL_IN_CALL,
					  .turn = turn,
					  .user = ALICE,
					  .session = 1,
					  .call = id,
					  .tool = tool,
					  .text = slice_str(arguments)});
}

void calls_output(struct calls *c, uint32_t id, const char *text)
{
	calls_step(c,
		   (struct tool_input){
			   .type = TOOL_IN_OUTPUT, .id = id, .ok = true, .text = slice_str(text)});
}

void calls_pass(struct calls *c, unsigned ms)
{
	uint64_t until = c->ms + ms, at;

	while ((at = tools_run_deadline(c->run)) <= until * NS_PER_MS) {
		c->ms = at / NS_PER_MS > c->ms ? at / NS_PER_MS : c->ms;
		calls_step(c, (struct tool_input){.type = TOOL_IN_TIME});
	}
	c->ms = until;
}

const char *calls_said(struct calls *c)
{
	static char said[sizeof c->said];

	memcpy(said, c->said, sizeof said);
	c->said[0] = '\0';
	return said;
}

unsigned calls_count(const char *said, const char *word)
{
	unsigned n = 0;

	for (const char *at = said; (at = strstr(at, word)); at++)
		n += at == said || at[-1] == ' ';
	return n;
}
