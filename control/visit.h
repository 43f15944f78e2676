/* The visit to one server: the machine that joins, the call in mediad, the agent in the room, and
 * whoever waits for an answer to /join.
 *
 * Owned by control. Everything its conf names is borrowed for as long as it lives. */
#ifndef CONTROL_VISIT_H
#define CONTROL_VISIT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/commands.h"

struct visit;
struct env;
struct gateway;
struct guilds;
struct http;
struct media;
struct rest;
struct settings;
struct status;
struct ws_ctx;

struct visit_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	struct rest *rest;
	struct gateway *gateway;
	struct guilds *guilds;
	struct media *media;
	const struct settings *settings;
	const char *bot_name;	     /* may change its text */
	void (*changedh)(void *arg); /* where it ought to be changed */
	void *arg;
};

/* conf is copied. EINVAL, ENOMEM. Caller owns *out. */
int visit_alloc(struct visit **out, const struct visit_conf *conf, uint64_t guild);
struct visit *visit_free(struct visit *c);
uint64_t visit_guild(const struct visit *c);
/* Where it ought to be, 0 for nowhere. */
uint64_t visit_channel(const struct visit *c);
bool visit_standing(const struct visit *c);

/* Joins; cmd, when given, gets its answer once it is known how that went. */
void visit_join(struct visit *c, uint64_t channel, bool standing, struct command *cmd);
void visit_leave(struct visit *c);
/* A control before us had joined here; where the bot is is what guilds remembers. */
void visit_adopt(struct visit *c, uint64_t channel, bool standing);

void visit_online(struct visit *c, bool fresh);
/* Whether a mediad is there; before the first word about it one is. */
void visit_mediad(struct visit *c, bool there);
void visit_offline(struct visit *c);
/* The bot was removed from the server. */
void visit_removed(struct visit *c);
/* An event of this server, after guilds took it in. */
void visit_event(struct visit *c, const char *name, const json_t *d);
/* The brain's address is known now, or it moved to another. */
void visit_brain_ready(struct visit *c, bool moved);
/* The settings have changed in place. */
void visit_settings(struct visit *c);
/* The program ends: every turn of its room is over from now on. */
void visit_end(struct visit *c);
/* What /status is made of, but for what only control knows. Borrows of the visit until it changes.
 */
void visit_status(const struct visit *c, struct status *out);

#endif
