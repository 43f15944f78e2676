/* Gemini Live (BidiGenerateContent). Source: ai.google.dev, and what the official client sends. */
#include "tests/standins/mind.h"
#include "tests/standins/picture.h"
#include "tests/standins/record.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"
#include "tests/standins/vad.h"

#include "tests/standins/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RATE_IN = 16000,
	RATE_OUT = 24000,
	CHUNK_MS = 100,
	SILENCE_MS = 500,
	MAX_SAVED = 16,
	ID = 32,
	TEXT_TOKEN = 4,
};

struct live {
	struct si_standin *st;
	struct si_link *link;
	struct si_mind *mind;
	json_t *setup;
	bool manual, interruptible, active, audio, tell_in, tell_out, resumable;
	uint32_t turns, calls, tag, rate; /* rate: of the sound that comes */
	/* the sound of the present activity */
	int16_t *pcm;
	size_t n_pcm, cap_pcm, heard;
	struct si_vad vad;
	struct si_sound *hearing, *speaking;
	/* the present answer */
	bool generating;
	struct si_acts acts;
	struct si_answer answer;
	size_t pieces;
	char call[ID]; /* waits for its response, "" without one */
};

/* What a handle of a session that ended brings back. */
static struct saved {
	char handle[ID];
	struct si_mind *mind;
} saved[MAX_SAVED];
static unsigned n_saved;

/* Every message of a client has one of four members. */
#define PARTS(at)                                                                                  \
	{at, "arr"}, {at "[]", "obj"}, {at "[].text", "str"}, {at "[].inlineData", "obj"},         \
		{at "[].inlineData.mimeType", "str"}, {at "[].inlineData.data", "str"},            \
		{at "[].functionCall", "any"},                                                     \
	{                                                                                          \
		at "[].functionResponse", "any"                                                    \
	}
#define BLOB(at)                                                                                   \
	{at, "obj"}, {at ".data", "!str"},                                                         \
	{                                                                                          \
		at ".mimeType", "!str"                                                             \
	}

static const struct si_shape shape_setup[] = {
	{"setup", "!obj"},
	{"setup.model", "!str"},
	{"setup.generationConfig", "obj"},
	{"setup.generationConfig.responseModalities", "arr"},
	{"setup.generationConfig.responseModalities[]", "'AUDIO' 'TEXT'"},
	{"setup.generationConfig.speechConfig", "any"},
	{"setup.generationConfig.temperature", "num"},
	{"setup.generationConfig.topP", "num"},
	{"setup.generationConfig.topK", "num"},
	{"setup.generationConfig.maxOutputTokens", "int"},
	{"setup.generationConfig.mediaResolution", "str"},
	{"setup.generationConfig.thinkingConfig", "any"},
	{"setup.generationConfig.enableAffectiveDialog", "bool"},
	{"setup.systemInstruction", "obj"},
	{"setup.systemInstruction.role", "str"},
	PARTS("setup.systemInstruction.parts"),
	{"setup.tools", "arr"},
	{"setup.tools[]", "any"},
	{"setup.sessionResumption", "obj"},
	{"setup.sessionResumption.handle", "str"},
	{"setup.sessionResumption.transparent", "bool"},
	{"setup.inputAudioTranscription", "any"},
	{"setup.outputAudioTranscription", "any"},
	{"setup.realtimeInputConfig", "obj"},
	{"setup.realtimeInputConfig.automaticActivityDetection", "obj"},
	{"setup.realtimeInputConfig.automaticActivityDetection.disabled", "bool"},
	{"setup.realtimeInputConfig.automaticActivityDetection.startOfSpeechSensitivity",
	 "'START_SENSITIVITY_HIGH' 'START_SENSITIVITY_LOW'"},
	{"setup.realtimeInputConfig.automaticActivityDetection.endOfSpeechSensitivity",
	 "'END_SENSITIVITY_HIGH' 'END_SENSITIVITY_LOW'"},
	{"setup.realtimeInputConfig.automaticActivityDetection.prefixPaddingMs", "int"},
	{"setup.realtimeInputConfig.automaticActivityDetection.silenceDurationMs", "int"},
	{"setup.realtimeInputConfig.activityHandling",
	 "'START_OF_ACTIVITY_INTERRUPTS' 'NO_INTERRUPTION'"},
	{"setup.realtimeInputConfig.turnCoverage",
	 "'TURN_INCLUDES_ONLY_ACTIVITY' 'TURN_INCLUDES_ALL_INPUT' "
	 "'TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO'"},
	{"setup.contextWindowCompression", "obj"},
	{"setup.contextWindowCompression.triggerTokens", "any"},
	{"setup.contextWindowCompression.slidingWindow", "any"},
	{"setup.historyConfig", "any"},
	{"setup.proactivity", "any"},
	{"setup.explicitVadSignal", "bool"},
	{"setup.safetySettings", "any"},
	{NULL, NULL},
};

