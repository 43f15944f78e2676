/* Two call streams without a thread, in simulated time: packets of the first go to the second,
 * unless the test decides otherwise. */
#ifndef TESTS_UNIT_MEDIAD_ENGINE_PAIR_H
#define TESTS_UNIT_MEDIAD_ENGINE_PAIR_H

#include "ipc/env.h"
#include "mediad/engine/call_stream.h"

enum { PAIR_SSRC = 9, PAIR_OTHER_SSRC = 1009, PAIR_USER = 5, PAIR_LANE = 3, PAIR_RATE = 24000 };

struct pair_end {
	struct call_stream *l;
	int fd;			       /* the network's end of its socket */
	bool wants;		       /* op 5 is given before the next tick */
	bool full;		       /* the ring has no room for events that may be dropped */
	bool stuck;		       /* nor for any other event */
	uint32_t full_for;	       /* nor for HEARD of this listen */
	unsigned dropped[8];	       /* HEARD received, by listen */
	uint32_t next_seq[64];	       /* of HEARD, by listen */
	unsigned disorder;	       /* HEARD whose number was another */
	unsigned unmapped, persistent; /* as told */
	uint32_t keys;		       /* transport keys lent so far, numbered from 1 */
	/* what came up */
	uint32_t used_key; /* the newest transport key that opened packets */
	unsigned keys_used;
	unsigned keys_gone, deaf, hears, proofs, nexts, heard, ends, speaking_on, speaking_off,
		slots_gone, forgotten; /* forgotten: outages that ended unknown */
	unsigned flags;
	uint64_t deaf_at, samples, loud; /* sum of |sample| */
	uint32_t next_generation;
	uint64_t next_user, next_epoch, proved;
	unsigned started, drained, stopped, paused, progress, udp_failed, call_stats;
	enum path_loss udp_why; /* newest */
	uint64_t lane_samples;
	enum media_reason reason;
	struct receiver_stats stats;
	struct call_stream_stats call;
};

struct pair {
	struct env *env;
	uint32_t source;
	uint64_t now;
	struct rtpsize *wire; /* the transport key of both, the test's own */
	struct pair_end tx, rx;
	struct slot *slot; /* the slot of rx for tx */
	/* Sees each packet of tx before rx, decrypted at the transport layer; returns false to lose
	 * it. It may change the packet in buf, which has room for 100 bytes more. NULL: all pass.
	 */
	bool (*relay)(uint8_t *payload, size_t *n, const struct rtp_header *h);
	unsigned packets, silent;
	/* Sees the RTCP of either end, decrypted; it goes nowhere else. */
	void (*control)(const struct pair_end *e, const uint8_t *p, size_t n);
};
extern struct pair pair;

/* Links both with transport keys; rx has a slot for tx and listens to it. Neither has any
 * end-to-end key. */
int pair_start(void);
void pair_finish(void);
/* Runs one command. */
void pair_cmd(struct pair_end *e, const struct cmd *c);
void pair_link(struct pair_end *e);
/* Delivers one datagram. */
void pair_packet(struct pair_end *e, uint16_t seq, const uint8_t *payload, size_t n);
void pair_packet_of(struct pair_end *e, uint32_t ssrc, uint16_t seq, const uint8_t *payload,
		    size_t n);
/* The same of RTCP, in the clear. */
void pair_control(struct pair_end *e, const uint8_t *p, size_t n);
/* Any. */
void pair_datagram(struct pair_end *e, const uint8_t *p, size_t n);
/* Encrypts n bytes of body for this clear part as a voice server does; out gets RTPSIZE_OVERHEAD
 * more. */
int pair_seal(const uint8_t *head, size_t n_head, const uint8_t *body, size_t n, uint8_t *out);
/* When it is due. */
void pair_tick(struct pair_end *e);
/* The second part of a tick alone, due or not. Returns whether there is more to do. */
bool pair_work(struct pair_end *e);
/* Advances time in steps of 5 ms. */
void pair_run(unsigned ms);
/* Reads what e has sent; each datagram goes to h. */
void pair_drain(struct pair_end *e, void (*h)(uint8_t *p, size_t n));

void pair_clear(struct pair_end *e, bool send, uint64_t until);
/* A key of an epoch, the same for both. */
struct dave_key *pair_key(uint64_t epoch, uint32_t generation);
void pair_send_key(uint64_t epoch);
void pair_open_key(uint64_t epoch);
/* Maps this SSRC to the slot; 0: none. */
void pair_map(uint32_t ssrc);
/* A lane with so much of a tone. */
void pair_say(unsigned ms, bool end);
void pair_say_more(unsigned ms);
void pair_end_lane(void);
void pair_ask_stats(void);

#endif
