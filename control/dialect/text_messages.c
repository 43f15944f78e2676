/* Messages (text.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/text_inside.h"
#include "control/dialect/tool_form.h"

enum { LIMIT = 1024, WORD_LIMIT = 8 }; /* a limit of the output is required */

/* ---- the request ---- */

static json_t *build_block(const struct engine_message *m)
{
	if (m->role == ENGINE_RESULT)
		return json_pack("{s:s,s:s,s:s,s:b}", "type", "tool_result", "tool_use_id", m->call,
				 "content", m->text, "is_error", m->failed);
	if (m->role == ENGINE_CALL)
		return json_pack("{s:s,s:s,s:s,s:o}", "type", "tool_use", "id", m->call, "name",
				 m->tool, "input", text_json(m->text));
	return json_pack("{s:s,s:o}", "type", "text", "text", text_line(m));
}

static json_t *build_image(const struct engine_image *image)
{
	return json_pack("{s:s,s:{s:s,s:s,s:o}}", "type", "image", "source", "type", "base64",
			 "media_type", image->type, "data", text_base64(&image->data));
}

/* The blocks of the last message, which is a new one when the role changes. */
static json_t *open_blocks(json_t *messages, const char *role)
{
	size_t n = json_array_size(messages);
	json_t *last = n ? json_array_get(messages, n - 1) : NULL, *v;
	const char *was = json_string_value(json_object_get(last, "role"));

	if (was && strcmp(was, role) == 0)
		return json_object_get(last, "content");
	v = json_pack("{s:s,s:[]}", "role", role, "content");
	return json_array_append_new(messages, v) ? NULL : json_object_get(v, "content");
}

/* An empty text is refused; a text is left out beside images. */
static bool has_block(const struct engine_message *m)
{
	return m->role == ENGINE_CALL || m->role == ENGINE_RESULT || *m->text || *m->speaker;
}

static bool append_message(json_t *messages, const struct engine_message *m)
{
	bool bot = m->role == ENGINE_ASSISTANT || m->role == ENGINE_CALL, ok = true;
	json_t *blocks;

	/* The first message is a user's. */
	if (bot && !json_array_size(messages)) {
		blocks = open_blocks(messages, "user");
		ok = blocks && json_array_append_new(blocks, json_pack("{s:s,s:s}", "type", "text",
								       "text", "(earlier)")) == 0;
	}
	if (!has_block(m) && !m->n_images)
		return ok;
	blocks = ok ? open_blocks(messages, bot ? "assistant" : "user") : NULL;
	ok = blocks && (!has_block(m) || json_array_append_new(blocks, build_block(m)) == 0);
	for (size_t i = 0; ok && i < m->n_images; i++)
		ok = json_array_append_new(blocks, build_image(&m->images[i])) == 0;
	return ok;
}

static json_t *build_messages(const struct engine_ask *ask)
{
	json_t *messages = json_array();
	bool ok = messages != NULL;

	for (size_t i = 0; ok && i < ask->n; i++)
		ok = append_message(messages, &ask->messages[i]);
	if (ok)
		return messages;
	json_decref(messages);
	return NULL;
}

static bool append_system(json_t *system, const char *text, size_t n, bool mark)
{
	json_t *block = json_pack("{s:s,s:s%}", "type", "text", "text", text, n);

	if (mark && block &&
	    !text_put(block, "cache_control", json_pack("{s:s}", "type", "ephemeral"))) {
		json_decref(block);
		return false;
	}
	return json_array_append_new(system, block) == 0;
}

/* The instructions' stable part is marked for the cache, and with it the tools, which stand before
 * it there. */
static json_t *build_system(const struct text_request *r)
{
	const char *text = r->ask->instructions;
	size_t n = strlen(text), stable = r->ask->instructions_stable;
	json_t *system = json_array();
	bool ok = system != NULL;

	if (!stable || stable > n)
		stable = n;
	ok = ok && append_system(system, text, stable, r->options->cache);
	if (ok && stable < n)
		ok = append_system(system, text + stable, n - stable, false);
	if (ok)
		return system;
	json_decref(system);
	return NULL;
}

