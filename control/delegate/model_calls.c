#include "control/delegate/model_calls.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "control/delegate/delegates.h"
#include "control/engine/core/ask.h"
#include "control/tools/envelope.h"
#include "control/tools/policy.h"
#include "control/tools/registry.h"
#include "control/tools/run.h"
#include "control/tools/schema.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/fnv.h"
#include "proto/base/time.h"
#include "proto/media.h"

struct model_call {
	uint32_t id, number; /* id: while it runs, 0: it does not; number: for the audit */
	uint64_t begun_at, hash;
	char *call, *tool, *arguments;
	char *output; /* NULL: not yet */
	bool failed;
	/* Of its row, which may go while it runs. */
	enum tool_taints taints;
	uint32_t max_output;
	const struct tool_shell *shell;
	void *shell_arg;
};

struct model_calls {
	struct model_calls_conf conf;
	json_t *allowed;
	uint64_t user;
	bool tainted, starting;
	struct model_call v[MODEL_CALLS_MAX];
	unsigned n;
	struct tmr *due;
};

/* ---- tools ---- */

static bool is_allowed(const struct model_calls *c, const struct tool_row *row)
{
	const json_t *name;
	size_t i;

	if (row->effect != TOOL_EFFECT_NONE || row->who != TOOL_WHO_EVERYONE || row->confirm ||
	    row->follow != TOOL_FOLLOW_UP)
		return false;
	json_array_foreach(c->allowed, i, name)
	{
		if (strcmp(json_string_value(name), row->name) == 0)
			return true;
	}
	return false;
}

/* NULL: there is none, or it is not for workers. */
static const struct tool *find_tool(const struct model_calls *c, const char *name)
{
	const struct tool *tool = tools_registry_find(c->conf.registry, name);

	return tool && is_allowed(c, &tool->row) ? tool : NULL;
}

size_t model_calls_list(const struct model_calls *c, struct engine_tool *out)
{
	size_t n = tools_registry_list(c->conf.registry, out), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (find_tool(c, out[i].name) && !tool_policy_lists(c->conf.off, out[i].name))
			out[kept++] = out[i];
	return kept;
}

/* ---- the audit ---- */

static void record_call(const struct model_calls *c, const struct model_call *call,
			enum tool_output_type type, enum tool_code code)
{
	char line[TOOL_SUMMARY_MAX] = "";
	uint64_t lasted = env_now(c->conf.env) - call->begun_at;

	if (type == TOOL_DO_SETTLE)
		tool_envelope_summary(call->tool, call->output ? call->output : "", line,
				      sizeof line);
	c->conf.model->calledh(&(struct tool_output){.type = type,
						     .id = call->number,
						     .user = c->user,
						     .hash = call->hash,
						     .tainted = c->tainted,
						     .failed = code != TOOL_CODE_OK,
						     .code = code,
						     .ms = (uint32_t)(lasted / NS_PER_MS),
						     .call = call->call,
						     .tool = call->tool,
						     .arguments = call->arguments,
						     .text = line},
			       c->conf.model->arg);
}

/* ---- outputs ---- */

static void give_error(const struct model_calls *c, struct model_call *call, enum tool_code code,
		       const char *message)
{
	call->id = 0;
	call->failed = true;
	call->output = tool_envelope_error(code, message);
	record_call(c, call, TOOL_DO_SETTLE, code);
}

static void tell_done(struct model_calls *c)
{
	if (c->starting)
		return;
	for (unsigned i = 0; i < c->n; i++)
		if (c->v[i].id)
			return;
	tmr_stop(c->due);
	c->conf.doneh(c->conf.arg);
}

void model_calls_output(struct model_calls *c, uint32_t id, bool ok, struct slice text)
{
	char why[TOOL_ERROR_MAX];

	for (unsigned i = 0; id && i < c->n; i++) {
		struct model_call *call = &c->v[i];

		if (call->id != id)
			continue;
		call->id = 0;
		call->failed = !ok;
		c->tainted = c->tainted || call->taints > TOOL_TAINTS_NAMES;
		snprintf(why, sizeof why, "%.*s", ok ? 0 : (int)text.n, (const char *)text.p);
		call->output = ok ? tool_envelope_output(text, call->max_output,
							 c->tainted || call->taints)
				  : tool_envelope_error(TOOL_CODE_FAILED, why);
		record_call(c, call, TOOL_DO_SETTLE, ok ? TOOL_CODE_OK : TOOL_CODE_FAILED);
		tell_done(c);
		return;
	}
}

static void cancel_call(struct model_call *call)
{
	uint32_t id = call->id;

	call->id = 0;
	if (id && call->shell->cancel)
		call->shell->cancel(id, call->shell_arg);
}

static void on_due(void *arg)
{
	struct model_calls *c = arg;

	for (unsigned i = 0; i < c->n; i++)
		if (c->v[i].id) {
			cancel_call(&c->v[i]);
			give_error(c, &c->v[i], TOOL_CODE_TIMEOUT, "");
		}
	tell_done(c);
}

/* ---- a round ---- */

int model_calls_add(struct model_calls *c, const char *call, const char *tool,
		    struct slice arguments)
{
	struct model_call *m = &c->v[c->n];

