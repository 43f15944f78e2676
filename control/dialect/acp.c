/* States and prompts of the client (acp.h). */
#include "control/dialect/acp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/acp_inside.h"
#include "control/dialect/json_read.h"
#include "control/dialect/json_rpc.h"
#include "proto/base/utf8.h"

enum { SIGN_IN = -32000 };

int acp_alloc(struct acp **out, const struct acp_conf *conf)
{
	struct acp *a;

	if (!conf->client || !conf->version || !conf->folder || !conf->sendh || !conf->changeh ||
	    !conf->progressh || !conf->resulth)
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	a->conf = *conf;
	a->due = UINT64_MAX;
	utf8_copy(a->client, sizeof a->client, conf->client);
	utf8_copy(a->version, sizeof a->version, conf->version);
	utf8_copy(a->folder, sizeof a->folder, conf->folder);
	*out = a;
	return 0;
}

struct acp *acp_free(struct acp *a)
{
	if (!a)
		return NULL;
	free(a->text);
	free(a);
	return NULL;
}

static void set_state(struct acp *a, enum acp_state state, const char *why)
{
	utf8_copy(a->why, sizeof a->why, why);
	a->state = state;
	a->conf.changeh(a->conf.arg);
}

/* ---- the end of a prompt ---- */

/* The state is already another one: the handler may begin the next prompt. why: NULL for what the
 * agent wrote. */
static void tell_result(struct acp *a, enum acp_outcome outcome, const char *why)
{
	char *text = a->text;
	struct acp_result result = {.outcome = outcome,
				    .text = why	   ? why
					    : text ? text
						   : "",
				    .cut = !why && a->cut,
				    .cost = a->cost > a->cost_before ? a->cost - a->cost_before
								     : 0};

	a->text = NULL;
	a->n = 0;
	result.n = strlen(result.text);
	a->conf.resulth(a->task, &result, a->conf.arg);
	free(text);
}

static void refuse(struct acp *a, const char *why)
{
	bool works = a->state == ACP_WORKING;

	a->state = ACP_REFUSED;
	a->asked = ACP_NOTHING;
	a->due = UINT64_MAX;
	if (works)
		tell_result(a, ACP_LOST, why);
	set_state(a, ACP_REFUSED, why);
}

void acp_stop(struct acp *a, enum acp_outcome outcome)
{
	if (a->state != ACP_WORKING)
		return;
	a->state = ACP_STOPPING;
	a->due = a->now + ACP_STOP_NS;
	acp_out_notify(a, "session/cancel", json_pack("{s:s}", "sessionId", a->session));
	tell_result(a, outcome, NULL);
	set_state(a, a->state, "");
}

/* ---- opening ---- */

void acp_open(struct acp *a, uint64_t now)
{
	a->now = now;
	if (a->state != ACP_CLOSED)
		return;
	a->due = now + ACP_OPEN_NS;
	a->asked = ACP_ASKED_INITIALIZE;
	a->messages = 0;
	a->cost = a->cost_before = 0;
	set_state(a, ACP_OPENING, "");
	if (acp_out_request(a, "initialize",
			    json_pack("{s:i, s:{s:{s:b, s:b}, s:b}, s:{s:s, s:s}}",
				      "protocolVersion", ACP_VERSION, "clientCapabilities", "fs",
				      "readTextFile", 0, "writeTextFile", 0, "terminal", 0,
				      "clientInfo", "name", a->client, "version", a->version)))
		refuse(a, "there is no memory");
}

void acp_close(struct acp *a, const char *why)
{
	bool works = a->state == ACP_WORKING;

	if (a->state == ACP_CLOSED)
		return;
	a->state = ACP_CLOSED;
	a->asked = ACP_NOTHING;
	a->due = UINT64_MAX;
	if (works)
		tell_result(a, ACP_LOST, why);
	set_state(a, ACP_CLOSED, "");
}

static void take_initialize(struct acp *a, const json_t *result)
{
	const json_t *version = json_object_get(result, "protocolVersion");

	if (json_read_copy(json_object_get(result, "agentInfo"), "name", a->agent, sizeof a->agent))
		*a->agent = '\0';
	utf8_plain(a->agent);
	if (!json_is_integer(version) || json_integer_value(version) != ACP_VERSION) {
		refuse(a, "it speaks no version of the protocol that is known here");
		return;
	}
	a->asked = ACP_ASKED_SESSION;
	if (acp_out_request(a, "session/new",
			    json_pack("{s:s, s:[]}", "cwd", a->folder, "mcpServers")))
		refuse(a, "there is no memory");
}

static void take_session(struct acp *a, const json_t *result)
{
	if (json_read_copy(result, "sessionId", a->session, sizeof a->session)) {
		refuse(a, "its session has no id");
		return;
	}
	a->asked = ACP_NOTHING;
	a->due = UINT64_MAX;
	set_state(a, ACP_READY, "");
}

/* ---- prompts ---- */

static void end_prompt(struct acp *a, enum acp_outcome outcome, const char *why)
{
	bool told = a->state == ACP_STOPPING;

	a->state = ACP_READY;
	a->asked = ACP_NOTHING;
	a->due = UINT64_MAX;
	if (!told)
		tell_result(a, outcome, why);
	set_state(a, a->state, "");
}

