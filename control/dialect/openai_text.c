/* Speech of the OpenAI dialect by HTTP, and what a refusal says. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/eleven.h"
#include "control/dialect/openai.h"
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

/* The object that says what is wrong: "error" of most services, "detail" of ElevenLabs and of
 * servers built on FastAPI. Either may be the words themselves. */
static const json_t *error_of(const json_t *root)
{
	const json_t *error = json_object_get(root, "error");

	return error ? error : json_object_get(root, "detail");
}

static struct slice error_text(const json_t *error)
{
	struct slice s = slice_of(error);

	return s.n ? s : slice_of(json_object_get(error, "message"));
}

static bool is_known(const char *code)
{
	const uint8_t *p = (const uint8_t *)code;

	return code && (openai_trouble(p, strlen(code)) || eleven_trouble(p, strlen(code)));
}

/* Where an error has no code, a status (ElevenLabs) or type (Anthropic) that is known says more
 * than the status of the response: a spent quota comes with 401, too. */
static const char *error_code(const json_t *error, int status)
{
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *named = json_string_value(json_object_get(error, "status"));
	const char *type = json_string_value(json_object_get(error, "type"));

	if (code || is_known(named))
		return code ? code : named;
	if (is_known(type))
		return type;
	return status == 401   ? "invalid_api_key"
	       : status == 402 ? "insufficient_quota"
	       : status == 429 ? "rate_limit_exceeded"
	       : status == 529 ? "overloaded"
			       : "";
}

void openai_refusal(int status, const char *body, size_t n, const char *wait, char *why,
		    size_t size)
{
	json_t *root = n && n <= OPENAI_ANSWER_MAX ? json_loadb(body, n, 0, NULL) : NULL;
	const json_t *error = error_of(root);
	const char *code = error_code(error, status);
	struct slice text = error_text(error);

	snprintf(why, size, "status %d%s%.64s%s%s%.*s", status, *code ? " " : "", code, wait,
		 text.n ? ": " : "", text.n > 120 ? 120 : (int)text.n, (const char *)text.p);
	utf8_mend(why);
	utf8_plain(why);
	json_decref(root);
}
