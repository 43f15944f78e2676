/* A room's speech-to-text, as its effects ask for it: a session for each speaker, one for all, or recordings. A shell. */
#ifndef CONTROL_ASR_EARS_H
#define CONTROL_ASR_EARS_H

#include "control/asr/asr.h"

struct ears;
struct room_effect;

enum ears_how { EARS_EACH, EARS_SHARED, EARS_FILES };

/* EINVAL, ENOMEM. Caller owns *out. */
int ears_alloc(struct ears **out, const struct asr_conf *conf, enum ears_how how);
struct ears *ears_free(struct ears *e);
/* One ROOM_DO_ASR_*. ENOMEM, EBUSY (asr_shared_start), ENOENT, ENOBUFS (asr_files_run), ENOTSUP: then the utterance has
 * no words. */
int ears_do(struct ears *e, const struct room_effect *effect);
/* The effects of a step are done. As asr_files_send. */
int ears_done(struct ears *e, uint64_t *user, uint32_t *utterance);

#endif
