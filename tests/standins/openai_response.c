#include "tests/standins/mind.h"
#include "tests/standins/openai.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_TOKEN = 4, AUDIO_TOKEN_MS = 50, IN_TOKEN_MS = 100 };

static void response_done(struct rt_response *r, const char *status, const char *reason,
			  const struct si_act *fail);

/* ---- life ---- */

static void response_free(struct rt_response *r)
{
	for (struct rt_response **at = &r->rt->responses; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			break;
		}
	si_sound_cancel(r->sound);
	si_mind_free(r->mind);
	json_decref(r->metadata);
	json_decref(r->modalities);
	free(r->instructions);
	free(r->text);
	free(r->tool);
	free(r->arguments);
	free(r);
}

void rt_responses_free(struct rt *rt)
{
	while (rt->responses)
		response_free(rt->responses);
}

struct rt_response *rt_response_active(struct rt *rt)
{
	for (struct rt_response *r = rt->responses; r; r = r->next)
		if (r->conversation)
			return r;
	return NULL;
}

/* ---- the events of an answer ---- */

static struct si_plan plan_of(const struct rt_response *r, size_t piece)
{
	return (struct si_plan){
		.out = SI_OUT_TEXT,
		.tag = r->tag,
		.after_ms = r->acts.delay_ms + (uint32_t)piece * r->acts.gap_ms,
	};
}

static json_t *position(const struct rt_response *r)
{
	return json_pack("{s:s, s:s, s:i, s:i}", "response_id", r->id, "item_id", r->item,
			 "output_index", 0, "content_index", 0);
}

/* Adds a text member; steals o. */
static json_t *with(json_t *o, const char *name, const char *text, size_t n)
{
	json_object_set_new(o, name, json_stringn(text, n));
	return o;
}

static json_t *part_of(const struct rt_response *r, const char *text)
{
	return json_pack("{s:s, s:s}", "type", r->audio ? "audio" : "text",
			 r->audio ? "transcript" : "text", text);
}

static json_t *item_json(const struct rt_response *r, const char *status, bool whole)
{
	const char *kind = r->audio ? "output_audio" : "output_text";

	if (r->tool)
		return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", r->item, "object",
				 "realtime.item", "type", "function_call", "status", status,
				 "call_id", r->call, "name", r->tool, "arguments",
				 whole ? r->arguments : "");
	if (!whole)
		return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[]}", "id", r->item, "object",
				 "realtime.item", "type", "message", "status", status, "role",
				 "assistant", "content");
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:s}]}", "id", r->item, "object",
			 "realtime.item", "type", "message", "status", status, "role", "assistant",
			 "content", "type", kind, r->audio ? "transcript" : "text", r->text);
}

static json_t *response_json(const struct rt_response *r, const char *status, json_t *details,
			     json_t *output, json_t *usage)
{
	const struct rt *rt = r->rt;
	json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?, s:s, s:O?, s:o}", "object",
			      "realtime.response", "id", r->id, "status", status, "status_details",
			      details ? details : json_null(), "output", output, "conversation_id",
			      r->conversation ? rt->conversation : NULL,
			      rt->dialect == RT_BETA ? "max_output_tokens" : "max_output_tokens",
			      "inf", "metadata", r->metadata, "usage", usage ? usage : json_null());

	if (rt->dialect == RT_BETA)
		json_object_set_new(o, "modalities",
				    r->audio ? json_pack("[s,s]", "text", "audio")
					     : json_pack("[s]", "text"));
	else
		json_object_set_new(o, "output_modalities",
				    json_pack("[s]", r->audio ? "audio" : "text"));
	if (rt->dialect == RT_GA)
		json_object_set_new(o, "audio",
				    json_pack("{s:{s:{s:s, s:i}, s:O}}", "output", "format", "type",
					      "audio/pcm", "rate", 24000, "voice",
					      rt_setting(rt, "audio.output.voice")));
	return o;
}

