/* The sockets of the realtime engine: the conversation's outputs as messages of the dialect, and
 * messages as its inputs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/engine/core/describe.h"
#include "control/engine/realtime_state.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws.h"
#include "proto/media.h"

enum { CONNECT_MS = 4000, LINE_MAX_BYTES = 16384, APPEND_BYTES = 48000 };

/* False: no memory. */
static bool make_room(uint8_t **buf, size_t *cap, size_t need)
{
	uint8_t *grown = need > *cap ? realloc(*buf, need) : *buf;

	if (!grown)
		return need == 0;
	*buf = grown;
	*cap = need > *cap ? need : *cap;
	return true;
}

/* Into r->resampled. */
static bool change_rate(struct realtime *r, struct rate_change *by, struct slice *pcm)
{
	if (!make_room(&r->resampled, &r->resampled_cap, rate_change_most(by, pcm->n)))
		return false;
	pcm->n = rate_change_run(by, pcm->p, pcm->n, r->resampled);
	pcm->p = r->resampled;
	return true;
}

/* ---- what goes out ---- */

static int send_message(bool text, const void *data, size_t n, void *arg)
{
	const struct realtime_socket *s = arg;

	return s->ws ? ws_send(s->ws, text, data, n) : ENOTCONN;
}

static void send_command(struct realtime_socket *s, const struct realtime_command *cmd)
{
	int err = s->r->wire->encode(s->codec, cmd, send_message, s);

	if (err)
		log_warn("realtime_send_failed", "command=%d error=\"%s\"", cmd->type,
			 strerror(err));
}

static void send_item(struct realtime_socket *s, const struct conversation_output *o)
{
	char line[LINE_MAX_BYTES];

	engine_message_line(o->message, line, sizeof line);
	send_command(s,
		     &(struct realtime_command){.type = REALTIME_ITEM,
						.id = o->id,
						.after = o->after,
						.assistant = o->message->role == ENGINE_ASSISTANT,
						.text = line});
}

/* In parts, each with a message of its own. */
static void send_sound(struct realtime_socket *s, struct slice pcm)
{
	for (size_t n; pcm.n; pcm.p += n, pcm.n -= n) {
		struct realtime_command cmd = {.type = REALTIME_APPEND};

		n = pcm.n < APPEND_BYTES ? pcm.n : APPEND_BYTES;
		cmd.data = (struct slice){pcm.p, n};
		if (s->r->in && !change_rate(s->r, s->r->in, &cmd.data))
			log_warn("realtime_send_failed", "error=\"%s\"", strerror(ENOMEM));
		else
			send_command(s, &cmd);
	}
}

static void send_text(struct realtime_socket *s, const struct conversation_output *o,
		      struct realtime_command *cmd)
{
	char *text = strndup((const char *)o->text.p, o->text.n);

	cmd->text = text;
	if (text)
		send_command(s, cmd);
	else
		log_warn("realtime_send_failed", "error=\"%s\"", strerror(ENOMEM));
	free(text);
}

static bool send_special(struct realtime_socket *s, const struct conversation_output *o,
			 struct realtime_command *cmd)
{
	switch (o->type) {
	case CONVERSATION_DO_CLOSE:
		s->ws = ws_free(s->ws);
		return true;
	case CONVERSATION_DO_ITEM:
		send_item(s, o);
		return true;
	case CONVERSATION_DO_APPEND:
		send_sound(s, o->pcm);
		return true;
	case CONVERSATION_DO_SAY:
		cmd->type = REALTIME_SAY;
		send_text(s, o, cmd);
		return true;
	case CONVERSATION_DO_ASIDE:
		cmd->type = REALTIME_ASIDE;
		send_text(s, o, cmd);
		return true;
	case CONVERSATION_DO_RESULT:
		*cmd = (struct realtime_command){.type = REALTIME_RESULT,
						 .call = o->id,
						 .name = o->name,
						 .failed = o->failed};
		send_text(s, o, cmd);
		return true;
	default:
		return false;
	}
}