static const struct si_shape shape_content[] = {
	{"clientContent", "!obj"},
	{"clientContent.turns", "arr"},
	{"clientContent.turns[]", "obj"},
	{"clientContent.turns[].role", "'user' 'model'"},
	PARTS("clientContent.turns[].parts"),
	{"clientContent.turnComplete", "bool"},
	{NULL, NULL},
};

static const struct si_shape shape_input[] = {
	{"realtimeInput", "!obj"},
	BLOB("realtimeInput.audio"),
	BLOB("realtimeInput.video"),
	{"realtimeInput.text", "str"},
	{"realtimeInput.activityStart", "obj"},
	{"realtimeInput.activityEnd", "obj"},
	{"realtimeInput.audioStreamEnd", "bool"},
	{"realtimeInput.mediaChunks", "arr"},
	BLOB("realtimeInput.mediaChunks[]"),
	{NULL, NULL},
};

static const struct si_shape shape_tool[] = {
	{"toolResponse", "!obj"},
	{"toolResponse.functionResponses", "!arr"},
	{"toolResponse.functionResponses[]", "obj"},
	{"toolResponse.functionResponses[].id", "!str"},
	{"toolResponse.functionResponses[].name", "!str"},
	{"toolResponse.functionResponses[].response", "!any"},
	{"toolResponse.functionResponses[].scheduling", "'SILENT' 'WHEN_IDLE' 'INTERRUPT'"},
	{"toolResponse.functionResponses[].willContinue", "bool"},
	{NULL, NULL},
};

/* ---- out ---- */

/* JSON in binary messages, as the service sends it. Steals message. */
static void live_send(struct live *v, uint32_t after_ms, bool piece, json_t *message)
{
	si_plan_json(
		v->link,
		&(struct si_plan){
			.out = SI_OUT_BINARY, .tag = v->tag, .after_ms = after_ms, .piece = piece},
		message);
}

static void live_close(struct live *v, uint16_t code, const char *text)
{
	si_plan(v->link,
		&(struct si_plan){
			.out = SI_OUT_CLOSE, .code = code, .data = text, .n = strlen(text)});
}

static void live_refuse(struct live *v, const char *text, const char *about)
{
	char line[256];

	snprintf(line, sizeof line, "%s%s%s", text, about[0] ? ": " : "", about);
	live_close(v, 1007, line);
}

static bool live_check(struct live *v, const struct si_shape *shape, const json_t *message)
{
	struct si_fault f;

	if (si_shape_check(shape, message, &f))
		return true;
	live_refuse(v,
		    f.kind == SI_FAULT_UNKNOWN	 ? "Invalid JSON payload received. Unknown name"
		    : f.kind == SI_FAULT_MISSING ? "A required field is missing"
						 : "Invalid value",
		    f.path);
	return false;
}

