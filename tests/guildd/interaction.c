/* Interactions: what a user starts, and the answers that an application may give over REST
 * ("Receiving and Responding"). */
#include "tests/guildd/rest_inside.h"

#include "tests/guildd/command_rules.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/messages.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "proto/base/time.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	TYPE_COMMAND = 2,
	TYPE_COMPONENT = 3,
	TYPE_AUTOCOMPLETE = 4,
	TYPE_MODAL = 5,
	ANSWER_MESSAGE = 4,
	ANSWER_DEFER = 5,
	ANSWER_DEFER_UPDATE = 6,
	ANSWER_UPDATE = 7,
	ANSWER_CHOICES = 8,
	ANSWER_MODAL = 9,
	FLAG_EPHEMERAL = 64,
	FLAG_LOADING = 128,
	CONTEXT_BOT_DM = 1,
};

struct interaction {
	uint64_t id, app, channel;
	int type;
	char token[GD_SECRET];
	uint64_t created, answered; /* env time; 0 = not yet */
	int answer;		    /* callback type */
	json_t *callback;	    /* its body */
	json_t *original;	    /* message, NULL before or after deletion */
	json_t *followups;	    /* array of messages */
};

struct interaction *interaction_free(struct interaction *i)
{
	if (!i)
		return NULL;
	json_decref(i->callback);
	json_decref(i->original);
	json_decref(i->followups);
	free(i);
	return NULL;
}

static json_t *resolved(struct guildd *g, struct gd_guild *guild, const json_t *options)
{
	json_t *channels = json_object(), *users = json_object(), *members = json_object();

	for (size_t i = 0; i < json_array_size(options); i++) {
		const json_t *o = json_array_get(options, i);
		const char *value = json_string_value(json_object_get(o, "value"));
		uint64_t id = gd_id_text(value);
		json_int_t type = json_integer_value(json_object_get(o, "type"));
		struct gd_channel *c = type == 7 ? gd_channel_find(g->world, id) : NULL;
		struct gd_user *u = type == 6 ? gd_user_find(g->world, id) : NULL;
		struct gd_member *m = u && guild ? gd_member_find(guild, id) : NULL;

		if (c)
			json_object_set_new(channels, value, gd_channel_json(c));
		if (u)
			json_object_set_new(users, value, gd_user_json(u));
		if (m)
			json_object_set_new(members, value, gd_member_json(m, false));
	}
	return json_pack("{s:o, s:o, s:o}", "channels", channels, "users", users, "members",
			 members);
}

/* Id of the command that a bot registered under this name; 0 when there is none. */
static json_t *command_named(struct gd_guild *guild, const struct gd_bot *bot, const char *name)
{
	char id[24];
	const json_t *lists[2];

	snprintf(id, sizeof(id), "%" PRIu64, bot->user->id);
	lists[0] = guild ? json_object_get(guild->commands, id) : NULL;
	lists[1] = bot->commands;
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; i < json_array_size(lists[k]); i++) {
			json_t *o = json_array_get(lists[k], i);
			const char *n = json_string_value(json_object_get(o, "name"));

			if (n && strcmp(n, name) == 0)
				return o;
		}
	}
	return NULL;
}

/* The part of `data` that tells what a menu was opened on. */
static bool add_target(struct gd_channel *c, struct gd_guild *guild, const json_t *spec,
		       json_int_t type, json_t *data)
{
	uint64_t id = gd_id(json_object_get(spec, "target_id"));
	json_t *message = gd_message_find(c, id, NULL);
	struct gd_member *m = gd_member_find(guild, id);
	json_t *resolved = NULL;
	char key[24];

	snprintf(key, sizeof(key), "%" PRIu64, id);
	if (type == COMMAND_MESSAGE && message)
		resolved = json_pack("{s:{s:O}}", "messages", key, message);
	else if (type == COMMAND_USER && m)
		resolved = json_pack("{s:{s:o}, s:{s:o}}", "users", key, gd_user_json(m->user),
				     "members", key, gd_member_json(m, false));
	if (!resolved)
		return false;
	json_object_set_new(data, "target_id", gd_id_json(id));
	json_object_set_new(data, "resolved", resolved);
	return true;
}

