/* Streams of Discord ("Go Live"), watched with the account of a person that the operator has set
 * for it: a second session of the main gateway, calls in mediad, and key frames for control/vision.
 *
 * Off unless the settings go_live and go_live_token are set, because Discord's terms forbid to
 * automate the account of a person; the bot's own token cannot do it (docs/eyes.md). Decisions are
 * those of streams.h. Everything runs on env's thread. */
#ifndef CONTROL_GOLIVE_GOLIVE_H
#define CONTROL_GOLIVE_GOLIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/golive/room.h"

struct env;
struct golive;
struct guilds;
struct media;
struct settings;
struct vision;
struct ws_ctx;

/* Everything is borrowed for as long as it lives. */
struct golive_conf {
	struct env *env;
	struct ws_ctx *ws;
	const struct settings *settings;
	struct guilds *guilds; /* of the bot; the account is hidden there */
	struct media *media;
	struct vision *vision;
	struct golive_room room;
};

/* EINVAL, ENOMEM. Caller owns *out. */
int golive_alloc(struct golive **out, const struct golive_conf *conf);
struct golive *golive_free(struct golive *g);
/* Connects and reconnects from now on. url: of Discord's main gateway; a later call changes it. */
void golive_start(struct golive *g, const char *url);
/* True if it can be asked for streams now. */
bool golive_ready(const struct golive *g);
/* A person who is erased asked for nothing that is shown any more. NULL is allowed. */
void golive_forget(struct golive *g, uint64_t user);

#endif
