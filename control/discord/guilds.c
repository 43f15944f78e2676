#include "control/discord/guilds_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/discord.h"

/* The shape of the document; `out` is there, and true, during an outage of the guild:
 * { guild: { out, name, owner, roles: {id: "bits"}, channels: {id: {type, name, bitrate, limit,
 * over: [[id, type, "allow", "deny"], …]}}, members: {id: {name, bot, roles: [id, …], until}},
 * voice: {id: {channel, mute, deaf, suppress, and stream where it is true}}, threads: {id: [parent,
 * name, private]}, archived: {id: parent}, texts: {id: {name, over}}, categories: {id: the category
 * of this channel}, own_role: id
 * }
 * }; older ones have no threads, archived, texts, own_role, nor that name; until (ms since 1970)
 * is there after a timeout has begun */
struct guilds {
	json_t *doc;
	uint64_t self, hidden;
};

struct key {
	char text[24];
};

static struct key key_of(uint64_t id)
{
	struct key k;

	snprintf(k.text, sizeof k.text, "%llu", (unsigned long long)id);
	return k;
}

static json_t *guild_of(const struct guilds *g, uint64_t guild)
{
	return json_object_get(g->doc, key_of(guild).text);
}

static json_t *part_of(const struct guilds *g, uint64_t guild, const char *part, uint64_t id)
{
	return json_object_get(json_object_get(guild_of(g, guild), part), key_of(id).text);
}

json_t *guilds_part(const struct guilds *g, uint64_t guild, const char *part)
{
	return json_object_get(guild_of(g, guild), part);
}

json_t *guilds_all(const struct guilds *g)
{
	return g->doc;
}

const char *guilds_id(const json_t *d, const char *name)
{
	const char *text = json_string_value(json_object_get(d, name));
	uint64_t id;

	return discord_snowflake(text, &id) ? text : NULL;
}

int guilds_alloc(struct guilds **out)
{
	struct guilds *g = calloc(1, sizeof *g);

	if (!g)
		return ENOMEM;
	g->doc = json_object();
	*out = g->doc ? g : guilds_free(g);
	return *out ? 0 : ENOMEM;
}

struct guilds *guilds_free(struct guilds *g)
{
	if (g)
		json_decref(g->doc);
	free(g);
	return NULL;
}

void guilds_set_self(struct guilds *g, uint64_t user)
{
	g->self = user;
}

void guilds_hide(struct guilds *g, uint64_t user)
{
	g->hidden = user;
}

uint64_t guilds_self(const struct guilds *g)
{
	return g->self;
}

static bool is_listed(const json_t *list, const char *guild)
{
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
	{
		const char *id = guilds_id(x, "id");

		if (id && strcmp(id, guild) == 0)
			return true;
	}
	return false;
}

/* A guild that cannot be marked is forgotten: it must not count as known. */
static void begin_outage(struct guilds *g, const char *guild)
{
	if (json_object_set_new(json_object_get(g->doc, guild), "out", json_true()))
		json_object_del(g->doc, guild);
}

void guilds_begin(struct guilds *g, const json_t *list)
{
	const char *key;
	json_t *guild;
	void *next;

	json_object_foreach_safe(g->doc, next, key, guild)
	{
		(void)guild;
		if (is_listed(list, key))
			begin_outage(g, key);
		else
			json_object_del(g->doc, key);
	}
}

const json_t *guilds_snapshot(const struct guilds *g, uint64_t guild)
{
	return guild_of(g, guild);
}

int guilds_restore(struct guilds *g, const json_t *snapshot)
{
	static const char *const parts[] = {"roles", "channels", "members", "voice", "categories"};
	const char *key;
	json_t *guild, *copy;
	uint64_t id;

	if (!json_is_object(snapshot))
		return EINVAL;
	json_object_foreach((json_t *)snapshot, key, guild)
	{
		if (!discord_snowflake(key, &id))
			return EINVAL;
		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
			if (!json_is_object(json_object_get(guild, parts[i])))
				return EINVAL;
	}
	copy = json_deep_copy(snapshot);
	if (!copy)
		return ENOMEM;
	json_decref(g->doc);
	g->doc = copy;
	return 0;
}

