/* What the files about guilds share; for control/discord/guild*.c alone. */
#ifndef CONTROL_DISCORD_GUILDS_INSIDE_H
#define CONTROL_DISCORD_GUILDS_INSIDE_H

#include "control/discord/guilds.h"

/* A part of a guild's document (guilds.c), as "channels". NULL: it is not known. Borrowed. */
json_t *guilds_part(const struct guilds *g, uint64_t guild, const char *part);

#endif
