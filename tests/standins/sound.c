#include "tests/standins/sound.h"

#include "ipc/log.h"
#include "proto/base/wav.h"
#include "tests/standins/prompts.h"
#include "tests/standins/record.h"
#include "tests/standins/standin.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <jansson.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 4096, LOUD = 8000, FADE = 120, OFFLINED_RATE = 24000, TIMEOUT_S = 60 };

#define BOUNDARY "standin-7f3a"

struct si_sound {
	struct si_standin *st;
	struct event *ready; /* the next turn, in which it is done */
	struct evhttp_connection *offlined;
	uint32_t rate;
	si_speak_h *speakh;
	si_hear_h *hearh;
	void *arg;
	int16_t *pcm;
	size_t n;
	char words[WORDS_MAX];
};

unsigned si_sound_hz(uint32_t n)
{
	return 400 + n % 16 * 50;
}

char *si_base64(const void *data, size_t n)
{
	char *text = si_alloc((n + 2) / 3 * 4 + 1);

	EVP_EncodeBlock((uint8_t *)text, data, (int)n);
	return text;
}

uint8_t *si_unbase64(const char *text, size_t n, size_t *out)
{
	uint8_t *data;
	int got;

	if (n % 4)
		return NULL;
	data = si_alloc(n / 4 * 3 + 1);
	got = n ? EVP_DecodeBlock(data, (const uint8_t *)text, (int)n) : 0;
	if (got < 0) {
		free(data);
		return NULL;
	}
	for (size_t i = n; i && text[i - 1] == '=' && got; i--)
		got--;
	*out = (size_t)got;
	return data;
}

struct si_sound *si_sound_cancel(struct si_sound *s)
{
	if (!s)
		return NULL;
	if (s->ready)
		event_free(s->ready);
	if (s->offlined)
		evhttp_connection_free(s->offlined);
	free(s->pcm);
	free(s);
	return NULL;
}

/* The handler may begin a sound of its own, so the struct is detached before. */
static void sound_done(struct si_sound *s)
{
	si_record_sound(s->st->record, s->speakh ? "said" : "heard", s->words, s->pcm, s->n,
			s->rate);
	if (s->speakh)
		s->speakh(s->pcm, s->n, s->arg);
	else
		s->hearh(s->words[0] ? s->words : NULL, s->arg);
	si_sound_cancel(s);
}

/* A tone with soft edges. */
static void tone_make(struct si_sound *s, const char *text)
{
	unsigned hz = si_sound_hz(++s->st->sounds);
	size_t words = 1;

	for (const char *p = text; *p; p++)
		words += *p == ' ';
	s->n = words * SI_SOUND_WORD_MS * s->rate / 1000;
	s->pcm = si_alloc(s->n * sizeof *s->pcm);
	for (size_t i = 0; i < s->n; i++) {
		size_t edge = i < s->n - i ? i : s->n - i;
		double gain = edge < FADE ? (double)edge / FADE : 1;

		s->pcm[i] = (int16_t)(gain * LOUD * sin(2 * M_PI * hz * (double)i / s->rate));
	}
}

/* From offlined's rate to the session's, along straight lines. */
static void rate_convert(struct si_sound *s, const uint8_t *data, size_t frames)
{
	s->n = (size_t)((uint64_t)frames * s->rate / OFFLINED_RATE);
	s->pcm = si_alloc((s->n + 1) * sizeof *s->pcm);
	for (size_t i = 0; i < s->n; i++) {
		double at = (double)i * OFFLINED_RATE / s->rate;
		size_t k = (size_t)at, next = k + 1 < frames ? k + 1 : k;
		const uint8_t *a = data + 2 * k, *b = data + 2 * next;
		double x = (int16_t)(a[0] | a[1] << 8), y = (int16_t)(b[0] | b[1] << 8);

		s->pcm[i] = (int16_t)(x + (y - x) * (at - (double)k));
	}
}

/* ---- offlined ---- */

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	sound_done(arg);
}

static void on_response(struct evhttp_request *req, void *arg)
{
	struct si_sound *s = arg;
	struct evbuffer *in = req ? evhttp_request_get_input_buffer(req) : NULL;
	size_t n = in ? evbuffer_get_length(in) : 0;
	const uint8_t *data = n ? evbuffer_pullup(in, -1) : NULL;

	if (!req || evhttp_request_get_response_code(req) != 200) {
		log_warn("offlined_failed", "status=%d",
			 req ? evhttp_request_get_response_code(req) : 0);
	} else if (s->speakh) {
		rate_convert(s, data, n / 2);
	} else {
		json_t *root = json_loadb((const char *)data, n, 0, NULL);
		const char *words = json_string_value(json_object_get(root, "text"));

		snprintf(s->words, sizeof s->words, "%s", words ? words : "");
		json_decref(root);
	}
	event_active(s->ready, EV_TIMEOUT, 0);
}

