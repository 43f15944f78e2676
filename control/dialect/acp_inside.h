/* The parts of acp.h: acp.c, states and prompts; acp_out.c, messages that go out; acp_update.c,
 * what the agent tells and asks while it works. */
#ifndef CONTROL_DIALECT_ACP_INSIDE_H
#define CONTROL_DIALECT_ACP_INSIDE_H

#include <jansson.h>

#include "control/dialect/acp.h"

struct acp {
	struct acp_conf conf;
	char client[64], version[64], folder[512];
	enum acp_state state;
	char session[ACP_SESSION_MAX], why[ACP_WHY_MAX], agent[64];
	/* The one request that waits for an answer. */
	enum { ACP_NOTHING, ACP_ASKED_INITIALIZE, ACP_ASKED_SESSION, ACP_ASKED_PROMPT } asked;
	uint32_t ids;	   /* of the last request */
	uint64_t now, due; /* due: of the state; UINT64_MAX: never */

	/* Of the prompt. */
	uint64_t task;
	unsigned messages, granted;
	char *text;
	size_t n;
	bool cut, apart; /* apart: the next words begin a paragraph */
	char progress[ACP_PROGRESS_MAX];

	uint64_t flood_from; /* of flood_bytes */
	size_t flood_bytes;

	uint64_t cost, cost_before; /* of the session; when the prompt began */
};

/* ---- acp.c ---- */
/* Ends the prompt with this outcome, whatever the agent goes on doing. */
void acp_stop(struct acp *a, enum acp_outcome outcome);

/* ---- acp_out.c ---- */
/* Sends a request and awaits its answer; steals params. ENOMEM: nothing was sent. */
int acp_out_request(struct acp *a, const char *method, json_t *params);
/* Steals params. */
void acp_out_notify(struct acp *a, const char *method, json_t *params);
/* Answers a request of the agent; steals result, NULL: there is no such method. */
void acp_out_answer(struct acp *a, const json_t *id, json_t *result);

/* ---- acp_update.c ---- */
/* session/update, while the agent works for this session. */
void acp_take_update(struct acp *a, const json_t *update);
/* The answer to session/request_permission; NULL without memory. */
json_t *acp_judge(struct acp *a, const json_t *params);

#endif
