/* Responses (text.h). Unless the option store says so, nothing is kept at the provider. */
#include <stdio.h>
#include <string.h>

#include "control/dialect/text_inside.h"
#include "control/dialect/tool_form.h"
#include "control/prompts/prompts.def"

enum { LIMIT_MIN = 16 }; /* a smaller limit of the output is refused */

/* ---- the request ---- */

static json_t *build_parts(const struct engine_message *m)
{
	json_t *parts = json_array();

	json_array_append_new(parts,
			      json_pack("{s:s,s:o}", "type", "input_text", "text", text_line(m)));
	for (size_t i = 0; i < m->n_images; i++)
		json_array_append_new(parts,
				      json_pack("{s:s,s:s,s:o}", "type", "input_image", "detail",
						"auto", "image_url", text_data_url(&m->images[i])));
	if (json_array_size(parts) == 1 + m->n_images)
		return parts;
	json_decref(parts);
	return NULL;
}

static json_t *build_item(const struct engine_message *m)
{
	switch (m->role) {
	case ENGINE_CALL:
		return json_pack("{s:s,s:s,s:s,s:s}", "type", "function_call", "call_id", m->call,
				 "name", m->tool, "arguments", m->text);
	case ENGINE_RESULT:
		return json_pack("{s:s,s:s,s:s}", "type", "function_call_output", "call_id",
				 m->call, "output", m->text);
	case ENGINE_ASSISTANT:
		return json_pack("{s:s,s:o}", "role", "assistant", "content", text_line(m));
	case ENGINE_USER:
		break;
	}
	return json_pack("{s:s,s:o}", "role", "user", "content",
			 m->n_images ? build_parts(m) : text_line(m));
}

static json_t *build_input(const struct text_request *r)
{
	json_t *items = json_array();
	size_t from = *r->previous ? r->from : 0;

	for (size_t i = from; i < r->ask->n; i++)
		json_array_append_new(items, build_item(&r->ask->messages[i]));
	if (json_array_size(items) == r->ask->n - from)
		return items;
	json_decref(items);
	return NULL;
}

static json_t *build_tools(const struct engine_ask *ask)
{
	json_t *tools = json_array();
	size_t wanted = 0;

	for (size_t i = 0; i < ask->n_tools; i++) {
		const struct engine_tool *t = &ask->tools[i];

		if (!tool_form_takes(TOOL_FORM_RESPONSES, t->name))
			continue;
		wanted++;
		json_array_append_new(
			tools,
			json_pack("{s:s,s:s,s:s,s:o,s:b}", "type", "function", "name", t->name,
				  "description", t->description, "parameters",
				  tool_form_text(TOOL_FORM_RESPONSES, t->schema), "strict", 0));
	}
	if (ask->search) {
		wanted++;
		json_array_append_new(tools, json_pack("{s:s}", "type", "web_search"));
	}
	if (json_array_size(tools) == wanted)
		return tools;
	json_decref(tools);
	return NULL;
}

static json_t *build_format(const struct text_request *r)
{
	json_t *schema = text_answer_schema(r, true);

	if (!schema)
		return json_pack("{s:{s:s}}", "format", "type", "json_object");
	return json_pack("{s:{s:s,s:s,s:b,s:o}}", "format", "type", "json_schema", "name", "answer",
			 "strict", 1, "schema", schema);
}

static bool put_options(json_t *root, const struct text_request *r)
{
	const char *effort = text_effort(r);
	uint32_t limit = text_limit(r);
	bool ok = true;

	if (limit)
		ok = text_put(root, "max_output_tokens",
			      json_integer(limit < LIMIT_MIN ? LIMIT_MIN : limit));
	if (ok && *r->ask->instructions)
		ok = text_put(root, "instructions",
			      json_sprintf("%s%s", r->ask->instructions,
					   r->ask->search ? PROMPT_PROVIDER_SEARCH : ""));
	if (ok && *r->previous)
		ok = text_put(root, "previous_response_id", json_string(r->previous));
	if (ok && *effort)
		ok = text_put(root, "reasoning", json_pack("{s:s}", "effort", effort));
	if (ok && r->ask->answer_schema)
		ok = text_put(root, "text", build_format(r));
	if (ok && (r->ask->n_tools || r->ask->search))
		ok = text_put(root, "tools", build_tools(r->ask));
	return ok;
}

