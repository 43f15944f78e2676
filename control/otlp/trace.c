#include "control/otlp/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/events/events.h"

enum {
	TRACE_BYTES = 16,
	SPAN_BYTES = 8,
	INTERNAL = 1,
	CLIENT = 3,
	STATUS_OK = 1,
	STATUS_ERROR = 2
};

/* Where an event stands. */
struct place {
	uint64_t guild, session, turn;
};

struct span {
	const char *name;
	const char *part; /* of the turn: makes the span's id with `number` */
	uint64_t number;
	int kind;
	uint64_t from_ms, to_ms;
};

static void write_id(const struct place *p, const char *part, uint64_t number, size_t n,
		     char *out /* 2 * n + 1 */)
{
	uint8_t hash[32];
	char text[160];
	int length = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s %" PRIu64,
			      p->guild, p->session, p->turn, part, number);

	crypto_generichash(hash, sizeof hash, (const uint8_t *)text, (size_t)length, NULL, 0);
	sodium_bin2hex(out, 2 * n + 1, hash, n);
}

static void add_text(json_t *attributes, const char *key, const char *value)
{
	if (value && *value)
		json_array_append_new(attributes, json_pack("{s:s,s:{s:s}}", "key", key, "value",
							    "stringValue", value));
}

static void add_number(json_t *attributes, const char *key, uint64_t value)
{
	json_array_append_new(attributes, json_pack("{s:s,s:{s:o}}", "key", key, "value",
						    "intValue", json_sprintf("%" PRIu64, value)));
}

/* Takes attributes. A turn itself has no part. */
static void add_span(json_t *list, const struct place *p, const struct span *s, json_t *attributes,
		     int status)
{
	char trace[2 * TRACE_BYTES + 1], id[2 * SPAN_BYTES + 1], root[2 * SPAN_BYTES + 1];
	json_t *j;

	write_id(p, "trace", 0, TRACE_BYTES, trace);
	write_id(p, s->part, s->number, SPAN_BYTES, id);
	write_id(p, "turn", 0, SPAN_BYTES, root);
	j = json_pack("{s:s,s:s,s:s,s:i,s:o,s:o,s:o,s:{s:i}}", "traceId", trace, "spanId", id,
		      "name", s->name, "kind", s->kind, "startTimeUnixNano",
		      json_sprintf("%" PRIu64 "000000", s->from_ms), "endTimeUnixNano",
		      json_sprintf("%" PRIu64 "000000", s->to_ms), "attributes", attributes,
		      "status", "code", status);
	if (j && strcmp(s->part, "turn") != 0)
		json_object_set_new(j, "parentSpanId", json_string(root));
	json_array_append_new(list, j);
}

/* ---- speech ---- */

static void keep_speech(struct otlp_speech *speech, const struct bus_event *ev)
{
	unsigned i = speech->next++ % OTLP_UTTERANCES;

	speech->v[i].guild = ev->guild;
	speech->v[i].session = ev->utterance.session;
	speech->v[i].utterance = ev->utterance.utterance;
	speech->v[i].started_ms = ev->utterance.started_ms;
	speech->v[i].ended_ms = ev->utterance.ended_ms;
	speech->v[i].told_ms = ev->at_ms;
}

struct spoken {
	uint64_t from_ms, to_ms, told_ms; /* 0: not known */
};

static struct spoken find_speech(const struct otlp_speech *speech, const struct bus_event *ev)
{
	json_t *segments = json_loads(ev->turn.segments ? ev->turn.segments : "", 0, NULL), *one;
	struct spoken s = {0};
	size_t n;

	json_array_foreach(segments, n, one)
	{
		uint64_t utterance =
			(uint64_t)json_integer_value(json_object_get(one, "utterance"));

		for (unsigned i = 0; i < OTLP_UTTERANCES; i++) {
			if (speech->v[i].utterance != utterance || !utterance ||
			    speech->v[i].guild != ev->guild ||
			    speech->v[i].session != ev->turn.session)
				continue;
			if (!s.from_ms || speech->v[i].started_ms < s.from_ms)
				s.from_ms = speech->v[i].started_ms;
			if (speech->v[i].ended_ms >= s.to_ms) {
				s.to_ms = speech->v[i].ended_ms;
				s.told_ms = speech->v[i].told_ms;
			}
		}
	}
	json_decref(segments);
	return s;
}

/* ---- a turn ---- */

/* The value of a rule that was met, in ms; -1: it was not. */
static int64_t value_of(const json_t *why, const char *rule)
{
	const json_t *one;
	size_t i;

	json_array_foreach(why, i, one)
	{
		const char *name = json_string_value(json_object_get(one, "rule"));

		if (name && strcmp(name, rule) == 0 && json_is_true(json_object_get(one, "yes")))
			return json_integer_value(json_object_get(one, "value"));
	}
	return -1;
}

static void add_stage(json_t *list, const struct place *p, const char *name, uint64_t from_ms,
		      uint64_t to_ms)
{
	json_t *attributes = json_array();

	if (strcmp(name, "model") == 0)
		add_text(attributes, "gen_ai.operation.name", "generate_content");
	if (to_ms >= from_ms)
		add_span(list, p,
			 &(struct span){.name = name,
					.part = name,
					.kind = INTERNAL,
					.from_ms = from_ms,
					.to_ms = to_ms},
			 attributes, 0);
	else
		json_decref(attributes);
}

