#include "control/offline/chat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/offline/brain.h"
#include "ipc/http_server.h"

enum { LINE_SIZE = 8192 };

/* ---- a request ---- */

static void append_text(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	if (text && n + 1 < size)
		snprintf(buf + n, size - n, "%s%s", n ? " " : "", text);
}

static void copy_content(const json_t *content, char *buf, size_t size)
{
	buf[0] = '\0';
	append_text(buf, size, json_string_value(content));
	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *part = json_array_get(content, i);
		const char *type = json_string_value(json_object_get(part, "type"));

		if (type && (strcmp(type, "text") == 0 || strcmp(type, "input_text") == 0))
			append_text(buf, size, json_string_value(json_object_get(part, "text")));
	}
}

int chat_question(const json_t *root, struct brain_room *room, char *buf, size_t size)
{
	const json_t *messages = json_object_get(root, "messages");
	char text[LINE_SIZE];
	bool asked = false;

	for (size_t i = 0; i < json_array_size(messages); i++) {
		const json_t *m = json_array_get(messages, i);
		const char *role = json_string_value(json_object_get(m, "role"));

		copy_content(json_object_get(m, "content"), text, sizeof text);
		if (role && text[0] && strcmp(role, "user") == 0) {
			snprintf(buf, size, "%s", text);
			asked = true;
		} else if (text[0]) {
			brain_room_parse(room, text);
		}
	}
	return asked ? 0 : EINVAL;
}

/* ---- tools ---- */

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The function that this message called by that id; NULL: it called none. */
static const json_t *called_function(const json_t *message, const char *id)
{
	const json_t *calls = json_object_get(message, "tool_calls");

	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *call = json_array_get(calls, i);

		if (strcmp(text_at(call, "id"), id) == 0)
			return json_object_get(call, "function");
	}
	return NULL;
}

const char *chat_output(const json_t *root, const char **tool, const char **arguments)
{
	const json_t *messages = json_object_get(root, "messages");
	size_t n = json_array_size(messages);
	const json_t *last = n ? json_array_get(messages, n - 1) : NULL, *called = NULL;

	*tool = NULL;
	*arguments = "";
	if (strcmp(text_at(last, "role"), "tool") != 0)
		return NULL;
	for (size_t i = n - 1; i > 0 && !*tool; i--) {
		called = called_function(json_array_get(messages, i - 1),
					 text_at(last, "tool_call_id"));
		*tool = json_string_value(json_object_get(called, "name"));
	}
	*arguments = text_at(called, "arguments");
	return *tool ? text_at(last, "content") : NULL;
}

bool chat_offers(const char *tool, void *root)
{
	const json_t *tools = json_object_get(root, "tools");

	for (size_t i = 0; i < json_array_size(tools); i++) {
		const json_t *t = json_object_get(json_array_get(tools, i), "function");

		if (strcmp(text_at(t, "name"), tool) == 0)
			return true;
	}
	return false;
}

/* ---- an answer ---- */

struct completion {
	struct http_exchange *x;
	const char *model;
	char id[40];
	uint64_t wall_s;
	bool stream, usage; /* asked for in parts; with what was used */
};

/* Steals choices. */
static json_t *make_completion(const struct completion *c, const char *object, json_t *choices)
{
	return json_pack("{s:s,s:s,s:I,s:s,s:o,s:n,s:s}", "id", c->id, "object", object, "created",
			 (json_int_t)c->wall_s, "model", c->model, "choices", choices,
			 "system_fingerprint", "service_tier", "default");
}

/* A word is a token: close enough for what a client shows. */
static int count_words(const char *text)
{
	int n = 0;

	for (const char *p = text; *p; n++) {
		p += strspn(p, " ");
		p += strcspn(p, " ");
	}
	return n;
}

static json_t *make_usage(const char *line)
{
	int n = count_words(line);

	return json_pack("{s:i,s:i,s:i}", "prompt_tokens", 0, "completion_tokens", n,
			 "total_tokens", n);
}