static json_t *usage_json(const struct live *v)
{
	int in = (int)(si_mind_size(v->mind) / TEXT_TOKEN) + 1;
	int out = (int)v->pieces * CHUNK_MS / 40 + 1;

	return json_pack("{s:i, s:i, s:i, s:[{s:s, s:i}], s:[{s:s, s:i}]}", "promptTokenCount", in,
			 "responseTokenCount", out, "totalTokenCount", in + out,
			 "promptTokensDetails", "modality", "TEXT", "tokenCount", in,
			 "responseTokensDetails", "modality", v->audio ? "AUDIO" : "TEXT",
			 "tokenCount", out);
}

/* ---- a turn of the model ---- */

static void answer_end(struct live *v)
{
	si_sound_cancel(v->speaking);
	v->speaking = NULL;
	v->generating = false;
	si_answer_clear(&v->answer);
}

/* A handle that brings back what is known now. */
static void handle_send(struct live *v)
{
	struct saved *s = &saved[n_saved++ % MAX_SAVED];

	if (!v->resumable)
		return;
	si_mind_free(s->mind);
	s->mind = si_mind_copy(v->mind);
	snprintf(s->handle, sizeof s->handle, "handle_%u", n_saved);
	live_send(v, 0, false,
		  json_pack("{s:{s:s, s:b}}", "sessionResumptionUpdate", "newHandle", s->handle,
			    "resumable", 1));
}

static void on_turn_complete(void *arg)
{
	struct live *v = arg;

	si_mind_add(v->mind, "assistant", NULL, v->answer.text);
	answer_end(v);
	handle_send(v);
}

static void turn_finish(struct live *v, uint32_t at_ms)
{
	live_send(v, at_ms, false,
		  json_pack("{s:{s:b}}", "serverContent", "generationComplete", 1));
	live_send(v, at_ms, false,
		  json_pack("{s:{s:b, s:s}, s:o}", "serverContent", "turnComplete", 1,
			    "turnCompleteReason", "TURN_COMPLETE_REASON_UNSPECIFIED",
			    "usageMetadata", usage_json(v)));
	si_plan(v->link, &(struct si_plan){.out = SI_OUT_CALL,
					   .tag = v->tag,
					   .after_ms = at_ms,
					   .h = on_turn_complete,
					   .arg = v});
}

static void piece_send(struct live *v, uint32_t at_ms, const int16_t *pcm, size_t n)
{
	char *data = si_base64(pcm, n * 2);

	live_send(v, at_ms, true,
		  json_pack("{s:{s:{s:s, s:[{s:{s:s, s:s}}]}}}", "serverContent", "modelTurn",
			    "role", "model", "parts", "inlineData", "mimeType",
			    "audio/pcm;rate=24000", "data", data));
	free(data);
}

static void on_sound(const int16_t *pcm, size_t n, void *arg)
{
	struct live *v = arg;
	size_t chunk = RATE_OUT * CHUNK_MS / 1000, length = strlen(v->answer.text), at = 0;

	v->speaking = NULL;
	v->pieces = (n + chunk - 1) / chunk;
	for (size_t i = 0; i < v->pieces; i++) {
		size_t end = length * (i + 1) / v->pieces;
		uint32_t when = v->acts.delay_ms + (uint32_t)i * v->acts.gap_ms;

		piece_send(v, when, pcm + i * chunk, n - i * chunk < chunk ? n - i * chunk : chunk);
		while (end < length && end && v->answer.text[end - 1] != ' ')
			end++;
		if (v->tell_out && end > at)
			live_send(v, when, false,
				  json_pack("{s:{s:{s:s%}}}", "serverContent",
					    "outputTranscription", "text", v->answer.text + at,
					    end - at));
		at = end > at ? end : at;
	}
	turn_finish(v, v->acts.delay_ms + (uint32_t)v->pieces * v->acts.gap_ms);
}

