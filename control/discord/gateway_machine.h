/* Discord's main gateway, v10, as a machine without a socket (Discord documentation, "Gateway").
 *
 * Its inputs are events (start, open, text, closed, deadline) with the time and random bits; its
 * outputs are calls of the action handler. It decides when to identify and when to resume, keeps
 * the heartbeat and its watchdog, the sequence number, the send budget and the Identify budget, and
 * knows which close codes are final.
 *
 * The machine owns its data. Pointers in an action are borrowed until the handler returns. A
 * dispatch, and GATEWAY_ACT_FATAL, are the last action of a step, so their handler may call
 * gateway_machine_step again. */
#ifndef CONTROL_DISCORD_GATEWAY_MACHINE_H
#define CONTROL_DISCORD_GATEWAY_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct gateway_machine;

enum gateway_state {
	GATEWAY_IDLE,
	GATEWAY_BACKOFF, /* waiting before the next connection */
	GATEWAY_CONNECTING,
	GATEWAY_HELLO,	   /* open, waiting for HELLO */
	GATEWAY_THROTTLED, /* HELLO arrived, the Identify budget is used up */
	GATEWAY_IDENTIFYING,
	GATEWAY_RESUMING,
	GATEWAY_UP,
	GATEWAY_FATAL,
};

enum gateway_in_type {
	GATEWAY_IN_START,  /* text: base URL of the gateway; later calls change it */
	GATEWAY_IN_OPEN,   /* the socket is open */
	GATEWAY_IN_TEXT,   /* one whole message */
	GATEWAY_IN_CLOSED, /* the socket is gone; code, 1006 when none */
	GATEWAY_IN_TICK,   /* gateway_machine_deadline() passed */
	GATEWAY_IN_AGAIN,  /* what was refused has changed: connect again, with a new session */
};
struct gateway_in {
	enum gateway_in_type type;
	const char *text;
	size_t len;
	unsigned code;
	uint32_t rnd; /* fresh random bits */
};

enum gateway_act_type {
	GATEWAY_ACT_CONNECT, /* open a socket to text */
	GATEWAY_ACT_SEND,    /* one text message: text, len */
	GATEWAY_ACT_CLOSE, /* close with code and forget the socket; it gets no GATEWAY_IN_CLOSED */
	GATEWAY_ACT_STATE, /* the state changed */
	GATEWAY_ACT_SESSION,  /* a session began (after DISPATCH of its READY) or ended: persist it
				 now */
	GATEWAY_ACT_FIND,     /* ask for the base URL again: GATEWAY_IN_START */
	GATEWAY_ACT_FATAL,    /* never connect again, unless GATEWAY_IN_AGAIN says so: code */
	GATEWAY_ACT_DISPATCH, /* an event: text is its name, d its data */
};
struct gateway_act {
	enum gateway_act_type type;
	const char *text;
	size_t len;
	unsigned code;
	const json_t *d;
};
typedef void(gateway_act_h)(const struct gateway_act *act, void *arg);

/* The data of a Resume. An empty id means no session. */
struct gateway_session {
	char id[128];
	char url[256];
	int64_t seq;
};

enum {
	GATEWAY_SENDS_PER_MINUTE = 120,	  /* documented, all events of a connection */
	GATEWAY_HEARTBEAT_RESERVE = 5,	  /* of these, reserved for heartbeats */
	GATEWAY_IDENTIFY_SPACING_S = 5,	  /* documented: max_concurrency an interval of 5 s */
	GATEWAY_IDENTIFIES_PER_DAY = 200, /* ours; Discord resets the token at 1000 */
	GATEWAY_QUEUE_MAX = 256,	  /* events waiting for the send budget */
	GATEWAY_CLOSE_ZOMBIE = 4200,	  /* ours: anything but 1000 and 1001 keeps the session */
};

/* token is copied, and wiped by gateway_machine_free. intents: bits of enum discord_intent. EINVAL,
 * ENOMEM. Caller owns *out. */
int gateway_machine_alloc(struct gateway_machine **out, const char *token, uint32_t intents,
			  gateway_act_h *h, void *arg);
struct gateway_machine *gateway_machine_free(struct gateway_machine *m);
/* Of Identifies from now on, in place of those of gateway_machine_alloc. */
void gateway_machine_set_intents(struct gateway_machine *m, uint32_t intents);
/* A session of an earlier process, before GATEWAY_IN_START. */
void gateway_machine_restore(struct gateway_machine *m, const struct gateway_session *s);

void gateway_machine_step(struct gateway_machine *m, const struct gateway_in *in, uint64_t now_ns);
/* When to step GATEWAY_IN_TICK next; UINT64_MAX means never. */
uint64_t gateway_machine_deadline(const struct gateway_machine *m);

/* Queues one event with data d (takes a new reference) until the send budget allows it. ENOTCONN
 * unless UP, EMSGSIZE above 4096 bytes, ENOBUFS, ENOMEM. */
int gateway_machine_send(struct gateway_machine *m, int op, json_t *d, uint64_t now_ns);

enum gateway_state gateway_machine_state(const struct gateway_machine *m);
const struct gateway_session *gateway_machine_session(const struct gateway_machine *m);
/* Number of messages that were not JSON of the documented shape. */
uint64_t gateway_machine_malformed(const struct gateway_machine *m);
const char *gateway_state_name(enum gateway_state s);

#endif
