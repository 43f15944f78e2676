/* The engine of text-to-speech: the audio of exactly the given words, while it is generated. A
 * shell around control/dialect (POST audio/speech).
 *
 * Audio comes raw, in whole samples. A response of another Content-Type is a failure, since it
 * would be played as noise. Cancelling closes the connection, on which servers stop generating. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/engine/endpoint.h"
#include "control/engine/engine.h"

enum { LONGEST_MS = 120000, AT_ONCE = 8, SOUND_MAX = 24 << 20 /* bytes of one line */ };

/* A line that is being spoken. */
struct line {
	struct line *next;
	struct speech *t;
	uint32_t ask;
	uint8_t odd; /* first byte of a sample whose second byte is still to come */
	bool has_odd, sound;
	bool over;   /* no further event of it */
	bool inside; /* of a handler: freed when that returns */
	struct http_req *req;
};

struct speech {
	struct endpoint *endpoint;
	engine_h *h;
	void *arg;
	struct line *lines;
	unsigned n_lines;
};

static void line_free(struct line *p)
{
	for (struct line **at = &p->t->lines; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			p->t->n_lines--;
			break;
		}
	free(p);
}

static void line_cancel(struct line *p)
{
	p->over = true;
	if (p->req)
		http_req_cancel(p->req);
	p->req = NULL;
	if (!p->inside)
		line_free(p);
}

static void tell_line(struct line *p, enum engine_event_type type, const void *data, size_t n)
{
	struct engine_event ev = {.type = type, .ask = p->ask, .data = {data, n}};

	if (type != ENGINE_AUDIO)
		p->over = true;
	if (type == ENGINE_FAILED)
		ev.trouble = engine_trouble(data, n);
	p->t->h(&ev, p->t->arg);
}

static void fail_line(struct line *p, const char *why)
{
	tell_line(p, ENGINE_FAILED, why, strlen(why));
}

/* ---- audio ---- */

/* Passes on whole samples; keeps the first byte of an incomplete one. */
static void take_sound(struct line *p, const uint8_t *data, size_t n)
{
	p->sound = p->sound || n;
	if (p->has_odd && n) {
		uint8_t sample[2] = {p->odd, data[0]};

		p->has_odd = false;
		data++;
		n--;
		tell_line(p, ENGINE_AUDIO, sample, sizeof sample);
	}
	if (n % 2) {
		p->has_odd = true;
		p->odd = data[n - 1];
		n--;
	}
	if (n && !p->over)
		tell_line(p, ENGINE_AUDIO, data, n);
}

static void take_part(const struct http_resp *resp, void *arg)
{
	struct line *p = arg;
	char type[64], why[96];

	p->inside = true;
	if (http_header(resp, "content-type", type, sizeof type) && !openai_speech_raw(type)) {
		snprintf(why, sizeof why, "not raw sound but %.40s", type);
		fail_line(p, why);
	} else {
		take_sound(p, (const uint8_t *)resp->body.p, resp->body.n);
	}
	p->inside = false;
	if (p->over)
		line_cancel(p);
}

static void end_line(const struct http_resp *resp, void *arg)
{
	struct line *p = arg;
	char why[OPENAI_WHY_MAX];

	p->req = NULL;
	p->inside = true;
	if (resp->err || resp->status / 100 != 2) {
		endpoint_why(resp, why, sizeof why);
		fail_line(p, why);
	} else if (!p->sound) {
		fail_line(p, "no sound came");
	} else {
		tell_line(p, ENGINE_DONE, NULL, 0);
	}
	line_free(p);
}

/* ---- the ops ---- */

static int speech_ask(void *engine, const struct engine_ask *ask)
{
	struct endpoint_call call = {.endpoint = "audio/speech",
				     .type = "Content-Type: application/json",
				     .ms = LONGEST_MS,
				     .max_body = SOUND_MAX,
				     .parth = take_part,
				     .h = end_line};
	struct speech *t = engine;
	struct line *p;
	char *body;
	int err;

	if (t->n_lines >= AT_ONCE)
		return EBUSY;
	p = calloc(1, sizeof *p);
	body = p ? openai_speech(ask->model, ask->voice, ask->messages[ask->n - 1].text) : NULL;
	if (!body) {
		free(p);
		return ENOMEM;
	}
	p->t = t;
	p->ask = ask->id;
	p->next = t->lines;
	t->lines = p;
	t->n_lines++;
	call.body = body;
	call.n = strlen(body);
	call.arg = p;
	err = endpoint_post(t->endpoint, &call, &p->req);
	free(body);
	if (err)
		line_free(p);
	return err;
}

static void speech_cancel(void *engine, uint32_t ask)
{
	struct speech *t = engine;
	struct line *next;

	for (struct line *p = t->lines; p; p = next) {
		next = p->next;
		if (p->ask == ask && !p->over)
			line_cancel(p);
	}
}

static int speech_rekey(void *engine, const char *key)
{
	struct speech *t = engine;

	return endpoint_rekey(t->endpoint, key);
}

static void speech_free(void *engine)
{
	struct speech *t = engine;
	struct line *p;

	if (!t)
		return;
	while ((p = t->lines) != NULL) {
		t->lines = p->next;
		line_cancel(p);
	}
	endpoint_free(t->endpoint);
	free(t);
}

static int speech_alloc(void **out, const struct engine_conf *conf)
{
	struct speech *t;
	int err;

	if (!conf->http || !conf->http_url || !conf->h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->h = conf->h;
	t->arg = conf->arg;
	err = endpoint_alloc(&t->endpoint, conf->http, conf->http_url, conf->key);
	if (err) {
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

const struct engine_ops engine_speech = {.alloc = speech_alloc,
					 .free = speech_free,
					 .rekey = speech_rekey,
					 .ask = speech_ask,
					 .cancel = speech_cancel};
