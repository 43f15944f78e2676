/* The soundboard ("Soundboard Resource"): REST routes, and what tests make of it. */
#include "tests/guildd/api_inside.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/history.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/rest_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Some of those that everybody has. */
static const char *const common[] = {"quack",	  "airhorn",  "cricket",
				     "golf clap", "sad horn", "ba dum tss"};
enum { N_COMMON = sizeof(common) / sizeof(common[0]) };

void rest_default_sounds(struct rest_call *c)
{
	json_t *list = json_array();
	char id[8];

	for (unsigned i = 0; i < N_COMMON; i++) {
		snprintf(id, sizeof(id), "%u", i + 1);
		json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:n, s:n, s:b}", "name",
						      common[i], "sound_id", id, "volume", 1.0,
						      "emoji_id", "emoji_name", "available", 1));
	}
	rest_ok(c, list);
}

void rest_guild_sounds(struct rest_call *c)
{
	struct gd_guild *g = rest_guild_of(c, 0);

	if (g)
		rest_ok(c, json_pack("{s:o}", "items", gd_sounds_json(g)));
}

/* A sound of this server; the common ones are of none. */
static bool known(const struct gd_guild *g, uint64_t id)
{
	const json_t *s;
	size_t i;

	if (!g)
		return id >= 1 && id <= N_COMMON;
	json_array_foreach(g->sounds, i, s)
	{
		if (gd_id(json_object_get(s, "sound_id")) == id)
			return true;
	}
	return false;
}

static void tell(struct guildd *g, const struct gd_vstate *v, uint64_t id)
{
	gd_history_add(g->history, "soundboard", v->user, v->channel);
	gd_gateway_event(g, v->guild, GD_INTENT_VOICE_STATES, "VOICE_CHANNEL_EFFECT_SEND",
			 json_pack("{s:o, s:o, s:o, s:o, s:f}", "channel_id",
				   gd_id_json(v->channel), "guild_id", gd_id_json(v->guild),
				   "user_id", gd_id_json(v->user), "sound_id",
				   id <= N_COMMON ? json_integer((json_int_t)id) : gd_id_json(id),
				   "sound_volume", 1.0));
}

/* Snowflakes are strings. */
static bool well_formed(struct rest_call *c)
{
	static const char *const fields[] = {"sound_id", "source_guild_id"};

	for (unsigned i = 0; i < 2; i++) {
		const json_t *v = json_object_get(c->body, fields[i]);

		if ((!v && i > 0) || (json_is_string(v) && gd_id(v)))
			continue;
		rest_bad_field(c, fields[i], "This field is required, and is a snowflake");
		return false;
	}
	return true;
}

void rest_sound_send(struct rest_call *c)
{
	struct gd_channel *ch = rest_channel_of(c, GD_PERM_SPEAK | GD_PERM_SOUNDBOARD);
	struct gd_guild *guild = ch ? gd_guild_find(c->g->world, ch->guild) : NULL;
	uint64_t id = gd_id(json_object_get(c->body, "sound_id"));
	uint64_t source = gd_id(json_object_get(c->body, "source_guild_id"));
	const struct gd_member *m;
	const struct gd_vstate *v;

	if (!ch || !well_formed(c))
		return;
	v = gd_vstate_find(guild, c->bot->user->id);
	m = gd_member_find(guild, c->bot->user->id);
	if (!v || v->channel != ch->id)
		rest_error(c, 400, 40032, "Target user is not connected to voice.");
	else if (v->self_mute || v->self_deaf || v->suppress || m->mute || m->deaf)
		rest_error(c, 400, 50167, "You cannot send voice effects while muted or deafened");
	else if (source && source != guild->id &&
		 !(gd_permissions(guild, c->bot->user->id, ch) & GD_PERM_SOUNDS_OUT))
		rest_error(c, 403, 50013, "Missing Permissions");
	else if (!known(source ? gd_guild_find(c->g->world, source) : guild, id) &&
		 (source || !known(NULL, id)))
		rest_error(c, 404, 10097, "Unknown Sound");
	else {
		tell(c->g, v, id);
		rest_empty(c);
	}
}

static void tell_change(struct guildd *g, const struct gd_guild *guild, const char *event,
			json_t *sound)
{
	gd_gateway_event(g, guild->id, GD_INTENT_EXPRESSIONS, event, sound);
}

void api_sound_add(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	uint64_t id = gd_world_id(c->g->world);
	json_t *sound;

	if (!g)
		return;
	if (!g->sounds)
		g->sounds = json_array();
	sound = json_pack("{s:s, s:o, s:f, s:n, s:n, s:o, s:b}", "name",
			  api_text(c, "name", "sound"), "sound_id", gd_id_json(id), "volume", 1.0,
			  "emoji_id", "emoji_name", "guild_id", gd_id_json(g->id), "available", 1);
	json_array_append(g->sounds, sound);
	tell_change(c->g, g, "GUILD_SOUNDBOARD_SOUND_CREATE", sound);
	api_ok(c, json_pack("{s:o}", "id", gd_id_json(id)));
}

void api_sound_set(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	json_t *sound;
	size_t i;

	if (!g)
		return;
	json_array_foreach(g->sounds, i, sound)
	{
		if (gd_id(json_object_get(sound, "sound_id")) != c->id[1])
			continue;
		json_object_update_existing(sound, (json_t *)(uintptr_t)c->body);
		tell_change(c->g, g, "GUILD_SOUNDBOARD_SOUND_UPDATE", json_incref(sound));
	}
	api_ok(c, NULL);
}

void api_sound_remove(struct api_call *c)
{
	struct gd_guild *g = api_guild(c);
	json_t *sound;
	size_t i;

	if (!g)
		return;
	json_array_foreach(g->sounds, i, sound)
	{
		if (gd_id(json_object_get(sound, "sound_id")) != c->id[1])
			continue;
		json_array_remove(g->sounds, i);
		tell_change(c->g, g, "GUILD_SOUNDBOARD_SOUND_DELETE",
			    json_pack("{s:o, s:o}", "sound_id", gd_id_json(c->id[1]), "guild_id",
				      gd_id_json(g->id)));
		break;
	}
	api_ok(c, NULL);
}

void api_sound(struct api_call *c)
{
	struct gd_vstate *v = api_vstate(c);

	if (!v)
		return;
	tell(c->g, v, api_number(c, "sound_id", 1));
	api_ok(c, NULL);
}
