/* Control API: people and places. */
#include "tests/guildd/api_inside.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/rest.h"

#include <inttypes.h>
#include <stdio.h>

void api_world(struct api_call *c)
{
	const struct gd_world *w = c->g->world;
	json_t *guilds = json_array(), *users = json_array(), *bots = json_array();

	for (size_t i = 0; i < w->guilds.n; i++)
		json_array_append_new(guilds, gd_guild_json(w->guilds.v[i], true, 0, true));
	for (size_t i = 0; i < w->users.n; i++)
		json_array_append_new(users, gd_user_json(w->users.v[i]));
	for (size_t i = 0; i < w->bots.n; i++)
		json_array_append_new(bots, gd_application_json(w->bots.v[i], NULL));
	api_ok(c, json_pack("{s:o, s:o, s:o}", "guilds", guilds, "users", users, "bots", bots));
}

static void made(struct api_call *c, int err, uint64_t id)
{
	if (err)
		api_result(c, err);
	else
		api_ok(c, json_pack("{s:o}", "id", gd_id_json(id)));
}

void api_user_add(struct api_call *c)
{
	struct gd_user *u = NULL;
	int err = gd_user_add(c->g->world, &u, api_number(c, "id", 0),
			      api_text(c, "name", "somebody"));

	made(c, err, err ? 0 : u->id);
}

void api_bot_add(struct api_call *c)
{
	const char *token = api_text(c, "token", NULL);
	struct gd_bot *b = NULL;
	int err;

	if (!token) {
		api_wrong(c, "token is missing");
		return;
	}
	err = gd_bot_add(c->g->world, &b, api_number(c, "id", 0), api_text(c, "name", "bot"), token,
			 api_number(c, "privileged", GD_INTENTS_PRIVILEGED));
	/* A client that plays a person writes as one. */
	if (!err && json_is_true(json_object_get(c->body, "person")))
		b->user->bot = false;
	made(c, err, err ? 0 : b->user->id);
}

void api_bot_set(struct api_call *c)
{
	struct gd_bot *b = gd_bot_find(c->g->world, c->id[0]);

	json_t *application = json_object_get(c->body, "application");

	if (b)
		b->privileged = api_number(c, "privileged", b->privileged);
	if (b && json_is_object(application)) {
		json_decref(b->application);
		b->application = json_incref(application);
	}
	api_result(c, b ? 0 : ENOENT);
}

void api_commands(struct api_call *c)
{
	struct gd_bot *b = gd_bot_find(c->g->world, c->id[0]);
	json_t *guilds = json_object();
	char app[24], id[24];

	if (!b) {
		json_decref(guilds);
		api_result(c, ENOENT);
		return;
	}
	snprintf(app, sizeof(app), "%" PRIu64, b->user->id);
	for (size_t i = 0; i < c->g->world->guilds.n; i++) {
		const struct gd_guild *g = c->g->world->guilds.v[i];
		json_t *list = json_object_get(g->commands, app);

		snprintf(id, sizeof(id), "%" PRIu64, g->id);
		if (list)
			json_object_set(guilds, id, list);
	}
	api_ok(c, json_pack("{s:O, s:o}", "global", b->commands, "guilds", guilds));
}

void api_guild_add(struct api_call *c)
{
	struct gd_guild *g = NULL;
	int err = gd_guild_add(c->g->world, &g, api_number(c, "id", 0),
			       api_text(c, "name", "Guild"), api_number(c, "owner_id", 501));

	made(c, err, err ? 0 : g->id);
}

void api_channel_add(struct api_call *c)
{
	const char *type = api_text(c, "type", "voice");
	struct gd_guild *g = api_guild(c);
	struct gd_channel *ch = NULL;
	int err, t;

	if (!g)
		return;
	t = strcmp(type, "voice") == 0	    ? GD_CHANNEL_VOICE
	    : strcmp(type, "stage") == 0    ? GD_CHANNEL_STAGE
	    : strcmp(type, "text") == 0	    ? GD_CHANNEL_TEXT
	    : strcmp(type, "forum") == 0    ? GD_CHANNEL_FORUM
	    : strcmp(type, "category") == 0 ? GD_CHANNEL_CATEGORY
					    : -1;
	if (t < 0) {
		api_wrong(c, "type is text, voice, stage, forum or category");
		return;
	}
	err = gd_channel_add(c->g->world, &ch, g, api_number(c, "id", 0), t,
			     api_text(c, "name", "channel"));
	if (!err) {
		ch->user_limit = (unsigned)api_number(c, "user_limit", 0);
		ch->bitrate = (unsigned)api_number(c, "bitrate", 64000);
		ch->category = api_number(c, "parent_id", 0);
		gd_gateway_event(c->g, g->id, GD_INTENT_GUILDS, "CHANNEL_CREATE",
				 gd_channel_json(ch));
	}
	made(c, err, err ? 0 : ch->id);
}

void api_channel_set(struct api_call *c)
{
	struct gd_channel *ch = api_channel(c);

	if (!ch)
		return;
	ch->user_limit = (unsigned)api_number(c, "user_limit", ch->user_limit);
	ch->bitrate = (unsigned)api_number(c, "bitrate", ch->bitrate);
	ch->category = api_number(c, "parent_id", ch->category);
	gd_gateway_event(c->g, ch->guild, GD_INTENT_GUILDS, "CHANNEL_UPDATE", gd_channel_json(ch));
	api_ok(c, NULL);
}

void api_channel_remove(struct api_call *c)
{
	struct gd_channel *ch = api_channel(c);

	if (!ch)
		return;
	gd_call_leave_channel(c->g, ch->id, 4022);
	gd_gateway_event(c->g, ch->guild, GD_INTENT_GUILDS, "CHANNEL_DELETE", gd_channel_json(ch));
	gd_channel_remove(c->g->world, ch);
	api_ok(c, NULL);
}