static char *build_responses(const struct text_request *r)
{
	json_t *root =
		json_pack("{s:s,s:o,s:b,s:b}", "model", r->ask->model, "input", build_input(r),
			  "stream", r->stream, "store", r->options->store && !r->ask->one_word);

	if (root && put_options(root, r))
		return text_print(root);
	json_decref(root);
	return NULL;
}

/* ---- the answer ---- */

/* Fragments have the index of their item; some servers leave it out and give the item's id. */
static struct text_call *find_call(struct text_stream *s, const json_t *event, const json_t *item)
{
	const json_t *index = json_object_get(event, "output_index");
	const char *id = json_string_value(json_object_get(item, "call_id"));
	const char *item_id = json_string_value(item ? json_object_get(item, "id")
						     : json_object_get(event, "item_id"));
	const char *name = json_string_value(json_object_get(item ? item : event, "name"));
	char key[TEXT_ID_MAX];

	if (json_is_integer(index))
		snprintf(key, sizeof key, "%lld", (long long)json_integer_value(index));
	else
		snprintf(key, sizeof key, "id %.100s", item_id ? item_id : "");
	return text_call_at(s, key, id, name);
}

static bool is_call(const json_t *item)
{
	const char *type = json_string_value(json_object_get(item, "type"));

	return type && strcmp(type, "function_call") == 0;
}

static bool is_search(const json_t *item)
{
	const char *type = json_string_value(json_object_get(item, "type"));

	return type && strcmp(type, "web_search_call") == 0;
}

/* The provider also opens pages: then the action has an address and no query. */
static void read_search(struct text_stream *s, const json_t *item)
{
	const json_t *action = json_object_get(item, "action");
	const char *status = json_string_value(json_object_get(item, "status"));
	const char *query = json_string_value(json_object_get(action, "query"));

	if (!query)
		query = json_string_value(json_object_get(action, "url"));
	text_searched(s, query, status && strcmp(status, "failed") == 0);
}

static void read_item(struct text_stream *s, const json_t *event, bool whole)
{
	const json_t *item = json_object_get(event, "item");
	struct text_call *c = is_call(item) ? find_call(s, event, item) : NULL;

	if (is_search(item) && whole)
		read_search(s, item);
	else if (is_search(item))
		text_search_began(s);
	if (c && whole)
		text_call_end(s, c, json_object_get(item, "arguments"));
}

static void read_usage(struct text_stream *s, const json_t *usage)
{
	uint64_t in = text_number(usage, "input_tokens"), cached;

	if (!json_is_object(usage))
		return;
	cached = text_number(json_object_get(usage, "input_tokens_details"), "cached_tokens");
	if (cached > in)
		cached = in;
	s->used = true;
	s->usage.n[PRICE_TEXT_IN] = in - cached;
	s->usage.n[PRICE_TEXT_CACHED] = cached;
	s->usage.n[PRICE_TEXT_OUT] = text_number(usage, "output_tokens");
}

/* The items of an answer that comes whole, or whose fragments did not come. */
static void read_output(struct text_stream *s, const json_t *response)
{
	const json_t *output = json_object_get(response, "output");
	bool words = s->words;
	unsigned searches = 0;

	for (size_t i = 0; i < json_array_size(output); i++) {
		const json_t *item = json_array_get(output, i);
		const json_t *parts = json_object_get(item, "content");
		const char *type = json_string_value(json_object_get(item, "type"));
		json_t *event = json_pack("{s:i,s:O}", "output_index", (int)i, "item", item);

		if (event && is_call(item))
			read_item(s, event, true);
		json_decref(event);
		/* Those that the stream told are the first ones. */
		if (is_search(item) && ++searches > s->searches_told)
			read_search(s, item);
		if (words || !type || strcmp(type, "message") != 0)
			continue;
		for (size_t k = 0; k < json_array_size(parts); k++) {
			const json_t *part = json_array_get(parts, k);

			text_tell_words(s, json_object_get(part, "text"));
			text_tell_words(s, json_object_get(part, "refusal"));
		}
	}
}

