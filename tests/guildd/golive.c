#include "tests/guildd/golive.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/voice.h"

#include <inttypes.h>
#include <stdio.h>

struct gd_golive {
	struct guildd *g;
	uint64_t owner, guild, channel, server;
	char key[GD_STREAM_KEY];
	bool paused;
	struct gd_vec leases; /* struct gd_vstate: the owner's first, then those of viewers */
};

struct gd_golives {
	struct gd_vec all;
};

int gd_golives_alloc(struct gd_golives **out)
{
	struct gd_golives *l = calloc(1, sizeof(*l));

	if (!l)
		return ENOMEM;
	*out = l;
	return 0;
}

static void golive_free(struct gd_golive *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->leases.n; i++)
		free(l->leases.v[i]);
	gd_vec_clear(&l->leases);
	free(l);
}

struct gd_golives *gd_golives_free(struct gd_golives *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->all.n; i++)
		golive_free(l->all.v[i]);
	gd_vec_clear(&l->all);
	free(l);
	return NULL;
}

/* ---- finding ---- */

struct gd_golive *gd_golive_of_key(const struct guildd *g, const char *key)
{
	for (size_t i = 0; i < g->golives->all.n; i++) {
		struct gd_golive *l = g->golives->all.v[i];

		if (strcmp(l->key, key) == 0)
			return l;
	}
	return NULL;
}

struct gd_golive *gd_golive_of_server(const struct guildd *g, uint64_t server)
{
	for (size_t i = 0; i < g->golives->all.n; i++) {
		struct gd_golive *l = g->golives->all.v[i];

		if (l->server == server)
			return l;
	}
	return NULL;
}

struct gd_golive *gd_golive_of_channel(const struct guildd *g, uint64_t channel)
{
	return gd_golive_of_server(g, channel + 1);
}

struct gd_vstate *gd_golive_lease(const struct gd_golive *l, uint64_t user)
{
	for (size_t i = 0; i < l->leases.n; i++) {
		struct gd_vstate *v = l->leases.v[i];

		if (v->user == user)
			return v;
	}
	return NULL;
}

uint64_t gd_golive_owner(const struct gd_golive *l)
{
	return l->owner;
}

uint64_t gd_golive_parent(const struct gd_golive *l)
{
	return l->channel;
}

/* ---- telling ---- */

static json_t *viewers_json(const struct gd_golive *l)
{
	json_t *list = json_array();

	for (size_t i = 1; i < l->leases.n; i++)
		json_array_append_new(list, gd_id_json(((struct gd_vstate *)l->leases.v[i])->user));
	return list;
}

static json_t *golive_json(const struct gd_golive *l)
{
	return json_pack("{s:s, s:s, s:o, s:b}", "stream_key", l->key, "region", "guildd",
			 "viewer_ids", viewers_json(l), "paused", l->paused);
}

static void tell_ended(struct guildd *g, uint64_t user, const char *key, const char *reason)
{
	gd_gateway_event_user(g, user, "STREAM_DELETE",
			      json_pack("{s:s, s:s, s:b}", "stream_key", key, "reason", reason,
					"unavailable", 0));
}

static void tell_update(const struct gd_golive *l)
{
	for (size_t i = 0; i < l->leases.n; i++)
		gd_gateway_event_user(l->g, ((struct gd_vstate *)l->leases.v[i])->user,
				      "STREAM_UPDATE", golive_json(l));
}

static void tell_created(const struct gd_golive *l, const struct gd_vstate *v)
{
	json_t *d = golive_json(l);

	if (!d)
		return;
	json_object_set_new(d, "rtc_server_id", gd_id_json(l->server));
	json_object_set_new(d, "rtc_channel_id", gd_id_json(l->server - 1));
	gd_gateway_event_user(l->g, v->user, "STREAM_CREATE", d);
	gd_gateway_event_user(l->g, v->user, "STREAM_SERVER_UPDATE",
			      json_pack("{s:s, s:s, s:s, s:n}", "stream_key", l->key, "token",
					v->token, "endpoint", gd_voice_endpoint(l->g->voice),
					"guild_id"));
}

/* ---- leases ---- */

/* The session is the one of the voice state. */
static struct gd_vstate *add_lease(struct gd_golive *l, const struct gd_vstate *state)
{
	struct gd_vstate *v = calloc(1, sizeof(*v));

	if (!v || gd_vec_add(&l->leases, v)) {
		free(v);
		return NULL;
	}
	v->guild = l->server;
	v->channel = l->server - 1;
	v->user = state->user;
	memcpy(v->session, state->session, sizeof(v->session));
	gd_secret(l->g, v->token);
	return v;
}

static void end_lease(struct gd_golive *l, struct gd_vstate *v, const char *reason)
{
	uint64_t user = v->user;

	gd_vec_remove(&l->leases, v);
	free(v);
	gd_voice_drop(l->g->voice, l->server, user, 4014, "Disconnected.");
	tell_ended(l->g, user, l->key, reason);
}

