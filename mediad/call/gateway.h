/* The voice gateway (version 8) as a machine without I/O: one call's signalling.
 *
 * Inputs are functions named after what happened; each takes the time and calls the action handler
 * for what is to be done, in order. The handler must not call back into the machine, but for
 * vgw_dave_text and vgw_dave_binary. After each input the owner arms one timer for vgw_deadline()
 * and calls vgw_timer() then.
 *
 * A lease (session, token, endpoint) is used for one Identify. A session that is up outlives its
 * socket: it is resumed (op 7) with the same SSRC, key and UDP socket. When it cannot be, its media
 * is dropped and fresh credentials are wanted, after a cool-down that grows, and not for ever.
 *
 * Of end-to-end encryption it knows the envelopes (opcodes 21 to 31): what is in them is for
 * mediad/dave.
 *
 * Source: Discord developer documentation "Voice Connections"; close codes in proto/voice.def. */
#ifndef MEDIAD_CALL_GATEWAY_H
#define MEDIAD_CALL_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/voice.h"

struct vgw;

enum vgw_kind {
	VGW_CONNECT, /* open a WebSocket; its events carry `conn` */
	VGW_SEND,    /* a text message on the open socket */
	VGW_SEND_BINARY,
	VGW_CLOSE,	/* close the socket; its later events do not matter */
	VGW_DISCOVER,	/* make a UDP socket to ip:port and find our public address */
	VGW_KEY,	/* seal and open with this key */
	VGW_DROP_MEDIA, /* the session is over: no more datagrams */
	VGW_STATE,	/* what control is to know */
	VGW_SSRC,	/* this SSRC is this user's */
	VGW_MEMBER,	/* a user came or went */
	VGW_RTT,	/* of a heartbeat */
	VGW_GAP,	/* the server's numbering skipped something: a resume brings it */
	/* End-to-end encryption. The first may come before the second. */
	VGW_DAVE_BINARY, /* ops 25, 27, 29, 30 */
	VGW_DAVE_START,	 /* its version, once a session */
	VGW_DAVE_TEXT,	 /* ops 21, 22, 24 */
};

/* Pointers are borrowed until the handler returns. */
struct vgw_action {
	enum vgw_kind kind;
	union {
		struct {
			uint32_t conn;
			const char *url;
		} connect;
		struct {
			const char *text;
			size_t len;
		} send;
		struct {
			unsigned op; /* DAVE_BINARY */
			const uint8_t *p;
			size_t n;
		} binary;
		struct {
			unsigned op;
			uint16_t transition, version; /* as far as the op has them */
			uint64_t epoch;
		} dave; /* START, TEXT */
		uint16_t close_code;
		struct {
			const char *ip;
			uint16_t port;
			uint32_t ssrc;
		} discover;
		struct {
			const char *mode;
			const uint8_t *key; /* 32 bytes */
		} key;
		struct {
			enum media_phase phase;
			enum media_reason reason;
			uint16_t code; /* close code or 0 */
			bool wants;    /* fresh credentials, please */
		} state;
		struct {
			uint64_t user;
			uint32_t ssrc;
		} ssrc;
		struct {
			uint64_t user;
			bool present;
		} member;
		uint64_t rtt_ns;
	};
};

typedef void(vgw_action_h)(const struct vgw_action *act, void *arg);

struct vgw_conf {
	uint64_t guild, user;
	const char *const *
		modes; /* transport encryption, best first, NULL-terminated; outlives the machine */
	vgw_action_h *acth;
	void *arg;
};

struct vgw_lease {
	const char *session, *token,
		*endpoint; /* copied; endpoint verbatim with its port, "" = server gone */
	uint64_t entropy;  /* random, for the time of the first heartbeat */
};

/* EINVAL, ENOMEM. Caller owns *out. Starts in phase WAITING; nothing is emitted. */
int vgw_alloc(struct vgw **out, const struct vgw_conf *conf);
/* Wipes what was secret. Emits nothing. */
struct vgw *vgw_free(struct vgw *g);

/* Fresh credentials: whatever ran before is left. A pair that was used before is refused (and asked
 * for anew). */
void vgw_credentials(struct vgw *g, uint64_t now, const struct vgw_lease *lease);
void vgw_ws_open(struct vgw *g, uint64_t now, uint32_t conn);
/* JSON text. Malformed: dropped and counted. */
void vgw_ws_text(struct vgw *g, uint64_t now, uint32_t conn, const char *text, size_t len);
/* `u16 sequence | u8 op | …`. Ops that are not of a server, or not known, count for the sequence.
 */
void vgw_ws_binary(struct vgw *g, uint64_t now, uint32_t conn, const uint8_t *data, size_t len);
/* why: the reason when the code is 1006 and more is known (TLS_FAILED), else NONE. */
void vgw_ws_closed(struct vgw *g, uint64_t now, uint32_t conn, uint16_t code,
		   enum media_reason why);
/* Our public address, as discovery found it. */
void vgw_discovered(struct vgw *g, uint64_t now, const char *ip, uint16_t port);
/* The socket could not be made, or discovery gave up. */
void vgw_udp_failed(struct vgw *g, uint64_t now);
/* Whether we speak (op 5). Sent when it changed and again after a resume. */
void vgw_speaking(struct vgw *g, uint64_t now, bool on);
/* Op 23 or 31; op 26 or 28 with its payload. They only send: ENOTCONN unless the session is up,
 * ENOMEM. */
int vgw_dave_text(struct vgw *g, unsigned op, uint16_t transition);
int vgw_dave_binary(struct vgw *g, unsigned op, const uint8_t *payload, size_t n);
/* Whether messages of this session were missed, and no resume has asked for them yet. */
bool vgw_missed(const struct vgw *g);
/* Asks again for what was missed: another socket, at once, and op 7. Nothing when it is not up. */
void vgw_refresh(struct vgw *g, uint64_t now, enum media_reason why);
/* Gives the session up for another one. Nothing when there is none. */
void vgw_rejoin(struct vgw *g, uint64_t now, enum media_reason why);
/* Leave for good. */
void vgw_leave(struct vgw *g, uint64_t now);
void vgw_timer(struct vgw *g, uint64_t now);

/* When vgw_timer wants to be called; UINT64_MAX = never. */
uint64_t vgw_deadline(const struct vgw *g);
enum media_phase vgw_phase(const struct vgw *g);
/* Messages from the gateway that could not be read. */
uint64_t vgw_malformed(const struct vgw *g);

#endif
