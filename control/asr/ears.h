/* A room's speech-to-text, as its effects ask for it: a session for each speaker, or one for all. A shell. */
#ifndef CONTROL_ASR_EARS_H
#define CONTROL_ASR_EARS_H

#include "control/asr/asr.h"

struct ears;
struct room_effect;

/* EINVAL, ENOMEM. Caller owns *out. */
int ears_alloc(struct ears **out, const struct asr_conf *conf, bool shared);
struct ears *ears_free(struct ears *e);
/* One ROOM_DO_ASR_*. ENOMEM, EBUSY (asr_shared_start), ENOTSUP for recordings: then the utterance has no words. */
int ears_do(struct ears *e, const struct room_effect *effect);

#endif
