/* Server events of the OpenAI family as facts of a realtime voice session (openai_family.h).
 * Whatever is missing, of another type or too long makes a message malformed when its fact needs
 * it, and is left out when it does not. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "control/dialect/json_aside.h"
#include "control/dialect/json_read.h"
#include "control/dialect/openai.h"
#include "control/dialect/openai_family.h"

/* Reads an event into facts, of which the first is there already. */
typedef int(read_h)(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root);

/* ---- what was heard ---- */

static int read_nothing(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	(void)facts, (void)f, (void)root;
	return 0;
}

static int read_item(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	(void)facts;
	return json_read_copy(root, "item_id", f->item, sizeof f->item);
}

static int read_heard_delta(struct realtime_facts *facts, struct realtime_fact *f,
			    const json_t *root)
{
	f->text = json_read_text(root, "delta");
	return read_item(facts, f, root);
}

/* xAI tells all words so far. */
static int read_heard_all(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	f->whole = true;
	f->text = json_read_text(root, "transcript");
	return read_item(facts, f, root);
}

/* A transcript costs by tokens or by time. */
static void add_transcript_usage(struct realtime_facts *facts, const json_t *usage)
{
	const json_t *details = json_object_get(usage, "input_token_details");
	double seconds = json_number_value(json_object_get(usage, "seconds"));
	struct realtime_fact *f;

	f = json_is_object(usage) ? realtime_fact_add(facts, REALTIME_USAGE) : NULL;
	if (!f)
		return;
	f->usage.n[PRICE_TEXT_IN] = json_read_count(details, "text_tokens");
	f->usage.n[PRICE_AUDIO_IN] = json_read_count(details, "audio_tokens");
	f->usage.n[PRICE_TEXT_OUT] = json_read_count(usage, "output_tokens");
	f->usage.n[PRICE_SECONDS] = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds + 0.999) : 0;
}

static int read_heard_text(struct realtime_facts *facts, struct realtime_fact *f,
			   const json_t *root)
{
	if (!json_is_string(json_object_get(root, "transcript")))
		return EBADMSG;
	f->text = json_read_text(root, "transcript");
	add_transcript_usage(facts, json_object_get(root, "usage"));
	return read_item(facts, f, root);
}

/* ---- an answer ---- */

static void read_ask(struct realtime_fact *f, const json_t *response)
{
	const json_t *metadata = json_object_get(response, "metadata");
	uint32_t aside = json_read_number_after(json_read_text(metadata, OPENAI_ASIDE), "");

	f->aside = aside != 0;
	f->ask = aside ? aside : json_read_number_after(json_read_text(metadata, "ask"), "");
}

static int read_response(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	const json_t *r = json_object_get(root, "response");

	(void)facts;
	read_ask(f, r);
	return json_read_copy(r, "id", f->response, sizeof f->response);
}

static int read_ids(struct realtime_fact *f, const json_t *root)
{
	if (json_read_copy(root, "item_id", f->item, sizeof f->item))
		return EBADMSG;
	return json_read_copy(root, "response_id", f->response, sizeof f->response);
}

static int read_delta(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	(void)facts;
	if (!json_is_string(json_object_get(root, "delta")))
		return EBADMSG;
	f->text = f->data = json_read_text(root, "delta");
	if (f->type == REALTIME_CALL_FRAGMENT &&
	    json_read_copy(root, "call_id", f->call, sizeof f->call))
		f->call[0] = '\0';
	return read_ids(f, root);
}

/* ---- calls of tools ---- */

/* The item of a call. EBADMSG: it is none. */
static int read_call_item(struct realtime_fact *f, const json_t *item)
{
	if (json_read_copy(item, "id", f->item, sizeof f->item))
		f->item[0] = '\0';
	f->text = json_read_text(item, "arguments");
	return json_read_copy(item, "name", f->name, sizeof f->name) ||
			       json_read_copy(item, "call_id", f->call, sizeof f->call)
		       ? EBADMSG
		       : 0;
}

