/* What the two files of the gateway machine share: gateway.c (the lease, the session, the socket,
 * time) and gateway_ops.c (the messages). */
#ifndef MEDIAD_CALL_GATEWAY_INSIDE_H
#define MEDIAD_CALL_GATEWAY_INSIDE_H

#include "mediad/call/gateway.h"
#include "mediad/call/numbering.h"
#include "proto/base/time.h"

#define NEVER	    UINT64_MAX
#define STEP_LIMIT  (5 * NS_PER_S)  /* each step of joining: open, ready, discovery, description */
#define STABLE_TIME (30 * NS_PER_S) /* up for so long: earlier failures are forgotten */

struct vgw {
	struct vgw_conf conf;
	enum media_phase phase;
	enum media_reason reason;

	/* the lease, and after Identify the session */
	char session[132], token[260], endpoint[260];
	bool fresh;	/* a lease is here and was not identified with */
	bool announced; /* the session was up once: it can be resumed */
	bool media;	/* DISCOVER was emitted and not dropped */
	const char *mode;
	uint8_t key[32]; /* of the session, once it is up */
	uint32_t ssrc;
	struct numbering numbers; /* of the session's messages */

	/* the socket */
	uint32_t conn;
	bool socket, open;
	uint64_t interval, next_beat, ack_by, beat_at;
	uint64_t nonce, unacked; /* last nonce; first one without an answer, 0 = none */
	bool speaking, told;	 /* wanted; last op 5 sent in this session */

	uint64_t step_by, join_by, cool_until, stable_at;
	unsigned connect_tries, resume_tries, fails;
	bool resumed_once;
	uint64_t rng, malformed;
};

/* ---- gateway.c ---- */
void vgw_emit(struct vgw *g, const struct vgw_action *act);
void vgw_set_phase(struct vgw *g, enum media_phase phase, enum media_reason reason, uint16_t code,
		   bool wants);
/* Only on an open socket, and only what could be built. */
void vgw_send_text(struct vgw *g, const char *text, size_t len);
/* Trying again changes nothing. */
void vgw_fail(struct vgw *g, enum media_reason reason, uint16_t code);

/* ---- gateway_ops.c ---- */
/* Op 3. */
void vgw_beat(struct vgw *g, uint64_t now);

#endif
