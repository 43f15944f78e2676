#include "tests/standins/openai.h"

#include "tests/standins/mind.h"
#include "tests/standins/services.h"
#include "tests/standins/standin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PING_MS = 5000, EXPIRED_CLOSE = 1001 };

void rt_id(struct rt *rt, const char *prefix, char id[RT_ID])
{
	snprintf(id, RT_ID, "%s_%u_%u", prefix, si_link_number(rt->link), ++rt->ids);
}

json_t *rt_setting(const struct rt *rt, const char *path)
{
	json_t *v = rt->session;

	while (v && *path) {
		char name[64];
		size_t n = strcspn(path, ".");

		snprintf(name, sizeof name, "%.*s", (int)n, path);
		v = json_object_get(v, name);
		path += n + (path[n] == '.');
	}
	return v;
}

uint32_t rt_rate(const struct rt *rt, bool in)
{
	json_t *rate = rt_setting(rt, in ? "audio.input.format.rate" : "audio.output.format.rate");

	return json_is_integer(rate) && rt->dialect == RT_XAI ? (uint32_t)json_integer_value(rate)
							      : 24000;
}

/* ---- events ---- */

/* The former names, and "" for events that the beta form does not have. */
static const char *beta_name(const char *type)
{
	static const struct {
		const char *ga, *beta;
	} names[] = {
		{"response.output_audio.delta", "response.audio.delta"},
		{"response.output_audio.done", "response.audio.done"},
		{"response.output_audio_transcript.delta", "response.audio_transcript.delta"},
		{"response.output_audio_transcript.done", "response.audio_transcript.done"},
		{"response.output_text.delta", "response.text.delta"},
		{"response.output_text.done", "response.text.done"},
		{"conversation.item.added", "conversation.item.created"},
		{"conversation.item.done", ""},
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i].ga, type) == 0)
			return names[i].beta;
	return type;
}

void rt_emit_later(struct rt *rt, const struct si_plan *plan, const char *type, json_t *event)
{
	json_t *root;
	char id[RT_ID];

	if (rt->dialect == RT_BETA)
		type = beta_name(type);
	if (!*type) {
		json_decref(event);
		return;
	}
	rt_id(rt, "event", id);
	root = json_pack("{s:s, s:s}", "type", type, "event_id", id);
	json_object_update_new(root, event);
	si_plan_json(rt->link, plan, root);
}

void rt_emit(struct rt *rt, const char *type, json_t *event)
{
	rt_emit_later(rt, &(struct si_plan){.out = SI_OUT_TEXT}, type, event);
}

void rt_error(struct rt *rt, const char *code, const char *param, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	rt_emit(rt, "error",
		json_pack("{s:{s:s, s:s, s:s, s:s?, s:s?}}", "error", "type",
			  strcmp(code, "server_error") == 0 ? "server_error"
							    : "invalid_request_error",
			  "code", rt->dialect == RT_XAI ? "invalid_request" : code, "message", text,
			  "param", param, "event_id", rt->event_id));
}

void rt_error_act(struct rt *rt, const struct si_act *act)
{
	rt_emit(rt, "error",
		json_pack("{s:{s:s, s:s, s:s, s:n, s:s?}}", "error", "type",
			  strcmp(act->word, "server_error") == 0 ? "server_error"
								 : "invalid_request_error",
			  "code", act->word, "message", act->text, "param", "event_id",
			  rt->event_id));
}

bool rt_check(struct rt *rt, const struct si_shape *shape, const json_t *event)
{
	struct si_fault f;

	if (si_shape_check(shape, event, &f))
		return true;
	switch (f.kind) {
	case SI_FAULT_UNKNOWN:
		rt_error(rt, "unknown_parameter", f.path, "Unknown parameter: '%s'.", f.path);
		break;
	case SI_FAULT_MISSING:
		rt_error(rt, "missing_required_parameter", f.path,
			 "Missing required parameter: '%s'.", f.path);
		break;
	case SI_FAULT_TYPE:
		rt_error(rt, "invalid_type", f.path,
			 "Invalid type for '%s': expected one of %s, but got another type instead.",
			 f.path, f.kinds);
		break;
	case SI_FAULT_VALUE:
		rt_error(rt, "invalid_value", f.path,
			 "Invalid value for '%s'. Supported values are: %s.", f.path, f.kinds);
		break;
	}
	return false;
}

/* ---- the client's events ---- */

static bool conversation_event(struct rt *rt, const char *type, json_t *e)
{
	if (strcmp(type, "conversation.item.create") == 0) {
		if (rt_check(rt, rt_shape_item_create, e))
			rt_item_create(rt, e);
	} else if (strcmp(type, "conversation.item.delete") == 0) {
		if (rt_check(rt, rt_shape_item_id, e))
			rt_item_delete(rt, e);
	} else if (strcmp(type, "conversation.item.retrieve") == 0) {
		if (rt_check(rt, rt_shape_item_id, e))
			rt_item_retrieve(rt, e);
	} else if (strcmp(type, "conversation.item.truncate") == 0) {
		if (rt_check(rt, rt_shape_truncate, e))
			rt_item_truncate(rt, e);
	} else if (strcmp(type, "response.create") == 0) {
		if (rt_check(rt, rt->dialect == RT_GA ? rt_shape_response : rt_shape_response_beta,
			     e))
			rt_response_create(rt, e);
	} else if (strcmp(type, "response.cancel") == 0) {
		if (rt_check(rt, rt_shape_cancel, e))
			rt_response_cancel(rt, json_string_value(json_object_get(e, "response_id")),
					   "client_cancelled");
	} else {
		return false;
	}
	return true;
}

