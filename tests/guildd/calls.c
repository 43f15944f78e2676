#include "tests/guildd/calls.h"

#include "tests/guildd/gateway.h"
#include "tests/guildd/golive.h"
#include "tests/guildd/history.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/voice.h"

#include <inttypes.h>
#include <stdio.h>

static void tell_state(struct guildd *g, struct gd_guild *guild, struct gd_vstate *v, bool left)
{
	gd_history_add(g->history, left ? "left" : "in", v->user, left ? 0 : v->channel);
	gd_gateway_event(g, guild->id, GD_INTENT_VOICE_STATES, "VOICE_STATE_UPDATE",
			 gd_vstate_json(guild, v, left, true));
}

static void tell_server(struct guildd *g, struct gd_vstate *v)
{
	bool gone = g->sw.endpoint_null || !v->token[0];

	gd_gateway_event_user(
		g, v->user, "VOICE_SERVER_UPDATE",
		json_pack("{s:s, s:o, s:o}", "token", v->token, "guild_id", gd_id_json(v->guild),
			  "endpoint",
			  gone ? json_null() : json_string(gd_voice_endpoint(g->voice))));
}

/* Libraries rely on one id for both sessions (discord-api-docs issue 1724). A user without a main
 * session has only its own. */
static void name_session(struct guildd *g, struct gd_vstate *v)
{
	const char *id = g->sw.session_per_join ? NULL : gd_gateway_session(g->gateway, v->user);

	if (id)
		snprintf(v->session, sizeof(v->session), "%s", id);
	else
		gd_secret(g, v->session);
}

static void lease(struct guildd *g, struct gd_vstate *v)
{
	if (g->sw.same_token)
		snprintf(v->token, sizeof(v->token), "%016" PRIx64 "%016" PRIx64, v->user,
			 v->channel);
	else
		gd_secret(g, v->token);
	v->used = false;
}

static enum gd_join allowed(struct gd_guild *guild, struct gd_channel *c,
			    const struct gd_join_req *req)
{
	struct gd_vstate *v = gd_vstate_find(guild, req->user);
	uint64_t p;

	if (req->forced)
		return GD_JOIN_OK;
	p = gd_permissions(guild, req->user, c);
	if (!(p & GD_PERM_VIEW) || !(p & GD_PERM_CONNECT))
		return GD_JOIN_NO_PERMISSION;
	if (c->user_limit && gd_channel_count(guild, c->id) >= c->user_limit &&
	    !(p & GD_PERM_MOVE) && !(v && v->channel == c->id))
		return GD_JOIN_FULL;
	return GD_JOIN_OK;
}

static void tell_joined(struct guildd *g, struct gd_guild *guild, struct gd_vstate *v, bool server)
{
	if (server && g->sw.server_first)
		tell_server(g, v);
	tell_state(g, guild, v, false);
	if (server && !g->sw.server_first)
		tell_server(g, v);
}

enum gd_join gd_call_join(struct guildd *g, const struct gd_join_req *req, struct gd_vstate **out)
{
	struct gd_guild *guild = gd_guild_find(g->world, req->guild);
	struct gd_channel *c = gd_channel_find(g->world, req->channel);
	struct gd_vstate *v;
	bool server = true;
	enum gd_join may;

	if (!guild || !c || c->guild != guild->id || !gd_channel_is_voice(c) ||
	    !gd_member_find(guild, req->user))
		return GD_JOIN_UNKNOWN;
	may = allowed(guild, c, req);
	if (may != GD_JOIN_OK)
		return may;

	v = gd_vstate_find(guild, req->user);
	if (!v) {
		if (gd_vstate_add(&v, guild, req->user, c->id))
			return GD_JOIN_FAILED;
		name_session(g, v);
		lease(g, v);
		v->suppress = c->type == GD_CHANNEL_STAGE;
	} else if (v->channel != c->id || req->fresh) {
		/* The old voice session belongs to the old place and cannot be used again. */
		gd_golive_left(g, v->user, v->channel);
		gd_voice_drop(g->voice, v->guild, v->user, 4014, "Disconnected.");
		v->channel = c->id;
		v->suppress = c->type == GD_CHANNEL_STAGE;
		v->requested_ms = 0;
		if (req->fresh)
			name_session(g, v);
		lease(g, v);
	} else {
		server = g->sw.op4_same_server;
		if (server)
			lease(g, v);
	}
	v->self_mute = req->self_mute;
	v->self_deaf = req->self_deaf;
	gd_voice_sync(g->voice, v);
	tell_joined(g, guild, v, server);
	if (out)
		*out = v;
	return GD_JOIN_OK;
}

void gd_call_leave(struct guildd *g, struct gd_vstate *v, uint16_t code)
{
	struct gd_guild *guild = gd_guild_find(g->world, v->guild);

	gd_golive_left(g, v->user, v->channel);
	gd_voice_drop(g->voice, v->guild, v->user, code,
		      code == 4022 ? "Call terminated." : "Disconnected.");
	tell_state(g, guild, v, true);
	gd_vstate_remove(guild, v);
}

void gd_call_new_server(struct guildd *g, struct gd_vstate *v)
{
	lease(g, v);
	tell_server(g, v);
}

void gd_call_no_server(struct guildd *g, struct gd_vstate *v)
{
	v->token[0] = '\0';
	v->used = true;
	tell_server(g, v);
}

void gd_call_changed(struct guildd *g, struct gd_vstate *v)
{
	gd_voice_sync(g->voice, v);
	tell_state(g, gd_guild_find(g->world, v->guild), v, false);
}

void gd_call_leave_channel(struct guildd *g, uint64_t channel, uint16_t code)
{
	struct gd_channel *c = gd_channel_find(g->world, channel);
	struct gd_guild *guild = c ? gd_guild_find(g->world, c->guild) : NULL;

	for (size_t i = guild ? guild->vstates.n : 0; i > 0; i--) {
		struct gd_vstate *v = guild->vstates.v[i - 1];

		if (v->channel == channel)
			gd_call_leave(g, v, code);
	}
}

void gd_call_leave_all(struct guildd *g, uint64_t user, uint16_t code)
{
	for (size_t i = 0; i < g->world->guilds.n; i++) {
		struct gd_vstate *v = gd_vstate_find(g->world->guilds.v[i], user);

		if (v)
			gd_call_leave(g, v, code);
	}
}

struct gd_vstate *gd_call_of(struct guildd *g, uint64_t user)
{
	for (size_t i = 0; i < g->world->guilds.n; i++) {
		struct gd_vstate *v = gd_vstate_find(g->world->guilds.v[i], user);

		if (v)
			return v;
	}
	return NULL;
}
