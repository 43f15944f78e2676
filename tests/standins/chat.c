/* Chat completions, as OpenAI and the local servers have them (llama.cpp, Ollama, vLLM, LocalAI);
 * the list of models; llama.cpp's slots. */
#include "tests/standins/picture.h"
#include "tests/standins/record.h"
#include "tests/standins/services.h"
#include "tests/standins/text.h"

#include <stdio.h>
#include <string.h>

enum { PATH_TAIL = 17, TEXT_SIZE = 16384 };

static const struct si_shape shape_chat[] = {
	{"model", "!str"},
	{"messages", "!arr"},
	{"messages[]", "obj"},
	{"messages[].role", "!'system' 'developer' 'user' 'assistant' 'tool'"},
	{"messages[].content", "str arr null"},
	{"messages[].content[]", "obj"},
	{"messages[].content[].type", "!'text' 'image_url' 'input_audio'"},
	{"messages[].content[].text", "str"},
	{"messages[].content[].image_url", "obj"},
	{"messages[].content[].image_url.url", "!str"},
	{"messages[].content[].image_url.detail", "'auto' 'low' 'high'"},
	{"messages[].content[].input_audio", "any"},
	{"messages[].name", "str"},
	{"messages[].refusal", "str null"},
	{"messages[].tool_call_id", "str"},
	{"messages[].tool_calls", "arr"},
	{"messages[].tool_calls[]", "obj"},
	{"messages[].tool_calls[].id", "!str"},
	{"messages[].tool_calls[].type", "!'function'"},
	{"messages[].tool_calls[].function", "!obj"},
	{"messages[].tool_calls[].function.name", "!str"},
	{"messages[].tool_calls[].function.arguments", "!str"},
	{"stream", "bool"},
	{"stream_options", "obj"},
	{"stream_options.include_usage", "bool"},
	{"stream_options.include_obfuscation", "bool"},
	{"tools", "arr"},
	{"tools[]", "obj"},
	{"tools[].type", "!'function'"},
	{"tools[].function", "!obj"},
	{"tools[].function.name", "!str"},
	{"tools[].function.description", "str"},
	{"tools[].function.parameters", "any"},
	{"tools[].function.strict", "bool null"},
	{"tool_choice", "any"},
	{"parallel_tool_calls", "bool"},
	{"temperature", "num:0..2 null"},
	{"top_p", "num:0..1 null"},
	{"max_tokens", "int null"},
	{"max_completion_tokens", "int null"},
	{"stop", "any"},
	{"response_format", "any"},
	{"seed", "int null"},
	{"user", "str"},
	{"metadata", "any"},
	{"store", "bool null"},
	{"reasoning_effort", "str"},
	{"prompt_cache_key", "str"},
	{"logprobs", "bool null"},
	{"top_logprobs", "int null"},
	{"n", "int:1..1 null"},
	{"id_slot", "int"},
	{"cache_prompt", "bool"},
	{NULL, NULL},
};

static const char *member(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

static void chat_refuse(struct si_link *l, int status, const char *code, const char *text)
{
	si_reply_json(l, status,
		      json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message", text, "type",
				status == 401	? "authentication_error"
				: status == 429 ? "rate_limit_error"
				: status >= 500 ? "server_error"
						: "invalid_request_error",
				"param", "code", code));
}

/* ---- the request ---- */

static void content_text(const json_t *content, char text[TEXT_SIZE])
{
	size_t at = 0;

	text[0] = '\0';
	if (json_is_string(content))
		snprintf(text, TEXT_SIZE, "%s", json_string_value(content));
	for (size_t i = 0; i < json_array_size(content) && at < TEXT_SIZE; i++)
		at += (size_t)snprintf(text + at, TEXT_SIZE - at, "%s%s", i ? "\n" : "",
				       member(json_array_get(content, i), "text"));
}