/* ---- events ---- */

static void put_role(const struct guilds *g, json_t *guild, const json_t *role)
{
	const char *id = guilds_id(role, "id");
	const char *bits = json_string_value(json_object_get(role, "permissions"));
	const char *bot = guilds_id(json_object_get(role, "tags"), "bot_id");
	uint64_t v;

	if (id && discord_u64(bits, &v))
		json_object_set_new(json_object_get(guild, "roles"), id, json_string(bits));
	if (id && bot && strcmp(bot, key_of(g->self).text) == 0)
		json_object_set_new(guild, "own_role", json_string(id));
}

static json_t *overwrites(const json_t *list)
{
	json_t *out = json_array(), *o;
	size_t i;

	json_array_foreach(list, i, o)
	{
		const char *id = guilds_id(o, "id");
		const char *allow = json_string_value(json_object_get(o, "allow"));
		const char *deny = json_string_value(json_object_get(o, "deny"));
		const json_t *type = json_object_get(o, "type");
		uint64_t v;

		if (id && json_is_integer(type) && discord_u64(allow, &v) && discord_u64(deny, &v))
			json_array_append_new(
				out,
				json_pack("[s,I,s,s]", id, json_integer_value(type), allow, deny));
	}
	return out;
}

/* Of a text channel nothing is known but its name and its overwrites. */
static void put_text(json_t *guild, const char *id, const char *name, json_t *over)
{
	if (!json_object_get(guild, "texts"))
		json_object_set_new(guild, "texts", json_object());
	json_object_set_new(json_object_get(guild, "texts"), id,
			    json_pack("{s:s,s:O}", "name", name ? name : "", "over", over));
	json_decref(over);
}

static void put_category(json_t *guild, const char *id, const char *category)
{
	json_t *categories = json_object_get(guild, "categories");

	if (category)
		json_object_set_new(categories, id, json_string(category));
	else
		json_object_del(categories, id);
}

static void put_channel(json_t *guild, const json_t *ch)
{
	const char *id = guilds_id(ch, "id");
	json_int_t type = json_integer_value(json_object_get(ch, "type"));
	const char *name = json_string_value(json_object_get(ch, "name"));

	if (id)
		put_category(guild, id, guilds_id(ch, "parent_id"));
	if (id && type != DISCORD_CHANNEL_VOICE && type != DISCORD_CHANNEL_STAGE)
		put_text(guild, id, name, overwrites(json_object_get(ch, "permission_overwrites")));
	if (!id || (type != DISCORD_CHANNEL_VOICE && type != DISCORD_CHANNEL_STAGE))
		return;
	json_object_set_new(json_object_get(guild, "channels"), id,
			    json_pack("{s:I,s:s,s:I,s:I,s:o}", "type", type, "name",
				      name ? name : "", "bitrate",
				      json_integer_value(json_object_get(ch, "bitrate")), "limit",
				      json_integer_value(json_object_get(ch, "user_limit")), "over",
				      overwrites(json_object_get(ch, "permission_overwrites"))));
}

/* The name to show: nickname, else display name, else user name. */
static const char *name_of(const json_t *member, const json_t *user)
{
	const char *name = json_string_value(json_object_get(member, "nick"));

	if (!name || !*name)
		name = json_string_value(json_object_get(user, "global_name"));
	if (!name || !*name)
		name = json_string_value(json_object_get(user, "username"));
	return name && *name ? name : "someone";
}

/* Ms since 1970; 0: it is none. Discord's times are of UTC, as "2026-11-29T20:00:00.123000+00:00".
 */
static uint64_t time_of(const char *text)
{
	struct tm tm = {0};
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	time_t s = rest ? timegm(&tm) : 0;

	return s > 0 ? (uint64_t)s * 1000 + 999 : 0;
}

/* The end of the member's timeout. An event without the field tells nothing of it. */
static json_int_t timeout_of(const json_t *member, const json_t *before)
{
	const json_t *until = json_object_get(member, "communication_disabled_until");

	return until ? (json_int_t)time_of(json_string_value(until))
		     : json_integer_value(json_object_get(before, "until"));
}

