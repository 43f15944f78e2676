/* The engine of realtime voice sessions: performs what control/engine/core/conversation.h decides,
 * over one WebSocket, in the words of the provider's dialect (control/dialect/realtime.h).
 *
 * One answer runs at a time, as the dialects demand. When a session is lost, the next one learns
 * the history with its first ask. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/realtime.h"
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
	const struct realtime_dialect *wire;
	void *codec;
	char *auth; /* a secret */
	engine_h *h;
	void *arg;
	struct conversation *conversation;
	uint8_t *pcm;
	size_t pcm_cap;
	uint64_t malformed;
};

static int step(struct realtime *r, const struct conversation_input *in);

/* ---- the wire: what goes out ---- */

static int send_message(bool text, const void *data, size_t n, void *arg)
{
	struct realtime *r = arg;

	return ws_send(r->ws, text, data, n);
}

static void send_command(struct realtime *r, const struct realtime_command *cmd)
{
	int err = r->wire->encode(r->codec, cmd, send_message, r);

	if (err)
		log_warn("realtime_send_failed", "command=%d error=\"%s\"", cmd->type,
			 strerror(err));
}

static void send_item(struct realtime *r, const struct conversation_output *o)
{
	char line[LINE_MAX_BYTES];

	engine_message_line(o->message, line, sizeof line);
	send_command(r,
		     &(struct realtime_command){.type = REALTIME_ITEM,
						.id = o->id,
						.assistant = o->message->role == ENGINE_ASSISTANT,
						.text = line});
}

static void socket_event(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			 size_t len, void *arg);

static int dial(struct realtime *r)
{
	const char *headers[3] = {r->auth}, **next = headers + (r->auth ? 1 : 0);
	struct ws_dial to = {.url = r->wire->url(r->codec),
			     .headers = headers,
			     .connect_ms = CONNECT_MS,
			     .max_message = REALTIME_MESSAGE_MAX};
	int err = to.url ? 0 : ENOMEM;

	*next = r->wire->header;
	if (!*headers)
		to.headers = NULL;
	r->ws = ws_free(r->ws);
	r->wire->reset(r->codec);
	if (!err)
		err = ws_connect(&r->ws, r->ctx, &to, socket_event, r);
	free((char *)to.url);
	return err;
}

static void connect_socket(struct realtime *r)
{
	static const char failed[] = "the connection could not be begun";
	int err = dial(r);

	if (!err)
		return;
	log_warn("realtime_connect_failed", "error=\"%s\"", strerror(err));
	step(r,
	     &(struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str(failed)});
}

static void send_output(struct realtime *r, const struct conversation_output *o)
{
	struct realtime_command cmd = {.ask = o->ask, .turn = o->turn, .id = o->id, .ms = o->ms};

	switch (o->type) {
	case CONVERSATION_DO_CLOSE:
		r->ws = ws_free(r->ws);
		return;
	case CONVERSATION_DO_ITEM:
		send_item(r, o);
		return;
	case CONVERSATION_DO_DESCRIBE:
		cmd.type = REALTIME_DESCRIBE;
		cmd.instructions = (const char *)o->text.p;
		break;
	case CONVERSATION_DO_INSTRUCT:
		cmd.type = REALTIME_INSTRUCT;
		cmd.instructions = (const char *)o->text.p;
		break;
	case CONVERSATION_DO_RESPOND:
		cmd.type = REALTIME_RESPOND;
		break;
	case CONVERSATION_DO_CANCEL:
		cmd.type = REALTIME_CANCEL;
		break;
	case CONVERSATION_DO_TRUNCATE:
		cmd.type = REALTIME_TRUNCATE;
		break;
	case CONVERSATION_DO_DELETE:
		cmd.type = REALTIME_DELETE;
		break;
	default:
		return;
	}
	send_command(r, &cmd);
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
	ev.trouble = r->wire->trouble(o->text.p, o->text.n);
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

static bool decode_audio(struct realtime *r, const struct realtime_fact *f, struct slice *out)
{
	size_t need = base64_decoded(f->data.n), len = 0;

	if (f->binary) {
		*out = f->data;
		return f->data.n % 2 == 0;
	}
	if (need > r->pcm_cap) {
		uint8_t *grown = realloc(r->pcm, need);

		if (!grown)
			return false;
		r->pcm = grown;
		r->pcm_cap = need;
	}
	if (base64_decode((const char *)f->data.p, f->data.n, r->pcm, r->pcm_cap, &len) || len % 2)
		return false;
	*out = (struct slice){r->pcm, len};
	return true;
}

/* The code first: it is what tells one trouble from another. */
static void name_cause(const struct realtime_fact *f, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%.*s", f->code, *f->code && f->text.n ? ": " : "", (int)f->text.n,
		 f->text.n ? (const char *)f->text.p : "");
}

