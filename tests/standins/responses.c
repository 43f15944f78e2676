/* OpenAI Responses. Source: OpenAI's OpenAPI document, schemas CreateResponse and
 * ResponseStreamEvent. */
#include "tests/standins/picture.h"
#include "tests/standins/services.h"
#include "tests/standins/standin.h"
#include "tests/standins/text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STORED = 64, TEXT_SIZE = 16384 };

/* Responses that a later one may go on from. */
static struct stored {
	char id[SI_TEXT_ID + 8];
	struct si_mind *mind;
} stored[MAX_STORED];
static unsigned n_stored;

static const struct si_shape shape_responses[] = {
	{"model", "!str"},
	{"input", "!str arr"},
	{"input[]", "obj"},
	{"input[].type",
	 "'message' 'function_call' 'function_call_output' 'item_reference' 'web_search_call'"},
	{"input[].id", "str"},
	{"input[].status", "str"},
	{"input[].role", "'user' 'assistant' 'system' 'developer'"},
	{"input[].content", "str arr"},
	{"input[].content[]", "obj"},
	{"input[].content[].type",
	 "!'input_text' 'output_text' 'input_image' 'input_file' 'refusal'"},
	{"input[].content[].text", "str"},
	{"input[].content[].image_url", "str null"},
	{"input[].content[].detail", "'auto' 'low' 'high'"},
	{"input[].content[].annotations", "any"},
	{"input[].content[].logprobs", "any"},
	{"input[].call_id", "str"},
	{"input[].name", "str"},
	{"input[].arguments", "str"},
	{"input[].output", "str arr"},
	{"input[].output[]", "any"},
	{"input[].action", "obj"}, /* of a search */
	{"input[].action.type", "any"},
	{"input[].action.query", "any"},
	{"instructions", "str null"},
	{"tools", "arr"},
	{"tools[]", "any"},
	{"tool_choice", "any"},
	{"parallel_tool_calls", "bool null"},
	{"stream", "bool null"},
	{"stream_options", "any"},
	{"store", "bool null"},
	{"previous_response_id", "str null"},
	{"reasoning", "any"},
	{"text", "any"},
	{"max_output_tokens", "int null"},
	{"max_tool_calls", "int null"},
	{"metadata", "any"},
	{"temperature", "num:0..2 null"},
	{"top_p", "num:0..1 null"},
	{"truncation", "any"},
	{"include", "any"},
	{"user", "str"},
	{"safety_identifier", "str"},
	{"prompt_cache_key", "str"},
	{"prompt_cache_retention", "any"},
	{"service_tier", "any"},
	{"background", "bool null"},
	{"client_metadata", "any"}, /* of Codex */
	{NULL, NULL},
};

static const char *member(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

static void responses_refuse(struct si_link *l, int status, const char *code, const char *text)
{
	si_reply_json(l, status,
		      json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message", text, "type",
				status >= 500 ? "server_error" : "invalid_request_error", "param",
				"code", code));
}

/* ---- the request ---- */

static bool call_known(const json_t *input, size_t before, const char *call)
{
	for (size_t i = 0; i < before; i++) {
		const json_t *item = json_array_get(input, i);

		if (strcmp(member(item, "type"), "function_call") == 0 &&
		    strcmp(member(item, "call_id"), call) == 0)
			return true;
	}
	return false;
}

/* False: one of the pictures cannot be decoded. */
static bool pictures_learn(struct si_text *t, const json_t *input)
{
	char what[SI_PICTURE_MAX];

	for (size_t i = 0; i < json_array_size(input); i++) {
		const json_t *content = json_object_get(json_array_get(input, i), "content");

		for (size_t k = 0; k < json_array_size(content); k++) {
			const json_t *part = json_array_get(content, k);

			if (strcmp(member(part, "type"), "input_image") != 0)
				continue;
			if (!si_picture_url(member(part, "image_url"), what))
				return false;
			si_mind_see(t->mind, NULL, what);
		}
	}
	return true;
}

