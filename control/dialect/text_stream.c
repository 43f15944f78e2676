/* Parts that the text dialects share when they read an answer (text.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/text_inside.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

static void tell(struct text_stream *s, const struct text_fact *fact)
{
	if (s->over)
		return;
	if (fact->type == TEXT_DONE || fact->type == TEXT_FAILED)
		s->over = true;
	if (!s->h(fact, s->arg))
		s->over = true;
}

uint64_t text_number(const json_t *object, const char *name)
{
	const json_t *v = json_object_get(object, name);

	return json_is_integer(v) && json_integer_value(v) > 0 && json_integer_value(v) < UINT32_MAX
		       ? (uint64_t)json_integer_value(v)
		       : 0;
}

/* ---- words ---- */

static void tell_text(struct text_stream *s, const char *text, size_t n)
{
	if (!n)
		return;
	s->words = true;
	tell(s, &(struct text_fact){.type = TEXT_WORDS, .text = {(const uint8_t *)text, n}});
}

void text_tell_words(struct text_stream *s, const json_t *text)
{
	if (json_is_string(text))
		tell_text(s, json_string_value(text), json_string_length(text));
}

/* Returns the length of the text's end that is a beginning of `mark`. */
static bool may_become(const char *text, size_t n, const char *mark)
{
	return n < strlen(mark) && memcmp(text, mark, n) == 0;
}

