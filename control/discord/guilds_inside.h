/* What the files about guilds share; for control/discord/guild*.c alone. */
#ifndef CONTROL_DISCORD_GUILDS_INSIDE_H
#define CONTROL_DISCORD_GUILDS_INSIDE_H

#include "control/discord/guilds.h"

/* A part of a guild's document (guilds.c), as "channels". NULL: it is not known. Borrowed. */
json_t *guilds_part(const struct guilds *g, uint64_t guild, const char *part);
/* The documents of all guilds, by their ids. Borrowed. */
json_t *guilds_all(const struct guilds *g);
/* A snowflake under `name` of an event's object, as text; NULL when absent or malformed. */
const char *guilds_id(const json_t *d, const char *name);

/* Permissions in the whole guild from the roles of this member; NULL: from @everyone alone. False:
 * nothing is known. guild: its document. */
bool guilds_base_permissions(const json_t *guild, const char *guild_id, const json_t *member,
			     uint64_t *out);
/* Applies a channel's overwrites in their documented order: @everyone, all roles together, the
 * member (user_id "": nobody's). */
uint64_t guilds_apply_overwrites(const json_t *channel, uint64_t bits, const char *guild_id,
				 const json_t *member, const char *user_id);

/* ---- guild_threads.c; guild: its document ---- */
/* The guild is told anew, with this list; before: as it was known, or NULL. */
void guild_threads_begin(json_t *guild, const json_t *before, const json_t *list);
/* As guilds_event. */
bool guild_threads_event(json_t *guild, const char *name, const json_t *d);
/* Threads of a channel go with it. */
void guild_threads_drop(json_t *guild, const char *parent);

#endif
