/* Responses: the answer's text, its speech and its events. */
#include "control/offline/brain_tools.h"
#include "control/offline/session_inside.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	DELTA = SESSION_RATE * 150 / 1000, /* samples of one audio event */
	LIMIT = 1000000,		   /* tokens a minute that rate_limits.updated speaks of */
};

static void response_drop(struct response *r)
{
	json_decref(r->metadata);
	json_decref(r->max_tokens);
	*r = (struct response){.used = false};
}

void response_free(struct session *s)
{
	for (unsigned i = 0; i < MAX_RESPONSES; i++)
		response_drop(&s->responses[i]);
}

static unsigned words_in(const char *text)
{
	unsigned n = 0;
	bool in = false;

	for (; *text; text++) {
		bool blank = isspace((unsigned char)*text);

		n += !blank && !in;
		in = !blank;
	}
	return n;
}

/* "say exactly: hello" -> "hello". Quotes around the line are not said. */
static void exact_line(char *out, size_t size, const char *instructions)
{
	static const char *const forms[] = {"say exactly this:", "say exactly:", "say exactly"};
	size_t n;

	out[0] = '\0';
	instructions += strspn(instructions, " \t\r\n");
	for (unsigned i = 0; i < 3; i++) {
		n = strlen(forms[i]);
		if (strncasecmp(instructions, forms[i], n) != 0)
			continue;
		instructions += n;
		instructions += strspn(instructions, " \t\r\n\"'");
		n = strlen(instructions);
		while (n && strchr(" \t\r\n\"'", instructions[n - 1]))
			n--;
		snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), instructions);
		return;
	}
}

static json_t *content_json(const struct response *r, const char *words)
{
	if (r->audio)
		return json_pack("[{s:s,s:s}]", "type", "output_audio", "transcript", words);
	return json_pack("[{s:s,s:s}]", "type", "output_text", "text", words);
}

static json_t *item_json(const struct response *r, const char *status, json_t *content)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "id", r->item_id, "object", "realtime.item",
			 "type", "message", "role", "assistant", "status", status, "content",
			 content);
}

static json_t *usage_json(const struct response *r)
{
	unsigned out_audio = (unsigned)(r->out_samples / (SESSION_RATE / 20)),
		 out_text = words_in(r->told);

	return json_pack("{s:i,s:i,s:i,s:{s:i,s:i,s:i,s:i,s:{s:i,s:i,s:i}},s:{s:i,s:i}}",
			 "total_tokens", (int)(r->in_text + r->in_audio + out_text + out_audio),
			 "input_tokens", (int)(r->in_text + r->in_audio), "output_tokens",
			 (int)(out_text + out_audio), "input_token_details", "text_tokens",
			 (int)r->in_text, "audio_tokens", (int)r->in_audio, "image_tokens", 0,
			 "cached_tokens", 0, "cached_tokens_details", "text_tokens", 0,
			 "audio_tokens", 0, "image_tokens", 0, "output_token_details",
			 "text_tokens", (int)out_text, "audio_tokens", (int)out_audio);
}

/* details, output and usage are stolen. */
static json_t *response_json(const struct session *s, const struct response *r, const char *status,
			     json_t *details, json_t *output, json_t *usage)
{
	return json_pack("{s:s,s:s,s:s,s:o,s:o,s:s?,s:[s],s:O,s:O?,s:{s:{s:{s:s,s:i},s:s}},s:o}",
			 "id", r->id, "object", "realtime.response", "status", status,
			 "status_details", details, "output", output, "conversation_id",
			 r->in_conversation ? s->conversation : NULL, "output_modalities",
			 r->audio ? "audio" : "text", "max_output_tokens", r->max_tokens,
			 "metadata", r->metadata, "audio", "output", "format", "type", "audio/pcm",
			 "rate", SESSION_RATE, "voice", r->voice, "usage", usage);
}

/* An event about the one content part a response has. */
static void part_event(struct session *s, const struct response *r, const char *type,
		       const char *key, json_t *value)
{
	json_t *e = json_pack("{s:s,s:s,s:i,s:i}", "response_id", r->id, "item_id", r->item_id,
			      "output_index", 0, "content_index", 0);

	if (key && e && (!value || json_object_set(e, key, value))) {
		json_decref(e);
		e = NULL;
	}
	json_decref(value);
	session_emit(s, type, e);
}

