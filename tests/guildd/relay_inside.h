/* Inside the relay. Only relay*.c include this. */
#ifndef GUILDD_RELAY_INSIDE_H
#define GUILDD_RELAY_INSIDE_H

#include "tests/guildd/impair.h"
#include "tests/guildd/relay.h"

struct tmr;
struct event;

struct counters {
	uint64_t rx[GD_RX_COUNT];
	uint64_t discovery, discovery_bad, keepalive, forwarded, rtcp_out, padded, net_lost,
		net_doubled, send_failed, replayed;
	uint64_t seq_jumps, ts_odd, burst; /* burst: the most that came at once */
	uint64_t sender_reports, report_blocks;
	uint64_t silence_run;	       /* frames of silence since the last other one */
	uint64_t sealed, sealed_clear; /* end to end; of these, in a channel without encryption */
};

/* The video of a client of a stream: what its owner sends, or what a viewer wants. */
struct gd_video {
	uint32_t ssrc, rtx_ssrc; /* 0: none */
	uint8_t pt, rtx_pt;	 /* that this client has for the codec; 0: it cannot have it */
	bool sends;		 /* op 12 told an active stream */
	unsigned wants;		 /* of op 15, 0 to 100; 0: it is sent none */
	uint64_t packets, again, frames, refused, plain; /* received; again: retransmissions */
	uint64_t forwarded, nacks, key_requests;	 /* the latter two: sent to it */
};

struct gd_stream {
	struct gd_relay *r;
	uint64_t user, channel;
	uint32_t ssrc;
	struct gd_aead *aead;
	struct gd_nonce nonce;
	uint32_t counter;
	struct sockaddr_in addr, found; /* told by Select Protocol; seen by discovery */
	bool muted, deaf, announced;
	struct tmr *announce;
	struct gd_vec early; /* struct late: sound that overtook op 5 */
	gd_unannounced_h *h;
	void *arg;
	bool any;
	uint16_t seq;
	uint32_t ts, cycles, lost;
	uint64_t at; /* of the newest */
	uint64_t together;
	uint32_t ext_told, lost_told;
	struct gd_told told; /* its newest sender report */
	uint64_t told_at;
	struct gd_vec sent;  /* struct late: what it was sent, with replay_every */
	unsigned sent_next;  /* of sent, the entry to be replaced next */
	struct gd_vec heard; /* what it was sent, with record_forwarded */
	struct gd_video video;
	struct counters n;
};

struct gd_relay {
	struct guildd *g;
	int fd;
	uint16_t port;
	struct event *ev;
	struct gd_vec streams, late;
	struct gd_impair impair;
	struct tmr *tmr;
	uint32_t next_ssrc;
	uint64_t n_forward;
	struct counters n; /* of packets that belong to nobody, and the whole network */
};

static inline bool same_addr(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

/* A new SSRC; never 0. */
uint32_t relay_new_ssrc(struct gd_relay *r);
/* Seals a packet for a client and sends it through the network; false when that loses it. */
bool relay_forward(struct gd_stream *to, const struct gd_rtp *in, const struct gd_tx *tx);
/* Sends a datagram as it is. */
void relay_send(struct gd_relay *r, const struct sockaddr_in *to, const uint8_t *p, size_t len);

/* ---- relay_video.c ---- */
/* Takes a packet of video. False: no client has its SSRC. */
bool relay_take_video(struct gd_relay *r, const uint8_t *p, size_t len,
		      const struct sockaddr_in *from);
/* Passes a viewer's feedback on to the client that sends the video. */
void relay_pass_feedback(struct gd_stream *from, const struct gd_told *told);
/* NULL: it has no video. */
json_t *relay_video_json(const struct gd_stream *s);

#endif
