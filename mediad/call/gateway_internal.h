/* The state of the gateway machine, shared by gateway.c (lease, session, socket, time) and
 * gateway_ops.c (messages). */
#ifndef MEDIAD_CALL_GATEWAY_INTERNAL_H
#define MEDIAD_CALL_GATEWAY_INTERNAL_H

#include <jansson.h>

#include "mediad/call/gateway.h"
#include "mediad/call/seq_tracker.h"
#include "proto/base/time.h"

#define NEVER UINT64_MAX
#define STEP_LIMIT                                                                                 \
	(5 * NS_PER_S) /* for each step of joining: open, ready, discovery, description            \
			*/
#define STABLE_TIME (30 * NS_PER_S) /* after so long up, earlier failures are forgotten */

struct vgw {
	struct vgw_conf conf;
	enum media_phase phase;
	enum media_reason reason;

	/* the lease, and after Identify the session */
	char session[132], token[260], endpoint[260];
	bool lease_unused; /* the lease has not been used for an Identify */
	bool encrypted;	   /* DAVE is required */
	bool established;  /* the session was up once, so it can be resumed */
	bool media;	   /* DISCOVER was emitted and DROP_MEDIA was not */
	const char *mode;
	const char *video_codec; /* of a stream of ours; NULL: none */
	uint32_t video_ssrc;	 /* of ours in this session; 0: none */
	uint8_t key[32];	 /* of the session, once it is up */
	uint32_t ssrc;
	struct seq_tracker numbers; /* of the session's messages */

	/* the socket */
	uint32_t conn;
	bool socket, open;
	uint64_t interval, next_beat, ack_by, beat_at;
	uint64_t nonce, unacked;      /* last nonce; the first unacknowledged one, 0 = none */
	bool speaking, speaking_sent; /* as requested; as last sent by op 5 in this session */

	uint64_t step_by, join_by, cool_until, stable_at;
	unsigned connect_tries, resume_tries, fails;
	bool resumed_once;
	uint64_t rng, malformed;
};

/* ---- gateway.c ---- */
void vgw_emit(struct vgw *g, const struct vgw_action *act);
void vgw_set_phase(struct vgw *g, enum media_phase phase, enum media_reason reason, uint16_t code,
		   bool wants);
/* Sends text if the socket is open. len 0: there was no memory to make it, and the connection is
 * given up to be resumed. */
void vgw_send_text(struct vgw *g, const char *text, size_t len);
/* A step of joining failed: ends the session and asks for another one, a few times in a row. */
void vgw_fail_step(struct vgw *g, uint64_t now, enum media_reason reason);
/* Ends the call as failed; another try would not help. */
void vgw_fail(struct vgw *g, enum media_reason reason, uint16_t code);

/* ---- gateway_video.c: messages about video; false = malformed ---- */
/* "streams" of op 2: our SSRCs. */
void vgw_on_our_video(struct vgw *g, const json_t *ready);
/* Ops 12 and 15. */
bool vgw_on_video(struct vgw *g, const json_t *d);
bool vgw_on_wanted(struct vgw *g, const json_t *d);

/* ---- gateway_ops.c ---- */
/* Sends op 3. */
void vgw_send_heartbeat(struct vgw *g, uint64_t now);

#endif
