/* Server events of the OpenAI Realtime dialect. Whatever is missing, of another type or too long
 * makes the message malformed when the fact needs it, and is left out when it does not. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/json_read.h"
#include "control/dialect/openai.h"

enum { DOUBT_MAX = 1000000 };

typedef int(read_h)(struct openai_fact *f, const json_t *root);

static int read_session(struct openai_fact *f, const json_t *root)
{
	(void)root;
	f->type = OPENAI_SESSION;
	return 0;
}

static int read_committed(struct openai_fact *f, const json_t *root)
{
	f->type = OPENAI_COMMITTED;
	return json_read_copy(root, "item_id", f->item, sizeof f->item);
}

static int read_partial(struct openai_fact *f, const json_t *root)
{
	f->type = OPENAI_PARTIAL;
	f->text = json_read_text(root, "delta");
	return json_read_copy(root, "item_id", f->item, sizeof f->item);
}

/* How much the recogniser doubts its words on the whole. */
static uint32_t doubt(const json_t *logprobs)
{
	size_t n = json_array_size(logprobs);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum -= json_number_value(json_object_get(json_array_get(logprobs, i), "logprob"));
	if (!n)
		return 0;
	sum = sum * 1000 / (double)n;
	return sum <= 0 ? 1 : sum >= DOUBT_MAX ? DOUBT_MAX + 1 : (uint32_t)sum + 1;
}

static int read_transcript(struct openai_fact *f, const json_t *root)
{
	f->type = OPENAI_TRANSCRIPT;
	if (!json_is_string(json_object_get(root, "transcript")))
		return EBADMSG;
	f->text = json_read_text(root, "transcript");
	f->doubt = doubt(json_object_get(root, "logprobs"));
	return json_read_copy(root, "item_id", f->item, sizeof f->item);
}

static int read_transcript_failed(struct openai_fact *f, const json_t *root)
{
	f->type = OPENAI_TRANSCRIPT_FAILED;
	f->text = json_read_text(json_object_get(root, "error"), "message");
	return json_read_copy(root, "item_id", f->item, sizeof f->item);
}

static int read_response(struct openai_fact *f, const json_t *root)
{
	const json_t *r = json_object_get(root, "response");

	f->type = OPENAI_RESPONSE;
	f->ask = json_read_number_after(json_read_text(json_object_get(r, "metadata"), "ask"), "");
	return json_read_copy(r, "id", f->response, sizeof f->response);
}

static int delta(struct openai_fact *f, const json_t *root, enum openai_fact_type type,
		 struct slice *to)
{
	f->type = type;
	if (!json_is_string(json_object_get(root, "delta")))
		return EBADMSG;
	*to = json_read_text(root, "delta");
	if (json_read_copy(root, "item_id", f->item, sizeof f->item))
		return EBADMSG;
	return json_read_copy(root, "response_id", f->response, sizeof f->response);
}

static int read_audio(struct openai_fact *f, const json_t *root)
{
	return delta(f, root, OPENAI_AUDIO, &f->audio);
}

static int read_text(struct openai_fact *f, const json_t *root)
{
	return delta(f, root, OPENAI_TEXT, &f->text);
}

static int read_done(struct openai_fact *f, const json_t *root)
{
	static const struct {
		const char *name;
		enum openai_status status;
	} statuses[] = {{"completed", OPENAI_COMPLETED},
			{"cancelled", OPENAI_CANCELLED},
			{"incomplete", OPENAI_INCOMPLETE}};
	const json_t *r = json_object_get(root, "response"), *details;
	struct slice status = json_read_text(r, "status");

	f->type = OPENAI_DONE;
	f->status = OPENAI_FAILED;
	f->ask = json_read_number_after(json_read_text(json_object_get(r, "metadata"), "ask"), "");
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		if (status.n == strlen(statuses[i].name) &&
		    memcmp(status.p, statuses[i].name, status.n) == 0)
			f->status = statuses[i].status;
	details = json_object_get(r, "status_details");
	if (json_read_copy(json_object_get(details, "error"), "code", f->code, sizeof f->code))
		f->code[0] = '\0';
	f->text = json_read_text(json_object_get(details, "error"), "message");
	if (!f->text.n)
		f->text = json_read_text(details, "reason");
	return json_read_copy(r, "id", f->response, sizeof f->response);
}

