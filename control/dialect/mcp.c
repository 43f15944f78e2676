/* The client (mcp.h): eras, requests, the list of tools, calls. */
#include "control/dialect/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/json_read.h"
#include "control/dialect/json_rpc.h"
#include "control/dialect/mcp_inside.h"
#include "proto/base/utf8.h"

#define LISTEN_AGAIN_NS (30 * UINT64_C(1000000000))

enum { UNSUPPORTED_VERSION = -32022 };

int mcp_alloc(struct mcp **out, const struct mcp_conf *conf)
{
	struct mcp *m;

	if (!conf->client || !conf->version || !conf->sendh || !conf->droph || !conf->changeh ||
	    !conf->resulth || !conf->progressh)
		return EINVAL;
	m = calloc(1, sizeof *m);
	if (!m)
		return ENOMEM;
	m->conf = *conf;
	m->listen_at = UINT64_MAX;
	utf8_copy(m->client, sizeof m->client, conf->client);
	utf8_copy(m->version, sizeof m->version, conf->version);
	*out = m;
	return 0;
}

struct mcp *mcp_free(struct mcp *m)
{
	if (!m)
		return NULL;
	mcp_list_clear(&m->tools);
	mcp_list_clear(&m->coming);
	free(m);
	return NULL;
}

static void set_state(struct mcp *m, enum mcp_state state, const char *why)
{
	utf8_copy(m->why, sizeof m->why, why);
	m->state = state;
	m->conf.changeh(m->conf.arg);
}

/* ---- requests ---- */

static struct mcp_request *find_request(struct mcp *m, uint32_t id)
{
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (m->request[i].asked && m->request[i].id == id)
			return &m->request[i];
	return NULL;
}

static struct mcp_request *free_request(struct mcp *m)
{
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (!m->request[i].asked)
			return &m->request[i];
	return NULL;
}

/* ENOMEM, EBUSY. Steals params. */
static int ask(struct mcp *m, enum mcp_asked asked, const char *method, json_t *params,
	       uint64_t due)
{
	struct mcp_request *r = free_request(m);

	if (!r) {
		json_decref(params);
		return EBUSY;
	}
	/* The place is taken before the message goes: an answer may come within the handler. */
	*r = (struct mcp_request){.asked = asked, .id = m->ids + 1, .due = due};
	if (mcp_out_request(m, method, params, NULL, NULL))
		return 0;
	*r = (struct mcp_request){0};
	return ENOMEM;
}

static void end_call(struct mcp *m, struct mcp_request *r, enum mcp_outcome outcome,
		     const char *text)
{
	struct mcp_result result = {.outcome = outcome, .text = text, .n = strlen(text)};
	uint64_t call = r->call;

	*r = (struct mcp_request){0};
	m->conf.resulth(call, &result, m->conf.arg);
}

static void lose_requests(struct mcp *m)
{
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (m->request[i].asked == MCP_ASKED_CALL)
			end_call(m, &m->request[i], MCP_LOST,
				 "the connection to the server is lost");
		else
			m->request[i] = (struct mcp_request){0};
}

static void refuse(struct mcp *m, const char *why)
{
	if (m->state == MCP_OPENING)
		m->era = MCP_UNKNOWN; /* an update may have changed it */
	m->state = MCP_REFUSED;	      /* handlers of lost calls can begin no other */
	lose_requests(m);
	set_state(m, MCP_REFUSED, why);
}

/* The list could not be read: while the server is in use its last one stays. */
static void fail_opening(struct mcp *m, const char *why)
{
	if (m->state == MCP_READY)
		set_state(m, MCP_READY, why);
	else
		refuse(m, why);
}

/* ---- opening ---- */

static void initialize(struct mcp *m)
{
	m->era = MCP_LEGACY;
	if (ask(m, MCP_ASKED_INITIALIZE, "initialize",
		json_pack("{s:s, s:{}, s:{s:s, s:s}}", "protocolVersion", MCP_LEGACY_REVISION,
			  "capabilities", "clientInfo", "name", m->client, "version", m->version),
		m->now + MCP_OPEN_NS))
		refuse(m, "there is no memory");
}

static void discover(struct mcp *m)
{
	if (ask(m, MCP_ASKED_DISCOVER, "server/discover", NULL,
		m->now + (m->era == MCP_MODERN ? MCP_OPEN_NS : MCP_PROBE_NS)))
		refuse(m, "there is no memory");
}

