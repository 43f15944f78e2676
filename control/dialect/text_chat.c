/* Chat completions (text.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/text_inside.h"
#include "control/dialect/tool_form.h"

/* ---- the request ---- */

/* Some models of the dialect's own service refuse the old name of the limit; other servers know
 * only that. */
static const char *limit_name(const char *model)
{
	return text_is_openai(model) ? "max_completion_tokens" : "max_tokens";
}

static json_t *build_parts(const struct engine_message *m)
{
	json_t *parts = json_array();

	json_array_append_new(parts, json_pack("{s:s,s:o}", "type", "text", "text", text_line(m)));
	for (size_t i = 0; i < m->n_images; i++)
		json_array_append_new(parts,
				      json_pack("{s:s,s:{s:o}}", "type", "image_url", "image_url",
						"url", text_data_url(&m->images[i])));
	if (json_array_size(parts) == 1 + m->n_images)
		return parts;
	json_decref(parts);
	return NULL;
}

/* Servers that apply the model's own chat template refuse two messages of one role in a row, and an
 * assistant that begins, where the template does (Mistral, Gemma). In a room several people speak
 * before the bot does. */
static bool is_strict(const struct text_options *o)
{
	return o->server == TEXT_SERVER_LLAMACPP || o->server == TEXT_SERVER_VLLM ||
	       o->server == TEXT_SERVER_LOCALAI;
}

/* The last message, when it is words of this role; NULL otherwise. */
static json_t *last_words(const json_t *messages, const char *role)
{
	size_t n = json_array_size(messages);
	json_t *last = n ? json_array_get(messages, n - 1) : NULL;
	const char *was = json_string_value(json_object_get(last, "role"));

	return was && strcmp(was, role) == 0 && json_is_string(json_object_get(last, "content")) &&
			       !json_object_get(last, "tool_calls")
		       ? last
		       : NULL;
}

static bool join_words(json_t *last, const struct engine_message *m)
{
	json_t *line = text_line(m);
	json_t *both =
		line ? json_sprintf("%s\n%s", json_string_value(json_object_get(last, "content")),
				    json_string_value(line))
		     : NULL;

	json_decref(line);
	return text_put(last, "content", both);
}

static bool append_message(json_t *messages, const struct engine_message *m)
{
	json_t *v;

	if (m->role == ENGINE_RESULT)
		v = json_pack("{s:s,s:s,s:s}", "role", "tool", "tool_call_id", m->call, "content",
			      m->text);
	else
		v = json_pack("{s:s,s:o}", "role",
			      m->role == ENGINE_ASSISTANT ? "assistant" : "user", "content",
			      m->n_images ? build_parts(m) : text_line(m));
	return json_array_append_new(messages, v) == 0;
}

static bool append_strictly(json_t *messages, const struct engine_message *m)
{
	bool bot = m->role == ENGINE_ASSISTANT;
	const json_t *first = json_array_get(messages, 0);
	const char *role = json_string_value(json_object_get(first, "role"));
	size_t told = role && strcmp(role, "system") == 0;
	json_t *last = m->n_images ? NULL : last_words(messages, bot ? "assistant" : "user");

	if (last)
		return join_words(last, m);
	if (bot && json_array_size(messages) == told &&
	    json_array_append_new(messages,
				  json_pack("{s:s,s:s}", "role", "user", "content", "(earlier)")))
		return false;
	return append_message(messages, m);
}

/* Calls belong to the assistant's message before them. */
static bool append_call(json_t *messages, const struct engine_message *m)
{
	size_t n = json_array_size(messages);
	json_t *last = n ? json_array_get(messages, n - 1) : NULL, *calls;
	const char *role = json_string_value(json_object_get(last, "role"));

	if (!role || strcmp(role, "assistant") != 0) {
		last = json_pack("{s:s,s:n}", "role", "assistant", "content");
		if (json_array_append_new(messages, last))
			return false;
	}
	calls = json_object_get(last, "tool_calls");
	if (!calls) {
		calls = json_array();
		if (!text_put(last, "tool_calls", calls))
			return false;
	}
	return json_array_append_new(calls, json_pack("{s:s,s:s,s:{s:s,s:s}}", "id", m->call,
						      "type", "function", "function", "name",
						      m->tool, "arguments", m->text)) == 0;
}

