/* ElevenLabs, text to speech over a WebSocket: stream-input and multi-stream-input. Source: the
 * documentation at elevenlabs.io and the serializers of the official client. */
#include "tests/standins/link.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ID = 64,
	MAX_CONTEXTS = 5,
	TEXT_MAX = 65536,
	CHUNK_MS = 100,
	SCHEDULE = 120, /* characters that begin a generation */
	IDLE_S = 20,
	IDLE_TAG = 1,
	POLICY = 1008,
};

struct context {
	struct context *next;
	struct speech *owner;
	char id[ID];
	char *text; /* not spoken yet */
	char *saying;
	struct si_sound *sound;
	struct si_acts acts;
	uint32_t tag, at_ms; /* at_ms: where in its plan the next sound goes */
	bool closing, begun;
};

struct speech {
	struct si_standin *st;
	struct si_link *link;
	struct context *contexts;
	bool multi, keyed, closing, automatic;
	uint32_t rate, idle_s, tags;
};

/* init, text, keepalive, end */
static const struct si_shape shape_single[] = {
	{"text", "!str"},
	{"voice_settings", "obj null"},
	{"voice_settings.stability", "num:0..1"},
	{"voice_settings.similarity_boost", "num:0..1"},
	{"voice_settings.style", "num:0..1"},
	{"voice_settings.use_speaker_boost", "bool"},
	{"voice_settings.speed", "num:0.7..1.2"},
	{"generation_config", "obj null"},
	{"generation_config.chunk_length_schedule", "arr"},
	{"generation_config.chunk_length_schedule[]", "num:50..500"},
	{"pronunciation_dictionary_locators", "any"},
	{"xi-api-key", "str"},
	{"authorization", "str"},
	{"try_trigger_generation", "bool"},
	{"flush", "bool"},
	{NULL, NULL},
};

static const struct si_shape shape_multi[] = {
	{"text", "str"},
	{"context_id", "str null"},
	{"voice_settings", "obj null"},
	{"voice_settings.stability", "num:0..1"},
	{"voice_settings.similarity_boost", "num:0..1"},
	{"voice_settings.style", "num:0..1"},
	{"voice_settings.use_speaker_boost", "bool"},
	{"voice_settings.speed", "num:0.7..1.2"},
	{"generation_config", "obj null"},
	{"generation_config.chunk_length_schedule", "arr"},
	{"generation_config.chunk_length_schedule[]", "num:50..500"},
	{"pronunciation_dictionary_locators", "any"},
	{"xi-api-key", "str"},
	{"authorization", "str"},
	{"flush", "bool"},
	{"close_context", "bool"},
	{"close_socket", "bool"},
	{NULL, NULL},
};

/* ---- out ---- */

static void speech_refuse(struct speech *s, const char *code, const char *text)
{
	si_plan_json(s->link, &(struct si_plan){.out = SI_OUT_TEXT},
		     json_pack("{s:s, s:s, s:i}", "message", text, "error", code, "code", POLICY));
	si_plan(s->link,
		&(struct si_plan){
			.out = SI_OUT_CLOSE, .code = POLICY, .data = text, .n = strlen(text)});
	s->closing = true;
}

/* Characters over the time of their sound, which begins anew with each message. */
static json_t *alignment(const char *text, size_t n, uint32_t ms)
{
	json_t *chars = json_array(), *starts = json_array(), *lengths = json_array();

	for (size_t i = 0; i < n; i++) {
		json_array_append_new(chars, json_stringn(text + i, 1));
		json_array_append_new(starts, json_integer((json_int_t)(ms * i / n)));
		json_array_append_new(lengths, json_integer((json_int_t)(ms / n)));
	}
	return json_pack("{s:o, s:o, s:o}", "chars", chars, "charStartTimesMs", starts,
			 "charDurationsMs", lengths);
}

static void message_plan(struct context *c, bool piece, json_t *message)
{
	if (c->owner->multi)
		json_object_set_new(message, "contextId", json_string(c->id));
	si_plan_json(
		c->owner->link,
		&(struct si_plan){
			.out = SI_OUT_TEXT, .tag = c->tag, .after_ms = c->at_ms, .piece = piece},
		message);
}

/* ---- contexts ---- */

static void context_free(struct context *c)
{
	for (struct context **at = &c->owner->contexts; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	si_sound_cancel(c->sound);
	free(c->saying);
	free(c->text);
	free(c);
}

static void on_final(void *arg)
{
	struct context *c = arg;
	struct speech *s = c->owner;

	c->at_ms = 0;
	message_plan(c, false, json_pack("{s:b, s:n}", "isFinal", 1, "audio"));
	if (!s->multi || (s->closing && !c->next && s->contexts == c))
		si_plan(s->link, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1000});
	context_free(c);
}

/* Ends a context after what is planned for it. */
static void context_end(struct context *c)
{
	si_plan(c->owner->link, &(struct si_plan){.out = SI_OUT_CALL,
						  .tag = c->tag,
						  .after_ms = c->at_ms,
						  .h = on_final,
						  .arg = c});
}

