#include "tests/guildd/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const char joined_at[] = "2024-01-01T00:00:00.000000+00:00";

json_t *gd_id_json(uint64_t id)
{
	return gd_u64_json(id);
}

json_t *gd_u64_json(uint64_t v)
{
	return json_sprintf("%" PRIu64, v);
}

uint64_t gd_id_text(const char *s)
{
	uint64_t v = 0;
	size_t n = s ? strlen(s) : 0;

	if (!n || n > 19)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	return v;
}

uint64_t gd_id(const json_t *v)
{
	return gd_id_text(json_string_value(v));
}

json_t *gd_time_json(uint64_t wall_ms)
{
	time_t t = (time_t)(wall_ms / 1000);
	struct tm tm;
	char day[32];

	gmtime_r(&t, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	return json_sprintf("%s.%03u000+00:00", day, (unsigned)(wall_ms % 1000));
}

json_t *gd_user_json(const struct gd_user *u)
{
	json_t *o =
		json_pack("{s:o, s:s, s:s, s:n, s:i, s:o}", "id", gd_id_json(u->id), "username",
			  u->name, "discriminator", "0", "avatar", "public_flags", 0, "global_name",
			  u->global_name[0] ? json_string(u->global_name) : json_null());

	if (o && u->bot)
		json_object_set_new(o, "bot", json_true());
	return o;
}

json_t *gd_member_json(const struct gd_member *m, bool with_user)
{
	json_t *roles = json_array();
	json_t *o;

	for (size_t i = 0; i < m->roles.n; i++)
		json_array_append_new(roles, gd_id_json(((struct gd_role *)m->roles.v[i])->id));
	o = json_pack("{s:o, s:s, s:b, s:b, s:i, s:s?, s:s?, s:n, s:n}", "roles", roles,
		      "joined_at", joined_at, "deaf", m->deaf, "mute", m->mute, "flags", 0, "nick",
		      *m->nick ? m->nick : NULL, "communication_disabled_until",
		      *m->timeout ? m->timeout : NULL, "avatar", "premium_since");
	if (o && with_user)
		json_object_set_new(o, "user", gd_user_json(m->user));
	return o;
}

json_t *gd_role_json(const struct gd_role *r)
{
	json_t *o = json_pack("{s:o, s:s, s:i, s:{s:i, s:n, s:n}, s:b, s:i, s:o, s:b, s:b, s:i}",
			      "id", gd_id_json(r->id), "name", r->name, "color", 0, "colors",
			      "primary_color", 0, "secondary_color", "tertiary_color", "hoist", 0,
			      "position", 0, "permissions", gd_u64_json(r->permissions), "managed",
			      r->bot != 0, "mentionable", 0, "flags", 0);

	if (o && r->bot)
		json_object_set_new(o, "tags", json_pack("{s:o}", "bot_id", gd_id_json(r->bot)));
	return o;
}

/* Of the channel's newest message, also if that is gone by now. */
static json_t *last_message(const struct gd_channel *c)
{
	return c->last_message ? gd_id_json(c->last_message) : json_null();
}

static json_t *thread_json(const struct gd_channel *c)
{
	return json_pack(
		"{s:o, s:i, s:o, s:s, s:o, s:o, s:i, s:o, s:i, s:i, s:i, s:{s:b, s:b, s:i, s:s}}",
		"id", gd_id_json(c->id), "type", c->type, "guild_id", gd_id_json(c->guild), "name",
		c->name, "parent_id", gd_id_json(c->parent), "owner_id", gd_id_json(c->owner),
		"rate_limit_per_user", 0, "last_message_id", last_message(c), "message_count",
		(int)c->messages.n, "member_count", (int)c->n_joined, "flags", 0, "thread_metadata",
		"archived", c->archived, "locked", c->locked, "auto_archive_duration", 1440,
		"archive_timestamp", "2026-01-01T00:00:00.000000+00:00");
}

json_t *gd_threads_json(const struct gd_guild *g, uint64_t user)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->channels.n; i++) {
		const struct gd_channel *c = g->channels.v[i];

		if (gd_channel_is_thread(c) && !c->archived &&
		    gd_permissions(g, user, c) & GD_PERM_VIEW)
			json_array_append_new(list, thread_json(c));
	}
	return list;
}