static void put_member(json_t *guild, const json_t *member)
{
	const json_t *user = json_object_get(member, "user");
	json_t *roles = json_array(), *role, *known;
	const char *id = guilds_id(user, "id");
	json_int_t until;
	uint64_t v;
	size_t i;

	if (!id || !roles) {
		json_decref(roles);
		return;
	}
	json_array_foreach(json_object_get(member, "roles"), i, role)
	{
		if (discord_snowflake(json_string_value(role), &v))
			json_array_append(roles, role);
	}
	until = timeout_of(member, json_object_get(json_object_get(guild, "members"), id));
	known = json_pack("{s:s,s:b,s:o}", "name", name_of(member, user), "bot",
			  json_is_true(json_object_get(user, "bot")), "roles", roles);
	if (until)
		json_object_set_new(known, "until", json_integer(until));
	json_object_set_new(json_object_get(guild, "members"), id, known);
}

/* Members who leave are forgotten, so that the state does not grow without end. */
static void put_voice(const struct guilds *g, json_t *guild, const json_t *state)
{
	const char *user = guilds_id(state, "user_id"), *channel = guilds_id(state, "channel_id");
	json_t *voice = json_object_get(guild, "voice"), *known;

	if (!user)
		return;
	if (json_is_object(json_object_get(state, "member")))
		put_member(guild, json_object_get(state, "member"));
	if (!channel) {
		json_object_del(voice, user);
		if (strcmp(user, key_of(g->self).text) != 0)
			json_object_del(json_object_get(guild, "members"), user);
		return;
	}
	known = json_pack("{s:s,s:b,s:b,s:b}", "channel", channel, "mute",
			  json_is_true(json_object_get(state, "mute")), "deaf",
			  json_is_true(json_object_get(state, "deaf")), "suppress",
			  json_is_true(json_object_get(state, "suppress")));
	if (json_is_true(json_object_get(state, "self_stream")))
		json_object_set_new(known, "stream", json_true());
	json_object_set_new(voice, user, known);
}

static void put_head(const struct guilds *g, json_t *guild, const json_t *d)
{
	const char *name = json_string_value(json_object_get(d, "name")),
		   *owner = guilds_id(d, "owner_id");
	json_t *role;
	size_t i;

	if (name)
		json_object_set_new(guild, "name", json_string(name));
	if (owner)
		json_object_set_new(guild, "owner", json_string(owner));
	json_array_foreach(json_object_get(d, "roles"), i, role) put_role(g, guild, role);
}

static bool on_guild_create(struct guilds *g, const json_t *d)
{
	const char *id = guilds_id(d, "id");
	json_t *guild, *x;
	size_t i;

	if (!id || json_is_true(json_object_get(d, "unavailable")))
		return false;
	guild = json_pack("{s:s,s:{},s:{},s:{},s:{},s:{}}", "name", "", "roles", "channels",
			  "members", "voice", "categories");
	if (!guild)
		return false;
	put_head(g, guild, d);
	json_array_foreach(json_object_get(d, "channels"), i, x) put_channel(guild, x);
	guild_threads_begin(guild, json_object_get(g->doc, id), json_object_get(d, "threads"));
	json_array_foreach(json_object_get(d, "members"), i, x) put_member(guild, x);
	json_array_foreach(json_object_get(d, "voice_states"), i, x) put_voice(g, guild, x);
	return json_object_set_new(g->doc, id, guild) == 0;
}

static bool on_channel(json_t *guild, const char *name, const json_t *d)
{
	const char *id = guilds_id(d, "id");

	if (!id)
		return false;
	if (strcmp(name, "CHANNEL_DELETE") != 0) {
		put_channel(guild, d);
		return true;
	}
	json_object_del(json_object_get(guild, "channels"), id);
	json_object_del(json_object_get(guild, "texts"), id);
	json_object_del(json_object_get(guild, "categories"), id);
	guild_threads_drop(guild, id);
	return true;
}

