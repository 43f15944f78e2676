/* HTTP requests to OpenAI and servers that speak its dialect: words of a recording,
 * and speech. What text models are asked is in text.h.
 *
 * Pure: it builds bodies and reads answers. Texts that it returns are freed by the caller with
 * free(); NULL is ENOMEM. */
#ifndef CONTROL_DIALECT_OPENAI_HTTP_H
#define CONTROL_DIALECT_OPENAI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

enum {
	OPENAI_ANSWER_MAX = 1 << 20, /* bytes of an answer that comes whole */
	OPENAI_WORDS_MAX = 4096,     /* of a recording, with NUL */
	OPENAI_WHY_MAX = 256,
};

/* base + "/" + endpoint; base may end with a slash. */
char *openai_http_url(const char *base, const char *endpoint);

/* ---- POST audio/transcriptions ---- */

struct openai_recording {
	const char *model, *language; /* language "": not told */
	const char *boundary;	      /* of the parts; nothing else may hold it */
	struct slice pcm;	      /* s16le mono */
	uint32_t rate;
};
/* A body of several parts; type is its Content-Type line, the sound begins at sound_at. */
struct openai_body {
	uint8_t *p;
	size_t n, sound_at;
	char type[128];
};
/* ENOMEM; EINVAL when the boundary has no place. p is freed by the caller. */
int openai_transcription(struct openai_body *out, const struct openai_recording *rec);

enum { OPENAI_LANGUAGE_MAX = 16 };
struct openai_words {
	char text[OPENAI_WORDS_MAX]; /* UTF-8, may be empty */
	uint32_t doubt;		     /* as in struct openai_fact */
	uint32_t no_speech; /* how likely there was none, thousandths, plus one; 0: not told */
	char language[OPENAI_LANGUAGE_MAX]; /* a code of ISO 639; "": not told */
};
/* Stretches that the recogniser itself takes for no speech are left out. EBADMSG. */
int openai_transcript(struct openai_words *out, const char *body, size_t n);

/* ---- POST audio/speech ---- */

/* Requests raw sound: s16le mono at OPENAI_RATE. */
char *openai_speech(const char *model, const char *voice, const char *text);
/* True if what comes under this Content-Type ("" for none) may be that. */
bool openai_speech_raw(const char *type);

/* ---- when it is refused ---- */

/* One line: the status, what is known of the cause by a code of openai_trouble(), the wait that the
 * server asks for (proto/http/retry_after.h; "" for none), and its words. */
void openai_refusal(int status, const char *body, size_t n, const char *wait, char *why,
		    size_t size);

#endif
