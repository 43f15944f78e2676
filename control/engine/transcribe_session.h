/* Transcription for one room: one session for each speaker, opened at the first audio. A shell
 * around control/dialect.
 *
 * Events wait in order while the session connects; at most 10 s of audio is kept, and the oldest is
 * dropped first. The provider names an utterance by an item id at its commit, and items of one
 * session come back in any order, so a transcript finds its utterance by that id. When a session is
 * lost, every utterance that it owed fails. The next utterance opens a new session, at the earliest
 * a second after the last attempt.
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
 * likely there was no speech in thousandths, plus one. 0: not told. */
struct transcribe_sure {
	uint32_t doubt, no_speech;
};
/* text is UTF-8, not NUL-terminated, borrowed until return. */
typedef void(transcribe_h)(enum transcribe_event ev, uint64_t user, uint32_t utterance,
			   const uint8_t *text, size_t len, struct transcribe_sure sure, void *arg);

struct transcribe_conf {
	struct env *env;
	struct ws_ctx *ws;
	const char *url; /* of the server, without ?intent= */
	const char *model, *language;
	const char *key; /* "" sends no Authorization */
	/* Of transcribe_file alone. */
	struct http *http;
	const char *base, *base_key;
	transcribe_h *h;
	void *arg;
};

/* conf's texts are copied. EINVAL, ENOMEM. Caller owns *out. */
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