json_t *gd_channels_json(const struct gd_guild *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->channels.n; i++)
		if (!gd_channel_is_thread(g->channels.v[i]))
			json_array_append_new(list, gd_channel_json(g->channels.v[i]));
	return list;
}

json_t *gd_channel_json(const struct gd_channel *c)
{
	json_t *over = json_array();
	json_t *o;

	if (gd_channel_is_thread(c)) {
		json_decref(over);
		return thread_json(c);
	}
	for (size_t i = 0; i < c->n_over; i++)
		json_array_append_new(over, json_pack("{s:o, s:i, s:o, s:o}", "id",
						      gd_id_json(c->over[i].id), "type",
						      c->over[i].member ? 1 : 0, "allow",
						      gd_u64_json(c->over[i].allow), "deny",
						      gd_u64_json(c->over[i].deny)));
	o = json_pack("{s:o, s:i, s:o, s:s, s:i, s:o, s:b, s:o, s:i, s:o}", "id", gd_id_json(c->id),
		      "type", c->type, "guild_id", gd_id_json(c->guild), "name", c->name,
		      "position", (int)c->position, "permission_overwrites", over, "nsfw", 0,
		      "parent_id", c->category ? gd_id_json(c->category) : json_null(),
		      "rate_limit_per_user", 0, "last_message_id", last_message(c));
	if (o && gd_channel_is_voice(c)) {
		json_object_set_new(o, "bitrate", json_integer(c->bitrate));
		json_object_set_new(o, "user_limit", json_integer(c->user_limit));
		json_object_set_new(o, "rtc_region",
				    c->region[0] ? json_string(c->region) : json_null());
		json_object_set_new(o, "video_quality_mode", json_integer(1));
	} else if (o) {
		json_object_set_new(o, "topic", json_null());
	}
	return o;
}

json_t *gd_vstate_json(const struct gd_guild *g, const struct gd_vstate *v, bool left,
		       bool with_guild)
{
	struct gd_member *m = gd_member_find(g, v->user);
	json_t *o;

	o = json_pack("{s:o, s:o, s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:o}", "channel_id",
		      left ? json_null() : gd_id_json(v->channel), "user_id", gd_id_json(v->user),
		      "session_id", v->session, "deaf", m && m->deaf, "mute", m && m->mute,
		      "self_deaf", v->self_deaf, "self_mute", v->self_mute, "self_video", 0,
		      "suppress", v->suppress, "request_to_speak_timestamp",
		      v->requested_ms ? gd_time_json(v->requested_ms) : json_null());
	/* Only there when it is true, as on the real gateway. */
	if (o && v->self_stream)
		json_object_set_new(o, "self_stream", json_true());
	if (o && with_guild) {
		json_object_set_new(o, "guild_id", gd_id_json(g->id));
		if (m)
			json_object_set_new(o, "member", gd_member_json(m, true));
	}
	return o;
}

json_t *gd_sounds_json(const struct gd_guild *g)
{
	return g->sounds ? json_deep_copy(g->sounds) : json_array();
}

static void guild_extras(json_t *o, const struct gd_guild *g, uint64_t self, bool all_members)
{
	json_t *channels = gd_channels_json(g), *members = json_array(), *states = json_array();

	for (size_t i = 0; i < g->members.n; i++) {
		const struct gd_member *m = g->members.v[i];

		if (all_members || m->user->id == self || gd_vstate_find(g, m->user->id))
			json_array_append_new(members, gd_member_json(m, true));
	}
	for (size_t i = 0; i < g->vstates.n; i++)
		json_array_append_new(states, gd_vstate_json(g, g->vstates.v[i], false, false));
	json_object_set_new(o, "joined_at", json_string(joined_at));
	json_object_set_new(o, "large", json_false());
	json_object_set_new(o, "unavailable", json_false());
	json_object_set_new(o, "member_count", json_integer((json_int_t)g->members.n));
	json_object_set_new(o, "channels", channels);
	json_object_set_new(o, "members", members);
	json_object_set_new(o, "voice_states", states);
	json_object_set_new(o, "threads", gd_threads_json(g, self));
	json_object_set_new(o, "presences", json_array());
	json_object_set_new(o, "stage_instances", json_array());
	json_object_set_new(o, "guild_scheduled_events", json_array());
	json_object_set_new(o, "soundboard_sounds", gd_sounds_json(g));
}

