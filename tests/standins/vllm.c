/* vLLM's realtime socket, which only transcribes. Source: docs.vllm.ai. */
#include "tests/standins/link.h"
#include "tests/standins/record.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000 };

struct listener {
	struct si_standin *st;
	struct si_link *link;
	bool named, began; /* the model was named; the first commit began the transcription */
	int16_t *pcm;
	size_t n, cap;
	struct si_sound *hearing;
	struct si_acts acts;
	char *words;
};

static const struct si_shape shape_update[] = {
	{"type", "!'session.update'"},
	{"event_id", "str"},
	{"model", "!str"},
	{NULL, NULL},
};

static const struct si_shape shape_append[] = {
	{"type", "!'input_audio_buffer.append'"},
	{"event_id", "str"},
	{"audio", "!str"},
	{NULL, NULL},
};

static const struct si_shape shape_commit[] = {
	{"type", "!'input_audio_buffer.commit'"},
	{"event_id", "str"},
	{"final", "bool"},
	{NULL, NULL},
};

static void event_send(struct listener *s, json_t *event)
{
	si_plan_json(s->link, &(struct si_plan){.out = SI_OUT_TEXT}, event);
}

/* Here an error is a text, no object. */
static void error_send(struct listener *s, const char *code, const char *text)
{
	event_send(s, json_pack("{s:s, s:s, s:s}", "type", "error", "error", text, "code", code));
}

static void transcript_send(void *arg)
{
	struct listener *s = arg;
	const char *p = s->words ? s->words : "";

	while (*p) {
		size_t n = strcspn(p + 1, " ") + 1;

		event_send(s,
			   json_pack("{s:s, s:s%}", "type", "transcription.delta", "delta", p, n));
		p += n;
	}
	event_send(s, json_pack("{s:s, s:s, s:{s:i, s:i, s:i}}", "type", "transcription.done",
				"text", s->words ? s->words : "", "usage", "prompt_tokens", 10,
				"completion_tokens", 4, "total_tokens", 14));
	free(s->words);
	s->words = NULL;
	s->began = false;
}

static void on_words(const char *words, void *arg)
{
	struct listener *s = arg;

	s->hearing = NULL;
	free(s->words);
	s->words = words ? si_copy(words, strlen(words)) : NULL;
	si_plan(s->link, &(struct si_plan){.out = SI_OUT_CALL,
					   .after_ms = s->acts.delay_ms,
					   .h = transcript_send,
					   .arg = s});
}

/* The first commit begins; the final one ends. */
static void commit_take(struct listener *s, const json_t *event)
{
	if (!s->named) {
		error_send(s, "model_not_validated", "Name the model by session.update first.");
		return;
	}
	if (!json_is_true(json_object_get(event, "final"))) {
		s->began = true;
		return;
	}
	si_link_fire(s->link, SI_COMMIT, &s->acts);
	if (s->acts.error)
		error_send(s, s->acts.error->word, s->acts.error->text);
	else if (!s->began || !s->n)
		error_send(s, "no_audio", "There is no audio to transcribe.");
	else if (!s->acts.silent && !s->hearing)
		s->hearing = si_sound_hear(s->st, s->pcm, s->n, RATE,
					   s->acts.transcript ? s->acts.transcript->text : NULL,
					   on_words, s);
	s->n = 0;
}

static void audio_take(struct listener *s, const json_t *audio)
{
	size_t n;
	uint8_t *data = si_unbase64(json_string_value(audio), json_string_length(audio), &n);

	if (!data || n % 2) {
		free(data);
		error_send(s, "invalid_audio", "The audio is no base64 of 16-bit samples.");
		return;
	}
	if (s->n + n / 2 > s->cap) {
		s->cap = (s->n + n / 2) * 2;
		s->pcm = realloc(s->pcm, s->cap * 2);
		if (!s->pcm)
			abort();
	}
	if (n)
		memcpy(s->pcm + s->n, data, n);
	s->n += n / 2;
	si_record_pcm(s->st->record, si_link_number(s->link), data, n);
	free(data);
}

static void listener_message(void *session, bool text, const char *data, size_t n)
{
	struct listener *s = session;
	json_t *e = text ? json_loadb(data, n, 0, NULL) : NULL;
	const char *type = json_string_value(json_object_get(e, "type"));
	struct si_fault f;

	if (!type)
		error_send(s, "invalid_json", "The message is no event.");
	else if (si_shape_check(shape_update, e, &f))
		s->named = true;
	else if (si_shape_check(shape_append, e, &f))
		audio_take(s, json_object_get(e, "audio"));
	else if (si_shape_check(shape_commit, e, &f))
		commit_take(s, e);
	else
		error_send(s, "unknown_event", "The event is unknown, or a field of it.");
	json_decref(e);
}

static void listener_act(void *session, const struct si_act *act)
{
	struct listener *s = session;

	if (act->action == SI_DO_ERROR)
		error_send(s, act->word, act->text);
	else
		si_plan(s->link, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1001});
}

static void listener_free(void *session)
{
	struct listener *s = session;

	si_sound_cancel(s->hearing);
	free(s->words);
	free(s->pcm);
	free(s);
}

static const struct si_session_ops listener_ops = {
	.message = listener_message, .act = listener_act, .free = listener_free};

static bool listener_open(struct si_link *l)
{
	struct listener *s;

	if (strcmp(si_link_head(l)->path, "/v1/realtime") != 0)
		return false;
	if (!si_link_key(l, NULL, NULL)) {
		si_reply_json(l, 401, json_pack("{s:s}", "error", "Unauthorized"));
		return true;
	}
	s = si_alloc(sizeof *s);
	s->st = si_link_standin(l);
	s->link = l;
	si_link_take(l, &listener_ops, s);
	event_send(s, json_pack("{s:s, s:s, s:i}", "type", "session.created", "id", "sess_1",
				"created", 1800000000));
	si_link_opened(l);
	return true;
}

const struct si_service si_vllm_realtime = {.open = listener_open};
