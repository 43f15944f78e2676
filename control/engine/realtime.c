/* The engine of realtime voice sessions: performs what control/engine/core/conversation.h decides,
 * over one WebSocket.
 *
 * One answer runs at a time, as the dialect demands. When a session is lost, the next one learns
 * the history with its first ask. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/openai.h"
#include "control/engine/core/conversation.h"
#include "control/engine/engine.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/media.h"

enum { CONNECT_MS = 4000, LINE_MAX_BYTES = 16384 };

struct realtime {
	struct env *env;
	struct ws_ctx *ctx;
	struct ws *ws;
	struct tmr *timer;
	char *url, *voice, *auth;
	engine_h *h;
	void *arg;
	struct conversation *conversation;
	uint8_t *pcm;
	size_t pcm_cap;
	uint64_t malformed;
};

static int step(struct realtime *r, const struct conversation_input *in);

/* ---- the wire: what goes out ---- */

/* Takes text, which is NULL when there was no memory for it. */
static void send_text(struct realtime *r, char *text)
{
	int err = text ? ws_send(r->ws, true, text, strlen(text)) : ENOMEM;

	if (err)
		log_warn("realtime_send_failed", "error=\"%s\"", strerror(err));
	free(text);
}

static void send_item(struct realtime *r, const struct conversation_output *o)
{
	char line[LINE_MAX_BYTES];

	engine_message_line(o->message, line, sizeof line);
	send_text(r, openai_item(o->id, o->message->role == ENGINE_ASSISTANT, line));
}

static void socket_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			 size_t len, void *arg);

static void connect_socket(struct realtime *r)
{
	static const char failed[] = "the connection could not be begun";
	const char *const headers[] = {r->auth, NULL};
	struct ws_dial dial = {.url = r->url,
			       .headers = r->auth ? headers : NULL,
			       .connect_ms = CONNECT_MS,
			       .max_message = OPENAI_MAX_MESSAGE};
	int err;

	r->ws = ws_free(r->ws);
	err = ws_connect(&r->ws, r->ctx, &dial, socket_event, r);
	if (!err)
		return;
	log_warn("realtime_connect_failed", "error=\"%s\"", strerror(err));
	step(r,
	     &(struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str(failed)});
}

static void send_output(struct realtime *r, const struct conversation_output *o)
{
	switch (o->type) {
	case CONVERSATION_DO_CLOSE:
		r->ws = ws_free(r->ws);
		break;
	case CONVERSATION_DO_DESCRIBE:
		send_text(r, openai_session_voice((const char *)o->text.p, r->voice));
		break;
	case CONVERSATION_DO_INSTRUCT:
		send_text(r, openai_instructions((const char *)o->text.p));
		break;
	case CONVERSATION_DO_ITEM:
		send_item(r, o);
		break;
	case CONVERSATION_DO_RESPOND:
		send_text(r, openai_response(o->ask, o->turn));
		break;
	case CONVERSATION_DO_CANCEL:
		send_text(r, openai_cancel(o->id));
		break;
	case CONVERSATION_DO_TRUNCATE:
		send_text(r, openai_truncate(o->id, o->ms));
		break;
	case CONVERSATION_DO_DELETE:
		send_text(r, openai_delete(o->id));
		break;
	default:
		break;
	}
}

/* ---- the owner ---- */

static void tell_output(struct realtime *r, const struct conversation_output *o)
{
	static const enum engine_event_type types[] = {
		[CONVERSATION_SAYS_AUDIO] = ENGINE_AUDIO,
		[CONVERSATION_SAYS_TEXT] = ENGINE_WORDS,
		[CONVERSATION_SAYS_DONE] = ENGINE_DONE,
		[CONVERSATION_SAYS_FAILED] = ENGINE_FAILED,
		[CONVERSATION_SAYS_SILENT] = ENGINE_SILENT,
		[CONVERSATION_SAYS_LINK_UP] = ENGINE_LINK_UP,
		[CONVERSATION_SAYS_LINK_DOWN] = ENGINE_LINK_DOWN,
	};
	struct engine_event ev = {.ask = o->ask, .data = o->text};

	if (o->type < CONVERSATION_SAYS_AUDIO)
		return;
	ev.type = types[o->type];
	if (o->type == CONVERSATION_SAYS_AUDIO)
		ev.data = o->pcm;
	ev.trouble = engine_trouble(o->text.p, o->text.n);
	r->h(&ev, r->arg);
}

