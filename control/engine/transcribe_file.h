/* Speech-to-text of whole recordings: each speaker's sound is kept until it is asked for, then goes
 * to the provider as one WAV file. A shell around control/dialect (POST audio/transcriptions).
 *
 * Which recording goes when, and that one runs at a time, is the room's to say
 * (control/room/hearing/recording_queue.h). Several that are asked for before transcribe_file_send
 * become one; their words are the first's.
 *
 * Everything runs on env's loop thread. What conf names is borrowed. The handler is never called
 * from inside a function of this header. What was asked for gets exactly one TRANSCRIBE_TRANSCRIPT
 * or TRANSCRIBE_FAILED unless it is cancelled or its speaker closed. */
#ifndef CONTROL_ENGINE_TRANSCRIBE_FILE_H
#define CONTROL_ENGINE_TRANSCRIBE_FILE_H

#include "control/engine/transcribe_session.h"

enum {
	TRANSCRIBE_FILE_KEPT = 256,	  /* recordings */
	TRANSCRIBE_FILE_BYTES = 32 << 20, /* of all of them */
	TRANSCRIBE_FILE_ONE = 4 << 20,	  /* of one request's sound */
	TRANSCRIBE_FILE_MS = 60000, /* nothing waits longer for an answer; the room waits less */
};

struct transcribe_file;

/* EINVAL, ENOMEM. Caller owns *out, and frees it outside the handler. */
int transcribe_file_alloc(struct transcribe_file **out, const struct transcribe_conf *conf);
struct transcribe_file *transcribe_file_free(struct transcribe_file *f);

/* Another key, of what is sent from now on. ENOMEM. */
int transcribe_file_rekey(struct transcribe_file *f, const char *key);
/* ENOMEM, ENOBUFS too many are kept. */
int transcribe_file_start(struct transcribe_file *f, uint64_t user, uint32_t utterance);
/* pcm: s16le mono at 24 kHz. */
void transcribe_file_append(struct transcribe_file *f, uint64_t user, uint32_t utterance,
			    const uint8_t *pcm, size_t n);
/* This recording is wanted as words. ENOENT there is none, ENOBUFS part of it had no place. */
int transcribe_file_run(struct transcribe_file *f, uint64_t user, uint32_t utterance);
/* What was asked for since the last call goes out as one. On failure *user and *utterance name
 * whose words it would have been, and no handler will be called for it. ENOMEM, EMSGSIZE, EINVAL.
 */
int transcribe_file_send(struct transcribe_file *f, uint64_t *user, uint32_t *utterance);
void transcribe_file_cancel(struct transcribe_file *f, uint64_t user, uint32_t utterance);
/* All of this speaker. */
void transcribe_file_close(struct transcribe_file *f, uint64_t user);

#endif