static void context_speak(struct context *c);

static void on_sound(const int16_t *pcm, size_t n, void *arg)
{
	struct context *c = arg;
	size_t chunk = c->owner->rate * CHUNK_MS / 1000, pieces = (n + chunk - 1) / chunk;
	size_t length = strlen(c->saying), at = 0;

	c->sound = NULL;
	for (size_t i = 0; i < pieces; i++) {
		size_t m = n - i * chunk < chunk ? n - i * chunk : chunk;
		size_t end = length * (i + 1) / pieces;
		char *audio = si_base64(pcm + i * chunk, m * 2);

		message_plan(c, true,
			     json_pack("{s:s, s:n, s:o, s:o}", "audio", audio, "isFinal",
				       "alignment", alignment(c->saying + at, end - at, CHUNK_MS),
				       "normalizedAlignment",
				       alignment(c->saying + at, end - at, CHUNK_MS)));
		c->at_ms += c->acts.gap_ms;
		at = end;
		free(audio);
	}
	free(c->saying);
	c->saying = NULL;
	if (c->text[strspn(c->text, " ")] && (c->closing || strlen(c->text) >= SCHEDULE))
		context_speak(c);
	else if (c->closing)
		context_end(c);
}

/* Speaks what is there. */
static void context_speak(struct context *c)
{
	if (c->sound || !c->text[strspn(c->text, " ")])
		return;
	if (!c->begun) {
		si_link_fire(c->owner->link, SI_RESPONSE, &c->acts);
		c->begun = true;
		c->at_ms = c->acts.delay_ms;
		if (c->acts.error) {
			speech_refuse(c->owner, c->acts.error->word, c->acts.error->text);
			return;
		}
	}
	if (c->acts.silent)
		return;
	c->saying = c->text;
	c->text = si_copy("", 0);
	c->sound = si_sound_speak(c->owner->st, c->saying, c->owner->rate, on_sound, c);
}

static void context_close(struct context *c)
{
	c->closing = true;
	context_speak(c);
	if (!c->sound && !c->acts.silent)
		context_end(c);
}

/* Stops at once: what is not sent yet is not sent. */
static void context_cut(struct context *c)
{
	struct si_acts acts;

	si_link_fire(c->owner->link, SI_CANCEL, &acts);
	si_plan_drop(c->owner->link, c->tag, acts.late ? acts.late : c->acts.late);
	c->at_ms = 0;
	on_final(c);
}

static struct context *context_find(struct speech *s, const char *id)
{
	for (struct context *c = s->contexts; c; c = c->next)
		if (strcmp(c->id, id) == 0)
			return c;
	return NULL;
}

/* NULL: there are too many, and the socket was closed. */
static struct context *context_open(struct speech *s, const char *id)
{
	struct context *c;
	unsigned n = 0;

	for (c = s->contexts; c; c = c->next)
		n++;
	if (n == MAX_CONTEXTS) {
		speech_refuse(s, "max_active_conversations",
			      "Maximum simultaneous contexts exceeded (5). Please close existing "
			      "contexts before creating new ones.");
		return NULL;
	}
	c = si_alloc(sizeof *c);
	c->owner = s;
	snprintf(c->id, sizeof c->id, "%s", id);
	c->text = si_copy("", 0);
	c->tag = IDLE_TAG + ++s->tags;
	c->next = s->contexts;
	s->contexts = c;
	return c;
}

static void context_write(struct context *c, const char *text, bool flush)
{
	size_t had = strlen(c->text), n = strlen(text);
	char *grown;

	if (had + n > TEXT_MAX) {
		speech_refuse(c->owner, "invalid_input_message", "The text is too long.");
		return;
	}
	grown = si_alloc(had + n + 1);
	memcpy(grown, c->text, had);
	memcpy(grown + had, text, n + 1);
	free(c->text);
	c->text = grown;
	if (flush || had + n >= SCHEDULE ||
	    (c->owner->automatic && n && strchr(".!?", grown[had + n - 1 - (text[n - 1] == ' ')])))
		context_speak(c);
}

/* ---- in ---- */

static void on_idle(void *arg)
{
	struct speech *s = arg;
	char text[128];

	snprintf(text, sizeof text,
		 "Have not received a new text input within the timeout of %u seconds. Streaming "
		 "input terminated.",
		 s->idle_s);
	speech_refuse(s, "input_timeout_exceeded", text);
}

static void idle_restart(struct speech *s)
{
	si_plan_drop(s->link, IDLE_TAG, 0);
	si_plan(s->link, &(struct si_plan){.out = SI_OUT_CALL,
					   .tag = IDLE_TAG,
					   .after_ms = s->idle_s * 1000,
					   .h = on_idle,
					   .arg = s});
}

static const char *member(const json_t *m, const char *name)
{
	const char *text = json_string_value(json_object_get(m, name));

	return text ? text : "";
}

