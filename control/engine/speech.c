#include "control/engine/speech.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/engine/endpoint.h"

/* A piece that is being spoken. */
struct piece {
	struct piece *next;
	struct engine_speech *t;
	uint32_t turn, chunk;
	uint8_t odd; /* half a sample that waits for its other half */
	bool has_odd, sound;
	bool over;   /* nothing more of it is told */
	bool inside; /* of a handler: freed when that returns */
	struct http_req *req;
};

struct engine_speech {
	struct endpoint *provider;
	engine_speech_h *h;
	void *arg;
	struct piece *pieces;
	unsigned n_pieces;
};

static void piece_free(struct piece *p)
{
	for (struct piece **at = &p->t->pieces; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			p->t->n_pieces--;
			break;
		}
	free(p);
}

static void piece_drop(struct piece *p)
{
	p->over = true;
	if (p->req)
		http_req_cancel(p->req);
	p->req = NULL;
	if (!p->inside)
		piece_free(p);
}

static void tell(struct piece *p, enum engine_speech_event ev, const void *data, size_t n)
{
	if (ev != ENGINE_SPEECH_SOUND)
		p->over = true;
	p->t->h(ev, p->turn, p->chunk, data, n, p->t->arg);
}

static void fail(struct piece *p, const char *why)
{
	tell(p, ENGINE_SPEECH_FAILED, why, strlen(why));
}

/* ---- sound ---- */

/* Whole samples; half of one waits. */
static void sound(struct piece *p, const uint8_t *data, size_t n)
{
	p->sound = p->sound || n;
	if (p->has_odd && n) {
		uint8_t sample[2] = {p->odd, data[0]};

		p->has_odd = false;
		data++;
		n--;
		tell(p, ENGINE_SPEECH_SOUND, sample, sizeof sample);
	}
	if (n % 2) {
		p->has_odd = true;
		p->odd = data[n - 1];
		n--;
	}
	if (n && !p->over)
		tell(p, ENGINE_SPEECH_SOUND, data, n);
}

static void on_part(const struct http_resp *resp, void *arg)
{
	struct piece *p = arg;
	char type[64], why[96];

	p->inside = true;
	if (http_header(resp, "content-type", type, sizeof type) && !openai_speech_raw(type)) {
		snprintf(why, sizeof why, "not raw sound but %.40s", type);
		fail(p, why);
	} else {
		sound(p, (const uint8_t *)resp->body.p, resp->body.n);
	}
	p->inside = false;
	if (p->over)
		piece_drop(p);
}

static void on_end(const struct http_resp *resp, void *arg)
{
	struct piece *p = arg;
	char why[OPENAI_WHY_MAX];

	p->req = NULL;
	p->inside = true;
	if (resp->err || resp->status / 100 != 2) {
		endpoint_why(resp, why, sizeof why);
		fail(p, why);
	} else if (!p->sound) {
		fail(p, "no sound came");
	} else {
		tell(p, ENGINE_SPEECH_DONE, NULL, 0);
	}
	piece_free(p);
}

/* ---- the owner's side ---- */

int engine_speech_say(struct engine_speech *t, const char *model, const char *voice, uint32_t turn,
		      uint32_t chunk, const char *text)
{
	struct endpoint_call call = {.endpoint = "audio/speech",
				     .type = "Content-Type: application/json",
				     .ms = ENGINE_SPEECH_MS,
				     .max_body = ENGINE_SPEECH_MAX,
				     .parth = on_part,
				     .h = on_end};
	struct piece *p;
	char *body;
	int err;

	if (t->n_pieces >= ENGINE_SPEECH_AT_ONCE)
		return EBUSY;
	p = calloc(1, sizeof *p);
	body = p ? openai_speech(model, voice, text) : NULL;
	if (!body) {
		free(p);
		return ENOMEM;
	}
	p->t = t;
	p->turn = turn;
	p->chunk = chunk;
	p->next = t->pieces;
	t->pieces = p;
	t->n_pieces++;
	call.body = body;
	call.n = strlen(body);
	call.arg = p;
	err = endpoint_post(t->provider, &call, &p->req);
	free(body);
	if (err)
		piece_free(p);
	return err;
}

void engine_speech_cancel(struct engine_speech *t, uint32_t turn)
{
	struct piece *next;

	for (struct piece *p = t->pieces; p; p = next) {
		next = p->next;
		if (p->turn == turn && !p->over)
			piece_drop(p);
	}
}

int engine_speech_alloc(struct engine_speech **out, struct endpoint *provider, engine_speech_h *h,
			void *arg)
{
	struct engine_speech *t;

	if (!out || !provider || !h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->provider = provider;
	t->h = h;
	t->arg = arg;
	*out = t;
	return 0;
}

struct engine_speech *engine_speech_free(struct engine_speech *t)
{
	struct piece *p;

	if (!t)
		return NULL;
	while ((p = t->pieces) != NULL) {
		t->pieces = p->next;
		piece_drop(p);
	}
	free(t);
	return NULL;
}