/* Whether the clients offer it in direct messages. */
static bool is_direct(const json_t *command)
{
	const json_t *context;
	size_t i;

	json_array_foreach(json_object_get(command, "contexts"), i, context)
	{
		if (json_integer_value(context) == CONTEXT_BOT_DM)
			return true;
	}
	return false;
}

/* `data` of a command, as Discord's clients let this member use it; a spec with `forged` is
 * whatever it says. NULL when the bot has no such command, or the member cannot use it so. guild:
 * NULL in a direct message. */
static json_t *command_data(struct guildd *g, struct gd_guild *guild, const struct gd_bot *bot,
			    struct gd_channel *c, const json_t *spec)
{
	const char *name = json_string_value(json_object_get(spec, "name"));
	json_t *options = json_object_get(spec, "options");
	json_t *command = name ? command_named(guild, bot, name) : NULL, *o;
	bool forged = json_is_true(json_object_get(spec, "forged"));
	json_int_t type = json_integer_value(json_object_get(command, "type"));

	if (!command || (!forged && !command_options_given(command, options)) ||
	    (guild && !forged &&
	     !command_permits(command,
			      gd_permissions(guild, gd_id(json_object_get(spec, "user_id")), c))) ||
	    (!guild && (!is_direct(command) || type != COMMAND_SLASH)))
		return NULL;
	o = json_pack("{s:O, s:s, s:I, s:o}", "id", json_object_get(command, "id"), "name", name,
		      "type", type, "resolved", resolved(g, guild, options));
	if (o && type != COMMAND_SLASH && !add_target(c, guild, spec, type, o)) {
		json_decref(o);
		return NULL;
	}
	if (o && json_array_size(options))
		json_object_set(o, "options", options);
	if (o && json_object_get(command, "guild_id"))
		json_object_set_new(o, "guild_id", gd_id_json(guild->id));
	return o;
}

/* In a direct message: the user instead of a member, and no server. */
static json_t *direct_event_json(const struct interaction *i, struct gd_channel *c,
				 struct gd_user *user, json_t *data)
{
	json_t *o = json_pack("{s:o, s:o, s:i, s:s, s:i, s:o, s:{s:o, s:i}, s:o, s:o, s:s, s:[], "
			      "s:{s:s}, s:i, s:i}",
			      "id", gd_id_json(i->id), "application_id", gd_id_json(i->app), "type",
			      i->type, "token", i->token, "version", 1, "channel_id",
			      gd_id_json(c->id), "channel", "id", gd_id_json(c->id), "type",
			      GD_CHANNEL_DM, "user", gd_user_json(user), "data", data, "locale",
			      "en-US", "entitlements", "authorizing_integration_owners", "1", "0",
			      "context", CONTEXT_BOT_DM, "attachment_size_limit", 10485760);

	if (o && i->original)
		json_object_set(o, "message", i->original);
	return o;
}

static json_t *event_json(const struct interaction *i, struct gd_guild *guild, struct gd_channel *c,
			  struct gd_member *m, json_t *data)
{
	json_t *member = gd_member_json(m, true), *o;
	char app[24];

	json_object_set_new(member, "permissions",
			    gd_u64_json(gd_permissions(guild, m->user->id, c)));
	snprintf(app, sizeof(app), "%" PRIu64, guild->id);
	o = json_pack("{s:o, s:o, s:i, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:[], "
		      "s:{s:s}, s:i, s:i, s:{s:o, "
		      "s:s, s:[]}}",
		      "id", gd_id_json(i->id), "application_id", gd_id_json(i->app), "type",
		      i->type, "token", i->token, "version", 1, "guild_id", gd_id_json(guild->id),
		      "channel_id", gd_id_json(c->id), "channel", gd_channel_json(c), "member",
		      member, "app_permissions", gd_u64_json(gd_permissions(guild, i->app, c)),
		      "data", data, "locale", "en-US", "guild_locale", "en-US", "entitlements",
		      "authorizing_integration_owners", "0", app, "context", 0,
		      "attachment_size_limit", 10485760, "guild", "id", gd_id_json(guild->id),
		      "locale", "en-US", "features");
	if (o && i->original) /* of a component: the message it belongs to */
		json_object_set(o, "message", i->original);
	return o;
}