/* The owner is told its own reason, viewers that the stream ended. */
static void end_golive(struct gd_golive *l, const char *reason)
{
	struct guildd *g = l->g;
	struct gd_guild *guild = gd_guild_find(g->world, l->guild);
	struct gd_vstate *state = guild ? gd_vstate_find(guild, l->owner) : NULL;

	gd_vec_remove(&g->golives->all, l);
	while (l->leases.n > 1)
		end_lease(l, l->leases.v[l->leases.n - 1], "stream_ended");
	end_lease(l, l->leases.v[0], reason);
	golive_free(l);
	if (!state)
		return;
	state->self_stream = false;
	gd_call_changed(g, state);
}

/* ---- what people ask ---- */

/* The user's voice state in this channel; NULL. */
static struct gd_vstate *state_in(struct guildd *g, uint64_t user, uint64_t channel)
{
	struct gd_channel *c = gd_channel_find(g->world, channel);
	struct gd_guild *guild = c ? gd_guild_find(g->world, c->guild) : NULL;
	struct gd_vstate *v = guild ? gd_vstate_find(guild, user) : NULL;

	return v && v->channel == channel ? v : NULL;
}

void gd_golive_create(struct guildd *g, uint64_t user, uint64_t guild, uint64_t channel)
{
	struct gd_guild *in = gd_guild_find(g->world, guild);
	struct gd_channel *c = gd_channel_find(g->world, channel);
	struct gd_vstate *state = state_in(g, user, channel), *v;
	struct gd_golive *l;
	char key[GD_STREAM_KEY];

	snprintf(key, sizeof(key), "guild:%" PRIu64 ":%" PRIu64 ":%" PRIu64, guild, channel, user);
	if (!in || !c || c->guild != guild || !state) {
		tell_ended(g, user, key, "invalid_channel");
		return;
	}
	if (!(gd_permissions(in, user, c) & GD_PERM_STREAM)) {
		tell_ended(g, user, key, "unauthorized");
		return;
	}
	l = gd_golive_of_key(g, key);
	if (l)
		end_golive(l, "user_requested");
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	*l = (struct gd_golive){.g = g, .owner = user, .guild = guild, .channel = channel};
	/* The group of DAVE and the relay have the id before the server's. */
	(void)gd_world_id(g->world);
	l->server = gd_world_id(g->world);
	memcpy(l->key, key, sizeof(l->key));
	v = add_lease(l, state);
	if (!v || gd_vec_add(&g->golives->all, l)) {
		golive_free(l);
		return;
	}
	gd_count(g, user, "golive_created");
	state->self_stream = true;
	gd_call_changed(g, state);
	tell_created(l, v);
}

void gd_golive_watch(struct guildd *g, uint64_t user, const char *key)
{
	struct gd_golive *l = gd_golive_of_key(g, key);
	struct gd_vstate *state = l ? state_in(g, user, l->channel) : NULL, *v;

	if (!l) {
		tell_ended(g, user, key, "stream_ended");
		return;
	}
	if (!state || user == l->owner) {
		tell_ended(g, user, key, "unauthorized");
		return;
	}
	v = gd_golive_lease(l, user);
	if (v) {
		gd_vec_remove(&l->leases, v);
		free(v);
		gd_voice_drop(g->voice, l->server, user, 4014, "Disconnected.");
	} else if (l->leases.n > g->sw.stream_viewers) {
		tell_ended(g, user, key, "stream_full");
		return;
	}
	v = add_lease(l, state);
	if (!v)
		return;
	gd_count(g, user, "golive_watched");
	tell_created(l, v);
	tell_update(l);
}

void gd_golive_delete(struct guildd *g, uint64_t user, const char *key)
{
	struct gd_golive *l = gd_golive_of_key(g, key);
	struct gd_vstate *v = l ? gd_golive_lease(l, user) : NULL;

	if (!v)
		return;
	if (user == l->owner) {
		end_golive(l, "user_requested");
		return;
	}
	end_lease(l, v, "user_requested");
	tell_update(l);
}

void gd_golive_pause(struct guildd *g, uint64_t user, const char *key, bool paused)
{
	struct gd_golive *l = gd_golive_of_key(g, key);

	if (!l || l->owner != user || l->paused == paused)
		return;
	l->paused = paused;
	tell_update(l);
}

void gd_golive_left(struct guildd *g, uint64_t user, uint64_t channel)
{
	for (size_t i = g->golives->all.n; i > 0; i--) {
		struct gd_golive *l = g->golives->all.v[i - 1];
		struct gd_vstate *v = gd_golive_lease(l, user);

		if (!v || l->channel != channel)
			continue;
		if (l->owner == user) {
			end_golive(l, "stream_ended");
		} else {
			end_lease(l, v, "stream_ended");
			tell_update(l);
		}
	}
}

json_t *gd_golives_json(const struct guildd *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->golives->all.n; i++) {
		const struct gd_golive *l = g->golives->all.v[i];
		json_t *o = golive_json(l);

		if (!o)
			continue;
		json_object_set_new(o, "rtc_server_id", gd_id_json(l->server));
		json_object_set_new(o, "user_id", gd_id_json(l->owner));
		json_object_set_new(o, "channel_id", gd_id_json(l->channel));
		json_array_append_new(list, o);
	}
	return list;
}
