/* The tools of delegation in a room's registry (delegates.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/delegate/inside.h"
#include "control/tools/run.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

enum { DESCRIPTION_MAX = 2048, SHOWN_MAX = 200 };

/* ---- answers about tasks ---- */

static json_t *describe_task(const struct delegate_seat *seat, const struct task *t)
{
	static const char *const states[] = {"waiting", "running", "ended"};
	uint64_t until = t->state == TASK_ENDED ? t->ended_at : env_now(seat->set->env);
	char shown[SHOWN_MAX + 1], *doing;
	json_t *about;

	utf8_copy(shown, sizeof shown, t->untold ? "" : t->text);
	about = json_pack("{s:I, s:o, s:s, s:s, s:I}", "task", (json_int_t)t->number, "what",
			  json_string(shown), "worker", seat->set->record[t->desk].name, "state",
			  t->state == TASK_ENDED ? t->outcome : states[t->state], "seconds",
			  (json_int_t)((until - t->given_at) / NS_PER_S));
	doing = about && *t->progress && !t->untold
			? delegate_result_fence(seat->set->env, seat->set->record[t->desk].name,
						t->progress, sizeof t->progress)
			: NULL;
	if (doing)
		json_object_set_new(about, "doing", json_string(doing));
	free(doing);
	if (about && t->cost)
		json_object_set_new(about, "usd", json_real((double)t->cost / 1e6));
	return about;
}

/* Steals value. */
static int give_json(const struct delegate_seat *seat, uint32_t call, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	json_decref(value);
	if (!text)
		return ENOMEM;
	seat->room.host.outputh(call, true, slice_str(text), seat->room.host.arg);
	free(text);
	return 0;
}

static int tell_status(const struct delegate_seat *seat, uint32_t call, const json_t *arguments)
{
	json_int_t number = json_integer_value(json_object_get(arguments, "task"));
	const struct task *t = delegate_task_find(seat, number > 0 ? (uint64_t)number : 0);

	if (t)
		return give_json(seat, call, describe_task(seat, t));
	seat->room.host.outputh(call, false, slice_str("there is no such task"),
				seat->room.host.arg);
	return 0;
}

static int tell_list(const struct delegate_seat *seat, uint32_t call)
{
	json_t *list = json_array();

	for (uint64_t n = seat->numbers; list && n && n + TASKS_MAX > seat->numbers; n--) {
		const struct task *t = delegate_task_find(seat, n);

		if (t)
			json_array_append_new(list, describe_task(seat, t));
	}
	return give_json(seat, call, json_pack("{s:o}", "tasks", list));
}

/* ---- the shell ---- */

static int start_call(const struct tool_start *call, void *arg)
{
	struct delegate_seat *seat = arg;
	json_t *arguments = json_loads(call->arguments, 0, NULL);
	const char *text = json_string_value(json_object_get(arguments, "task"));
	const char *worker = json_string_value(json_object_get(arguments, "worker"));
	int err;

	if (strcmp(call->tool, "ask_list") == 0)
		err = tell_list(seat, call->id);
	else if (strcmp(call->tool, "ask_status") == 0)
		err = tell_status(seat, call->id, arguments);
	else
		err = delegate_task_give(seat, call, text ? text : "", worker ? worker : "");
	json_decref(arguments);
	return err;
}

static void cancel_call(uint32_t id, void *arg)
{
	delegate_task_leave(arg, id);
}

/* A task acts outside the room only if its own worker does. */
static enum tool_effect find_effect(const char *text, void *arg)
{
	const struct delegate_seat *seat = arg;
	json_t *arguments = json_loads(text, 0, NULL);
	const char *worker = json_string_value(json_object_get(arguments, "worker"));
	enum tool_effect effect = TOOL_EFFECT_OUTSIDE;
	unsigned at;

	if (delegate_desk_find(seat->set, worker ? worker : "", &at) == 0 &&
	    seat->set->record[at].effects != EFFECTS_OUTSIDE)
		effect = TOOL_EFFECT_NONE;
	json_decref(arguments);
	return effect;
}

