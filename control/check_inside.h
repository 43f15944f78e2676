/* Shared by control/check.c (this machine, mediad, the provider), control/check_roles.c,
 * control/check_discord.c, control/check_stored.c and control/check_text.c only. */
#ifndef CONTROL_CHECK_INSIDE_H
#define CONTROL_CHECK_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct media_decoders;

enum check_verdict { CHECK_OK, CHECK_WARNING, CHECK_MISSING };

/* The checks run in sequence; each starts the next when it ends. */
struct check {
	struct env *env;
	const struct settings *given;		      /* file and environment */
	const struct settings *settings;	      /* in effect, for all servers */
	const struct settings *own;		      /* in effect in the server of --guild */
	struct document *document;		      /* that is stored */
	struct settings *common, *of_guild, *scratch; /* owned */
	const struct control_conf *conf;
	struct http *http;
	struct rest *rest;
	struct ws_ctx *ws_ctx;
	struct ws *ws;	     /* to the gateway */
	struct probe *brain; /* of the provider's session */
	struct guilds *guilds;
	struct tmr *tmr; /* limits requests that have no timeout of their own */
	struct peer *peer;
	unsigned sock;		 /* index of the mediad that is being checked */
	bool greeted;		 /* it has said HELLO */
	unsigned role, provider; /* which is asked */
	json_t *guild;		 /* in the form of a GUILD_CREATE */
	uint64_t user, application;
	json_t *lists;		  /* of channels, in the settings */
	unsigned list, looked_up; /* the list that is checked, and ids so far */
	uint64_t listed;	  /* the id that is looked up */
	const char *list_at;	  /* the rest of that list; NULL: it was not begun */
	bool waits;		  /* for Discord's first answer */
	unsigned faults;	  /* of file and environment, that were told */
	unsigned missing, warnings;
};

/* Prints one line, which may contain names and messages from outside. */
void check_say(struct check *c, enum check_verdict v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Ends the run after the last check. */
void check_done(struct check *c);

/* check_stored.c: reads the stored document and works out which settings are in effect, before all
 * else. Tells its faults. ENOMEM. */
int check_stored(struct check *c);
void check_stored_free(struct check *c);
/* Calls h for each server with settings of its own, its id as text and what is in effect there,
 * which are borrowed during the call. */
typedef void(check_server_h)(struct check *c, const char *server, const json_t *own,
			     const struct settings *effective);
void check_stored_each(struct check *c, check_server_h *h);

/* check_music.c: what music needs. */
void check_music(struct check *c);
/* Whether the mediad of this socket plays what the settings name. */
void check_music_of_mediad(struct check *c, const char *path, const struct media_decoders *d);
/* check_programs.c: programs that run in a sandbox. */
void check_programs(struct check *c);
/* Checks the providers of each role, then runs check_discord. */
void check_roles(struct check *c);
/* The provider that is asked did not answer in time. */
void check_roles_late(struct check *c);
/* Checks token, application, gateway, server and channel, then calls check_done. */
void check_discord(struct check *c);
/* One request to Discord; h gets c. NULL or an error, as rest_request. */
int check_request(struct check *c, const char *route, const char *path,
		  void (*h)(int err, int status, const json_t *body, void *arg));
/* check_text.c: settings of text chat that do nothing, or keep the bot silent. */
void check_text_settings(struct check *c);
/* What Discord lets the bot read with the setting text_chat. application: NULL if unknown. */
void check_text_chat(struct check *c, const json_t *application);
/* The channel or thread conf->channel, which guilds knows: what the bot may do there in writing. */
void check_text_permissions(struct check *c, const char *name);
/* A voice channel, where the bot has these permissions: what it may do in the channel's own chat.
 */
void check_voice_chat(struct check *c, uint64_t have, const char *name);
/* Looks for the channels that lists of the settings name (check_text_settings has gathered them),
 * then calls check_done. */
void check_listed_channels(struct check *c);
/* Says that Discord's first answer takes long, or that the gateway did not answer in time. Returns
 * false if it waits for neither. */
bool check_discord_late(struct check *c);

#endif
