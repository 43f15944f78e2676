/* Commands of a realtime voice session as client events of the OpenAI family (openai_family.h). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/openai.h"
#include "control/dialect/openai_family.h"
#include "control/dialect/tool_form.h"
#include "control/prompts/prompts.def"

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

/* Steals root. */
static int send_event(const struct sink *to, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return send_text(to, text);
}

static bool is_given(const char *text)
{
	return text && *text;
}

/* ---- the session ---- */

/* A JSON array of {name, description, parameters}; none is an empty one. */
static json_t *tools_of(const char *text)
{
	json_t *in = is_given(text) ? json_loads(text, 0, NULL) : json_array(), *tool;
	json_t *tools = json_is_array(in) ? json_array() : NULL;
	size_t i;

	json_array_foreach(tools ? in : NULL, i, tool)
	{
		const char *name = json_string_value(json_object_get(tool, "name"));

		if (name && !tool_form_takes(TOOL_FORM_REALTIME, name))
			continue;
		if (json_array_append_new(
			    tools,
			    json_pack("{s:s,s:s,s:O*,s:o}", "type", "function", "name", name,
				      "description", json_object_get(tool, "description"),
				      "parameters",
				      tool_form_schema(TOOL_FORM_REALTIME,
						       json_object_get(tool, "parameters"))))) {
			json_decref(tools);
			tools = NULL;
			break;
		}
	}
	json_decref(in);
	return tools;
}

static json_t *format_of(uint32_t rate)
{
	return json_pack("{s:s,s:i}", "type", "audio/pcm", "rate", (int)rate);
}

static void set_voice(json_t *in, const struct openai_codec *c)
{
	if (in && is_given(c->voice))
		json_object_set_new(in, "voice", json_string(c->voice));
}

static json_t *modalities_of(const struct openai_codec *c)
{
	return c->text_only ? json_pack("[s]", "text") : json_pack("[s,s]", "text", "audio");
}

static json_t *session_ga(const struct openai_codec *c)
{
	json_t *output = json_pack("{s:o}", "format", format_of(c->rate_out));

	set_voice(output, c);
	return json_pack("{s:[s],s:{s:{s:o,s:n},s:o}}", "output_modalities",
			 c->text_only ? "text" : "audio", "audio", "input", "format",
			 format_of(c->rate_in), "turn_detection", "output", output);
}

static json_t *session_xai(const struct openai_codec *c)
{
	json_t *s =
		json_pack("{s:n,s:{s:{s:o},s:{s:o}}}", "turn_detection", "audio", "input", "format",
			  format_of(c->rate_in), "output", "format", format_of(c->rate_out));

	set_voice(s, c);
	return s;
}

static json_t *session_beta(const struct openai_codec *c)
{
	json_t *s =
		json_pack("{s:o,s:s,s:s,s:n}", "modalities", modalities_of(c), "input_audio_format",
			  "pcm16", "output_audio_format", "pcm16", "turn_detection");

	set_voice(s, c);
	return s;
}

/* All of it that does not change while it lasts. */
static json_t *session_fixed(const struct openai_codec *c)
{
	switch (c->family->shape) {
	case OPENAI_SHAPE_GA:
		return session_ga(c);
	case OPENAI_SHAPE_XAI:
		return session_xai(c);
	case OPENAI_SHAPE_BETA:
		break;
	}
	return session_beta(c);
}

/* The provider keeps its value for each argument that is NULL. fixed is stolen. */
static int send_session(const struct sink *to, const struct openai_codec *c, json_t *fixed,
			const struct realtime_command *cmd)
{
	json_t *session = json_object(), *tools = cmd->tools ? tools_of(cmd->tools) : NULL;
	int err = session && (!cmd->tools || tools) ? 0 : EINVAL;

	if (!err && c->family->shape == OPENAI_SHAPE_GA)
		err = json_object_set_new(session, "type", json_string("realtime"));
	if (!err && cmd->instructions)
		err = json_object_set_new(session, "instructions", json_string(cmd->instructions));
	if (!err && fixed)
		err = json_object_update(session, fixed);
	if (!err && tools)
		err = json_object_set(session, "tools", tools);
	json_decref(fixed);
	json_decref(tools);
	if (err) {
		json_decref(session);
		return EINVAL;
	}
	return send_event(to, json_pack("{s:s,s:o}", "type", "session.update", "session", session));
}

/* ---- the conversation ---- */

/* Steals content, which is the rest of the item. */
static int send_item(const struct sink *to, json_t *content, const struct realtime_command *cmd)
{
	json_t *item = json_pack("{s:s*}", "id", is_given(cmd->id) ? cmd->id : NULL);
	int err = item && content ? json_object_update(item, content) : ENOMEM;

	json_decref(content);
	if (err) {
		json_decref(item);
		return ENOMEM;
	}
	return send_event(to, json_pack("{s:s,s:s*,s:o}", "type", "conversation.item.create",
					"previous_item_id",
					is_given(cmd->after) ? cmd->after : NULL, "item", item));
}

static int send_line(const struct sink *to, const struct openai_codec *c,
		     const struct realtime_command *cmd)
{
	return send_item(to,
			 json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "type", "message", "role",
				   cmd->assistant ? "assistant" : "user", "content", "type",
				   cmd->assistant ? c->family->said : "input_text", "text",
				   cmd->text),
			 cmd);
}

