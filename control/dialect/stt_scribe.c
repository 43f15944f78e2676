/* Transcription sessions of ElevenLabs Scribe (stt_wire.h).
 *
 * Source: ElevenLabs API reference, speech-to-text realtime. Audio and commits are one kind of
 * message, transcripts have no ids and come in the order of the commits. Timestamps are requested,
 * since log-probabilities come with them alone; the transcript without them, which comes first, is
 * passed over. A commit before the transcript of the one before is refused as too fast. */
#include <errno.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/json_read.h"
#include "control/dialect/stt_doubt.h"
#include "control/dialect/stt_wire.h"

static char *build_url(const struct stt_session *s)
{
	char *url = build_socket_url(s->http_url, "/speech-to-text/realtime");

	build_query(&url, "model_id", *s->model ? s->model : "scribe_v2_realtime");
	build_query(&url, "audio_format", "pcm_24000");
	build_query(&url, "commit_strategy", "manual");
	build_query(&url, "include_timestamps", "true");
	if (*s->language)
		build_query(&url, "language_code", s->language);
	else
		build_query(&url, "include_language_detection", "true");
	return url;
}

static char *build_auth(const char *key)
{
	return build_header("xi-api-key", key);
}

#define CHUNK "{\"message_type\":\"input_audio_chunk\",\"audio_base_64\":\""

static char *build_append(const uint8_t *pcm, size_t n)
{
	return build_audio(CHUNK, pcm, n, "\",\"commit\":false,\"sample_rate\":24000}");
}

static char *build_commit(uint32_t utterance)
{
	(void)utterance;
	return build_audio(CHUNK, NULL, 0, "\",\"commit\":true,\"sample_rate\":24000}");
}

/* ---- server messages ---- */

static int read_partial(struct stt_fact *f, const json_t *root)
{
	f->type = STT_PARTIAL;
	f->whole = true;
	f->text = json_read_text(root, "text");
	return 0;
}

static int read_committed(struct stt_fact *f, const json_t *root)
{
	const json_t *words = json_object_get(root, "words");
	struct stt_doubt doubt = {0};

	f->type = STT_FINAL;
	if (!json_is_string(json_object_get(root, "text")))
		return EBADMSG;
	f->text = json_read_text(root, "text");
	for (size_t i = 0; i < json_array_size(words); i++) {
		const json_t *w = json_array_get(words, i);
		const char *type = json_string_value(json_object_get(w, "type"));

		if (type && strcmp(type, "word") == 0)
			stt_doubt_add(&doubt, json_object_get(w, "logprob"));
	}
	f->doubt = stt_doubt_of(&doubt);
	json_read_copy(root, "language_code", f->language, sizeof f->language);
	return 0;
}

/* Names with and without _error are both in use. */
static const struct {
	const char *type;
	bool fatal, commit, empty;
} errors[] = {
	{"auth_error", true, false, false},
	{"quota_exceeded", true, false, false},
	{"quota_exceeded_error", true, false, false},
	{"unaccepted_terms", true, false, false},
	{"unaccepted_terms_error", true, false, false},
	{"session_time_limit_exceeded", true, false, false},
	{"resource_exhausted", true, false, false},
	{"queue_overflow", true, false, false},
	{"rate_limited", true, false, false},
	{"commit_throttled", false, true, true},
	{"insufficient_audio_activity", false, true, true},
	{"transcriber_error", false, true, false},
	{"input_error", false, false, false},
	{"invalid_request", false, false, false},
	{"chunk_size_exceeded", false, false, false},
	{"error", false, false, false},
};

static void read_error(struct stt_fact *f, const json_t *root, size_t at)
{
	f->type = STT_ERROR;
	json_read_copy(root, "message_type", f->code, sizeof f->code);
	f->text = json_read_text(root, "error");
	f->fatal = errors[at].fatal;
	f->commit = errors[at].commit;
	f->empty = errors[at].empty;
}

static int read_message(struct stt_fact *f, const json_t *root, const char *type)
{
	if (strcmp(type, "partial_transcript") == 0)
		return read_partial(f, root);
	if (strcmp(type, "committed_transcript_with_timestamps") == 0)
		return read_committed(f, root);
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (strcmp(type, errors[i].type) == 0)
			read_error(f, root, i);
	return 0;
}

static int parse(struct stt_fact *fact, const uint8_t *msg, size_t len)
{
	return stt_fact_read(fact, msg, len, "message_type", read_message);
}

const struct stt_wire stt_scribe = {.rate = 24000,
				    .one_at_a_time = true,
				    .url = build_url,
				    .auth = build_auth,
				    .append = build_append,
				    .commit = build_commit,
				    .parse = parse};