/* False: an output without its call. */
static bool item_learn(struct si_text *t, const json_t *input, size_t i, bool goes_on)
{
	const json_t *item = json_array_get(input, i), *content = json_object_get(item, "content");
	const char *type = member(item, "type"), *role = member(item, "role");
	char text[TEXT_SIZE];
	size_t at = 0;

	if (strcmp(type, "function_call_output") == 0) {
		si_mind_add(t->mind, "tool", NULL, member(item, "output"));
		return goes_on || call_known(input, i, member(item, "call_id"));
	}
	if (strcmp(type, "function_call") == 0 || strcmp(type, "web_search_call") == 0 ||
	    strcmp(type, "item_reference") == 0)
		return true;
	snprintf(text, sizeof text, "%s", json_is_string(content) ? member(item, "content") : "");
	for (size_t k = 0; k < json_array_size(content) && at < sizeof text; k++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", k ? "\n" : "",
				       member(json_array_get(content, k), "text"));
	si_mind_add(t->mind, strcmp(role, "developer") == 0 ? "system" : role, NULL, text);
	return true;
}

static bool before_take(struct si_text *t, const char *id)
{
	for (unsigned i = 0; i < MAX_STORED; i++)
		if (stored[i].mind && strcmp(stored[i].id, id) == 0) {
			si_mind_free(t->mind);
			t->mind = si_mind_copy(stored[i].mind);
			return true;
		}
	return false;
}

/* Returns why the request cannot be served, or NULL. */
static const char *input_learn(struct si_text *t)
{
	const json_t *input = json_object_get(t->root, "input");
	const char *before = member(t->root, "previous_response_id");

	if (before[0] && !before_take(t, before))
		return "previous_response_not_found";
	if (json_object_get(t->root, "instructions"))
		si_mind_instruct(t->mind, member(t->root, "instructions"));
	if (json_is_string(input))
		si_mind_add(t->mind, "user", NULL, json_string_value(input));
	if (!pictures_learn(t, input))
		return "invalid_image";
	for (size_t i = 0; i < json_array_size(input); i++)
		if (!item_learn(t, input, i, before[0] != '\0'))
			return "invalid_function_call_output";
	return NULL;
}

static void response_store(struct si_text *t)
{
	struct stored *s;

	if (json_is_false(json_object_get(t->root, "store")))
		return;
	s = &stored[n_stored++ % MAX_STORED];
	si_mind_free(s->mind);
	s->mind = si_mind_copy(t->mind);
	si_mind_add(s->mind, "assistant", NULL, t->answer.text);
	snprintf(s->id, sizeof s->id, "resp_%s", t->id);
}

/* ---- the answer ---- */

static json_t *item_json(const struct si_text *t, const char *status, bool whole)
{
	if (t->answer.call)
		return json_pack("{s:s, s:s+, s:s, s:s, s:s, s:s}", "type", "function_call", "id",
				 "fc_", t->id, "status", status, "call_id", t->call, "name",
				 t->answer.call, "arguments", whole ? t->answer.arguments : "");
	if (!whole)
		return json_pack("{s:s, s:s+, s:s, s:s, s:[]}", "type", "message", "id", "msg_",
				 t->id, "status", status, "role", "assistant", "content");
	return json_pack("{s:s, s:s+, s:s, s:s, s:[{s:s, s:s, s:[], s:[]}]}", "type", "message",
			 "id", "msg_", t->id, "status", status, "role", "assistant", "content",
			 "type", "output_text", "text", t->answer.text, "annotations", "logprobs");
}

/* A model that may search does so before each answer in words, and cites one page. */
static bool is_searching(const struct si_text *t)
{
	const json_t *tools = json_object_get(t->root, "tools");

	for (size_t i = 0; !t->answer.call && i < json_array_size(tools); i++)
		if (strcmp(member(json_array_get(tools, i), "type"), "web_search") == 0)
			return true;
	return false;
}

static json_t *search_json(const struct si_text *t, const char *status)
{
	return json_pack("{s:s, s:s+, s:s, s:{s:s, s:s}}", "type", "web_search_call", "id", "ws_",
			 t->id, "status", status, "action", "type", "search", "query",
			 "world clock");
}

static json_t *citation_json(void)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i}", "type", "url_citation", "url",
			 "https://clock.example/now", "title", "World clock", "start_index", 0,
			 "end_index", 1);
}