static void single_take(struct speech *s, const json_t *m)
{
	const char *text = member(m, "text");
	struct context *c = s->contexts;

	if (!c) {
		if (strcmp(text, " ") != 0) {
			speech_refuse(s, "invalid_input_message",
				      "The first message must have the text \" \".");
			return;
		}
		context_open(s, "");
		return;
	}
	if (json_object_get(m, "voice_settings") || json_object_get(m, "generation_config")) {
		speech_refuse(s, "invalid_input_message",
			      "Settings can only be given in the first message.");
		return;
	}
	if (!*text) {
		s->closing = true;
		context_close(c);
		return;
	}
	context_write(c, text,
		      json_is_true(json_object_get(m, "flush")) ||
			      json_is_true(json_object_get(m, "try_trigger_generation")));
}

static void multi_take(struct speech *s, const json_t *m)
{
	const char *id = member(m, "context_id");
	struct context *c = context_find(s, id), *next;

	if (json_is_true(json_object_get(m, "close_socket"))) {
		s->closing = true;
		if (!s->contexts)
			si_plan(s->link, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1000});
		for (c = s->contexts; c; c = next) {
			next = c->next;
			context_close(c);
		}
		return;
	}
	if (json_is_true(json_object_get(m, "close_context"))) {
		if (c)
			context_cut(c);
		else
			speech_refuse(s, "invalid_input_message",
				      "The context is closed, or was never opened.");
		return;
	}
	if (!json_object_get(m, "text") && !json_object_get(m, "flush")) {
		speech_refuse(s, "invalid_input_message", "The message says nothing.");
		return;
	}
	if (!c && !(c = context_open(s, id)))
		return;
	context_write(c, member(m, "text"), json_is_true(json_object_get(m, "flush")));
}

static bool key_given(struct speech *s, const json_t *m)
{
	const char *key = member(m, "xi-api-key");

	if (!s->keyed && s->st->key && strcmp(key, s->st->key) == 0)
		s->keyed = true;
	if (!s->keyed)
		speech_refuse(s, "authentication_required", "The API key is missing or wrong.");
	return s->keyed;
}

static void speech_message(void *session, bool text, const char *data, size_t n)
{
	struct speech *s = session;
	json_t *m = text ? json_loadb(data, n, 0, NULL) : NULL;
	struct si_fault f;
	char why[256];

	if (s->closing) {
		json_decref(m);
		return;
	}
	idle_restart(s);
	if (!json_is_object(m)) {
		speech_refuse(s, "invalid_input_message", "The message is no JSON object.");
	} else if (!si_shape_check(s->multi ? shape_multi : shape_single, m, &f)) {
		snprintf(why, sizeof why, "The field %s is unknown, missing or wrong.", f.path);
		speech_refuse(s, "invalid_input_message", why);
	} else if (key_given(s, m)) {
		if (s->multi)
			multi_take(s, m);
		else
			single_take(s, m);
	}
	json_decref(m);
}

static void speech_act(void *session, const struct si_act *act)
{
	struct speech *s = session;

	if (act->action == SI_DO_ERROR)
		speech_refuse(s, act->word, act->text);
	else
		on_idle(s);
}

static void speech_free(void *session)
{
	struct speech *s = session;

	while (s->contexts)
		context_free(s->contexts);
	free(s);
}

static const struct si_session_ops speech_ops = {
	.message = speech_message, .act = speech_act, .free = speech_free};

static bool speech_open(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	const char *path = head->path, *last = strrchr(path, '/');
	char value[64];
	struct speech *s;
	bool multi = strcmp(last, "/multi-stream-input") == 0;

	if (strncmp(path, "/v1/text-to-speech/", 19) != 0 ||
	    (!multi && strcmp(last, "/stream-input") != 0))
		return false;
	s = si_alloc(sizeof *s);
	s->st = si_link_standin(l);
	s->link = l;
	s->multi = multi;
	s->keyed = si_link_key(l, "xi-api-key", "authorization");
	s->idle_s = http_head_query(head, "inactivity_timeout", value, sizeof value)
			    ? (uint32_t)strtoul(value, NULL, 10)
			    : IDLE_S;
	s->automatic = http_head_query(head, "auto_mode", value, sizeof value) &&
		       strcmp(value, "true") == 0;
	si_link_take(l, &speech_ops, s);
	s->rate = http_head_query(head, "output_format", value, sizeof value) &&
				  strncmp(value, "pcm_", 4) == 0
			  ? (uint32_t)strtoul(value + 4, NULL, 10)
			  : 0;
	if (s->rate < 8000 || s->rate > 48000)
		speech_refuse(s, "unsupported_output_format", "Only PCM is made here.");
	else if (s->idle_s < 1 || s->idle_s > 180)
		speech_refuse(s, "invalid_input_message",
			      "The inactivity timeout is from 1 to 180 seconds.");
	else
		idle_restart(s);
	si_link_opened(l);
	return true;
}

const struct si_service si_eleven_speech = {.open = speech_open};
