/* Speech-to-text for one room by one session of the provider, which its speakers use one after the
 * other (control/engine/core/session_share.h). The sound of what waits is kept, 10 s of it each,
 * the oldest goes first, and is sent when its turn comes. Around
 * control/engine/transcribe_session.h, with the same handler, ownership and thread. */
#ifndef CONTROL_ENGINE_TRANSCRIBE_SHARED_H
#define CONTROL_ENGINE_TRANSCRIBE_SHARED_H

#include "control/engine/transcribe_session.h"

struct transcribe_shared;

/* EINVAL, ENOMEM. Caller owns *out. */
int transcribe_shared_alloc(struct transcribe_shared **out, const struct transcribe_conf *conf);
struct transcribe_shared *transcribe_shared_free(struct transcribe_shared *s);

/* As transcribe_session_rekey. */
int transcribe_shared_rekey(struct transcribe_shared *s, const char *key);
/* EBUSY: too many wait; the utterance will have no words. ENOMEM. */
int transcribe_shared_start(struct transcribe_shared *s, uint64_t user, uint32_t utterance);
void transcribe_shared_append(struct transcribe_shared *s, uint32_t utterance, const uint8_t *pcm,
			      size_t n);
/* It counts as speech: only now may it have the session. */
void transcribe_shared_promoted(struct transcribe_shared *s, uint32_t utterance);
void transcribe_shared_commit(struct transcribe_shared *s, uint64_t user, uint32_t utterance);
/* As transcribe_session_interim, when its speaker holds the session. */
void transcribe_shared_interim(struct transcribe_shared *s, uint32_t utterance);
void transcribe_shared_cancel(struct transcribe_shared *s, uint32_t utterance);
/* The user is gone, or idles. With the last one the session itself is closed. */
void transcribe_shared_close(struct transcribe_shared *s, uint64_t user);
unsigned transcribe_shared_sessions(const struct transcribe_shared *s);

#endif
