/* A dialect of speech-to-text for whole recordings over HTTP: a table of pure functions for
 * control/engine/transcribe_file.c. Ownership as in control/dialect/openai_http.h. */
#ifndef CONTROL_DIALECT_STT_FILE_H
#define CONTROL_DIALECT_STT_FILE_H

#include "control/dialect/openai_http.h"
#include "control/settings/record.h"

struct stt_file {
	const char *endpoint;	/* of a POST, behind the provider's base */
	const char *key_header; /* name of the header that has the key; NULL: a bearer token */
	/* ENOMEM; EINVAL. */
	int (*build)(struct openai_body *out, const struct openai_recording *rec);
	/* EBADMSG. */
	int (*parse)(struct openai_words *out, const char *body, size_t n);
};

/* NULL: this dialect takes no recordings. */
const struct stt_file *stt_file(enum dialect dialect);

extern const struct stt_file stt_file_scribe;

#endif