json_t *gd_guild_json(const struct gd_guild *g, bool create, uint64_t self, bool all_members)
{
	static const char *const nulls[] = {"icon",
					    "splash",
					    "discovery_splash",
					    "afk_channel_id",
					    "application_id",
					    "system_channel_id",
					    "rules_channel_id",
					    "vanity_url_code",
					    "description",
					    "banner",
					    "public_updates_channel_id",
					    "safety_alerts_channel_id",
					    "incidents_data"};
	static const char *const zeros[] = {
		"verification_level",	      "default_message_notifications",
		"explicit_content_filter",    "mfa_level",
		"system_channel_flags",	      "premium_tier",
		"premium_subscription_count", "nsfw_level"};
	json_t *roles = json_array(), *o;

	for (size_t i = 0; i < g->roles.n; i++)
		json_array_append_new(roles, gd_role_json(g->roles.v[i]));
	o = json_pack("{s:o, s:s, s:o, s:i, s:o, s:[], s:[], s:[], s:s, s:b}", "id",
		      gd_id_json(g->id), "name", g->name, "owner_id", gd_id_json(g->owner),
		      "afk_timeout", 300, "roles", roles, "emojis", "stickers", "features",
		      "preferred_locale", "en-US", "premium_progress_bar_enabled", 0);
	for (size_t i = 0; o && i < sizeof(nulls) / sizeof(nulls[0]); i++)
		json_object_set_new(o, nulls[i], json_null());
	for (size_t i = 0; o && i < sizeof(zeros) / sizeof(zeros[0]); i++)
		json_object_set_new(o, zeros[i], json_integer(0));
	if (o && create)
		guild_extras(o, g, self, all_members);
	return o;
}

json_t *gd_application_json(const struct gd_bot *b, const struct gd_user *owner)
{
	/* Flags of an unverified application: GATEWAY_PRESENCE_LIMITED, _GUILD_MEMBERS_LIMITED,
	 * _MESSAGE_CONTENT_LIMITED. */
	int flags = (b->privileged & 1 << 8 ? 1 << 13 : 0) |
		    (b->privileged & 1 << 1 ? 1 << 15 : 0) |
		    (b->privileged & 1 << 15 ? 1 << 19 : 0);

	json_t *o = json_pack("{s:o, s:s, s:n, s:s, s:s, s:b, s:b, s:s, s:i, s:n, s:n, s:n, "
			      "s:{s:{}, s:{}}, s:[], s:[], s:o}",
			      "id", gd_id_json(b->user->id), "name", b->user->name, "icon",
			      "description", "", "summary", "", "bot_public", 1,
			      "bot_require_code_grant", 0, "verify_key", "", "flags", flags, "team",
			      "interactions_endpoint_url", "role_connections_verification_url",
			      "integration_types_config", "0", "1", "redirect_uris", "rpc_origins",
			      "bot", gd_user_json(b->user));

	if (o && owner)
		json_object_set_new(o, "owner", gd_user_json(owner));
	if (b->application)
		json_object_update(o, b->application);
	/* The portal alone shows it. */
	json_object_del(o, "client_secret");
	return o;
}

/* Whether allowed_mentions of a message's body let it mention this user; without them it may. */
static bool may_mention(const json_t *body, const struct gd_user *u)
{
	const json_t *allowed = json_object_get(body, "allowed_mentions"), *v;
	size_t i;

	if (!json_is_object(allowed))
		return true;
	json_array_foreach(json_object_get(allowed, "parse"), i, v)
	{
		if (json_is_string(v) && strcmp(json_string_value(v), "users") == 0)
			return true;
	}
	json_array_foreach(json_object_get(allowed, "users"), i, v)
	{
		if (gd_id(v) == u->id)
			return true;
	}
	return false;
}

/* Users that the content names as <@id> or <@!id> and may mention, each once. */
static json_t *mentions(const struct gd_world *w, const char *content, const json_t *body)
{
	json_t *list = json_array();
	uint64_t seen[32];
	size_t n = 0;

	for (const char *p = content; (p = strstr(p, "<@")) != NULL;) {
		char *end;
		uint64_t id;
		struct gd_user *u;
		bool dup = false;

		p += 2 + (p[2] == '!');
		id = strtoull(p, &end, 10);
		u = *end == '>' ? gd_user_find(w, id) : NULL;
		for (size_t i = 0; i < n; i++)
			dup = dup || seen[i] == id;
		if (!u || dup || n == 32 || !may_mention(body, u))
			continue;
		seen[n++] = id;
		json_array_append_new(list, gd_user_json(u));
	}
	return list;
}

