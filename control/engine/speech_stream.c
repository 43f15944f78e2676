/* The engine of text-to-speech over a WebSocket that stays open (control/dialect/eleven.h): each
 * line is a context of its own, so a cut ends this line alone, and the next one needs no
 * connection.
 *
 *   line       input                                     next
 *   WAITING    the socket is open and has a free context SENT: its context is opened and flushed
 *   WAITING    the socket is lost, once                  WAITING: for the next socket
 *   WAITING    the socket is lost again                  HTTP: engine_speech speaks it
 *   SENT       every letter was spoken, or no sound has  SENT: its context is closed
 *              come for QUIET_MS since the last
 *   SENT       no sound came for silent_ms at all        FAILED, and CUT
 *   SENT       final                                     DONE, or FAILED without audio
 *   SENT       the socket is lost, no audio came         as WAITING
 *   SENT       the socket is lost in its audio           FAILED: people would hear two beginnings
 *   SENT       cancelled                                 CUT: its context is closed, and counts
 *   CUT        final, or CUT_MS gone                     until it is final
 *
 * A context is closed once: to close it is the only way to cut it, and the only way to learn that
 * nothing more comes.
 *
 * A refusal that says that key or credit is not good, or that asks to be left alone for a while
 * (proto/http/retry_after.h), fails every line at once. The socket is opened by the first line,
 * kept by a context without a text, and closed after IDLE_MS without lines. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/eleven.h"
#include "control/engine/core/describe.h"
#include "control/engine/core/log_limit.h"
#include "control/engine/engine.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "proto/http/retry_after.h"

enum {
	AT_ONCE = 8,
	CONNECT_MS = 3000,
	CUT_MS = 5000,
	QUIET_MS = 2000,
	KEEP_MS = 60000,
	IDLE_MS = 600000,
	KEEPING = 1, /* the context without a text; lines have the numbers after it */
};

enum line_state { WAITING, SENT, CUT, OVER_HTTP, ENDED };

struct line {
	struct line *next;
	struct speech_stream *t;
	enum line_state state;
	uint32_t ask, context;
	char *text;
	bool again;  /* it waits for its second socket */
	bool closed; /* its context */
	uint64_t samples;
	size_t letters; /* that were spoken */
	struct eleven_word word;
	uint64_t heard_at; /* SENT: it was sent, or its last sound came */
	uint64_t cut_at;
};

struct speech_stream {
	struct env *env;
	struct ws_ctx *ctx;
	struct ws *ws;
	bool up;
	struct tmr *timer;
	char *base, *auth, *language;
	char *voice, *model; /* of the socket */
	void *http;	     /* engine_speech */
	engine_h *h;
	void *arg;
	struct line *lines; /* in order */
	unsigned n_lines;
	uint32_t contexts;  /* count */
	uint32_t silent_ms; /* a line without any sound has failed after it; 0: never */
	uint64_t used_at, kept_at;
	char why[160]; /* of an error, until the socket is closed */
	uint8_t *pcm;
	size_t pcm_cap;
	struct log_limit errors;
	unsigned busy; /* handlers that run: lines are freed when none does */
};

/* ---- lines ---- */

static void line_free(struct line **at)
{
	struct line *p = *at;

	*at = p->next;
	p->t->n_lines--;
	free(p->text);
	free(p);
}

static void drop_ended(struct speech_stream *t)
{
	if (t->busy)
		return;
	for (struct line **at = &t->lines; *at;)
		if ((*at)->state == ENDED)
			line_free(at);
		else
			at = &(*at)->next;
}

static void tell(struct speech_stream *t, const struct engine_event *ev)
{
	t->busy++;
	t->h(ev, t->arg);
	t->busy--;
}

static void end_line(struct line *p, enum engine_event_type type, const char *why)
{
	struct engine_event ev = {.type = type, .ask = p->ask};

	p->state = ENDED;
	ev.data = (struct slice){(const uint8_t *)why, strlen(why)};
	if (type == ENGINE_FAILED)
		ev.trouble = engine_trouble(ev.data.p, ev.data.n);
	tell(p->t, &ev);
}