/* What goes to the wire goes first: the handler may ask again from inside. */
static int step(struct realtime *r, const struct conversation_input *in)
{
	struct conversation_outputs *out = malloc(sizeof *out);
	bool connects = false;
	uint64_t at;
	int err;

	if (!out)
		return ENOMEM;
	err = conversation_step(r->conversation, in, env_now(r->env), out);
	for (size_t i = 0; i < out->n; i++) {
		connects = connects || out->v[i].type == CONVERSATION_DO_CONNECT;
		send_output(r, &out->v[i]);
	}
	at = conversation_deadline(r->conversation);
	if (at == UINT64_MAX)
		tmr_stop(r->timer);
	else
		tmr_start_at(r->timer, at);
	for (size_t i = 0; i < out->n; i++)
		tell_output(r, &out->v[i]);
	free(out);
	if (connects)
		connect_socket(r);
	return err;
}

static void timer_fired(void *arg)
{
	step(arg, &(struct conversation_input){.type = CONVERSATION_TIME});
}

/* ---- the wire: what comes in ---- */

static bool decode_audio(struct realtime *r, struct slice audio, struct slice *out)
{
	size_t need = base64_decoded(audio.n), len = 0;

	if (need > r->pcm_cap) {
		uint8_t *grown = realloc(r->pcm, need);

		if (!grown)
			return false;
		r->pcm = grown;
		r->pcm_cap = need;
	}
	if (base64_decode((const char *)audio.p, audio.n, r->pcm, r->pcm_cap, &len) || len % 2) {
		r->malformed++;
		return false;
	}
	*out = (struct slice){r->pcm, len};
	return true;
}

/* The code first: it is what tells one trouble from another. */
static void name_cause(const struct openai_fact *f, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%.*s", f->code, *f->code && f->text.n ? ": " : "", (int)f->text.n,
		 f->text.n ? (const char *)f->text.p : "");
}

static enum conversation_error error_kind(const struct openai_fact *f)
{
	switch (f->error) {
	case OPENAI_ERROR_FATAL:
		return CONVERSATION_ERROR_FATAL;
	case OPENAI_ERROR_ACTIVE:
		return CONVERSATION_ERROR_ACTIVE;
	case OPENAI_ERROR_NOT_ACTIVE:
		return CONVERSATION_ERROR_NOT_ACTIVE;
	case OPENAI_ERROR_OTHER:
		break;
	}
	return CONVERSATION_ERROR_OTHER;
}

static void take_fact(struct realtime *r, const struct openai_fact *f)
{
	struct conversation_input in = {
		.ask = f->ask, .response = f->response, .item = f->item, .text = f->text};
	char why[256];

	switch (f->type) {
	case OPENAI_SESSION:
		in.type = CONVERSATION_CREATED;
		break;
	case OPENAI_RESPONSE:
		in.type = CONVERSATION_RESPONSE;
		break;
	case OPENAI_AUDIO:
		in.type = CONVERSATION_AUDIO;
		if (!decode_audio(r, f->audio, &in.pcm))
			return;
		break;
	case OPENAI_TEXT:
		in.type = CONVERSATION_TEXT;
		break;
	case OPENAI_DONE:
		in.type = CONVERSATION_DONE;
		in.ok = f->status == OPENAI_COMPLETED || f->status == OPENAI_INCOMPLETE;
		break;
	case OPENAI_ERROR:
		in.type = CONVERSATION_ERROR;
		in.error = error_kind(f);
		break;
	default:
		return;
	}
	if (f->type == OPENAI_DONE || f->type == OPENAI_ERROR) {
		name_cause(f, why, sizeof why);
		in.text = slice_str(why);
	}
	if (f->type == OPENAI_ERROR && f->error != OPENAI_ERROR_NOT_ACTIVE)
		log_warn("realtime_error", "ask=%u error=\"%s\"", f->ask, why);
	step(r, &in);
}

static void take_message(struct realtime *r, const uint8_t *data, size_t len)
{
	struct openai_fact f;

	if (openai_parse(&f, data, len)) {
		r->malformed++;
		log_debug("realtime_malformed", "bytes=%zu count=%llu", len,
			  (unsigned long long)r->malformed);
		return;
	}
	take_fact(r, &f);
	openai_fact_clear(&f);
}

