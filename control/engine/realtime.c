#include "control/engine/realtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/memory.h"
#include "control/dialect/base64.h"
#include "control/dialect/openai.h"
#include "ipc/backoff.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"

enum { WIND_DOWN_MS = 1500, ANSWERS = 8 };

static const struct backoff_conf reconnect = {.first_ms = 500, .max_ms = 30000};

enum link { LINK_DOWN, LINK_CONNECTING, LINK_UP };

/* What was asked of the provider: kept a while after its end, for truncation and to drop what comes
 * late. */
struct answer {
	uint32_t turn; /* 0 = free */
	bool running, cancelled;
	char response[OPENAI_ID_MAX]; /* "" until the server told it */
	char item[OPENAI_ID_MAX];
	uint64_t bytes; /* of sound that came */
};

struct realtime {
	struct env *env;
	struct ws_ctx *ctx;
	struct ws *ws;
	struct tmr *retry, *wind_down;
	char *url, *voice, *auth;
	realtime_h *h;
	void *arg;

	enum link link;
	struct backoff backoff;
	uint64_t malformed;
	bool told_down;
	char ended_by[256]; /* the error for which we closed the session, "" for none */
	char *instructions;
	struct brain_memory *memory;

	uint32_t waiting; /* turn of the ask that waits, 0 = none */
	char *line;
	struct answer answer[ANSWERS];
	unsigned newest; /* place of the newest answer */

	uint8_t *pcm;
	size_t pcm_cap;
};

static void tell(struct realtime *b, enum realtime_event ev, uint32_t turn, const char *text)
{
	b->h(ev, turn, (const uint8_t *)text, strlen(text), b->arg);
}

/* Takes text, which may be NULL when there was no memory for it. */
static int send_text(struct realtime *b, char *text)
{
	int err = text ? ws_send(b->ws, true, text, strlen(text)) : ENOMEM;

	if (err)
		log_warn("brain_send_failed", "error=\"%s\"", strerror(err));
	free(text);
	return err;
}

static struct answer *running(struct realtime *b)
{
	return b->answer[b->newest].running ? &b->answer[b->newest] : NULL;
}

static struct answer *by_turn(struct realtime *b, uint32_t turn)
{
	/* The newest: it may have been asked again. */
	for (unsigned i = 0; i < ANSWERS; i++) {
		struct answer *a = &b->answer[(b->newest + ANSWERS - i) % ANSWERS];

		if (turn && a->turn == turn)
			return a;
	}
	return NULL;
}

static struct answer *by_response(struct realtime *b, const char *response)
{
	for (unsigned i = 0; i < ANSWERS; i++)
		if (b->answer[i].turn && strcmp(b->answer[i].response, response) == 0)
			return &b->answer[i];
	return NULL;
}

/* Sends the waiting ask when nothing hinders. */
static void ask_next(struct realtime *b)
{
	if (b->link != LINK_UP || !b->waiting || running(b))
		return;
	b->newest = (b->newest + 1) % ANSWERS;
	b->answer[b->newest] = (struct answer){.turn = b->waiting, .running = true};
	if (b->line)
		send_text(b, openai_item_user(b->line));
	send_text(b, openai_response(b->waiting));
	b->waiting = 0;
}

static void answer_over(struct realtime *b, struct answer *a)
{
	a->running = false;
	tmr_stop(b->wind_down);
	ask_next(b);
}

static void wind_down_over(void *arg)
{
	struct realtime *b = arg;
	struct answer *a = running(b);

	if (a && a->cancelled)
		answer_over(b, a);
}

/* ---- the link ---- */

static void ws_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
		     size_t len, void *arg);

static void retry_later(struct realtime *b)
{
	b->link = LINK_DOWN;
	backoff_wait(&b->backoff, b->env, b->retry);
}

static void connect_now(void *arg)
{
	struct realtime *b = arg;
	const char *const headers[] = {b->auth, NULL};
	struct ws_dial dial = {.url = b->url,
			       .headers = b->auth ? headers : NULL,
			       .connect_ms = 10000,
			       .max_message = OPENAI_MAX_MESSAGE};
	int err;

	b->ws = ws_free(b->ws);
	b->link = LINK_CONNECTING;
	err = ws_connect(&b->ws, b->ctx, &dial, ws_event, b);
	if (err) {
		log_warn("brain_connect_failed", "error=\"%s\"", strerror(err));
		retry_later(b);
	}
}

static void recall(const char *line, const char *said, void *arg)
{
	struct realtime *b = arg;

	send_text(b, openai_item_user(line));
	if (*said)
		send_text(b, openai_item_assistant(said));
}

