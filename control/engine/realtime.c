/* The engine of realtime voice sessions: performs what control/engine/core/conversation.h decides,
 * over one WebSocket for each session, in the words of the provider's dialect
 * (control/dialect/realtime.h). It serves voices that converse, and voices that read out
 * (role speech) by exact lines.
 *
 * One answer runs at a time, as the dialects demand. Sound is resampled where the dialect has
 * another rate than ENGINE_SOUND_RATE. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/realtime_state.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/media.h"

/* ---- the owner ---- */

static void tell_output(struct realtime *r, const struct conversation_output *o)
{
	static const enum engine_event_type types[] = {
		[CONVERSATION_SAYS_AUDIO] = ENGINE_AUDIO,
		[CONVERSATION_SAYS_TEXT] = ENGINE_WORDS,
		[CONVERSATION_SAYS_CALL] = ENGINE_TOOL_CALL,
		[CONVERSATION_SAYS_REVOKED] = ENGINE_TOOL_REVOKED,
		[CONVERSATION_SAYS_USAGE] = ENGINE_USAGE,
		[CONVERSATION_SAYS_DONE] = ENGINE_DONE,
		[CONVERSATION_SAYS_FAILED] = ENGINE_FAILED,
		[CONVERSATION_SAYS_ASIDE] = ENGINE_ASIDE,
		[CONVERSATION_SAYS_SILENT] = ENGINE_SILENT,
		[CONVERSATION_SAYS_LINK_UP] = ENGINE_LINK_UP,
		[CONVERSATION_SAYS_LINK_DOWN] = ENGINE_LINK_DOWN,
	};
	struct engine_event ev = {.ask = o->ask,
				  .call = o->id,
				  .tool = o->name,
				  .session = o->epoch,
				  .too_large = o->too_large,
				  .usage = o->usage,
				  .data = o->text};

	if (o->type < CONVERSATION_SAYS_AUDIO)
		return;
	if (o->type == CONVERSATION_SAYS_ROLLED) {
		log_info("session_rolled", "session=%u", o->session);
		return;
	}
	ev.type = types[o->type];
	if (o->type == CONVERSATION_SAYS_AUDIO)
		ev.data = o->pcm;
	ev.end = o->calls ? ENGINE_END_TOOLS : o->cut ? ENGINE_END_LENGTH : ENGINE_END_STOP;
	ev.trouble = r->wire->trouble(o->text.p, o->text.n);
	r->h(&ev, r->arg);
}

/* The wire comes first: the handler may ask again from inside. */
int realtime_step(struct realtime *r, const struct conversation_input *in)
{
	struct conversation_outputs *out = malloc(sizeof *out);
	bool connects[2] = {false, false};
	uint64_t at;
	int err;

	if (!out)
		return ENOMEM;
	err = conversation_step(r->conversation, in, env_now(r->env), out);
	for (size_t i = 0; i < out->n; i++) {
		if (out->v[i].type == CONVERSATION_DO_CONNECT)
			connects[out->v[i].session] = true;
		else
			realtime_send(r, &out->v[i]);
	}
	at = conversation_deadline(r->conversation);
	if (at == UINT64_MAX)
		tmr_stop(r->timer);
	else
		tmr_start_at(r->timer, at);
	for (size_t i = 0; i < out->n; i++)
		tell_output(r, &out->v[i]);
	free(out);
	for (unsigned i = 0; i < 2; i++)
		if (connects[i])
			realtime_connect(r, i);
	return err;
}

static void timer_fired(void *arg)
{
	realtime_step(arg, &(struct conversation_input){.type = CONVERSATION_TIME});
}

/* ---- the ops ---- */

static int realtime_ask(void *engine, const struct engine_ask *ask)
{
	return realtime_step(
		engine, &(struct conversation_input){.type = CONVERSATION_ASK, .request = ask});
}

static void realtime_cancel(void *engine, uint32_t ask)
{
	realtime_step(engine,
		      &(struct conversation_input){.type = CONVERSATION_CANCEL, .ask = ask});
}

static void realtime_truncate(void *engine, uint32_t ask, uint32_t ms, const char *heard)
{
	realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_TRUNCATE,
							   .ask = ask,
							   .ms = ms,
							   .text = slice_str(heard)});
}

static void realtime_forget(void *engine, uint32_t turn)
{
	realtime_step(engine,
		      &(struct conversation_input){.type = CONVERSATION_FORGET, .turn = turn});
}

static void realtime_renew(void *engine)
{
	realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_RENEW});
}

static void realtime_wake(void *engine)
{
	realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_WAKE});
}

static int realtime_hear(void *engine, const struct engine_message *message)
{
	return realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_HEAR,
								  .message = message});
}

static int realtime_instruct(void *engine, const char *text)
{
	return realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_INSTRUCT,
								  .text = slice_str(text)});
}

static int realtime_result(void *engine, const char *call, const char *text, bool failed)
{
	return realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_RESULT,
								  .call = call,
								  .text = slice_str(text),
								  .failed = failed});
}

static int realtime_aside(void *engine, uint32_t ask, const char *text)
{
	return realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_ASIDE,
								  .ask = ask,
								  .text = slice_str(text)});
}

