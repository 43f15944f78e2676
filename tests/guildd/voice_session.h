/* Inside the voice gateway: sessions and the connections that carry them. Only voice*.c include
 * this. */
#ifndef GUILDD_VOICE_SESSION_H
#define GUILDD_VOICE_SESSION_H

#include "tests/guildd/dave.h"
#include "tests/guildd/relay.h"
#include "tests/guildd/voice.h"

#include "ipc/ws.h"

enum { GD_VOICE_BUFFER = 1000, GD_SPEAKING_WINDOW_S = 10 };

struct tmr;
struct vsession;

/* A WebSocket, with or without a session. */
struct vconn {
	struct gd_voice *v;
	struct ws *ws;
	struct vsession *s;   /* NULL before Identify or Resume */
	uint64_t user;	      /* of the last lease, for the counters */
	struct tmr *deadline; /* Identify first, then heartbeats */
	bool closing;	      /* we sent a close frame; nothing is read any more */
};

struct vmessage {
	uint16_t seq;
	bool text; /* else binary */
	size_t len;
	uint8_t data[];
};

struct vsession {
	struct gd_voice *v;
	uint64_t guild, channel, user;
	char session[GD_SECRET], token[GD_SECRET];
	struct vconn *conn; /* NULL while it may be resumed */
	struct gd_stream *stream;
	uint16_t seq;		/* of the last message */
	uint16_t first;		/* number of the first message */
	int acked;		/* the seq_ack of the newest heartbeat; -1: none */
	bool wrapped;		/* there was a message with number 0 */
	struct gd_vec messages; /* struct vmessage, oldest first */
	bool described;		/* op 4 was sent */
	uint8_t key[GD_KEY];	/* that op 4 told */
	unsigned max_dave;	/* highest version that the client speaks */
	int speaking;
	uint64_t speaking_at[64]; /* recent op 5, a ring */
	unsigned n_speaking;
	/* of streams: what Identify offered, the codecs of op 1, op 12 as others are told; NULL
	 * each */
	json_t *offered, *codecs, *video;
	int wants;	    /* of op 15 */
	struct tmr *expiry; /* after the WebSocket was lost */
	struct tmr *hold;   /* a fault: nothing is sent before it is due */
	bool holding;
	uint16_t held; /* number of the first message that waits */
};

struct gd_voice {
	struct guildd *g;
	struct ws_server *server;
	char endpoint[72];
	struct gd_vec conns, sessions;
	struct gd_vec faults, later; /* voice_fault.c */
};

/* Closes with a code of the table in "Opcodes and Status Codes"; the connection goes when WS_CLOSED
 * comes. */
void vconn_close(struct vconn *c, uint16_t code, const char *reason);
/* Sends without a sequence number (ops 6, 8, 9). Steals d. */
void vconn_send(struct vconn *c, int op, json_t *d);
/* Handles one message of a client. */
void vconn_message(struct vconn *c, const uint8_t *data, size_t len);
/* (Re)starts the watch over heartbeats. */
void vconn_beat(struct vconn *c);

/* Steals d; numbered, kept for a Resume, and sent when there is a connection. */
void vsession_send(struct vsession *s, int op, json_t *d);
/* The same for a binary message: u16 number, u8 op, payload. */
void vsession_send_binary(struct vsession *s, uint8_t op, struct slice payload);
/* What these two do with a fault, or without one. */
struct vfault;
void vsession_number(struct vsession *s, int op, json_t *d, const struct vfault *f);
void vsession_number_binary(struct vsession *s, uint8_t op, struct slice payload,
			    const struct vfault *f);
/* To everyone else in the channel; d is borrowed. */
void vsession_tell_others(struct vsession *s, int op, json_t *d);
int vsession_alloc(struct vsession **out, struct gd_voice *v, const struct gd_vstate *lease);
/* Takes it out, without a word to others. */
struct vsession *vsession_free(struct vsession *s);
/* Others get op 13; the WebSocket is closed with code unless code is 0. */
void vsession_end(struct vsession *s, uint16_t code, const char *reason);
/* The WebSocket is gone; the session waits for a Resume. */
void vsession_lost(struct vsession *s);
/* All messages after seq, in order; false when some of them are no longer there. seq -1 = from the
 * first. */
bool vsession_replay(struct vsession *s, int seq, bool send);
struct vsession *vsession_find(struct gd_voice *v, uint64_t guild, uint64_t user);

#endif