static bool on_role(const struct guilds *g, json_t *guild, const char *name, const json_t *d)
{
	const char *id = guilds_id(d, "role_id");

	if (strcmp(name, "GUILD_ROLE_DELETE") != 0)
		put_role(g, guild, json_object_get(d, "role"));
	else if (id)
		json_object_del(json_object_get(guild, "roles"), id);
	return true;
}

static bool on_member(json_t *guild, const char *name, const json_t *d)
{
	const char *id = guilds_id(json_object_get(d, "user"), "id");

	if (!id)
		return false;
	if (strcmp(name, "GUILD_MEMBER_REMOVE") == 0) {
		json_object_del(json_object_get(guild, "members"), id);
		json_object_del(json_object_get(guild, "voice"), id);
	} else if (json_object_get(json_object_get(guild, "members"), id)) {
		/* Only members in voice, and the bot itself, are tracked. */
		put_member(guild, d);
	}
	return true;
}

bool guilds_event(struct guilds *g, const char *name, const json_t *d)
{
	const char *id;
	json_t *guild;

	if (strcmp(name, "GUILD_CREATE") == 0)
		return on_guild_create(g, d);
	if (strcmp(name, "GUILD_DELETE") == 0 || strcmp(name, "GUILD_UPDATE") == 0)
		id = guilds_id(d, "id");
	else
		id = guilds_id(d, "guild_id");
	guild = id ? json_object_get(g->doc, id) : NULL;
	if (!guild)
		return false;
	if (strcmp(name, "GUILD_DELETE") == 0 && !json_is_true(json_object_get(d, "unavailable")))
		return json_object_del(g->doc, id) == 0;
	if (strcmp(name, "GUILD_DELETE") == 0)
		begin_outage(g, id);
	else if (strcmp(name, "VOICE_STATE_UPDATE") == 0)
		put_voice(g, guild, d);
	else if (strcmp(name, "GUILD_UPDATE") == 0)
		put_head(g, guild, d);
	else if (strncmp(name, "CHANNEL_", 8) == 0)
		return on_channel(guild, name, d);
	else if (strncmp(name, "THREAD_", 7) == 0)
		return guild_threads_event(guild, name, d);
	else if (strncmp(name, "GUILD_ROLE_", 11) == 0)
		return on_role(g, guild, name, d);
	else if (strncmp(name, "GUILD_MEMBER_", 13) == 0)
		return on_member(guild, name, d);
	else
		return false;
	return true;
}

/* ---- queries ---- */

bool guilds_known(const struct guilds *g, uint64_t guild)
{
	const json_t *known = guild_of(g, guild);

	return known && !json_object_get(known, "out");
}

unsigned guilds_count(const struct guilds *g)
{
	return (unsigned)json_object_size(g->doc);
}

const char *guilds_name(const struct guilds *g, uint64_t guild)
{
	const char *name = json_string_value(json_object_get(guild_of(g, guild), "name"));

	return name ? name : "";
}

bool guilds_channel(const struct guilds *g, uint64_t guild, uint64_t channel,
		    struct guild_channel *out)
{
	const json_t *ch = part_of(g, guild, "channels", channel);
	const char *name = json_string_value(json_object_get(ch, "name"));
	json_int_t bitrate = json_integer_value(json_object_get(ch, "bitrate"));
	json_int_t limit = json_integer_value(json_object_get(ch, "limit"));

	if (!ch)
		return false;
	*out = (struct guild_channel){
		.type = (int)json_integer_value(json_object_get(ch, "type")),
		.bitrate = bitrate >= 8000 && bitrate <= 384000 ? (uint32_t)bitrate : 64000,
		.user_limit = limit > 0 && limit < 100000 ? (uint32_t)limit : 0,
		.name = name ? name : "",
	};
	return true;
}

json_t *guilds_list(const struct guilds *g)
{
	json_t *list = json_array(), *guild;
	const char *key;

	json_object_foreach(g->doc, key, guild) json_array_append_new(
		list, json_pack("{s:s,s:O?}", "id", key, "name", json_object_get(guild, "name")));
	return list;
}

