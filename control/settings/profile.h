/* Which bot and which channel: the settings gateway, guild, channel and auto_join, and the profile
 * that stands in for them.
 *
 * Pure. A profile refers to its credential by the path of a file; the caller reads it. */
#ifndef CONTROL_SETTINGS_PROFILE_H
#define CONTROL_SETTINGS_PROFILE_H

#include <stdint.h>

#include "control/settings/settings.h"

/* The record that the setting profile selects, or NULL. Borrowed. */
const struct profile_record *settings_profile(const struct settings *s);
/* SETTINGS_GATEWAY_*: how much of Discord's main gateway this control owns. */
uint32_t settings_gateway(const struct settings *s);
/* Path of the file with the bot's token; "" for none. Borrowed. */
const char *settings_token_file(const struct settings *s);
/* The channel to join when control starts. ENOENT: none is to be joined; a saved channel alone is
 * no wish to join it. EINVAL: the ids are none. Written on success only. */
int settings_start_channel(const struct settings *s, uint64_t *guild, uint64_t *channel);

#endif
