/* Who may know what is said in a channel (guilds.h), so that an answer tells nobody what they could
 * not have heard or read themselves. */
#include <stdio.h>
#include <string.h>

#include "control/discord/guilds_inside.h"
#include "proto/discord.h"

#define SEE    DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL)
#define ENTER  (SEE | DISCORD_PERMISSION(DISCORD_BIT_CONNECT))
#define FOLLOW (SEE | DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY))

/* Types of overwrites (Discord documentation, "Overwrite Object"). */
enum { OVER_ROLE, OVER_MEMBER };

static const json_t *channel_of(const struct guilds *g, uint64_t guild, const char *part,
				uint64_t channel)
{
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)channel);
	return json_object_get(guilds_part(g, guild, part), id);
}

/* The permissions that an overwrite of somebody but @everyone allows or denies. */
static uint64_t bits_of(const json_t *over, const char *guild_id, bool deny)
{
	const char *id = json_string_value(json_array_get(over, 0));
	uint64_t bits = 0;

	if (id && strcmp(id, guild_id) != 0)
		discord_u64(json_string_value(json_array_get(over, deny ? 3 : 2)), &bits);
	return bits;
}

/* What somebody, or a role, is denied. */
static uint64_t denied_to_some(const json_t *channel, const char *guild_id)
{
	uint64_t bits = 0;
	json_t *over;
	size_t i;

	json_array_foreach(json_object_get(channel, "over"), i, over) bits |=
		bits_of(over, guild_id, true);
	return bits;
}

/* channel: NULL accepted, and closed. */
static bool everybody_has(const struct guilds *g, uint64_t guild_id, const json_t *channel,
			  uint64_t needed)
{
	const json_t *guild = guilds_snapshot(g, guild_id);
	char id[24];
	uint64_t bits;

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild_id);
	if (!guild || !channel || !guilds_base_permissions(guild, id, NULL, &bits))
		return false;
	bits = guilds_apply_overwrites(channel, bits, id, NULL, "");
	return (bits & ~denied_to_some(channel, id) & needed) == needed;
}

/* A role that Discord has told of, or the bot itself. */
static bool is_known(const struct guilds *g, const json_t *guild, const json_t *over)
{
	const char *id = json_string_value(json_array_get(over, 0));
	json_int_t type = json_integer_value(json_array_get(over, 1));
	uint64_t user = 0;

	if (type == OVER_ROLE)
		return json_object_get(json_object_get(guild, "roles"), id ? id : "");
	return type == OVER_MEMBER && discord_u64(id, &user) && user == guilds_self(g);
}

/* True if a member is let in by their own name, or people are by a role of which nothing tells who
 * holds it or what else it may: Discord may tell of a channel before it tells of a role there. */
static bool lets_in_others(const struct guilds *g, const json_t *guild, const json_t *channel,
			   const char *guild_id)
{
	json_t *over;
	size_t i;

	json_array_foreach(json_object_get(channel, "over"), i, over)
	{
		if (bits_of(over, guild_id, false) & SEE && !is_known(g, guild, over))
			return true;
	}
	return false;
}

/* False also without memory. */
static bool role_has(const json_t *guild, const char *guild_id, const char *role,
		     const json_t *channel, uint64_t needed)
{
	json_t *member = json_pack("{s:[s]}", "roles", role);
	uint64_t bits = 0;
	bool has = member && guilds_base_permissions(guild, guild_id, member, &bits);

	if (has && !(bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR)))
		bits = guilds_apply_overwrites(channel, bits, guild_id, member, "");
	else if (has)
		bits = UINT64_MAX;
	json_decref(member);
	return (bits & needed) == needed;
}

/* Whoever reads `read` sees it by one of their roles alone, as roles only add to one another but
 * for denials, which make none see more. If each role that sees it has what is needed in `channel`,
 * and nobody is denied that there, all readers have it. */
static bool readers_have(const struct guilds *g, uint64_t guild_id, const json_t *read,
			 const json_t *channel, uint64_t needed)
{
	json_t *guild = (json_t *)(uintptr_t)guilds_snapshot(g, guild_id), *bits;
	const char *role;
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild_id);
	if (!guild || !read || !channel || denied_to_some(channel, id) & needed ||
	    lets_in_others(g, guild, read, id))
		return false;
	json_object_foreach(json_object_get(guild, "roles"), role, bits)
	{
		if (!role_has(guild, id, role, channel, needed) &&
		    role_has(guild, id, role, read, SEE))
			return false;
	}
	return json_object_size(json_object_get(guild, "roles")) > 0;
}

static const json_t *text_of(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	const char *name;
	uint64_t parent = guilds_thread(g, guild, channel, &name);

	return channel_of(g, guild, "texts", parent ? parent : channel);
}

/* Older states do not tell whether a thread is private. */
static bool may_be_private(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	const char *name;

	return guilds_thread(g, guild, channel, &name) &&
	       !json_is_false(json_array_get(channel_of(g, guild, "threads", channel), 2));
}

bool guilds_everybody_may_enter(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	return everybody_has(g, guild, channel_of(g, guild, "channels", channel), ENTER);
}

bool guilds_everybody_may_follow(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	return !may_be_private(g, guild, channel) &&
	       (guilds_everybody_may_enter(g, guild, channel) ||
		everybody_has(g, guild, text_of(g, guild, channel), FOLLOW));
}

/* The chat of a voice channel is read by who sees that. */
static const json_t *read_of(const struct guilds *g, uint64_t guild, uint64_t read)
{
	const json_t *voice = channel_of(g, guild, "channels", read);

	return voice ? voice : text_of(g, guild, read);
}

bool guilds_readers_may_enter(const struct guilds *g, uint64_t guild, uint64_t read,
			      uint64_t channel)
{
	return guilds_everybody_may_enter(g, guild, channel) ||
	       readers_have(g, guild, read_of(g, guild, read),
			    channel_of(g, guild, "channels", channel), ENTER);
}

bool guilds_readers_may_follow(const struct guilds *g, uint64_t guild, uint64_t read,
			       uint64_t channel)
{
	return !may_be_private(g, guild, channel) &&
	       (guilds_everybody_may_follow(g, guild, channel) ||
		guilds_readers_may_enter(g, guild, read, channel) ||
		readers_have(g, guild, read_of(g, guild, read), text_of(g, guild, channel),
			     FOLLOW));
}