void realtime_send(struct realtime *r, const struct conversation_output *o)
{
	static const enum realtime_command_type types[] = {
		[CONVERSATION_DO_DESCRIBE] = REALTIME_DESCRIBE,
		[CONVERSATION_DO_INSTRUCT] = REALTIME_INSTRUCT,
		[CONVERSATION_DO_TOOLS] = REALTIME_TOOLS,
		[CONVERSATION_DO_IMAGE] = REALTIME_IMAGE,
		[CONVERSATION_DO_ACTIVITY] = REALTIME_ACTIVITY,
		[CONVERSATION_DO_COMMIT] = REALTIME_COMMIT,
		[CONVERSATION_DO_RESPOND] = REALTIME_RESPOND,
		[CONVERSATION_DO_CANCEL] = REALTIME_CANCEL,
		[CONVERSATION_DO_TRUNCATE] = REALTIME_TRUNCATE,
		[CONVERSATION_DO_DELETE] = REALTIME_DELETE,
		[CONVERSATION_DO_KEEPALIVE] = REALTIME_KEEPALIVE,
	};
	struct realtime_socket *s = &r->socket[o->session];
	struct realtime_command cmd = {.ask = o->ask,
				       .turn = o->turn,
				       .limit = o->limit,
				       .ms = o->ms,
				       .id = o->id,
				       .tools = o->tools};

	if (o->type >= CONVERSATION_SAYS_AUDIO || send_special(s, o, &cmd))
		return;
	cmd.type = types[o->type];
	if (o->type == CONVERSATION_DO_DESCRIBE || o->type == CONVERSATION_DO_INSTRUCT)
		cmd.instructions = (const char *)o->text.p;
	if (o->type == CONVERSATION_DO_ACTIVITY && r->in)
		rate_change_reset(r->in);
	if (o->type == CONVERSATION_DO_IMAGE) {
		cmd.mime = o->image->type;
		cmd.data = o->image->data;
	}
	send_command(s, &cmd);
}

static void take_socket(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			size_t len, void *arg);

static int dial(struct realtime_socket *s)
{
	const struct realtime *r = s->r;
	const char *headers[3] = {r->auth}, **next = headers + (r->auth ? 1 : 0);
	struct ws_dial to = {.url = r->wire->url(s->codec),
			     .headers = headers,
			     .connect_ms = CONNECT_MS,
			     .max_message = REALTIME_MESSAGE_MAX};
	int err = to.url ? 0 : ENOMEM;

	*next = r->wire->header;
	if (!*headers)
		to.headers = NULL;
	s->ws = ws_free(s->ws);
	r->wire->reset(s->codec);
	if (!err)
		err = ws_connect(&s->ws, r->ctx, &to, take_socket, s);
	free((char *)to.url);
	return err;
}

void realtime_connect(struct realtime *r, unsigned session)
{
	static const char failed[] = "the connection could not be begun";
	int err = dial(&r->socket[session]);

	if (!err)
		return;
	log_warn("realtime_connect_failed", "error=\"%s\"", strerror(err));
	realtime_step(r, &(struct conversation_input){.type = CONVERSATION_CLOSED,
						      .session = session,
						      .text = slice_str(failed)});
}

/* ---- what comes in ---- */

static bool decode_audio(struct realtime *r, const struct realtime_fact *f, struct slice *out)
{
	size_t len = f->data.n;

	*out = f->data;
	if (!f->binary) {
		if (!make_room(&r->pcm, &r->pcm_cap, base64_decoded(f->data.n)) ||
		    base64_decode((const char *)f->data.p, f->data.n, r->pcm, r->pcm_cap, &len))
			return false;
		*out = (struct slice){r->pcm, len};
	}
	return len % 2 == 0 && (!r->out || change_rate(r, r->out, out));
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
	case REALTIME_ERROR_SESSION:
	case REALTIME_ERROR_OTHER:
		break;
	}
	return CONVERSATION_ERROR_OTHER;
}

/* False: the conversation has no use for the fact. */
static bool input_type(enum realtime_fact_type fact, enum conversation_input_type *type)
{
	static const struct {
		enum realtime_fact_type fact;
		enum conversation_input_type input;
	} table[] = {{REALTIME_SESSION, CONVERSATION_CREATED},
		     {REALTIME_HEARD_ITEM, CONVERSATION_ITEM},
		     {REALTIME_RESPONSE, CONVERSATION_RESPONSE},
		     {REALTIME_AUDIO, CONVERSATION_AUDIO},
		     {REALTIME_TEXT, CONVERSATION_TEXT},
		     {REALTIME_CALL_BEGUN, CONVERSATION_CALL_BEGUN},
		     {REALTIME_CALL_FRAGMENT, CONVERSATION_CALL_FRAGMENT},
		     {REALTIME_CALL, CONVERSATION_CALL},
		     {REALTIME_CALL_REVOKED, CONVERSATION_CALL_REVOKED},
		     {REALTIME_INTERRUPTED, CONVERSATION_INTERRUPTED},
		     {REALTIME_DONE, CONVERSATION_DONE},
		     {REALTIME_ERROR, CONVERSATION_ERROR},
		     {REALTIME_GO_AWAY, CONVERSATION_GO_AWAY}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].fact == fact) {
			*type = table[i].input;
			return true;
		}
	return false;
}

