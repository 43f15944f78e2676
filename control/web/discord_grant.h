/* What Discord says of a person who signs in at the dashboard: who they are (GET /users/@me), and
 * the permissions in one server (GET /users/@me/guilds) that give them a role. Pure. */
#ifndef CONTROL_WEB_DISCORD_GRANT_H
#define CONTROL_WEB_DISCORD_GRANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/web/roles.h"

struct settings;

/* EBADMSG. */
int discord_grant_user(const char *text, size_t n, uint64_t *id);
/* open: they do not see every channel of the server, as its administrators do. */
struct discord_granted {
	enum web_role role;
	bool open;
};
/* The role by the settings web_discord_guild, web_discord_admin, _operator and _viewer; WEB_NOBODY
 * for who is no member, or lacks the permissions. EBADMSG: text is no list of servers. */
int discord_grant_role(const struct settings *s, const char *text, size_t n,
		       struct discord_granted *out);

#endif