static void text_send(struct live *v)
{
	const char *p = v->answer.text;

	for (v->pieces = 0; *p; v->pieces++) {
		size_t n = strcspn(p + 1, " ") + 1;

		live_send(v, v->acts.delay_ms + (uint32_t)v->pieces * v->acts.gap_ms, true,
			  json_pack("{s:{s:{s:s, s:[{s:s%}]}}}", "serverContent", "modelTurn",
				    "role", "model", "parts", "text", p, n));
		p += n;
	}
	turn_finish(v, v->acts.delay_ms + (uint32_t)v->pieces * v->acts.gap_ms);
}

static void call_send(struct live *v)
{
	json_t *args = json_loads(v->answer.arguments, 0, NULL);

	snprintf(v->call, sizeof v->call, "call_%u_%u", si_link_number(v->link), ++v->calls);
	live_send(v, v->acts.delay_ms, true,
		  json_pack("{s:{s:[{s:s, s:s, s:o}]}}", "toolCall", "functionCalls", "id", v->call,
			    "name", v->answer.call, "args", args ? args : json_object()));
	v->generating = false;
	si_answer_clear(&v->answer);
}

static void answer_choose(struct live *v)
{
	const struct si_act *say = v->acts.say, *call = v->acts.call;

	si_mind_answer(v->mind, v->st->script, NULL, &v->answer);
	if (!say && !call)
		return;
	si_answer_clear(&v->answer);
	v->answer.text = say ? si_copy(say->text, strlen(say->text)) : si_copy("", 0);
	if (call) {
		v->answer.call = si_copy(call->word, strlen(call->word));
		v->answer.arguments = si_copy(call->text, strlen(call->text));
	}
}

static void turn_begin(struct live *v)
{
	si_link_fire(v->link, SI_RESPONSE, &v->acts);
	if (v->acts.error) {
		live_close(v, 1011, v->acts.error->text);
		return;
	}
	v->tag = ++v->turns;
	v->generating = true;
	v->pieces = 0;
	if (v->acts.silent)
		return;
	answer_choose(v);
	if (v->answer.call)
		call_send(v);
	else if (v->audio)
		v->speaking = si_sound_speak(v->st, v->answer.text, RATE_OUT, on_sound, v);
	else
		text_send(v);
}

/* The history keeps what was sent before. */
static void turn_interrupt(struct live *v)
{
	size_t dropped;

	if (v->call[0]) {
		live_send(v, 0, false,
			  json_pack("{s:{s:[s]}}", "toolCallCancellation", "ids", v->call));
		v->call[0] = '\0';
	}
	if (!v->generating)
		return;
	dropped = si_plan_drop(v->link, v->tag, v->acts.late);
	v->tag = ++v->turns;
	if (v->answer.text && v->pieces) {
		size_t n = strlen(v->answer.text) * (v->pieces - dropped) / v->pieces;

		v->answer.text[n] = '\0';
		si_mind_add(v->mind, "assistant", NULL, v->answer.text);
	}
	live_send(v, 0, false, json_pack("{s:{s:b}}", "serverContent", "interrupted", 1));
	live_send(v, 0, false,
		  json_pack("{s:{s:b}, s:o}", "serverContent", "turnComplete", 1, "usageMetadata",
			    usage_json(v)));
	answer_end(v);
}

/* ---- speech ---- */

static void on_words(const char *words, void *arg)
{
	struct live *v = arg;

	v->hearing = NULL;
	if (words) {
		if (v->tell_in)
			live_send(v, 0, false,
				  json_pack("{s:{s:{s:s, s:b}}}", "serverContent",
					    "inputTranscription", "text", words, "finished", 1));
		si_mind_add(v->mind, "user", NULL, words);
	}
	turn_begin(v);
}

static void activity_start(struct live *v)
{
	v->active = true;
	v->n_pcm = v->heard = 0;
	si_sound_cancel(v->hearing);
	v->hearing = NULL;
	if (v->interruptible)
		turn_interrupt(v);
}

