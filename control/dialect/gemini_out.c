/* Commands of a voice session as messages of Gemini Live (gemini.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/build.h"
#include "control/dialect/gemini.h"
#include "control/dialect/tool_form.h"

static const char default_model[] = "gemini-3.8-live";

struct sink {
	realtime_send_h *h;
	void *arg;
};

/* Steals text, which is NULL when there was no memory for it, or when it is no UTF-8. It may hold a
 * picture. */
static int send_text(const struct sink *to, char *text)
{
	int err = text ? to->h(true, text, strlen(text), to->arg) : ENOMEM;

	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	return err;
}

static bool is_given(const char *text)
{
	return text && *text;
}

/* ---- the session ---- */

/* [{name, description, parameters}] as [{functionDeclarations}]; NULL: it is not that. */
static json_t *tools_of(const char *text)
{
	json_t *in = json_loads(text, 0, NULL), *declarations = json_array(), *tool;
	bool ok = json_is_array(in) && declarations;
	size_t i;

	json_array_foreach(in, i, tool)
	{
		const char *name = json_string_value(json_object_get(tool, "name"));
		json_t *d;

		if (name && !tool_form_takes(TOOL_FORM_GEMINI, name))
			continue;
		d = json_pack(
			"{s:s,s:O*,s:o}", "name", name, "description",
			json_object_get(tool, "description"), "parametersJsonSchema",
			tool_form_schema(TOOL_FORM_GEMINI, json_object_get(tool, "parameters")));
		ok = ok && d && json_array_append_new(declarations, d) == 0;
		if (!ok)
			break;
	}
	json_decref(in);
	if (!ok) {
		json_decref(declarations);
		return NULL;
	}
	return json_pack("[{s:o}]", "functionDeclarations", declarations);
}

static json_t *generation_of(const struct gemini_codec *c)
{
	json_t *speech = json_object();

	if (speech && *c->voice)
		json_object_set_new(
			speech, "voiceConfig",
			json_pack("{s:{s:s}}", "prebuiltVoiceConfig", "voiceName", c->voice));
	return json_pack("{s:[s],s:o}", "responseModalities", c->text_only ? "TEXT" : "AUDIO",
			 "speechConfig", speech);
}

static json_t *model_of(const struct gemini_codec *c)
{
	const char *model = *c->model ? c->model : default_model;

	return strchr(model, '/') ? json_string(model) : json_sprintf("models/%s", model);
}

static int send_setup(const struct sink *to, const struct gemini_codec *c,
		      const struct realtime_command *cmd)
{
	json_t *tools = is_given(cmd->tools) ? tools_of(cmd->tools) : NULL, *setup;
	const char *handle = is_given(cmd->handle) ? cmd->handle : NULL;

	if (is_given(cmd->tools) && !tools)
		return EINVAL;
	setup = json_pack("{s:o,s:o,s:{s:s*},s:{},s:{},s:{s:{s:b},s:s},s:{s:{}}}", "model",
			  model_of(c), "generationConfig", generation_of(c), "sessionResumption",
			  "handle", handle, "inputAudioTranscription", "outputAudioTranscription",
			  "realtimeInputConfig", "automaticActivityDetection", "disabled", 1,
			  "activityHandling", "START_OF_ACTIVITY_INTERRUPTS",
			  "contextWindowCompression", "slidingWindow");
	if (setup && is_given(cmd->instructions))
		json_object_set_new(setup, "systemInstruction",
				    json_pack("{s:[{s:s}],s:s}", "parts", "text", cmd->instructions,
					      "role", "user"));
	if (setup && tools)
		json_object_set(setup, "tools", tools);
	json_decref(tools);
	return send_text(to, build_text(setup ? json_pack("{s:o}", "setup", setup) : NULL));
}

/* ---- the conversation ---- */

static int keep_line(struct gemini_codec *c, bool assistant, const char *text)
{
	json_t *turn = json_pack("{s:s,s:[{s:s}]}", "role", assistant ? "model" : "user", "parts",
				 "text", text);

	if (!turn)
		return ENOMEM;
	if (json_array_size(c->turns) == GEMINI_TURNS)
		json_array_remove(c->turns, 0);
	return json_array_append_new(c->turns, turn) ? ENOMEM : 0;
}