void mcp_open(struct mcp *m, uint64_t now)
{
	m->now = now;
	if (m->state == MCP_OPENING || m->state == MCP_READY)
		return;
	if (!m->conf.http)
		m->era = MCP_UNKNOWN;
	*m->revision = '\0';
	m->again = m->retried = false;
	m->flood_from = now;
	m->flood_messages = m->flood_bytes = m->read_bytes = 0;
	set_state(m, MCP_OPENING, "");
	if (m->era == MCP_LEGACY)
		initialize(m);
	else
		discover(m);
}

void mcp_close(struct mcp *m)
{
	char why[MCP_WHY_MAX];

	if (m->state == MCP_CLOSED)
		return;
	memcpy(why, m->why, sizeof why);
	m->state = MCP_CLOSED;
	lose_requests(m);
	mcp_list_clear(&m->coming);
	m->again = false;
	m->listen_at = UINT64_MAX;
	set_state(m, MCP_CLOSED, why);
}

static void list_tools(struct mcp *m, const char *cursor)
{
	json_t *params = cursor ? json_pack("{s:s}", "cursor", cursor) : NULL;

	if (ask(m, MCP_ASKED_TOOLS, "tools/list", params, m->now + MCP_OPEN_NS))
		fail_opening(m, "there is no memory");
}

static void begin_list(struct mcp *m)
{
	mcp_list_clear(&m->coming);
	m->pages = 0;
	m->again = false;
	m->list_at = m->now + MCP_LIST_NS;
	list_tools(m, NULL);
}

static bool is_listing(const struct mcp *m)
{
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (m->request[i].asked == MCP_ASKED_TOOLS)
			return true;
	return false;
}

/* The list changed: fetches it, at most once per MCP_LIST_NS. */
static void renew_list(struct mcp *m)
{
	if (m->state == MCP_READY && m->again && m->now >= m->list_at && !is_listing(m))
		begin_list(m);
}

static void take_capabilities(struct mcp *m, const json_t *result, const json_t *server)
{
	const json_t *can = json_object_get(result, "capabilities");

	m->resources = json_is_object(json_object_get(can, "resources"));
	m->prompts = json_is_object(json_object_get(can, "prompts"));
	m->tells_changes =
		json_is_true(json_object_get(json_object_get(can, "tools"), "listChanged"));
	if (json_read_copy(server, "name", m->server, sizeof m->server))
		*m->server = '\0';
	utf8_plain(m->server);
	if (json_is_object(json_object_get(can, "tools"))) {
		begin_list(m);
	} else {
		mcp_list_clear(&m->tools);
		set_state(m, MCP_READY, "");
	}
}

static bool speaks_modern(const json_t *versions)
{
	json_t *v;
	size_t i;

	json_array_foreach(versions, i, v) if (json_is_string(v) &&
					       strcmp(json_string_value(v), MCP_MODERN_REVISION) ==
						       0) return true;
	return false;
}

static void take_discovery(struct mcp *m, const json_t *result)
{
	const json_t *meta = json_object_get(result, "_meta");

	if (!speaks_modern(json_object_get(result, "supportedVersions"))) {
		initialize(m);
		return;
	}
	m->era = MCP_MODERN;
	snprintf(m->revision, sizeof m->revision, "%s", MCP_MODERN_REVISION);
	take_capabilities(m, result, json_object_get(meta, "io.modelcontextprotocol/serverInfo"));
}

static void take_initialize(struct mcp *m, const json_t *result)
{
	static const char *const known[] = {"2024-11-05", "2025-03-26", "2025-06-18",
					    MCP_LEGACY_REVISION};
	const char *version = json_string_value(json_object_get(result, "protocolVersion"));
	bool fine = false;

	for (unsigned i = 0; version && i < sizeof known / sizeof known[0]; i++)
		fine = fine || strcmp(version, known[i]) == 0;
	if (!fine) {
		refuse(m, "it speaks no revision of the protocol that is known here");
		return;
	}
	snprintf(m->revision, sizeof m->revision, "%s", version);
	mcp_out_notify(m, "notifications/initialized", NULL);
	take_capabilities(m, result, json_object_get(result, "serverInfo"));
}

/* Modern servers tell of changes only to those who listen. */
static void listen_for_changes(struct mcp *m)
{
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (m->request[i].asked == MCP_ASKED_LISTEN)
			return;
	if (m->era == MCP_MODERN && m->tells_changes)
		ask(m, MCP_ASKED_LISTEN, "subscriptions/listen",
		    json_pack("{s:{s:b}}", "notifications", "toolsListChanged", 1), UINT64_MAX);
}

