#include "control/discord/gateway.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/discord.h"

/* GUILD_CREATE of a large server takes megabytes. */
enum { MAX_MESSAGE = 32 << 20 };

struct gateway {
	struct gateway_conf conf;
	struct gateway_machine *machine;
	struct ws *ws;
	struct ws *closing; /* the previous connection, until its close frame was sent */
	struct tmr *tmr;
};

static void arm(struct gateway *g)
{
	uint64_t at = gateway_machine_deadline(g->machine);

	if (at == UINT64_MAX)
		tmr_stop(g->tmr);
	else
		tmr_start_at(g->tmr, at);
}

static void step(struct gateway *g, struct gateway_in in)
{
	env_random(g->conf.env, &in.rnd, sizeof in.rnd);
	gateway_machine_step(g->machine, &in, env_now(g->conf.env));
	arm(g);
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct gateway *g = arg;

	switch (ev) {
	case WS_OPEN:
		step(g, (struct gateway_in){.type = GATEWAY_IN_OPEN});
		break;
	case WS_TEXT:
		step(g, (struct gateway_in){
				.type = GATEWAY_IN_TEXT, .text = (const char *)data, .len = len});
		break;
	case WS_BINARY: /* comes only with compression, which was not requested */
		break;
	case WS_CLOSED:
		log_info("gateway_closed", "code=%u text=\"%s\"", code, discord_close_text(code));
		g->ws = NULL;
		ws_free(ws);
		step(g, (struct gateway_in){.type = GATEWAY_IN_CLOSED, .code = code});
		break;
	}
}

static void on_closing(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
		       size_t len, void *arg)
{
	struct gateway *g = arg;

	(void)code;
	(void)data;
	(void)len;
	if (ev != WS_CLOSED)
		return;
	if (g->closing == ws)
		g->closing = NULL;
	ws_free(ws);
}

static void close_socket(struct gateway *g, unsigned code)
{
	if (!g->ws)
		return;
	ws_free(g->closing);
	g->closing = g->ws;
	g->ws = NULL;
	ws_set_handler(g->closing, on_closing, g);
	ws_close(g->closing, (uint16_t)code, NULL);
}

static void connect_to(struct gateway *g, const char *url)
{
	struct ws_dial dial = {.url = url, .connect_ms = 10000, .max_message = MAX_MESSAGE};
	int err;

	g->ws = ws_free(g->ws);
	err = ws_connect(&g->ws, g->conf.ws, &dial, on_ws, g);
	/* The address is not logged: a resumed session has an address of its own. */
	log_info("gateway_connect", "resume=%d err=%d",
		 gateway_machine_session(g->machine)->id[0] != '\0', err);
	/* After a failure the machine retries at the deadline of its connecting state. */
}

static void on_act(const struct gateway_act *act, void *arg)
{
	struct gateway *g = arg;

	switch (act->type) {
	case GATEWAY_ACT_CONNECT:
		connect_to(g, act->text);
		break;
	case GATEWAY_ACT_SEND:
		if (g->ws)
			ws_send(g->ws, true, act->text, act->len);
		break;
	case GATEWAY_ACT_CLOSE:
		log_info("gateway_close", "code=%u", act->code);
		close_socket(g, act->code);
		break;
	case GATEWAY_ACT_STATE:
		log_debug("gateway_state", "state=\"%s\"",
			  gateway_state_name(gateway_machine_state(g->machine)));
		if (gateway_machine_state(g->machine) != GATEWAY_FATAL)
			g->conf.stateh(gateway_machine_state(g->machine), 0, NULL, g->conf.arg);
		break;
	case GATEWAY_ACT_FIND:
		g->conf.findh(g->conf.arg);
		break;
	case GATEWAY_ACT_SESSION:
		g->conf.sessionh(g->conf.arg);
		break;
	case GATEWAY_ACT_FATAL:
		log_warn("gateway_refused", "code=%u text=\"%s\"", act->code, act->text);
		g->conf.stateh(GATEWAY_FATAL, act->code, act->text, g->conf.arg);
		break;
	case GATEWAY_ACT_DISPATCH:
		g->conf.eventh(act->text, act->d, g->conf.arg);
		break;
	}
}

static void on_tmr(void *arg)
{
	step(arg, (struct gateway_in){.type = GATEWAY_IN_TICK});
}

int gateway_alloc(struct gateway **out, const struct gateway_conf *conf)
{
	struct gateway *g;
	int err;

	if (!out || !conf || !conf->env || !conf->ws || !conf->eventh || !conf->stateh ||
	    !conf->sessionh || !conf->findh)
		return EINVAL;
	g = calloc(1, sizeof *g);
	if (!g)
		return ENOMEM;
	g->conf = *conf;
	g->conf.token = NULL;
	err = gateway_machine_alloc(&g->machine, conf->token, conf->intents, on_act, g);
	if (err)
		goto out;
	err = tmr_alloc(&g->tmr, conf->env, on_tmr, g);
out:
	if (err)
		gateway_free(g);
	else
		*out = g;
	return err;
}

struct gateway *gateway_free(struct gateway *g)
{
	if (!g)
		return NULL;
	if (g->ws)
		ws_close(g->ws, GATEWAY_CLOSE_ZOMBIE, NULL);
	ws_free(g->ws);
	ws_free(g->closing);
	tmr_free(g->tmr);
	gateway_machine_free(g->machine);
	free(g);
	return NULL;
}

void gateway_set_intents(struct gateway *g, uint32_t intents)
{
	gateway_machine_set_intents(g->machine, intents);
}

void gateway_start(struct gateway *g, const char *url, const struct gateway_session *session)
{
	if (session)
		gateway_machine_restore(g->machine, session);
	step(g, (struct gateway_in){.type = GATEWAY_IN_START, .text = url, .len = strlen(url)});
}

void gateway_again(struct gateway *g)
{
	step(g, (struct gateway_in){.type = GATEWAY_IN_AGAIN});
}

int gateway_send(struct gateway *g, int op, json_t *d)
{
	int err = gateway_machine_send(g->machine, op, d, env_now(g->conf.env));

	arm(g);
	return err;
}

enum gateway_state gateway_state(const struct gateway *g)
{
	return gateway_machine_state(g->machine);
}

const struct gateway_session *gateway_session(const struct gateway *g)
{
	return gateway_machine_session(g->machine);
}