static bool is_told(const struct usage *usage)
{
	for (size_t i = 0; i < PRICE_KINDS; i++)
		if (usage->n[i])
			return true;
	return false;
}

/* Usage that comes beside an answer is nobody's. */
static void tell_usage(struct realtime *r, const struct realtime_fact *f)
{
	r->h(&(struct engine_event){.type = ENGINE_USAGE, .usage = &f->usage}, r->arg);
}

/* A provider can send any number of errors. */
static void report_error(struct realtime *r, const struct realtime_fact *f, const char *why)
{
	unsigned held;

	if (f->error == REALTIME_ERROR_NOT_ACTIVE ||
	    !log_limit_pass(&r->errors[f->error], env_now(r->env), &held))
		return;
	log_warn("realtime_error", "ask=%u error=\"%s\" held_back=%u", f->ask, why, held);
	if (f->error == REALTIME_ERROR_SESSION)
		r->h(&(struct engine_event){.type = ENGINE_REFUSED, .data = slice_str(why)},
		     r->arg);
}

static void take_fact(struct realtime_socket *s, const struct realtime_fact *f)
{
	struct realtime *r = s->r;
	struct conversation_input in = {.session = s->session,
					.ask = f->ask,
					.aside = f->aside,
					.response = f->response,
					.item = f->item,
					.call = f->call,
					.name = f->name,
					.error = error_kind(f->error),
					.text = f->text};
	char why[256];

	if (f->type == REALTIME_USAGE)
		tell_usage(r, f);
	if (!input_type(f->type, &in.type))
		return;
	if (f->type == REALTIME_AUDIO && !decode_audio(r, f, &in.pcm)) {
		r->malformed++;
		return;
	}
	if (f->type == REALTIME_DONE || f->type == REALTIME_ERROR) {
		/* The code first: it is what tells one trouble from another. */
		describe_error(f->code, f->text, why, sizeof why);
		in.text = slice_str(why);
	}
	if (f->type == REALTIME_DONE) {
		in.ok = f->status == REALTIME_COMPLETED || f->status == REALTIME_INCOMPLETE;
		in.cut = f->status == REALTIME_INCOMPLETE;
		in.usage = is_told(&f->usage) ? &f->usage : NULL;
	}
	if (f->type == REALTIME_ERROR)
		report_error(r, f, why);
	realtime_step(r, &in);
	if (f->type == REALTIME_ERROR && f->whole)
		realtime_step(r, &(struct conversation_input){.type = CONVERSATION_REFUSED,
							      .session = s->session});
}

static void take_message(struct realtime_socket *s, bool text, const uint8_t *data, size_t len)
{
	struct realtime *r = s->r;
	struct realtime_facts *facts = malloc(sizeof *facts);
	int err = facts ? r->wire->decode(s->codec, text, data, len, facts) : ENOMEM;

	if (err) {
		r->malformed++;
		log_debug("realtime_malformed", "bytes=%zu count=%llu", len,
			  (unsigned long long)r->malformed);
		free(facts);
		return;
	}
	/* A fact may have closed the socket. */
	for (size_t i = 0; i < facts->n && s->ws; i++)
		take_fact(s, &facts->v[i]);
	realtime_facts_clear(facts);
	free(facts);
}

static void take_socket(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
			size_t len, void *arg)
{
	struct realtime_socket *s = arg;
	struct conversation_input in = {.session = s->session};
	char why[160];

	(void)ws;
	switch (ev) {
	case WS_OPEN:
		in.type = CONVERSATION_OPENED;
		realtime_step(s->r, &in);
		break;
	case WS_TEXT:
	case WS_BINARY:
		take_message(s, ev == WS_TEXT, data, len);
		break;
	case WS_CLOSED:
		describe_close(code, data, len, why, sizeof why);
		in.type = CONVERSATION_CLOSED;
		in.text = slice_str(why);
		realtime_step(s->r, &in);
		break;
	}
}