static bool is_call(const json_t *item)
{
	const char *type = json_string_value(json_object_get(item, "type"));

	return type && strcmp(type, "function_call") == 0;
}

static int read_output_item(struct realtime_facts *facts, struct realtime_fact *f,
			    const json_t *root)
{
	const json_t *item = json_object_get(root, "item");

	if (!is_call(item)) {
		facts->n = 0;
		return 0;
	}
	if (json_read_copy(root, "response_id", f->response, sizeof f->response))
		return EBADMSG;
	return read_call_item(f, item);
}

static int read_call(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	(void)facts;
	f->text = json_read_text(root, "arguments");
	if (json_read_copy(root, "name", f->name, sizeof f->name))
		f->name[0] = '\0';
	if (json_read_copy(root, "call_id", f->call, sizeof f->call))
		return EBADMSG;
	return read_ids(f, root);
}

/* Calls that a finished answer lists. */
static void add_calls(struct realtime_facts *facts, const json_t *response, const char *id)
{
	const json_t *output = json_object_get(response, "output"), *item;
	size_t i;

	json_array_foreach(output, i, item)
	{
		struct realtime_fact call = {.type = REALTIME_CALL}, *f;

		if (!is_call(item) || read_call_item(&call, item))
			continue;
		f = realtime_fact_add(facts, REALTIME_CALL);
		if (!f)
			return;
		call.data = f->data;
		memcpy(call.response, id, strlen(id) + 1);
		*f = call;
	}
}

/* ---- the end of an answer ---- */

/* Where the kinds of what was cached are not told, *rest holds all of it, for the kinds in order.
 */
static uint64_t take_cached(const json_t *kinds, const char *kind, uint64_t *rest, uint64_t all)
{
	uint64_t cached = kinds ? json_read_count(kinds, kind) : *rest;

	if (cached > all)
		cached = all;
	*rest -= kinds ? 0 : cached;
	return cached;
}

/* The counts that went in hold those that were cached. Where kinds are not told, all is text, and
 * what was cached is text first, then sound, then images. Cached images have no price of their own:
 * they count as cached text. */
static void read_usage(struct usage *to, const json_t *usage)
{
	const json_t *in = json_object_get(usage, "input_token_details");
	const json_t *out = json_object_get(usage, "output_token_details");
	const json_t *kinds = json_object_get(in, "cached_tokens_details");
	uint64_t rest = json_read_count(in, "cached_tokens");
	uint64_t text = json_read_count(in, "text_tokens"), text_cached;
	uint64_t audio = json_read_count(in, "audio_tokens"), audio_cached;
	uint64_t image = json_read_count(in, "image_tokens"), image_cached;

	if (!text && !audio && !image)
		text = json_read_count(usage, "input_tokens");
	text_cached = take_cached(kinds, "text_tokens", &rest, text);
	audio_cached = take_cached(kinds, "audio_tokens", &rest, audio);
	image_cached = take_cached(kinds, "image_tokens", &rest, image);
	to->n[PRICE_TEXT_IN] = text - text_cached;
	to->n[PRICE_TEXT_CACHED] = text_cached + image_cached;
	to->n[PRICE_TEXT_OUT] =
		json_read_count(out ? out : usage, out ? "text_tokens" : "output_tokens");
	to->n[PRICE_AUDIO_IN] = audio - audio_cached;
	to->n[PRICE_AUDIO_CACHED] = audio_cached;
	to->n[PRICE_AUDIO_OUT] = json_read_count(out, "audio_tokens");
	to->n[PRICE_IMAGE_IN] = image - image_cached;
}

