/* The voice gateway (version 8) as a machine without I/O: the signalling of one call.
 *
 * Inputs are functions named after the event. Each takes the time and calls the action handler for
 * every action to be performed, in order. The handler must not call back into the machine, except
 * vgw_dave_text, vgw_dave_binary, vgw_video_tell and vgw_video_want. After each input the owner
 * arms one timer for vgw_deadline() and calls vgw_timer() then.
 *
 * A lease (session, token, endpoint) is used for one Identify. An established session outlives its
 * socket: it is resumed (op 7) with the same SSRC, key and UDP socket. If it cannot be resumed, its
 * media is dropped and fresh credentials are requested, after a growing cool-down and a limited
 * number of times.
 *
 * Of end-to-end encryption it knows only the envelopes (opcodes 21 to 31); mediad/dave reads their
 * contents.
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
	VGW_CLOSE,	/* close the socket; ignore its later events */
	VGW_DISCOVER,	/* open a UDP socket to ip:port and discover our public address */
	VGW_KEY,	/* encrypt and decrypt packets with this key */
	VGW_DROP_MEDIA, /* the session ended: send no more datagrams */
	VGW_STATE,	/* the state for control */
	VGW_SSRC,	/* maps this SSRC to this user */
	VGW_MEMBER,	/* a user joined or left */
	VGW_RTT,	/* round-trip time of a heartbeat */
	/* Of streams (Go Live). */
	VGW_VIDEO_OURS,	  /* the SSRCs of our video, once per session, after DISCOVER */
	VGW_VIDEO_SOURCE, /* the video that a user sends, or no longer sends */
	VGW_VIDEO_WANTED, /* the most quality of our video that a viewer wants */
	VGW_GAP,	  /* sequence numbers were skipped; a resume brings the messages */
	/* End-to-end encryption. DAVE_BINARY may come before DAVE_START. */
	VGW_DAVE_BINARY, /* ops 25, 27, 29, 30 */
	VGW_DAVE_START,	 /* the DAVE version, once per session */
	VGW_DAVE_TEXT,	 /* ops 21, 22, 24 */
};

/* Video that a user sends; ssrc 0: none. Size and rate are what the sender says, 0: nothing. */
struct vgw_video {
	uint64_t user;
	uint32_t ssrc, rtx_ssrc;
	uint16_t width, height;
	uint8_t fps;
	uint32_t bitrate; /* of ours */
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
			uint16_t transition, version; /* where the op has them */
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
			bool wants;    /* fresh credentials are wanted */
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
		struct vgw_video video; /* OURS: the SSRCs alone; SOURCE */
		unsigned quality;	/* WANTED: 0..100 */
	};
};

typedef void(vgw_action_h)(const struct vgw_action *act, void *arg);

/* Asked before VGW_KEY. False: the key must not be used, and another session is requested. */
typedef bool(vgw_key_h)(const uint8_t *key, void *arg);

struct vgw_conf {
	uint64_t guild, user;
	const char *const *modes; /* transport encryption modes, best first, NULL-terminated; must
				     outlive the machine */
	bool stream;		  /* a Go Live stream: with video, and its sound is a shared one */
	vgw_action_h *acth;
	vgw_key_h *keyh; /* NULL: every key may be used */
	void *arg;
};

struct vgw_lease {
	const char *session, *token,
		*endpoint; /* copied; endpoint includes its port, "" = no server */
	uint64_t entropy;  /* random, for the first heartbeat */
};

/* Starts in phase WAITING; nothing is emitted. Returns EINVAL or ENOMEM. The caller owns *out. */
int vgw_alloc(struct vgw **out, const struct vgw_conf *conf);
/* Wipes secrets. Emits nothing. */
struct vgw *vgw_free(struct vgw *g);

/* Of a stream that was opened before it had a server: the next sessions are in this one. */
void vgw_set_guild(struct vgw *g, uint64_t guild);
/* Fresh credentials: the present session is left. A session and token that were used before are
 * refused, and new ones are requested. */
void vgw_credentials(struct vgw *g, uint64_t now, const struct vgw_lease *lease);
void vgw_ws_open(struct vgw *g, uint64_t now, uint32_t conn);
/* A JSON text message. Malformed ones are dropped and counted. */
void vgw_ws_text(struct vgw *g, uint64_t now, uint32_t conn, const char *text, size_t len);
/* A binary message: `u16 sequence | u8 op | …`. The sequence number counts whatever the op is;
 * unknown ops are ignored. */
void vgw_ws_binary(struct vgw *g, uint64_t now, uint32_t conn, const uint8_t *data, size_t len);
/* The code with which the caller closes a connection that failed on our side, as one closed with
 * this code: the server keeps the session if vgw_ws_closed will resume it. */
uint16_t vgw_code_of_failure(const struct vgw *g, uint16_t code);
/* why: the reason if it is known when the code is 1006 (TLS_FAILED), else NONE. */
void vgw_ws_closed(struct vgw *g, uint64_t now, uint32_t conn, uint16_t code,
		   enum media_reason why);
/* Discovery found our public address. */
void vgw_discovered(struct vgw *g, uint64_t now, const char *ip, uint16_t port);
/* The UDP socket could not be opened, discovery gave up, or in an established session datagrams no
 * longer get through; requests another session. */
void vgw_udp_failed(struct vgw *g, uint64_t now);
/* Sets whether we speak (op 5). It is sent on a change and again after a resume. */
void vgw_speaking(struct vgw *g, uint64_t now, bool on);
/* Send op 23 or 31, and op 26 or 28 with its payload. They emit actions only. Return ENOTCONN
 * unless the session is up, or ENOMEM. */
int vgw_dave_text(struct vgw *g, unsigned op, uint16_t transition);
int vgw_dave_binary(struct vgw *g, unsigned op, const uint8_t *payload, size_t n);
/* Of a stream. The codec ("H264") that the next sessions offer to send; NULL: none. Static. */
void vgw_video_codec(struct vgw *g, const char *codec);
/* Tell what we send (op 12; v->ssrc 0: nothing), and what we want to see of whom (op 15): n SSRCs
 * and their quality, 1..100. They emit actions only. Return as vgw_dave_text. */
int vgw_video_tell(struct vgw *g, const struct vgw_video *v);
int vgw_video_want(struct vgw *g, const uint32_t *ssrcs, const uint8_t *qualities, unsigned n);
/* True if this session missed messages that no resume has requested yet. */
bool vgw_has_missed(const struct vgw *g);
/* Asks for missed messages: opens another socket at once and sends op 7. Does nothing when the
 * session is not up. */
void vgw_resume_now(struct vgw *g, uint64_t now, enum media_reason why);
/* Gives up the session and asks for another one. Does nothing without a session. */
void vgw_rejoin(struct vgw *g, uint64_t now, enum media_reason why);
/* True if encryption is required: a session without DAVE is refused then. */
void vgw_require_encryption(struct vgw *g, bool required);
/* The session is not encrypted, and encryption is required: the call fails. */
void vgw_refuse_clear(struct vgw *g);
/* Leaves the call for good. */
void vgw_leave(struct vgw *g, uint64_t now);
void vgw_timer(struct vgw *g, uint64_t now);

/* When vgw_timer is due; UINT64_MAX = never. */
uint64_t vgw_deadline(const struct vgw *g);
enum media_phase vgw_phase(const struct vgw *g);
/* The number of messages from the gateway that could not be read. */
uint64_t vgw_malformed(const struct vgw *g);

#endif