/* False: one of the pictures cannot be decoded. */
static bool pictures_learn(struct si_text *t, const json_t *messages)
{
	char what[SI_PICTURE_MAX];

	for (size_t i = 0; i < json_array_size(messages); i++) {
		const json_t *content = json_object_get(json_array_get(messages, i), "content");

		for (size_t k = 0; k < json_array_size(content); k++) {
			const json_t *image =
				json_object_get(json_array_get(content, k), "image_url");

			if (image && !si_picture_url(member(image, "url"), what))
				return false;
			if (image)
				si_mind_see(t->mind, NULL, what);
		}
	}
	return true;
}

static bool call_known(const json_t *messages, size_t before, const char *id)
{
	for (size_t i = 0; i < before; i++) {
		const json_t *calls = json_object_get(json_array_get(messages, i), "tool_calls");

		for (size_t k = 0; k < json_array_size(calls); k++)
			if (strcmp(member(json_array_get(calls, k), "id"), id) == 0)
				return true;
	}
	return false;
}

/* False: a tool's message has no call before it. */
static bool messages_learn(struct si_text *t, const json_t *messages)
{
	char text[TEXT_SIZE];

	for (size_t i = 0; i < json_array_size(messages); i++) {
		const json_t *m = json_array_get(messages, i);
		const char *role = member(m, "role");

		content_text(json_object_get(m, "content"), text);
		if (strcmp(role, "tool") == 0 &&
		    !call_known(messages, i, member(m, "tool_call_id")))
			return false;
		if (strcmp(role, "developer") == 0)
			role = "system";
		si_mind_add(t->mind, role, NULL, text);
	}
	return true;
}

/* ---- the answer ---- */

static json_t *usage_json(const struct si_text *t)
{
	return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", (json_int_t)t->in,
			 "completion_tokens", (json_int_t)t->out, "total_tokens",
			 (json_int_t)(t->in + t->out), "prompt_tokens_details", "cached_tokens",
			 (json_int_t)t->cached);
}

static const char *finish_of(const struct si_text *t)
{
	return t->answer.call ? "tool_calls" : t->cut ? "length" : "stop";
}

/* Steals choices. */
static json_t *body_json(const struct si_text *t, const char *object, json_t *choices)
{
	return json_pack("{s:s+, s:s, s:i, s:s, s:o}", "id", "chatcmpl-", t->id, "object", object,
			 "created", 1800000000, "model", t->model, "choices", choices);
}

/* Steals delta. */
static void delta_send(struct si_text *t, bool piece, json_t *delta, const char *finish)
{
	si_text_event(t, piece, NULL,
		      body_json(t, "chat.completion.chunk",
				json_pack("[{s:i, s:o, s:s?}]", "index", 0, "delta", delta,
					  "finish_reason", finish)));
}

/* The id and the name come with the first fragment alone. */
static void call_send(struct si_text *t)
{
	const char *p = t->answer.arguments;
	size_t n = strlen(p), half = n / 2;

	delta_send(t, true,
		   json_pack("{s:[{s:i, s:s, s:s, s:{s:s, s:s}}]}", "tool_calls", "index", 0, "id",
			     t->call, "type", "function", "function", "name", t->answer.call,
			     "arguments", ""),
		   NULL);
	for (size_t at = 0; at < n; at = at ? n : half ? half : n) {
		size_t m = at ? n - at : half ? half : n;

		delta_send(t, true,
			   json_pack("{s:[{s:i, s:{s:s%}}]}", "tool_calls", "index", 0, "function",
				     "arguments", p + at, m),
			   NULL);
	}
}