static json_t *usage_json(const struct rt_response *r, size_t out_pieces)
{
	size_t in = r->in_tokens, cached = r->rt->cached_tokens;
	size_t text = strlen(r->tool ? r->arguments : r->text ? r->text : "") / TEXT_TOKEN + 1;
	size_t audio = r->audio && !r->tool ? out_pieces * RT_CHUNK_MS / AUDIO_TOKEN_MS : 0;
	size_t heard = r->rt->audio_in ? in / 2 : 0;

	cached = cached < in ? cached : in;
	return json_pack(
		"{s:I, s:I, s:I, s:{s:I, s:I, s:i, s:I, s:{s:I, s:i, s:i}}, s:{s:I, s:I}}",
		"total_tokens", (json_int_t)(in + text + audio), "input_tokens", (json_int_t)in,
		"output_tokens", (json_int_t)(text + audio), "input_token_details", "text_tokens",
		(json_int_t)(in - heard), "audio_tokens", (json_int_t)heard, "image_tokens", 0,
		"cached_tokens", (json_int_t)cached, "cached_tokens_details", "text_tokens",
		(json_int_t)cached, "audio_tokens", 0, "image_tokens", 0, "output_token_details",
		"text_tokens", (json_int_t)text, "audio_tokens", (json_int_t)audio);
}

static void item_begin(struct rt_response *r)
{
	struct si_plan p = plan_of(r, 0);

	rt_emit_later(r->rt, &p, "response.output_item.added",
		      json_pack("{s:s, s:i, s:o}", "response_id", r->id, "output_index", 0, "item",
				item_json(r, "in_progress", false)));
	if (r->conversation)
		rt_emit_later(r->rt, &p, "conversation.item.added",
			      json_pack("{s:n, s:o}", "previous_item_id", "item",
					item_json(r, "in_progress", false)));
	if (!r->tool)
		rt_emit_later(r->rt, &p, "response.content_part.added",
			      json_pack("{s:s, s:s, s:i, s:i, s:o}", "response_id", r->id,
					"item_id", r->item, "output_index", 0, "content_index", 0,
					"part", part_of(r, "")));
}

static void on_complete(void *arg)
{
	response_done(arg, "completed", NULL, NULL);
}

static void item_end(struct rt_response *r, size_t pieces)
{
	struct si_plan p = plan_of(r, pieces);

	if (!r->tool)
		rt_emit_later(r->rt, &p, "response.content_part.done",
			      json_pack("{s:s, s:s, s:i, s:i, s:o}", "response_id", r->id,
					"item_id", r->item, "output_index", 0, "content_index", 0,
					"part", part_of(r, r->text)));
	p.out = SI_OUT_CALL;
	p.h = on_complete;
	p.arg = r;
	si_plan(r->rt->link, &p);
}

/* Where the words of the i-th of n pieces end. */
static size_t words_end(const char *text, size_t i, size_t n)
{
	size_t at = strlen(text) * (i + 1) / n;

	while (i + 1 < n && at && text[at - 1] != ' ' && text[at])
		at++;
	return at;
}

static void audio_emit(struct rt_response *r, struct si_plan *p, const int16_t *pcm, size_t n)
{
	char *audio;

	p->piece = true;
	if (r->rt->binary_out) {
		p->out = SI_OUT_BINARY;
		p->data = pcm;
		p->n = n * 2;
		si_plan(r->rt->link, p);
		return;
	}
	audio = si_base64(pcm, n * 2);
	rt_emit_later(r->rt, p, "response.output_audio.delta",
		      with(position(r), "delta", audio, strlen(audio)));
	free(audio);
}

