/* Who reads one channel and may know what is said in another. */
#include <stdio.h>

#include "control/discord/guilds.h"
#include "proto/discord.h"
#include "tests/test.h"

enum { GUILD = 100, ROLES = 4, SELF = 900, ANA = 501 };

#define SEE	DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL)
#define CONNECT DISCORD_PERMISSION(DISCORD_BIT_CONNECT)
#define HISTORY DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY)
#define ADMIN	DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR)

/* Role 100 is @everyone's; the others are 101 and on. */
struct over {
	uint64_t id;
	bool member;
	uint64_t allow, deny;
};

static json_t *text_id(uint64_t id)
{
	return json_sprintf("%llu", (unsigned long long)id);
}

static json_t *channel(uint64_t id, int type, const struct over *over, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o,s:i,s:o,s:o}", "id",
						      text_id(over[i].id), "type", over[i].member,
						      "allow", text_id(over[i].allow), "deny",
						      text_id(over[i].deny)));
	return json_pack("{s:o,s:i,s:s,s:o}", "id", text_id(id), "type", type, "name", "x",
			 "permission_overwrites", list);
}

/* channels is stolen. */
static struct guilds *make(const uint64_t *roles, size_t n, json_t *channels)
{
	json_t *list = json_array(), *d;
	struct guilds *g = NULL;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o,s:o}", "id", text_id(GUILD + i),
						      "permissions", text_id(roles[i])));
	d = json_pack("{s:o,s:s,s:s,s:o,s:o,s:[],s:[]}", "id", text_id(GUILD), "name", "Fake",
		      "owner_id", "1", "roles", list, "channels", channels, "members",
		      "voice_states");
	if (guilds_alloc(&g) == 0) {
		guilds_set_self(g, SELF);
		guilds_event(g, "GUILD_CREATE", d);
	}
	json_decref(d);
	return g;
}

/* Members see nothing until they have a role. */
TEST(readers_of_a_server_with_a_role_for_members_may_enter_its_voice_channels)
{
	static const uint64_t roles[] = {0, SEE | CONNECT | HISTORY, SEE};
	static const struct over closed[] = {{101, false, 0, CONNECT}};
	static const struct over shut[] = {{GUILD, false, 0, SEE}, {101, false, SEE, 0}};
	static const struct over ana[] = {{ANA, true, SEE, 0}}, self[] = {{SELF, true, SEE, 0}};
	json_t *all =
		json_pack("[o,o,o,o,o,o]", channel(301, 2, NULL, 0), channel(302, 2, closed, 1),
			  channel(401, 0, shut, 2), channel(402, 0, NULL, 0),
			  channel(403, 0, ana, 1), channel(404, 0, self, 1));
	struct guilds *g = make(roles, 2, all);

	CHECK(!guilds_everybody_may_enter(g, GUILD, 301));
	CHECK(guilds_readers_may_enter(g, GUILD, 401, 301));
	CHECK(guilds_readers_may_enter(g, GUILD, 402, 301));
	CHECK(guilds_readers_may_enter(g, GUILD, 404, 301));
	CHECK(guilds_readers_may_follow(g, GUILD, 402, 401));
	/* Ana is let in by her name, and may have no role. */
	CHECK(!guilds_readers_may_enter(g, GUILD, 403, 301));
	CHECK(!guilds_readers_may_enter(g, GUILD, 401, 302));
	CHECK(!guilds_readers_may_enter(g, GUILD, 401, 399));
	CHECK(!guilds_readers_may_enter(g, GUILD, 499, 301));
	CHECK(!guilds_readers_may_enter(g, 7, 401, 301));
	guilds_free(g);
	/* Guests see channels, and may enter none. */
	all = json_pack("[o,o,o]", channel(301, 2, NULL, 0), channel(401, 0, shut, 2),
			channel(402, 0, NULL, 0));
	g = make(roles, 3, all);
	CHECK(guilds_readers_may_enter(g, GUILD, 401, 301));
	CHECK(!guilds_readers_may_enter(g, GUILD, 402, 301));
	CHECK(!guilds_readers_may_follow(g, GUILD, 402, 401));
	guilds_free(g);
}