static void socket_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			 size_t len, void *arg)
{
	struct realtime *r = arg;
	char why[160];

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		step(r, &(struct conversation_input){.type = CONVERSATION_OPENED});
		break;
	case WS_TEXT:
		take_message(r, data, len);
		break;
	case WS_BINARY:
		r->malformed++;
		break;
	case WS_CLOSED:
		snprintf(why, sizeof why, "closed %u %.*s", code, len > 100 ? 100 : (int)len,
			 len ? (const char *)data : "");
		step(r, &(struct conversation_input){.type = CONVERSATION_CLOSED,
						     .text = slice_str(why)});
		break;
	}
}

/* ---- the ops ---- */

static int realtime_ask(void *engine, const struct engine_ask *ask)
{
	return step(engine, &(struct conversation_input){.type = CONVERSATION_ASK, .request = ask});
}

static void realtime_cancel(void *engine, uint32_t ask)
{
	step(engine, &(struct conversation_input){.type = CONVERSATION_CANCEL, .ask = ask});
}

static void realtime_truncate(void *engine, uint32_t ask, uint32_t ms)
{
	step(engine,
	     &(struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = ask, .ms = ms});
}

static void realtime_forget(void *engine, uint32_t turn)
{
	step(engine, &(struct conversation_input){.type = CONVERSATION_FORGET, .turn = turn});
}

static void realtime_renew(void *engine)
{
	step(engine, &(struct conversation_input){.type = CONVERSATION_RENEW});
}

static int realtime_hear(void *engine, const struct engine_message *message)
{
	return step(engine,
		    &(struct conversation_input){.type = CONVERSATION_HEAR, .message = message});
}

static int realtime_instruct(void *engine, const char *text)
{
	return step(engine, &(struct conversation_input){.type = CONVERSATION_INSTRUCT,
							 .text = slice_str(text)});
}

static int realtime_rekey(void *engine, const char *key)
{
	struct realtime *r = engine;

	return openai_auth_replace(&r->auth, key);
}

static bool realtime_up(const void *engine)
{
	const struct realtime *r = engine;

	return conversation_up(r->conversation);
}

static void realtime_free(void *engine)
{
	struct realtime *r = engine;

	if (!r)
		return;
	ws_free(r->ws);
	tmr_free(r->timer);
	conversation_free(r->conversation);
	if (r->auth)
		explicit_bzero(r->auth, strlen(r->auth));
	free(r->auth);
	free(r->url);
	free(r->voice);
	free(r->pcm);
	free(r);
}

static int realtime_alloc(void **out, const struct engine_conf *conf)
{
	struct conversation_caps caps = {.cancel = conf->caps->cancel,
					 .truncate = conf->caps->truncate,
					 .erase = conf->caps->erase,
					 .rate = conf->caps->rate_out,
					 .silent_ms = conf->silent_ms};
	struct realtime *r;
	int err = ENOMEM;

	if (!conf->env || !conf->ws || !conf->socket_url || !conf->h)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->env = conf->env;
	r->ctx = conf->ws;
	r->h = conf->h;
	r->arg = conf->arg;
	r->url = openai_url_voice(conf->socket_url, conf->model);
	r->voice = strdup(conf->voice ? conf->voice : "");
	if (!r->url || !r->voice)
		goto out;
	if (conf->key && *conf->key && !(r->auth = openai_auth(conf->key)))
		goto out;
	err = conversation_alloc(&r->conversation, &caps);
	if (!err)
		err = tmr_alloc(&r->timer, r->env, timer_fired, r);
	if (err)
		goto out;
	tmr_start(r->timer, 0);
	*out = r;
	r = NULL;
out:
	realtime_free(r);
	return err;
}

const struct engine_ops engine_realtime = {
	.alloc = realtime_alloc,
	.free = realtime_free,
	.rekey = realtime_rekey,
	.up = realtime_up,
	.ask = realtime_ask,
	.cancel = realtime_cancel,
	.instruct = realtime_instruct,
	.hear = realtime_hear,
	.truncate = realtime_truncate,
	.forget = realtime_forget,
	.renew = realtime_renew,
};