static void on_sound(const int16_t *pcm, size_t n, void *arg)
{
	struct rt_response *r = arg;
	size_t chunk = rt_rate(r->rt, false) * RT_CHUNK_MS / 1000, at = 0;
	size_t pieces = (n + chunk - 1) / chunk;
	struct si_plan p;

	r->sound = NULL;
	r->pieces = pieces ? pieces : 1;
	r->rt->spoke = true;
	item_begin(r);
	for (size_t i = 0; i < pieces; i++) {
		size_t end = words_end(r->text, i, pieces), m = chunk;

		if (n - i * chunk < m)
			m = n - i * chunk;
		p = plan_of(r, i);
		if (end > at)
			rt_emit_later(r->rt, &p, "response.output_audio_transcript.delta",
				      with(position(r), "delta", r->text + at, end - at));
		at = end > at ? end : at;
		audio_emit(r, &p, pcm + i * chunk, m);
	}
	p = plan_of(r, r->pieces);
	rt_emit_later(r->rt, &p, "response.output_audio.done", position(r));
	rt_emit_later(r->rt, &p, "response.output_audio_transcript.done",
		      with(position(r), "transcript", r->text, strlen(r->text)));
	item_end(r, r->pieces);
}

static void text_emit(struct rt_response *r)
{
	size_t n = strlen(r->text), at = 0, i = 0;
	struct si_plan p;

	item_begin(r);
	for (; at < n; i++) {
		size_t m = strcspn(r->text + at + 1, " ") + 1;

		p = plan_of(r, i);
		p.piece = true;
		rt_emit_later(r->rt, &p, "response.output_text.delta",
			      with(position(r), "delta", r->text + at, m));
		at += m;
	}
	r->pieces = i;
	p = plan_of(r, i);
	rt_emit_later(r->rt, &p, "response.output_text.done",
		      with(position(r), "text", r->text, n));
	item_end(r, i);
}

static json_t *call_position(const struct rt_response *r)
{
	return json_pack("{s:s, s:s, s:i, s:s}", "response_id", r->id, "item_id", r->item,
			 "output_index", 0, "call_id", r->call);
}

static void call_emit(struct rt_response *r)
{
	size_t n = strlen(r->arguments), half = n / 2, i = 0;
	struct si_plan p;

	item_begin(r);
	for (size_t at = 0; at < n; i++) {
		size_t m = at ? n - at : half ? half : n;

		p = plan_of(r, i);
		p.piece = true;
		rt_emit_later(r->rt, &p, "response.function_call_arguments.delta",
			      with(call_position(r), "delta", r->arguments + at, m));
		at += m;
	}
	r->pieces = i;
	p = plan_of(r, i);
	rt_emit_later(r->rt, &p, "response.function_call_arguments.done",
		      with(with(call_position(r), "name", r->tool, strlen(r->tool)), "arguments",
			   r->arguments, n));
	item_end(r, i);
}

/* ---- the end ---- */

static void rate_limits_emit(struct rt *rt)
{
	if (rt->dialect == RT_XAI)
		return;
	rt_emit(rt, "rate_limits.updated",
		json_pack("{s:[{s:s, s:i, s:i, s:f}]}", "rate_limits", "name", "tokens", "limit",
			  100000, "remaining", 99000, "reset_seconds", 0.5));
}

static json_t *details_json(const char *status, const char *reason, const struct si_act *fail)
{
	if (fail)
		return json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", "failed", "error", "type",
				 "server_error", "code", fail->word, "message", fail->text);
	return reason ? json_pack("{s:s, s:s}", "type", status, "reason", reason) : NULL;
}

/* The item stays in the conversation with what was sent of it. */
static void item_keep(struct rt_response *r, const char *status, size_t sent)
{
	struct rt *rt = r->rt;
	json_t *item = item_json(r, status, true);
	struct rt_item *it;

	rt_emit(rt, "response.output_item.done",
		json_pack("{s:s, s:i, s:O}", "response_id", r->id, "output_index", 0, "item",
			  item));
	if (!r->conversation) {
		json_decref(item);
		return;
	}
	rt_emit(rt, "conversation.item.done",
		json_pack("{s:n, s:O}", "previous_item_id", "item", item));
	it = rt_item_add(rt, r->item, item, false);
	it->spoken = r->audio && !r->tool;
	it->audio_ms = (unsigned)sent * RT_CHUNK_MS;
	if (!r->tool)
		si_mind_add(rt->mind, "assistant", r->item, r->text);
}

