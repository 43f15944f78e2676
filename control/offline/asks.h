/* What is asked by HTTP, each question for itself: words of a recording, speech, an answer by the rules.
 *
 *   POST /v1/audio/transcriptions   a form with a WAV file      {"text":…}
 *   POST /v1/audio/speech           {"input":…,"voice":…}       s16le mono at 24 kHz as it is made (only "pcm")
 *   POST /v1/chat/completions       {"messages":…,"stream":…}   one choice, whole or as a stream
 *
 * The ears and the voice are the server's; its jobs for these have the owner ASKS_OWNER. Everything runs on env's loop
 * thread. */
#ifndef OFFLINE_ASKS_H
#define OFFLINE_ASKS_H

#include "control/offline/hearing.h"
#include "control/offline/session.h"

struct asks;
struct record;
struct rules;
struct talking;
struct ws_post;

enum { ASKS_OWNER = 0, ASKS_MAX = 32, ASKS_BODY_MAX = 8 << 20 };

struct asks_conf {
	struct env *env;
	struct hearing *hearing;
	struct talking *talking;
	const struct rules *rules;
	struct record *record; /* NULL */
};

/* What conf names is borrowed. ENOMEM. Caller owns *out. */
int asks_alloc(struct asks **out, const struct asks_conf *conf);
struct asks *asks_free(struct asks *a);
/* Takes the post over. */
void asks_post(struct asks *a, struct ws_post *post, const struct session_moment *now);
/* Of jobs with the owner ASKS_OWNER. heard NULL: the ear failed. */
void asks_heard(struct asks *a, uint64_t job, const struct ear_hearing *heard);
void asks_spoken(struct asks *a, uint64_t job, const int16_t *pcm, size_t n, bool last);

#endif