static bool has(struct slice text, const char *words)
{
	return text.n && memmem(text.p, text.n, words, strlen(words));
}

/* The document does not list codes; the fatal ones end a session in practice. Servers that speak
 * the dialect have codes of their own for the other two, and similar words. */
static enum openai_error kind_of(const char *code, struct slice text)
{
	static const struct {
		const char *code;
		enum openai_error error;
	} codes[] = {{"session_expired", OPENAI_ERROR_FATAL},
		     {"invalid_api_key", OPENAI_ERROR_FATAL},
		     {"insufficient_quota", OPENAI_ERROR_FATAL},
		     {"model_not_found", OPENAI_ERROR_FATAL},
		     {"conversation_already_has_active_response", OPENAI_ERROR_ACTIVE},
		     {"response_cancel_not_active", OPENAI_ERROR_NOT_ACTIVE}};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (strcmp(codes[i].code, code) == 0)
			return codes[i].error;
	if (has(text, "already has an active response"))
		return OPENAI_ERROR_ACTIVE;
	return has(text, "no active response") ? OPENAI_ERROR_NOT_ACTIVE : OPENAI_ERROR_OTHER;
}

/* Codes stand in texts, beside other words or alone. */
enum trouble openai_trouble(const uint8_t *why, size_t len)
{
	static const struct {
		const char *code;
		enum trouble trouble;
	} table[] = {{"invalid_api_key", TROUBLE_KEY},
		     {"unauthorized", TROUBLE_KEY},
		     {"authentication_error", TROUBLE_KEY},
		     {"permission_error", TROUBLE_KEY},
		     {"insufficient_quota", TROUBLE_CREDIT},
		     {"billing_error", TROUBLE_CREDIT},
		     {"credit balance is too low", TROUBLE_CREDIT},
		     {"rate_limit", TROUBLE_BUSY},
		     {"overloaded", TROUBLE_BUSY}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (len && memmem(why, len, table[i].code, strlen(table[i].code)))
			return table[i].trouble;
	return TROUBLE_OTHER;
}

static int read_error(struct openai_fact *f, const json_t *root)
{
	const json_t *e = json_object_get(root, "error");

	f->type = OPENAI_ERROR;
	if (!json_is_object(e))
		return EBADMSG;
	if (json_read_copy(e, "code", f->code, sizeof f->code))
		f->code[0] = '\0';
	f->text = json_read_text(e, "message");
	f->ask = json_read_number_after(json_read_text(e, "event_id"), "ask-");
	f->utterance = json_read_number_after(json_read_text(e, "event_id"), "utterance-");
	f->error = kind_of(f->code, f->text);
	return 0;
}

/* The older names are what servers of the beta shape send. */
static const struct {
	const char *type;
	read_h *h;
} events[] = {
	{"session.created", read_session},
	{"session.updated", read_session},
	{"input_audio_buffer.committed", read_committed},
	{"conversation.item.input_audio_transcription.delta", read_partial},
	{"conversation.item.input_audio_transcription.completed", read_transcript},
	{"conversation.item.input_audio_transcription.failed", read_transcript_failed},
	{"response.created", read_response},
	{"response.output_audio.delta", read_audio},
	{"response.audio.delta", read_audio},
	{"response.output_audio_transcript.delta", read_text},
	{"response.audio_transcript.delta", read_text},
	{"response.done", read_done},
	{"error", read_error},
};

int openai_parse(struct openai_fact *fact, const uint8_t *msg, size_t len)
{
	struct openai_fact f = {.type = OPENAI_IGNORED};
	const char *type;
	json_error_t ignored;
	json_t *root;
	int err = 0;

	if (len > OPENAI_MAX_MESSAGE)
		return EMSGSIZE;
	root = json_loadb((const char *)msg, len, 0, &ignored);
	type = json_string_value(json_object_get(root, "type"));
	if (!type) {
		err = EBADMSG;
		goto out;
	}
	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		if (strcmp(events[i].type, type) == 0) {
			err = events[i].h(&f, root);
			break;
		}
	if (err)
		goto out;
	f.tree = root;
	root = NULL;
	*fact = f;
out:
	json_decref(root);
	return err;
}

void openai_fact_clear(struct openai_fact *fact)
{
	json_decref(fact->tree);
	*fact = (struct openai_fact){0};
}