static json_t *usage_json(const struct si_text *t)
{
	return json_pack("{s:I, s:{s:I, s:i}, s:I, s:{s:i}, s:I}", "input_tokens",
			 (json_int_t)t->in, "input_tokens_details", "cached_tokens",
			 (json_int_t)t->cached, "cache_write_tokens", 0, "output_tokens",
			 (json_int_t)t->out, "output_tokens_details", "reasoning_tokens", 0,
			 "total_tokens", (json_int_t)(t->in + t->out));
}

/* Of the few codes that an answer may fail with (ResponseErrorCode). */
static const char *failure_code(const struct si_text *t)
{
	return strstr(t->acts.fail->word, "rate_limit") ? "rate_limit_exceeded" : "server_error";
}

static json_t *response_json(const struct si_text *t, const char *status)
{
	json_t *given = json_object_get(t->root, "instructions");
	json_t *metadata = json_object_get(t->root, "metadata"), *empty = json_object();
	bool ended = strcmp(status, "in_progress") != 0, failed = strcmp(status, "failed") == 0;
	json_t *output =
		ended && !failed
			? json_pack("[o]", item_json(t, t->cut ? "incomplete" : "completed", true))
			: json_array();
	json_t *r;

	if (json_array_size(output) && is_searching(t))
		json_array_insert_new(output, 0, search_json(t, "completed"));
	r = json_pack("{s:s+, s:s, s:i, s:s, s:s, s:o, s:b, s:s, s:[], s:O, s:f, s:f}", "id",
		      "resp_", t->id, "object", "response", "created_at", 1800000000, "status",
		      status, "model", t->model, "output", output, "parallel_tool_calls", 1,
		      "tool_choice", "auto", "tools", "metadata", metadata ? metadata : empty,
		      "temperature", 1.0, "top_p", 1.0);

	json_decref(empty);
	json_object_set(r, "instructions", given ? given : json_null());
	json_object_set_new(r, "error",
			    failed ? json_pack("{s:s, s:s}", "code", failure_code(t), "message",
					       t->acts.fail->text)
				   : json_null());
	json_object_set_new(r, "incomplete_details",
			    t->cut && ended ? json_pack("{s:s}", "reason", "max_output_tokens")
					    : json_null());
	if (ended)
		json_object_set_new(r, "usage", usage_json(t));
	return r;
}

/* Steals event. */
static void event_send(struct si_text *t, bool piece, const char *type, json_t *event)
{
	json_object_set_new(event, "type", json_string(type));
	json_object_set_new(event, "sequence_number", json_integer(t->events++));
	si_text_event(t, piece, type, event);
}

/* Steals more. */
static json_t *of_item(const struct si_text *t, json_t *more)
{
	json_t *o = json_pack("{s:s+, s:i}", "item_id", t->answer.call ? "fc_" : "msg_", t->id,
			      "output_index", is_searching(t) ? 1 : 0);

	json_object_update_new(o, more);
	return o;
}

static json_t *part_json(const char *text)
{
	return json_pack("{s:s, s:s, s:[], s:[]}", "type", "output_text", "text", text,
			 "annotations", "logprobs");
}

static void search_send(struct si_text *t)
{
	event_send(
		t, false, "response.output_item.added",
		json_pack("{s:i, s:o}", "output_index", 0, "item", search_json(t, "in_progress")));
	event_send(t, true, "response.output_item.done",
		   json_pack("{s:i, s:o}", "output_index", 0, "item", search_json(t, "completed")));
}

static void citation_send(struct si_text *t)
{
	event_send(t, false, "response.output_text.annotation.added",
		   of_item(t, json_pack("{s:i, s:i, s:o}", "content_index", 0, "annotation_index",
					0, "annotation", citation_json())));
}

static void text_send(struct si_text *t)
{
	const char *p = t->answer.text;

	event_send(t, false, "response.content_part.added",
		   of_item(t, json_pack("{s:i, s:o}", "content_index", 0, "part", part_json(""))));
	for (size_t n; (n = si_text_piece(p)) != 0; p += n)
		event_send(t, true, "response.output_text.delta",
			   of_item(t, json_pack("{s:i, s:s%, s:[]}", "content_index", 0, "delta", p,
						n, "logprobs")));
	if (is_searching(t))
		citation_send(t);
	event_send(t, false, "response.output_text.done",
		   of_item(t, json_pack("{s:i, s:s, s:[]}", "content_index", 0, "text",
					t->answer.text, "logprobs")));
	event_send(t, false, "response.content_part.done",
		   of_item(t, json_pack("{s:i, s:o}", "content_index", 0, "part",
					part_json(t->answer.text))));
}