/* Providers refuse schemas whose outermost level is a choice. */
static json_t *schema_of(const char *text)
{
	static const char *const refused[] = {"anyOf", "oneOf", "allOf", "not", "enum"};
	json_t *schema = json_loads(text ? text : "", 0, NULL);

	if (!json_is_object(schema)) {
		json_decref(schema);
		return json_pack("{s:s,s:{}}", "type", "object", "properties");
	}
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		json_object_del(schema, refused[i]);
	return schema;
}

static int realtime_tools(void *engine, const struct engine_tool *tools, size_t n)
{
	json_t *list = json_array();
	char *text;
	int err;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "name", tools[i].name,
						      "description", tools[i].description,
						      "parameters", schema_of(tools[i].schema)));
	text = list && json_array_size(list) == n ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	if (!text)
		return ENOMEM;
	err = realtime_step(engine, &(struct conversation_input){.type = CONVERSATION_TOOLS,
								 .text = slice_str(text)});
	free(text);
	return err;
}

static void wipe_auth(struct realtime *r)
{
	if (r->auth)
		explicit_bzero(r->auth, strlen(r->auth));
	free(r->auth);
}

/* The key may be the same: every change of the settings passes it again. */
static int realtime_rekey(void *engine, const char *key)
{
	struct realtime *r = engine;
	char *auth = r->wire->auth(key);
	bool same;

	if (!auth && key && *key)
		return ENOMEM;
	same = strcmp(auth ? auth : "", r->auth ? r->auth : "") == 0;
	wipe_auth(r);
	r->auth = auth;
	if (same || !r->conversation)
		return 0;
	return realtime_step(r, &(struct conversation_input){.type = CONVERSATION_REKEY});
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
	for (unsigned i = 0; i < 2; i++) {
		ws_free(r->socket[i].ws);
		if (r->socket[i].codec)
			r->wire->free(r->socket[i].codec);
	}
	tmr_free(r->timer);
	conversation_free(r->conversation);
	rate_change_free(r->in);
	rate_change_free(r->out);
	wipe_auth(r);
	free(r->pcm);
	free(r->resampled);
	free(r);
}

/* ---- coming ---- */

static int open_conversation(struct realtime *r, const struct engine_conf *conf)
{
	const struct engine_caps *caps = conf->caps;
	const struct conversation_caps c = {
		.cancel = caps->cancel,
		.truncate = caps->truncate && !conf->text_only,
		.erase = caps->erase,
		.live_instructions = caps->live_instructions,
		.live_tools = caps->live_tools,
		.sound = caps->pcm_in,
		.images = caps->image_in,
		.aside = caps->aside,
		.interrupts = caps->interrupts,
		.lines = caps->role == ROLE_SPEECH,
		.describes_first = r->wire->describes_first,
		.commit_answers = r->wire->commit_answers,
		.answers_results = r->wire->answers_results,
		.keepalive_ms = r->wire->keepalive_ms,
		.min_sound = (size_t)r->wire->min_commit_ms * 2 * ENGINE_SOUND_RATE / 1000,
		.rate = ENGINE_SOUND_RATE,
		.silent_ms = conf->silent_ms,
		.idle_ms = conf->idle_ms,
		.session_ms = caps->session_min * 60000,
	};

	return conversation_alloc(&r->conversation, &c);
}

static int open_resamplers(struct realtime *r, const struct engine_caps *caps)
{
	int err = 0;

	if (caps->rate_in && caps->rate_in != ENGINE_SOUND_RATE)
		err = rate_change_alloc(&r->in, ENGINE_SOUND_RATE, caps->rate_in);
	if (!err && caps->rate_out != ENGINE_SOUND_RATE)
		err = rate_change_alloc(&r->out, caps->rate_out, ENGINE_SOUND_RATE);
	return err;
}

static int open_codecs(struct realtime *r, const struct engine_conf *conf)
{
	const struct realtime_conf codec = {.url = conf->socket_url,
					    .model = conf->model,
					    .voice = conf->voice,
					    .rate_in = conf->caps->rate_in,
					    .rate_out = conf->caps->rate_out,
					    .text_only = conf->text_only};
	int err = 0;

	for (unsigned i = 0; !err && i < 2; i++) {
		r->socket[i].r = r;
		r->socket[i].session = i;
		err = r->wire->alloc(&r->socket[i].codec, &codec);
	}
	return err;
}

static int realtime_alloc(void **out, const struct engine_conf *conf)
{
	struct realtime *r;
	int err;

	if (!conf->env || !conf->ws || !conf->socket_url || !conf->h ||
	    !engine_wire(conf->caps->dialect) ||
	    (conf->caps->role == ROLE_SPEECH && !conf->caps->exact_line))
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->env = conf->env;
	r->ctx = conf->ws;
	r->h = conf->h;
	r->arg = conf->arg;
	r->wire = engine_wire(conf->caps->dialect);
	err = open_codecs(r, conf);
	if (!err)
		err = realtime_rekey(r, conf->key);
	if (!err)
		err = open_resamplers(r, conf->caps);
	if (!err)
		err = open_conversation(r, conf);
	if (!err)
		err = tmr_alloc(&r->timer, r->env, timer_fired, r);
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
	.tools = realtime_tools,
	.result = realtime_result,
	.aside = realtime_aside,
	.hear = realtime_hear,
	.truncate = realtime_truncate,
	.forget = realtime_forget,
	.wake = realtime_wake,
	.renew = realtime_renew,
};