static bool may_parse(const json_t *body, const char *what)
{
	const json_t *allowed = json_object_get(body, "allowed_mentions");
	const json_t *parse = json_object_get(allowed, "parse"), *p;
	bool found = !allowed;
	size_t i;

	json_array_foreach(parse, i, p) found = found || strcmp(json_string_value(p), what) == 0;
	return found;
}

/* Roles of the guild that the content names as <@&id>. */
static json_t *role_mentions(const struct gd_world *w, const struct gd_message_in *in)
{
	const struct gd_guild *g = in->guild ? gd_guild_find(w, in->guild) : NULL;
	json_t *list = json_array();

	for (const char *p = in->content; g && (p = strstr(p, "<@&")) != NULL;) {
		char *end;
		uint64_t id;

		p += 3;
		id = strtoull(p, &end, 10);
		if (*end == '>' && gd_role_find(g, id) && may_parse(in->body, "roles"))
			json_array_append_new(list, gd_id_json(id));
	}
	return list;
}

static bool mentions_everyone(const struct gd_message_in *in)
{
	return (strstr(in->content, "@everyone") || strstr(in->content, "@here")) &&
	       may_parse(in->body, "everyone");
}

json_t *gd_message_json(const struct gd_world *w, const struct gd_message_in *in)
{
	static const char *const copied[] = {
		"embeds",      "components",	"nonce", "message_reference",
		"attachments", "sticker_items", "poll",	 "message_snapshots"};
	json_t *o = json_pack("{s:o, s:o, s:o, s:s, s:o, s:n, s:b, s:b, s:o, s:o, s:[], s:[], "
			      "s:[], s:b, s:i, s:i}",
			      "id", gd_id_json(in->id), "channel_id", gd_id_json(in->channel),
			      "author", gd_user_json(in->author), "content", in->content,
			      "timestamp", gd_time_json(in->now_ms), "edited_timestamp", "tts", 0,
			      "mention_everyone", mentions_everyone(in), "mentions",
			      mentions(w, in->content, in->body), "mention_roles",
			      role_mentions(w, in), "attachments", "embeds", "components", "pinned",
			      0, "type", in->type, "flags", (int)in->flags);

	if (!o)
		return NULL;
	for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
		json_t *v = json_object_get(in->body, copied[i]);

		if (v && !json_is_null(v))
			json_object_set(o, copied[i], v);
	}
	if (in->guild)
		json_object_set_new(o, "guild_id", gd_id_json(in->guild));
	if (in->member)
		json_object_set_new(o, "member", gd_member_json(in->member, false));
	if (in->author->bot)
		json_object_set_new(o, "application_id", gd_id_json(in->author->id));
	return o;
}

json_t *gd_message_blank(const json_t *message)
{
	json_t *o = json_copy((json_t *)message);

	if (!o)
		return NULL;
	json_object_set_new(o, "content", json_string(""));
	json_object_set_new(o, "embeds", json_array());
	json_object_set_new(o, "attachments", json_array());
	json_object_set_new(o, "components", json_array());
	json_object_del(o, "poll");
	if (json_object_get(o, "message_snapshots"))
		json_object_set_new(o, "message_snapshots", json_array());
	return o;
}

bool gd_message_mentions(const json_t *message, uint64_t user)
{
	const json_t *list = json_object_get(message, "mentions");

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (gd_id(json_object_get(json_array_get(list, i), "id")) == user)
			return true;
	}
	return false;
}

json_t *gd_message_for(const json_t *message, uint64_t bot)
{
	uint64_t author = gd_id(json_object_get(json_object_get(message, "author"), "id"));
	bool shown = author == bot || gd_message_mentions(message, bot) ||
		     !json_object_get(message, "guild_id");
	json_t *o = shown ? json_copy((json_t *)message) : gd_message_blank(message);
	const json_t *of = json_object_get(message, "referenced_message");

	if (o && json_is_object(of) && json_object_get(message, "guild_id"))
		json_object_set_new(o, "referenced_message", gd_message_for(of, bot));
	return o;
}