static int send_image(const struct sink *to, const struct openai_codec *c,
		      const struct realtime_command *cmd)
{
	size_t head, size;
	json_t *content;
	char *url;

	if (!c->family->images)
		return ENOTSUP;
	size = base64_encoded(cmd->data.n) + strlen(cmd->mime) + 32;
	url = malloc(size);
	if (!url)
		return ENOMEM;
	head = (size_t)snprintf(url, size, "data:%s;base64,", cmd->mime);
	base64_encode(cmd->data.p, cmd->data.n, url + head);
	url[head + base64_encoded(cmd->data.n)] = '\0';
	content = json_pack("[{s:s,s:s}]", "type", "input_image", "image_url", url);
	explicit_bzero(url, size);
	free(url);
	if (content && is_given(cmd->text))
		json_array_insert_new(
			content, 0,
			json_pack("{s:s,s:s}", "type", "input_text", "text", cmd->text));
	return send_item(
		to,
		json_pack("{s:s,s:s,s:o}", "type", "message", "role", "user", "content", content),
		cmd);
}

static int send_result(const struct sink *to, const struct realtime_command *cmd)
{
	return send_item(to,
			 json_pack("{s:s,s:s,s:s}", "type", "function_call_output", "call_id",
				   cmd->call, "output", cmd->text),
			 cmd);
}

/* ---- answers ---- */

/* Steals response. The ask comes back with the response, and with an error about the event. */
static int send_response(const struct sink *to, const struct openai_codec *c,
			 const struct realtime_command *cmd, json_t *response)
{
	char id[32], ask[16], turn[16];

	snprintf(id, sizeof id, "ask-%u", cmd->ask);
	snprintf(ask, sizeof ask, "%u", cmd->ask);
	snprintf(turn, sizeof turn, "%u", cmd->turn);
	if (response && c->family->metadata)
		json_object_set_new(response, "metadata",
				    json_pack("{s:s,s:s}", "ask", ask, "turn", turn));
	if (response && c->family->modalities)
		json_object_set_new(response, "modalities", modalities_of(c));
	if (response && cmd->limit && c->family->limit)
		json_object_set_new(response, c->family->limit, json_integer(cmd->limit));
	return send_event(to, json_pack("{s:s,s:s,s:o}", "type", "response.create", "event_id", id,
					"response", response));
}

static int send_say(const struct sink *to, const struct openai_codec *c,
		    const struct realtime_command *cmd)
{
	static const char order[] = PROMPT_EXACT_LINE;
	size_t size = sizeof order + strlen(cmd->text);
	char *instructions;
	int err;

	if (c->family->line == OPENAI_LINE_NONE)
		return ENOTSUP;
	if (c->family->line == OPENAI_LINE_ITEM)
		return send_item(to,
				 json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "type", "force_message",
					   "role", "assistant", "content", "type", "text", "text",
					   cmd->text),
				 &(struct realtime_command){.id = NULL});
	instructions = malloc(size);
	if (!instructions)
		return ENOMEM;
	snprintf(instructions, size, "%s%s", order, cmd->text);
	err = send_response(to, c, cmd,
			    json_pack("{s:s,s:[],s:[],s:s}", "conversation", "none", "input",
				      "tools", "instructions", instructions));
	free(instructions);
	return err;
}

static int send_aside(const struct sink *to, const struct openai_codec *c,
		      const struct realtime_command *cmd)
{
	char id[32], ask[16];

	if (!c->family->aside)
		return ENOTSUP;
	snprintf(id, sizeof id, OPENAI_ASIDE_EVENT "%u", cmd->ask);
	snprintf(ask, sizeof ask, "%u", cmd->ask);
	return send_event(to,
			  json_pack("{s:s,s:s,s:{s:s,s:[],s:[],s:[s],s:s,s:i,s:{s:s}}}", "type",
				    "response.create", "event_id", id, "response", "conversation",
				    "none", "input", "tools", "output_modalities", "text",
				    "instructions", cmd->text, "max_output_tokens", (int)cmd->limit,
				    "metadata", OPENAI_ASIDE, ask));
}

static int send_answer(const struct sink *to, const struct openai_codec *c,
		       const struct realtime_command *cmd)
{
	switch (cmd->type) {
	case REALTIME_RESPOND:
		return send_response(to, c, cmd, json_object());
	case REALTIME_SAY:
		return send_say(to, c, cmd);
	case REALTIME_ASIDE:
		return send_aside(to, c, cmd);
	case REALTIME_CANCEL:
		return send_text(to, openai_cancel(cmd->id));
	case REALTIME_TRUNCATE:
		return send_text(to, openai_truncate(cmd->id, cmd->ms));
	case REALTIME_DELETE:
		return send_text(to, openai_delete(cmd->id));
	default:
		return ENOTSUP;
	}
}

int openai_realtime_encode(void *codec, const struct realtime_command *cmd, realtime_send_h *h,
			   void *arg)
{
	const struct openai_codec *c = codec;
	const struct sink to = {h, arg};

	switch (cmd->type) {
	case REALTIME_DESCRIBE:
		return send_session(&to, c, session_fixed(c), cmd);
	case REALTIME_INSTRUCT:
	case REALTIME_TOOLS:
		return send_session(&to, c, NULL, cmd);
	case REALTIME_ITEM:
		return send_line(&to, c, cmd);
	case REALTIME_IMAGE:
		return send_image(&to, c, cmd);
	case REALTIME_APPEND:
		return send_text(&to, openai_append(cmd->data.p, cmd->data.n));
	case REALTIME_COMMIT:
		return send_event(&to, json_pack("{s:s}", "type", "input_audio_buffer.commit"));
	case REALTIME_DROP_AUDIO:
		return send_text(&to, openai_clear());
	case REALTIME_RESULT:
		return send_result(&to, cmd);
	case REALTIME_ACTIVITY:
	case REALTIME_KEEPALIVE:
		return 0;
	default:
		return send_answer(&to, c, cmd);
	}
}
