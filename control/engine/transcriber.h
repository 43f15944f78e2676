/* Transcription for one room: a session for each speaker, one session for all of them, or whole
 * recordings. A shell around the three (transcribe_session.h, transcribe_shared.h,
 * transcribe_file.h), with their handler, ownership and thread. */
#ifndef CONTROL_ENGINE_TRANSCRIBER_H
#define CONTROL_ENGINE_TRANSCRIBER_H

#include "control/engine/transcribe_session.h"
#include "proto/base/cursor.h"

struct transcriber;

enum transcriber_how { TRANSCRIBER_EACH, TRANSCRIBER_SHARED, TRANSCRIBER_FILES };

/* What happens to an utterance. */
enum transcriber_input {
	TRANSCRIBER_START,   /* connects if need be; sound follows */
	TRANSCRIBER_APPEND,  /* pcm: s16le mono at 24 kHz */
	TRANSCRIBER_SPEECH,  /* counts as speech from now on */
	TRANSCRIBER_COMMIT,  /* a transcript is awaited */
	TRANSCRIBER_INTERIM, /* its interim transcript is wanted; the utterance goes on */
	TRANSCRIBER_FILE, /* its recording is to be transcribed, with the others of the same step as
			     one */
	TRANSCRIBER_CANCEL, /* forgets it */
	TRANSCRIBER_CLOSE,  /* closes the user's session; left: the user left, so recordings are
			       forgotten too */
};

struct transcriber_fact {
	enum transcriber_input type;
	uint64_t user;
	uint32_t utterance;
	struct slice pcm; /* borrowed */
	bool left;
};

/* EINVAL, ENOMEM. Caller owns *out. */
int transcriber_alloc(struct transcriber **out, const struct transcribe_conf *conf,
		      enum transcriber_how how);
struct transcriber *transcriber_free(struct transcriber *e);
/* ENOMEM, EBUSY (transcribe_shared_start), ENOENT, ENOBUFS (transcribe_file_run), ENOTSUP: then the
 * utterance gets no transcript. */
int transcriber_do(struct transcriber *e, const struct transcriber_fact *fact);
/* The inputs of one step are done. As transcribe_file_send. */
int transcriber_done(struct transcriber *e, uint64_t *user, uint32_t *utterance);

#endif