static json_t *part_json(const struct response *r, const char *words)
{
	return r->audio ? json_pack("{s:s,s:s}", "type", "audio", "transcript", words)
			: json_pack("{s:s,s:s}", "type", "text", "text", words);
}

static void tell_words(struct session *s, struct response *r, const char *piece)
{
	size_t k = strlen(r->told);

	if (!*piece)
		return;
	snprintf(r->told + k, sizeof r->told - k, "%s", piece);
	part_event(s, r,
		   r->audio ? "response.output_audio_transcript.delta"
			    : "response.output_text.delta",
		   "delta", json_string(piece));
}

static void begin_output(struct session *s, struct response *r)
{
	r->begun = true;
	session_id(s, "item", r->item_id);
	session_emit(s, "response.output_item.added",
		     json_pack("{s:s,s:i,s:o}", "response_id", r->id, "output_index", 0, "item",
			       item_json(r, "in_progress", json_array())));
	if (r->in_conversation)
		items_append(s, r->item_id, item_json(r, "in_progress", json_array()));
	part_event(s, r, "response.content_part.added", "part", part_json(r, ""));
}

/* The item as it ends, in the conversation too. */
static void end_item(struct session *s, struct response *r, const char *status)
{
	struct item *it = r->in_conversation ? items_find(s, r->item_id) : NULL;
	json_t *item = item_json(r, status, content_json(r, r->told));

	session_emit(
		s, "response.output_item.done",
		json_pack("{s:s,s:i,s:O?}", "response_id", r->id, "output_index", 0, "item", item));
	if (it && item) {
		json_decref(it->json);
		it->json = json_incref(item);
		it->audio = r->audio;
		it->audio_ms = (unsigned)(r->out_samples / (SESSION_RATE / 1000));
		if (item_set_text(it, r->told))
			s->err = ENOMEM;
		items_done(s, it);
	}
	json_decref(item);
}

/* Steals details and output. */
static void end_response(struct session *s, struct response *r, const char *status, json_t *details,
			 json_t *output)
{
	session_emit(s, "response.done",
		     json_pack("{s:o}", "response",
			       response_json(s, r, status, details, output, usage_json(r))));
	session_emit(s, "rate_limits.updated",
		     json_pack("{s:[{s:s,s:i,s:i,s:f}]}", "rate_limits", "name", "tokens", "limit",
			       LIMIT, "remaining", LIMIT, "reset_seconds", 0.0));
	response_drop(r);
}

static void finish(struct session *s, struct response *r, const char *status, json_t *details)
{
	const char *item_status = strcmp(status, "completed") == 0 ? "completed" : "incomplete";
	json_t *output = json_array();

	if (r->begun) {
		if (r->audio) {
			part_event(s, r, "response.output_audio.done", NULL, NULL);
			part_event(s, r, "response.output_audio_transcript.done", "transcript",
				   json_string(r->told));
		} else {
			part_event(s, r, "response.output_text.done", "text", json_string(r->told));
		}
		part_event(s, r, "response.content_part.done", "part", part_json(r, r->told));
		end_item(s, r, item_status);
		json_array_append_new(output, item_json(r, item_status, content_json(r, r->told)));
	}
	end_response(s, r, status, details, output);
}

static void speak(struct session *s, struct response *r)
{
	const char *voice = config_voice(r->voice);

	begin_output(s, r);
	if (!r->audio) {
		tell_words(s, r, r->line);
		finish(s, r, "completed", json_null());
		return;
	}
	s->spoke = true;
	r->speech = ++s->next_speech;
	s->conf.out.say(r->speech, r->line, voice ? voice : "slt", r->speed, s->conf.out.arg);
}

/* A key of the client's own is left alone. */
static void note_intent(struct session *s, struct response *r)
{
	if (!r->metadata)
		r->metadata = json_object();
	if (!json_object_get(r->metadata, "intent") &&
	    json_object_set_new(r->metadata, "intent", json_string(intent_name(r->intent))))
		s->err = ENOMEM;
}

/* ---- tools ---- */

static bool has_tool(const char *name, void *arg)
{
	const struct session *s = arg;
	const json_t *tools = config_get(s, "tools", NULL, NULL), *tool;
	size_t i;

	json_array_foreach(tools, i, tool)
	{
		const char *has = json_string_value(json_object_get(tool, "name"));

		if (has && strcmp(has, name) == 0)
			return true;
	}
	return false;
}