static void activity_end(struct live *v)
{
	struct si_acts acts;

	v->active = false;
	si_link_fire(v->link, SI_COMMIT, &acts);
	if (!v->n_pcm || acts.silent)
		return;
	v->hearing = si_sound_hear(v->st, v->pcm, v->n_pcm, v->rate,
				   acts.transcript ? acts.transcript->text : NULL, on_words, v);
	v->n_pcm = v->heard = 0;
}

static void speech_find(struct live *v)
{
	size_t frame = v->rate * SI_VAD_FRAME_MS / 1000;

	while (v->n_pcm - v->heard >= frame) {
		enum si_vad_edge edge = si_vad_frame(&v->vad, v->pcm + v->heard, frame, SILENCE_MS);

		v->heard += frame;
		if (edge == SI_VAD_STARTED && v->interruptible)
			turn_interrupt(v);
		if (edge == SI_VAD_STOPPED)
			activity_end(v);
	}
}

/* The service takes other rates than its own, and converts them. */
static bool rate_take(struct live *v, const char *mime)
{
	unsigned long rate = RATE_IN;

	if (strncmp(mime, "audio/pcm", 9) != 0)
		return false;
	if (strncmp(mime + 9, ";rate=", 6) == 0)
		rate = strtoul(mime + 15, NULL, 10);
	else if (mime[9])
		return false;
	v->rate = (uint32_t)rate;
	return rate >= 8000 && rate <= 48000;
}

static void audio_take(struct live *v, const json_t *blob)
{
	const char *mime = json_string_value(json_object_get(blob, "mimeType"));
	const json_t *data = json_object_get(blob, "data");
	size_t n;
	uint8_t *pcm;

	if (!rate_take(v, mime)) {
		live_refuse(v, "Unsupported audio format", mime);
		return;
	}
	pcm = si_unbase64(json_string_value(data), json_string_length(data), &n);
	if (!pcm || n % 2) {
		live_refuse(v, "Invalid value", "realtimeInput.audio.data");
		free(pcm);
		return;
	}
	si_record_pcm(v->st->record, si_link_number(v->link), pcm, n);
	if (!v->manual || v->active) {
		if (v->n_pcm + n / 2 > v->cap_pcm) {
			v->cap_pcm = (v->n_pcm + n / 2) * 2;
			v->pcm = realloc(v->pcm, v->cap_pcm * 2);
			if (!v->pcm)
				abort();
		}
		memcpy(v->pcm + v->n_pcm, pcm, n);
		v->n_pcm += n / 2;
	}
	free(pcm);
	if (!v->manual)
		speech_find(v);
}

/* ---- the client's messages ---- */

static bool picture_take(struct live *v, const json_t *blob)
{
	const json_t *data = json_object_get(blob, "data");
	char what[SI_PICTURE_MAX];

	if (!si_picture_read(json_string_value(json_object_get(blob, "mimeType")),
			     json_string_value(data), json_string_length(data), what)) {
		live_refuse(v, "Provided image is not valid", "");
		return false;
	}
	si_mind_see(v->mind, NULL, what);
	return true;
}

static void parts_learn(struct live *v, const char *role, const json_t *parts)
{
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);
		const json_t *blob = json_object_get(part, "inlineData");
		const char *text = json_string_value(json_object_get(part, "text"));

		if (blob && !picture_take(v, blob))
			return;
		if (text)
			si_mind_add(v->mind, role, NULL, text);
	}
}

static void content_take(struct live *v, const json_t *content)
{
	const json_t *turns = json_object_get(content, "turns");
	struct si_acts acts;

	for (size_t i = 0; i < json_array_size(turns); i++) {
		const json_t *turn = json_array_get(turns, i);
		const char *role = json_string_value(json_object_get(turn, "role"));

		si_link_fire(v->link, SI_ITEM, &acts);
		parts_learn(v, role && strcmp(role, "model") == 0 ? "assistant" : "user",
			    json_object_get(turn, "parts"));
	}
	if (!json_is_true(json_object_get(content, "turnComplete")))
		return;
	turn_interrupt(v);
	turn_begin(v);
}

