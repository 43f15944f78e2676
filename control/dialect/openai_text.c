/* Speech of the OpenAI dialect by HTTP, and what a refusal says. */
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

/* ---- when it is refused ---- */

static struct slice error_text(const json_t *error)
{
	struct slice s = slice_of(error);

	return s.n ? s : slice_of(json_object_get(error, "message"));
}

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
		       : status == 529 ? "overloaded"
				       : "";
	snprintf(why, size, "status %d%s%.64s%s%.*s", status, *code ? " " : "", code,
		 text.n ? ": " : "", text.n > 120 ? 120 : (int)text.n, (const char *)text.p);
	utf8_mend(why);
	utf8_plain(why);
	json_decref(root);
}