static json_t *call_json(const struct response *r, const struct brain_call *call,
			 const char *status, bool arguments)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "id", r->item_id, "object",
			 "realtime.item", "type", "function_call", "status", status, "name",
			 call->tool, "call_id", r->call, "arguments",
			 arguments ? call->arguments : "");
}

static json_t *call_event(const struct response *r, const char *key, const char *text)
{
	return json_pack("{s:s,s:s,s:i,s:s,s:s}", "response_id", r->id, "item_id", r->item_id,
			 "output_index", 0, "call_id", r->call, key, text);
}

static void emit_item_event(struct session *s, const struct response *r, const char *type,
			    json_t *item)
{
	session_emit(
		s, type,
		json_pack("{s:s,s:i,s:o}", "response_id", r->id, "output_index", 0, "item", item));
}

/* The answer is a call of a tool. */
static void emit_call(struct session *s, struct response *r, const struct brain_call *call)
{
	json_t *done;

	session_id(s, "item", r->item_id);
	session_id(s, "call", r->call);
	emit_item_event(s, r, "response.output_item.added",
			call_json(r, call, "in_progress", false));
	items_append(s, r->item_id, call_json(r, call, "completed", true));
	session_emit(s, "response.function_call_arguments.delta",
		     call_event(r, "delta", call->arguments));
	done = call_event(r, "arguments", call->arguments);
	if (done)
		json_object_set_new(done, "name", json_string(call->tool));
	session_emit(s, "response.function_call_arguments.done", done);
	emit_item_event(s, r, "response.output_item.done", call_json(r, call, "completed", true));
	end_response(s, r, "completed", json_null(),
		     json_pack("[o]", call_json(r, call, "completed", true)));
}

/* Tools are those that the client has offered. */
static bool call_tool(struct session *s, struct response *r, const char *asked)
{
	struct brain_call call;

	if (!r->in_conversation || r->own_input ||
	    !brain_wants_tool(s->brain, asked, has_tool, s, &call))
		return false;
	emit_call(s, r, &call);
	return true;
}

/* The newest output of a tool after this item. NULL: there is none. */
static const json_t *newest_output(const struct session *s, const struct item *after)
{
	for (unsigned i = s->n_items; i-- > 0 && &s->items[i] != after;) {
		const json_t *item = s->items[i].json;
		const char *type = json_string_value(json_object_get(item, "type"));

		if (type && strcmp(type, "function_call_output") == 0)
			return item;
	}
	return NULL;
}

/* The item of a call of a tool. NULL: it has gone. */
static const json_t *find_call(const struct session *s, const char *call)
{
	for (unsigned i = s->n_items; i-- > 0;) {
		const json_t *item = s->items[i].json;
		const char *name = json_string_value(json_object_get(item, "name"));
		const char *id = json_string_value(json_object_get(item, "call_id"));

		if (name && id && strcmp(id, call) == 0)
			return item;
	}
	return NULL;
}

static const char *text_at(const json_t *item, const char *key)
{
	const char *text = json_string_value(json_object_get(item, key));

	return text ? text : "";
}

/* Items from the refusal of a call to the yes: the question, and words of others. */
enum { YES_ITEMS = 8 };

/* The speaker agrees to the newest call, which was refused until they do: it is made again. */
static bool call_again(struct session *s, struct response *r, const char *words)
{
	const struct item *after =
		s->n_items > YES_ITEMS ? &s->items[s->n_items - YES_ITEMS] : NULL;
	const json_t *output = newest_output(s, after);
	const json_t *item = find_call(s, text_at(output, "call_id"));
	struct brain_call call;

	if (!item || !r->in_conversation || r->own_input || !brain_hears_yes(s->brain, words) ||
	    !brain_asks(text_at(output, "output")))
		return false;
	snprintf(call.tool, sizeof call.tool, "%s", text_at(item, "name"));
	snprintf(call.arguments, sizeof call.arguments, "%s", text_at(item, "arguments"));
	emit_call(s, r, &call);
	return true;
}

static bool tell_output(struct session *s, struct response *r, const struct item *question)
{
	const json_t *output = r->own_input ? NULL : newest_output(s, question);
	const char *call = json_string_value(json_object_get(output, "call_id"));
	const char *text = json_string_value(json_object_get(output, "output"));
	const json_t *item;

	if (!call || !text)
		return false;
	item = find_call(s, call);
	brain_say_output(text_at(item, "name"), text_at(item, "arguments"), text, r->line,
			 sizeof r->line);
	brain_said(s->brain, r->line);
	speak(s, r);
	return true;
}