static void input_take(struct live *v, const json_t *input)
{
	const json_t *audio = json_object_get(input, "audio"),
		     *video = json_object_get(input, "video"),
		     *chunks = json_object_get(input, "mediaChunks"),
		     *text = json_object_get(input, "text");
	bool edge =
		json_object_get(input, "activityStart") || json_object_get(input, "activityEnd");

	if (edge && !v->manual) {
		live_refuse(v,
			    "Explicit activity control is not supported when automatic activity "
			    "detection is enabled",
			    "");
		return;
	}
	if (json_object_get(input, "activityStart"))
		activity_start(v);
	if (audio)
		audio_take(v, audio);
	for (size_t i = 0; i < json_array_size(chunks); i++)
		audio_take(v, json_array_get(chunks, i));
	if (video && !picture_take(v, video))
		return;
	if (text) {
		si_mind_add(v->mind, "user", NULL, json_string_value(text));
		if (!v->manual) {
			turn_interrupt(v);
			turn_begin(v);
		}
	}
	if (json_object_get(input, "activityEnd") && v->active)
		activity_end(v);
	if (json_is_true(json_object_get(input, "audioStreamEnd")) && !v->manual && v->n_pcm)
		activity_end(v);
}

static void tool_take(struct live *v, const json_t *response)
{
	const json_t *list = json_object_get(response, "functionResponses");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *r = json_array_get(list, i), *value = json_object_get(r, "response");
		const json_t *output = json_object_get(value, "output");
		char *text;

		if (strcmp(json_string_value(json_object_get(r, "id")), v->call) != 0) {
			live_refuse(v, "No call has this id",
				    json_string_value(json_object_get(r, "id")));
			return;
		}
		text = json_is_string(output)
			       ? si_copy(json_string_value(output), json_string_length(output))
			       : json_dumps(value, JSON_COMPACT);
		si_mind_add(v->mind, "tool", NULL, text);
		free(text);
	}
	v->call[0] = '\0';
	turn_begin(v);
}

static void handle_take(struct live *v, const char *handle)
{
	for (unsigned i = 0; handle && i < MAX_SAVED; i++)
		if (saved[i].mind && strcmp(saved[i].handle, handle) == 0) {
			si_mind_free(v->mind);
			v->mind = si_mind_copy(saved[i].mind);
		}
}

static void tools_learn(struct live *v, const json_t *tools)
{
	json_t *all = json_array();

	for (size_t i = 0; i < json_array_size(tools); i++)
		json_array_extend(
			all, json_object_get(json_array_get(tools, i), "functionDeclarations"));
	si_mind_tools(v->mind, all);
	json_decref(all);
}

static void setup_take(struct live *v, json_t *setup)
{
	const json_t *generation = json_object_get(setup, "generationConfig"),
		     *modalities = json_object_get(generation, "responseModalities"),
		     *input = json_object_get(setup, "realtimeInputConfig"),
		     *resumption = json_object_get(setup, "sessionResumption"),
		     *parts = json_object_get(json_object_get(setup, "systemInstruction"), "parts");
	const char *handling = json_string_value(json_object_get(input, "activityHandling"));
	const char *modality = json_string_value(json_array_get(modalities, 0));
	const char *text = json_string_value(json_object_get(json_array_get(parts, 0), "text"));
	struct si_acts acts;

	if (strncmp(json_string_value(json_object_get(setup, "model")), "models/", 7) != 0 ||
	    json_array_size(modalities) > 1) {
		live_refuse(v, "Invalid model, or more than one modality", "");
		return;
	}
	si_link_fire(v->link, SI_UPDATE, &acts);
	if (acts.error) {
		live_close(v, 1008, acts.error->text);
		return;
	}
	v->setup = json_incref(setup);
	v->audio = !modality || strcmp(modality, "AUDIO") == 0;
	v->manual = json_is_true(
		json_object_get(json_object_get(input, "automaticActivityDetection"), "disabled"));
	v->interruptible = !handling || strcmp(handling, "NO_INTERRUPTION") != 0;
	v->tell_in = json_object_get(setup, "inputAudioTranscription") != NULL;
	v->tell_out = json_object_get(setup, "outputAudioTranscription") != NULL;
	v->resumable = resumption != NULL;
	handle_take(v, json_string_value(json_object_get(resumption, "handle")));
	if (text)
		si_mind_instruct(v->mind, text);
	tools_learn(v, json_object_get(setup, "tools"));
	if (acts.silent)
		return;
	live_send(v, acts.delay_ms, false,
		  json_pack("{s:{s:s}}", "setupComplete", "sessionId", "session"));
	si_link_opened(v->link);
}