static enum conversation_error error_kind(enum realtime_error error)
{
	switch (error) {
	case REALTIME_ERROR_FATAL:
		return CONVERSATION_ERROR_FATAL;
	case REALTIME_ERROR_ACTIVE:
		return CONVERSATION_ERROR_ACTIVE;
	case REALTIME_ERROR_NOT_ACTIVE:
		return CONVERSATION_ERROR_NOT_ACTIVE;
	case REALTIME_ERROR_OTHER:
		break;
	}
	return CONVERSATION_ERROR_OTHER;
}

/* False: the conversation has no use for the fact. */
static bool input_of(struct realtime *r, const struct realtime_fact *f,
		     struct conversation_input *in)
{
	switch (f->type) {
	case REALTIME_SESSION:
		in->type = CONVERSATION_CREATED;
		return true;
	case REALTIME_RESPONSE:
		in->type = CONVERSATION_RESPONSE;
		return true;
	case REALTIME_AUDIO:
		in->type = CONVERSATION_AUDIO;
		if (decode_audio(r, f, &in->pcm))
			return true;
		r->malformed++;
		return false;
	case REALTIME_TEXT:
		in->type = CONVERSATION_TEXT;
		return true;
	case REALTIME_DONE:
		in->type = CONVERSATION_DONE;
		in->ok = f->status == REALTIME_COMPLETED || f->status == REALTIME_INCOMPLETE;
		return true;
	case REALTIME_ERROR:
		in->type = CONVERSATION_ERROR;
		in->error = error_kind(f->error);
		return true;
	default:
		return false;
	}
}

static void take_fact(struct realtime *r, const struct realtime_fact *f)
{
	struct conversation_input in = {
		.ask = f->ask, .response = f->response, .item = f->item, .text = f->text};
	char why[256];

	if (!input_of(r, f, &in))
		return;
	if (f->type == REALTIME_DONE || f->type == REALTIME_ERROR) {
		name_cause(f, why, sizeof why);
		in.text = slice_str(why);
	}
	if (f->type == REALTIME_ERROR && f->error != REALTIME_ERROR_NOT_ACTIVE)
		log_warn("realtime_error", "ask=%u error=\"%s\"", f->ask, why);
	step(r, &in);
}

static void take_message(struct realtime *r, bool text, const uint8_t *data, size_t len)
{
	struct realtime_facts *facts = malloc(sizeof *facts);
	int err = facts ? r->wire->decode(r->codec, text, data, len, facts) : ENOMEM;

	if (err) {
		r->malformed++;
		log_debug("realtime_malformed", "bytes=%zu count=%llu", len,
			  (unsigned long long)r->malformed);
		free(facts);
		return;
	}
	for (size_t i = 0; i < facts->n; i++)
		take_fact(r, &facts->v[i]);
	realtime_facts_clear(facts);
	free(facts);
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
	case WS_BINARY:
		take_message(r, ev == WS_TEXT, data, len);
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

static void wipe_auth(struct realtime *r)
{
	if (r->auth)
		explicit_bzero(r->auth, strlen(r->auth));
	free(r->auth);
}

static int realtime_rekey(void *engine, const char *key)
{
	struct realtime *r = engine;
	char *auth = r->wire->auth(key);

	if (!auth && key && *key)
		return ENOMEM;
	wipe_auth(r);
	r->auth = auth;
	return 0;
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
	wipe_auth(r);
	if (r->codec)
		r->wire->free(r->codec);
	free(r->pcm);
	free(r);
}

static int realtime_open(struct realtime *r, const struct engine_conf *conf)
{
	const struct realtime_conf codec = {.url = conf->socket_url,
					    .model = conf->model,
					    .voice = conf->voice,
					    .language = conf->language,
					    .rate_in = conf->caps->rate_in,
					    .rate_out = conf->caps->rate_out};
	struct conversation_caps caps = {.cancel = conf->caps->cancel,
					 .truncate = conf->caps->truncate,
					 .erase = conf->caps->erase,
					 .rate = conf->caps->rate_out,
					 .silent_ms = conf->silent_ms};
	int err = r->wire->alloc(&r->codec, &codec);

	if (!err && conf->key && *conf->key && !(r->auth = r->wire->auth(conf->key)))
		err = ENOMEM;
	if (!err)
		err = conversation_alloc(&r->conversation, &caps);
	return err ? err : tmr_alloc(&r->timer, r->env, timer_fired, r);
}

static int realtime_alloc(void **out, const struct engine_conf *conf)
{
	struct realtime *r;
	int err;

	if (!conf->env || !conf->ws || !conf->socket_url || !conf->h ||
	    !engine_wire(conf->caps->dialect))
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->env = conf->env;
	r->ctx = conf->ws;
	r->h = conf->h;
	r->arg = conf->arg;
	r->wire = engine_wire(conf->caps->dialect);
	err = realtime_open(r, conf);
	if (err) {
		realtime_free(r);
		return err;
	}
	tmr_start(r->timer, 0);
	*out = r;
	return 0;
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
