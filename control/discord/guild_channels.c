/* The channels of a guild by their names. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/discord/guilds_inside.h"
#include "proto/discord.h"

const char *guilds_channel_name(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	const json_t *ch;
	const char *name, *title;
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)channel);
	ch = json_object_get(guilds_part(g, guild, "channels"), id);
	if (!ch)
		ch = json_object_get(guilds_part(g, guild, "texts"), id);
	name = json_string_value(json_object_get(ch, "name"));
	if (!name && guilds_thread(g, guild, channel, &title))
		name = title;
	return name ? name : "";
}

bool guilds_has_channel(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	static const char *const parts[] = {"channels", "texts", "threads", "archived"};
	bool has = false;
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)channel);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		has = has || json_object_get(guilds_part(g, guild, parts[i]), id);
	return has;
}

uint64_t guilds_of_channel(const struct guilds *g, uint64_t channel)
{
	const char *key;
	json_t *guild;
	uint64_t id;

	json_object_foreach(guilds_all(g), key, guild)
	{
		(void)guild;
		if (discord_snowflake(key, &id) && guilds_has_channel(g, id, channel))
			return id;
	}
	return 0;
}

uint64_t guilds_category(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	const char *title;
	uint64_t parent = guilds_thread(g, guild, channel, &title), category = 0;
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)(parent ? parent : channel));
	discord_snowflake(
		json_string_value(json_object_get(guilds_part(g, guild, "categories"), id)),
		&category);
	return category;
}

uint64_t guilds_channel_named(const struct guilds *g, uint64_t guild, const char *name)
{
	json_t *channels = guilds_part(g, guild, "channels"), *channel;
	uint64_t id, found = 0;
	unsigned n = 0;
	const char *key;

	json_object_foreach(channels, key, channel)
	{
		const char *has = json_string_value(json_object_get(channel, "name"));

		if (!has || strcasecmp(has, name) != 0 || !discord_snowflake(key, &id))
			continue;
		found = id;
		n++;
	}
	return n == 1 ? found : 0;
}

json_t *guilds_channels(const struct guilds *g, uint64_t guild)
{
	json_t *channels = guilds_part(g, guild, "channels"), *channel;
	json_t *list = json_array();
	const char *key;

	json_object_foreach(channels, key, channel)
	{
		bool stage = json_integer_value(json_object_get(channel, "type")) ==
			     DISCORD_CHANNEL_STAGE;

		json_array_append_new(list, json_pack("{s:s,s:O?,s:s}", "id", key, "name",
						      json_object_get(channel, "name"), "type",
						      stage ? "stage" : "voice"));
	}
	return list;
}
