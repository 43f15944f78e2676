/* Client events of the OpenAI Realtime dialect. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/openai.h"

/* Steals root. */
static char *text_of(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}

static bool plain_p(char ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch && strchr("-._~", ch));
}

static char *url_with(const char *base, const char *name, const char *value)
{
	size_t size = strlen(base) + strlen(name) + 3 * strlen(value) + 3, n;
	char *url = malloc(size);

	if (!url)
		return NULL;
	n = (size_t)snprintf(url, size, "%s%c%s=", base, strchr(base, '?') ? '&' : '?', name);
	for (; *value; value++)
		n += (size_t)snprintf(url + n, size - n, plain_p(*value) ? "%c" : "%%%02X",
				      (unsigned char)*value);
	return url;
}

char *openai_url_voice(const char *base, const char *model)
{
	return url_with(base, "model", model);
}

char *openai_url_transcription(const char *base)
{
	return url_with(base, "intent", "transcription");
}

char *openai_auth(const char *key)
{
	static const char head[] = "Authorization: Bearer ";
	size_t size = key ? sizeof head + strlen(key) : 0;
	char *auth = key && *key ? malloc(size) : NULL;

	if (auth)
		snprintf(auth, size, "%s%s", head, key);
	return auth;
}

static json_t *format(void)
{
	return json_pack("{s:s,s:i}", "type", "audio/pcm", "rate", OPENAI_RATE);
}

char *openai_session_transcription(const char *model, const char *language)
{
	json_t *transcription = json_pack("{s:s}", "model", model), *include = NULL;

	if (transcription && language && *language)
		json_object_set_new(transcription, "language", json_string(language));
	/* Others refuse it. */
	if (strncmp(model, "gpt-4o", 6) == 0 && !strstr(model, "diarize"))
		include = json_pack("[s]", "item.input_audio_transcription.logprobs");
	return text_of(json_pack("{s:s,s:{s:s,s:o*,s:{s:{s:o,s:o,s:n}}}}", "type", "session.update",
				 "session", "type", "transcription", "include", include, "audio",
				 "input", "format", format(), "transcription", transcription,
				 "turn_detection"));
}

char *openai_append(const uint8_t *pcm, size_t n)
{
	static const char head[] = "{\"type\":\"input_audio_buffer.append\",\"audio\":\"";
	static const char tail[] = "\"}";
	size_t chars = base64_encoded(n);
	char *text = malloc(sizeof head - 1 + chars + sizeof tail);

	if (!text)
		return NULL;
	memcpy(text, head, sizeof head - 1);
	base64_encode(pcm, n, text + sizeof head - 1);
	memcpy(text + sizeof head - 1 + chars, tail, sizeof tail);
	return text;
}

char *openai_commit(uint32_t utterance)
{
	char id[32];

	snprintf(id, sizeof id, "utterance-%u", utterance);
	return text_of(json_pack("{s:s,s:s}", "type", "input_audio_buffer.commit", "event_id", id));
}

char *openai_clear(void)
{
	return text_of(json_pack("{s:s}", "type", "input_audio_buffer.clear"));
}

char *openai_delete(const char *item)
{
	return text_of(json_pack("{s:s,s:s}", "type", "conversation.item.delete", "item_id", item));
}

char *openai_cancel(const char *response)
{
	if (!response || !*response)
		return text_of(json_pack("{s:s}", "type", "response.cancel"));
	return text_of(json_pack("{s:s,s:s}", "type", "response.cancel", "response_id", response));
}

char *openai_truncate(const char *item_id, uint32_t audio_end_ms)
{
	return text_of(json_pack("{s:s,s:s,s:i,s:I}", "type", "conversation.item.truncate",
				 "item_id", item_id, "content_index", 0, "audio_end_ms",
				 (json_int_t)audio_end_ms));
}
