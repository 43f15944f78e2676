/* vLLM's realtime socket, which only transcribes. Source: docs.vllm.ai. */
#include "tests/standins/ear.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000 };

struct listener {
	struct si_ear ear;
	bool named, began; /* the model was named; the first commit began the transcription */
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
	si_plan_json(s->ear.link, &(struct si_plan){.out = SI_OUT_TEXT}, event);
}

/* Here an error is a text, no object. */
static void error_send(struct listener *s, const char *code, const char *text)
{
	event_send(s, json_pack("{s:s, s:s, s:s}", "type", "error", "error", text, "code", code));
}

static void transcript_send(void *arg)
{
	struct listener *s = arg;
	const char *p = s->ear.words;

	while (*p) {
		size_t n = strcspn(p + 1, " ") + 1;

		event_send(s,
			   json_pack("{s:s, s:s%}", "type", "transcription.delta", "delta", p, n));
		p += n;
	}
	event_send(s, json_pack("{s:s, s:s, s:{s:i, s:i, s:i}}", "type", "transcription.done",
				"text", s->ear.words, "usage", "prompt_tokens", 10,
				"completion_tokens", 4, "total_tokens", 14));
	s->began = false;
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
	si_ear_commit(&s->ear);
	if (s->ear.acts.error)
		error_send(s, s->ear.acts.error->word, s->ear.acts.error->text);
	else if (!s->began || !s->ear.n)
		error_send(s, "no_audio", "There is no audio to transcribe.");
	else
		si_ear_hear(&s->ear);
	s->ear.n = 0;
}

static void audio_take(struct listener *s, const json_t *audio)
{
	if (!si_ear_take_base64(&s->ear, audio))
		error_send(s, "invalid_audio", "The audio is no base64 of 16-bit samples.");
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
		si_plan(s->ear.link, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1001});
}

static void listener_free(void *session)
{
	struct listener *s = session;

	si_ear_clear(&s->ear);
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
	s->ear = (struct si_ear){
		.st = si_link_standin(l), .link = l, .rate = RATE, .h = transcript_send, .arg = s};
	si_link_take(l, &listener_ops, s);
	event_send(s, json_pack("{s:s, s:s, s:i}", "type", "session.created", "id", "sess_1",
				"created", 1800000000));
	si_link_opened(l);
	return true;
}

const struct si_service si_vllm_realtime = {.open = listener_open};
