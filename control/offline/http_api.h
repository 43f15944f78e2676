/* The HTTP side of offlined; each request stands alone: transcribing a recording, speech synthesis,
 * an answer by the rules.
 *
 *   POST /v1/audio/transcriptions   a form with a WAV file      {"text":…}, or transcript.h
 *   POST /v1/audio/speech           {"input":…,"voice":…}       s16le mono at 24 kHz as it is made
 * (only "pcm") POST /v1/chat/completions       {"messages":…,"stream":…}   one choice, whole or as
 * a stream
 *
 * The recognisers and the speech queue belong to the server; jobs for these requests have the owner
 * HTTP_API_OWNER. Everything runs on env's loop thread. */
#ifndef OFFLINE_ASKS_H
#define OFFLINE_ASKS_H

#include "control/offline/recogniser_pool.h"
#include "control/offline/session.h"
#include "proto/base/cursor.h"

struct http_api;
struct record;
struct rules;
struct speech_queue;
struct http_exchange;

enum { HTTP_API_OWNER = 0, HTTP_API_MAX = 32, HTTP_API_BODY_MAX = 8 << 20 };

struct http_api_conf {
	struct env *env;
	struct recogniser_pool *recognisers;
	struct speech_queue *speech;
	const struct rules *rules;
	struct record *record; /* NULL */
};

/* Pointers of conf are borrowed. ENOMEM. Caller owns *out, and frees it after the HTTP server. */
int http_api_alloc(struct http_api **out, const struct http_api_conf *conf);
struct http_api *http_api_free(struct http_api *a);
/* Answers with an error in that API's shape. param: the field it is about, or NULL. */
void http_api_refuse(struct http_exchange *x, int status, const char *param, const char *why);
/* Answers, now or later. body is borrowed until return. */
void http_api_post(struct http_api *a, struct http_exchange *x, struct slice body,
		   const struct session_moment *now);
/* Results of jobs with the owner HTTP_API_OWNER. heard NULL: the recogniser failed. */
void http_api_recognised(struct http_api *a, uint64_t job, const struct recognition *heard);
void http_api_take_speech(struct http_api *a, uint64_t job, const int16_t *pcm, size_t n,
			  bool last);

#endif