static struct line *line_of_context(const struct speech_stream *t, uint32_t context)
{
	for (struct line *p = t->lines; p; p = p->next)
		if (p->context == context && (p->state == SENT || p->state == CUT))
			return p;
	return NULL;
}

/* ---- the socket: what goes out ---- */

/* Takes text. */
static void send_text(struct speech_stream *t, char *text)
{
	if (text)
		ws_send(t->ws, true, text, strlen(text));
	free(text);
}

static void send_line(struct speech_stream *t, struct line *p)
{
	p->context = ++t->contexts + KEEPING;
	p->state = SENT;
	p->closed = false;
	p->letters = 0;
	send_text(t, eleven_open_context(p->context));
	send_text(t, eleven_speak(p->context, p->text));
	t->used_at = t->kept_at = p->heard_at = env_now(t->env);
}

static void close_context(struct line *p)
{
	if (p->closed)
		return;
	p->closed = true;
	send_text(p->t, eleven_close_context(p->context));
}

static unsigned count_open(const struct speech_stream *t)
{
	unsigned n = 1; /* that which keeps the socket */

	for (const struct line *p = t->lines; p; p = p->next)
		n += p->state == SENT || p->state == CUT;
	return n;
}

/* Its sound has not begun, or is not known to be all of it. */
static bool awaits_sound(const struct line *p)
{
	return p->state == SENT && !p->closed && (p->samples || p->t->silent_ms);
}

static uint64_t awaits_until(const struct line *p)
{
	return p->heard_at + (p->samples ? QUIET_MS : p->t->silent_ms) * NS_PER_MS;
}

static void set_timer(struct speech_stream *t)
{
	uint64_t at = UINT64_MAX;

	if (t->up)
		at = t->kept_at + KEEP_MS * NS_PER_MS;
	for (const struct line *p = t->lines; p; p = p->next) {
		if (p->state == CUT && p->cut_at + CUT_MS * NS_PER_MS < at)
			at = p->cut_at + CUT_MS * NS_PER_MS;
		if (awaits_sound(p) && awaits_until(p) < at)
			at = awaits_until(p);
	}
	if (at == UINT64_MAX)
		tmr_stop(t->timer);
	else
		tmr_start_at(t->timer, at);
}

static void pump(struct speech_stream *t)
{
	for (struct line *p = t->lines; p && t->up; p = p->next)
		if (p->state == WAITING && count_open(t) < ELEVEN_CONTEXTS)
			send_line(t, p);
	drop_ended(t);
	set_timer(t);
}

/* ---- the link ---- */

static void socket_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			 size_t len, void *arg);

static void drop_socket(struct speech_stream *t)
{
	t->ws = ws_free(t->ws);
	t->up = false;
}

static int connect_socket(struct speech_stream *t)
{
	const char *const headers[] = {t->auth, NULL};
	char *url = eleven_speech_url(t->base, t->voice, t->model, t->language);
	const struct ws_dial dial = {.url = url,
				     .headers = t->auth ? headers : NULL,
				     .connect_ms = CONNECT_MS,
				     .max_message = ELEVEN_MESSAGE_MAX};
	int err = url ? ws_connect(&t->ws, t->ctx, &dial, socket_event, t) : ENOMEM;

	free(url);
	t->why[0] = '\0';
	if (err)
		t->ws = NULL;
	return err;
}

static int begin_http(struct line *p)
{
	struct speech_stream *t = p->t;
	const struct engine_message m = {.role = ENGINE_ASSISTANT, .speaker = "", .text = p->text};
	const struct engine_ask ask = {.id = p->ask,
				       .model = t->model,
				       .voice = t->voice,
				       .instructions = "",
				       .messages = &m,
				       .n = 1};

	p->state = OVER_HTTP;
	return engine_speech.ask(t->http, &ask);
}

