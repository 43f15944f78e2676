/* Anthropic Messages. Source: platform.claude.com, and what the official client sends. */
#include "tests/standins/picture.h"
#include "tests/standins/services.h"
#include "tests/standins/text.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 16384 };

static const struct si_shape shape_messages[] = {
	{"model", "!str"},
	{"max_tokens", "!int:1..1000000"},
	{"system", "str arr"},
	{"system[]", "obj"},
	{"system[].type", "!'text'"},
	{"system[].text", "!str"},
	{"system[].cache_control", "any"},
	{"messages", "!arr"},
	{"messages[]", "obj"},
	{"messages[].role", "!'user' 'assistant'"},
	{"messages[].content", "!str arr"},
	{"messages[].content[]", "obj"},
	{"messages[].content[].type",
	 "!'text' 'image' 'tool_use' 'tool_result' 'thinking' 'redacted_thinking'"},
	{"messages[].content[].text", "str"},
	{"messages[].content[].cache_control", "any"},
	{"messages[].content[].source", "obj"},
	{"messages[].content[].source.type", "!'base64' 'url'"},
	{"messages[].content[].source.media_type", "str"},
	{"messages[].content[].source.data", "str"},
	{"messages[].content[].source.url", "str"},
	{"messages[].content[].id", "str"},
	{"messages[].content[].name", "str"},
	{"messages[].content[].input", "any"},
	{"messages[].content[].tool_use_id", "str"},
	{"messages[].content[].content", "any"},
	{"messages[].content[].is_error", "bool"},
	{"messages[].content[].thinking", "str"},
	{"messages[].content[].signature", "str"},
	{"messages[].content[].data", "str"},
	{"tools", "arr"},
	{"tools[]", "any"},
	{"tool_choice", "obj"},
	{"tool_choice.type", "!'auto' 'any' 'tool' 'none'"},
	{"tool_choice.name", "str"},
	{"tool_choice.disable_parallel_tool_use", "bool"},
	{"stream", "bool"},
	{"stop_sequences", "arr"},
	{"stop_sequences[]", "str"},
	{"metadata", "any"},
	{"thinking", "any"},
	{"service_tier", "str"},
	{"temperature", "num:0..1"},
	{"top_p", "num:0..1"},
	{"top_k", "int"},
	{"cache_control", "any"},
	{"output_config", "obj"},
	{"output_config.format", "obj"},
	{"output_config.format.type", "!'json_schema'"},
	{"output_config.format.schema", "any"},
	{NULL, NULL},
};

static const char *member(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

static void messages_refuse(struct si_link *l, int status, const char *code, const char *text)
{
	const char *type = status == 401   ? "authentication_error"
			   : status == 402 ? "billing_error"
			   : status == 403 ? "permission_error"
			   : status == 404 ? "not_found_error"
			   : status == 429 ? "rate_limit_error"
			   : status == 529 ? "overloaded_error"
			   : status >= 500 ? "api_error"
					   : "invalid_request_error";

	(void)code;
	si_reply_json(l, status,
		      json_pack("{s:s, s:{s:s, s:s}, s:s}", "type", "error", "error", "type", type,
				"message", text, "request_id", "req_standin"));
}

/* ---- the request ---- */

static void result_text(const json_t *content, char text[TEXT_SIZE])
{
	snprintf(text, TEXT_SIZE, "%s",
		 json_is_string(content) ? json_string_value(content)
					 : member(json_array_get(content, 0), "text"));
}

static bool used_before(const json_t *message, const char *id)
{
	const json_t *content = json_object_get(message, "content");

	for (size_t i = 0; i < json_array_size(content); i++)
		if (strcmp(member(json_array_get(content, i), "type"), "tool_use") == 0 &&
		    strcmp(member(json_array_get(content, i), "id"), id) == 0)
			return true;
	return false;
}

static size_t blocks_of(const json_t *message, const char *type)
{
	const json_t *content = json_object_get(message, "content");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(content); i++)
		n += strcmp(member(json_array_get(content, i), "type"), type) == 0;
	return n;
}

