#include "control/dialect/speech_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/eleven.h"
#include "control/dialect/openai_http.h"

static char *openai_endpoint(const char *voice)
{
	(void)voice;
	return strdup("audio/speech");
}

static const struct speech_http openai = {
	.endpoint = openai_endpoint, .body = openai_speech, .raw = openai_speech_raw};

/* POST /v1/text-to-speech/{voice}/stream */
static const struct speech_http eleven = {.key_header = "xi-api-key",
					  .endpoint = eleven_stream_endpoint,
					  .body = eleven_stream_body,
					  .raw = openai_speech_raw};

const struct speech_http *speech_http(enum dialect dialect)
{
	switch (dialect) {
	case DIALECT_OPENAI:
	case DIALECT_EMBEDDED:
		return &openai;
	case DIALECT_ELEVENLABS:
		return &eleven;
	default:
		return NULL;
	}
}
