#include "control/engine/core/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 1;
}

static const char *put_text(char **at, const char *text)
{
	size_t n = text_size(text);
	const char *to = *at;

	memcpy(*at, text ? text : "", n);
	*at += n;
	return to;
}

int engine_ask_copy(struct engine_ask **out, const struct engine_ask *ask)
{
	struct engine_message *messages;
	struct engine_ask *copy;
	size_t size;
	char *at;

	if (!ask->n || ask->n > ENGINE_MESSAGES_MAX)
		return EINVAL;
	size = sizeof *copy + ask->n * sizeof *messages + text_size(ask->instructions) +
	       text_size(ask->model) + text_size(ask->voice);
	for (size_t i = 0; i < ask->n; i++)
		size += text_size(ask->messages[i].speaker) + text_size(ask->messages[i].text);
	copy = malloc(size);
	if (!copy)
		return ENOMEM;
	*copy = *ask;
	messages = (struct engine_message *)(copy + 1);
	at = (char *)(messages + ask->n);
	copy->messages = messages;
	copy->instructions = put_text(&at, ask->instructions);
	copy->model = put_text(&at, ask->model);
	copy->voice = put_text(&at, ask->voice);
	for (size_t i = 0; i < ask->n; i++) {
		messages[i].role = ask->messages[i].role;
		messages[i].speaker = put_text(&at, ask->messages[i].speaker);
		messages[i].text = put_text(&at, ask->messages[i].text);
	}
	*out = copy;
	return 0;
}

size_t engine_message_line(const struct engine_message *m, char *buf, size_t size)
{
	int n = m->role == ENGINE_USER && *m->speaker
			? snprintf(buf, size, "[%s]: %s", m->speaker, m->text)
			: snprintf(buf, size, "%s", m->text);

	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}
