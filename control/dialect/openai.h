/* Shared by the OpenAI dialect's sessions, pure: addresses, keys, the client events that more than
 * one codec sends, and what failures say.
 *
 * Source: OpenAI's OpenAPI document, schemas RealtimeClientEvent*. Sound is s16le mono at 24 kHz in
 * base64. Built texts are NUL-terminated, allocated, and freed by the caller with free(); NULL
 * means no memory. */
#ifndef CONTROL_DIALECT_OPENAI_H
#define CONTROL_DIALECT_OPENAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/dialect/trouble.h"

enum {
	OPENAI_RATE = 24000,
	OPENAI_MIN_COMMIT = 4800, /* bytes; a smaller buffer is refused (100 ms) */
};

/* ---- addresses ---- */
/* base with ?model= (percent-encoded), or with ?intent=transcription. */
char *openai_url_voice(const char *base, const char *model);
char *openai_url_transcription(const char *base);
/* "Authorization: Bearer …": a secret, to be wiped before it is freed. NULL without memory or key.
 */
char *openai_auth(const char *key);

/* ---- client events ---- */
/* language: NULL or "" for automatic. Models that can say how sure they are of their words are
 * asked to. */
char *openai_session_transcription(const char *model, const char *language);
char *openai_append(const uint8_t *pcm, size_t n);
char *openai_commit(uint32_t utterance);
char *openai_clear(void);
char *openai_delete(const char *item);
/* response: NULL or "" for whatever runs. */
char *openai_cancel(const char *response);
char *openai_truncate(const char *item, uint32_t audio_end_ms);

/* ---- failures ---- */
/* Classifies a refusal, or the reason of a failure or close. */
enum trouble openai_trouble(const uint8_t *why, size_t len);

#endif