static void stream_send(struct si_text *t)
{
	const json_t *options = json_object_get(t->root, "stream_options");
	const char *p = t->answer.text;
	json_t *last;

	delta_send(t, false, json_pack("{s:s, s:s}", "role", "assistant", "content", ""), NULL);
	if (t->acts.reason)
		delta_send(t, true, json_pack("{s:s}", "reasoning_content", t->acts.reason->text),
			   NULL);
	for (size_t n; (n = si_text_piece(p)) != 0; p += n) {
		delta_send(t, true, json_pack("{s:s%}", "content", p, n), NULL);
		if (t->acts.fail) {
			si_text_event(t, true, NULL,
				      json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message",
						t->acts.fail->text, "type", "server_error", "param",
						"code", t->acts.fail->word));
			si_text_end(t);
			return;
		}
	}
	if (t->answer.call)
		call_send(t);
	delta_send(t, false, json_object(), finish_of(t));
	if (json_is_true(json_object_get(options, "include_usage"))) {
		last = body_json(t, "chat.completion.chunk", json_array());
		json_object_set_new(last, "usage", usage_json(t));
		si_text_event(t, false, NULL, last);
	}
	if (!t->acts.nodone)
		si_text_line(t, "data: [DONE]\n\n");
	si_text_end(t);
}

static void chat_emit(struct si_text *t)
{
	json_t *message, *body;

	if (t->stream) {
		stream_send(t);
		return;
	}
	message = json_pack("{s:s, s:s, s:n}", "role", "assistant", "content", t->answer.text,
			    "refusal");
	if (t->answer.call)
		json_object_set_new(message, "tool_calls",
				    json_pack("[{s:s, s:s, s:{s:s, s:s}}]", "id", t->call, "type",
					      "function", "function", "name", t->answer.call,
					      "arguments", t->answer.arguments));
	body = body_json(t, "chat.completion",
			 json_pack("[{s:i, s:o, s:s, s:n}]", "index", 0, "message", message,
				   "finish_reason", finish_of(t), "logprobs"));
	json_object_set_new(body, "usage", usage_json(t));
	si_reply_json(t->link, 200, body);
}

static const struct si_text_wire chat_wire = {.refuse = chat_refuse, .emit = chat_emit};

static void chat_serve(struct si_link *l)
{
	struct si_text *t = si_text_open(l, &chat_wire, shape_chat);
	const json_t *max;

	if (!t)
		return;
	max = json_object_get(t->root, "max_completion_tokens");
	max = max ? max : json_object_get(t->root, "max_tokens");
	t->max = json_is_integer(max) ? (size_t)json_integer_value(max) : 0;
	si_mind_tools(t->mind, json_object_get(t->root, "tools"));
	if (!pictures_learn(t, json_object_get(t->root, "messages"))) {
		t->done = true;
		chat_refuse(
			l, 400, "invalid_image_format",
			"You uploaded an unsupported image. Please make sure your image is valid.");
		return;
	}
	if (!messages_learn(t, json_object_get(t->root, "messages"))) {
		t->done = true;
		chat_refuse(l, 400, "invalid_request_error",
			    "Messages with role 'tool' must be a response to a preceding message "
			    "with 'tool_calls'.");
		return;
	}
	si_text_start(t);
}

static bool ends_with(const char *path, const char *tail)
{
	size_t n = strlen(path), m = strlen(tail);

	return n >= m && strcmp(path + n - m, tail) == 0;
}

static bool chat_request(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	bool chat = head->method == HTTP_POST && ends_with(head->path, "/chat/completions");
	bool models = head->method == HTTP_GET && ends_with(head->path, "/models");
	bool slots = head->method == HTTP_POST && strstr(head->path, "/slots/");

	if (!chat && !models && !slots)
		return false;
	if (!si_link_key(l, NULL, NULL))
		chat_refuse(l, 401, "invalid_api_key", "Incorrect API key provided.");
	else if (chat)
		chat_serve(l);
	else if (models)
		si_reply_json(l, 200,
			      json_pack("{s:s, s:[{s:s, s:s, s:i, s:s}]}", "object", "list", "data",
					"id", "stand-in", "object", "model", "created", 1800000000,
					"owned_by", "standin"));
	else
		si_reply_json(l, 200, json_pack("{s:i, s:i}", "id_slot", 0, "n_erased", 1));
	return true;
}

const struct si_service si_chat = {.request = chat_request};