static void read_response(struct text_stream *s, const json_t *response)
{
	const json_t *why = json_object_get(response, "incomplete_details");
	const char *status = json_string_value(json_object_get(response, "status"));
	const char *reason = json_string_value(json_object_get(why, "reason"));
	const char *id = json_string_value(json_object_get(response, "id"));

	if (id && strlen(id) < sizeof s->response)
		snprintf(s->response, sizeof s->response, "%s", id);
	if (!status || strcmp(status, "in_progress") == 0 || strcmp(status, "queued") == 0)
		return;
	read_usage(s, json_object_get(response, "usage"));
	if (strcmp(status, "failed") == 0 || strcmp(status, "cancelled") == 0) {
		text_fail(s, json_object_get(response, "error"));
		return;
	}
	read_output(s, response);
	text_end_searches(s);
	s->finished = true;
	if (reason)
		s->end = strcmp(reason, "content_filter") == 0 ? ENGINE_END_FILTERED
							       : ENGINE_END_LENGTH;
	text_end_calls(s);
}

static void read_done_arguments(struct text_stream *s, const json_t *event)
{
	struct text_call *c = find_call(s, event, NULL);

	/* The item's end tells the call; this may lack its name. */
	if (c && !c->n)
		text_call_more(s, c, json_object_get(event, "arguments"));
}

static void read_more_arguments(struct text_stream *s, const json_t *event)
{
	struct text_call *c = find_call(s, event, NULL);

	if (c)
		text_call_more(s, c, json_object_get(event, "delta"));
}

static void read_words(struct text_stream *s, const json_t *event)
{
	text_tell_words(s, json_object_get(event, "delta"));
}

static void read_annotation(struct text_stream *s, const json_t *event)
{
	const json_t *annotation = json_object_get(event, "annotation");
	const char *type = json_string_value(json_object_get(annotation, "type"));

	if (type && strcmp(type, "url_citation") == 0)
		text_tell_source(s, json_string_value(json_object_get(annotation, "url")),
				 json_string_value(json_object_get(annotation, "title")));
}

static void read_added(struct text_stream *s, const json_t *event)
{
	read_item(s, event, false);
}

static void read_done(struct text_stream *s, const json_t *event)
{
	read_item(s, event, true);
}

static void read_state(struct text_stream *s, const json_t *event)
{
	read_response(s, json_object_get(event, "response"));
}

/* Everything else is passed over. */
static const struct {
	const char *type;
	void (*read)(struct text_stream *s, const json_t *event);
} events[] = {
	{"response.output_text.delta", read_words},
	{"response.refusal.delta", read_words},
	{"response.output_text.annotation.added", read_annotation},
	{"response.output_item.added", read_added},
	{"response.output_item.done", read_done},
	{"response.function_call_arguments.delta", read_more_arguments},
	{"response.function_call_arguments.done", read_done_arguments},
	{"response.created", read_state},
	{"response.completed", read_state},
	{"response.incomplete", read_state},
	{"response.failed", read_state},
	{"error", text_fail},
};

static int read_responses(struct text_stream *s, const void *data)
{
	const json_t *root = data, *error = json_object_get(root, "error");
	const char *type = json_string_value(json_object_get(root, "type"));
	const char *object = json_string_value(json_object_get(root, "object"));

	if (object && strcmp(object, "response") == 0) {
		read_response(s, root);
		return 0;
	}
	if (error && !json_is_null(error)) {
		text_fail(s, error);
		return 0;
	}
	for (size_t i = 0; type && i < sizeof events / sizeof events[0]; i++)
		if (strcmp(type, events[i].type) == 0)
			events[i].read(s, root);
	return 0;
}

const struct text_dialect text_dialect_responses = {.path = "responses",
						    .searches = true,
						    .continues = true,
						    .build = build_responses,
						    .read = read_responses};