/* The results of a message stand first, and belong to the calls of the message before. */
static const char *results_check(const json_t *before, const json_t *message)
{
	const json_t *content = json_object_get(message, "content");
	size_t calls = before ? blocks_of(before, "tool_use") : 0;
	size_t results = blocks_of(message, "tool_result");

	if (calls != results)
		return "Each `tool_use` block must have a corresponding `tool_result` block in the "
		       "next message.";
	for (size_t i = 0; i < results; i++) {
		const json_t *block = json_array_get(content, i);

		if (strcmp(member(block, "type"), "tool_result") != 0)
			return "The `tool_result` blocks must stand first in their message.";
		if (!used_before(before, member(block, "tool_use_id")))
			return "unexpected `tool_use_id` found in `tool_result` blocks.";
	}
	return NULL;
}

/* False: it cannot be decoded. */
static bool picture_learn(struct si_text *t, const json_t *source)
{
	const char *data = member(source, "data");
	char what[SI_PICTURE_MAX];

	if (!si_picture_read(member(source, "media_type"), data, strlen(data), what))
		return false;
	si_mind_see(t->mind, NULL, what);
	return true;
}

/* False: a picture cannot be decoded. */
static bool message_learn(struct si_text *t, const json_t *message)
{
	const json_t *content = json_object_get(message, "content");
	const char *role = member(message, "role");
	char text[TEXT_SIZE];

	if (json_is_string(content))
		si_mind_add(t->mind, role, NULL, json_string_value(content));
	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);
		const char *type = member(block, "type");

		if (strcmp(type, "text") == 0)
			si_mind_add(t->mind, role, NULL, member(block, "text"));
		if (strcmp(type, "image") == 0 &&
		    !picture_learn(t, json_object_get(block, "source")))
			return false;
		if (strcmp(type, "tool_result") != 0)
			continue;
		result_text(json_object_get(block, "content"), text);
		si_mind_add(t->mind, "tool", NULL, text);
	}
	return true;
}

/* Returns why the request is refused, or NULL. */
static const char *request_learn(struct si_text *t)
{
	const json_t *messages = json_object_get(t->root, "messages"),
		     *system = json_object_get(t->root, "system"), *before = NULL;
	const char *why = NULL;

	si_mind_instruct(t->mind, json_is_string(system)
					  ? json_string_value(system)
					  : member(json_array_get(system, 0), "text"));
	if (!json_array_size(messages))
		return "messages: at least one message is required";
	if (strcmp(member(json_array_get(messages, 0), "role"), "user") != 0)
		return "messages: first message must use the \"user\" role";
	for (size_t i = 0; i < json_array_size(messages) && !why; i++) {
		const json_t *m = json_array_get(messages, i);

		if (json_is_string(json_object_get(m, "content")) &&
		    !json_string_length(json_object_get(m, "content")))
			return "messages: text content blocks must be non-empty";
		why = results_check(before, m);
		if (!message_learn(t, m))
			why = "Could not process image";
		before = m;
	}
	return why;
}

/* The version of October 2026 takes no sampling parameters. */
static const char *version_check(const struct si_text *t)
{
	char version[32];

	if (!http_head_copy(si_link_head(t->link), "anthropic-version", version, sizeof version))
		return "anthropic-version: header is required";
	if (strcmp(version, "2023-06-01") != 0 && strcmp(version, "2026-10-21") != 0)
		return "anthropic-version: this version is unknown";
	if (strcmp(version, "2026-10-21") == 0 &&
	    (json_object_get(t->root, "temperature") || json_object_get(t->root, "top_p") ||
	     json_object_get(t->root, "top_k")))
		return "temperature, top_p and top_k are not supported in this version";
	return NULL;
}

/* ---- the answer ---- */

static json_t *usage_json(const struct si_text *t, size_t out)
{
	return json_pack("{s:I, s:I, s:i, s:I}", "input_tokens", (json_int_t)(t->in - t->cached),
			 "cache_read_input_tokens", (json_int_t)t->cached,
			 "cache_creation_input_tokens", 0, "output_tokens", (json_int_t)out);
}

static const char *stop_of(const struct si_text *t)
{
	return t->answer.call ? "tool_use" : t->cut ? "max_tokens" : "end_turn";
}

/* Steals content. */
static json_t *message_json(const struct si_text *t, json_t *content, const char *stop, size_t out)
{
	return json_pack("{s:s+, s:s, s:s, s:s, s:o, s:s?, s:n, s:o}", "id", "msg_", t->id, "type",
			 "message", "role", "assistant", "model", t->model, "content", content,
			 "stop_reason", stop, "stop_sequence", "usage", usage_json(t, out));
}

/* Steals data. */
static void event_send(struct si_text *t, bool piece, const char *type, json_t *data)
{
	json_object_set_new(data, "type", json_string(type));
	si_text_event(t, piece, type, data);
}

