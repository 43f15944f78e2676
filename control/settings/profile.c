#include "control/settings/profile.h"

#include <errno.h>
#include <string.h>

#include "proto/discord.h"

const struct profile_record *settings_profile(const struct settings *s)
{
	for (unsigned i = 0; *s->profile && i < s->records.n[RECORD_KIND_PROFILE]; i++)
		if (strcmp(s->records.profile[i].name, s->profile) == 0)
			return &s->records.profile[i];
	return NULL;
}

uint32_t settings_gateway(const struct settings *s)
{
	const struct profile_record *p = settings_profile(s);

	/* The first word of a profile's gateway is "unset". */
	return p && p->gateway ? p->gateway - 1 : s->gateway;
}

const char *settings_token_file(const struct settings *s)
{
	const struct profile_record *p = settings_profile(s);

	return p && *p->token_file ? p->token_file : s->discord_token_file;
}

int settings_start_channel(const struct settings *s, uint64_t *guild, uint64_t *channel)
{
	const struct profile_record *p = settings_profile(s);
	uint64_t g, c;

	if (!s->auto_join)
		return ENOENT;
	if (!discord_snowflake(p && *p->guild ? p->guild : s->guild, &g) ||
	    !discord_snowflake(p && *p->channel ? p->channel : s->channel, &c))
		return EINVAL;
	*guild = g;
	*channel = c;
	return 0;
}