bool guilds_voice(const struct guilds *g, uint64_t guild, uint64_t user, struct guild_voice *out)
{
	const json_t *v = part_of(g, guild, "voice", user);
	uint64_t channel;

	if (!discord_snowflake(json_string_value(json_object_get(v, "channel")), &channel))
		return false;
	*out = (struct guild_voice){
		.channel = channel,
		.mute = json_is_true(json_object_get(v, "mute")),
		.deaf = json_is_true(json_object_get(v, "deaf")),
		.suppress = json_is_true(json_object_get(v, "suppress")),
		.stream = json_is_true(json_object_get(v, "stream")),
	};
	return true;
}

void guilds_each_call(const struct guilds *g, guilds_call_h *h, void *arg)
{
	struct guild_voice v;
	uint64_t guild;
	const char *key;
	json_t *doc;

	json_object_foreach(g->doc, key, doc)
	{
		if (discord_snowflake(key, &guild) && guilds_voice(g, guild, g->self, &v))
			h(guild, v.channel, arg);
	}
}

const char *guilds_known_name(const struct guilds *g, uint64_t guild, uint64_t user)
{
	return json_string_value(json_object_get(part_of(g, guild, "members", user), "name"));
}

const char *guilds_member_name(const struct guilds *g, uint64_t guild, uint64_t user)
{
	const char *name = guilds_known_name(g, guild, user);

	return name ? name : "someone";
}

void guilds_each(const struct guilds *g, uint64_t guild, uint64_t channel, guilds_member_h *h,
		 void *arg)
{
	json_t *voice = json_object_get(guild_of(g, guild), "voice"), *v;
	const char *key;
	uint64_t user, in;

	json_object_foreach(voice, key, v)
	{
		if (!discord_snowflake(key, &user) || user == g->self || user == g->hidden ||
		    !discord_snowflake(json_string_value(json_object_get(v, "channel")), &in) ||
		    in != channel)
			continue;
		h(user, guilds_member_name(g, guild, user),
		  json_is_true(json_object_get(part_of(g, guild, "members", user), "bot")), arg);
	}
}

static bool has_role(const json_t *member, const char *id)
{
	json_t *role;
	size_t i;

	json_array_foreach(json_object_get(member, "roles"), i, role)
	{
		const char *text = json_string_value(role);

		if (text && strcmp(text, id) == 0)
			return true;
	}
	return false;
}

bool guilds_base_permissions(const json_t *guild, const char *guild_id, const json_t *member,
			     uint64_t *out)
{
	const json_t *roles = json_object_get(guild, "roles");
	uint64_t bits, v;
	json_t *role;
	size_t i;

	if (!discord_u64(json_string_value(json_object_get(roles, guild_id)), &bits))
		return false;
	json_array_foreach(json_object_get(member, "roles"), i, role)
	{
		if (discord_u64(json_string_value(json_object_get(roles, json_string_value(role))),
				&v))
			bits |= v;
	}
	*out = bits;
	return true;
}

uint64_t guilds_apply_overwrites(const json_t *channel, uint64_t bits, const char *guild_id,
				 const json_t *member, const char *user_id)
{
	uint64_t allow[3] = {0}, deny[3] = {0}, a, d;
	json_t *o;
	size_t i;

	json_array_foreach(json_object_get(channel, "over"), i, o)
	{
		const char *id = json_string_value(json_array_get(o, 0));
		bool is_member = json_integer_value(json_array_get(o, 1)) == 1;
		int step;

		if (!id || !discord_u64(json_string_value(json_array_get(o, 2)), &a) ||
		    !discord_u64(json_string_value(json_array_get(o, 3)), &d))
			continue;
		if (is_member && strcmp(id, user_id) == 0)
			step = 2;
		else if (!is_member && strcmp(id, guild_id) == 0)
			step = 0;
		else if (!is_member && has_role(member, id))
			step = 1;
		else
			continue;
		allow[step] |= a;
		deny[step] |= d;
	}
	for (i = 0; i < 3; i++)
		bits = (bits & ~deny[i]) | allow[i];
	return bits;
}

bool guilds_has_role(const struct guilds *g, uint64_t guild_id, uint64_t user_id, uint64_t role_id)
{
	return guilds_member_has_role(part_of(g, guild_id, "members", user_id), guild_id, role_id);
}

