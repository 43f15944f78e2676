/* Transcription sessions of vLLM's realtime endpoint (stt_wire.h).
 *
 * Source: vllm/entrypoints/openai/realtime. A commit begins the transcription of an utterance,
 * audio follows, and a final commit ends it. The next one can begin when the transcript is there.
 * There are no ids, audio cannot be discarded, and an error is a plain text. */
#include <errno.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/json_read.h"
#include "control/dialect/openai.h"
#include "control/dialect/stt_wire.h"

static char *build_url(const struct stt_session *s)
{
	return build_socket_url(s->socket_url, "");
}

static char *build_open(const struct stt_session *s)
{
	return build_text(json_pack("{s:s,s:s}", "type", "session.update", "model", s->model));
}

static char *build_begin(void)
{
	return build_text(json_pack("{s:s}", "type", "input_audio_buffer.commit"));
}

static char *build_commit(uint32_t utterance)
{
	(void)utterance;
	return build_text(json_pack("{s:s,s:b}", "type", "input_audio_buffer.commit", "final", 1));
}

static int read_message(struct stt_fact *f, const json_t *root, const char *type)
{
	if (strcmp(type, "transcription.delta") == 0) {
		f->type = STT_PARTIAL;
		f->text = json_read_text(root, "delta");
	} else if (strcmp(type, "transcription.done") == 0) {
		f->type = STT_FINAL;
		if (!json_is_string(json_object_get(root, "text")))
			return EBADMSG;
		f->text = json_read_text(root, "text");
	} else if (strcmp(type, "error") == 0) {
		f->type = STT_ERROR;
		if (json_read_copy(root, "code", f->code, sizeof f->code))
			f->code[0] = '\0';
		f->text = json_read_text(root, "error");
		f->commit = strcmp(f->code, "processing_error") == 0;
		f->fatal = strcmp(f->code, "model_not_validated") == 0;
	}
	return 0;
}

static int parse(struct stt_fact *fact, const uint8_t *msg, size_t len)
{
	return stt_fact_read(fact, msg, len, "type", read_message);
}

const struct stt_wire stt_vllm = {.rate = 16000,
				  .one_at_a_time = true,
				  .url = build_url,
				  .auth = openai_auth,
				  .open = build_open,
				  .begin = build_begin,
				  .append = openai_append,
				  .commit = build_commit,
				  .parse = parse};