static json_t *build_tools(const struct engine_ask *ask)
{
	json_t *tools = json_array();
	size_t wanted = 0;

	for (size_t i = 0; i < ask->n_tools; i++) {
		const struct engine_tool *t = &ask->tools[i];

		if (!tool_form_takes(TOOL_FORM_MESSAGES, t->name))
			continue;
		wanted++;
		json_array_append_new(tools,
				      json_pack("{s:s,s:s,s:o}", "name", t->name, "description",
						t->description, "input_schema",
						tool_form_text(TOOL_FORM_MESSAGES, t->schema)));
	}
	if (json_array_size(tools) == wanted)
		return tools;
	json_decref(tools);
	return NULL;
}

/* Other services with this interface may refuse what they do not know. */
static bool put_format(json_t *root, const struct text_request *r)
{
	json_t *schema = text_answer_schema(r, strncmp(r->ask->model, "claude-", 7) == 0);

	return !schema || text_put(root, "output_config",
				   json_pack("{s:{s:s,s:o}}", "format", "type", "json_schema",
					     "schema", schema));
}

static char *build(const struct text_request *r)
{
	uint32_t limit = r->ask->one_word ? WORD_LIMIT : text_limit(r);
	json_t *root = json_pack("{s:s,s:i,s:o,s:b}", "model", r->ask->model, "max_tokens",
				 (int)(limit ? limit : LIMIT), "messages", build_messages(r->ask),
				 "stream", r->stream);
	bool ok = root != NULL;

	if (ok && *r->ask->instructions)
		ok = text_put(root, "system", build_system(r));
	if (ok)
		ok = put_format(root, r);
	if (ok && r->ask->n_tools)
		ok = text_put(root, "tools", build_tools(r->ask));
	if (ok)
		return text_print(root);
	json_decref(root);
	return NULL;
}

/* ---- the answer ---- */

/* Tokens that are written to the cache cost a quarter more than others that are read, and twice as
 * much where they are kept for an hour: they count as so many more. Source: Anthropic's pricing of
 * prompt caching, which is the same for all models. */
static uint64_t count_writes(const json_t *usage)
{
	const json_t *kept = json_object_get(usage, "cache_creation");
	uint64_t all = text_number(usage, "cache_creation_input_tokens");
	uint64_t hour = text_number(kept, "ephemeral_1h_input_tokens");

	if (hour > all)
		hour = all;
	return 2 * hour + (5 * (all - hour) + 3) / 4;
}

/* Numbers of a later event replace those of an earlier one. */
static void read_usage(struct text_stream *s, const json_t *usage)
{
	if (!json_is_object(usage))
		return;
	s->used = true;
	if (json_object_get(usage, "input_tokens"))
		s->usage.n[PRICE_TEXT_IN] =
			text_number(usage, "input_tokens") + count_writes(usage);
	if (json_object_get(usage, "cache_read_input_tokens"))
		s->usage.n[PRICE_TEXT_CACHED] = text_number(usage, "cache_read_input_tokens");
	if (json_object_get(usage, "output_tokens"))
		s->usage.n[PRICE_TEXT_OUT] = text_number(usage, "output_tokens");
}

static void read_reason(struct text_stream *s, const char *why)
{
	if (!why)
		return;
	s->finished = true;
	if (strcmp(why, "max_tokens") == 0 || strcmp(why, "model_context_window_exceeded") == 0)
		s->end = ENGINE_END_LENGTH;
	else if (strcmp(why, "refusal") == 0)
		s->end = ENGINE_END_FILTERED;
	else if (strcmp(why, "tool_use") == 0)
		s->end = ENGINE_END_TOOLS;
}

static struct text_call *call_at(struct text_stream *s, const json_t *event, const json_t *block)
{
	const char *id = json_string_value(json_object_get(block, "id"));
	const char *name = json_string_value(json_object_get(block, "name"));
	char key[32];

	snprintf(key, sizeof key, "%llu", (unsigned long long)text_number(event, "index"));
	return text_call_at(s, key, id, name);
}

