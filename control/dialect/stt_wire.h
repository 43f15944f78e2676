/* A dialect of transcription sessions (speech-to-text) over one WebSocket: a table of pure
 * functions. control/engine/transcribe_session.c owns the socket and speaks to this table alone;
 * control/engine/core/transcription.h decides what is sent when.
 *
 * Sessions hear one speaker at a time and find no ends of their own: the room commits.
 *
 * Ownership: built texts are NUL-terminated, allocated and freed by the caller with free(); NULL
 * means no memory. A fact owns what it points to until stt_fact_clear. Slices are UTF-8, not
 * NUL-terminated. */
#ifndef CONTROL_DIALECT_STT_WIRE_H
#define CONTROL_DIALECT_STT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/record.h"
#include "proto/base/cursor.h"

enum { STT_ID_MAX = 128, STT_CODE_MAX = 64, STT_MESSAGE_MAX = 4 << 20, STT_LANGUAGE_MAX = 16 };

enum stt_fact_type {
	STT_IGNORED,
	STT_READY,     /* of a wire that waits: audio may be sent */
	STT_COMMITTED, /* item: the committed audio is this item */
	STT_PARTIAL,   /* item, text, whole */
	STT_SEGMENT,   /* text: the first words of the final transcript, which has the rest */
	STT_FINAL,     /* item, text, doubt, language */
	STT_FAILED,    /* item, text: why */
	STT_ERROR,     /* code, text, fatal, commit, utterance, empty */
};

struct stt_fact {
	enum stt_fact_type type;
	char item[STT_ID_MAX]; /* "" where the wire names none: transcripts come in the order of
				  the commits */
	char code[STT_CODE_MAX];
	bool whole;  /* the interim transcript so far, otherwise more of it */
	bool fatal;  /* the session is of no use any more */
	bool commit; /* a commit was refused: that of utterance, 0 for the oldest one */
	bool empty;  /* since it had too little audio */
	uint32_t utterance;
	char language[STT_LANGUAGE_MAX]; /* of STT_FINAL: a code of ISO 639; "": not told */
	uint32_t doubt; /* minus the mean logprob, thousandths, plus one; 0: not told */
	struct slice text;
	void *tree;
};

struct stt_session {
	const char *socket_url, *http_url; /* of the provider, as the settings have it */
	const char *model, *language;	   /* language "": the provider detects it */
};

struct stt_wire {
	uint32_t rate;		/* samples a second of s16le mono */
	uint32_t min_commit_ms; /* of audio; less is refused; 0: any is taken */
	bool one_at_a_time;	/* an utterance begins after the transcript of the one before */
	bool waits;		/* nothing is sent before STT_READY */
	bool interim;		/* interim transcripts need a commit, and the audio again */

	/* Where to connect, without the key. */
	char *(*url)(const struct stt_session *s);
	/* The header that has the key: a secret, to be wiped before it is freed; NULL with key "",
	 * too. */
	char *(*auth)(const char *key);
	/* The first message of the connection, and of each utterance; the function is NULL where
	 * there is none. */
	char *(*open)(const struct stt_session *s);
	char *(*begin)(void);
	/* NULL: audio goes in binary messages as it is. */
	char *(*append)(const uint8_t *pcm, size_t n);
	char *(*commit)(uint32_t utterance);
	/* Discards the audio since the last commit. NULL: the wire cannot; it is committed, and its
	 * transcript dropped. */
	char *(*clear)(void);
	/* One message. EBADMSG malformed (drop and count), EMSGSIZE over STT_MESSAGE_MAX. *fact is
	 * written only on success and then wants stt_fact_clear. */
	int (*parse)(struct stt_fact *fact, const uint8_t *msg, size_t n);
};

/* NULL: this dialect has no transcription sessions. */
const struct stt_wire *stt_wire(enum dialect dialect);
void stt_fact_clear(struct stt_fact *fact);

/* For the dialects: reads one JSON object, whose member `name` is the type of the message. The
 * reader fills in the fact, which is STT_IGNORED with an empty text before; EBADMSG. As parse. */
struct json_t;
typedef int(stt_read_h)(struct stt_fact *fact, const struct json_t *root, const char *type);
int stt_fact_read(struct stt_fact *fact, const uint8_t *msg, size_t n, const char *name,
		  stt_read_h *h);

extern const struct stt_wire stt_openai, stt_xai, stt_scribe, stt_vllm, stt_xai_stt;

#endif
