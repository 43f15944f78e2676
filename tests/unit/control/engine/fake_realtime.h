/* A server of the OpenAI Realtime dialect that does what a test tells it, on the same loop. */
#ifndef TESTS_FAKE_REALTIME_H
#define TESTS_FAKE_REALTIME_H

#include <jansson.h>
#include <stdbool.h>

#include "ipc/env.h"
#include "ipc/ws.h"

enum { FAKE_CONNS = 8 };

struct fake;

/* One message came. type is its "type" or "message_type", or ""; root is borrowed. */
typedef void(fake_h)(struct fake *f, unsigned conn, const char *type, const json_t *root);

struct fake {
	struct env *env;
	struct ws_ctx *ctx;
	struct ws_server *server;
	struct ws *ws[FAKE_CONNS];
	char path[FAKE_CONNS][256];
	char auth[FAKE_CONNS][128]; /* Authorization, or else xi-api-key */
	unsigned conns;
	char types[65536]; /* "type type …" of all that came, in order */
	char url[128];
	fake_h *h;
	void *arg;
	struct tmr *deadline;
	size_t binary; /* bytes of binary messages, since the test set it */
	bool timed_out;
};

/* False when it cannot listen. The loop stops after 10 s at the latest, and timed_out is set then.
 */
bool fake_begin(struct fake *f, fake_h *h, void *arg);
void fake_end(struct fake *f);
__attribute__((format(printf, 3, 4))) void fake_send(struct fake *f, unsigned conn, const char *fmt,
						     ...);
/* An audio delta of `samples` samples, each of value v. */
void fake_audio(struct fake *f, unsigned conn, const char *response, const char *item, int v,
		unsigned samples);

#endif
