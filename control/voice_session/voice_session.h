/* The visit to one server: the machine that joins, the call in mediad, the agent in the room, and
 * whoever waits for an answer to /join.
 *
 * Owned by control. Everything its conf names is borrowed for as long as it lives. */
#ifndef CONTROL_VOICE_SESSION_H
#define CONTROL_VOICE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/commands.h"

struct bus;
struct voice_session;
struct env;
struct gateway;
struct guilds;
struct http;
struct media;
struct rest;
struct settings;
struct status;
struct ws_ctx;

struct voice_session_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	struct rest *rest;
	struct gateway *gateway;
	struct guilds *guilds;
	struct media *media;
	const struct settings *settings;
	struct bus *bus;
	const char *bot_name;	     /* may change its text */
	void (*changedh)(void *arg); /* where it ought to be changed */
	void *arg;
};

/* conf is copied. EINVAL, ENOMEM. Caller owns *out. */
int voice_session_alloc(struct voice_session **out, const struct voice_session_conf *conf,
			uint64_t guild);
struct voice_session *voice_session_free(struct voice_session *c);
uint64_t voice_session_guild(const struct voice_session *c);
/* Where it ought to be, 0 for nowhere. */
uint64_t voice_session_channel(const struct voice_session *c);
bool voice_session_standing(const struct voice_session *c);

/* Joins; cmd, when given, gets its answer once it is known how that went. */
void voice_session_join(struct voice_session *c, uint64_t channel, bool standing,
			struct command *cmd);
void voice_session_leave(struct voice_session *c);
/* A control before us had joined here; where the bot is is what guilds remembers. */
void voice_session_adopt(struct voice_session *c, uint64_t channel, bool standing);

void voice_session_online(struct voice_session *c, bool fresh);
/* Whether a mediad is there; before the first word about it one is. */
void voice_session_mediad(struct voice_session *c, bool there);
void voice_session_offline(struct voice_session *c);
/* The bot was removed from the server. */
void voice_session_removed(struct voice_session *c);
/* An event of this server, after guilds took it in. */
void voice_session_event(struct voice_session *c, const char *name, const json_t *d);
/* The brain's address is known now, or it moved to another. */
void voice_session_brain_ready(struct voice_session *c, bool moved);
/* The settings have changed in place. */
void voice_session_settings(struct voice_session *c);
/* The program ends: every turn of its room is over from now on. */
void voice_session_end(struct voice_session *c);
/* What /status is made of, but for what only control knows. Borrows of the visit until it changes.
 */
void voice_session_status(const struct voice_session *c, struct status *out);

#endif
