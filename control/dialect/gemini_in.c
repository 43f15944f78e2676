/* Messages of Gemini Live as facts (gemini.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/gemini.h"
#include "control/dialect/json_aside.h"
#include "control/dialect/json_read.h"

/* One message that is being read. */
struct reading {
	struct gemini_codec *c;
	struct gemini_state *s;
	struct realtime_facts *facts;
	json_t *root;
	struct realtime_fact *done; /* of an answer that ended in this message */
	int err;
};

/* Never NULL: where there is no place, the message is refused as a whole. */
static struct realtime_fact *add(struct reading *r, enum realtime_fact_type type)
{
	struct realtime_fact *f = realtime_fact_add(r->facts, type);

	if (f)
		return f;
	r->err = EMSGSIZE;
	return &r->facts->v[0];
}

static struct realtime_fact *add_of_answer(struct reading *r, enum realtime_fact_type type)
{
	struct realtime_fact *f = add(r, type);

	snprintf(f->response, sizeof f->response, "answer-%u", r->s->answers);
	snprintf(f->item, sizeof f->item, "answer-%u", r->s->answers);
	return f;
}

/* ---- the speaker's words ---- */

static struct realtime_fact *add_of_input(struct reading *r, enum realtime_fact_type type)
{
	struct realtime_fact *f = add(r, type);

	snprintf(f->item, sizeof f->item, "input-%u", r->s->inputs);
	return f;
}

static void end_heard(struct reading *r)
{
	json_t *text = r->s->heard ? json_stringn(r->c->heard, r->s->heard) : NULL;
	struct realtime_fact *f;

	r->s->heard = 0;
	if (!text || json_object_set_new(r->root, "heard", text))
		return;
	f = add_of_input(r, REALTIME_HEARD_TEXT);
	f->text = json_read_text(r->root, "heard");
}

static void read_heard(struct reading *r, const json_t *transcription)
{
	struct slice text = json_read_text(transcription, "text");
	struct gemini_state *s = r->s;

	if (text.n && text.n <= GEMINI_HEARD - s->heard) {
		memcpy(r->c->heard + s->heard, text.p, text.n);
		s->heard += text.n;
	}
	if (text.n && !s->heard_named) {
		s->heard_named = true;
		add_of_input(r, REALTIME_HEARD_ITEM);
	}
	if (text.n)
		add_of_input(r, REALTIME_HEARD_PART)->text = text;
	if (json_is_true(json_object_get(transcription, "finished")))
		end_heard(r);
}

/* ---- answers ---- */

/* Of the last answer, which is over. */
static bool may_get_words(const struct gemini_state *s)
{
	return s->answers && !s->transcribed && (s->cut || s->marks_ends);
}

static void begin_answer(struct reading *r)
{
	struct gemini_state *s = r->s;
	uint32_t ask = 0;

	s->dropped = false;
	if (s->n_asked) {
		ask = s->asked[0].ask;
		s->dropped = s->asked[0].drop;
		memmove(&s->asked[0], &s->asked[1], --s->n_asked * sizeof s->asked[0]);
	}
	s->answer = GEMINI_RUNS;
	s->open_before = may_get_words(s);
	s->interrupted = s->calling = s->cut = s->said = s->transcribed = false;
	s->passed_mark = false;
	s->last_ask = ask;
	s->answers++;
	if (!s->dropped)
		add_of_answer(r, REALTIME_RESPONSE)->ask = ask;
}

static void end_answer(struct reading *r, enum gemini_answer next)
{
	struct gemini_state *s = r->s;

	end_heard(r);
	s->answer = next;
	if (s->dropped)
		return;
	r->done = add_of_answer(r, REALTIME_DONE);
	r->done->ask = s->last_ask;
	r->done->status = s->interrupted ? REALTIME_CANCELLED : REALTIME_COMPLETED;
}

static void read_part(struct reading *r, const json_t *part)
{
	const json_t *data = json_object_get(part, "inlineData");
	const char *mime = json_string_value(json_object_get(data, "mimeType"));
	struct slice text = json_read_text(part, "text");
	bool audio = mime && strncmp(mime, "audio/pcm", 9) == 0;

	/* Texts of a model that speaks are its thoughts. */
	if (json_is_true(json_object_get(part, "thought")) || !r->c->text_only)
		text.n = 0;
	if (!audio && !text.n)
		return;
	if (r->s->answer != GEMINI_RUNS)
		begin_answer(r);
	if (!r->s->dropped && audio)
		add_of_answer(r, REALTIME_AUDIO)->data = json_read_text(data, "data");
	if (!r->s->dropped && text.n)
		add_of_answer(r, REALTIME_TEXT)->text = text;
}