/* Steals root. */
static void write_event(struct http_exchange *x, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	if (text) {
		http_reply_write(x, "data: ", 6);
		http_reply_write(x, text, strlen(text));
		http_reply_write(x, "\n\n", 2);
	}
	free(text);
	json_decref(root);
}

/* Steals delta. */
static void write_chunk(const struct completion *c, json_t *delta, const char *finish)
{
	write_event(c->x, make_completion(c, "chat.completion.chunk",
					  json_pack("[{s:i,s:o,s:n,s:s?}]", "index", 0, "delta",
						    delta, "logprobs", "finish_reason", finish)));
}

/* line: the words that count as used. */
static void end_stream(const struct completion *c, const char *finish, const char *line)
{
	json_t *last;

	write_chunk(c, json_object(), finish);
	if (c->usage) {
		last = make_completion(c, "chat.completion.chunk", json_array());
		if (last)
			json_object_set_new(last, "usage", make_usage(line));
		write_event(c->x, last);
	}
	http_reply_write(c->x, "data: [DONE]\n\n", 14);
	http_reply_end(c->x);
}

static void stream_answer(const struct completion *c, const char *line)
{
	http_reply_begin(c->x, 200, "text/event-stream");
	write_chunk(c, json_pack("{s:s,s:s,s:n}", "role", "assistant", "content", "", "refusal"),
		    NULL);
	for (const char *p = line; *p;) {
		size_t n = strspn(p, " ");

		n += strcspn(p + n, " ");
		write_chunk(c, json_pack("{s:s%}", "content", p, n), NULL);
		p += n;
	}
	end_stream(c, "stop", line);
}

/* Steals message. */
static void send_whole(const struct completion *c, json_t *message, const char *finish,
		       const char *line)
{
	json_t *root = make_completion(c, "chat.completion",
				       json_pack("[{s:i,s:o,s:n,s:s}]", "index", 0, "message",
						 message, "logprobs", "finish_reason", finish));
	char *text;

	if (root)
		json_object_set_new(root, "usage", make_usage(line));
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	http_reply(c->x, text ? 200 : 500, "application/json", text, text ? strlen(text) : 0);
	free(text);
	json_decref(root);
}

static struct completion completion_of(struct http_exchange *x, const json_t *root, uint64_t number,
				       uint64_t wall_s)
{
	const char *model = json_string_value(json_object_get(root, "model"));
	const json_t *options = json_object_get(root, "stream_options");
	struct completion c = {.x = x,
			       .model = model ? model : "rules",
			       .wall_s = wall_s,
			       .stream = json_is_true(json_object_get(root, "stream")),
			       .usage = json_is_true(json_object_get(options, "include_usage"))};

	snprintf(c.id, sizeof c.id, "chatcmpl-offline%016llx", (unsigned long long)number);
	return c;
}

void chat_answer(struct http_exchange *x, const json_t *root, const char *line, uint64_t number,
		 uint64_t wall_s)
{
	const struct completion c = completion_of(x, root, number, wall_s);

	if (c.stream)
		stream_answer(&c, line);
	else
		send_whole(&c,
			   json_pack("{s:s,s:s,s:n,s:[]}", "role", "assistant", "content", line,
				     "refusal", "annotations"),
			   "stop", line);
}

void chat_call(struct http_exchange *x, const json_t *root, const struct brain_call *call,
	       uint64_t number, uint64_t wall_s)
{
	const struct completion c = completion_of(x, root, number, wall_s);
	char id[40];
	json_t *message;

	snprintf(id, sizeof id, "call_offline%016llx", (unsigned long long)number);
	message =
		json_pack("{s:s,s:n,s:n,s:[{s:i,s:s,s:s,s:{s:s,s:s}}]}", "role", "assistant",
			  "content", "refusal", "tool_calls", "index", 0, "id", id, "type",
			  "function", "function", "name", call->tool, "arguments", call->arguments);
	if (!c.stream) {
		send_whole(&c, message, "tool_calls", call->arguments);
		return;
	}
	http_reply_begin(x, 200, "text/event-stream");
	write_chunk(&c, message, NULL);
	end_stream(&c, "tool_calls", call->arguments);
}