static bool append_any(json_t *messages, const struct engine_message *m, bool strict)
{
	if (m->role == ENGINE_CALL)
		return append_call(messages, m);
	return strict && m->role != ENGINE_RESULT ? append_strictly(messages, m)
						  : append_message(messages, m);
}

static json_t *build_messages(const struct text_request *r)
{
	const struct engine_ask *ask = r->ask;
	json_t *messages = json_array();
	bool ok = messages != NULL;

	if (ok && *ask->instructions)
		ok = json_array_append_new(messages, json_pack("{s:s,s:s}", "role", "system",
							       "content", ask->instructions)) == 0;
	for (size_t i = 0; ok && i < ask->n; i++)
		ok = append_any(messages, &ask->messages[i], is_strict(r->options));
	if (ok)
		return messages;
	json_decref(messages);
	return NULL;
}

static json_t *build_tools(const struct engine_ask *ask)
{
	json_t *tools = json_array();
	size_t wanted = 0;

	for (size_t i = 0; i < ask->n_tools; i++) {
		const struct engine_tool *t = &ask->tools[i];

		if (!tool_form_takes(TOOL_FORM_CHAT, t->name))
			continue;
		wanted++;
		json_array_append_new(tools, json_pack("{s:s,s:{s:s,s:s,s:o}}", "type", "function",
						       "function", "name", t->name, "description",
						       t->description, "parameters",
						       tool_form_text(TOOL_FORM_CHAT, t->schema)));
	}
	if (json_array_size(tools) == wanted)
		return tools;
	json_decref(tools);
	return NULL;
}

/* Many services that speak the dialect know the schema of an answer, and some refuse it. */
static json_t *build_format(const struct text_request *r)
{
	bool known = r->options->server != TEXT_SERVER_ANY || text_is_openai(r->ask->model);
	json_t *schema = text_answer_schema(r, known);

	if (!schema)
		return json_pack("{s:s}", "type", "json_object");
	return json_pack("{s:s,s:{s:s,s:b,s:o}}", "type", "json_schema", "json_schema", "name",
			 "answer", "strict", 1, "schema", schema);
}

static bool put_options(json_t *root, const struct text_request *r)
{
	const struct text_options *o = r->options;
	const char *effort = text_effort(r);
	uint32_t limit = text_limit(r);
	bool ok = true;

	if (limit)
		ok = text_put(root, limit_name(r->ask->model), json_integer(limit));
	if (ok && r->stream && o->stream_usage)
		ok = text_put(root, "stream_options", json_pack("{s:b}", "include_usage", 1));
	if (ok && r->ask->answer_schema)
		ok = text_put(root, "response_format", build_format(r));
	if (ok && *effort)
		ok = text_put(root, "reasoning_effort", json_string(effort));
	if (ok && o->server == TEXT_SERVER_LLAMACPP)
		ok = text_put(root, "cache_prompt", json_boolean(o->cache));
	if (ok && o->server == TEXT_SERVER_LLAMACPP && o->slot >= 0)
		ok = text_put(root, "id_slot", json_integer(o->slot));
	return ok;
}

static char *build_chat(const struct text_request *r)
{
	json_t *root = json_pack("{s:s,s:o,s:b}", "model", r->ask->model, "messages",
				 build_messages(r), "stream", r->stream);
	bool ok = root && put_options(root, r);

	if (ok && r->ask->n_tools)
		ok = text_put(root, "tools", build_tools(r->ask));
	if (ok)
		return text_print(root);
	json_decref(root);
	return NULL;
}

/* ---- the answer ---- */

