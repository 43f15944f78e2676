#include "tests/standins/openai.h"

#define EVENT(type)                                                                                \
	{"type", "!'" type "'"},                                                                   \
	{                                                                                          \
		"event_id", "str"                                                                  \
	}

#define FORMAT(at)                                                                                 \
	{at, "obj"}, {at ".type", "!'audio/pcm' 'audio/pcmu' 'audio/pcma'"},                       \
	{                                                                                          \
		at ".rate", "int:24000..24000"                                                     \
	}

#define TRANSCRIPTION(at)                                                                          \
	{at, "obj null"}, {at ".model", "str"}, {at ".language", "str"}, {at ".languages", "arr"}, \
		{at ".languages[]", "str"}, {at ".keywords", "arr"}, {at ".keywords[]", "str"},    \
		{at ".prompt", "str"},                                                             \
	{                                                                                          \
		at ".delay", "'minimal' 'low' 'medium' 'high' 'xhigh'"                             \
	}

#define TURNS(at)                                                                                  \
	{at, "obj null"}, {at ".type", "!'server_vad' 'semantic_vad'"},                            \
		{at ".threshold", "num:0..1"}, {at ".prefix_padding_ms", "int"},                   \
		{at ".silence_duration_ms", "int"}, {at ".create_response", "bool"},               \
		{at ".interrupt_response", "bool"},                                                \
		{at ".idle_timeout_ms", "int:5000..30000 null"},                                   \
	{                                                                                          \
		at ".eagerness", "'low' 'medium' 'high' 'auto'"                                    \
	}

#define NOISE(at)                                                                                  \
	{at, "obj null"},                                                                          \
	{                                                                                          \
		at ".type", "'near_field' 'far_field'"                                             \
	}

#define TOOLS(at)                                                                                  \
	{at "tools", "arr"}, {at "tools[]", "obj"}, {at "tools[].type", "!'function' 'mcp'"},      \
		{at "tools[].name", "str"}, {at "tools[].description", "str"},                     \
		{at "tools[].parameters", "any"}, {at "tools[].server_label", "str"},              \
		{at "tools[].server_url", "str"}, {at "tools[].connector_id", "str"},              \
		{at "tools[].authorization", "str"}, {at "tools[].headers", "any"},                \
		{at "tools[].allowed_tools", "any"}, {at "tools[].require_approval", "any"},       \
		{at "tools[].server_description", "str"}, {at "tool_choice", "any"},               \
	{                                                                                          \
		at "parallel_tool_calls", "bool"                                                   \
	}

#define ITEM(at)                                                                                   \
	{at ".id", "str"}, {at ".object", "'realtime.item'"},                                      \
		{at ".status", "'completed' 'incomplete' 'in_progress'"}, {at ".role", "str"},     \
		{at ".content", "arr"}, {at ".content[]", "obj"}, {at ".content[].type", "!str"},  \
		{at ".content[].text", "str"}, {at ".content[].audio", "str"},                     \
		{at ".content[].transcript", "str null"}, {at ".content[].image_url", "str"},      \
		{at ".content[].detail", "'auto' 'low' 'high'"}, {at ".call_id", "str"},           \
		{at ".name", "str"}, {at ".arguments", "str"},                                     \
	{                                                                                          \
		at ".output", "str"                                                                \
	}

const struct si_shape rt_shape_session[] = {
	EVENT("session.update"),
	{"session", "!obj"},
	{"session.type", "!'realtime'"},
	{"session.model", "str"},
	{"session.instructions", "str"},
	{"session.output_modalities", "arr"},
	{"session.output_modalities[]", "'audio' 'text'"},
	{"session.audio", "obj"},
	{"session.audio.input", "obj"},
	FORMAT("session.audio.input.format"),
	TRANSCRIPTION("session.audio.input.transcription"),
	NOISE("session.audio.input.noise_reduction"),
	TURNS("session.audio.input.turn_detection"),
	{"session.audio.output", "obj"},
	FORMAT("session.audio.output.format"),
	{"session.audio.output.voice", "any"},
	{"session.audio.output.speed", "num:0.25..1.5"},
	{"session.include", "arr null"},
	{"session.include[]", "'item.input_audio_transcription.logprobs'"},
	TOOLS("session."),
	{"session.reasoning", "obj"},
	{"session.reasoning.effort", "'minimal' 'low' 'medium' 'high' 'xhigh'"},
	{"session.max_output_tokens", "int:1..4096 'inf'"},
	{"session.truncation", "any"},
	{"session.tracing", "any"},
	{"session.prompt", "any"},
	{NULL, NULL},
};