static void answer(struct session *s, struct response *r)
{
	const struct item *it = r->own_input ? NULL : items_last_of(s, "user");
	const char *text = r->own_input ? r->question : it && it->text ? it->text : "";
	char asked[LINE_SIZE + SPEAKER_SIZE + 8];
	struct brain_moment now = {.local = s->now->local,
				   .random = s->now->random,
				   .room = r->own_room ? &r->room : &s->room};

	r->waits_for = 0;
	r->intent = INTENT_NONE;
	if (r->exact[0]) {
		snprintf(r->line, sizeof r->line, "%s", r->exact);
		speak(s, r);
		return;
	}
	/* A response without a question says hello. */
	if (!it && !r->own_input)
		text = "hello";
	if (it && it->speaker)
		snprintf(asked, sizeof asked, "[%s]: %s", it->speaker, text);
	else
		snprintf(asked, sizeof asked, "%s", text);
	r->in_text += it && it->audio ? 0 : words_in(text);
	r->in_audio += it && it->audio ? it->audio_ms / 100 : 0;
	if (tell_output(s, r, it) || call_again(s, r, text) || call_tool(s, r, asked))
		return;
	if (brain_answer(s->brain, asked, &now, r->line, sizeof r->line, &r->intent)) {
		s->err = ENOMEM;
		return;
	}
	note_intent(s, r);
	speak(s, r);
}

/* Input of its own: its last user message is the question, its system messages count as
 * instructions. */
static bool own_input(struct session *s, struct response *r, const json_t *input)
{
	const json_t *item;
	size_t i;

	json_array_foreach(input, i, item)
	{
		const char *type = json_string_value(json_object_get(item, "type"));
		const char *role = json_string_value(json_object_get(item, "role"));
		const struct item *it = NULL;
		bool audio = false;
		char *text;

		if (type && strcmp(type, "item_reference") == 0) {
			it = items_find(s, json_string_value(json_object_get(item, "id")));
			if (!it) {
				session_error(s, "item_not_found", "response.input",
					      "There is no such item.");
				return false;
			}
		}
		text = it ? strdup(it->text ? it->text : "") : item_text_of(item, &audio);
		if (!text) {
			s->err = ENOMEM;
			return false;
		}
		role = it ? it->role : role;
		if (role && strcmp(role, "user") == 0)
			snprintf(r->question, sizeof r->question, "%s", text);
		else if (role && strcmp(role, "system") == 0)
			r->own_room |= brain_room_parse(&r->room, text);
		free(text);
	}
	r->own_input = true;
	return true;
}

/* Applies parameters that hold for this response only. */
static bool overrides(struct session *s, struct response *r, json_t *p)
{
	const char *instructions = json_string_value(json_object_get(p, "instructions"));
	const char *modality =
		json_string_value(json_array_get(json_object_get(p, "output_modalities"), 0));
	json_t *output = json_object_get(json_object_get(p, "audio"), "output");
	json_t *voice = json_object_get(output, "voice"), *meta = json_object_get(p, "metadata");
	const char *name =
		json_string_value(json_is_object(voice) ? json_object_get(voice, "id") : voice);
	json_t *max = json_object_get(p, "max_output_tokens"), *input = json_object_get(p, "input");

	if (modality)
		r->audio = strcmp(modality, "text") != 0;
	if (voice && !config_voice(name)) {
		session_error(s, "invalid_value", "response.audio.output.voice",
			      "There is no voice '%.40s' here.", name ? name : "");
		return false;
	}
	if (name)
		snprintf(r->voice, sizeof r->voice, "%s", name);
	if (json_is_object(meta))
		r->metadata = json_deep_copy(meta);
	if (max && !json_is_null(max)) {
		json_decref(r->max_tokens);
		r->max_tokens = json_incref(max);
	}
	if (instructions) {
		exact_line(r->exact, sizeof r->exact, instructions);
		r->own_room = brain_room_parse(&r->room, instructions);
	}
	return !json_is_array(input) || own_input(s, r, input);
}

