/* Reads control's event stream (GET /api/events), and comes back with Last-Event-ID when it ends,
 * so that no event is missed. Not for replayed programs. */
#ifndef TESTS_TALK_STREAM_H
#define TESTS_TALK_STREAM_H

#include <stddef.h>

struct env;
struct http;
struct stream;

/* The data of one event. Borrowed until return. */
typedef void(stream_h)(const char *data, size_t n, void *arg);

/* url: with the query. token: of control's HTTP API. Both are copied; http outlives the stream.
 * EINVAL, ENOMEM. Caller owns *out. */
int stream_alloc(struct stream **out, struct env *env, struct http *http, const char *url,
		 const char *token, stream_h *h, void *arg);
struct stream *stream_free(struct stream *s);

#endif