static void link_up(struct realtime *b)
{
	b->link = LINK_UP;
	b->told_down = false;
	b->ended_by[0] = '\0';
	send_text(b, openai_session_voice(b->instructions ? b->instructions : "", b->voice));
	brain_memory_each(b->memory, recall, b);
	tell(b, REALTIME_LINK_UP, 0, "");
	ask_next(b);
}

static void link_down(struct realtime *b, const char *why)
{
	struct answer *a = running(b);
	uint32_t failed = a && !a->cancelled ? a->turn : 0;

	if (a)
		a->running = false;
	tmr_stop(b->wind_down);
	/* The items of a lost session are not there to be cut. */
	for (unsigned i = 0; i < ANSWERS; i++)
		b->answer[i].item[0] = '\0';
	retry_later(b);
	if (failed)
		tell(b, REALTIME_FAILED_ASK, failed, why);
	if (!b->told_down) {
		b->told_down = true;
		tell(b, REALTIME_LINK_DOWN, 0, why);
	}
}

/* ---- facts ---- */

static void fact_response(struct realtime *b, const struct openai_fact *f)
{
	struct answer *a = f->turn ? by_turn(b, f->turn) : running(b);

	if (!a || a->response[0])
		return;
	memcpy(a->response, f->response, sizeof a->response);
	/* It was cancelled before it had a name: now it can be said which. */
	if (a->cancelled)
		send_text(b, openai_cancel(a->response));
}

static void fact_audio(struct realtime *b, const struct openai_fact *f)
{
	struct answer *a = by_response(b, f->response);
	size_t need = base64_decoded(f->audio.n), len = 0;

	if (!a || a->cancelled || !a->running)
		return;
	if (need > b->pcm_cap) {
		uint8_t *grown = realloc(b->pcm, need);

		if (!grown)
			return;
		b->pcm = grown;
		b->pcm_cap = need;
	}
	if (base64_decode((const char *)f->audio.p, f->audio.n, b->pcm, b->pcm_cap, &len) ||
	    len % 2) {
		b->malformed++;
		return;
	}
	if (!a->item[0])
		memcpy(a->item, f->item, sizeof a->item);
	a->bytes += len;
	if (len)
		b->h(REALTIME_AUDIO, a->turn, b->pcm, len, b->arg);
}

static void fact_text(struct realtime *b, const struct openai_fact *f)
{
	struct answer *a = by_response(b, f->response);

	if (a && a->running && !a->cancelled)
		b->h(REALTIME_TEXT, a->turn, f->text.p, f->text.n, b->arg);
}

/* The code first: it is what tells one trouble from another. */
static void why_of(const struct openai_fact *f, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%.*s", f->code, *f->code && f->text.n ? ": " : "", (int)f->text.n,
		 f->text.n ? (const char *)f->text.p : "");
}

static void fact_done(struct realtime *b, const struct openai_fact *f)
{
	struct answer *a = by_response(b, f->response);
	uint32_t turn;
	char why[256];

	if (!a || !a->running)
		return;
	turn = a->cancelled ? 0 : a->turn;
	why_of(f, why, sizeof why);
	a->running = false;
	if (turn && (f->status == OPENAI_COMPLETED || f->status == OPENAI_INCOMPLETE))
		tell(b, REALTIME_DONE, turn, "");
	else if (turn)
		tell(b, REALTIME_FAILED_ASK, turn, why);
	answer_over(b, a);
}

static void fact_error(struct realtime *b, const struct openai_fact *f)
{
	struct answer *a = running(b);

	/* Cancelling what has just ended is a race, not a fault. */
	if (strcmp(f->code, "response_cancel_not_active") == 0) {
		if (a && a->cancelled)
			answer_over(b, a);
		return;
	}
	log_warn("brain_error", "code=%s fatal=%d text=\"%.*s\"", *f->code ? f->code : "none",
		 f->fatal, (int)f->text.n, (const char *)f->text.p);
	if (f->fatal) {
		why_of(f, b->ended_by, sizeof b->ended_by);
		ws_close(b->ws, 1000, NULL);
		return;
	}
	if (a && f->turn == a->turn && !a->response[0]) {
		uint32_t turn = a->cancelled ? 0 : a->turn;
		char why[256];

		a->running = false;
		why_of(f, why, sizeof why);
		if (turn)
			tell(b, REALTIME_FAILED_ASK, turn, why);
		answer_over(b, a);
	}
}

static void message(struct realtime *b, const uint8_t *data, size_t len)
{
	struct openai_fact f;

	if (openai_parse(&f, data, len)) {
		b->malformed++;
		log_debug("realtime_malformed", "bytes=%zu", len);
		return;
	}
	switch (f.type) {
	case OPENAI_SESSION:
		backoff_reset(&b->backoff);
		break;
	case OPENAI_RESPONSE:
		fact_response(b, &f);
		break;
	case OPENAI_AUDIO:
		fact_audio(b, &f);
		break;
	case OPENAI_TEXT:
		fact_text(b, &f);
		break;
	case OPENAI_DONE:
		fact_done(b, &f);
		break;
	case OPENAI_ERROR:
		fact_error(b, &f);
		break;
	default:
		break;
	}
	openai_fact_clear(&f);
}