/* Posts what is in body, which is freed. */
static void offlined_ask(struct si_sound *s, const char *path, const char *type,
			 struct evbuffer *body)
{
	struct evhttp_request *req = evhttp_request_new(on_response, s);
	struct evkeyvalq *fields;

	s->offlined =
		evhttp_connection_base_new(s->st->base, NULL, "127.0.0.1", s->st->offlined_port);
	if (!req || !s->offlined || !body)
		exit(1);
	evhttp_connection_set_timeout(s->offlined, TIMEOUT_S);
	fields = evhttp_request_get_output_headers(req);
	evhttp_add_header(fields, "Host", "127.0.0.1");
	evhttp_add_header(fields, "Content-Type", type);
	evbuffer_add_buffer(evhttp_request_get_output_buffer(req), body);
	evbuffer_free(body);
	evhttp_make_request(s->offlined, req, EVHTTP_REQ_POST, path);
}

static void offlined_speak(struct si_sound *s, const char *text)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:s}", "model", "offline", "input", text, "voice",
				 "slt", "response_format", "pcm");
	char *json = root ? json_dumps(root, JSON_COMPACT) : NULL;
	struct evbuffer *body = evbuffer_new();

	if (body && json)
		evbuffer_add(body, json, strlen(json));
	free(json);
	json_decref(root);
	offlined_ask(s, "/v1/audio/speech", "application/json", body);
}

static void offlined_hear(struct si_sound *s, const int16_t *pcm, size_t n)
{
	struct evbuffer *body = evbuffer_new();
	uint8_t head[WAV_HEADER];

	if (!body)
		exit(1);
	wav_header(head, s->rate, 1, n);
	evbuffer_add_printf(body, "--" BOUNDARY "\r\nContent-Disposition: form-data; "
				  "name=\"model\"\r\n\r\noffline\r\n--" BOUNDARY
				  "\r\nContent-Disposition: form-data; name=\"file\"; "
				  "filename=\"a.wav\"\r\n\r\n");
	evbuffer_add(body, head, sizeof head);
	evbuffer_add(body, pcm, n * 2);
	evbuffer_add_printf(body, "\r\n--" BOUNDARY "--\r\n");
	offlined_ask(s, "/v1/audio/transcriptions", "multipart/form-data; boundary=" BOUNDARY,
		     body);
}

static struct si_sound *sound_new(struct si_standin *st, uint32_t rate, void *arg)
{
	struct si_sound *s = si_alloc(sizeof *s);

	s->st = st;
	s->rate = rate;
	s->arg = arg;
	s->ready = event_new(st->base, -1, 0, on_ready, s);
	if (!s->ready)
		exit(1);
	return s;
}

struct si_sound *si_sound_speak(struct si_standin *st, const char *text, uint32_t rate,
				si_speak_h *h, void *arg)
{
	struct si_sound *s = sound_new(st, rate, arg);

	s->speakh = h;
	snprintf(s->words, sizeof s->words, "%s", text);
	if (st->offlined_port && text[0]) {
		offlined_speak(s, text);
		return s;
	}
	if (st->prompts && rate == SI_PROMPT_RATE)
		s->pcm = si_prompts_speak(st->prompts, text, &s->n);
	if (!s->pcm)
		tone_make(s, text);
	event_active(s->ready, EV_TIMEOUT, 0);
	return s;
}

struct si_sound *si_sound_hear(struct si_standin *st, const int16_t *pcm, size_t n, uint32_t rate,
			       const char *words, si_hear_h *h, void *arg)
{
	struct si_sound *s = sound_new(st, rate, arg);

	s->hearh = h;
	if (!words && st->offlined_port) {
		offlined_hear(s, pcm, n);
		return s;
	}
	if (words)
		snprintf(s->words, sizeof s->words, "%s", words);
	else
		snprintf(s->words, sizeof s->words, "speech of %zu ms", n * 1000 / rate);
	event_active(s->ready, EV_TIMEOUT, 0);
	return s;
}
