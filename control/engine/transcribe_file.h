/* Transcription of whole recordings: each utterance's audio is kept until it is requested, and then
 * goes to the provider as one WAV file. A shell around control/dialect (POST audio/transcriptions).
 *
 * The room decides which recording goes when, and that one runs at a time
 * (control/room/hearing/recording_queue.h). Recordings that are requested before the next
 * transcribe_file_send become one request, whose transcript is the first one's.
 *
 * Everything runs on env's loop thread. The names in conf are borrowed. The handler is never called
 * from inside a function of this header. Every request gets exactly one TRANSCRIBE_TRANSCRIPT or
 * TRANSCRIBE_FAILED, unless it is cancelled or its speaker closed. */
#ifndef CONTROL_ENGINE_TRANSCRIBE_FILE_H
#define CONTROL_ENGINE_TRANSCRIBE_FILE_H

#include "control/engine/transcribe_session.h"

enum {
	TRANSCRIBE_FILE_KEPT = 256,	  /* recordings */
	TRANSCRIBE_FILE_BYTES = 32 << 20, /* of all recordings */
	TRANSCRIBE_FILE_ONE = 4 << 20,	  /* of one request's audio */
	TRANSCRIBE_FILE_MS = 60000,	  /* longest wait for an answer; the room waits less */
};

struct transcribe_file;

/* EINVAL, ENOMEM. Caller owns *out, and frees it outside the handler. */
int transcribe_file_alloc(struct transcribe_file **out, const struct transcribe_conf *conf);
struct transcribe_file *transcribe_file_free(struct transcribe_file *f);

/* Sets another key for requests from now on. ENOMEM. */
int transcribe_file_rekey(struct transcribe_file *f, const char *key);
/* ENOMEM, ENOBUFS too many are kept. */
int transcribe_file_start(struct transcribe_file *f, uint64_t user, uint32_t utterance);
/* pcm: s16le mono at 24 kHz. */
void transcribe_file_append(struct transcribe_file *f, uint64_t user, uint32_t utterance,
			    const uint8_t *pcm, size_t n);
/* Requests the transcript of this recording. ENOENT: there is none; ENOBUFS: part of it was lost.
 */
int transcribe_file_run(struct transcribe_file *f, uint64_t user, uint32_t utterance);
/* Sends the recordings that were requested since the last call, as one. On failure *user and
 * *utterance name the utterance that gets no transcript, and the handler is not called for it.
 * ENOMEM, EMSGSIZE, EINVAL. */
int transcribe_file_send(struct transcribe_file *f, uint64_t *user, uint32_t *utterance);
void transcribe_file_cancel(struct transcribe_file *f, uint64_t user, uint32_t utterance);
/* All of this speaker. */
void transcribe_file_close(struct transcribe_file *f, uint64_t user);

#endif