/* Steals block and deltas, a list. */
static void block_send(struct si_text *t, int index, json_t *block, json_t *deltas)
{
	json_t *delta;
	size_t i;

	event_send(t, false, "content_block_start",
		   json_pack("{s:i, s:o}", "index", index, "content_block", block));
	json_array_foreach(deltas, i, delta)
	{
		event_send(t, true, "content_block_delta",
			   json_pack("{s:i, s:O}", "index", index, "delta", delta));
	}
	event_send(t, false, "content_block_stop", json_pack("{s:i}", "index", index));
	json_decref(deltas);
}

static json_t *text_deltas(const struct si_text *t)
{
	json_t *list = json_array();
	const char *p = t->answer.text;

	for (size_t n; (n = si_text_piece(p)) != 0; p += n)
		json_array_append_new(list,
				      json_pack("{s:s, s:s%}", "type", "text_delta", "text", p, n));
	return list;
}

static json_t *call_deltas(const struct si_text *t)
{
	const char *p = t->answer.arguments;
	size_t half = strlen(p) / 2;

	return json_pack("[{s:s, s:s%}, {s:s, s:s}]", "type", "input_json_delta", "partial_json", p,
			 half, "type", "input_json_delta", "partial_json", p + half);
}

static void stream_send(struct si_text *t)
{
	int index = 0;

	event_send(t, false, "message_start",
		   json_pack("{s:o}", "message", message_json(t, json_array(), NULL, 1)));
	event_send(t, false, "ping", json_object());
	if (t->acts.reason)
		block_send(t, index++, json_pack("{s:s, s:s}", "type", "thinking", "thinking", ""),
			   json_pack("[{s:s, s:s}, {s:s, s:s}]", "type", "thinking_delta",
				     "thinking", t->acts.reason->text, "type", "signature_delta",
				     "signature", "sig"));
	if (t->acts.fail) {
		event_send(t, true, "error",
			   json_pack("{s:{s:s, s:s}}", "error", "type", t->acts.fail->word,
				     "message", t->acts.fail->text));
		si_text_end(t);
		return;
	}
	if (t->answer.text[0])
		block_send(t, index++, json_pack("{s:s, s:s}", "type", "text", "text", ""),
			   text_deltas(t));
	if (t->answer.call)
		block_send(t, index,
			   json_pack("{s:s, s:s, s:s, s:{}}", "type", "tool_use", "id", t->call,
				     "name", t->answer.call, "input"),
			   call_deltas(t));
	event_send(t, false, "message_delta",
		   json_pack("{s:{s:s, s:n}, s:o}", "delta", "stop_reason", stop_of(t),
			     "stop_sequence", "usage", usage_json(t, t->out)));
	if (!t->acts.nodone)
		event_send(t, false, "message_stop", json_object());
	si_text_end(t);
}

static void messages_emit(struct si_text *t)
{
	json_t *content = json_array();

	if (t->stream) {
		json_decref(content);
		stream_send(t);
		return;
	}
	if (t->answer.text[0])
		json_array_append_new(
			content, json_pack("{s:s, s:s}", "type", "text", "text", t->answer.text));
	if (t->answer.call)
		json_array_append_new(content,
				      json_pack("{s:s, s:s, s:s, s:o}", "type", "tool_use", "id",
						t->call, "name", t->answer.call, "input",
						json_loads(t->answer.arguments, 0, NULL)));
	si_reply_json(t->link, 200, message_json(t, content, stop_of(t), t->out));
}

static const struct si_text_wire messages_wire = {.refuse = messages_refuse, .emit = messages_emit};

static bool messages_request(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	const char *why;
	struct si_text *t;

	if (head->method != HTTP_POST || strcmp(head->path, "/v1/messages") != 0)
		return false;
	if (!si_link_key(l, "x-api-key", NULL)) {
		messages_refuse(l, 401, "", "invalid x-api-key");
		return true;
	}
	t = si_text_open(l, &messages_wire, shape_messages);
	if (!t)
		return true;
	t->max = (size_t)json_integer_value(json_object_get(t->root, "max_tokens"));
	si_mind_tools(t->mind, json_object_get(t->root, "tools"));
	why = version_check(t);
	why = why ? why : request_learn(t);
	if (why) {
		t->done = true;
		messages_refuse(l, 400, "", why);
	} else {
		si_text_start(t);
	}
	return true;
}

const struct si_service si_messages = {.request = messages_request};