static void response_done(struct rt_response *r, const char *status, const char *reason,
			  const struct si_act *fail)
{
	struct rt *rt = r->rt;
	size_t sent = r->pieces - si_plan_drop(rt->link, r->tag, r->acts.late);
	json_t *output = json_array(), *usage, *event;
	bool completed = strcmp(status, "completed") == 0;

	if (r->begun && !fail && (r->tool || r->text) && r->pieces) {
		item_keep(r, completed ? "completed" : "incomplete", sent);
		json_array_append_new(output,
				      item_json(r, completed ? "completed" : "incomplete", true));
	}
	usage = usage_json(r, sent);
	event = json_pack("{s:o}", "response",
			  response_json(r, status, details_json(status, reason, fail), output,
					rt->dialect == RT_XAI ? NULL : usage));
	if (rt->dialect == RT_XAI)
		json_object_set_new(event, "usage", usage);
	rt_emit(rt, "response.done", event);
	rate_limits_emit(rt);
	if (r->conversation)
		rt->cached_tokens = r->in_tokens;
	response_free(r);
}

void rt_response_cancel(struct rt *rt, const char *id, const char *reason)
{
	struct rt_response *r = id ? rt->responses : rt_response_active(rt);
	struct si_acts acts;

	while (id && r && strcmp(r->id, id) != 0)
		r = r->next;
	si_link_fire(rt->link, SI_CANCEL, &acts);
	if (!r) {
		rt_error(rt, "response_cancel_not_active", NULL,
			 "Cancellation failed: no active response found");
		return;
	}
	if (acts.late)
		r->acts.late = acts.late;
	response_done(r, "cancelled", reason, NULL);
}

/* ---- the beginning ---- */

static void answer_choose(struct rt_response *r)
{
	struct rt *rt = r->rt;
	struct si_answer a;

	si_mind_answer(r->mind ? r->mind : rt->mind, rt->st->script, r->instructions, &a);
	r->text = r->acts.say	 ? si_copy(r->acts.say->text, strlen(r->acts.say->text))
		  : r->acts.call ? si_copy("", 0)
				 : a.text;
	if (r->acts.call) {
		r->tool = si_copy(r->acts.call->word, strlen(r->acts.call->word));
		r->arguments = r->acts.call->text[0]
				       ? si_copy(r->acts.call->text, strlen(r->acts.call->text))
				       : si_copy("{}", 2);
	} else if (!r->acts.say && a.call) {
		r->tool = a.call;
		r->arguments = a.arguments;
		a.call = a.arguments = NULL;
	}
	if (r->text == a.text)
		a.text = NULL;
	si_answer_clear(&a);
}

static void on_fail(void *arg)
{
	struct rt_response *r = arg;

	response_done(r, "failed", NULL, r->acts.fail);
}

static void response_begin(struct rt_response *r)
{
	struct rt *rt = r->rt;

	r->begun = true;
	r->in_tokens = si_mind_size(r->mind ? r->mind : rt->mind) / TEXT_TOKEN + 1;
	rt_id(rt, "item", r->item);
	rt_id(rt, "call", r->call);
	if (r->acts.fail) {
		si_plan(rt->link, &(struct si_plan){.out = SI_OUT_CALL,
						    .tag = r->tag,
						    .after_ms = r->acts.delay_ms,
						    .h = on_fail,
						    .arg = r});
		return;
	}
	answer_choose(r);
	if (r->tool)
		call_emit(r);
	else if (r->audio)
		r->sound = si_sound_speak(rt->st, r->text, rt_rate(rt, false), on_sound, r);
	else
		text_emit(r);
}

