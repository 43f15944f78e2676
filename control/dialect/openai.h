/* The OpenAI Realtime dialect (GA), pure: client events as text, server events as typed facts.
 *
 * Source: OpenAI's OpenAPI document, schemas RealtimeClientEvent* and RealtimeServerEvent*. A
 * session is either a voice session (turn detection off: the room decides when to answer) or a
 * transcription session (we commit). Unknown events and fields are ignored. Sound is s16le mono at
 * 24 kHz in base64.
 *
 * Built texts are NUL-terminated, allocated, and freed by the caller with free(); NULL means no
 * memory. A fact owns what it points to until openai_fact_clear. */
#ifndef CONTROL_DIALECT_OPENAI_H
#define CONTROL_DIALECT_OPENAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/dialect/trouble.h"
#include "proto/base/cursor.h"

enum {
	OPENAI_RATE = 24000,
	OPENAI_ID_MAX = 128,
	OPENAI_MAX_MESSAGE = 4 << 20,
	OPENAI_MIN_COMMIT = 4800, /* bytes; a smaller buffer is refused (100 ms) */
};

/* ---- addresses ---- */
/* base with ?model= (percent-encoded), or with ?intent=transcription. */
char *openai_url_voice(const char *base, const char *model);
char *openai_url_transcription(const char *base);
/* "Authorization: Bearer …": a secret, to be wiped before it is freed. NULL without memory or key.
 */
char *openai_auth(const char *key);
/* Takes the place of *auth, which is wiped; key "" leaves NULL. ENOMEM: *auth is as it was. */
int openai_auth_replace(char **auth, const char *key);

/* ---- client events ---- */
/* voice: NULL or "" leaves the server's own. */
char *openai_session_voice(const char *instructions, const char *voice);
/* language: NULL or "" for automatic. Models that can say how sure they are of their words are
 * asked to. */
char *openai_session_transcription(const char *model, const char *language);
char *openai_instructions(const char *instructions);
char *openai_append(const uint8_t *pcm, size_t n);
char *openai_commit(uint32_t utterance);
char *openai_clear(void);
/* A line that a person said, or that the bot said (assistant). id: of the item, NULL or "" leaves
 * it to the server; at most 32 characters. Text that is no UTF-8 cannot be sent: NULL. */
char *openai_item(const char *id, bool assistant, const char *text);
char *openai_delete(const char *item);
/* The ask comes back with the response that it creates, and with an error about it. The turn is for
 * those who read the provider's records. */
char *openai_response(uint32_t ask, uint32_t turn);
/* response: NULL or "" for whatever runs. */
char *openai_cancel(const char *response);
char *openai_truncate(const char *item, uint32_t audio_end_ms);

/* ---- server events ---- */
enum openai_fact_type {
	OPENAI_IGNORED,
	OPENAI_SESSION,		  /* created or updated */
	OPENAI_COMMITTED,	  /* item */
	OPENAI_PARTIAL,		  /* item, text: more words */
	OPENAI_TRANSCRIPT,	  /* item, text: all words */
	OPENAI_TRANSCRIPT_FAILED, /* item, text: why */
	OPENAI_RESPONSE,	  /* response, ask (0 when the server did not return it) */
	OPENAI_AUDIO,		  /* response, item, audio in base64 */
	OPENAI_TEXT,		  /* response, item, text: more words of what is being said */
	OPENAI_DONE,		  /* response, status, ask, text: why it failed */
	OPENAI_ERROR,		  /* code, text, error; ask or utterance when it is about one */
};

enum openai_error {
	OPENAI_ERROR_OTHER,
	OPENAI_ERROR_FATAL,	 /* the session is of no use any more */
	OPENAI_ERROR_ACTIVE,	 /* a response is active already */
	OPENAI_ERROR_NOT_ACTIVE, /* no response is active that could be cancelled */
};
enum openai_status { OPENAI_COMPLETED, OPENAI_CANCELLED, OPENAI_INCOMPLETE, OPENAI_FAILED };

struct openai_fact {
	enum openai_fact_type type;
	char response[OPENAI_ID_MAX], item[OPENAI_ID_MAX];
	char code[64];
	enum openai_status status;
	uint32_t ask, utterance;
	uint32_t doubt; /* of a transcript: minus the mean logprob of its tokens, thousandths, plus
			   one; 0: not told */
	enum openai_error error;
	struct slice text, audio;
	void *tree;
};

/* What a refusal, the reason of a failure or of a close says of the service. */
enum trouble openai_trouble(const uint8_t *why, size_t len);

/* One message. EBADMSG malformed (drop and count), EMSGSIZE over OPENAI_MAX_MESSAGE. *fact is
 * written only on success and then wants openai_fact_clear. */
int openai_parse(struct openai_fact *fact, const uint8_t *msg, size_t len);
void openai_fact_clear(struct openai_fact *fact);

#endif