static struct response *active(struct session *s)
{
	for (unsigned i = 0; i < MAX_RESPONSES; i++)
		if (s->responses[i].used && s->responses[i].in_conversation)
			return &s->responses[i];
	return NULL;
}

static struct response *reserve(struct session *s, bool in_conversation)
{
	struct response *r = active(s);

	if (in_conversation && r) {
		session_error(s, "conversation_already_has_active_response", NULL,
			      "Conversation already has an active response in progress: %s. Wait "
			      "until the response is "
			      "finished before creating a new one.",
			      r->id);
		return NULL;
	}
	for (unsigned i = 0; i < MAX_RESPONSES; i++)
		if (!s->responses[i].used)
			return &s->responses[i];
	session_error(s, "rate_limit_exceeded", NULL, "There are %d responses already.",
		      MAX_RESPONSES);
	return NULL;
}

void response_create(struct session *s, json_t *p)
{
	const char *where = json_string_value(json_object_get(p, "conversation"));
	bool in_conversation = !where || strcmp(where, "none") != 0;
	struct response *r = reserve(s, in_conversation);
	json_t *voice = config_get(s, "audio", "output", "voice");
	const char *name =
		json_string_value(json_is_object(voice) ? json_object_get(voice, "id") : voice);
	const struct item *it;

	if (!r)
		return;
	r->used = true;
	r->in_conversation = in_conversation;
	r->audio = config_audio_out(s);
	r->speed = json_number_value(config_get(s, "audio", "output", "speed"));
	r->max_tokens = json_incref(config_get(s, "max_output_tokens", NULL, NULL));
	snprintf(r->voice, sizeof r->voice, "%s", name ? name : "slt");
	session_id(s, "resp", r->id);
	if (!overrides(s, r, p)) {
		response_drop(r);
		return;
	}
	session_emit(s, "response.created",
		     json_pack("{s:o}", "response",
			       response_json(s, r, "in_progress", json_null(), json_array(),
					     json_null())));
	it = r->own_input || r->exact[0] ? NULL : items_last_of(s, "user");
	r->waits_for = it ? it->utterance : 0;
	if (!r->waits_for)
		answer(s, r);
}

static void cancel(struct session *s, struct response *r, const char *reason)
{
	if (r->speech)
		s->conf.out.say_stop(r->speech, s->conf.out.arg);
	finish(s, r, "cancelled", json_pack("{s:s,s:s}", "type", "cancelled", "reason", reason));
}

void response_cancel(struct session *s, const char *id)
{
	struct response *r = id ? NULL : active(s);

	for (unsigned i = 0; id && i < MAX_RESPONSES; i++)
		if (s->responses[i].used && strcmp(s->responses[i].id, id) == 0)
			r = &s->responses[i];
	if (r)
		cancel(s, r, "client_cancelled");
	else
		session_error(s, "response_cancel_not_active", NULL,
			      "Cancellation failed: no active response found");
}

void response_interrupt(struct session *s)
{
	struct response *r = active(s);

	if (r)
		cancel(s, r, "turn_detected");
}

void response_recognised(struct session *s, uint32_t utterance)
{
	for (unsigned i = 0; i < MAX_RESPONSES; i++)
		if (s->responses[i].used && s->responses[i].waits_for == utterance)
			answer(s, &s->responses[i]);
}

static void audio_delta(struct session *s, struct response *r, const int16_t *pcm, size_t n)
{
	char text[(size_t)DELTA * 2 / 3 * 4 + 16];

	sodium_bin2base64(text, sizeof text, (const unsigned char *)pcm, n * sizeof *pcm,
			  sodium_base64_VARIANT_ORIGINAL);
	part_event(s, r, "response.output_audio.delta", "delta", json_string(text));
	r->out_samples += n;
}

void response_take_speech(struct session *s, uint32_t speech, const int16_t *pcm, size_t n,
			  const char *piece, bool last)
{
	struct response *r = NULL;

	for (unsigned i = 0; i < MAX_RESPONSES; i++)
		if (s->responses[i].used && s->responses[i].speech == speech)
			r = &s->responses[i];
	/* It was cancelled meanwhile. */
	if (!r || !speech)
		return;
	tell_words(s, r, piece);
	for (size_t i = 0; i < n; i += DELTA)
		audio_delta(s, r, pcm + i, n - i < DELTA ? n - i : DELTA);
	if (last)
		finish(s, r, "completed", json_null());
}