static void speak_over_http(struct line *p)
{
	int err = begin_http(p);

	if (err)
		end_line(p, ENGINE_FAILED, strerror(err));
}

/* True: the line waits for another socket. */
static bool lose_line(struct line *p, bool refused, const char *why)
{
	if (p->state == CUT) {
		p->state = ENDED;
	} else if (p->state == SENT && (p->samples || refused)) {
		end_line(p, ENGINE_FAILED, why);
	} else if (p->state == WAITING && refused) {
		end_line(p, ENGINE_FAILED, why);
	} else if ((p->state == SENT || p->state == WAITING) && p->again) {
		speak_over_http(p);
	} else if (p->state == SENT || p->state == WAITING) {
		p->state = WAITING;
		p->again = true;
		return true;
	}
	return false;
}

/* Lines that begin in a handler are at the end of the list, and wait for the same socket. */
static void socket_lost(struct speech_stream *t, const char *why)
{
	char text[sizeof t->why];
	enum trouble trouble;
	bool waits = false, refused;

	snprintf(text, sizeof text, "%s", *t->why ? t->why : why);
	trouble = eleven_trouble((const uint8_t *)text, strlen(text));
	refused = trouble == TROUBLE_KEY || trouble == TROUBLE_CREDIT ||
		  retry_after_told(text, strlen(text));
	drop_socket(t);
	log_debug("speech_socket_lost", "why=\"%s\"", text);
	t->busy++;
	for (struct line *p = t->lines; p; p = p->next)
		waits = lose_line(p, refused, text) || waits;
	if (waits && !t->ws && connect_socket(t))
		for (struct line *p = t->lines; p; p = p->next)
			if (p->state == WAITING)
				speak_over_http(p);
	t->busy--;
	pump(t);
}

/* ---- what comes in ---- */

static void tell_word(const char *word, size_t n, uint64_t ends, void *arg)
{
	struct line *p = arg;

	if (p->state == SENT)
		tell(p->t, &(struct engine_event){.type = ENGINE_WORD_END,
						  .ask = p->ask,
						  .samples = ends,
						  .data = {(const uint8_t *)word, n}});
}

static bool decode_audio(struct speech_stream *t, struct slice audio, size_t *n)
{
	size_t need = base64_decoded(audio.n);

	if (need > t->pcm_cap) {
		uint8_t *grown = realloc(t->pcm, need);

		if (!grown)
			return false;
		t->pcm = grown;
		t->pcm_cap = need;
	}
	return !base64_decode((const char *)audio.p, audio.n, t->pcm, t->pcm_cap, n) && *n % 2 == 0;
}

static void take_audio(struct speech_stream *t, struct line *p, const struct eleven_fact *f)
{
	uint64_t before = p->samples;
	size_t n = 0;

	if (p->state != SENT || !decode_audio(t, f->audio, &n))
		return;
	p->samples += n / 2;
	p->heard_at = env_now(t->env);
	p->letters += eleven_letters(f);
	if (n)
		tell(t, &(struct engine_event){
				.type = ENGINE_AUDIO, .ask = p->ask, .data = {t->pcm, n}});
	if (f->alignment)
		eleven_words(&p->word, f, before, tell_word, p);
	if (p->state == SENT && p->letters >= eleven_letters_of(p->text))
		close_context(p);
}

/* The service counts the characters of a text. */
static void tell_usage(struct line *p)
{
	struct usage usage = {0};

	for (const char *s = p->text; *s; s++)
		usage.n[PRICE_CHARACTERS] += (*s & 0xc0) != 0x80;
	tell(p->t, &(struct engine_event){.type = ENGINE_USAGE, .ask = p->ask, .usage = &usage});
}

