/* Shared by the files of the realtime engine. For control/engine/realtime*.c only. */
#ifndef CONTROL_ENGINE_REALTIME_STATE_H
#define CONTROL_ENGINE_REALTIME_STATE_H

#include "control/dialect/realtime.h"
#include "control/engine/core/conversation.h"
#include "control/engine/core/log_limit.h"
#include "control/engine/core/rate_change.h"
#include "control/engine/engine.h"

struct realtime;
struct ws;

/* One connection, to one session of the conversation. */
struct realtime_socket {
	struct realtime *r;
	unsigned session;
	struct ws *ws;
	void *codec;
};

struct realtime {
	struct env *env;
	struct ws_ctx *ctx;
	struct tmr *timer;
	const struct realtime_dialect *wire;
	struct realtime_socket socket[2];
	char *auth; /* a secret */
	engine_h *h;
	void *arg;
	struct conversation *conversation;
	/* NULL when the dialect has the rate of the room. */
	struct rate_change *in, *out;
	uint8_t *pcm, *resampled;
	size_t pcm_cap, resampled_cap;
	uint64_t malformed;
	struct log_limit errors[REALTIME_ERROR_SESSION + 1]; /* by enum realtime_error */
};

/* ---- realtime.c ---- */
/* One step of the conversation; performs its outputs. ENOMEM and what conversation_step gives. */
int realtime_step(struct realtime *r, const struct conversation_input *in);

/* ---- realtime_wire.c ---- */
/* Performs an output for the wire, other than CONNECT. */
void realtime_send(struct realtime *r, const struct conversation_output *o);
void realtime_connect(struct realtime *r, unsigned session);

#endif