const struct si_shape rt_shape_transcription[] = {
	EVENT("session.update"),
	{"session", "!obj"},
	{"session.type", "!'transcription'"},
	{"session.audio", "obj"},
	{"session.audio.input", "obj"},
	FORMAT("session.audio.input.format"),
	TRANSCRIPTION("session.audio.input.transcription"),
	NOISE("session.audio.input.noise_reduction"),
	TURNS("session.audio.input.turn_detection"),
	{"session.include", "arr null"},
	{"session.include[]", "'item.input_audio_transcription.logprobs'"},
	{NULL, NULL},
};

const struct si_shape rt_shape_beta[] = {
	EVENT("session.update"),
	{"session", "!obj"},
	{"session.modalities", "arr"},
	{"session.modalities[]", "'audio' 'text'"},
	{"session.model", "str"},
	{"session.instructions", "str"},
	{"session.voice", "str"},
	{"session.speed", "num:0.25..1.5"},
	{"session.input_audio_format", "'pcm16' 'g711_ulaw' 'g711_alaw'"},
	{"session.output_audio_format", "'pcm16' 'g711_ulaw' 'g711_alaw'"},
	TRANSCRIPTION("session.input_audio_transcription"),
	NOISE("session.input_audio_noise_reduction"),
	TURNS("session.turn_detection"),
	TOOLS("session."),
	{"session.temperature", "num:0.6..1.2"},
	{"session.max_response_output_tokens", "int:1..4096 'inf'"},
	{"session.tracing", "any"},
	{"session.include", "arr null"},
	{"session.include[]", "str"},
	{NULL, NULL},
};

const struct si_shape rt_shape_beta_transcription[] = {
	EVENT("transcription_session.update"),
	{"session", "!obj"},
	{"session.input_audio_format", "'pcm16' 'g711_ulaw' 'g711_alaw'"},
	TRANSCRIPTION("session.input_audio_transcription"),
	NOISE("session.input_audio_noise_reduction"),
	TURNS("session.turn_detection"),
	{"session.include", "arr null"},
	{"session.include[]", "str"},
	{NULL, NULL},
};

#define XAI_FORMAT(at)                                                                             \
	{at, "obj"}, {at ".type", "!'audio/pcm' 'audio/pcmu' 'audio/pcma'"},                       \
	{                                                                                          \
		at ".rate", "int"                                                                  \
	}

const struct si_shape rt_shape_xai[] = {
	EVENT("session.update"),
	{"session", "!obj"},
	{"session.instructions", "str"},
	{"session.voice", "str"},
	{"session.turn_detection", "obj null"},
	{"session.turn_detection.type", "'server_vad' null"},
	{"session.turn_detection.threshold", "num:0.1..0.9"},
	{"session.turn_detection.prefix_padding_ms", "int"},
	{"session.turn_detection.silence_duration_ms", "int"},
	{"session.turn_detection.idle_timeout_ms", "int"},
	{"session.audio", "obj"},
	{"session.audio.input", "obj"},
	XAI_FORMAT("session.audio.input.format"),
	{"session.audio.input.transport", "'json' 'binary'"},
	{"session.audio.input.transcription", "obj null"},
	{"session.audio.input.transcription.model", "str"},
	{"session.audio.input.transcription.language_hint", "str"},
	{"session.audio.input.transcription.keyterms", "arr"},
	{"session.audio.input.transcription.keyterms[]", "str"},
	{"session.audio.output", "obj"},
	XAI_FORMAT("session.audio.output.format"),
	{"session.audio.output.speed", "num:0.7..1.5"},
	{"session.audio.output.transport", "'json' 'binary'"},
	{"session.tools", "arr"},
	{"session.tools[]", "any"},
	{"session.reasoning", "obj"},
	{"session.reasoning.effort", "'high' 'none'"},
	{"session.resumption", "obj"},
	{"session.resumption.enabled", "bool"},
	{"session.replace", "any"},
	{NULL, NULL},
};

