/* Discord's main gateway, v10, as a machine without a socket (Discord documentation, "Gateway").
 *
 * It is fed what happened (started, opened, a text, closed, a deadline passed) with the time and
 * some randomness, and tells its owner what to do by calling the action handler. It decides when to
 * identify and when to resume, keeps the heartbeat and its watchdog, the sequence, the send budget
 * and the budget of identifies, and knows which close codes end everything.
 *
 * The machine owns what it holds. Pointers in an action are borrowed until the handler returns; a
 * dispatch is always the last action of a step, so its handler may feed the machine again. */
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
	GATEWAY_HELLO,	   /* open, HELLO awaited */
	GATEWAY_THROTTLED, /* HELLO came, the budget does not allow an Identify yet */
	GATEWAY_IDENTIFYING,
	GATEWAY_RESUMING,
	GATEWAY_UP,
	GATEWAY_FATAL,
};

enum gateway_in_type {
	GATEWAY_IN_START,  /* text: base URL of the gateway */
	GATEWAY_IN_OPEN,   /* the socket is open */
	GATEWAY_IN_TEXT,   /* one whole message */
	GATEWAY_IN_CLOSED, /* the socket is gone; code, 1006 when none */
	GATEWAY_IN_TICK,   /* gateway_machine_deadline() passed */
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
	GATEWAY_ACT_CLOSE,   /* close with code and forget the socket: no CLOSED is wanted for it */
	GATEWAY_ACT_STATE,   /* the state changed */
	GATEWAY_ACT_SESSION, /* a session began (READY) or ended: persist now */
	GATEWAY_ACT_FATAL,   /* never connect again: code */
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

/* What is needed to resume. An empty id: no session. */
struct gateway_session {
	char id[128];
	char url[256];
	int64_t seq;
};

enum {
	GATEWAY_SENDS_PER_MINUTE = 120,	  /* documented, all events of a connection */
	GATEWAY_HEARTBEAT_RESERVE = 5,	  /* of these, kept for heartbeats */
	GATEWAY_IDENTIFY_SPACING_S = 5,	  /* documented: max_concurrency an interval of 5 s */
	GATEWAY_IDENTIFIES_PER_DAY = 200, /* ours; Discord resets the token at 1000 */
	GATEWAY_QUEUE_MAX = 256,	  /* events that wait for the send budget */
	GATEWAY_CLOSE_ZOMBIE = 4200,	  /* ours: anything but 1000 and 1001 keeps the session */
};

/* token is copied and wiped by the free. intents: bits of enum discord_intent. EINVAL, ENOMEM.
 * Caller owns *out. */
int gateway_machine_alloc(struct gateway_machine **out, const char *token, uint32_t intents,
			  gateway_act_h *h, void *arg);
struct gateway_machine *gateway_machine_free(struct gateway_machine *m);
/* A session of an earlier process, before GATEWAY_IN_START. */
void gateway_machine_restore(struct gateway_machine *m, const struct gateway_session *s);

void gateway_machine_step(struct gateway_machine *m, const struct gateway_in *in, uint64_t now_ns);
/* When GATEWAY_IN_TICK is wanted; UINT64_MAX for never. */
uint64_t gateway_machine_deadline(const struct gateway_machine *m);

/* Queues one event with data d (a new reference is taken). Only while UP; it goes as the send
 * budget allows. ENOTCONN, EMSGSIZE above 4096 bytes, ENOBUFS, ENOMEM. */
int gateway_machine_send(struct gateway_machine *m, int op, json_t *d, uint64_t now_ns);

enum gateway_state gateway_machine_state(const struct gateway_machine *m);
const struct gateway_session *gateway_machine_session(const struct gateway_machine *m);
/* Messages that were not JSON of the documented shape. */
uint64_t gateway_machine_malformed(const struct gateway_machine *m);
const char *gateway_state_name(enum gateway_state s);

#endif
