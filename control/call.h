/* One server's call: the machine that joins, the call in mediad, the agent in the room, and whoever
 * waits for an answer to /join.
 *
 * Owned by control. Everything its conf names is borrowed for as long as it lives. */
#ifndef CONTROL_CALL_H
#define CONTROL_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/commands.h"

struct call;
struct env;
struct gateway;
struct guilds;
struct media;
struct rest;
struct settings;
struct ws_ctx;

struct call_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct rest *rest;
	struct gateway *gateway;
	struct guilds *guilds;
	struct media *media;
	const struct settings *settings;
	const char *bot_name;	     /* may change its text */
	void (*changedh)(void *arg); /* where it ought to be changed */
	void *arg;
};

int call_alloc(struct call **out, const struct call_conf *conf, uint64_t guild);
struct call *call_free(struct call *c);
uint64_t call_guild(const struct call *c);
/* Where it ought to be, 0 for nowhere. */
uint64_t call_channel(const struct call *c);
bool call_standing(const struct call *c);

/* Joins; cmd, when given, gets its answer once it is known how that went. */
void call_join(struct call *c, uint64_t channel, bool standing, struct command *cmd);
void call_leave(struct call *c);
/* A control before us had joined here. */
void call_adopt(struct call *c, uint64_t channel, bool standing);

void call_online(struct call *c, bool fresh);
void call_offline(struct call *c);
/* The bot was removed from the server. */
void call_removed(struct call *c);
/* An event of this server, after guilds took it in. */
void call_event(struct call *c, const char *name, const json_t *d);
/* The brain's address is known now. */
void call_brain_ready(struct call *c);
/* Lines for /status. Always terminated. */
void call_status(const struct call *c, char *buf, size_t size);

#endif
