/* Transcription sessions of the OpenAI Realtime dialect, and of xAI's, whose events have the same
 * names (stt_wire.h).
 *
 * Sources: OpenAI's OpenAPI document, RealtimeTranscriptionSessionCreateRequestGA and
 * RealtimeServerEventConversationItemInputAudioTranscription*; xAI's Voice Agent API. xAI has no
 * session of transcription alone: it is a voice session that never gets a request for an answer,
 * and its interim transcripts come whole. */
#include <errno.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/json_read.h"
#include "control/dialect/openai.h"
#include "control/dialect/stt_doubt.h"
#include "control/dialect/stt_wire.h"

static const char grok[] = "grok-voice-latest"; /* the model of the voice session, not asked */

/* ---- client events ---- */

static char *build_url(const struct stt_session *s)
{
	return openai_url_transcription(s->socket_url);
}

static char *build_url_xai(const struct stt_session *s)
{
	return openai_url_voice(s->socket_url, grok);
}

static char *build_open(const struct stt_session *s)
{
	return openai_session_transcription(s->model, s->language);
}

static json_t *xai_format(void)
{
	return json_pack("{s:s,s:i}", "type", "audio/pcm", "rate", OPENAI_RATE);
}

static char *build_open_xai(const struct stt_session *s)
{
	const char *language = *s->language ? s->language : NULL;

	return build_text(
		json_pack("{s:s,s:{s:s,s:n,s:{s:{s:o,s:{s:s,s:s*}}}}}", "type", "session.update",
			  "session", "instructions", "", "turn_detection", "audio", "input",
			  "format", xai_format(), "transcription", "model",
			  *s->model ? s->model : "grok-transcribe", "language_hint", language));
}

/* ---- server events ---- */

static int read_item(struct stt_fact *f, const json_t *root)
{
	return json_read_copy(root, "item_id", f->item, sizeof f->item);
}

static int read_committed(struct stt_fact *f, const json_t *root)
{
	f->type = STT_COMMITTED;
	return read_item(f, root);
}

static int read_delta(struct stt_fact *f, const json_t *root)
{
	f->type = STT_PARTIAL;
	f->text = json_read_text(root, "delta");
	return read_item(f, root);
}

static int read_updated(struct stt_fact *f, const json_t *root)
{
	f->type = STT_PARTIAL;
	f->whole = true;
	f->text = json_read_text(root, "transcript");
	return read_item(f, root);
}

static int read_completed(struct stt_fact *f, const json_t *root)
{
	const json_t *logprobs = json_object_get(root, "logprobs");
	struct stt_doubt doubt = {0};

	f->type = STT_FINAL;
	if (!json_is_string(json_object_get(root, "transcript")))
		return EBADMSG;
	f->text = json_read_text(root, "transcript");
	for (size_t i = 0; i < json_array_size(logprobs); i++)
		stt_doubt_add(&doubt, json_object_get(json_array_get(logprobs, i), "logprob"));
	f->doubt = stt_doubt_of(&doubt);
	json_read_copy(json_array_get(json_object_get(root, "languages"), 0), "code", f->language,
		       sizeof f->language);
	return read_item(f, root);
}

static int read_failed(struct stt_fact *f, const json_t *root)
{
	f->type = STT_FAILED;
	f->text = json_read_text(json_object_get(root, "error"), "message");
	return read_item(f, root);
}

/* The document does not list codes; these end a session in practice. */
static bool fatal_p(const char *code)
{
	static const char *const codes[] = {"session_expired", "invalid_api_key",
					    "insufficient_quota", "model_not_found"};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

static int read_error(struct stt_fact *f, const json_t *root)
{
	const json_t *e = json_object_get(root, "error");

	f->type = STT_ERROR;
	if (!json_is_object(e))
		return EBADMSG;
	if (json_read_copy(e, "code", f->code, sizeof f->code))
		f->code[0] = '\0';
	f->text = json_read_text(e, "message");
	f->fatal = fatal_p(f->code);
	f->empty = strcmp(f->code, "input_audio_buffer_commit_empty") == 0;
	f->utterance = json_read_number_after(json_read_text(e, "event_id"), "utterance-");
	f->commit = f->utterance != 0;
	return 0;
}

#define TRANSCRIPTION "conversation.item.input_audio_transcription."
static const struct {
	const char *type;
	int (*h)(struct stt_fact *f, const json_t *root);
} events[] = {
	{"input_audio_buffer.committed", read_committed},
	{TRANSCRIPTION "delta", read_delta},
	{TRANSCRIPTION "updated", read_updated},
	{TRANSCRIPTION "completed", read_completed},
	{TRANSCRIPTION "failed", read_failed},
	{"error", read_error},
};

static int read_message(struct stt_fact *f, const json_t *root, const char *type)
{
	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		if (strcmp(events[i].type, type) == 0)
			return events[i].h(f, root);
	return 0;
}

static int parse(struct stt_fact *fact, const uint8_t *msg, size_t len)
{
	return stt_fact_read(fact, msg, len, "type", read_message);
}

const struct stt_wire stt_openai = {.rate = OPENAI_RATE,
				    .min_commit_ms = 100,
				    .interim = true,
				    .url = build_url,
				    .auth = openai_auth,
				    .open = build_open,
				    .append = openai_append,
				    .commit = openai_commit,
				    .clear = openai_clear,
				    .parse = parse};

const struct stt_wire stt_xai = {.rate = OPENAI_RATE,
				 .url = build_url_xai,
				 .auth = openai_auth,
				 .open = build_open_xai,
				 .append = openai_append,
				 .commit = openai_commit,
				 .clear = openai_clear,
				 .parse = parse};