/* GUILD_ROLE_CREATE of 777 has not come yet, or was dropped. */
TEST(readers_by_a_role_that_is_not_known_are_told_nothing)
{
	static const uint64_t roles[] = {0, SEE | CONNECT | HISTORY};
	static const struct over let_in[] = {{777, false, SEE, 0}};
	static const struct over kept_out[] = {{777, false, 0, SEE}};
	json_t *all = json_pack("[o,o,o,o]", channel(301, 2, NULL, 0), channel(401, 0, let_in, 1),
				channel(402, 0, kept_out, 1), channel(403, 0, NULL, 0));
	struct guilds *g = make(roles, 2, all);
	json_t *told = json_pack("{s:s,s:{s:s,s:s}}", "guild_id", "100", "role", "id", "777",
				 "permissions", "0");

	CHECK(!guilds_readers_may_enter(g, GUILD, 401, 301));
	CHECK(!guilds_readers_may_follow(g, GUILD, 401, 403));
	CHECK(guilds_readers_may_enter(g, GUILD, 402, 301));
	CHECK(!guilds_readers_may_follow(g, GUILD, 403, 402));
	/* Whoever has this role alone sees 401, and neither 301 nor 403. */
	guilds_event(g, "GUILD_ROLE_CREATE", told);
	CHECK(!guilds_readers_may_enter(g, GUILD, 401, 301));
	CHECK(guilds_readers_may_follow(g, GUILD, 403, 401));
	json_decref(told);
	guilds_free(g);
}

static uint32_t next(uint32_t *random)
{
	return *random = *random * 1664525 + 1013904223;
}

static uint64_t some(uint32_t *random)
{
	static const uint64_t bits[] = {SEE, CONNECT, HISTORY};
	uint64_t all = 0;

	for (unsigned i = 0; i < 3; i++)
		if (next(random) >> 30 == 0)
			all |= bits[i];
	return all;
}

static json_t *random_channel(uint32_t *random, uint64_t id)
{
	struct over over[ROLES + 2];
	size_t n = 0;

	for (unsigned i = 0; i < ROLES + 2; i++) {
		uint64_t allow = some(random);

		if (next(random) >> 31)
			over[n++] = (struct over){i < ROLES    ? GUILD + i
						  : i == ROLES ? (uint64_t)ANA
							       : (uint64_t)SELF,
						  i >= ROLES && next(random) >> 30 == 0, allow,
						  some(random) & ~allow};
	}
	return channel(id, 2, over, n);
}

/* True if somebody with these roles sees 301 and may not enter 302. */
static bool leaks(const struct guilds *g, unsigned roles, uint64_t user)
{
	json_t *list = json_array(), *member = json_pack("{s:o}", "roles", list);
	uint64_t read = 0, enter = 0;
	bool known;

	for (unsigned i = 1; i < ROLES; i++)
		if (roles & 1u << i)
			json_array_append_new(list, text_id(GUILD + i));
	known = guilds_permissions_as(g, GUILD, 301, user, member, &read) &&
		guilds_permissions_as(g, GUILD, 302, user, member, &enter);

	json_decref(member);
	return !known || (read & SEE && (enter & (SEE | CONNECT)) != (SEE | CONNECT));
}

/* Whatever roles, channels and members there are. */
TEST(no_reader_is_told_what_they_could_not_have_heard)
{
	uint32_t random = 1;
	unsigned open = 0;

	for (unsigned k = 0; k < 4000; k++) {
		uint64_t roles[ROLES];
		struct guilds *g;

		for (unsigned i = 0; i < ROLES; i++)
			roles[i] = some(&random) | (next(&random) >> 28 == 0 ? ADMIN : 0);
		g = make(roles, ROLES,
			 json_pack("[o,o]", random_channel(&random, 301),
				   random_channel(&random, 302)));
		if (!guilds_readers_may_enter(g, GUILD, 301, 302)) {
			guilds_free(g);
			continue;
		}
		open++;
		for (unsigned of = 0; of < 1u << ROLES; of += 2) {
			CHECK(!leaks(g, of, 77));
			CHECK(!leaks(g, of, ANA));
		}
		guilds_free(g);
	}
	CHECK(open > 50);
}
