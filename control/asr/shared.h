/* Speech-to-text for one room by one session of the provider, which its speakers use one after the other
 * (control/room/share.h). The sound of what waits is kept, 10 s of it each, the oldest goes first, and is sent when its
 * turn comes. Around control/asr/asr.h, with the same handler, ownership and thread. */
#ifndef CONTROL_ASR_SHARED_H
#define CONTROL_ASR_SHARED_H

#include "control/asr/asr.h"

struct asr_shared;

/* EINVAL, ENOMEM. Caller owns *out. */
int asr_shared_alloc(struct asr_shared **out, const struct asr_conf *conf);
struct asr_shared *asr_shared_free(struct asr_shared *s);

/* EBUSY: too many wait; the utterance will have no words. ENOMEM. */
int asr_shared_start(struct asr_shared *s, uint64_t user, uint32_t utterance);
void asr_shared_append(struct asr_shared *s, uint32_t utterance, const uint8_t *pcm, size_t n);
/* It counts as speech: only now may it have the session. */
void asr_shared_promoted(struct asr_shared *s, uint32_t utterance);
void asr_shared_commit(struct asr_shared *s, uint64_t user, uint32_t utterance);
/* As asr_interim, when its speaker holds the session. */
void asr_shared_interim(struct asr_shared *s, uint32_t utterance);
void asr_shared_cancel(struct asr_shared *s, uint32_t utterance);
/* The user is gone, or idles. With the last one the session itself is closed. */
void asr_shared_close(struct asr_shared *s, uint64_t user);
unsigned asr_shared_sessions(const struct asr_shared *s);

#endif
