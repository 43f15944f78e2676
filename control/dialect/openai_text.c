/* Words and speech of the OpenAI dialect by HTTP: requests out, pieces of an answer in. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/openai_http.h"
#include "proto/base/utf8.h"

/* Steals root. */
static char *text_of(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}

static struct slice slice_of(const json_t *v)
{
	return json_is_string(v) ? (struct slice){(const uint8_t *)json_string_value(v),
						  json_string_length(v)}
				 : (struct slice){(const uint8_t *)"", 0};
}

/* ---- speech ---- */

char *openai_speech(const char *model, const char *voice, const char *text)
{
	return text_of(json_pack("{s:s,s:s,s:s,s:s}", "model", model, "input", text, "voice", voice,
				 "response_format", "pcm"));
}

bool openai_speech_raw(const char *type)
{
	static const char *const raw[] = {"audio/pcm", "audio/l16", "audio/x-raw", "audio/raw",
					  "application/octet-stream"};
	size_t n = strcspn(type, "; ");

	for (size_t i = 0; i < sizeof raw / sizeof raw[0]; i++)
		if (strlen(raw[i]) == n && strncasecmp(raw[i], type, n) == 0)
			return true;
	return n == 0;
}

/* ---- words ---- */

/* OpenAI's own models have another name for it, and some of them refuse the old one; the rest know
 * only that. */
static const char *tokens_name(const char *model)
{
	bool o = model[0] == 'o' && model[1] >= '0' && model[1] <= '9';

	return o || strncmp(model, "gpt-", 4) == 0 ? "max_completion_tokens" : "max_tokens";
}

/* Tokens for an answer of one word: reasoning models need more than others, and some count
 * differently. */
static unsigned word_tokens(const char *model)
{
	if (strncmp(model, "gpt-5", 5) == 0)
		return 64;
	return strncmp(model, "gpt-", 4) == 0 ? 16 : 2;
}

static json_t *messages_of(const struct openai_chat *c)
{
	json_t *messages = json_array();
	size_t want = c->n + (*c->system ? 1 : 0);

	if (*c->system)
		json_array_append_new(
			messages, json_pack("{s:s,s:s}", "role", "system", "content", c->system));
	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(messages,
				      json_pack("{s:s,s:s}", "role",
						c->lines[i].assistant ? "assistant" : "user",
						"content", c->lines[i].text));
	if (json_array_size(messages) == want)
		return messages;
	json_decref(messages);
	return NULL;
}

char *openai_chat(const struct openai_chat *c)
{
	json_t *messages = messages_of(c), *root;

	if (!messages)
		return NULL;
	root = json_pack("{s:s,s:o,s:b}", "model", c->model, "messages", messages, "stream",
			 c->stream);
	if (root && c->one_word &&
	    json_object_set_new(root, tokens_name(c->model), json_integer(word_tokens(c->model)))) {
		json_decref(root);
		return NULL;
	}
	return text_of(root);
}

static struct slice error_text(const json_t *error)
{
	struct slice s = slice_of(error);

	return s.n ? s : slice_of(json_object_get(error, "message"));
}

/* Ignores reasoning text and tool calls. */
static void read_choice(struct openai_chunk *c, const json_t *choice)
{
	const json_t *part = json_object_get(choice, "delta");
	const char *why = json_string_value(json_object_get(choice, "finish_reason"));

	if (!part)
		part = json_object_get(choice, "message");
	c->text = slice_of(json_object_get(part, "content"));
	c->finished = why != NULL;
	if (c->text.n)
		c->said = OPENAI_SAID_WORDS;
	else if (why && strcmp(why, "content_filter") == 0) {
		c->said = OPENAI_SAID_WRONG;
		c->text = (struct slice){(const uint8_t *)"content_filter", 14};
	}
}

int openai_chunk(struct openai_chunk *out, const uint8_t *data, size_t n)
{
	struct openai_chunk c = {.said = OPENAI_SAID_NOTHING};
	const json_t *choices, *error;
	json_t *root;

	if (n > OPENAI_ANSWER_MAX)
		return EMSGSIZE;
	if (n == 6 && memcmp(data, "[DONE]", 6) == 0) {
		*out = (struct openai_chunk){.said = OPENAI_SAID_ALL, .finished = true};
		return 0;
	}
	root = json_loadb((const char *)data, n, 0, NULL);
	if (!json_is_object(root)) {
		json_decref(root);
		return EBADMSG;
	}
	error = json_object_get(root, "error");
	choices = json_object_get(root, "choices");
	if (error && !json_is_null(error)) {
		c.said = OPENAI_SAID_WRONG;
		c.text = error_text(error);
	} else if (json_array_size(choices)) {
		read_choice(&c, json_array_get(choices, 0));
	}
	c.tree = root;
	*out = c;
	return 0;
}

void openai_chunk_clear(struct openai_chunk *chunk)
{
	json_decref(chunk->tree);
	*chunk = (struct openai_chunk){0};
}

/* ---- when it is refused ---- */

void openai_refusal(int status, const char *body, size_t n, char *why, size_t size)
{
	json_t *root = n && n <= OPENAI_ANSWER_MAX ? json_loadb(body, n, 0, NULL) : NULL;
	const json_t *error = json_object_get(root, "error");
	const char *code = json_string_value(json_object_get(error, "code"));
	struct slice text = error_text(error);

	if (!code)
		code = status == 401   ? "invalid_api_key"
		       : status == 402 ? "insufficient_quota"
		       : status == 429 ? "rate_limit_exceeded"
				       : "";
	snprintf(why, size, "status %d%s%.64s%s%.*s", status, *code ? " " : "", code,
		 text.n ? ": " : "", text.n > 120 ? 120 : (int)text.n, (const char *)text.p);
	utf8_mend(why);
	utf8_plain(why);
	json_decref(root);
}
