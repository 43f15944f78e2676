#include "control/services.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/text.h"
#include "control/engine/endpoint.h"
#include "control/room/room.h"
#include "control/settings/provider.h"
#include "control/settings/settings.h"
#include "control/engine/speech.h"
#include "ipc/log.h"

/* The line from which a prompt repeats what is said now (control/room/answer/prompt.h). */
#define NOW "\nnow:\n"

struct services {
	const struct settings *settings;
	void (*h)(const struct room_event *ev, void *arg);
	void *arg;
	struct endpoint *text_at, *speech_at; /* NULL: nowhere */
	struct engine_text *text;
	struct engine_speech *speech;
	bool up;
};

static void feed(struct services *s, const struct room_event *ev)
{
	s->h(ev, s->arg);
}

/* ---- what comes back ---- */

static void on_text(enum engine_text_event ev, uint32_t turn, const char *data, size_t n, void *arg)
{
	struct services *s = arg;
	struct room_event out = {.turn = turn, .text = {(const uint8_t *)data, n}};

	switch (ev) {
	case ENGINE_TEXT_WORDS:
		out.type = ROOM_BRAIN_TEXT;
		break;
	case ENGINE_TEXT_DONE:
		s->up = true;
		out.type = ROOM_BRAIN_DONE;
		break;
	case ENGINE_TEXT_FAILED:
		s->up = false;
		out.type = ROOM_BRAIN_FAILED;
		break;
	case ENGINE_TEXT_JUDGED:
		out.type = ROOM_CLASSIFIED;
		out.yes = true;
		break;
	case ENGINE_TEXT_UNJUDGED:
		log_warn("not_judged", "turn=%u why=\"%.*s\"", turn, (int)n, data);
		out.type = ROOM_CLASSIFIED;
		break;
	}
	feed(s, &out);
}

static void on_speech(enum engine_speech_event ev, uint32_t turn, uint32_t chunk, const uint8_t *data,
		      size_t n, void *arg)
{
	struct services *s = arg;
	struct room_event out = {.turn = turn, .chunk = chunk};

	switch (ev) {
	case ENGINE_SPEECH_SOUND:
		out.type = ROOM_SPEECH_AUDIO;
		out.pcm = (struct slice){data, n};
		break;
	case ENGINE_SPEECH_DONE:
		out.type = ROOM_SPEECH_DONE;
		break;
	case ENGINE_SPEECH_FAILED:
		log_warn("speech_failed", "turn=%u why=\"%.*s\"", turn, (int)n, (const char *)data);
		out.type = ROOM_SPEECH_FAILED;
		out.text = (struct slice){data, n};
		break;
	}
	feed(s, &out);
}

/* ---- effects ---- */

static void fail(struct services *s, enum room_event_type type, const struct room_effect *e,
		 int err)
{
	const char *why = err == ENOENT ? "nobody told where to ask" : strerror(err);

	if (type != ROOM_BRAIN_FAILED)
		log_warn("service_failed", "turn=%u why=\"%s\"", e->turn, why);
	feed(s, &(struct room_event){.type = type,
				     .turn = e->turn,
				     .chunk = e->chunk,
				     .text = {(const uint8_t *)why, strlen(why)}});
}

/* What is said now is the question; of the prompt the rest is what is to be known. */
static int ask(struct services *s, const struct room_effect *e)
{
	char *context = strdup(e->context ? e->context : ""), *now = NULL;
	int err;

	if (!context)
		return ENOMEM;
	for (char *p = context; (p = strstr(p, NOW)) != NULL; p++)
		now = p;
	if (now)
		*now = '\0';
	err = engine_text_ask(s->text, s->settings->text_model, e->turn, context, e->text);
	free(context);
	return err;
}

static void answer(struct services *s, const struct room_effect *e)
{
	int err = 0;

	switch (e->type) {
	case ROOM_DO_ASK:
		err = s->text ? ask(s, e) : ENOENT;
		break;
	case ROOM_DO_ASK_AGAIN:
		err = s->text ? engine_text_again(s->text, e->turn) : ENOENT;
		break;
	case ROOM_DO_BRAIN_CANCEL:
		if (s->text)
			engine_text_cancel(s->text, e->turn);
		break;
	case ROOM_DO_INSTRUCT:
		feed(s, &(struct room_event){.type = ROOM_INSTRUCTED});
		break;
	default:
		break; /* it remembers nothing that could be cut */
	}
	if (err)
		fail(s, ROOM_BRAIN_FAILED, e, err);
}

static void speak(struct services *s, const struct room_effect *e)
{
	const struct settings *set = s->settings;
	int err = s->speech ? engine_speech_say(s->speech, set->speech_model, set->speech_voice,
					     e->turn, e->chunk, e->text)
			    : ENOENT;

	if (err)
		fail(s, ROOM_SPEECH_FAILED, e, err);
}

static void classify(struct services *s, const struct room_effect *e)
{
	int err = s->text ? engine_text_judge(s->text, s->settings->classify_model, e->turn, e->text,
					   e->tokens, e->ms)
			  : ENOENT;

	if (err)
		fail(s, ROOM_CLASSIFIED, e, err);
}

bool services_do(struct services *s, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_ASK:
	case ROOM_DO_ASK_AGAIN:
	case ROOM_DO_BRAIN_CANCEL:
	case ROOM_DO_BRAIN_TRUNCATE:
	case ROOM_DO_INSTRUCT:
		if (s->settings->reply_path != SETTINGS_REPLY_BRAIN)
			return false;
		answer(s, e);
		return true;
	case ROOM_DO_SPEAK:
		speak(s, e);
		return true;
	case ROOM_DO_SPEAK_CANCEL:
		if (s->speech)
			engine_speech_cancel(s->speech, e->turn);
		return true;
	case ROOM_DO_CLASSIFY:
		classify(s, e);
		return true;
	default:
		return false;
	}
}

bool services_up(const struct services *s)
{
	return s->up;
}

/* ---- coming and going ---- */

static int find(struct endpoint **out, const struct services_conf *conf,
		enum settings_service which)
{
	struct settings_provider where;

	/* Without an address each question fails, and says so. */
	if (settings_provider(conf->settings, which, &where))
		return 0;
	return endpoint_alloc(out, conf->http, where.base, where.key);
}

int services_alloc(struct services **out, const struct services_conf *conf)
{
	struct services *s;
	int err;

	if (!out || !conf->http || !conf->settings || !conf->h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->settings = conf->settings;
	s->h = conf->h;
	s->arg = conf->arg;
	s->up = true;
	err = find(&s->text_at, conf, SETTINGS_SERVICE_TEXT);
	if (!err)
		err = find(&s->speech_at, conf, SETTINGS_SERVICE_SPEECH);
	if (!err && s->text_at)
		err = engine_text_alloc(&s->text, s->text_at, on_text, s);
	if (!err && s->speech_at)
		err = engine_speech_alloc(&s->speech, s->speech_at, on_speech, s);
	if (err) {
		services_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct services *services_free(struct services *s)
{
	if (!s)
		return NULL;
	engine_text_free(s->text);
	engine_speech_free(s->speech);
	endpoint_free(s->text_at);
	endpoint_free(s->speech_at);
	free(s);
	return NULL;
}
