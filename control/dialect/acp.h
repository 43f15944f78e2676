/* A client of the Agent Client Protocol, version 1 (agentclientprotocol.com): one agent, one
 * session, one prompt at a time. Pure; needs jansson.h.
 *
 *   state      input                                   next       what happens
 *   CLOSED     acp_open                                OPENING    initialize, then session/new
 *   OPENING    both are answered                       READY
 *   OPENING    an error, another version, ACP_OPEN_NS  REFUSED
 *   READY      acp_prompt                              WORKING    session/prompt
 *   WORKING    its stop reason, or an error            READY      the result
 *   WORKING    acp_cancel, the time limit, the cost    STOPPING   session/cancel, the result
 *   STOPPING   its stop reason, or an error            READY
 *   STOPPING   ACP_STOP_NS                             REFUSED
 *   any        more than ACP_MESSAGES_MAX for one      REFUSED    the result
 *              prompt, or more than ACP_FLOOD_BYTES
 *              in ACP_FLOOD_NS
 *   any        acp_close                               CLOSED     the result
 *
 * The transport is the caller's: lines of the agent's stdin and stdout. It ends an agent that is
 * REFUSED. A message that goes out is borrowed until its handler returns, so are results. Handlers
 * must not free the client; they may call it. A prompt is named by a number of the caller's and
 * gets exactly one result. What the agent sends outside of its prompt is dropped.
 *
 * The agent gets no access to files or terminals of ours: no capability is declared for them, and
 * requests for them are refused. What it asks permission for is decided by the kind that it names
 * (enum acp_grants); only its sandbox is a bound. */
#ifndef CONTROL_DIALECT_ACP_H
#define CONTROL_DIALECT_ACP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ACP_VERSION = 1,
	ACP_MESSAGE_MAX = 1 << 20,  /* bytes of one message */
	ACP_MESSAGES_MAX = 50000,   /* from the agent, for one prompt */
	ACP_FLOOD_BYTES = 4 << 20,  /* from the agent, in ACP_FLOOD_NS */
	ACP_TEXT_MAX = 64 << 10,    /* bytes of an answer; the rest is cut */
	ACP_SESSION_MAX = 256,	    /* of the session's id, with NUL */
	ACP_WHY_MAX = 256,	    /* with NUL */
	ACP_PROGRESS_MAX = 160,	    /* with NUL */
	ACP_PLAN_MAX = 64,	    /* entries of a plan that are read */
	ACP_PERMISSIONS_MAX = 1000, /* granted for one prompt */
};
#define ACP_FLOOD_NS (10 * UINT64_C(1000000000))
#define ACP_OPEN_NS  (30 * UINT64_C(1000000000))
#define ACP_STOP_NS  (2 * UINT64_C(1000000000))

enum acp_state { ACP_CLOSED, ACP_OPENING, ACP_READY, ACP_WORKING, ACP_STOPPING, ACP_REFUSED };

/* Permissions that the agent gets on request. */
enum acp_grants {
	ACP_GRANTS_READING, /* what it calls read, search or think */
	ACP_GRANTS_NOTHING,
	ACP_GRANTS_ALL,
};

enum acp_outcome {
	ACP_DONE,
	ACP_CUT_SHORT, /* the agent reached a limit of its own */
	ACP_DECLINED,  /* the agent refuses to do it */
	ACP_FAILED,    /* text: why */
	ACP_CANCELLED,
	ACP_LATE,
	ACP_TOO_DEAR,
	ACP_LOST, /* text: why */
};

struct acp_result {
	enum acp_outcome outcome;
	const char *text; /* what the agent wrote so far: UTF-8, NUL-terminated; untrusted */
	size_t n;
	bool cut;      /* it was longer than ACP_TEXT_MAX */
	uint64_t cost; /* millionths of a dollar, as the agent counts them; 0: not told */
};

struct acp_conf {
	const char *client, *version; /* as the agent is told; copied */
	const char *folder;	      /* its working directory, absolute; copied */
	enum acp_grants grants;
	uint64_t cost_max; /* of one prompt, millionths of a dollar; 0: no limit */
	void (*sendh)(const char *text, size_t n, void *arg);
	/* The state is another. */
	void (*changeh)(void *arg);
	/* The agent's activity: one plain line, never the same twice in a row; untrusted. */
	void (*progressh)(uint64_t task, const char *text, void *arg);
	void (*resulth)(uint64_t task, const struct acp_result *result, void *arg);
	void *arg;
};

struct acp;

/* EINVAL, ENOMEM. Caller owns *out. */
int acp_alloc(struct acp **out, const struct acp_conf *conf);
struct acp *acp_free(struct acp *a);

/* The agent runs. */
void acp_open(struct acp *a, uint64_t now);
/* It has ended; why: told of an open prompt. */
void acp_close(struct acp *a, const char *why);
/* So many bytes came from the agent, messages or not. */
void acp_count_bytes(struct acp *a, size_t n, uint64_t now);
/* A message of the agent; what is no message is passed over. */
void acp_receive(struct acp *a, const char *text, size_t n, uint64_t now);
/* Runs the work due at acp_deadline. */
void acp_timer(struct acp *a, uint64_t now);
uint64_t acp_deadline(const struct acp *a);

/* ENOTCONN: not READY, EBUSY: it works or stops; ENOMEM. On error there is no result. */
int acp_prompt(struct acp *a, uint64_t task, const char *text, uint32_t timeout_ms, uint64_t now);
/* Its result is ACP_CANCELLED, before this returns. Another task is passed over. */
void acp_cancel(struct acp *a, uint64_t task, uint64_t now);

enum acp_state acp_state(const struct acp *a);
/* Why it is REFUSED; "" for nothing. */
const char *acp_why(const struct acp *a);
/* As the agent names itself; "" before it did. No name to rely on. */
const char *acp_agent(const struct acp *a);

#endif