static enum realtime_status status_of(struct slice status)
{
	static const struct {
		const char *name;
		enum realtime_status status;
	} statuses[] = {{"completed", REALTIME_COMPLETED},
			{"cancelled", REALTIME_CANCELLED},
			{"incomplete", REALTIME_INCOMPLETE}};

	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		if (status.n == strlen(statuses[i].name) &&
		    memcmp(status.p, statuses[i].name, status.n) == 0)
			return statuses[i].status;
	return REALTIME_FAILED;
}

static bool slice_is(struct slice s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static int read_done(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	const json_t *r = json_object_get(root, "response");
	const json_t *details = json_object_get(r, "status_details");
	const json_t *usage = json_object_get(r, "usage");
	bool cut = slice_is(json_read_text(details, "reason"), "turn_detected");
	struct realtime_fact done = *f;

	done.status = status_of(json_read_text(r, "status"));
	read_ask(&done, r);
	if (json_read_copy(json_object_get(details, "error"), "code", done.code, sizeof done.code))
		done.code[0] = '\0';
	done.text = json_read_text(json_object_get(details, "error"), "message");
	if (!done.text.n)
		done.text = json_read_text(details, "reason");
	/* xAI may have it beside the response. */
	read_usage(&done.usage, usage ? usage : json_object_get(root, "usage"));
	if (json_read_copy(r, "id", done.response, sizeof done.response))
		return EBADMSG;
	facts->n = 0;
	if (done.status == REALTIME_COMPLETED)
		add_calls(facts, r, done.response);
	/* Calls give way to the facts that end the answer. */
	if (facts->n > REALTIME_FACTS - 1u - cut)
		facts->n = REALTIME_FACTS - 1u - cut;
	if (cut) {
		f = realtime_fact_add(facts, REALTIME_INTERRUPTED);
		memcpy(f->response, done.response, sizeof done.response);
	}
	*realtime_fact_add(facts, REALTIME_DONE) = done;
	return 0;
}

/* ---- errors ---- */

static bool has(struct slice text, const char *words)
{
	return text.n && memmem(text.p, text.n, words, strlen(words));
}

/* The document does not list codes; the fatal ones end a session in practice. Servers that speak
 * the dialect have codes of their own for the other two, and similar words. */
static enum realtime_error kind_of(const char *code, struct slice text)
{
	static const struct {
		const char *code;
		enum realtime_error error;
	} codes[] = {{"session_expired", REALTIME_ERROR_FATAL},
		     {"invalid_api_key", REALTIME_ERROR_FATAL},
		     {"insufficient_quota", REALTIME_ERROR_FATAL},
		     {"model_not_found", REALTIME_ERROR_FATAL},
		     {"conversation_already_has_active_response", REALTIME_ERROR_ACTIVE},
		     {"response_cancel_not_active", REALTIME_ERROR_NOT_ACTIVE}};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (strcmp(codes[i].code, code) == 0)
			return codes[i].error;
	if (has(text, "already has an active response"))
		return REALTIME_ERROR_ACTIVE;
	return has(text, "no active response") ? REALTIME_ERROR_NOT_ACTIVE : REALTIME_ERROR_OTHER;
}

/* The error names the member of session.update that was refused. */
static bool is_about_session(const json_t *error)
{
	struct slice param = json_read_text(error, "param");

	return param.n > 8 && memcmp(param.p, "session.", 8) == 0;
}

static int read_error(struct realtime_facts *facts, struct realtime_fact *f, const json_t *root)
{
	const json_t *e = json_object_get(root, "error");

	(void)facts;
	if (!json_is_object(e))
		return EBADMSG;
	if (json_read_copy(e, "code", f->code, sizeof f->code))
		f->code[0] = '\0';
	f->text = json_read_text(e, "message");
	f->ask = json_read_number_after(json_read_text(e, "event_id"), OPENAI_ASIDE_EVENT);
	f->aside = f->ask != 0;
	if (!f->aside)
		f->ask = json_read_number_after(json_read_text(e, "event_id"), "ask-");
	f->error = kind_of(f->code, f->text);
	if (f->error == REALTIME_ERROR_OTHER && is_about_session(e))
		f->error = REALTIME_ERROR_SESSION;
	return 0;
}

/* A session.update is taken as a whole or not at all: with a voice that the provider does not have,
 * the instructions, the tools and the manual turns were refused, too. */
static void leave_out_voice(struct openai_codec *c, struct realtime_facts *facts,
			    const json_t *root)
{
	struct slice param = json_read_text(json_object_get(root, "error"), "param");
	static const char voice[] = "voice";
	const size_t n = sizeof voice - 1;

	if (!facts->n || facts->v[0].type != REALTIME_ERROR ||
	    facts->v[0].error != REALTIME_ERROR_SESSION || param.n < n ||
	    memcmp(param.p + param.n - n, voice, n) != 0 || !*c->voice)
		return;
	c->voice[0] = '\0';
	facts->v[0].whole = true;
}

/* ---- the table ---- */

/* The names of all members of the family; no two of them mean different things by one name. */
static const struct {
	const char *type;
	enum realtime_fact_type fact;
	read_h *h;
} events[] = {
	{"session.created", REALTIME_SESSION, read_nothing},
	{"session.updated", REALTIME_SESSION, read_nothing},
	/* xAI may begin with it. */
	{"conversation.created", REALTIME_SESSION, read_nothing},
	{"input_audio_buffer.committed", REALTIME_HEARD_ITEM, read_item},
	{"conversation.item.input_audio_transcription.delta", REALTIME_HEARD_PART,
	 read_heard_delta},
	{"conversation.item.input_audio_transcription.updated", REALTIME_HEARD_PART,
	 read_heard_all},
	{"conversation.item.input_audio_transcription.completed", REALTIME_HEARD_TEXT,
	 read_heard_text},
	{"response.created", REALTIME_RESPONSE, read_response},
	{"response.output_item.added", REALTIME_CALL_BEGUN, read_output_item},
	{"response.output_item.done", REALTIME_CALL, read_output_item},
	{"response.output_audio.delta", REALTIME_AUDIO, read_delta},
	{"response.audio.delta", REALTIME_AUDIO, read_delta},
	{"response.output_audio_transcript.delta", REALTIME_TEXT, read_delta},
	{"response.audio_transcript.delta", REALTIME_TEXT, read_delta},
	{"response.output_text.delta", REALTIME_TEXT, read_delta},
	{"response.text.delta", REALTIME_TEXT, read_delta},
	{"response.function_call_arguments.delta", REALTIME_CALL_FRAGMENT, read_delta},
	{"response.function_call_arguments.done", REALTIME_CALL, read_call},
	{"response.done", REALTIME_DONE, read_done},
	{"error", REALTIME_ERROR, read_error},
};

static int read_event(struct realtime_facts *facts, const char *type, const json_t *root)
{
	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		if (strcmp(events[i].type, type) == 0)
			return events[i].h(facts, realtime_fact_add(facts, events[i].fact), root);
	return 0;
}

int openai_realtime_decode(void *codec, bool text, const uint8_t *msg, size_t n,
			   struct realtime_facts *facts)
{
	struct json_aside aside;
	const char *type;
	json_t *root;
	int err;

	if (n > REALTIME_MESSAGE_MAX)
		return EMSGSIZE;
	if (!text)
		return EBADMSG;
	root = json_aside_load(&aside, msg, n, "delta", JSON_ASIDE_LEAST);
	type = json_string_value(json_object_get(root, "type"));
	facts->n = 0;
	err = type ? read_event(facts, type, root) : EBADMSG;
	if (err) {
		json_decref(root);
		return err;
	}
	leave_out_voice(codec, facts, root);
	for (size_t i = 0; i < facts->n; i++) {
		facts->v[i].text = json_aside_value(&aside, facts->v[i].text);
		facts->v[i].data = json_aside_value(&aside, facts->v[i].data);
	}
	facts->tree = root;
	return 0;
}