static bool input_event(struct rt *rt, const char *type, json_t *e)
{
	if (strcmp(type, "session.update") == 0 ||
	    (rt->dialect == RT_BETA && strcmp(type, "transcription_session.update") == 0)) {
		rt_session_update(rt, e);
	} else if (strcmp(type, "input_audio_buffer.append") == 0) {
		if (rt_check(rt, rt_shape_append, e))
			rt_append(rt, e);
	} else if (strcmp(type, "input_audio_buffer.commit") == 0) {
		if (rt_check(rt, rt_shape_bare, e))
			rt_commit(rt, NULL);
	} else if (strcmp(type, "input_audio_buffer.clear") == 0) {
		if (rt_check(rt, rt_shape_bare, e))
			rt_clear(rt, true);
	} else {
		return false;
	}
	return true;
}

static void rt_message(void *session, bool text, const char *data, size_t n)
{
	struct rt *rt = session;
	json_t *e;
	const char *type;

	if (!text && rt->binary_in) {
		rt_append_pcm(rt, data, n);
		return;
	}
	rt->event_id = NULL;
	e = text ? json_loadb(data, n, 0, NULL) : NULL;
	type = json_string_value(json_object_get(e, "type"));
	rt->event_id = json_string_value(json_object_get(e, "event_id"));
	if (!json_is_object(e))
		rt_error(rt, "invalid_json", NULL, "The message is no JSON object.");
	else if (!type)
		rt_error(rt, "missing_required_parameter", "type",
			 "Missing required parameter: 'type'.");
	else if (input_event(rt, type, e))
		;
	else if (rt->transcription || !conversation_event(rt, type, e))
		rt_error(rt, "invalid_value", "type",
			 "Invalid value: '%s'. This session takes no such event.", type);
	rt->event_id = NULL;
	json_decref(e);
}

/* ---- the session ---- */

static void rt_free(void *session)
{
	struct rt *rt = session;

	rt_responses_free(rt);
	rt_hearings_free(rt);
	rt_items_free(rt);
	si_mind_free(rt->mind);
	json_decref(rt->session);
	free(rt->pcm);
	free(rt);
}

static void rt_act(void *session, const struct si_act *act)
{
	struct rt *rt = session;

	if (act->action == SI_DO_ERROR) {
		rt_error_act(rt, act);
		return;
	}
	rt_error(rt, "session_expired", NULL,
		 "Your session hit the maximum duration of 60 minutes.");
	si_plan(rt->link, &(struct si_plan){.out = SI_OUT_CLOSE,
					    .after_ms = act->number,
					    .code = EXPIRED_CLOSE,
					    .data = "session expired",
					    .n = 15});
}

static const struct si_session_ops rt_ops = {.message = rt_message, .act = rt_act, .free = rt_free};

static void rt_ping(void *arg)
{
	struct rt *rt = arg;

	rt_emit(rt, "ping", json_pack("{s:I}", "timestamp", (json_int_t)(si_now() / 1000000)));
	si_plan(rt->link,
		&(struct si_plan){
			.out = SI_OUT_CALL, .after_ms = PING_MS, .h = rt_ping, .arg = rt});
}

static void rt_welcome(struct rt *rt)
{
	if (rt->dialect == RT_XAI) {
		rt_emit(rt, "conversation.created",
			json_pack("{s:{s:s, s:s}}", "conversation", "id", rt->conversation,
				  "object", "realtime.conversation"));
		rt_ping(rt);
	}
	rt_emit(rt,
		rt->dialect == RT_BETA && rt->transcription ? "transcription_session.created"
							    : "session.created",
		json_pack("{s:O}", "session", rt->session));
	si_link_opened(rt->link);
}

static bool refused(struct si_link *l, int status, const char *code, const char *text)
{
	si_reply_json(l, status,
		      json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message", text, "type",
				"invalid_request_error", "param", "code", code));
	return true;
}

static bool session_open(struct si_link *l, enum rt_dialect dialect)
{
	char model[128], intent[32];
	bool has_model, has_intent;
	struct rt *rt;

	if (strcmp(si_link_head(l)->path, "/v1/realtime") != 0)
		return false;
	if (!si_link_key(l, NULL, NULL))
		return refused(l, 401, "invalid_api_key", "Incorrect API key provided.");
	has_model = http_head_query(si_link_head(l), "model", model, sizeof model);
	has_intent = http_head_query(si_link_head(l), "intent", intent, sizeof intent);
	if (has_intent && strcmp(intent, "transcription") != 0)
		return refused(l, 400, "invalid_value", "Invalid intent.");
	if (has_model == has_intent && dialect == RT_GA)
		return refused(l, 400, "invalid_model", "Name either a model or an intent.");
	rt = si_alloc(sizeof *rt);
	rt->st = si_link_standin(l);
	rt->link = l;
	rt->dialect = dialect;
	rt->transcription = has_intent;
	rt->mind = si_mind_new();
	rt_id(rt, "conv", rt->conversation);
	rt->session = rt_session_default(rt, model);
	si_link_take(l, &rt_ops, rt);
	rt_welcome(rt);
	return true;
}

static bool openai_open(struct si_link *l)
{
	char beta[64];

	http_head_copy(si_link_head(l), "openai-beta", beta, sizeof beta);
	return session_open(l, strcmp(beta, "realtime=v1") == 0 ? RT_BETA : RT_GA);
}

static bool xai_open(struct si_link *l)
{
	return session_open(l, RT_XAI);
}

const struct si_service si_openai_realtime = {.open = openai_open};
const struct si_service si_xai_realtime = {.open = xai_open};
