/* The engine of text-to-speech over HTTP: the audio of exactly the given words, while it is
 * generated. A shell around control/dialect/speech_http.h.
 *
 * Audio comes raw, in whole samples. A response of another Content-Type is a failure, since it
 * would be played as noise. Cancelling closes the connection, on which servers stop generating. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/speech_http.h"
#include "control/engine/exchange.h"

enum { LONGEST_MS = 120000, AT_ONCE = 8, SOUND_MAX = 24 << 20 /* bytes of one line */ };

/* A line that is being spoken. */
struct line {
	struct exchange x; /* first */
	const struct speech_http *wire;
	uint8_t odd; /* first byte of a sample whose second byte is still to come */
	bool has_odd, sound;
	uint32_t characters; /* of the line */
};

struct speech {
	struct endpoint *endpoint;
	const struct speech_http *wire;
	struct exchanges lines;
};

static void tell_audio(struct line *p, const void *data, size_t n)
{
	exchange_tell(&p->x, &(struct engine_event){.type = ENGINE_AUDIO, .data = {data, n}});
}

static void fail_line(struct line *p, const char *why)
{
	exchange_fail(&p->x, why, strlen(why));
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
		tell_audio(p, sample, sizeof sample);
	}
	if (n % 2) {
		p->has_odd = true;
		p->odd = data[n - 1];
		n--;
	}
	if (n && !p->x.over)
		tell_audio(p, data, n);
}

static void take_part(const struct http_resp *resp, void *arg)
{
	struct line *p = arg;
	char type[64], why[96];

	exchange_enter(&p->x);
	if (http_header(resp, "content-type", type, sizeof type) && !p->wire->raw(type)) {
		snprintf(why, sizeof why, "not raw sound but %.40s", type);
		fail_line(p, why);
	} else {
		take_sound(p, (const uint8_t *)resp->body.p, resp->body.n);
	}
	exchange_leave(&p->x);
}

static void end_line(const struct http_resp *resp, void *arg)
{
	struct line *p = arg;

	exchange_enter_last(&p->x);
	if (resp->err || resp->status / 100 != 2) {
		exchange_fail_response(&p->x, resp);
	} else if (!p->sound) {
		fail_line(p, "no sound came");
	} else {
		const struct usage usage = {.n = {[PRICE_CHARACTERS] = p->characters}};

		exchange_tell(&p->x, &(struct engine_event){.type = ENGINE_USAGE, .usage = &usage});
		exchange_tell(&p->x, &(struct engine_event){.type = ENGINE_DONE});
	}
	exchange_leave_last(&p->x);
}

/* ---- the ops ---- */

static uint32_t count_characters(const char *text)
{
	uint32_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static int speech_ask(void *engine, const struct engine_ask *ask)
{
	struct endpoint_call call = {.type = "Content-Type: application/json",
				     .ms = LONGEST_MS,
				     .max_body = SOUND_MAX,
				     .parth = take_part,
				     .h = end_line};
	const char *text = ask->messages[ask->n - 1].text;
	struct speech *t = engine;
	struct line *p;
	char *body, *endpoint;
	int err;

	if (t->lines.n >= AT_ONCE)
		return EBUSY;
	p = calloc(1, sizeof *p);
	body = p ? t->wire->body(ask->model, ask->voice, text) : NULL;
	endpoint = body ? t->wire->endpoint(ask->voice) : NULL;
	if (!endpoint) {
		free(body);
		free(p);
		return ENOMEM;
	}
	p->x.ask = ask->id;
	p->wire = t->wire;
	p->characters = count_characters(text);
	call.endpoint = endpoint;
	call.body = body;
	call.n = strlen(body);
	err = exchange_post(&t->lines, &p->x, t->endpoint, &call);
	free(body);
	free(endpoint);
	return err;
}

static void speech_cancel(void *engine, uint32_t ask)
{
	struct speech *t = engine;

	exchange_cancel(&t->lines, ask);
}

static int speech_rekey(void *engine, const char *key)
{
	struct speech *t = engine;

	return endpoint_rekey(t->endpoint, key);
}

static void speech_free(void *engine)
{
	struct speech *t = engine;

	if (!t)
		return;
	exchanges_clear(&t->lines);
	endpoint_free(t->endpoint);
	free(t);
}

static int speech_alloc(void **out, const struct engine_conf *conf)
{
	struct speech *t;
	int err;

	if (!conf->http || !conf->http_url || !conf->h || !speech_http(conf->caps->dialect))
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->wire = speech_http(conf->caps->dialect);
	t->lines = (struct exchanges){.most = AT_ONCE, .h = conf->h, .arg = conf->arg};
	err = endpoint_alloc(&t->endpoint,
			     &(struct endpoint_conf){.http = conf->http,
						     .base = conf->http_url,
						     .key = conf->key,
						     .key_header = t->wire->key_header});
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