static void take_final(struct line *p)
{
	if (p->state == SENT)
		eleven_last_word(&p->word, tell_word, p);
	if (p->state == SENT)
		tell_usage(p);
	if (p->state == SENT && p->samples)
		end_line(p, ENGINE_DONE, "");
	else if (p->state == SENT)
		end_line(p, ENGINE_FAILED, "no sound came");
	p->state = ENDED;
}

static void take_fact(struct speech_stream *t, const struct eleven_fact *f)
{
	struct line *p = line_of_context(t, f->context);
	unsigned held;

	t->busy++;
	if (f->type == ELEVEN_ERROR) {
		describe_error(f->code, f->text, t->why, sizeof t->why);
		if (log_limit_pass(&t->errors, env_now(t->env), &held))
			log_warn("speech_error", "why=\"%s\" held_back=%u", t->why, held);
	} else if (p && f->type == ELEVEN_AUDIO) {
		take_audio(t, p, f);
	} else if (p && f->type == ELEVEN_FINAL) {
		take_final(p);
	}
	t->busy--;
	pump(t);
}

static void socket_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			 size_t len, void *arg)
{
	struct speech_stream *t = arg;
	struct eleven_fact f;
	char why[160];

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		t->up = true;
		t->kept_at = env_now(t->env);
		send_text(t, eleven_open_context(KEEPING));
		pump(t);
		break;
	case WS_TEXT:
	case WS_BINARY:
		if (eleven_parse(&f, data, len)) {
			log_debug("speech_malformed", "bytes=%zu", len);
			break;
		}
		take_fact(t, &f);
		eleven_fact_clear(&f);
		break;
	case WS_CLOSED:
		describe_close(code, data, len, why, sizeof why);
		socket_lost(t, why);
		break;
	}
}

/* The service has nothing to say of its text, and would say so only of a context that is closed. */
static void give_up_line(struct line *p)
{
	close_context(p);
	end_line(p, ENGINE_FAILED, "no sound came");
	p->cut_at = env_now(p->t->env);
	p->state = CUT;
}

static void timer_fired(void *arg)
{
	struct speech_stream *t = arg;
	uint64_t now = env_now(t->env);

	t->busy++;
	for (struct line *p = t->lines; p; p = p->next)
		if (p->state == CUT && p->cut_at + CUT_MS * NS_PER_MS <= now)
			p->state = ENDED;
		else if (awaits_sound(p) && awaits_until(p) <= now && p->samples)
			close_context(p);
		else if (awaits_sound(p) && awaits_until(p) <= now)
			give_up_line(p);
	t->busy--;
	if (t->up && t->kept_at + KEEP_MS * NS_PER_MS <= now) {
		if (!t->lines && t->used_at + IDLE_MS * NS_PER_MS <= now) {
			send_text(t, eleven_close_socket());
			drop_socket(t);
		} else {
			send_text(t, eleven_keep_alive(KEEPING));
			t->kept_at = now;
		}
	}
	pump(t);
}

/* Forwards the events of engine_speech about a line. */
static void take_http(const struct engine_event *ev, void *arg)
{
	struct speech_stream *t = arg;

	for (struct line *p = t->lines; p; p = p->next)
		if (p->ask == ev->ask && p->state == OVER_HTTP) {
			if (ev->type == ENGINE_DONE || ev->type == ENGINE_FAILED)
				p->state = ENDED;
			tell(t, ev);
			break;
		}
	pump(t);
}

/* ---- the ops ---- */