static const struct tool_shell shell = {
	.start = start_call, .cancel = cancel_call, .effect = find_effect};

/* ---- rows ---- */

static char *make_schema(const struct delegates *d)
{
	json_t *names = json_array(), *schema;
	char *text;

	for (unsigned i = 0; i < d->n; i++)
		json_array_append_new(names, json_string(d->record[i].name));
	schema = json_pack("{s:s, s:{s:{s:s, s:i, s:i, s:s}, s:{s:o, s:s}}, s:[s], s:b}", "type",
			   "object", "properties", "task", "type", "string", "minLength", 1,
			   "maxLength", TASK_TEXT_MAX, "description",
			   "The whole task, with all that the worker must know: it heard nothing "
			   "of the conversation.",
			   "worker", "enum", names, "description", "The first one unless told.",
			   "required", "task", "additionalProperties", 0);
	text = schema ? json_dumps(schema, JSON_COMPACT) : NULL;
	json_decref(schema);
	return text;
}

static int add_ask(struct delegate_seat *seat, const char *schema)
{
	const struct delegates *d = seat->set;
	char description[DESCRIPTION_MAX];
	bool outside = false;
	size_t n = (size_t)snprintf(
		description, sizeof description,
		"Hands a longer task to a stronger agent: research, code, anything of several "
		"steps. It takes minutes; the result comes by itself, so say that it is being "
		"worked on and do not ask again. Workers:");

	for (unsigned i = 0; i < d->n; i++) {
		outside = outside || d->record[i].effects == EFFECTS_OUTSIDE;
		n += (size_t)snprintf(description + n, sizeof description - n, " %s%s%s.",
				      d->record[i].name, *d->record[i].about ? ", " : "",
				      d->record[i].about);
	}
	return tools_registry_add(
		seat->room.registry,
		&(struct tool_row){.name = "ask",
				   .description = description,
				   .schema = schema,
				   .effect = outside ? TOOL_EFFECT_OUTSIDE : TOOL_EFFECT_NONE,
				   .who = TOOL_WHO_EVERYONE,
				   .timeout_ms = TOOL_JOB_END_MS,
				   .abort = TOOL_ABORT_DETACH,
				   .max_output = OUTPUT_MAX,
				   .taints = TOOL_TAINTS_SESSION,
				   .confirm = outside},
		&shell, seat);
}

static int add_reading(struct delegate_seat *seat, const char *name, const char *description,
		       const char *schema)
{
	return tools_registry_add(seat->room.registry,
				  &(struct tool_row){.name = name,
						     .description = description,
						     .schema = schema,
						     .timeout_ms = 2000,
						     .repeat = TOOL_REPEAT_RUN,
						     .max_output = OUTPUT_MAX,
						     .taints = TOOL_TAINTS_SESSION},
				  &shell, seat);
}

int delegate_rows_add(struct delegate_seat *seat)
{
	char *schema;
	int err;

	if (!seat->set->n)
		return 0;
	schema = make_schema(seat->set);
	err = schema ? add_ask(seat, schema) : ENOMEM;
	if (!err)
		err = add_reading(seat, "ask_status",
				  "Tells how a task that was handed over goes on.",
				  "{\"type\":\"object\",\"properties\":{\"task\":{\"type\":"
				  "\"integer\",\"minimum\":1,\"description\":\"Its number; the "
				  "newest unless told.\"}},\"additionalProperties\":false}");
	if (!err)
		err = add_reading(seat, "ask_list",
				  "Lists the tasks that were handed over, newest first.",
				  "{\"type\":\"object\",\"properties\":{},"
				  "\"additionalProperties\":false}");
	free(schema);
	return err;
}

void delegate_rows_remove(struct delegate_seat *seat)
{
	tools_registry_remove(seat->room.registry, &shell, seat);
}
