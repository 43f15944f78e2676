/* REST routes about the bot itself, its commands, and guilds. */
#include "tests/guildd/rest_inside.h"

#include "tests/guildd/command_rules.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/objects.h"

#include <inttypes.h>
#include <stdio.h>

void rest_gateway(struct rest_call *c)
{
	rest_ok(c, json_pack("{s:s}", "url", gd_gateway_url(c->g->gateway)));
}

void rest_gateway_bot(struct rest_call *c)
{
	json_t *gw = gd_gateway_json(c->g->gateway);
	int used = (int)json_integer_value(json_object_get(gw, "identifies"));

	json_decref(gw);
	rest_ok(c, json_pack("{s:s, s:i, s:{s:i, s:i, s:i, s:i}}", "url",
			     gd_gateway_url(c->g->gateway), "shards", 1, "session_start_limit",
			     "total", 1000, "remaining", used < 1000 ? 1000 - used : 0,
			     "reset_after", 86400000, "max_concurrency", 1));
}

void rest_me(struct rest_call *c)
{
	json_t *o = gd_user_json(c->user);

	json_object_set_new(o, "verified", json_true());
	json_object_set_new(o, "mfa_enabled", json_true());
	json_object_set_new(o, "flags", json_integer(0));
	json_object_set_new(o, "email", json_null());
	json_object_set_new(o, "locale", json_string("en-US"));
	rest_ok(c, o);
}

void rest_my_guilds(struct rest_call *c)
{
	json_t *list = json_array();
	const struct gd_vec *guilds = &c->g->world->guilds;

	for (size_t i = 0; i < guilds->n; i++) {
		const struct gd_guild *g = guilds->v[i];

		if (!gd_member_find(g, c->user->id))
			continue;
		json_array_append_new(list,
				      json_pack("{s:o, s:s, s:n, s:b, s:o, s:[]}", "id",
						gd_id_json(g->id), "name", g->name, "icon", "owner",
						g->owner == c->user->id, "permissions",
						gd_u64_json(gd_permissions(g, c->user->id, NULL)),
						"features"));
	}
	rest_ok(c, list);
}

void rest_user(struct rest_call *c)
{
	struct gd_user *u = gd_user_find(c->g->world, c->id[0]);

	if (u)
		rest_ok(c, gd_user_json(u));
	else
		rest_error(c, 404, 10013, "Unknown User");
}

void rest_application(struct rest_call *c)
{
	rest_ok(c, gd_application_json(c->bot, gd_user_person(c->g->world)));
}

void rest_guild(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);

	if (guild)
		rest_ok(c, gd_guild_json(guild, false, 0, false));
}

void rest_guild_channels(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);

	if (guild)
		rest_ok(c, gd_channels_json(guild));
}

void rest_guild_roles(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);
	json_t *list;

	if (!guild)
		return;
	list = json_array();
	for (size_t i = 0; i < guild->roles.n; i++)
		json_array_append_new(list, gd_role_json(guild->roles.v[i]));
	rest_ok(c, list);
}

void rest_guild_members(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);
	const char *limit = httpd_query(c->http, "limit");
	size_t most = limit ? strtoul(limit, NULL, 10) : 1;
	json_t *list;

	if (!guild)
		return;
	if (!(c->bot->privileged & GD_INTENT_MEMBERS)) {
		rest_error(c, 403, 50001, "Missing Access");
		return;
	}
	list = json_array();
	for (size_t i = 0; i < guild->members.n && i < most; i++)
		json_array_append_new(list, gd_member_json(guild->members.v[i], true));
	rest_ok(c, list);
}

void rest_guild_member(struct rest_call *c)
{
	struct gd_guild *guild = rest_guild_of(c, 0);
	struct gd_member *m;

	if (!guild)
		return;
	m = gd_member_find(guild, strcmp(c->cap[1], "@me") == 0 ? c->bot->user->id : c->id[1]);
	if (m)
		rest_ok(c, gd_member_json(m, true));
	else
		rest_error(c, 404, 10007, "Unknown Member");
}

void rest_voice_regions(struct rest_call *c)
{
	rest_ok(c, json_pack("[{s:s, s:s, s:b, s:b, s:b}]", "id", "loopback", "name",
			     "This machine", "optimal", 1, "deprecated", 0, "custom", 0));
}

/* The list of commands this route is about: the application's or the guild's; NULL = answered. */
static json_t *commands_of(struct rest_call *c)
{
	struct gd_guild *guild;
	json_t *list;
	char id[24];

	if (c->id[0] != c->bot->user->id) {
		rest_error(c, 403, 20012,
			   "You are not authorized to perform this action on this application");
		return NULL;
	}
	if (!c->cap[1])
		return c->bot->commands;
	guild = gd_guild_find(c->g->world, c->id[1]);
	if (!guild || !gd_member_find(guild, c->bot->user->id)) {
		rest_error(c, 403, 50001, "Missing Access");
		return NULL;
	}
	snprintf(id, sizeof(id), "%" PRIu64, c->bot->user->id);
	list = json_object_get(guild->commands, id);
	if (!list) {
		list = json_array();
		json_object_set_new(guild->commands, id, list);
	}
	return list;
}

/* A command as Discord gives it back: with ids and defaults. */
static json_t *command_new(struct rest_call *c, const json_t *in)
{
	json_t *o = json_deep_copy(in);

	json_object_set_new(o, "id", gd_id_json(gd_world_id(c->g->world)));
	json_object_set_new(o, "application_id", gd_id_json(c->bot->user->id));
	json_object_set_new(o, "version", gd_id_json(gd_world_id(c->g->world)));
	if (!json_object_get(o, "type"))
		json_object_set_new(o, "type", json_integer(1));
	if (!json_object_get(o, "default_member_permissions"))
		json_object_set_new(o, "default_member_permissions", json_null());
	if (c->cap[1])
		json_object_set_new(o, "guild_id", gd_id_json(c->id[1]));
	return o;
}

void rest_commands_get(struct rest_call *c)
{
	json_t *list = commands_of(c);

	if (list)
		rest_ok(c, json_incref(list));
}

void rest_commands_put(struct rest_call *c)
{
	json_t *list = commands_of(c);
	const char *fault;

	if (!list)
		return;
	fault = command_list_fault(c->body);
	if (fault) {
		rest_bad_field(c, fault, "This field is required or its value is not allowed");
		return;
	}
	json_array_clear(list);
	for (size_t i = 0; i < json_array_size(c->body); i++)
		json_array_append_new(list, command_new(c, json_array_get(c->body, i)));
	rest_ok(c, json_incref(list));
}

void rest_commands_post(struct rest_call *c)
{
	json_t *list = commands_of(c), *o;
	const char *name = json_string_value(json_object_get(c->body, "name"));
	const char *fault;

	if (!list)
		return;
	fault = command_fault(c->body);
	if (fault) {
		rest_bad_field(c, fault, "This field is required or its value is not allowed");
		return;
	}
	o = command_new(c, c->body);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *n = json_string_value(json_object_get(json_array_get(list, i), "name"));

		if (n && strcmp(n, name) == 0) {
			json_array_set_new(list, i, o);
			rest_status(c, 200, json_incref(o));
			return;
		}
	}
	json_array_append_new(list, o);
	rest_status(c, 201, json_incref(o));
}