/* The text's beginning: reasoning in marks, blanks before it, or words. */
static void begin_content(struct text_stream *s, char ch)
{
	static const char mark[] = "<think>";
	bool blank = !s->n_held && (ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t');

	if (blank)
		return;
	s->held[s->n_held++] = ch;
	if (may_become(s->held, s->n_held, mark))
		return;
	if (s->n_held == strlen(mark) && memcmp(s->held, mark, s->n_held) == 0) {
		s->think = TEXT_THINK_INSIDE;
		s->n_held = 0;
	} else {
		s->think = TEXT_THINK_OVER;
	}
}

/* Inside of reasoning: held is the longest end of it that may begin the closing mark. */
static void skip_reasoning(struct text_stream *s, char ch)
{
	static const char mark[] = "</think>";

	s->held[s->n_held++] = ch;
	while (s->n_held && !may_become(s->held, s->n_held, mark)) {
		if (s->n_held == strlen(mark) && memcmp(s->held, mark, s->n_held) == 0) {
			s->think = TEXT_THINK_UNKNOWN;
			s->n_held = 0;
			return;
		}
		memmove(s->held, s->held + 1, --s->n_held);
	}
}

void text_tell_content(struct text_stream *s, const json_t *text)
{
	const char *p = json_string_value(text);
	size_t n = json_string_length(text), i = 0;

	for (; p && i < n && s->think != TEXT_THINK_OVER; i++) {
		if (s->think == TEXT_THINK_INSIDE)
			skip_reasoning(s, p[i]);
		else
			begin_content(s, p[i]);
	}
	/* Held text that this text contains is reported with it. */
	if (s->think == TEXT_THINK_OVER && s->n_held) {
		if (i < s->n_held)
			tell_text(s, s->held, s->n_held - i);
		i = i < s->n_held ? 0 : i - s->n_held;
		s->n_held = 0;
	}
	if (p && i < n)
		tell_text(s, p + i, n - i);
}

/* ---- searches by the provider ---- */

void text_search_began(struct text_stream *s)
{
	if (s->searches_begun == TEXT_SEARCHES_MAX)
		return;
	s->searches_begun++;
	tell(s, &(struct text_fact){.type = TEXT_SEARCH_BEGAN});
}

/* Some servers tell only the end of a search. */
void text_searched(struct text_stream *s, const char *query, bool failed)
{
	if (s->searches_told == s->searches_begun)
		text_search_began(s);
	if (s->searches_told == s->searches_begun)
		return;
	s->searches_told++;
	tell(s, &(struct text_fact){.type = TEXT_SEARCHED,
				    .text = slice_str(query ? query : ""),
				    .failed = failed});
}

void text_end_searches(struct text_stream *s)
{
	while (s->searches_told < s->searches_begun)
		text_searched(s, NULL, true);
}

void text_tell_source(struct text_stream *s, const char *url, const char *title)
{
	if (url && *url)
		tell(s, &(struct text_fact){.type = TEXT_SOURCE,
					    .text = slice_str(url),
					    .title = title ? title : ""});
}

/* ---- calls of tools ---- */

struct text_call *text_call_at(struct text_stream *s, const char *key, const char *id,
			       const char *tool)
{
	struct text_call *c = NULL;

	for (unsigned i = 0; i < s->n_calls && !c; i++)
		if (strcmp(s->calls[i].key, key) == 0)
			c = &s->calls[i];
	if (c || s->n_calls == TEXT_CALLS_MAX)
		return c;
	c = &s->calls[s->n_calls++];
	snprintf(c->key, sizeof c->key, "%s", key);
	if (id && *id)
		utf8_copy(c->id, sizeof c->id, id);
	else
		snprintf(c->id, sizeof c->id, "call_%u_%u", s->ask, s->n_calls);
	utf8_copy(c->tool, sizeof c->tool, tool ? tool : "");
	tell(s, &(struct text_fact){.type = TEXT_CALL_START, .call = c->id, .tool = c->tool});
	return c;
}

static int keep_arguments(struct text_call *c, const char *text, size_t n)
{
	char *grown;
	size_t cap = c->cap ? c->cap : 256;

	if (c->n + n > TEXT_ARGUMENTS_MAX)
		return EMSGSIZE;
	while (cap < c->n + n)
		cap *= 2;
	if (cap != c->cap) {
		grown = realloc(c->arguments, cap);
		if (!grown)
			return ENOMEM;
		c->arguments = grown;
		c->cap = cap;
	}
	memcpy(c->arguments + c->n, text, n);
	c->n += n;
	return 0;
}

static void fail_plain(struct text_stream *s, const char *why)
{
	tell(s, &(struct text_fact){.type = TEXT_FAILED, .text = slice_str(why)});
}

void text_call_more(struct text_stream *s, struct text_call *c, const json_t *fragment)
{
	const char *p = json_string_value(fragment);
	size_t n = json_string_length(fragment);
	int err;

	if (!p || !n || c->told)
		return;
	err = c->too_large ? EMSGSIZE : keep_arguments(c, p, n);
	if (err == ENOMEM)
		fail_plain(s, strerror(err));
	c->too_large = err == EMSGSIZE;
	if (err)
		return;
	tell(s, &(struct text_fact){
			.type = TEXT_CALL_MORE, .call = c->id, .text = {(const uint8_t *)p, n}});
}

void text_call_end(struct text_stream *s, struct text_call *c, const json_t *arguments)
{
	struct slice text = {(const uint8_t *)c->arguments, c->n};

	if (c->told)
		return;
	c->told = true;
	if (json_string_length(arguments))
		text = (struct slice){(const uint8_t *)json_string_value(arguments),
				      json_string_length(arguments)};
	if (!text.n)
		text = slice_str("{}");
	c->too_large = c->too_large || text.n > TEXT_ARGUMENTS_MAX;
	tell(s, &(struct text_fact){.type = TEXT_CALL,
				    .call = c->id,
				    .tool = c->tool,
				    .too_large = c->too_large,
				    .text = c->too_large ? (struct slice){0} : text});
}

void text_end_calls(struct text_stream *s)
{
	for (unsigned i = 0; i < s->n_calls; i++)
		text_call_end(s, &s->calls[i], NULL);
}

/* ---- the end ---- */

void text_fail(struct text_stream *s, const json_t *error)
{
	const char *text = json_string_value(error), *code, *message;
	char why[256];

	code = json_string_value(json_object_get(error, "code"));
	if (!code)
		code = json_string_value(json_object_get(error, "type"));
	message = json_string_value(json_object_get(error, "message"));
	if (text)
		snprintf(why, sizeof why, "%.200s", text);
	else if (code && message)
		snprintf(why, sizeof why, "%.64s: %.160s", code, message);
	else
		snprintf(why, sizeof why, "%.200s",
			 message ? message
			 : code	 ? code
				 : "the provider tells an error without words");
	utf8_mend(why);
	utf8_plain(why);
	fail_plain(s, why);
}

int text_stream_read(struct text_stream *s, const struct text_dialect *d, const uint8_t *data,
		     size_t n, text_fact_h *h, void *arg)
{
	json_t *root;
	int err;

	if (s->over)
		return ECANCELED;
	if (n > TEXT_EVENT_MAX)
		return EMSGSIZE;
	if (n == 6 && memcmp(data, "[DONE]", 6) == 0) {
		s->finished = true;
		return 0;
	}
	root = json_loadb((const char *)data, n, 0, NULL);
	if (!json_is_object(root)) {
		json_decref(root);
		return EBADMSG;
	}
	s->h = h;
	s->arg = arg;
	err = d->read(s, root);
	json_decref(root);
	return s->over ? ECANCELED : err;
}

void text_stream_end(struct text_stream *s, text_fact_h *h, void *arg)
{
	s->h = h;
	s->arg = arg;
	if (s->think == TEXT_THINK_UNKNOWN && s->n_held)
		tell_text(s, s->held, s->n_held);
	text_end_calls(s);
	if (s->used)
		tell(s, &(struct text_fact){.type = TEXT_USAGE, .usage = &s->usage});
	if (s->end == ENGINE_END_FILTERED && !s->words && !s->n_calls)
		fail_plain(s, "content_filter");
	/* Not all servers mark the last word. */
	if (!s->words && !s->n_calls && !s->finished)
		fail_plain(s, "the answer was empty");
	if (s->n_calls && s->end == ENGINE_END_STOP)
		s->end = ENGINE_END_TOOLS;
	tell(s, &(struct text_fact){.type = TEXT_DONE, .end = s->end});
}

void text_stream_clear(struct text_stream *s)
{
	for (unsigned i = 0; i < s->n_calls; i++)
		free(s->calls[i].arguments);
	*s = (struct text_stream){0};
}