/* Fragments of a call have its index. Some servers send calls whole and leave the index out, or
 * give all of them the same one, so another id is another call. */
static struct text_call *find_call(struct text_stream *s, const json_t *v)
{
	const json_t *index = json_object_get(v, "index"), *fn = json_object_get(v, "function");
	const char *id = json_string_value(json_object_get(v, "id"));
	const char *name = json_string_value(json_object_get(fn, "name"));
	struct text_call *last = s->n_calls ? &s->calls[s->n_calls - 1] : NULL;
	char key[TEXT_ID_MAX + 32];

	if (json_is_integer(index))
		for (unsigned i = s->n_calls; i; i--) {
			struct text_call *c = &s->calls[i - 1];

			snprintf(key, sizeof key, "%lld ", (long long)json_integer_value(index));
			if (strncmp(c->key, key, strlen(key)) == 0 &&
			    (!id || !*id || strncmp(c->id, id, sizeof c->id - 1) == 0))
				return c;
		}
	else if (last && (!id || !*id || strcmp(last->id, id) == 0))
		return last;
	snprintf(key, sizeof key, "%lld %.100s",
		 json_is_integer(index) ? (long long)json_integer_value(index) : -1, id ? id : "");
	return text_call_at(s, key, id, name);
}

/* Some servers send the arguments as an object. A new reference. */
static json_t *arguments_text(json_t *arguments)
{
	char *text = json_is_object(arguments) ? json_dumps(arguments, JSON_COMPACT) : NULL;
	json_t *v = text ? json_string(text) : json_incref(arguments);

	free(text);
	return v;
}

static void read_calls(struct text_stream *s, const json_t *calls)
{
	for (size_t i = 0; i < json_array_size(calls) && !s->over; i++) {
		const json_t *v = json_array_get(calls, i);
		json_t *arguments = arguments_text(
			json_object_get(json_object_get(v, "function"), "arguments"));
		struct text_call *c = find_call(s, v);

		if (c)
			text_call_more(s, c, arguments);
		json_decref(arguments);
	}
}

static void read_end(struct text_stream *s, const char *why)
{
	s->finished = true;
	if (strcmp(why, "length") == 0)
		s->end = ENGINE_END_LENGTH;
	else if (strcmp(why, "content_filter") == 0)
		s->end = ENGINE_END_FILTERED;
	else if (strcmp(why, "tool_calls") == 0 || strcmp(why, "function_call") == 0)
		s->end = ENGINE_END_TOOLS;
	text_end_calls(s);
}

static void read_usage(struct text_stream *s, const json_t *usage)
{
	uint64_t in = text_number(usage, "prompt_tokens"), cached;

	if (!json_is_object(usage))
		return;
	cached = text_number(json_object_get(usage, "prompt_tokens_details"), "cached_tokens");
	if (cached > in)
		cached = in;
	s->used = true;
	s->usage.n[PRICE_TEXT_IN] = in - cached;
	s->usage.n[PRICE_TEXT_CACHED] = cached;
	s->usage.n[PRICE_TEXT_OUT] = text_number(usage, "completion_tokens");
}

static int read_chat(struct text_stream *s, const void *data)
{
	const json_t *root = data, *error = json_object_get(root, "error");
	const json_t *choice = json_array_get(json_object_get(root, "choices"), 0);
	const json_t *part = json_object_get(choice, "delta");
	const char *why = json_string_value(json_object_get(choice, "finish_reason"));

	if (error && !json_is_null(error)) {
		text_fail(s, error);
		return 0;
	}
	if (!part)
		part = json_object_get(choice, "message");
	text_tell_content(s, json_object_get(part, "content"));
	text_tell_words(s, json_object_get(part, "refusal"));
	read_calls(s, json_object_get(part, "tool_calls"));
	read_usage(s, json_object_get(root, "usage"));
	if (why)
		read_end(s, why);
	return 0;
}

const struct text_dialect text_dialect_chat = {
	.path = "chat/completions", .build = build_chat, .read = read_chat};
