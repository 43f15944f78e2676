/* Transcription for one room: one session for each speaker, opened at the first audio. A shell
 * around control/dialect/stt_wire.h.
 *
 * The audio of an utterance is kept until its transcript is there, a minute of it at most, and sent
 * as soon as the session is open; 10 s wait for a first connection at most, and the oldest is
 * dropped first. When a session is lost, a new one is opened at once, and what is owed or streams
 * is sent to it from its beginning. An utterance that loses its second session, too, fails. A
 * transcript finds its utterance by the item id that the provider gave it at its commit, or, where
 * there is none, by the order of the commits.
 *
 * Everything runs on env's loop thread. The names in conf are borrowed. The handler may be called
 * from inside transcribe_session_start and transcribe_session_commit. Every committed utterance
 * gets exactly one TRANSCRIBE_TRANSCRIPT or TRANSCRIBE_FAILED, unless it is cancelled or the owner
 * closes its session. */
#ifndef CONTROL_ENGINE_TRANSCRIBE_SESSION_H
#define CONTROL_ENGINE_TRANSCRIBE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/record.h"

enum { TRANSCRIBE_RATE = 24000 }; /* of all audio that comes here */

struct transcribe_session;
struct env;
struct http;
struct ws_ctx;

enum transcribe_event {
	TRANSCRIBE_PARTIAL,    /* text: the interim transcript */
	TRANSCRIBE_TRANSCRIPT, /* text: all words, "" when there were none; again when the provider
				  revises them */
	TRANSCRIBE_FAILED,     /* text: why */
};

/* Of a TRANSCRIBE_TRANSCRIPT: minus the mean logprob of its tokens in thousandths, plus one; how
 * likely there was no speech in thousandths, plus one. 0: not told. language: its code, borrowed
 * until return; NULL or "": not told. */
struct transcribe_sure {
	uint32_t doubt, no_speech;
	const char *language;
};
/* text is UTF-8, not NUL-terminated, borrowed until return. */
typedef void(transcribe_h)(enum transcribe_event ev, uint64_t user, uint32_t utterance,
			   const uint8_t *text, size_t len, struct transcribe_sure sure, void *arg);

struct transcribe_conf {
	struct env *env;
	struct ws_ctx *ws;
	enum dialect dialect;
	const char *url; /* of the provider's WebSocket, without what the dialect adds */
	const char *model, *language;
	const char *key;  /* "" sends no Authorization */
	const char *base; /* of the provider's HTTP side */
	/* Of transcribe_file alone. */
	struct http *http;
	const char *base_key;
	transcribe_h *h;
	void *arg;
};

/* conf's texts are copied. EINVAL: something is missing, or the dialect has no sessions; ENOMEM.
 * Caller owns *out. */
int transcribe_session_alloc(struct transcribe_session **out, const struct transcribe_conf *conf);
struct transcribe_session *transcribe_session_free(struct transcribe_session *a);

/* Sets another key for sessions that are opened from now on. ENOMEM. */
int transcribe_session_rekey(struct transcribe_session *a, const char *key);

/* Utterances of a user rise. ENOMEM. */
int transcribe_session_start(struct transcribe_session *a, uint64_t user, uint32_t utterance);
/* pcm: s16le mono at 24 kHz, n bytes. */
void transcribe_session_append(struct transcribe_session *a, uint64_t user, uint32_t utterance,
			       const uint8_t *pcm, size_t n);
void transcribe_session_commit(struct transcribe_session *a, uint64_t user, uint32_t utterance);
/* Requests an interim transcript (TRANSCRIBE_PARTIAL) from a provider that has none before a
 * commit: commits the audio so far and sends it again. No interim transcript may come. */
void transcribe_session_interim(struct transcribe_session *a, uint64_t user, uint32_t utterance);
/* Discards its audio, or its transcript when that comes. */
void transcribe_session_cancel(struct transcribe_session *a, uint64_t user, uint32_t utterance);
/* Closes the user's session and forgets the transcripts that it owed. */
void transcribe_session_close(struct transcribe_session *a, uint64_t user);
/* Sessions that are open or opening. */
unsigned transcribe_session_sessions(const struct transcribe_session *a);

#endif