static void call_send(struct si_text *t)
{
	const char *p = t->answer.arguments;
	size_t n = strlen(p), half = n / 2 ? n / 2 : n;

	event_send(t, true, "response.function_call_arguments.delta",
		   of_item(t, json_pack("{s:s%}", "delta", p, half)));
	if (half < n)
		event_send(t, true, "response.function_call_arguments.delta",
			   of_item(t, json_pack("{s:s%}", "delta", p + half, n - half)));
	event_send(t, false, "response.function_call_arguments.done",
		   of_item(t, json_pack("{s:s, s:s}", "name", t->answer.call, "arguments", p)));
}

static void reason_send(struct si_text *t)
{
	if (!t->acts.reason)
		return;
	event_send(t, true, "response.reasoning_summary_text.delta",
		   json_pack("{s:s, s:i, s:i, s:s}", "item_id", "rs_1", "output_index", 0,
			     "summary_index", 0, "delta", t->acts.reason->text));
	event_send(t, false, "response.reasoning_summary_text.done",
		   json_pack("{s:s, s:i, s:i, s:s}", "item_id", "rs_1", "output_index", 0,
			     "summary_index", 0, "text", t->acts.reason->text));
}

static void stream_send(struct si_text *t)
{
	event_send(t, false, "response.created",
		   json_pack("{s:o}", "response", response_json(t, "in_progress")));
	event_send(t, false, "response.in_progress",
		   json_pack("{s:o}", "response", response_json(t, "in_progress")));
	reason_send(t);
	if (t->acts.fail) {
		event_send(t, true, "response.failed",
			   json_pack("{s:o}", "response", response_json(t, "failed")));
		si_text_end(t);
		return;
	}
	if (is_searching(t))
		search_send(t);
	event_send(t, false, "response.output_item.added",
		   json_pack("{s:i, s:o}", "output_index", is_searching(t) ? 1 : 0, "item",
			     item_json(t, "in_progress", false)));
	if (t->answer.call)
		call_send(t);
	else
		text_send(t);
	event_send(t, false, "response.output_item.done",
		   json_pack("{s:i, s:o}", "output_index", is_searching(t) ? 1 : 0, "item",
			     item_json(t, t->cut ? "incomplete" : "completed", true)));
	if (!t->acts.nodone)
		event_send(t, false, t->cut ? "response.incomplete" : "response.completed",
			   json_pack("{s:o}", "response",
				     response_json(t, t->cut ? "incomplete" : "completed")));
	si_text_end(t);
}

static void responses_emit(struct si_text *t)
{
	response_store(t);
	if (t->stream)
		stream_send(t);
	else
		si_reply_json(t->link, 200, response_json(t, t->cut ? "incomplete" : "completed"));
}

static const struct si_text_wire responses_wire = {.refuse = responses_refuse,
						   .emit = responses_emit};

static bool responses_request(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	const json_t *max;
	const char *why;
	struct si_text *t;

	if (head->method != HTTP_POST || strcmp(head->path, "/v1/responses") != 0)
		return false;
	if (!si_link_key(l, NULL, NULL)) {
		responses_refuse(l, 401, "invalid_api_key", "Incorrect API key provided.");
		return true;
	}
	t = si_text_open(l, &responses_wire, shape_responses);
	if (!t)
		return true;
	max = json_object_get(t->root, "max_output_tokens");
	t->max = json_is_integer(max) ? (size_t)json_integer_value(max) : 0;
	why = input_learn(t);
	if (why) {
		t->done = true;
		responses_refuse(l, 400, why, "The input refers to something that is not there.");
	} else {
		si_mind_tools(t->mind, json_object_get(t->root, "tools"));
		si_text_start(t);
	}
	return true;
}

const struct si_service si_responses = {.request = responses_request};