static void ws_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
		     size_t len, void *arg)
{
	struct realtime *b = arg;
	char why[160];

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		link_up(b);
		break;
	case WS_TEXT:
		message(b, data, len);
		break;
	case WS_BINARY:
		b->malformed++;
		break;
	case WS_CLOSED:
		snprintf(why, sizeof why, "closed %u %.*s", code, len > 100 ? 100 : (int)len,
			 len ? (const char *)data : "");
		link_down(b, *b->ended_by ? b->ended_by : why);
		break;
	}
}

/* ---- the owner's side ---- */

int realtime_instruct(struct realtime *b, const char *text)
{
	char *copy;

	if (b->instructions && strcmp(b->instructions, text) == 0)
		return 0;
	copy = strdup(text);
	if (!copy)
		return ENOMEM;
	free(b->instructions);
	b->instructions = copy;
	if (b->link == LINK_UP)
		return send_text(b, openai_instructions(copy));
	return 0;
}

int realtime_ask(struct realtime *b, uint32_t turn, const char *line)
{
	char *copy = strdup(line);

	if (!copy)
		return ENOMEM;
	free(b->line);
	b->line = copy;
	b->waiting = turn;
	ask_next(b);
	return 0;
}

void realtime_cancel(struct realtime *b, uint32_t turn)
{
	struct answer *a = by_turn(b, turn);

	if (b->waiting == turn)
		b->waiting = 0;
	if (!a || !a->running || a->cancelled)
		return;
	a->cancelled = true;
	if (b->link == LINK_UP && a->response[0])
		send_text(b, openai_cancel(a->response));
	tmr_start(b->wind_down, WIND_DOWN_MS * NS_PER_MS);
}

void realtime_again(struct realtime *b, uint32_t turn)
{
	if (b->waiting == turn)
		return; /* it was not sent yet */
	realtime_cancel(b, turn);
	free(b->line);
	b->line = NULL;
	b->waiting = turn;
	ask_next(b);
}

void realtime_truncate(struct realtime *b, uint32_t turn, uint32_t ms)
{
	struct answer *a = by_turn(b, turn);
	uint64_t came;

	if (!a || !a->item[0] || b->link != LINK_UP)
		return;
	came = a->bytes * 1000 / (2 * OPENAI_RATE);
	send_text(b, openai_truncate(a->item, ms < came ? ms : (uint32_t)came));
}

int realtime_hear(struct realtime *b, const char *line)
{
	return b->link == LINK_UP ? send_text(b, openai_item_user(line)) : ENOTCONN;
}

int realtime_remember(struct realtime *b, const char *line, const char *said)
{
	return brain_memory_add(b->memory, line, said);
}

bool realtime_up(const struct realtime *b)
{
	return b->link == LINK_UP;
}

uint64_t realtime_malformed(const struct realtime *b)
{
	return b->malformed;
}

int realtime_alloc(struct realtime **out, const struct realtime_conf *conf)
{
	struct realtime *b;
	int err = ENOMEM;

	if (!out || !conf->env || !conf->ws || !conf->url || !conf->h)
		return EINVAL;
	b = calloc(1, sizeof *b);
	if (!b)
		return ENOMEM;
	b->env = conf->env;
	b->ctx = conf->ws;
	b->h = conf->h;
	b->arg = conf->arg;
	b->backoff = backoff_of(&reconnect);
	b->url = openai_url_voice(conf->url, conf->model);
	b->voice = strdup(conf->voice ? conf->voice : "");
	if (!b->url || !b->voice)
		goto out;
	if (conf->key && *conf->key && !(b->auth = openai_auth(conf->key)))
		goto out;
	err = brain_memory_alloc(&b->memory);
	if (err)
		goto out;
	err = tmr_alloc(&b->retry, b->env, connect_now, b);
	if (!err)
		err = tmr_alloc(&b->wind_down, b->env, wind_down_over, b);
	if (err)
		goto out;
	tmr_start(b->retry, 0);
	*out = b;
	b = NULL;
out:
	realtime_free(b);
	return err;
}

struct realtime *realtime_free(struct realtime *b)
{
	if (!b)
		return NULL;
	ws_free(b->ws);
	tmr_free(b->retry);
	tmr_free(b->wind_down);
	brain_memory_free(b->memory);
	if (b->auth)
		explicit_bzero(b->auth, strlen(b->auth));
	free(b->auth);
	free(b->url);
	free(b->voice);
	free(b->instructions);
	free(b->line);
	free(b->pcm);
	free(b);
	return NULL;
}
