/* Shared by control/check.c (this machine, mediad, the brain), control/check_services.c and
 * control/check_discord.c alone. */
#ifndef CONTROL_CHECK_INSIDE_H
#define CONTROL_CHECK_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

enum check_verdict { CHECK_OK, CHECK_WARNING, CHECK_MISSING };

/* What is asked runs one after the other; each ends by starting the next. */
struct check {
	struct env *env;
	const struct settings *settings;
	const struct control_conf *conf;
	struct http *http;
	struct rest *rest;
	struct ws_ctx *ws_ctx;
	struct ws *ws;	  /* to the gateway */
	struct ws *brain; /* to the provider */
	struct guilds *guilds;
	struct tmr *tmr; /* of what is asked and has no timeout of its own */
	struct peer *peer;
	unsigned sock; /* which mediad is asked */
	unsigned service; /* which is asked */
	json_t *guild; /* as a GUILD_CREATE would tell it */
	uint64_t user, application;
	unsigned missing;
};

/* One line. Names and messages from outside may be in it. */
void check_say(struct check *c, enum check_verdict v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* All was asked. */
void check_done(struct check *c);

/* What is asked by HTTP; then check_discord. */
void check_services(struct check *c);
/* Token, application, gateway, server, channel; at last check_done. */
void check_discord(struct check *c);
/* The gateway's connection did not answer in time; false: it is not what was waited for. */
bool check_discord_late(struct check *c);

#endif