static void take_tools(struct mcp *m, const json_t *result)
{
	const char *cursor = json_string_value(json_object_get(result, "nextCursor"));
	bool same;

	if (mcp_in_tools(m, result)) {
		fail_opening(m, "there is no memory");
		return;
	}
	if (cursor && *cursor && ++m->pages < MCP_PAGES_MAX && m->coming.n < MCP_TOOLS_MAX) {
		list_tools(m, cursor);
		return;
	}
	same = m->state == MCP_READY && !*m->why && mcp_list_equal(&m->tools, &m->coming);
	mcp_list_clear(&m->tools);
	m->tools = m->coming;
	m->coming = (struct mcp_list){0};
	if (!same)
		set_state(m, MCP_READY, "");
	listen_for_changes(m);
}

/* ---- what comes ---- */

static void take_result(struct mcp *m, struct mcp_request *r, const json_t *result)
{
	const char *type = json_string_value(json_object_get(result, "resultType"));
	struct mcp_result out = {.outcome = MCP_DONE};
	uint64_t call = r->call;
	enum mcp_verb verb = r->verb;
	char *text;

	if (type && strcmp(type, "complete") != 0) {
		end_call(m, r, MCP_REFUSES,
			 "the server wants more input from the person, which cannot be asked for "
			 "here");
		return;
	}
	text = mcp_in_text(verb, result, &out.cut);
	if (!text) {
		end_call(m, r, MCP_REFUSES, "there is no memory for the result");
		return;
	}
	if (json_is_true(json_object_get(result, "isError")))
		out.outcome = MCP_TOOL_FAILED;
	out.text = text;
	out.n = strlen(text);
	*r = (struct mcp_request){0};
	m->conf.resulth(call, &out, m->conf.arg);
	free(text);
}

static void take_answer(struct mcp *m, struct mcp_request *r, const json_t *result)
{
	enum mcp_asked asked = r->asked;

	if (asked == MCP_ASKED_CALL) {
		take_result(m, r, result);
		return;
	}
	*r = (struct mcp_request){0};
	if (asked == MCP_ASKED_DISCOVER)
		take_discovery(m, result);
	else if (asked == MCP_ASKED_INITIALIZE)
		take_initialize(m, result);
	else if (asked == MCP_ASKED_TOOLS)
		take_tools(m, result);
}

/* A server that answers a probe with an error of its own is one of the other era. */
static void take_probe_error(struct mcp *m, const json_t *error)
{
	const json_t *supported = json_object_get(json_object_get(error, "data"), "supported");

	if (json_integer_value(json_object_get(error, "code")) != UNSUPPORTED_VERSION ||
	    !json_is_array(supported) || !json_array_size(supported)) {
		initialize(m);
	} else if (!speaks_modern(supported) || m->retried) {
		refuse(m, "it speaks no revision of the protocol that is known here");
	} else {
		m->retried = true;
		discover(m);
	}
}

static void take_error(struct mcp *m, struct mcp_request *r, const json_t *error)
{
	enum mcp_asked asked = r->asked;
	char why[MCP_WHY_MAX];

	json_rpc_error_text(error, why, sizeof why);
	if (asked == MCP_ASKED_CALL) {
		end_call(m, r, MCP_REFUSES, why);
		return;
	}
	*r = (struct mcp_request){0};
	if (asked == MCP_ASKED_DISCOVER)
		take_probe_error(m, error);
	else if (asked == MCP_ASKED_LISTEN)
		m->tells_changes = false;
	else
		fail_opening(m, why);
}

static void take_progress(struct mcp *m, const json_t *params)
{
	const json_t *token = json_object_get(params, "progressToken");
	struct mcp_request *r;
	double total = json_number_value(json_object_get(params, "total"));
	double done = json_number_value(json_object_get(params, "progress"));
	char text[MCP_WHY_MAX];

	r = json_is_integer(token) && json_integer_value(token) > 0 &&
			    json_integer_value(token) <= UINT32_MAX
		    ? find_request(m, (uint32_t)json_integer_value(token))
		    : NULL;
	if (!r || r->asked != MCP_ASKED_CALL)
		return;
	utf8_copy(text, sizeof text,
		  json_is_string(json_object_get(params, "message"))
			  ? json_string_value(json_object_get(params, "message"))
			  : "");
	utf8_plain(text);
	m->conf.progressh(r->call, total > 0 && done >= 0 && done <= total ? done / total : -1,
			  text, m->conf.arg);
}

static void take_notification(struct mcp *m, const char *method, const json_t *params)
{
	if (strcmp(method, "notifications/progress") == 0) {
		take_progress(m, params);
	} else if (strcmp(method, "notifications/tools/list_changed") == 0) {
		m->again = true;
		renew_list(m);
	}
}

