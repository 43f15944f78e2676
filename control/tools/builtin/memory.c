/* Tools that look into what is remembered, or change it (builtins.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/guard.h"
#include "control/memory/time_cue.h"
#include "control/tools/builtin/inside.h"
#include "control/tools/builtin/server_zone.h"
#include "ipc/env.h"
#include "proto/discord.h"

enum { HOURS = 168, MOST = 3, FACTS = 5 };
#define HOUR_MS UINT64_C(3600000)

static const char *text_of(const json_t *arguments, const char *key)
{
	const char *text = json_string_value(json_object_get(arguments, key));

	return text ? text : "";
}

static unsigned number_of(const json_t *arguments, const char *key, unsigned otherwise)
{
	const json_t *v = json_object_get(arguments, key);

	return json_is_number(v) ? (unsigned)json_number_value(v) : otherwise;
}

/* A time in the question is the window, also one from before max_age_hours; code resolves it,
 * because models count days badly. */
int builtin_conversation_search(struct builtins *b, const struct tool_start *call,
				const json_t *arguments)
{
	uint64_t now = env_wall_ms(b->host.env);
	uint64_t hours = number_of(arguments, "max_age_hours", HOURS);
	struct tool_said said = {.turn = call->turn,
				 .speaker = text_of(arguments, "speaker"),
				 .query = text_of(arguments, "query"),
				 .since_ms = now > hours * HOUR_MS ? now - hours * HOUR_MS : 0,
				 .most = number_of(arguments, "top_k", MOST)};
	const struct server_zone server = {b->host.env, b->host.settings};
	const struct calendar_zone zone = server_zone(&server);
	struct time_window when;

	if (time_cue_find(said.query, now, &zone, &when)) {
		said.when = &when;
		if (when.since_ms < said.since_ms)
			said.since_ms = when.since_ms;
	}
	return b->host.searchh(call->id, &said, b->host.arg);
}

/* ---- facts ---- */

static json_t *error_json(const char *code)
{
	return json_pack("{s:s}", "error", code);
}

/* Nobody else knows of facts that the store is never asked for. */
static void count_unwritten(const struct builtins *b, size_t facts)
{
	if (facts && b->host.unwrittenh)
		b->host.unwrittenh((unsigned)facts, b->host.arg);
}

/* Asks the host; request is stolen. */
static int ask(struct builtins *b, const struct tool_start *call, struct tool_memory *what,
	       json_t *request)
{
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	int err = text ? 0 : ENOMEM;

	what->request = text;
	what->turn = call->turn;
	what->user = call->user;
	if (!err)
		err = b->host.memoryh(call->id, what, b->host.arg);
	if (err == EACCES) {
		if (what->op == TOOL_MEMORY_WRITE)
			count_unwritten(b,
					json_array_size(request) + json_array_size(what->skipped));
		err = builtin_give(b, call->id, error_json("not_consented"));
	}
	free(text);
	json_decref(request);
	return err;
}

/* The speaker whose namespace the call may use; 0: nobody's, when several people spoke. */
static uint64_t speaker_of(const struct builtins *b, const struct tool_start *call)
{
	return call->shared || b->host.open ? 0 : call->user;
}

/* The namespace of the arguments. False: the call has its output, with *err. */
static bool read_space(struct builtins *b, const struct tool_start *call, const json_t *arguments,
		       struct memory_space *space, int *err)
{
	const char *why =
		memory_read_space(text_of(arguments, "namespace"), b->host.guildh(b->host.arg),
				  speaker_of(b, call), space);

	*err = why ? builtin_give(b, call->id, error_json(why)) : 0;
	return !why;
}