bool guilds_member_has_role(const json_t *member, uint64_t guild_id, uint64_t role_id)
{
	return member && (role_id == guild_id || has_role(member, key_of(role_id).text));
}

bool guilds_is_own_role(const struct guilds *g, uint64_t guild_id, uint64_t role_id)
{
	const char *own = json_string_value(json_object_get(guild_of(g, guild_id), "own_role"));

	return own && strcmp(own, key_of(role_id).text) == 0;
}

bool guilds_permissions(const struct guilds *g, uint64_t guild_id, uint64_t channel_id,
			uint64_t user_id, uint64_t *out)
{
	return guilds_permissions_as(g, guild_id, channel_id, user_id,
				     part_of(g, guild_id, "members", user_id), out);
}

/* Our member objects and Discord's hold the roles under one key. channel: NULL accepted. */
static bool permissions_in(const struct guilds *g, uint64_t guild_id, const json_t *channel,
			   uint64_t user_id, const json_t *member, uint64_t *out)
{
	const json_t *guild = guild_of(g, guild_id);
	struct key gk = key_of(guild_id), uk = key_of(user_id);
	const char *owner = json_string_value(json_object_get(guild, "owner"));
	uint64_t bits;

	if (!guild || !member || !guilds_base_permissions(guild, gk.text, member, &bits))
		return false;
	if ((owner && strcmp(owner, uk.text) == 0) ||
	    bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR)) {
		*out = UINT64_MAX;
		return true;
	}
	bits = guilds_apply_overwrites(channel, bits, gk.text, member, uk.text);
	*out = bits & DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL) ? bits : 0;
	return true;
}

bool guilds_permissions_as(const struct guilds *g, uint64_t guild_id, uint64_t channel_id,
			   uint64_t user_id, const json_t *member, uint64_t *out)
{
	const json_t *channel = part_of(g, guild_id, "channels", channel_id);

	return channel && permissions_in(g, guild_id, channel, user_id, member, out);
}

bool guilds_own_permissions(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t *out)
{
	const char *name;
	uint64_t parent = guilds_thread(g, guild, channel, &name);
	const json_t *voice = part_of(g, guild, "channels", channel);
	const json_t *text = part_of(g, guild, "texts", parent ? parent : channel);

	return permissions_in(g, guild, voice ? voice : text, g->self,
			      part_of(g, guild, "members", g->self), out);
}

/* True if the bot has these permissions in the channel or thread, or nothing tells that it has not.
 * in_thread: those that it needs there instead. */
static bool may_there(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t needed,
		      uint64_t in_thread)
{
	const char *name;
	uint64_t bits;

	needed = guilds_thread(g, guild, channel, &name) ? in_thread : needed;
	return !guilds_own_permissions(g, guild, channel, &bits) || (bits & needed) == needed;
}

bool guilds_may_write(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	return may_there(g, guild, channel, DISCORD_PERMISSION(DISCORD_BIT_SEND_MESSAGES),
			 DISCORD_PERMISSION(DISCORD_BIT_SEND_MESSAGES_IN_THREADS));
}

bool guilds_timed_out(const struct guilds *g, uint64_t guild, uint64_t now_ms)
{
	const json_t *self = part_of(g, guild, "members", g->self);
	uint64_t until = (uint64_t)json_integer_value(json_object_get(self, "until")), bits;

	return until > now_ms && !(guilds_own_permissions(g, guild, 0, &bits) &&
				   bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR));
}

bool guilds_may(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t needed)
{
	return may_there(g, guild, channel, needed, needed);
}

bool guilds_member_permissions(const struct guilds *g, uint64_t guild_id, uint64_t user_id,
			       const json_t *member, uint64_t *out)
{
	const json_t *guild = guild_of(g, guild_id);
	struct key gk = key_of(guild_id), uk = key_of(user_id);
	const char *owner = json_string_value(json_object_get(guild, "owner"));
	uint64_t bits;

	if (!guild || !member || !guilds_base_permissions(guild, gk.text, member, &bits))
		return false;
	if ((owner && strcmp(owner, uk.text) == 0) ||
	    bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR))
		bits = UINT64_MAX;
	*out = bits;
	return true;
}
