#include "tests/standins/mind.h"
#include "tests/standins/openai.h"

#include <string.h>

static json_t *format_default(void)
{
	return json_pack("{s:s, s:i}", "type", "audio/pcm", "rate", 24000);
}

static json_t *turns_default(void)
{
	return json_pack("{s:s, s:f, s:i, s:i, s:b, s:b, s:n}", "type", "server_vad", "threshold",
			 0.5, "prefix_padding_ms", 300, "silence_duration_ms", 500,
			 "create_response", 1, "interrupt_response", 1, "idle_timeout_ms");
}

static json_t *ga_default(const char *model)
{
	return json_pack("{s:s, s:s, s:s, s:[s], s:s, s:[], s:s, s:s, s:n, s:s, s:n, s:{s:{s:o, "
			 "s:n, s:n, s:o}, s:{s:o, s:s, s:f}}, s:n}",
			 "type", "realtime", "object", "realtime.session", "model", model,
			 "output_modalities", "audio", "instructions", "", "tools", "tool_choice",
			 "auto", "max_output_tokens", "inf", "tracing", "truncation", "auto",
			 "prompt", "audio", "input", "format", format_default(), "transcription",
			 "noise_reduction", "turn_detection", turns_default(), "output", "format",
			 format_default(), "voice", "alloy", "speed", 1.0, "include");
}

static json_t *transcription_default(void)
{
	return json_pack("{s:s, s:s, s:{s:{s:o, s:n, s:n, s:o}}, s:n}", "type", "transcription",
			 "object", "realtime.transcription_session", "audio", "input", "format",
			 format_default(), "transcription", "noise_reduction", "turn_detection",
			 turns_default(), "include");
}

static json_t *beta_default(const struct rt *rt, const char *model)
{
	if (rt->transcription)
		return json_pack("{s:s, s:s, s:n, s:o}", "object", "realtime.transcription_session",
				 "input_audio_format", "pcm16", "input_audio_transcription",
				 "turn_detection", turns_default());
	return json_pack("{s:s, s:s, s:[s,s], s:s, s:s, s:s, s:s, s:n, s:o, s:[], s:s, s:f, s:s}",
			 "object", "realtime.session", "model", model, "modalities", "audio",
			 "text", "instructions", "", "voice", "alloy", "input_audio_format",
			 "pcm16", "output_audio_format", "pcm16", "input_audio_transcription",
			 "turn_detection", turns_default(), "tools", "tool_choice", "auto",
			 "temperature", 0.8, "max_response_output_tokens", "inf");
}

static json_t *xai_default(const char *model)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:{s:{s:o, s:s}, s:{s:o, s:s}}}", "object",
			 "realtime.session", "model", model, "instructions", "", "voice", "eve",
			 "turn_detection", turns_default(), "audio", "input", "format",
			 format_default(), "transport", "json", "output", "format",
			 format_default(), "transport", "json");
}

json_t *rt_session_default(const struct rt *rt, const char *model)
{
	json_t *s = rt->dialect == RT_BETA  ? beta_default(rt, model)
		    : rt->dialect == RT_XAI ? xai_default(model)
		    : rt->transcription	    ? transcription_default()
					    : ga_default(model);

	json_object_set_new(s, "id", json_sprintf("sess_%u", si_link_number(rt->link)));
	if (rt->dialect == RT_GA)
		json_object_set_new(s, "expires_at", json_integer(1800000000));
	return s;
}

static const struct si_shape *shape_of(const struct rt *rt)
{
	switch (rt->dialect) {
	case RT_XAI:
		return rt_shape_xai;
	case RT_BETA:
		return rt->transcription ? rt_shape_beta_transcription : rt_shape_beta;
	default:
		return rt->transcription ? rt_shape_transcription : rt_shape_session;
	}
}

/* What may not change once the session has begun, or has spoken. */
static bool fixed_check(struct rt *rt, const json_t *update)
{
	const json_t *model = json_object_get(update, "model");
	const json_t *out = json_object_get(json_object_get(update, "audio"), "output");
	const json_t *voice = json_object_get(rt->dialect == RT_GA ? out : update, "voice");
	const json_t *now = rt_setting(rt, rt->dialect == RT_GA ? "audio.output.voice" : "voice");

	if (model && !json_equal(model, rt_setting(rt, "model"))) {
		rt_error(rt, "cannot_update_model", "session.model",
			 "The model of a session cannot be changed.");
		return false;
	}
	if (rt->spoke && voice && !json_equal(voice, now)) {
		rt_error(rt, "cannot_update_voice", "session.audio.output.voice",
			 "Cannot update a conversation's voice if assistant audio is present.");
		return false;
	}
	return true;
}

static bool modalities_check(struct rt *rt, const json_t *update)
{
	const json_t *m = json_object_get(update, "output_modalities");

	if (!m || json_array_size(m) == 1)
		return true;
	rt_error(rt, "invalid_value", "session.output_modalities",
		 "Invalid modalities. Supported combinations are: ['text'] and ['audio'].");
	return false;
}

void rt_session_update(struct rt *rt, json_t *event)
{
	json_t *update = json_object_get(event, "session");
	struct si_acts acts;

	if (!rt_check(rt, shape_of(rt), event) || !fixed_check(rt, update) ||
	    !modalities_check(rt, update))
		return;
	si_link_fire(rt->link, SI_UPDATE, &acts);
	if (acts.error) {
		rt_error_act(rt, acts.error);
		return;
	}
	if (acts.silent)
		return;
	/* Lists and turn_detection are replaced, objects are merged. */
	json_object_update_recursive(rt->session, update);
	if (json_object_get(update, "instructions"))
		si_mind_instruct(rt->mind,
				 json_string_value(json_object_get(update, "instructions")));
	if (json_object_get(update, "tools"))
		si_mind_tools(rt->mind, json_object_get(update, "tools"));
	if (rt->dialect == RT_XAI) {
		const char *in = json_string_value(rt_setting(rt, "audio.input.transport"));
		const char *out = json_string_value(rt_setting(rt, "audio.output.transport"));

		rt->binary_in = in && strcmp(in, "binary") == 0;
		rt->binary_out = out && strcmp(out, "binary") == 0;
	}
	rt_emit_later(rt, &(struct si_plan){.out = SI_OUT_TEXT, .after_ms = acts.delay_ms},
		      rt->dialect == RT_BETA && rt->transcription ? "transcription_session.updated"
								  : "session.updated",
		      json_pack("{s:O}", "session", rt->session));
}
