/* What follows from what guilds.c knows: rights of members, and how many are in a channel. */
#include "control/discord/guilds.h"
#include "proto/discord.h"

bool guilds_manages(const struct guilds *g, uint64_t guild_id, uint64_t user_id,
		    const json_t *member)
{
	uint64_t bits;

	return guilds_member_permissions(g, guild_id, user_id, member, &bits) &&
	       bits & (DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR) |
		       DISCORD_PERMISSION(DISCORD_BIT_MANAGE_GUILD));
}

bool guilds_may_move_to(const struct guilds *g, uint64_t guild_id, uint64_t channel_id,
			uint64_t user_id)
{
	const uint64_t needed = DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL) |
				DISCORD_PERMISSION(DISCORD_BIT_CONNECT) |
				DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS);
	uint64_t bits = 0;

	return guilds_permissions(g, guild_id, channel_id, user_id, &bits) &&
	       (bits & needed) == needed;
}

static void count_one(uint64_t user, const char *name, bool is_bot, void *arg)
{
	(void)user;
	(void)name;
	(void)is_bot;
	++*(unsigned *)arg;
}

unsigned guilds_occupants(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	unsigned n = 0;

	guilds_each(g, guild, channel, count_one, &n);
	return n;
}