static void live_message(void *session, bool text, const char *data, size_t n)
{
	struct live *v = session;
	json_t *m = json_loadb(data, n, 0, NULL);
	json_t *setup = json_object_get(m, "setup");

	(void)text;
	if (!json_is_object(m) || json_object_size(m) != 1)
		live_refuse(v, "A message has exactly one of its members", "");
	else if (!setup != !!v->setup)
		live_refuse(v, v->setup ? "Setup was sent already" : "Setup comes first", "");
	else if (setup && live_check(v, shape_setup, m))
		setup_take(v, setup);
	else if (json_object_get(m, "clientContent") && live_check(v, shape_content, m))
		content_take(v, json_object_get(m, "clientContent"));
	else if (json_object_get(m, "realtimeInput") && live_check(v, shape_input, m))
		input_take(v, json_object_get(m, "realtimeInput"));
	else if (json_object_get(m, "toolResponse") && live_check(v, shape_tool, m))
		tool_take(v, json_object_get(m, "toolResponse"));
	else if (!setup && !json_object_get(m, "clientContent") &&
		 !json_object_get(m, "realtimeInput") && !json_object_get(m, "toolResponse"))
		live_check(v, shape_setup, m);
	json_decref(m);
}

static void live_act(void *session, const struct si_act *act)
{
	struct live *v = session;
	char left[32];

	if (act->action == SI_DO_ERROR) {
		live_close(v, 1011, act->text);
		return;
	}
	if (act->action == SI_DO_EXPIRE) {
		live_close(v, 1008, "The session has reached its maximum duration.");
		return;
	}
	snprintf(left, sizeof left, "%.3fs", act->number / 1000.0);
	live_send(v, 0, false, json_pack("{s:{s:s}}", "goAway", "timeLeft", left));
	si_plan(v->link, &(struct si_plan){.out = SI_OUT_CLOSE,
					   .after_ms = act->number,
					   .code = 1001,
					   .data = "going away",
					   .n = 10});
}

static void live_free(void *session)
{
	struct live *v = session;

	si_sound_cancel(v->hearing);
	answer_end(v);
	si_mind_free(v->mind);
	json_decref(v->setup);
	free(v->pcm);
	free(v);
}

static const struct si_session_ops live_ops = {
	.message = live_message, .act = live_act, .free = live_free};

static bool live_open(struct si_link *l)
{
	static const char method[] = "GenerativeService.BidiGenerateContent";
	const char *path = si_link_head(l)->path;
	struct live *v;

	if (strncmp(path + strspn(path, "/"), "ws/google.ai.generativelanguage.v1", 34) != 0 ||
	    !strstr(path, method))
		return false;
	v = si_alloc(sizeof *v);
	v->st = si_link_standin(l);
	v->link = l;
	v->mind = si_mind_new();
	si_link_take(l, &live_ops, v);
	if (!si_link_key(l, "x-goog-api-key", "key"))
		live_close(v, 1007, "API key not valid. Please pass a valid API key.");
	return true;
}

const struct si_service si_gemini_live = {.open = live_open};