static void add_stages(json_t *list, const struct place *p, const struct spoken *s,
		       const struct bus_event *ev)
{
	json_t *why = json_loads(ev->turn.why ? ev->turn.why : "", 0, NULL);
	int64_t asked = value_of(why, "asked"), answer = value_of(why, "first_audio");

	if (s->to_ms) {
		add_stage(list, p, "speech", s->from_ms, s->to_ms);
		add_stage(list, p, "speech_to_text", s->to_ms, s->told_ms);
		if (asked >= 0 && answer >= 0)
			add_stage(list, p, "model", s->to_ms + (uint64_t)asked,
				  s->to_ms + (uint64_t)(asked + answer));
		if (ev->turn.first_audio_ms >= 0)
			add_stage(list, p, "playback", s->to_ms + (uint64_t)ev->turn.first_audio_ms,
				  ev->at_ms);
	}
	json_decref(why);
}

static bool has_failed(const char *reason)
{
	size_t n = strlen(reason);

	return n > 7 && strcmp(reason + n - 7, "_failed") == 0;
}

static void add_turn(json_t *list, const struct otlp_speech *speech, const struct bus_event *ev)
{
	struct place p = {ev->guild, ev->turn.session, ev->turn.turn};
	struct spoken s = find_speech(speech, ev);
	uint64_t lasted = ev->turn.lasted_ms > 0 ? (uint64_t)ev->turn.lasted_ms : 0;
	const char *reason = ev->turn.reason ? ev->turn.reason : "";
	json_t *attributes = json_array();

	add_text(attributes, "gen_ai.operation.name", "invoke_agent");
	add_text(attributes, "gen_ai.agent.name", "parley");
	add_text(attributes, "parley.turn.reason", reason);
	add_number(attributes, "parley.turn.number", ev->turn.turn);
	if (has_failed(reason))
		add_text(attributes, "error.type", reason);
	add_span(list, &p,
		 &(struct span){.name = "invoke_agent parley",
				.part = "turn",
				.kind = INTERNAL,
				.from_ms = ev->at_ms > lasted ? ev->at_ms - lasted : 0,
				.to_ms = ev->at_ms},
		 attributes,
		 has_failed(reason)		   ? STATUS_ERROR
		 : strcmp(reason, "answered") == 0 ? STATUS_OK
						   : 0);
	add_stages(list, &p, &s, ev);
}

/* ---- tools and models ---- */

static void add_tool(json_t *list, const struct bus_event *ev)
{
	struct place p = {ev->guild, ev->tool.session, ev->tool.turn};
	const char *code = ev->tool.code ? ev->tool.code : "";
	bool ok = strcmp(code, "ok") == 0;
	json_t *attributes = json_array();
	char name[96];

	snprintf(name, sizeof name, "execute_tool %s", ev->tool.name ? ev->tool.name : "");
	add_text(attributes, "gen_ai.operation.name", "execute_tool");
	add_text(attributes, "gen_ai.tool.name", ev->tool.name);
	if (!ok)
		add_text(attributes, "error.type", code);
	add_span(list, &p,
		 &(struct span){.name = name,
				.part = "tool",
				.number = ev->tool.call,
				.kind = INTERNAL,
				.from_ms = ev->at_ms > ev->tool.lasted_ms
						   ? ev->at_ms - ev->tool.lasted_ms
						   : 0,
				.to_ms = ev->at_ms},
		 attributes, ok ? STATUS_OK : STATUS_ERROR);
}

static const char *operation_of(const char *role)
{
	return strcmp(role, "voice") == 0				    ? "generate_content"
	       : strcmp(role, "text") == 0 || strcmp(role, "classify") == 0 ? "chat"
									    : role;
}

static void add_request(json_t *list, const struct bus_event *ev)
{
	const struct event_usage *u = &ev->usage;
	struct place p = {ev->guild, u->session, u->turn};
	const char *operation = operation_of(u->role ? u->role : "");
	json_t *attributes = json_array();
	char name[128];

	snprintf(name, sizeof name, "%s %s", operation, u->model ? u->model : "");
	add_text(attributes, "gen_ai.operation.name", operation);
	add_text(attributes, "gen_ai.provider.name", u->provider);
	add_text(attributes, "gen_ai.request.model", u->model);
	add_number(attributes, "gen_ai.usage.input_tokens",
		   u->text_in + u->text_cached + u->audio_in + u->audio_cached + u->image_in);
	add_number(attributes, "gen_ai.usage.output_tokens", u->text_out + u->audio_out);
	add_span(list, &p,
		 &(struct span){.name = name,
				.part = operation,
				.number = ev->at_ms,
				.kind = CLIENT,
				.from_ms = ev->at_ms,
				.to_ms = ev->at_ms},
		 attributes, 0);
}

void otlp_add_spans(json_t *list, struct otlp_speech *speech, const struct bus_event *ev)
{
	if (ev->type == EVENT_UTTERANCE)
		keep_speech(speech, ev);
	else if (ev->type == EVENT_TURN)
		add_turn(list, speech, ev);
	else if (ev->type == EVENT_TOOL_CALLED && ev->tool.turn)
		add_tool(list, ev);
	else if (ev->type == EVENT_ENGINE_USED && ev->usage.session && ev->usage.turn)
		add_request(list, ev);
}