void rt_responses_begin(struct rt *rt)
{
	struct rt_response *next;

	for (struct rt_response *r = rt->responses; r; r = next) {
		next = r->next;
		if (!r->begun && !r->acts.silent && (!rt->hearings || r->mind))
			response_begin(r);
	}
}

/* input: of the answer alone. */
static bool input_learn(struct rt *rt, struct rt_response *r, const json_t *input)
{
	r->mind = si_mind_new();
	for (size_t i = 0; i < json_array_size(input); i++) {
		const json_t *item = json_array_get(input, i);
		const char *type = json_string_value(json_object_get(item, "type"));
		const char *id = json_string_value(json_object_get(item, "id"));

		if (strcmp(type, "item_reference") == 0) {
			struct rt_item *it = rt_item_find(rt, id ? id : "");

			if (!it) {
				rt_error(rt, "item_not_found", "response.input",
					 "The item that is referred to does not exist.");
				return false;
			}
			item = it->json;
		} else if (!rt_item_check(rt, item, "response.input")) {
			return false;
		}
		rt_item_learn(r->mind, id, item);
	}
	return true;
}

static bool audio_wanted(const struct rt *rt, const json_t *params)
{
	const char *name = rt->dialect == RT_GA ? "output_modalities" : "modalities";
	const json_t *list = json_object_get(params, name);

	list = list ? list : rt_setting(rt, name);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), "audio") == 0)
			return true;
	return !list;
}

static bool params_take(struct rt *rt, struct rt_response *r, const json_t *params)
{
	const char *conversation = json_string_value(json_object_get(params, "conversation"));
	const char *text = json_string_value(json_object_get(params, "instructions"));
	const json_t *input = json_object_get(params, "input");

	r->conversation = !conversation || strcmp(conversation, "none") != 0;
	r->audio = audio_wanted(rt, params);
	r->metadata = json_incref(json_object_get(params, "metadata"));
	if (text)
		r->instructions = si_copy(text, strlen(text));
	return !input || input_learn(rt, r, input);
}

static struct rt_response *response_new(struct rt *rt)
{
	struct rt_response *r = si_alloc(sizeof *r);

	r->rt = rt;
	r->tag = ++rt->tags;
	r->conversation = r->audio = true;
	rt_id(rt, "resp", r->id);
	r->next = rt->responses;
	rt->responses = r;
	return r;
}

static void response_start(struct rt_response *r)
{
	struct rt *rt = r->rt;

	if (r->acts.silent)
		return;
	rt_emit(rt, "response.created",
		json_pack("{s:o}", "response",
			  response_json(r, "in_progress", NULL, json_array(), NULL)));
	rt_responses_begin(rt);
}

void rt_response_create(struct rt *rt, const json_t *event)
{
	struct rt_response *active = rt_response_active(rt), *r = response_new(rt);

	if (!params_take(rt, r, json_object_get(event, "response"))) {
		response_free(r);
		return;
	}
	if (r->conversation && active) {
		rt_error(rt, "conversation_already_has_active_response", NULL,
			 "Conversation already has an active response in progress: %s. Wait until "
			 "the response is finished before creating a new one.",
			 active->id);
		response_free(r);
		return;
	}
	si_link_fire(rt->link, SI_RESPONSE, &r->acts);
	if (r->acts.error) {
		rt_error_act(rt, r->acts.error);
		response_free(r);
		return;
	}
	response_start(r);
}

void rt_response_force(struct rt *rt, const char *text)
{
	struct rt_response *r;

	if (rt_response_active(rt)) {
		rt_error(rt, "invalid_request", NULL, "There already has an active response.");
		return;
	}
	r = response_new(rt);
	r->text = si_copy(text, strlen(text));
	r->begun = true;
	rt_id(rt, "item", r->item);
	si_link_fire(rt->link, SI_RESPONSE, &r->acts);
	response_start(r);
	r->sound = si_sound_speak(rt->st, text, rt_rate(rt, false), on_sound, r);
}