/* An ephemeral message of an interaction is in no channel; its user sees it all the same. */
static json_t *ephemeral_message(struct gd_rest *r, uint64_t id)
{
	struct gd_vec *all = rest_interactions(r);

	for (size_t k = 0; k < all->n; k++) {
		const struct interaction *i = all->v[k];

		if (i->original && gd_id(json_object_get(i->original, "id")) == id)
			return i->original;
	}
	return NULL;
}

/* Discord shows the user what the message has, so nothing else can be pressed; but a client that
 * has not seen an edit yet may press what stood there before (stale). */
static bool has_component(const json_t *message, const json_t *data)
{
	const char *id = json_string_value(json_object_get(data, "custom_id"));
	const json_t *row, *x;
	size_t i, k;

	json_array_foreach(json_object_get(message, "components"), i, row)
	{
		json_array_foreach(json_object_get(row, "components"), k, x)
		{
			const char *of = json_string_value(json_object_get(x, "custom_id"));

			if (id && of && strcmp(id, of) == 0)
				return true;
		}
	}
	return false;
}

int gd_interaction_send(struct guildd *g, const json_t *spec, json_t **out)
{
	struct gd_vec *all = rest_interactions(g->rest);
	struct gd_channel *c =
		gd_channel_find(g->world, gd_id(json_object_get(spec, "channel_id")));
	struct gd_guild *guild = c ? gd_guild_find(g->world, c->guild) : NULL;
	uint64_t user = gd_id(json_object_get(spec, "user_id"));
	struct gd_member *m = guild ? gd_member_find(guild, user) : NULL;
	struct gd_user *direct =
		c && !c->guild && c->person == user ? gd_user_find(g->world, user) : NULL;
	const json_t *app = json_object_get(spec, "application_id"),
		     *type = json_object_get(spec, "type");
	struct gd_bot *bot = gd_bot_find(g->world, app ? gd_id(app) : GD_DEFAULT_BOT);
	struct interaction *i = NULL;
	int kind = type ? (int)json_integer_value(type) : TYPE_COMMAND;
	json_t *data, *message = NULL;

	if ((!m && !direct) || !bot)
		return EINVAL;
	if (kind == TYPE_COMPONENT) {
		uint64_t id = gd_id(json_object_get(spec, "message_id"));

		message = gd_message_find(c, id, NULL);
		if (!message)
			message = ephemeral_message(g->rest, id);
		if (!message || (!json_is_true(json_object_get(spec, "stale")) &&
				 !has_component(message, json_object_get(spec, "data"))))
			return ENOENT;
	}
	data = json_object_get(spec, "data") ? json_deep_copy(json_object_get(spec, "data"))
					     : command_data(g, guild, bot, c, spec);
	if (!data)
		return ENOENT;
	i = calloc(1, sizeof(*i));
	if (i)
		i->followups = json_array();
	if (all->n == REST_INTERACTIONS)
		interaction_free(gd_vec_take(all, 0));
	if (!i || !i->followups || gd_vec_add(all, i)) {
		json_decref(data);
		interaction_free(i);
		return ENOMEM;
	}
	i->id = gd_world_id(g->world);
	i->app = bot->user->id;
	i->channel = c->id;
	i->type = kind;
	i->original = json_incref(message);
	i->created = env_now(g->env);
	gd_secret(g, i->token);
	if (!gd_gateway_event_user(g, i->app, "INTERACTION_CREATE",
				   direct ? direct_event_json(i, c, direct, data)
					  : event_json(i, guild, c, m, data)))
		return ENOTCONN;
	*out = json_pack("{s:o, s:s}", "id", gd_id_json(i->id), "token", i->token);
	return *out ? 0 : ENOMEM;
}

json_t *gd_interaction_json(const struct gd_rest *r, uint64_t id)
{
	struct gd_vec *all = rest_interactions((struct gd_rest *)(uintptr_t)r);

	for (size_t k = 0; k < all->n; k++) {
		const struct interaction *i = all->v[k];

		if (i->id != id)
			continue;
		return json_pack("{s:o, s:s, s:i, s:f, s:o, s:o, s:O}", "id", gd_id_json(id),
				 "token", i->token, "answer", i->answer, "answered_ms",
				 i->answered ? (double)(i->answered - i->created) / NS_PER_MS
					     : -1.0,
				 "callback", i->callback ? json_incref(i->callback) : json_null(),
				 "original", i->original ? json_incref(i->original) : json_null(),
				 "followups", i->followups);
	}
	return NULL;
}

