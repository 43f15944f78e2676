/* A dialect of text-to-speech over HTTP: a table of pure functions for control/engine/speech.c. The
 * audio comes raw, s16le mono at 24 kHz. Built texts are freed by the caller; NULL is ENOMEM. */
#ifndef CONTROL_DIALECT_SPEECH_HTTP_H
#define CONTROL_DIALECT_SPEECH_HTTP_H

#include <stdbool.h>

#include "control/settings/record.h"

struct speech_http {
	const char *key_header; /* name of the header that has the key; NULL: a bearer token */
	/* Of a POST, behind the provider's base. */
	char *(*endpoint)(const char *voice);
	char *(*body)(const char *model, const char *voice, const char *text);
	/* True if what comes under this Content-Type ("" for none) may be such audio. */
	bool (*raw)(const char *type);
};

/* NULL: this dialect does not speak over HTTP. */
const struct speech_http *speech_http(enum dialect dialect);

#endif
