/* Speech of ElevenLabs over one WebSocket (multi-stream-input): messages out, facts in. Pure.
 *
 * A socket carries up to ELEVEN_CONTEXTS contexts, each a text that is spoken on its own. A context
 * is opened and gets its text with a flush. It is final only after it was closed, which is how one
 * that speaks is cut: nothing says whether what was flushed is still generated then, so a context
 * is closed once, when all of it has come or when nothing more of it is wanted, and what comes
 * later is dropped by its id. Source: ElevenLabs API reference, text-to-speech multi-stream-input;
 * names come in both casings.
 *
 * Ownership as in control/dialect/stt_wire.h; the audio of a fact may be part of the message. */
#ifndef CONTROL_DIALECT_ELEVEN_H
#define CONTROL_DIALECT_ELEVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/dialect/trouble.h"
#include "proto/base/cursor.h"

enum {
	ELEVEN_RATE = 24000,
	ELEVEN_CONTEXTS = 5,
	ELEVEN_IDLE_S = 180, /* without a text, after which the service closes */
	ELEVEN_CODE_MAX = 64,
	ELEVEN_WORD_MAX = 96,
	ELEVEN_MESSAGE_MAX = 4 << 20,
};

/* ---- addresses ---- */

/* base: http or https, as of the settings; voice and model "": those of the service's examples.
 * NULL without memory, or with a voice that is no id. */
char *eleven_speech_url(const char *base, const char *voice, const char *model,
			const char *language);
/* "xi-api-key: …": a secret; NULL without memory, or key "". */
char *eleven_auth(const char *key);

/* A POST of one text, whose audio comes back as it is made. NULL without memory, or with a voice
 * that is no id. */
char *eleven_stream_endpoint(const char *voice);
char *eleven_stream_body(const char *model, const char *voice, const char *text);

/* ---- messages ---- */

char *eleven_open_context(uint32_t context);
/* The whole text of a context. */
char *eleven_speak(uint32_t context, const char *text);
char *eleven_close_context(uint32_t context);
/* Of a context without a text: the socket stays open. */
char *eleven_keep_alive(uint32_t context);
char *eleven_close_socket(void);

enum eleven_fact_type {
	ELEVEN_IGNORED,
	ELEVEN_AUDIO, /* context, audio; alignment */
	ELEVEN_FINAL, /* context: nothing more comes of it */
	ELEVEN_ERROR, /* code, text: why; the service closes */
};
struct eleven_fact {
	enum eleven_fact_type type;
	uint32_t context;
	char code[ELEVEN_CODE_MAX];
	struct slice audio; /* in base64: s16le mono at ELEVEN_RATE */
	struct slice text;
	const void *alignment; /* NULL, or for eleven_words */
	void *tree;
};
/* One message. EBADMSG, EMSGSIZE. *fact is written only on success and then wants
 * eleven_fact_clear. */
int eleven_parse(struct eleven_fact *fact, const uint8_t *msg, size_t n);
void eleven_fact_clear(struct eleven_fact *fact);
enum trouble eleven_trouble(const uint8_t *why, size_t n);

/* ---- when words end ---- */

/* Of one context: the word that has begun. A struct of zeros begins. */
struct eleven_word {
	char text[ELEVEN_WORD_MAX];
	size_t n;
	uint64_t ends; /* sample, counted from the context's first */
};
typedef void(eleven_word_h)(const char *word, size_t n, uint64_t ends, void *arg);
/* The words that end in this fact's alignment, whose audio begins `before` samples after the
 * context's first. */
void eleven_words(struct eleven_word *w, const struct eleven_fact *fact, uint64_t before,
		  eleven_word_h *h, void *arg);
/* Number of bytes of the text that this fact speaks, without blanks. */
size_t eleven_letters(const struct eleven_fact *fact);
/* All of a text: once as many were spoken, nothing more of it comes. */
size_t eleven_letters_of(const char *text);
/* The last word of a context that is final. */
void eleven_last_word(struct eleven_word *w, eleven_word_h *h, void *arg);

#endif
