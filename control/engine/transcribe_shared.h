/* Transcription for one room over one session of the provider, which the speakers use one after the
 * other (control/engine/core/session_share.h). The last 10 s of audio of each waiting utterance is
 * kept and sent when its turn comes. Built on control/engine/transcribe_session.h, with the same
 * handler, ownership and thread. */
#ifndef CONTROL_ENGINE_TRANSCRIBE_SHARED_H
#define CONTROL_ENGINE_TRANSCRIBE_SHARED_H

#include "control/engine/transcribe_session.h"

struct transcribe_shared;

/* EINVAL, ENOMEM. Caller owns *out. */
int transcribe_shared_alloc(struct transcribe_shared **out, const struct transcribe_conf *conf);
struct transcribe_shared *transcribe_shared_free(struct transcribe_shared *s);

/* As transcribe_session_rekey. */
int transcribe_shared_rekey(struct transcribe_shared *s, const char *key);
/* EBUSY: too many wait; the utterance gets no transcript. ENOMEM. */
int transcribe_shared_start(struct transcribe_shared *s, uint64_t user, uint32_t utterance);
void transcribe_shared_append(struct transcribe_shared *s, uint32_t utterance, const uint8_t *pcm,
			      size_t n);
/* It counts as speech: from now on it may hold the session. */
void transcribe_shared_promoted(struct transcribe_shared *s, uint32_t utterance);
void transcribe_shared_commit(struct transcribe_shared *s, uint64_t user, uint32_t utterance);
/* As transcribe_session_interim, if its utterance holds the session. */
void transcribe_shared_interim(struct transcribe_shared *s, uint32_t utterance);
void transcribe_shared_cancel(struct transcribe_shared *s, uint32_t utterance);
/* The user left or is idle. The session is closed with the last user. */
void transcribe_shared_close(struct transcribe_shared *s, uint64_t user);
unsigned transcribe_shared_sessions(const struct transcribe_shared *s);

#endif
