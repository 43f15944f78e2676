/* A room's speech-to-text, as its effects ask for it: a session for each speaker, one for all, or recordings. A shell. */
#ifndef CONTROL_ASR_TRANSCRIBER_H
#define CONTROL_ASR_TRANSCRIBER_H

#include "control/asr/asr.h"

struct transcriber;
struct room_effect;

enum transcriber_how { TRANSCRIBER_EACH, TRANSCRIBER_SHARED, TRANSCRIBER_FILES };

/* EINVAL, ENOMEM. Caller owns *out. */
int transcriber_alloc(struct transcriber **out, const struct asr_conf *conf, enum transcriber_how how);
struct transcriber *transcriber_free(struct transcriber *e);
/* One ROOM_DO_ASR_*. ENOMEM, EBUSY (asr_shared_start), ENOENT, ENOBUFS (asr_files_run), ENOTSUP: then the utterance has
 * no words. */
int transcriber_do(struct transcriber *e, const struct room_effect *effect);
/* The effects of a step are done. As asr_files_send. */
int transcriber_done(struct transcriber *e, uint64_t *user, uint32_t *utterance);

#endif