int builtin_memory_search(struct builtins *b, const struct tool_start *call,
			  const json_t *arguments)
{
	const json_t *tags = json_object_get(json_object_get(arguments, "filters"), "tags");
	struct tool_memory what = {.op = TOOL_MEMORY_FIND,
				   .most = number_of(arguments, "top_k", FACTS)};
	struct memory_space space;
	int err;

	if (!read_space(b, call, arguments, &space, &err))
		return err;
	what.owner = space.any ? speaker_of(b, call) : space.owner;
	what.any = space.any;
	return ask(b, call, &what,
		   json_pack("{s:s,s:O*,s:b}", "words", text_of(arguments, "query"), "tags", tags,
			     "mine",
			     !call->shared &&
				     json_is_true(json_object_get(arguments, "about_speaker"))));
}

/* Later prompts quote the tags of a fact, too. */
static enum memory_refusal check_item(const json_t *item)
{
	enum memory_refusal why = memory_check_text(text_of(item, "text"));

	return why ? why : memory_check_tags(json_object_get(item, "tags"));
}

/* Returns the items that pass the guard and adds the others to skipped, with the reason. The
 * speaker is the author: an author named by the model is ignored. */
static json_t *choose_items(const json_t *items, json_t *skipped)
{
	json_t *kept = json_array();
	const json_t *item, *tags;
	size_t i;

	json_array_foreach(items, i, item)
	{
		const char *text = text_of(item, "text"), *type = text_of(item, "type");
		enum memory_refusal why = check_item(item);

		tags = json_object_get(item, "tags");
		if (why)
			json_array_append_new(skipped,
					      json_pack("{s:s,s:s,s:s}", "reason",
							memory_refusal_name(why), "note",
							memory_refusal_text(why), "text", text));
		else
			json_array_append_new(kept,
					      json_pack("{s:s,s:s,s:O*}", "text", text, "type",
							*type ? type : "other", "tags", tags));
	}
	return kept;
}

int builtin_memory_write(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	struct tool_memory what = {.op = TOOL_MEMORY_WRITE};
	json_t *skipped, *items;
	struct memory_space space;
	int err;

	items = json_object_get(arguments, "items");
	if (!read_space(b, call, arguments, &space, &err)) {
		count_unwritten(b, json_array_size(items));
		return err;
	}
	skipped = json_array();
	items = choose_items(items, skipped);
	what.owner = space.owner;
	what.skipped = skipped;
	if (json_array_size(items)) {
		err = ask(b, call, &what, items);
	} else {
		json_decref(items);
		count_unwritten(b, json_array_size(skipped));
		err = builtin_give(b, call->id,
				   json_pack("{s:[],s:O}", "written", "skipped", skipped));
	}
	json_decref(skipped);
	return err;
}

/* Models write the number of a fact also as a text. One that is no number is the id of none. */
static json_t *read_id(const json_t *id)
{
	uint64_t number = 0;

	if (!json_is_string(id))
		return json_incref((json_t *)(uintptr_t)id);
	if (!discord_u64(json_string_value(id), &number) || number > INT64_MAX)
		number = 0;
	return json_integer((json_int_t)number);
}

int builtin_memory_forget(struct builtins *b, const struct tool_start *call,
			  const json_t *arguments)
{
	static const char *const keys[] = {"id", "tags"};
	bool last = json_is_true(json_object_get(arguments, "last")), named = last;
	struct tool_memory what = {.op = TOOL_MEMORY_FORGET};
	json_t *request;
	struct memory_space space;
	int err;

	if (!read_space(b, call, arguments, &space, &err))
		return err;
	request = json_pack("{s:s}", "words", text_of(arguments, "query"));
	if (last)
		json_object_set_new(request, "last", json_true());
	named = named || *text_of(arguments, "query");
	for (size_t i = 0; request && i < sizeof keys / sizeof keys[0]; i++) {
		json_t *v = json_object_get(arguments, keys[i]);

		named = named || v;
		if (v)
			json_object_set_new(request, keys[i], read_id(v));
	}
	if (!named) {
		json_decref(request);
		return builtin_give(b, call->id, error_json("items_required"));
	}
	what.owner = space.any ? speaker_of(b, call) : space.owner;
	what.any = space.any;
	return ask(b, call, &what, request);
}