static struct interaction *by_token(struct gd_rest *r, uint64_t id, uint64_t app, const char *token)
{
	struct gd_vec *all = rest_interactions(r);

	for (size_t k = 0; k < all->n; k++) {
		struct interaction *i = all->v[k];

		if ((!id || i->id == id) && (!app || i->app == app) && strcmp(i->token, token) == 0)
			return i;
	}
	return NULL;
}

static bool answer_fits(int type, int answer)
{
	switch (answer) {
	case ANSWER_MESSAGE:
	case ANSWER_DEFER:
		return type != TYPE_AUTOCOMPLETE;
	case ANSWER_DEFER_UPDATE:
	case ANSWER_UPDATE:
		return type == TYPE_COMPONENT || type == TYPE_MODAL;
	case ANSWER_CHOICES:
		return type == TYPE_AUTOCOMPLETE;
	case ANSWER_MODAL:
		return type == TYPE_COMMAND || type == TYPE_COMPONENT;
	default:
		return false;
	}
}

/* A message of the application; one that is not ephemeral is everybody's. Caller owns it. */
static json_t *app_message(struct guildd *g, const struct interaction *i, const json_t *data,
			   uint32_t flags)
{
	struct gd_channel *c = gd_channel_find(g->world, i->channel);
	struct gd_user *app = gd_user_find(g->world, i->app);
	const char *content = json_string_value(json_object_get(data, "content"));
	struct gd_message_in in = {.id = gd_world_id(g->world),
				   .channel = i->channel,
				   .now_ms = env_wall_ms(g->env),
				   .author = app,
				   .content = content ? content : "",
				   .type = 20,
				   .flags = flags,
				   .body = data};
	json_t *m = NULL;

	if (!c || !app)
		return NULL;
	if (flags & FLAG_EPHEMERAL)
		return gd_message_json(g->world, &in);
	return gd_message_post(g, c, app, in.content, in.type, flags, data, &m) ? NULL : m;
}

static void original_set(struct interaction *i, json_t *m)
{
	json_decref(i->original);
	i->original = m;
}

static void message_edit(struct guildd *g, json_t *m, const json_t *data)
{
	static const char *const fields[] = {"content", "embeds", "components", "attachments"};
	json_int_t flags = json_integer_value(json_object_get(m, "flags"));

	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
		json_t *v = json_object_get(data, fields[k]);

		if (v && !json_is_null(v))
			json_object_set(m, fields[k], v);
	}
	json_object_set_new(m, "flags", json_integer(flags & ~(json_int_t)FLAG_LOADING));
	json_object_set_new(m, "edited_timestamp", gd_time_json(env_wall_ms(g->env)));
	if (!(flags & FLAG_EPHEMERAL))
		gd_gateway_message(g, "MESSAGE_UPDATE", m);
}

void rest_callback(struct rest_call *c)
{
	struct interaction *i = by_token(c->g->rest, c->id[0], 0, c->cap[1]);
	const char *with = httpd_query(c->http, "with_response");
	const json_t *data = json_object_get(c->body, "data");
	int answer = (int)json_integer_value(json_object_get(c->body, "type"));
	uint32_t flags = (uint32_t)json_integer_value(json_object_get(data, "flags"));
	uint64_t now = env_now(c->g->env);
	json_t *o;

	if (!c->id[0] || !i ||
	    (!i->answered && now - i->created > c->g->sw.callback_ms * NS_PER_MS)) {
		rest_error(c, 404, 10062, "Unknown interaction");
		return;
	}
	if (i->answered) {
		rest_error(c, 400, 40060, "Interaction has already been acknowledged.");
		return;
	}
	if (!answer_fits(i->type, answer)) {
		rest_bad_field(c, "type", "This type cannot answer this interaction");
		return;
	}
	if (answer == ANSWER_CHOICES && !command_choices_fit(json_object_get(data, "choices"))) {
		rest_bad_field(c, "choices", "Must be 25 or fewer, of 1 to 100 characters");
		return;
	}
	if (answer == ANSWER_MESSAGE && !json_string_length(json_object_get(data, "content")) &&
	    !json_array_size(json_object_get(data, "embeds")) &&
	    !json_array_size(json_object_get(data, "components"))) {
		rest_error(c, 400, 50006, "Cannot send an empty message");
		return;
	}
	i->answered = now;
	i->answer = answer;
	i->callback = json_deep_copy(c->body);
	if (answer == ANSWER_MESSAGE)
		original_set(i, app_message(c->g, i, data, flags));
	else if (answer == ANSWER_DEFER)
		original_set(i,
			     app_message(c->g, i, NULL, (flags & FLAG_EPHEMERAL) | FLAG_LOADING));
	else if (answer == ANSWER_UPDATE && i->original)
		message_edit(c->g, i->original, data);
	if (!with || strcmp(with, "true") != 0) {
		rest_empty(c);
		return;
	}
	o = json_pack("{s:{s:o, s:i, s:b, s:b}, s:{s:i}}", "interaction", "id", gd_id_json(i->id),
		      "type", i->type, "response_message_loading", answer == ANSWER_DEFER,
		      "response_message_ephemeral", (flags & FLAG_EPHEMERAL) != 0, "resource",
		      "type", answer);
	if (o && i->original) {
		json_object_set(json_object_get(o, "interaction"), "response_message_id",
				json_object_get(i->original, "id"));
		json_object_set(json_object_get(o, "resource"), "message", i->original);
	}
	rest_ok(c, o);
}