/* The words may come after the end of the answer. */
static void read_said(struct reading *r, const json_t *transcription)
{
	struct slice text = json_read_text(transcription, "text");
	bool last = json_is_true(json_object_get(transcription, "finished"));
	struct gemini_state *s = r->s;

	s->marks_ends = s->marks_ends || last;
	if (s->answer == GEMINI_NONE && !may_get_words(s)) {
		if (!text.n || !s->n_asked)
			return;
		begin_answer(r);
	}
	if (last && s->open_before && !s->said) {
		s->open_before = false;
		s->passed_mark = true;
		return;
	}
	s->said = s->said || text.n;
	s->transcribed = s->transcribed || last;
	if (!s->dropped && text.n)
		add_of_answer(r, REALTIME_TEXT)->text = text;
}

static void end_turn(struct reading *r)
{
	struct gemini_state *s = r->s;
	bool over = s->answer == GEMINI_ENDS && !(s->calling && !s->calls && !s->interrupted);

	if (s->answer == GEMINI_RUNS) {
		end_answer(r, GEMINI_NONE);
	} else if (!over && s->n_asked) {
		/* The model said nothing. */
		begin_answer(r);
		end_answer(r, GEMINI_NONE);
	}
	/* An answer that ends without words and after a mark has none to come: the mark was its
	 * own.
	 */
	s->transcribed = s->transcribed || (s->passed_mark && !s->said);
	s->answer = GEMINI_NONE;
	s->cut = s->interrupted;
	s->interrupted = s->calling = false;
}

static void read_content(struct reading *r, const json_t *content)
{
	const json_t *parts = json_object_get(json_object_get(content, "modelTurn"), "parts");

	if (json_is_object(json_object_get(content, "inputTranscription")))
		read_heard(r, json_object_get(content, "inputTranscription"));
	for (size_t i = 0; i < json_array_size(parts) && !r->err; i++)
		read_part(r, json_array_get(parts, i));
	read_said(r, json_object_get(content, "outputTranscription"));
	if (json_is_true(json_object_get(content, "interrupted"))) {
		r->s->interrupted = true;
		if (r->s->answer == GEMINI_RUNS && !r->s->dropped)
			add_of_answer(r, REALTIME_INTERRUPTED);
	}
	if (json_is_true(json_object_get(content, "generationComplete")) &&
	    r->s->answer == GEMINI_RUNS)
		end_answer(r, GEMINI_ENDS);
	if (json_is_true(json_object_get(content, "turnComplete")))
		end_turn(r);
}

/* ---- tools ---- */

/* The arguments as text, kept in the message. */
static struct slice arguments_of(struct reading *r, const json_t *call, size_t i)
{
	const json_t *args = json_object_get(call, "args");
	char *text = json_is_object(args) ? json_dumps(args, JSON_COMPACT) : NULL, key[32];
	int err;

	if (!text)
		return (struct slice){(const uint8_t *)"{}", 2};
	snprintf(key, sizeof key, "arguments-%zu", i);
	err = json_object_set_new(r->root, key, json_string(text));
	free(text);
	if (err)
		r->err = ENOMEM;
	return json_read_text(r->root, key);
}

static void read_call(struct reading *r, const json_t *call, size_t i)
{
	char id[REALTIME_ID_MAX], name[REALTIME_NAME_MAX];
	struct realtime_fact *f;

	if (json_read_copy(call, "name", name, sizeof name) ||
	    json_read_copy(call, "id", id, sizeof id)) {
		r->err = EBADMSG;
		return;
	}
	if (r->s->answer != GEMINI_RUNS)
		begin_answer(r);
	/* Nobody answers the calls of such an answer; the next question ends it. */
	if (r->s->dropped)
		return;
	r->s->calls++;
	f = add_of_answer(r, REALTIME_CALL);
	memcpy(f->call, id, sizeof id);
	memcpy(f->name, name, sizeof name);
	f->text = arguments_of(r, call, i);
}

/* The model waits for the results, so this part of its answer is whole. */
static void read_calls(struct reading *r, const json_t *calls)
{
	for (size_t i = 0; i < json_array_size(calls) && !r->err; i++)
		read_call(r, json_array_get(calls, i), i);
	if (!json_array_size(calls) || r->err)
		return;
	end_answer(r, GEMINI_ENDS);
	r->s->calling = true;
}

static void read_revoked(struct reading *r, const json_t *ids)
{
	for (size_t i = 0; i < json_array_size(ids) && !r->err; i++) {
		const char *id = json_string_value(json_array_get(ids, i));

		if (!id || strlen(id) >= REALTIME_ID_MAX)
			continue;
		if (r->s->calls)
			r->s->calls--;
		snprintf(add(r, REALTIME_CALL_REVOKED)->call, REALTIME_ID_MAX, "%s", id);
	}
}

/* ---- usage and the session ---- */

static uint64_t tokens_of(const json_t *details, const char *modality)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < json_array_size(details); i++) {
		const json_t *d = json_array_get(details, i);
		const char *is = json_string_value(json_object_get(d, "modality"));

		if (is && strcmp(is, modality) == 0)
			sum += json_read_count(d, "tokenCount");
	}
	return sum;
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* The counts that went in hold those that were cached. Where modalities are not told, what goes in
 * is text and what comes out is audio. */