void api_overwrite(struct api_call *c)
{
	struct gd_overwrite o = {.id = c->id[1],
				 .member = strcmp(api_text(c, "type", "role"), "member") == 0,
				 .allow = api_number(c, "allow", 0),
				 .deny = api_number(c, "deny", 0)};
	struct gd_channel *ch = api_channel(c);
	int err;

	if (!ch)
		return;
	err = gd_overwrite_set(ch, &o);
	if (!err)
		gd_gateway_event(c->g, ch->guild, GD_INTENT_GUILDS, "CHANNEL_UPDATE",
				 gd_channel_json(ch));
	api_result(c, err);
}

void api_role_add(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	struct gd_role *r = NULL;
	int err;

	if (!g)
		return;
	err = gd_role_add(c->g->world, &r, g, api_number(c, "id", 0), api_text(c, "name", "role"),
			  api_number(c, "permissions", 0));
	if (!err) {
		r->bot = api_number(c, "bot_id", 0);
		gd_gateway_event(c->g, g->id, GD_INTENT_GUILDS, "GUILD_ROLE_CREATE",
				 json_pack("{s:o, s:o}", "guild_id", gd_id_json(g->id), "role",
					   gd_role_json(r)));
	}
	made(c, err, err ? 0 : r->id);
}

void api_role_set(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	struct gd_role *r = g ? gd_role_find(g, c->id[1]) : NULL;

	if (!g)
		return;
	if (r) {
		r->permissions = api_number(c, "permissions", r->permissions);
		gd_gateway_event(c->g, g->id, GD_INTENT_GUILDS, "GUILD_ROLE_UPDATE",
				 json_pack("{s:o, s:o}", "guild_id", gd_id_json(g->id), "role",
					   gd_role_json(r)));
	}
	api_result(c, r ? 0 : ENOENT);
}

void api_member_add(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	struct gd_user *u = gd_user_find(c->g->world, api_number(c, "user_id", 0));
	struct gd_member *m;
	json_t *d;
	int err;

	if (!g)
		return;
	err = u ? gd_member_add(&m, g, u) : ENOENT;
	if (!err) {
		d = gd_member_json(m, true);
		json_object_set_new(d, "guild_id", gd_id_json(g->id));
		gd_gateway_event(c->g, g->id, GD_INTENT_MEMBERS, "GUILD_MEMBER_ADD", d);
		gd_gateway_guild(c->g, u->id, g);
	}
	api_result(c, err);
}

void api_member_remove(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	struct gd_user *u = gd_user_find(c->g->world, c->id[1]);
	int err;

	if (!g)
		return;
	err = u ? gd_member_remove(g, u->id) : ENOENT;
	if (!err)
		gd_gateway_event(c->g, g->id, GD_INTENT_MEMBERS, "GUILD_MEMBER_REMOVE",
				 json_pack("{s:o,s:o}", "guild_id", gd_id_json(g->id), "user",
					   gd_user_json(u)));
	api_result(c, err);
}

static int set_roles(struct gd_guild *g, struct gd_member *m, const json_t *ids)
{
	int err = 0;

	m->roles.n = 0;
	for (size_t i = 0; !err && i < json_array_size(ids); i++) {
		struct gd_role *r = gd_role_find(g, gd_id(json_array_get(ids, i)));

		err = r ? gd_vec_add(&m->roles, r) : ENOENT;
	}
	return err;
}

/* A boolean of the body, if it is there. */
static void flag(const struct api_call *c, const char *name, bool *out)
{
	const json_t *v = json_object_get(c->body, name);

	if (json_is_boolean(v))
		*out = json_is_true(v);
}

void api_member_set(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	struct gd_member *m = g ? gd_member_find(g, c->id[1]) : NULL;
	const json_t *roles = json_object_get(c->body, "role_ids");
	struct gd_vstate *v;
	json_t *d;
	int err;

	if (!g)
		return;
	err = m ? 0 : ENOENT;
	if (!err && roles)
		err = set_roles(g, m, roles);
	if (!err) {
		flag(c, "mute", &m->mute);
		flag(c, "deaf", &m->deaf);
		snprintf(m->nick, sizeof m->nick, "%s", api_text(c, "nick", m->nick));
		snprintf(m->timeout, sizeof m->timeout, "%s", api_text(c, "timeout", m->timeout));
		d = gd_member_json(m, true);
		json_object_set_new(d, "guild_id", gd_id_json(g->id));
		gd_gateway_member(c->g, g, m->user->id, d);
		v = gd_vstate_find(g, m->user->id);
		if (v)
			gd_call_changed(c->g, v);
	}
	api_result(c, err);
}

void api_voice_set(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);
	struct gd_member *m;

	if (!v)
		return;
	m = gd_member_find(gd_guild_find(c->g->world, v->guild), v->user);
	flag(c, "mute", &m->mute);
	flag(c, "deaf", &m->deaf);
	flag(c, "suppress", &v->suppress);
	flag(c, "self_mute", &v->self_mute);
	flag(c, "self_deaf", &v->self_deaf);
	gd_call_changed(c->g, v);
	api_ok(c, NULL);
}

void api_interaction(struct api_call *c)
{
	json_t *o = NULL;
	int err = gd_interaction_send(c->g, c->body, &o);

	if (err)
		api_result(c, err);
	else
		api_ok(c, o);
}

void api_interaction_get(struct api_call *c)
{
	json_t *o = gd_interaction_json(c->g->rest, c->id[0]);

	if (o)
		api_ok(c, o);
	else
		api_result(c, ENOENT);
}
