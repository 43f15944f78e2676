/* The main gateway's connection: performs the actions of control/discord/gateway_machine.h over
 * ipc/ws.h.
 *
 * It requests no transport compression, because a bot in a few servers gains nothing from it.
 * Everything runs on env's loop thread. Handlers may call every function here except gateway_free.
 */
#ifndef CONTROL_DISCORD_GATEWAY_H
#define CONTROL_DISCORD_GATEWAY_H

#include "control/discord/gateway_machine.h"

struct env;
struct gateway;
struct ws_ctx;

/* A gateway event, READY and RESUMED included; d is borrowed until return. */
typedef void(gateway_event_h)(const char *name, const json_t *d, void *arg);
/* The state changed. code and text are 0 and NULL unless the state is GATEWAY_FATAL. */
typedef void(gateway_state_h)(enum gateway_state s, unsigned code, const char *text, void *arg);
/* The session changed: gateway_session() must be persisted. */
typedef void(gateway_session_h)(void *arg);

/* Connections fail: the address may have moved. gateway_start with the present one. */
typedef void(gateway_find_h)(void *arg);

struct gateway_conf {
	struct env *env; /* borrowed, as ws */
	struct ws_ctx *ws;
	const char *token; /* copied */
	uint32_t intents;
	gateway_event_h *eventh;
	gateway_state_h *stateh;
	gateway_session_h *sessionh;
	gateway_find_h *findh;
	void *arg;
};

/* EINVAL, ENOMEM. Caller owns *out. */
int gateway_alloc(struct gateway **out, const struct gateway_conf *conf);
/* Closes with 4200, which keeps the session for a successor. */
struct gateway *gateway_free(struct gateway *g);
/* Of sessions that begin from now on, in place of the conf's. */
void gateway_set_intents(struct gateway *g, uint32_t intents);
/* Connects and reconnects until gateway_free. url: from GET /gateway/bot; a later call changes it.
 * session: of an earlier process, or NULL. */
void gateway_start(struct gateway *g, const char *url, const struct gateway_session *session);
/* After GATEWAY_FATAL, also within its handler: what was refused has changed, so it connects again
 * and begins a session. Otherwise nothing happens. */
void gateway_again(struct gateway *g);
/* See gateway_machine_send. */
int gateway_send(struct gateway *g, int op, json_t *d);
enum gateway_state gateway_state(const struct gateway *g);
const struct gateway_session *gateway_session(const struct gateway *g);

#endif