static struct usage usage_of(const json_t *u)
{
	const json_t *in = json_object_get(u, "promptTokensDetails");
	const json_t *out = json_object_get(u, "responseTokensDetails");
	const json_t *cached = json_object_get(u, "cacheTokensDetails");
	bool told_in = json_array_size(in), told_out = json_array_size(out);
	uint64_t images = tokens_of(in, "IMAGE") + tokens_of(in, "VIDEO");
	uint64_t seen = tokens_of(cached, "IMAGE") + tokens_of(cached, "VIDEO");
	struct usage v = {0};

	v.n[PRICE_TEXT_CACHED] = json_array_size(cached)
					 ? tokens_of(cached, "TEXT")
					 : json_read_count(u, "cachedContentTokenCount");
	v.n[PRICE_AUDIO_CACHED] = tokens_of(cached, "AUDIO");
	v.n[PRICE_TEXT_IN] =
		less(told_in ? tokens_of(in, "TEXT") : json_read_count(u, "promptTokenCount"),
		     v.n[PRICE_TEXT_CACHED]);
	v.n[PRICE_AUDIO_IN] = less(tokens_of(in, "AUDIO"), v.n[PRICE_AUDIO_CACHED]);
	/* Cached images have no price of their own: they count as cached text. */
	v.n[PRICE_IMAGE_IN] = less(images, seen);
	v.n[PRICE_TEXT_CACHED] += images - v.n[PRICE_IMAGE_IN];
	v.n[PRICE_TEXT_OUT] = tokens_of(out, "TEXT") + json_read_count(u, "thoughtsTokenCount");
	v.n[PRICE_AUDIO_OUT] =
		told_out ? tokens_of(out, "AUDIO") : json_read_count(u, "responseTokenCount");
	return v;
}

static void read_usage(struct reading *r, const json_t *u)
{
	struct realtime_fact *f = r->done;

	if (!json_is_object(u))
		return;
	if (!f && r->s->answers)
		f = add_of_answer(r, REALTIME_USAGE);
	else if (!f)
		f = add(r, REALTIME_USAGE);
	f->usage = usage_of(u);
}

/* "50s", "9.5s", in milliseconds. */
static uint32_t duration_of(struct slice text)
{
	uint64_t ms = 0, unit = 1000;
	size_t i = 0;

	for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && ms < UINT32_MAX; i++)
		ms = ms * 10 + (text.p[i] - '0') * unit;
	if (i < text.n && text.p[i] == '.')
		for (i++; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
			ms += (text.p[i] - '0') * (unit /= 10);
	return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static void read_session(struct reading *r)
{
	const json_t *away = json_object_get(r->root, "goAway");
	const json_t *resumption = json_object_get(r->root, "sessionResumptionUpdate");
	const json_t *error = json_object_get(r->root, "error");
	struct realtime_fact *f;

	if (json_is_object(json_object_get(r->root, "setupComplete")))
		add(r, REALTIME_SESSION);
	if (json_is_object(away))
		add(r, REALTIME_GO_AWAY)->ms = duration_of(json_read_text(away, "timeLeft"));
	if (json_is_object(resumption)) {
		f = add(r, REALTIME_HANDLE);
		if (json_is_true(json_object_get(resumption, "resumable")))
			f->text = json_read_text(resumption, "newHandle");
	}
	if (json_is_object(error)) {
		f = add(r, REALTIME_ERROR);
		f->error = REALTIME_ERROR_FATAL;
		f->text = json_read_text(error, "message");
		if (json_read_copy(error, "status", f->code, sizeof f->code))
			f->code[0] = '\0';
	}
}

/* Text and binary messages are both JSON. */
int gemini_decode(void *codec, bool text, const uint8_t *msg, size_t n,
		  struct realtime_facts *facts)
{
	struct gemini_codec *c = codec;
	struct gemini_state before = c->state;
	struct reading r = {.c = c, .s = &c->state, .facts = facts};
	struct json_aside aside;

	(void)text;
	facts->n = 0;
	facts->tree = NULL;
	if (n > REALTIME_MESSAGE_MAX)
		return EMSGSIZE;
	r.root = json_aside_load(&aside, msg, n, "data", JSON_ASIDE_LEAST);
	if (!json_is_object(r.root)) {
		json_decref(r.root);
		return EBADMSG;
	}
	facts->tree = r.root;
	read_session(&r);
	read_content(&r, json_object_get(r.root, "serverContent"));
	read_calls(&r, json_object_get(json_object_get(r.root, "toolCall"), "functionCalls"));
	read_revoked(&r, json_object_get(json_object_get(r.root, "toolCallCancellation"), "ids"));
	read_usage(&r, json_object_get(r.root, "usageMetadata"));
	for (size_t i = 0; i < facts->n; i++)
		facts->v[i].data = json_aside_value(&aside, facts->v[i].data);
	if (r.err) {
		c->state = before;
		realtime_facts_clear(facts);
	}
	return r.err;
}
