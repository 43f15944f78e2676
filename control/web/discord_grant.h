/* What Discord says of a person who signs in at the dashboard: who they are (GET /users/@me), and
 * the permissions in servers (GET /users/@me/guilds) that give them a role in each. Pure. */
#ifndef CONTROL_WEB_DISCORD_GRANT_H
#define CONTROL_WEB_DISCORD_GRANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/web/roles.h"

struct settings;

/* EBADMSG. */
int discord_grant_user(const char *text, size_t n, uint64_t *id);

enum { DISCORD_GRANTS_MAX = 200 }; /* servers that a person can be in */

/* open: they do not see every channel of the server, as its administrators do. */
struct discord_grant {
	uint64_t guild;
	enum web_role role;
	bool open;
};

/* The servers in which a person has a role, that of web_discord_guild first. */
struct discord_grants {
	struct discord_grant v[DISCORD_GRANTS_MAX];
	unsigned n;
};

/* True if the bot is in this server. */
typedef bool(discord_grant_known_h)(uint64_t guild, void *arg);

/* The roles by the settings web_discord_guild, web_discord_everywhere, web_discord_admin, _operator
 * and _viewer; a server in which the person is no member, or lacks the permissions, is left out.
 * Outside of web_discord_guild whoever has an admin's permission is an operator. EBADMSG: text is
 * no list of servers. */
int discord_grants_read(const struct settings *s, const char *text, size_t n,
			discord_grant_known_h *knownh, void *arg, struct discord_grants *out);
/* The first of those with the highest role; NULL: there is none. */
const struct discord_grant *discord_grants_best(const struct discord_grants *g);
/* NULL: the person has no role there. */
const struct discord_grant *discord_grants_find(const struct discord_grants *g, uint64_t guild);

#endif