const struct si_shape rt_shape_append[] = {
	EVENT("input_audio_buffer.append"),
	{"audio", "!str"},
	{NULL, NULL},
};

/* Commit and clear. */
const struct si_shape rt_shape_bare[] = {
	{"type", "!str"},
	{"event_id", "str"},
	{NULL, NULL},
};

const struct si_shape rt_shape_item_create[] = {
	EVENT("conversation.item.create"),
	{"previous_item_id", "str null"},
	{"item", "!obj"},
	{"item.type", "!'message' 'function_call' 'function_call_output' 'force_message' "
		      "'mcp_approval_response'"},
	ITEM("item"),
	{"item.approval_request_id", "str"},
	{"item.approve", "bool"},
	{NULL, NULL},
};

/* Retrieve and delete. */
const struct si_shape rt_shape_item_id[] = {
	{"type", "!str"},
	{"event_id", "str"},
	{"item_id", "!str"},
	{NULL, NULL},
};

const struct si_shape rt_shape_truncate[] = {
	EVENT("conversation.item.truncate"),	{"item_id", "!str"}, {"content_index", "!int:0..0"},
	{"audio_end_ms", "!int:0..2147483647"}, {NULL, NULL},
};

const struct si_shape rt_shape_response[] = {
	EVENT("response.create"),
	{"response", "obj"},
	{"response.output_modalities", "arr"},
	{"response.output_modalities[]", "'audio' 'text'"},
	{"response.instructions", "str"},
	{"response.audio", "obj"},
	{"response.audio.output", "obj"},
	FORMAT("response.audio.output.format"),
	{"response.audio.output.voice", "any"},
	TOOLS("response."),
	{"response.reasoning", "obj"},
	{"response.reasoning.effort", "'minimal' 'low' 'medium' 'high' 'xhigh'"},
	{"response.max_output_tokens", "int:1..4096 'inf'"},
	{"response.metadata", "any"},
	{"response.conversation", "'auto' 'none'"},
	{"response.input", "arr"},
	{"response.input[]", "obj"},
	{"response.input[].type",
	 "!'message' 'function_call' 'function_call_output' 'item_reference'"},
	ITEM("response.input[]"),
	{"response.prompt", "any"},
	{NULL, NULL},
};

const struct si_shape rt_shape_response_beta[] = {
	EVENT("response.create"),
	{"response", "obj"},
	{"response.modalities", "arr"},
	{"response.modalities[]", "'audio' 'text'"},
	{"response.instructions", "str"},
	{"response.voice", "str"},
	{"response.output_audio_format", "'pcm16' 'g711_ulaw' 'g711_alaw'"},
	TOOLS("response."),
	{"response.temperature", "num:0.6..1.2"},
	{"response.max_output_tokens", "int:1..4096 'inf'"},
	{"response.max_response_output_tokens", "int:1..4096 'inf'"},
	{"response.metadata", "any"},
	{"response.conversation", "'auto' 'none'"},
	{"response.input", "arr"},
	{"response.input[]", "obj"},
	{"response.input[].type",
	 "!'message' 'function_call' 'function_call_output' 'item_reference'"},
	ITEM("response.input[]"),
	{NULL, NULL},
};

const struct si_shape rt_shape_cancel[] = {
	EVENT("response.cancel"),
	{"response_id", "str"},
	{NULL, NULL},
};