/* The interaction whose webhook this is, answered and not too old; NULL = refused. */
static struct interaction *webhook_of(struct rest_call *c)
{
	struct interaction *i = by_token(c->g->rest, 0, c->id[0], c->cap[1]);

	if (!c->id[0] || !i || !i->answered) {
		rest_error(c, 404, 10015, "Unknown Webhook");
		return NULL;
	}
	if (env_now(c->g->env) - i->created > c->g->sw.token_ms * NS_PER_MS) {
		rest_error(c, 401, 50027, "Invalid Webhook Token");
		return NULL;
	}
	return i;
}

static json_t *webhook_message(struct rest_call *c, struct interaction *i)
{
	if (strcmp(c->cap[2], "@original") == 0) {
		if (i->original)
			return i->original;
	} else if (i->original && gd_id(json_object_get(i->original, "id")) == c->id[2]) {
		return i->original;
	}
	for (size_t k = 0; k < json_array_size(i->followups); k++) {
		json_t *m = json_array_get(i->followups, k);

		if (gd_id(json_object_get(m, "id")) == c->id[2])
			return m;
	}
	rest_error(c, 404, 10008, "Unknown Message");
	return NULL;
}

void rest_webhook_get(struct rest_call *c)
{
	struct interaction *i = webhook_of(c);
	json_t *m = i ? webhook_message(c, i) : NULL;

	if (m)
		rest_ok(c, json_incref(m));
}

void rest_webhook_patch(struct rest_call *c)
{
	struct interaction *i = webhook_of(c);
	json_t *m = i ? webhook_message(c, i) : NULL;

	if (!m || !rest_content_ok(c, true))
		return;
	message_edit(c->g, m, c->body);
	rest_ok(c, json_incref(m));
}

static void forget(struct guildd *g, const struct interaction *i, const json_t *m)
{
	struct gd_channel *ch = gd_channel_find(g->world, i->channel);
	size_t at;

	if (!ch || !gd_message_find(ch, gd_id(json_object_get(m, "id")), &at))
		return;
	gd_message_delete(g, ch, at);
}

void rest_webhook_delete(struct rest_call *c)
{
	struct interaction *i = webhook_of(c);
	json_t *m = i ? webhook_message(c, i) : NULL;

	if (!m)
		return;
	forget(c->g, i, m);
	if (m == i->original) {
		json_decref(i->original);
		i->original = NULL;
	}
	for (size_t k = json_array_size(i->followups); k > 0; k--) {
		if (json_array_get(i->followups, k - 1) == m)
			json_array_remove(i->followups, k - 1);
	}
	rest_empty(c);
}

void rest_followup(struct rest_call *c)
{
	struct interaction *i = webhook_of(c);
	uint32_t flags = (uint32_t)json_integer_value(json_object_get(c->body, "flags"));
	json_t *m;

	if (!i || !rest_content_ok(c, false))
		return;
	m = app_message(c->g, i, c->body, flags);
	if (!m) {
		rest_error(c, 500, 0, "500: Internal Server Error");
		return;
	}
	json_array_append(i->followups, m);
	rest_ok(c, m);
}