	if (c->n == MODEL_CALLS_MAX)
		return ENOSPC;
	m->call = strdup(call);
	m->tool = strdup(tool);
	m->arguments = strndup((const char *)arguments.p, arguments.n);
	if (!m->call || !m->tool || !m->arguments) {
		free(m->call);
		free(m->tool);
		free(m->arguments);
		*m = (struct model_call){0};
		return ENOMEM;
	}
	c->n++;
	return 0;
}

bool model_calls_open(const struct model_calls *c)
{
	return c->n > 0;
}

/* The arguments as the tool gets them; the caller frees them. NULL: why says what is wrong. */
static char *check_arguments(const struct tool *tool, const char *text, char *why, size_t size)
{
	json_t *arguments = tool_arguments_read(slice_str(text));
	char *out = NULL;

	*why = '\0';
	if (arguments && schema_check(tool->schema, arguments, why, size) == 0)
		out = json_dumps(arguments, JSON_COMPACT);
	json_decref(arguments);
	return out;
}

/* False: the room's policy refuses the call. */
static bool allow(const struct model_calls *c, struct model_call *call, const struct tool *tool,
		  const char *arguments)
{
	const struct tool_request request = {
		.row = &tool->row, .user = c->user, .arguments = arguments, .tainted = c->tainted};
	enum tool_verdict verdict = c->conf.model->judgeh(&request, c->conf.model->arg);

	if (verdict != TOOL_ALLOWED)
		give_error(c, call, TOOL_CODE_DENIED, tool_verdict_text(verdict));
	return verdict == TOOL_ALLOWED;
}

static void run_call(struct model_calls *c, struct model_call *call, const struct tool *tool,
		     const char *arguments)
{
	int err;

	call->taints = tool->row.taints;
	call->max_output = tool->row.max_output;
	call->shell = tool->shell;
	call->shell_arg = tool->arg;
	call->id = call->number;
	record_call(c, call, TOOL_DO_JOURNAL, TOOL_CODE_OK);
	err = tool->shell->start(&(struct tool_start){.id = call->id,
						      .turn = call->id,
						      .user = c->user,
						      .tainted = c->tainted,
						      .tool = tool->row.name,
						      .arguments = arguments},
				 tool->arg);
	if (err)
		give_error(c, call, TOOL_CODE_FAILED, strerror(err));
}

static void start_call(struct model_calls *c, struct model_call *call)
{
	const struct tool *tool = find_tool(c, call->tool);
	char why[SCHEMA_WHY_MAX], *arguments;

	call->number = c->conf.numberh(c->conf.arg);
	call->begun_at = env_now(c->conf.env);
	if (!tool) {
		give_error(c, call, TOOL_CODE_UNKNOWN_TOOL, "");
		return;
	}
	arguments = check_arguments(tool, call->arguments, why, sizeof why);
	if (!arguments) {
		give_error(c, call, TOOL_CODE_BAD_ARGUMENTS, why);
		return;
	}
	call->hash = fnv_bytes(FNV_BEGIN, arguments, strlen(arguments));
	if (allow(c, call, tool, arguments))
		run_call(c, call, tool, arguments);
	free(arguments);
}

void model_calls_start(struct model_calls *c)
{
	uint32_t most = 0;

	c->starting = true;
	for (unsigned i = 0; i < c->n; i++) {
		const struct tool *tool = find_tool(c, c->v[i].tool);

		if (tool && tool->row.timeout_ms > most)
			most = tool->row.timeout_ms;
		start_call(c, &c->v[i]);
	}
	c->starting = false;
	tmr_start(c->due, most * NS_PER_MS);
	tell_done(c);
}

size_t model_calls_messages(const struct model_calls *c, struct engine_message *out)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct model_call *m = &c->v[i];

		out[i] = (struct engine_message){.role = ENGINE_CALL,
						 .text = m->arguments,
						 .call = m->call,
						 .tool = m->tool};
		out[c->n + i] = (struct engine_message){.role = ENGINE_RESULT,
							.text = m->output ? m->output : "",
							.call = m->call,
							.tool = m->tool,
							.failed = m->failed};
	}
	return (size_t)2 * c->n;
}

void model_calls_clear(struct model_calls *c)
{
	tmr_stop(c->due);
	while (c->n) {
		struct model_call *m = &c->v[--c->n];

		if (m->id) {
			cancel_call(m);
			record_call(c, m, TOOL_DO_SETTLE, TOOL_CODE_CANCELLED);
		}
		free(m->call);
		free(m->tool);
		free(m->arguments);
		free(m->output);
		*m = (struct model_call){0};
	}
}

/* ---- coming and going ---- */

void model_calls_begin(struct model_calls *c, uint64_t user, bool tainted)
{
	c->user = user;
	c->tainted = tainted;
}

int model_calls_alloc(struct model_calls **out, const struct model_calls_conf *conf)
{
	struct model_calls *c = calloc(1, sizeof *c);
	int err;

	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->allowed = *conf->allowed ? json_loads(conf->allowed, 0, NULL) : NULL;
	err = tmr_alloc(&c->due, conf->env, on_due, c);
	if (err) {
		model_calls_free(c);
		return err;
	}
	*out = c;
	return 0;
}

struct model_calls *model_calls_free(struct model_calls *c)
{
	if (!c)
		return NULL;
	if (c->due)
		model_calls_clear(c);
	tmr_free(c->due);
	json_decref(c->allowed);
	free(c);
	return NULL;
}
