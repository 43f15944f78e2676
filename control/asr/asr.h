/* Speech-to-text for one room: one transcription session a speaker, opened at the first sound. A shell around
 * control/dialect.
 *
 * What is asked while the session connects waits in its order (10 s of sound at most, the oldest goes first). The
 * provider names an utterance by an item id at its commit, and items of one session come back in any order, so a
 * transcript finds its utterance by that id. When a session is lost, every utterance it owed fails, and the next one
 * opens a new session, not sooner than a second after the last attempt.
 *
 * Everything runs on env's loop thread. What conf names is borrowed. The handler may be called from inside asr_start and
 * asr_commit. Every committed utterance gets exactly one ASR_TRANSCRIPT or ASR_FAILED unless it is cancelled or its
 * session closed by the owner. */
#ifndef CONTROL_ASR_ASR_H
#define CONTROL_ASR_ASR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asr;
struct env;
struct http;
struct ws_ctx;

enum asr_event {
	ASR_PARTIAL,	/* text: the words so far, may be revised by the transcript */
	ASR_TRANSCRIPT, /* text: all words, "" when there were none; again when the provider revises them */
	ASR_FAILED,	/* text: why */
};

/* Of an ASR_TRANSCRIPT: minus the mean logprob of its tokens in thousandths, plus one; how likely there was no speech in
 * thousandths, plus one. 0: not told. */
struct asr_sure {
	uint32_t doubt, no_speech;
};
/* text is UTF-8, not NUL-terminated, borrowed until return. */
typedef void(asr_h)(enum asr_event ev, uint64_t user, uint32_t utterance, const uint8_t *text, size_t len,
		    struct asr_sure sure, void *arg);

struct asr_conf {
	struct env *env;
	struct ws_ctx *ws;
	const char *url; /* of the server, without ?intent= */
	const char *model, *language;
	const char *key; /* "" sends no Authorization */
	/* Of asr_files alone. */
	struct http *http;
	const char *base, *base_key;
	asr_h *h;
	void *arg;
};

/* conf's texts are copied. EINVAL, ENOMEM. Caller owns *out. */
int asr_alloc(struct asr **out, const struct asr_conf *conf);
struct asr *asr_free(struct asr *a);

/* Utterances of a user rise. ENOMEM. */
int asr_start(struct asr *a, uint64_t user, uint32_t utterance);
/* pcm: s16le mono at 24 kHz, n bytes. */
void asr_append(struct asr *a, uint64_t user, uint32_t utterance, const uint8_t *pcm, size_t n);
void asr_commit(struct asr *a, uint64_t user, uint32_t utterance);
/* Its words so far are wanted, as ASR_PARTIAL, of a provider that has none before a commit: what was streamed is committed
 * and streamed again. May come to nothing. */
void asr_interim(struct asr *a, uint64_t user, uint32_t utterance);
/* Its sound is thrown away, or its transcript not wanted any more. */
void asr_cancel(struct asr *a, uint64_t user, uint32_t utterance);
/* Closes the user's session; what it owed is forgotten. */
void asr_close(struct asr *a, uint64_t user);
/* Sessions that are open or opening. */
unsigned asr_sessions(const struct asr *a);

#endif
