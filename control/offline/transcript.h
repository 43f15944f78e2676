/* The answers to a transcription request in the formats of the provider API ("Create
 * transcription"): json, text, verbose_json, srt, vtt, and a stream of events. */
#ifndef OFFLINE_TRANSCRIPT_H
#define OFFLINE_TRANSCRIPT_H

#include <stdbool.h>

#include "proto/base/cursor.h"

struct http_exchange;

enum transcript_format {
	TRANSCRIPT_JSON,
	TRANSCRIPT_TEXT,
	TRANSCRIPT_VERBOSE,
	TRANSCRIPT_SRT,
	TRANSCRIPT_VTT,
};

/* The fields of the form that shape the answer. */
struct transcript_wish {
	enum transcript_format format;
	bool stream, words;
	double seconds; /* length of the recording */
};

/* Reads the form. On EINVAL *param names the field whose value is unknown; static. */
int transcript_wish_parse(struct transcript_wish *out, const char *type, struct slice body,
			  const char **param);
void transcript_answer(struct http_exchange *x, const struct transcript_wish *w, const char *text);

#endif
