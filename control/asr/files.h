/* Speech-to-text of whole recordings: each speaker's sound is kept until it is asked for, then goes to the provider as
 * one WAV file. A shell around control/dialect (POST audio/transcriptions).
 *
 * Which recording goes when, and that one runs at a time, is the room's to say (control/room/hearing/recording_queue.h). Several that
 * are asked for before asr_files_send become one; their words are the first's.
 *
 * Everything runs on env's loop thread. What conf names is borrowed. The handler is never called from inside a function
 * of this header. What was asked for gets exactly one ASR_TRANSCRIPT or ASR_FAILED unless it is cancelled or its speaker
 * closed. */
#ifndef CONTROL_ASR_FILES_H
#define CONTROL_ASR_FILES_H

#include "control/asr/asr.h"

enum {
	ASR_FILES_KEPT = 256,	     /* recordings */
	ASR_FILES_BYTES = 32 << 20,  /* of all of them */
	ASR_FILES_ONE = 4 << 20,     /* of one request's sound */
	ASR_FILES_MS = 60000,	     /* nothing waits longer for an answer; the room waits less */
};

struct asr_files;

/* EINVAL, ENOMEM. Caller owns *out, and frees it outside the handler. */
int asr_files_alloc(struct asr_files **out, const struct asr_conf *conf);
struct asr_files *asr_files_free(struct asr_files *f);

/* ENOMEM, ENOBUFS too many are kept. */
int asr_files_start(struct asr_files *f, uint64_t user, uint32_t utterance);
/* pcm: s16le mono at 24 kHz. */
void asr_files_append(struct asr_files *f, uint64_t user, uint32_t utterance, const uint8_t *pcm, size_t n);
/* This recording is wanted as words. ENOENT there is none, ENOBUFS part of it had no place. */
int asr_files_run(struct asr_files *f, uint64_t user, uint32_t utterance);
/* What was asked for since the last call goes out as one. On failure *user and *utterance name whose words it would have
 * been, and no handler will be called for it. ENOMEM, EMSGSIZE, EINVAL. */
int asr_files_send(struct asr_files *f, uint64_t *user, uint32_t *utterance);
void asr_files_cancel(struct asr_files *f, uint64_t user, uint32_t utterance);
/* All of this speaker. */
void asr_files_close(struct asr_files *f, uint64_t user);

#endif
