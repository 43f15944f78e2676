/* The session's configuration: kept as the JSON object sent to the client, changed field by field.
 */
#include "control/offline/session_inside.h"

#include <errno.h>
#include <string.h>

enum { MAX_INSTRUCTIONS = 64 << 10 };

/* The service's voice names and the flite voices that stand for them. */
static const struct {
	const char *name, *ours;
} voices[] = {
	{"slt", "slt"},	   {"rms", "rms"},   {"awb", "awb"},   {"alloy", "slt"}, {"ash", "rms"},
	{"ballad", "awb"}, {"coral", "slt"}, {"echo", "rms"},  {"sage", "slt"},	 {"shimmer", "slt"},
	{"verse", "awb"},  {"marin", "slt"}, {"cedar", "rms"},
};

const char *config_voice(const char *name)
{
	for (size_t i = 0; name && i < sizeof voices / sizeof *voices; i++)
		if (strcmp(voices[i].name, name) == 0)
			return voices[i].ours;
	return NULL;
}

json_t *config_get(const struct session *s, const char *a, const char *b, const char *c)
{
	json_t *j = json_object_get(s->config, a);

	if (b)
		j = json_object_get(j, b);
	return c ? json_object_get(j, c) : j;
}

const char *config_string(const struct session *s, const char *a, const char *b, const char *c)
{
	const char *v = json_string_value(config_get(s, a, b, c));

	return v ? v : "";
}

bool config_audio_out(const struct session *s)
{
	const char *m = json_string_value(
		json_array_get(config_get(s, "output_modalities", NULL, NULL), 0));

	return !m || strcmp(m, "text") != 0;
}

static json_t *vad_default(void)
{
	return json_pack("{s:s,s:f,s:i,s:i,s:b,s:b,s:n}", "type", "server_vad", "threshold", 0.5,
			 "prefix_padding_ms", 300, "silence_duration_ms", 500, "create_response", 1,
			 "interrupt_response", 1, "idle_timeout_ms");
}

static json_t *input_default(json_t *transcription)
{
	return json_pack("{s:{s:s,s:i},s:o,s:n,s:o}", "format", "type", "audio/pcm", "rate",
			 SESSION_RATE, "transcription", transcription, "noise_reduction",
			 "turn_detection", vad_default());
}

int config_init(struct session *s)
{
	json_int_t ends = (json_int_t)s->now->wall_s + SESSION_LIFE_S;

	if (s->conf.transcription)
		s->config = json_pack(
			"{s:s,s:s,s:s,s:I,s:{s:o},s:n}", "type", "transcription", "object",
			"realtime.transcription_session", "id", s->id, "expires_at", ends, "audio",
			"input", input_default(json_pack("{s:s}", "model", "offline")), "include");
	else
		s->config = json_pack(
			"{s:s,s:s,s:s,s:s,s:I,s:[s],s:s,s:[],s:s,s:s,s:n,s:s,s:n,s:{s:o,s:{s:{s:s,"
			"s:i},s:s,s:f}},s:n}",
			"type", "realtime", "object", "realtime.session", "id", s->id, "model",
			s->model[0] ? s->model : "offline", "expires_at", ends, "output_modalities",
			"audio", "instructions", "", "tools", "tool_choice", "auto",
			"max_output_tokens", "inf", "tracing", "truncation", "auto", "prompt",
			"audio", "input", input_default(json_null()), "output", "format", "type",
			"audio/pcm", "rate", SESSION_RATE, "voice", "slt", "speed", 1.0, "include");
	return s->config ? 0 : ENOMEM;
}

static bool format_ok(struct session *s, const json_t *v, const char *param)
{
	const char *type = json_string_value(json_object_get(v, "type"));
	const json_t *rate = json_object_get(v, "rate");

	if (type && strcmp(type, "audio/pcm") == 0 &&
	    (!rate || json_integer_value(rate) == SESSION_RATE))
		return true;
	session_error(s, "invalid_value", param, "Only audio/pcm at 24000 Hz is supported here.");
	return false;
}

static bool number_in(struct session *s, const json_t *v, double low, double high,
		      const char *param)
{
	if (!v || json_is_null(v))
		return true;
	if (json_is_number(v) && json_number_value(v) >= low && json_number_value(v) <= high)
		return true;
	session_error(s, "invalid_value", param, "%s must be from %g to %g.", param, low, high);
	return false;
}

static bool turn_detection_ok(struct session *s, const json_t *v)
{
	const char *type = json_string_value(json_object_get(v, "type"));

	if (json_is_null(v))
		return true;
	if (!json_is_object(v) ||
	    (type && strcmp(type, "server_vad") != 0 && strcmp(type, "semantic_vad") != 0)) {
		session_error(s, "invalid_value", "session.audio.input.turn_detection.type",
			      "turn_detection must be null or of type server_vad or semantic_vad.");
		return false;
	}
	return number_in(s, json_object_get(v, "threshold"), 0, 1,
			 "session.audio.input.turn_detection.threshold") &&
	       number_in(s, json_object_get(v, "prefix_padding_ms"), 0, 2000,
			 "session.audio.input.turn_detection.prefix_padding_ms") &&
	       number_in(s, json_object_get(v, "silence_duration_ms"), 20, 10000,
			 "session.audio.input.turn_detection.silence_duration_ms");
}