/* A call's input, when it does not come in fragments. */
static void take_input(struct text_stream *s, struct text_call *c, const json_t *input)
{
	char *text = json_object_size(input) ? json_dumps(input, JSON_COMPACT) : NULL;
	json_t *v = text ? json_string(text) : NULL;

	if (v)
		text_call_more(s, c, v);
	json_decref(v);
	free(text);
}

static void start_block(struct text_stream *s, const json_t *event, const json_t *block)
{
	const char *type = json_string_value(json_object_get(block, "type"));
	struct text_call *c;

	if (type && strcmp(type, "text") == 0)
		text_tell_words(s, json_object_get(block, "text"));
	if (!type || strcmp(type, "tool_use") != 0)
		return;
	c = call_at(s, event, block);
	if (c)
		take_input(s, c, json_object_get(block, "input"));
}

static void read_start(struct text_stream *s, const json_t *event)
{
	read_usage(s, json_object_get(json_object_get(event, "message"), "usage"));
}

static void read_block_start(struct text_stream *s, const json_t *event)
{
	start_block(s, event, json_object_get(event, "content_block"));
}

static void read_block_delta(struct text_stream *s, const json_t *event)
{
	const json_t *delta = json_object_get(event, "delta");
	const char *type = json_string_value(json_object_get(delta, "type"));
	struct text_call *c;

	if (type && strcmp(type, "text_delta") == 0)
		text_tell_words(s, json_object_get(delta, "text"));
	if (!type || strcmp(type, "input_json_delta") != 0)
		return;
	c = call_at(s, event, NULL);
	if (c)
		text_call_more(s, c, json_object_get(delta, "partial_json"));
}

static void read_block_stop(struct text_stream *s, const json_t *event)
{
	char key[32];

	snprintf(key, sizeof key, "%llu", (unsigned long long)text_number(event, "index"));
	for (unsigned i = 0; i < s->n_calls; i++)
		if (strcmp(s->calls[i].key, key) == 0)
			text_call_end(s, &s->calls[i], NULL);
}

static void read_message_delta(struct text_stream *s, const json_t *event)
{
	read_usage(s, json_object_get(event, "usage"));
	read_reason(s, json_string_value(
			       json_object_get(json_object_get(event, "delta"), "stop_reason")));
}

static void read_stop(struct text_stream *s, const json_t *event)
{
	(void)event;
	s->finished = true;
}

static void read_error(struct text_stream *s, const json_t *event)
{
	text_fail(s, json_object_get(event, "error"));
}

/* An answer that comes whole. */
static void read_message(struct text_stream *s, const json_t *root)
{
	const json_t *blocks = json_object_get(root, "content");

	for (size_t i = 0; i < json_array_size(blocks); i++) {
		json_t *event = json_pack("{s:i}", "index", (int)i);

		if (event)
			start_block(s, event, json_array_get(blocks, i));
		json_decref(event);
	}
	read_usage(s, json_object_get(root, "usage"));
	read_reason(s, json_string_value(json_object_get(root, "stop_reason")));
	text_end_calls(s);
}

/* Everything else, as "ping", is passed over. */
static const struct {
	const char *type;
	void (*read)(struct text_stream *s, const json_t *event);
} events[] = {
	{"message_start", read_start},
	{"content_block_start", read_block_start},
	{"content_block_delta", read_block_delta},
	{"content_block_stop", read_block_stop},
	{"message_delta", read_message_delta},
	{"message_stop", read_stop},
	{"message", read_message},
	{"error", read_error},
};

static int read_event(struct text_stream *s, const void *data)
{
	const json_t *root = data;
	const char *type = json_string_value(json_object_get(root, "type"));

	for (size_t i = 0; type && i < sizeof events / sizeof events[0]; i++)
		if (strcmp(type, events[i].type) == 0)
			events[i].read(s, root);
	return 0;
}

const struct text_dialect text_dialect_messages = {.path = "messages",
						   .key_header = "x-api-key",
						   .version = "anthropic-version",
						   .version_now = "2026-10-21",
						   .build = build,
						   .read = read_event};
