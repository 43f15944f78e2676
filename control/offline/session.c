#include "control/offline/session_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int session_alloc(struct session **out, const struct session_conf *conf)
{
	struct session *s = calloc(1, sizeof *s);
	int err = ENOMEM;

	if (!s)
		return err;
	s->conf = *conf;
	snprintf(s->model, sizeof s->model, "%s", conf->model ? conf->model : "");
	s->conf.model = s->model;
	session_id(s, "sess", s->id);
	session_id(s, "conv", s->conversation);
	err = brain_alloc(&s->brain, conf->rules);
	if (err) {
		session_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	response_free(s);
	items_free(s);
	json_decref(s->config);
	brain_free(s->brain);
	free(s->early);
	free(s);
	return NULL;
}

void session_id(struct session *s, const char *prefix, char id[ID_SIZE])
{
	snprintf(id, ID_SIZE, "%s_%08x%06x", prefix, (unsigned)(s->conf.seed ^ s->conf.seed >> 32),
		 ++s->next_id);
}

void session_emit(struct session *s, const char *type, json_t *event)
{
	char id[ID_SIZE], *text = NULL;

	session_id(s, "event", id);
	if (event && json_object_set_new(event, "type", json_string(type)) == 0 &&
	    json_object_set_new(event, "event_id", json_string(id)) == 0)
		text = json_dumps(event, JSON_COMPACT);
	json_decref(event);
	if (!text) {
		s->err = ENOMEM;
		return;
	}
	s->conf.out.event(text, strlen(text), s->conf.out.arg);
	free(text);
}

void session_error(struct session *s, const char *code, const char *param, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	session_emit(s, "error",
		     json_pack("{s:{s:s,s:s,s:s,s:s?,s:s?}}", "error", "type",
			       "invalid_request_error", "code", code, "message", message, "param",
			       param, "event_id", s->event_id));
}

void session_notes(struct session *s, const char *text)
{
	static const char key[] = "now speaking:";
	const char *p = strcasestr(text, key);

	brain_room_parse(&s->room, text);
	if (!p)
		return;
	p += sizeof key - 1;
	p += strspn(p, " \t");
	snprintf(s->speaker, sizeof s->speaker, "%.*s", (int)strcspn(p, "\r\n"), p);
}

int session_open(struct session *s, const struct session_moment *now)
{
	s->now = now;
	s->err = config_init(s);
	if (!s->err) {
		input_apply_config(s);
		session_emit(s, "session.created", json_pack("{s:O}", "session", s->config));
	}
	s->now = NULL;
	return s->err;
}

static void no_response(struct session *s, const char *type)
{
	session_error(s, "invalid_event", "type", "A transcription session takes no %s.", type);
}

static void on_response_create(struct session *s, json_t *e)
{
	if (s->conf.transcription)
		no_response(s, "response.create");
	else
		response_create(s, json_object_get(e, "response"));
}

static void on_response_cancel(struct session *s, json_t *e)
{
	response_cancel(s, json_string_value(json_object_get(e, "response_id")));
}

static void on_session_update(struct session *s, json_t *e)
{
	config_update(s, json_object_get(e, "session"));
}

static void on_commit(struct session *s, json_t *e)
{
	(void)e;
	input_commit(s);
}

static void on_clear(struct session *s, json_t *e)
{
	(void)e;
	input_clear(s, true);
}

static void on_output_clear(struct session *s, json_t *e)
{
	(void)e;
	session_error(s, "invalid_event", "type",
		      "output_audio_buffer.clear is for WebRTC and SIP only.");
}

static const struct {
	const char *type;
	void (*handle)(struct session *s, json_t *event);
} handlers[] = {
	{"input_audio_buffer.append", input_append},
	{"input_audio_buffer.commit", on_commit},
	{"input_audio_buffer.clear", on_clear},
	{"conversation.item.create", items_create},
	{"conversation.item.delete", items_delete},
	{"conversation.item.retrieve", items_retrieve},
	{"conversation.item.truncate", items_truncate},
	{"response.create", on_response_create},
	{"response.cancel", on_response_cancel},
	{"session.update", on_session_update},
	{"output_audio_buffer.clear", on_output_clear},
};

static void handle(struct session *s, json_t *event)
{
	const char *type = json_string_value(json_object_get(event, "type"));

	if (!type) {
		session_error(s, "missing_required_parameter", "type", "The event has no type.");
		return;
	}
	for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
		if (strcmp(handlers[i].type, type) == 0) {
			handlers[i].handle(s, event);
			return;
		}
	session_error(s, "invalid_value", "type", "There is no event of type '%.80s'.", type);
}

int session_event(struct session *s, const struct session_moment *now, const char *json, size_t len)
{
	json_t *event = len <= SESSION_MAX_EVENT ? json_loadb(json, len, 0, NULL) : NULL;

	s->now = now;
	if (!json_is_object(event)) {
		session_error(s, "invalid_event", NULL,
			      "The event is not a JSON object or too large.");
	} else {
		s->event_id = json_string_value(json_object_get(event, "event_id"));
		handle(s, event);
	}
	s->event_id = NULL;
	s->now = NULL;
	json_decref(event);
	return s->err;
}

int session_recognised(struct session *s, const struct session_moment *now, uint32_t utterance,
		       const char *text)
{
	s->now = now;
	input_recognised(s, utterance, text);
	s->now = NULL;
	return s->err;
}

int session_take_speech(struct session *s, const struct session_moment *now, uint32_t speech,
			const int16_t *pcm, size_t n, const char *piece, bool last)
{
	s->now = now;
	response_take_speech(s, speech, pcm, n, piece, last);
	s->now = NULL;
	return s->err;
}