static bool voice_ok(struct session *s, const json_t *v)
{
	const char *name = json_string_value(json_is_object(v) ? json_object_get(v, "id") : v);
	const char *had = config_string(s, "audio", "output", "voice");

	if (!config_voice(name)) {
		session_error(s, "invalid_value", "session.audio.output.voice",
			      "There is no voice '%.40s' here.", name ? name : "");
		return false;
	}
	if (s->spoke && strcmp(name, had) != 0) {
		session_error(s, "cannot_update_voice", "session.audio.output.voice",
			      "The voice cannot be changed after audio was sent.");
		return false;
	}
	return true;
}

static bool modalities_ok(struct session *s, const json_t *v)
{
	const char *m = json_string_value(json_array_get(v, 0));

	if (json_array_size(v) == 1 && m && (strcmp(m, "audio") == 0 || strcmp(m, "text") == 0))
		return true;
	session_error(s, "invalid_value", "session.output_modalities",
		      "output_modalities must be [\"audio\"] or [\"text\"].");
	return false;
}

/* Validates the whole update before applying any of it. */
static bool update_ok(struct session *s, json_t *u)
{
	const char *type = json_string_value(json_object_get(u, "type"));
	json_t *input = json_object_get(json_object_get(u, "audio"), "input");
	json_t *output = json_object_get(json_object_get(u, "audio"), "output");
	json_t *v;

	if (type && strcmp(type, s->conf.transcription ? "transcription" : "realtime") != 0) {
		session_error(s, "invalid_value", "session.type",
			      "This is not a session of type '%.40s'.", type);
		return false;
	}
	v = json_object_get(u, "instructions");
	if (v && (!json_is_string(v) || json_string_length(v) > MAX_INSTRUCTIONS)) {
		session_error(s, "invalid_value", "session.instructions",
			      "instructions must be a text.");
		return false;
	}
	if ((v = json_object_get(u, "output_modalities")) && !modalities_ok(s, v))
		return false;
	if ((v = json_object_get(input, "format")) &&
	    !format_ok(s, v, "session.audio.input.format"))
		return false;
	if ((v = json_object_get(output, "format")) &&
	    !format_ok(s, v, "session.audio.output.format"))
		return false;
	if ((v = json_object_get(output, "voice")) && !voice_ok(s, v))
		return false;
	if (!number_in(s, json_object_get(output, "speed"), 0.25, 1.5,
		       "session.audio.output.speed"))
		return false;
	return !(v = json_object_get(input, "turn_detection")) || turn_detection_ok(s, v);
}

static const char *const voice_keys[] = {
	"instructions", "output_modalities", "tools",  "tool_choice", "max_output_tokens",
	"tracing",	"truncation",	     "prompt", "include",     "parallel_tool_calls",
	"reasoning"};
static const char *const transcription_keys[] = {"include"};
static const char *const input_keys[] = {"format", "transcription", "noise_reduction"};
static const char *const output_keys[] = {"voice", "speed"};

static int take(json_t *to, json_t *from, const char *const *keys, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && to; i++) {
		json_t *v = json_object_get(from, keys[i]);

		if (v)
			err |= json_object_set_new(to, keys[i], json_deep_copy(v));
	}
	return err;
}

static int take_turn_detection(json_t *input, json_t *v)
{
	json_t *full;
	int err;

	if (!json_is_object(v))
		return json_object_set_new(input, "turn_detection", json_null());
	full = vad_default();
	if (!full)
		return -1;
	err = json_object_update(full, v);
	err |= json_object_set_new(input, "turn_detection", full);
	return err;
}

void config_update(struct session *s, json_t *u)
{
	json_t *input = json_object_get(json_object_get(u, "audio"), "input"), *v;
	json_t *output = json_object_get(json_object_get(u, "audio"), "output");
	json_t *mine = config_get(s, "audio", "input", NULL);
	int err = 0;

	if (!json_is_object(u)) {
		session_error(s, "missing_required_parameter", "session",
			      "The event has no session.");
		return;
	}
	if (!update_ok(s, u))
		return;
	if (s->conf.transcription)
		err |= take(s->config, u, transcription_keys, 1);
	else
		err |= take(s->config, u, voice_keys, sizeof voice_keys / sizeof *voice_keys);
	err |= take(mine, input, input_keys, sizeof input_keys / sizeof *input_keys);
	err |= take(config_get(s, "audio", "output", NULL), output, output_keys, 2);
	if ((v = json_object_get(input, "turn_detection")))
		err |= take_turn_detection(mine, v);
	if (err) {
		s->err = ENOMEM;
		return;
	}
	input_apply_config(s);
	session_notes(s, config_string(s, "instructions", NULL, NULL));
	session_emit(s, "session.updated", json_pack("{s:O}", "session", s->config));
}