/* The lines that wait; answer: and the model's turn begins. */
static int send_lines(const struct sink *to, struct gemini_codec *c, bool answer)
{
	json_t *turns = json_array_size(c->turns) ? c->turns : NULL;
	int err;

	if (!turns && !answer)
		return 0;
	err = send_text(to, build_text(json_pack("{s:{s:O*,s:b}}", "clientContent", "turns", turns,
						 "turnComplete", answer)));
	if (!err)
		json_array_clear(c->turns);
	return err;
}

static int send_image(const struct sink *to, struct gemini_codec *c,
		      const struct realtime_command *cmd)
{
	static const char head[] = "{\"realtimeInput\":{\"video\":{\"data\":\"";
	char tail[96];
	int err = is_given(cmd->text) ? keep_line(c, false, cmd->text) : 0;

	if (err || !is_given(cmd->mime) || strlen(cmd->mime) > 40 || strpbrk(cmd->mime, "\"\\"))
		return err ? err : EINVAL;
	snprintf(tail, sizeof tail, "\",\"mimeType\":\"%s\"}}}", cmd->mime);
	return send_text(to, build_audio(head, cmd->data.p, cmd->data.n, tail));
}

/* ---- a speaker ---- */

static int send_mark(const struct sink *to, const char *name)
{
	return send_text(to, build_text(json_pack("{s:{s:{}}}", "realtimeInput", name)));
}

static int begin_activity(const struct sink *to, struct gemini_codec *c)
{
	int err = send_lines(to, c, false);

	if (err)
		return err;
	c->state.inputs++;
	c->state.heard = 0;
	c->state.heard_named = false;
	return send_mark(to, "activityStart");
}

static int send_audio(const struct sink *to, const struct gemini_codec *c, struct slice pcm)
{
	static const char head[] = "{\"realtimeInput\":{\"audio\":{\"data\":\"";
	char tail[64];

	snprintf(tail, sizeof tail, "\",\"mimeType\":\"audio/pcm;rate=%u\"}}}", c->rate_in);
	return send_text(to, build_audio(head, pcm.p, pcm.n, tail));
}

/* The end of a speaker's turn makes the model answer; drop: nobody requested that answer. */
static int end_activity(const struct sink *to, struct gemini_codec *c, uint32_t ask, bool drop)
{
	int err = send_mark(to, "activityEnd");

	if (!err)
		gemini_await(c, ask, drop);
	return err;
}

/* ---- answers ---- */

static int send_answer(const struct sink *to, struct gemini_codec *c, uint32_t ask)
{
	int err = send_lines(to, c, true);

	if (!err)
		gemini_await(c, ask, false);
	return err;
}

/* The result as an object: words go under a name of ours. */
static json_t *response_of(const struct realtime_command *cmd)
{
	json_t *value = json_loads(cmd->text, 0, NULL);

	if (json_is_object(value) && !cmd->failed)
		return value;
	json_decref(value);
	return json_pack("{s:s}", cmd->failed ? "error" : "output", cmd->text);
}

/* The model goes on after the last result. */
static int send_result(const struct sink *to, struct gemini_codec *c,
		       const struct realtime_command *cmd)
{
	int err = send_text(to, build_text(json_pack("{s:{s:[{s:s,s:s,s:o}]}}", "toolResponse",
						     "functionResponses", "id", cmd->call, "name",
						     cmd->name ? cmd->name : "", "response",
						     response_of(cmd))));

	if (!err && c->state.calls && --c->state.calls == 0)
		gemini_await(c, cmd->ask ? cmd->ask : c->state.last_ask, false);
	return err;
}

int gemini_encode(void *codec, const struct realtime_command *cmd, realtime_send_h *h, void *arg)
{
	struct gemini_codec *c = codec;
	const struct sink to = {h, arg};

	switch (cmd->type) {
	case REALTIME_DESCRIBE:
		return send_setup(&to, c, cmd);
	case REALTIME_ITEM:
		return keep_line(c, cmd->assistant, cmd->text);
	case REALTIME_IMAGE:
		return send_image(&to, c, cmd);
	case REALTIME_ACTIVITY:
		return begin_activity(&to, c);
	case REALTIME_APPEND:
		return send_audio(&to, c, cmd->data);
	case REALTIME_COMMIT:
		return end_activity(&to, c, cmd->ask, false);
	case REALTIME_DROP_AUDIO:
		return end_activity(&to, c, 0, true);
	case REALTIME_RESPOND:
		return send_answer(&to, c, cmd->ask);
	case REALTIME_RESULT:
		return send_result(&to, c, cmd);
	case REALTIME_KEEPALIVE:
		return 0;
	default:
		return ENOTSUP;
	}
}
