/* What the main gateway told about servers: voice channels, roles, who is where, and what that
 * permits.
 *
 * Pure. Its memory is one JSON document of a shape of its own, so that what a stopped control knew
 * can be written down and taken up by the next one, which resumes the session and gets only what
 * changed since. */
#ifndef CONTROL_DISCORD_GUILDS_H
#define CONTROL_DISCORD_GUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct guilds;

/* ENOMEM. Caller owns *out. */
int guilds_alloc(struct guilds **out);
struct guilds *guilds_free(struct guilds *g);
/* The bot itself. */
void guilds_set_self(struct guilds *g, uint64_t user);
uint64_t guilds_self(const struct guilds *g);

/* Takes in one event of the gateway; false when it does not concern us or is malformed. */
bool guilds_event(struct guilds *g, const char *name, const json_t *d);
/* A new session begins: forget everything. */
void guilds_clear(struct guilds *g);

/* The memory as JSON (borrowed; voice session ids are not in it), and taking such a document up
 * again. */
const json_t *guilds_snapshot(const struct guilds *g);
/* EINVAL when it is not of our shape; then nothing changes. */
int guilds_restore(struct guilds *g, const json_t *snapshot);

/* GUILD_CREATE came and it is not in an outage. */
bool guilds_known(const struct guilds *g, uint64_t guild);
unsigned guilds_count(const struct guilds *g);
/* Name of a server, "" when not known. Borrowed. */
const char *guilds_name(const struct guilds *g, uint64_t guild);

struct guild_channel {
	int type; /* enum discord_channel_type */
	uint32_t bitrate;
	uint32_t user_limit; /* 0: none */
	const char *name;    /* borrowed until the next event */
};
/* Voice and stage channels only. */
bool guilds_channel(const struct guilds *g, uint64_t guild, uint64_t channel,
		    struct guild_channel *out);

struct guild_voice {
	uint64_t channel;
	bool mute, deaf, suppress; /* by the server */
};
/* Where a member is. False when in no voice channel. */
bool guilds_voice(const struct guilds *g, uint64_t guild, uint64_t user, struct guild_voice *out);
/* How many are in a channel, not counting the bot. */
unsigned guilds_occupants(const struct guilds *g, uint64_t guild, uint64_t channel);
/* Everyone in a channel but the bot. name borrowed during the call. */
typedef void(guilds_member_h)(uint64_t user, const char *name, bool is_bot, void *arg);
void guilds_each(const struct guilds *g, uint64_t guild, uint64_t channel, guilds_member_h *h,
		 void *arg);
/* Display name; "someone" when not known. Borrowed until the next event. */
const char *guilds_member_name(const struct guilds *g, uint64_t guild, uint64_t user);

/* What a member may do in a channel (Discord documentation, "Permission overwrites"). False when
 * roles or the member are not known, so that nothing can be said. */
bool guilds_permissions(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t user,
			uint64_t *out);
/* The same for somebody who came with an event: member is Discord's object with their roles. */
bool guilds_permissions_as(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t user,
			   const json_t *member, uint64_t *out);

#endif