static void renew_budget(struct mcp *m)
{
	if (m->now - m->flood_from < MCP_FLOOD_NS)
		return;
	m->flood_from = m->now;
	m->flood_messages = m->flood_bytes = m->read_bytes = 0;
}

/* False: the server sends more than the client requested. */
static bool count_unasked(struct mcp *m, size_t n)
{
	renew_budget(m);
	m->flood_messages++;
	m->flood_bytes += n;
	return m->flood_messages <= MCP_FLOOD_MESSAGES && m->flood_bytes <= MCP_FLOOD_BYTES;
}

/* n: bytes of the message. */
static void take_message(struct mcp *m, const json_t *root, size_t n)
{
	const json_t *id = json_object_get(root, "id"), *result, *error;
	const char *method = json_string_value(json_object_get(root, "method"));
	struct mcp_request *r;

	if (method && !id) {
		take_notification(m, method, json_object_get(root, "params"));
		return;
	}
	if (method) {
		if (m->era == MCP_LEGACY && (json_is_integer(id) || json_is_string(id)))
			mcp_out_answer(m, id, strcmp(method, "ping") == 0);
		return;
	}
	if (!json_is_integer(id) || json_integer_value(id) <= 0 ||
	    json_integer_value(id) > UINT32_MAX)
		return;
	r = find_request(m, (uint32_t)json_integer_value(id));
	result = json_object_get(root, "result");
	error = json_object_get(root, "error");
	if (r && (json_is_object(result) || json_is_object(error))) {
		m->flood_messages--;
		m->flood_bytes -= n;
	}
	if (r && json_is_object(result))
		take_answer(m, r, result);
	else if (r && json_is_object(error))
		take_error(m, r, error);
}

void mcp_count_bytes(struct mcp *m, size_t n, uint64_t now)
{
	m->now = now;
	if (m->state == MCP_CLOSED || m->state == MCP_REFUSED)
		return;
	renew_budget(m);
	m->read_bytes += n;
	if (m->read_bytes > MCP_READ_BYTES)
		refuse(m, "it floods its connection");
}

void mcp_receive(struct mcp *m, const char *text, size_t n, uint64_t now)
{
	json_t *root;

	m->now = now;
	if (n > MCP_MESSAGE_MAX || m->state == MCP_CLOSED || m->state == MCP_REFUSED)
		return;
	if (!count_unasked(m, n)) {
		refuse(m, "it floods its connection with messages that nobody requested");
		return;
	}
	root = json_loadb(text, n, 0, NULL);
	if (json_is_object(root))
		take_message(m, root, n);
	json_decref(root);
}

void mcp_unanswered(struct mcp *m, uint32_t id, unsigned status, const char *why, uint64_t now)
{
	struct mcp_request *r = find_request(m, id);
	enum mcp_asked asked = r ? r->asked : MCP_NOTHING;
	char line[64];

	m->now = now;
	if (!r)
		return;
	snprintf(line, sizeof line, "it answered with HTTP status %u", status);
	if (!why)
		why = !status			      ? "it cannot be reached"
		      : status >= 200 && status < 300 ? "its response ended without an answer"
						      : line;
	if (asked == MCP_ASKED_CALL) {
		end_call(m, r, status ? MCP_REFUSES : MCP_LOST, why);
	} else {
		*r = (struct mcp_request){0};
		if (asked == MCP_ASKED_DISCOVER && m->era == MCP_UNKNOWN &&
		    (status == 400 || status == 404 || status == 405))
			initialize(m);
		else if (asked == MCP_ASKED_LISTEN)
			m->listen_at = now + LISTEN_AGAIN_NS;
		else
			fail_opening(m, why);
	}
}

/* ---- calls ---- */

static const char *method_of(enum mcp_verb verb)
{
	static const char *const methods[] = {[MCP_CALL_TOOL] = "tools/call",
					      [MCP_LIST_RESOURCES] = "resources/list",
					      [MCP_READ_RESOURCE] = "resources/read",
					      [MCP_LIST_PROMPTS] = "prompts/list",
					      [MCP_GET_PROMPT] = "prompts/get"};

	return methods[verb];
}

static json_t *params_of(enum mcp_verb verb, const char *name, const json_t *arguments)
{
	switch (verb) {
	case MCP_CALL_TOOL:
	case MCP_GET_PROMPT:
		return json_pack("{s:s, s:o}", "name", name, "arguments",
				 arguments ? json_deep_copy(arguments) : json_object());
	case MCP_READ_RESOURCE:
		return json_pack("{s:s}", "uri", name);
	default:
		return json_object();
	}
}

