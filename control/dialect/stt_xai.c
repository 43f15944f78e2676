/* Transcription sessions of xAI's speech-to-text socket (stt_wire.h).
 *
 * Source: docs.x.ai, speech to text, streaming. Settings are query parameters, sound is binary, and
 * audio.done ends an utterance, which is answered by transcript.done: the words that no utterance
 * which the server itself has found (speech_final) had. There are no ids. A session may take
 * another utterance, or may be closed by the server: the page has said both. Endpointing is set to
 * its longest, since the room finds the ends. An error has no code, so a session that has one is
 * replaced. */
#include <errno.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/json_read.h"
#include "control/dialect/openai.h"
#include "control/dialect/stt_wire.h"

static char *build_url(const struct stt_session *s)
{
	char *url = build_socket_url(s->http_url, "/stt");

	build_query(&url, "sample_rate", "24000");
	build_query(&url, "encoding", "pcm");
	build_query(&url, "interim_results", "true");
	build_query(&url, "endpointing", "5000");
	if (*s->language)
		build_query(&url, "language", s->language);
	return url;
}

static char *build_commit(uint32_t utterance)
{
	(void)utterance;
	return build_text(json_pack("{s:s}", "type", "audio.done"));
}

static int read_message(struct stt_fact *f, const json_t *root, const char *type)
{
	bool ended = json_is_true(json_object_get(root, "speech_final"));

	f->text = json_read_text(root, "text");
	f->whole = true;
	if (strcmp(type, "transcript.created") == 0)
		f->type = STT_READY;
	else if (strcmp(type, "transcript.partial") == 0)
		f->type = ended ? STT_SEGMENT : STT_PARTIAL;
	else if (strcmp(type, "transcript.done") == 0)
		f->type = STT_FINAL;
	if (strcmp(type, "error") == 0) {
		f->type = STT_ERROR;
		f->fatal = true;
		f->text = json_read_text(root, "message");
	}
	return 0;
}

static int parse(struct stt_fact *fact, const uint8_t *msg, size_t len)
{
	struct stt_fact f = {.type = STT_IGNORED};
	const char *type;
	json_t *root;
	int err;

	if (len > STT_MESSAGE_MAX)
		return EMSGSIZE;
	root = json_loadb((const char *)msg, len, 0, NULL);
	type = json_string_value(json_object_get(root, "type"));
	err = type ? read_message(&f, root, type) : EBADMSG;
	if (err) {
		json_decref(root);
		return err;
	}
	f.tree = root;
	*fact = f;
	return 0;
}

const struct stt_wire stt_xai_stt = {.rate = 24000,
				     .one_at_a_time = true,
				     .waits = true,
				     .url = build_url,
				     .auth = openai_auth,
				     .commit = build_commit,
				     .parse = parse};