static int replace_text(char **to, const char *text)
{
	char *copy;

	if (*to && strcmp(*to, text) == 0)
		return 0;
	copy = strdup(text);
	if (!copy)
		return ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

/* A socket is of one voice and model: it is replaced when nothing runs. */
static int choose_voice(struct speech_stream *t, const struct engine_ask *ask)
{
	const char *voice = ask->voice ? ask->voice : "", *model = ask->model ? ask->model : "";
	bool same = t->voice && t->model && strcmp(t->voice, voice) == 0 &&
		    strcmp(t->model, model) == 0;

	if (same || (t->ws && t->lines))
		return 0;
	drop_socket(t);
	return replace_text(&t->voice, voice) || replace_text(&t->model, model) ? ENOMEM : 0;
}

static struct line *line_add(struct speech_stream *t, const struct engine_ask *ask)
{
	struct line *p = calloc(1, sizeof *p), **at = &t->lines;

	if (p)
		p->text = strdup(ask->messages[ask->n - 1].text);
	if (!p || !p->text) {
		free(p);
		return NULL;
	}
	p->t = t;
	p->ask = ask->id;
	while (*at)
		at = &(*at)->next;
	*at = p;
	t->n_lines++;
	return p;
}

static int stream_ask(void *engine, const struct engine_ask *ask)
{
	struct speech_stream *t = engine;
	struct line *p;
	int err = 0;

	if (t->n_lines >= AT_ONCE)
		return EBUSY;
	if (choose_voice(t, ask))
		return ENOMEM;
	p = line_add(t, ask);
	if (!p)
		return ENOMEM;
	t->used_at = env_now(t->env);
	if (!t->ws && connect_socket(t))
		err = begin_http(p);
	if (err)
		p->state = ENDED;
	pump(t);
	return err;
}

static void stream_cancel(void *engine, uint32_t ask)
{
	struct speech_stream *t = engine;

	for (struct line *p = t->lines; p; p = p->next) {
		if (p->ask != ask || p->state == CUT || p->state == ENDED)
			continue;
		if (p->state == OVER_HTTP)
			engine_speech.cancel(t->http, ask);
		if (p->state == SENT)
			close_context(p);
		p->cut_at = env_now(t->env);
		p->state = p->state == SENT ? CUT : ENDED;
	}
	pump(t);
}

static int stream_rekey(void *engine, const char *key)
{
	struct speech_stream *t = engine;
	char *fresh = eleven_auth(key);

	if ((!fresh && key && *key) || engine_speech.rekey(t->http, key)) {
		if (fresh)
			explicit_bzero(fresh, strlen(fresh));
		free(fresh);
		return ENOMEM;
	}
	if (t->auth)
		explicit_bzero(t->auth, strlen(t->auth));
	free(t->auth);
	t->auth = fresh;
	return 0;
}

static void stream_free(void *engine)
{
	struct speech_stream *t = engine;

	if (!t)
		return;
	ws_free(t->ws);
	tmr_free(t->timer);
	engine_speech.free(t->http);
	while (t->lines)
		line_free(&t->lines);
	if (t->auth)
		explicit_bzero(t->auth, strlen(t->auth));
	free(t->auth);
	free(t->base);
	free(t->language);
	free(t->voice);
	free(t->model);
	free(t->pcm);
	free(t);
}

static int stream_open(struct speech_stream *t, const struct engine_conf *conf)
{
	struct engine_conf http = *conf;
	int err;

	http.h = take_http;
	http.arg = t;
	err = engine_speech.alloc(&t->http, &http);
	if (!err)
		err = tmr_alloc(&t->timer, t->env, timer_fired, t);
	if (err)
		return err;
	t->base = strdup(conf->http_url);
	t->language = strdup(conf->language ? conf->language : "");
	return t->base && t->language ? stream_rekey(t, conf->key) : ENOMEM;
}

static int stream_alloc(void **out, const struct engine_conf *conf)
{
	struct speech_stream *t;
	int err;

	if (!conf->env || !conf->ws || !conf->http || !conf->http_url || !conf->h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = conf->env;
	t->ctx = conf->ws;
	t->silent_ms = conf->silent_ms;
	t->h = conf->h;
	t->arg = conf->arg;
	err = stream_open(t, conf);
	if (err) {
		stream_free(t);
		return err;
	}
	*out = t;
	return 0;
}

const struct engine_ops engine_speech_stream = {.alloc = stream_alloc,
						.free = stream_free,
						.rekey = stream_rekey,
						.ask = stream_ask,
						.cancel = stream_cancel};
