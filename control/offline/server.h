/* The server: WebSocket connections with a session each, and the recognisers and the speech queue
 * that they share.
 *
 * A shell on one env. Paths: /v1/realtime?model=… (voice) and /v1/realtime?intent=transcription;
 * requests without a session are in http_api.h. */
#ifndef OFFLINE_SERVER_H
#define OFFLINE_SERVER_H

#include "control/offline/recogniser_pool.h"

struct env;
struct record;
struct rules;
struct server;
struct ws_ctx;

struct server_conf {
	struct env *env;
	struct ws_ctx *ws;
	const char *host;
	uint16_t port; /* 0 = any */
	unsigned recognisers;
	struct recogniser_conf recogniser;
	const struct rules *rules;
	struct record *record; /* borrowed, may be NULL */
};

/* As recogniser_pool_alloc and ws_listen; why: a sentence for people. Caller owns *out. */
int server_alloc(struct server **out, const struct server_conf *conf, const char **why);
struct server *server_free(struct server *s);
uint16_t server_port(const struct server *s);

#endif