static void take_stop_reason(struct acp *a, const json_t *result)
{
	static const struct {
		const char *reason;
		enum acp_outcome outcome;
	} rows[] = {{"end_turn", ACP_DONE},
		    {"max_tokens", ACP_CUT_SHORT},
		    {"max_turn_requests", ACP_CUT_SHORT},
		    {"refusal", ACP_DECLINED},
		    {"cancelled", ACP_CANCELLED}};
	const char *reason = json_string_value(json_object_get(result, "stopReason"));

	for (size_t i = 0; reason && i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(reason, rows[i].reason) == 0) {
			end_prompt(a, rows[i].outcome, NULL);
			return;
		}
	end_prompt(a, ACP_FAILED, "it stopped for a reason that is not known here");
}

int acp_prompt(struct acp *a, uint64_t task, const char *text, uint32_t timeout_ms, uint64_t now)
{
	json_t *params;

	a->now = now;
	if (a->state == ACP_WORKING || a->state == ACP_STOPPING)
		return EBUSY;
	if (a->state != ACP_READY)
		return ENOTCONN;
	params = json_pack("{s:s, s:[{s:s, s:s}]}", "sessionId", a->session, "prompt", "type",
			   "text", "text", text);
	if (!params)
		return ENOMEM;
	a->task = task;
	a->messages = a->granted = 0;
	a->cut = a->apart = false;
	*a->progress = '\0';
	a->cost_before = a->cost;
	a->due = now + timeout_ms * UINT64_C(1000000);
	a->asked = ACP_ASKED_PROMPT;
	a->state = ACP_WORKING;
	if (!acp_out_request(a, "session/prompt", params)) {
		if (a->state == ACP_WORKING && a->task == task)
			set_state(a, ACP_WORKING, "");
		return 0;
	}
	a->asked = ACP_NOTHING;
	a->due = UINT64_MAX;
	a->state = ACP_READY;
	return ENOMEM;
}

void acp_cancel(struct acp *a, uint64_t task, uint64_t now)
{
	a->now = now;
	if (a->task == task)
		acp_stop(a, ACP_CANCELLED);
}

/* ---- what comes ---- */

static void take_answer(struct acp *a, const json_t *result)
{
	switch (a->asked) {
	case ACP_ASKED_INITIALIZE:
		take_initialize(a, result);
		break;
	case ACP_ASKED_SESSION:
		take_session(a, result);
		break;
	case ACP_ASKED_PROMPT:
		take_stop_reason(a, result);
		break;
	default:
		break;
	}
}

static void take_error(struct acp *a, const json_t *error)
{
	json_int_t code = json_integer_value(json_object_get(error, "code"));
	char text[ACP_WHY_MAX - 32], why[ACP_WHY_MAX];

	json_rpc_error_text(error, text, sizeof text);
	snprintf(why, sizeof why, "%s%s", code == SIGN_IN ? "it wants its own sign-in: " : "",
		 text);
	if (a->asked == ACP_ASKED_PROMPT)
		end_prompt(a, ACP_FAILED, why);
	else
		refuse(a, why);
}

static bool is_of_session(const struct acp *a, const json_t *params)
{
	const char *id = json_string_value(json_object_get(params, "sessionId"));

	return id && strcmp(id, a->session) == 0;
}

static void take_request(struct acp *a, const char *method, const json_t *id, const json_t *params)
{
	bool known = strcmp(method, "session/request_permission") == 0 && is_of_session(a, params);

	if (json_is_integer(id) || json_is_string(id))
		acp_out_answer(a, id, known ? acp_judge(a, params) : NULL);
}

static void take_message(struct acp *a, const json_t *root)
{
	const json_t *id = json_object_get(root, "id"), *params = json_object_get(root, "params");
	const char *method = json_string_value(json_object_get(root, "method"));

	if (method && id) {
		take_request(a, method, id, params);
	} else if (method) {
		if (strcmp(method, "session/update") == 0 && a->state == ACP_WORKING &&
		    is_of_session(a, params))
			acp_take_update(a, json_object_get(params, "update"));
	} else if (a->asked && json_is_integer(id) && json_integer_value(id) == a->ids) {
		if (json_is_object(json_object_get(root, "error")))
			take_error(a, json_object_get(root, "error"));
		else
			take_answer(a, json_object_get(root, "result"));
	}
}

void acp_count_bytes(struct acp *a, size_t n, uint64_t now)
{
	a->now = now;
	if (a->state == ACP_CLOSED || a->state == ACP_REFUSED)
		return;
	if (now - a->flood_from >= ACP_FLOOD_NS) {
		a->flood_from = now;
		a->flood_bytes = 0;
	}
	a->flood_bytes += n;
	if (a->flood_bytes > ACP_FLOOD_BYTES)
		refuse(a, "it floods its connection");
}

void acp_receive(struct acp *a, const char *text, size_t n, uint64_t now)
{
	json_t *root;

	a->now = now;
	if (a->state == ACP_CLOSED || a->state == ACP_REFUSED)
		return;
	if (++a->messages > ACP_MESSAGES_MAX) {
		refuse(a, "it sends messages without end");
		return;
	}
	root = n <= ACP_MESSAGE_MAX ? json_loadb(text, n, 0, NULL) : NULL;
	if (json_is_object(root))
		take_message(a, root);
	json_decref(root);
}

void acp_timer(struct acp *a, uint64_t now)
{
	a->now = now;
	if (now < a->due)
		return;
	if (a->state == ACP_WORKING)
		acp_stop(a, ACP_LATE);
	else if (a->state == ACP_STOPPING)
		refuse(a, "it does not stop");
	else
		refuse(a, "it does not answer");
}

uint64_t acp_deadline(const struct acp *a)
{
	return a->due;
}

/* ---- looking ---- */

enum acp_state acp_state(const struct acp *a)
{
	return a->state;
}

const char *acp_why(const struct acp *a)
{
	return a->why;
}

const char *acp_agent(const struct acp *a)
{
	return a->agent;
}