static const struct mcp_tool *find_tool(const struct mcp *m, const char *name)
{
	for (size_t i = 0; i < m->tools.n; i++)
		if (strcmp(m->tools.tool[i].name, name) == 0)
			return &m->tools.tool[i];
	return NULL;
}

int mcp_call(struct mcp *m, uint64_t call, enum mcp_verb verb, const char *name,
	     const json_t *arguments, uint32_t timeout_ms, uint64_t now)
{
	struct mcp_request *r = free_request(m);
	json_t *params;

	m->now = now;
	if (m->state != MCP_READY)
		return ENOTCONN;
	if (!r)
		return EBUSY;
	params = params_of(verb, name, arguments);
	if (!params)
		return ENOMEM;
	*r = (struct mcp_request){.asked = MCP_ASKED_CALL,
				  .verb = verb,
				  .id = m->ids + 1,
				  .call = call,
				  .due = now + timeout_ms * UINT64_C(1000000)};
	if (mcp_out_request(m, method_of(verb), params, *name ? name : NULL,
			    verb == MCP_CALL_TOOL ? find_tool(m, name) : NULL))
		return 0;
	*r = (struct mcp_request){0};
	return ENOMEM;
}

/* Tells the server that nobody waits for this request. */
static void revoke(struct mcp *m, uint32_t id, const char *why)
{
	if (!m->conf.http || m->era != MCP_MODERN)
		mcp_out_notify(m, "notifications/cancelled",
			       json_pack("{s:I, s:s}", "requestId", (json_int_t)id, "reason", why));
	/* A server that hangs keeps no connection busy. */
	if (m->conf.http)
		m->conf.droph(id, m->conf.arg);
}

static void stop_call(struct mcp *m, struct mcp_request *r, enum mcp_outcome outcome,
		      const char *why)
{
	revoke(m, r->id, why);
	end_call(m, r, outcome, why);
}

void mcp_cancel(struct mcp *m, uint64_t call, const char *why)
{
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (m->request[i].asked == MCP_ASKED_CALL && m->request[i].call == call)
			stop_call(m, &m->request[i], MCP_CANCELLED, why);
}

void mcp_timer(struct mcp *m, uint64_t now)
{
	m->now = now;
	for (unsigned i = 0; i < MCP_REQUESTS; i++) {
		struct mcp_request *r = &m->request[i];
		enum mcp_asked asked = r->asked;

		if (!asked || r->due > now)
			continue;
		if (asked == MCP_ASKED_CALL) {
			stop_call(m, r, MCP_LATE, "the time limit of the call has passed");
			continue;
		}
		if (m->conf.http)
			m->conf.droph(r->id, m->conf.arg);
		*r = (struct mcp_request){0};
		if (asked == MCP_ASKED_DISCOVER && m->era == MCP_UNKNOWN)
			initialize(m);
		else
			fail_opening(m, "it does not answer");
	}
	if (m->listen_at <= now) {
		m->listen_at = UINT64_MAX;
		listen_for_changes(m);
	}
	renew_list(m);
}

uint64_t mcp_deadline(const struct mcp *m)
{
	uint64_t due = m->listen_at;

	if (m->state == MCP_READY && m->again && !is_listing(m) && m->list_at < due)
		due = m->list_at;
	for (unsigned i = 0; i < MCP_REQUESTS; i++)
		if (m->request[i].asked && m->request[i].due < due)
			due = m->request[i].due;
	return due;
}

/* ---- looking ---- */

enum mcp_state mcp_state(const struct mcp *m)
{
	return m->state;
}

enum mcp_era mcp_era(const struct mcp *m)
{
	return m->era;
}

const char *mcp_server(const struct mcp *m)
{
	return m->server;
}

const char *mcp_revision(const struct mcp *m)
{
	return m->revision;
}

const char *mcp_why(const struct mcp *m)
{
	return m->why;
}

bool mcp_wants_stream(const struct mcp *m)
{
	return m->state == MCP_READY && m->era == MCP_LEGACY && m->tells_changes;
}

bool mcp_has_resources(const struct mcp *m)
{
	return m->resources;
}

bool mcp_has_prompts(const struct mcp *m)
{
	return m->prompts;
}

const struct mcp_tool *mcp_tools(const struct mcp *m, size_t *n)
{
	*n = m->tools.n;
	return m->tools.tool;
}

unsigned mcp_left_out(const struct mcp *m)
{
	return m->tools.left_out;
}
