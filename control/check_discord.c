#include "control/check_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/control.h"
#include "control/discord/guilds.h"
#include "control/discord/portal.h"
#include "control/discord/rest.h"
#include "control/configure/environment.h"
#include "control/settings/settings.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { GATEWAY_S = 10, SERVERS_SHOWN = 5, HINT_S = 3 };

int check_request(struct check *c, const char *route, const char *path, rest_h *h)
{
	struct rest_call call = {.method = "GET", .route = route, .path = path, .idempotent = true};

	return rest_request(c->rest, &call, h, c);
}

static const char *describe_failure(int err, int status, const json_t *body)
{
	const char *message = json_string_value(json_object_get(body, "message"));

	if (err == EACCES || status == 401)
		return "the token is not accepted";
	if (err)
		return strerror(err);
	return message ? message : "an unexpected answer";
}

/* Without these permissions the bot can neither receive nor send audio. */
static const unsigned needed[] = {DISCORD_BIT_VIEW_CHANNEL, DISCORD_BIT_CONNECT, DISCORD_BIT_SPEAK};
enum { N_NEEDED = sizeof needed / sizeof needed[0] };

/* A thread is in no list of channels. */
static void on_thread(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	uint64_t guild = 0;
	const char *name;

	if (err == ECANCELED)
		return;
	if (!err && status == 200 &&
	    discord_snowflake(json_string_value(json_object_get(body, "guild_id")), &guild) &&
	    guild == c->conf->guild)
		guilds_event(c->guilds, "THREAD_CREATE", body);
	name = guilds_channel_name(c->guilds, c->conf->guild, c->conf->channel);
	if (*name)
		check_text_permissions(c, name);
	else
		check_say(
			c, CHECK_MISSING, "channel",
			"that server has no channel or thread of this id that the bot may see. In "
			"Discord's developer mode a right click on the channel copies it");
	check_listed_channels(c);
}

/* It is no voice or stage channel. */
static void check_written(struct check *c)
{
	const char *name = guilds_channel_name(c->guilds, c->conf->guild, c->conf->channel);
	char path[64];

	if (*name) {
		check_text_permissions(c, name);
		check_listed_channels(c);
		return;
	}
	snprintf(path, sizeof path, "/channels/%llu", (unsigned long long)c->conf->channel);
	if (check_request(c, "/channels/{}", path, on_thread))
		check_done(c);
}

static void check_permissions(struct check *c)
{
	struct guild_channel ch;
	uint64_t have;

	guilds_event(c->guilds, "GUILD_CREATE", c->guild);
	if (!guilds_channel(c->guilds, c->conf->guild, c->conf->channel, &ch)) {
		check_written(c);
		return;
	}
	if (!guilds_permissions(c->guilds, c->conf->guild, c->conf->channel, c->user, &have)) {
		check_say(c, CHECK_WARNING, "permissions", "could not be worked out");
	} else {
		check_say(c, CHECK_OK, "channel", "%s", ch.name);
		for (size_t i = 0; i < N_NEEDED; i++)
			if (!(have & DISCORD_PERMISSION(needed[i])))
				check_say(c, CHECK_MISSING, "permissions",
					  "the bot may not %s in %s. Allow it in the channel's "
					  "settings in "
					  "Discord",
					  discord_permission_text(needed[i]), ch.name);
			else
				check_say(c, CHECK_OK, "permissions", "%s",
					  discord_permission_text(needed[i]));
		check_voice_chat(c, have, ch.name);
	}
	check_listed_channels(c);
}

static void on_channels(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;

	if (err == ECANCELED)
		return;
	if (err || status != 200) {
		check_say(c, CHECK_WARNING, "channel", "%s", describe_failure(err, status, body));
		check_done(c);
		return;
	}
	json_object_set(c->guild, "channels", (json_t *)body);
	check_permissions(c);
}

static void on_member(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	char path[96];

	if (err == ECANCELED)
		return;
	if (!err && status == 200)
		json_object_set_new(c->guild, "members", json_pack("[O]", (json_t *)body));
	snprintf(path, sizeof path, "/guilds/%llu/channels", (unsigned long long)c->conf->guild);
	if (check_request(c, "/guilds/{}/channels", path, on_channels))
		check_done(c);
}

static void on_guild(int err, int status, const json_t *body, void *arg)
{
	const char *name = json_string_value(json_object_get(body, "name"));
	struct check *c = arg;
	char path[96];

	if (err == ECANCELED)
		return;
	if (err || status != 200) {
		check_say(c, CHECK_MISSING, "server",
			  "--guild: %s. Open the invite link to add the bot there",
			  describe_failure(err, status, body));
		check_done(c);
		return;
	}
	c->guild = json_deep_copy(body);
	check_say(c, CHECK_OK, "server", "%s", name ? name : "?");
	snprintf(path, sizeof path, "/guilds/%llu/members/%llu", (unsigned long long)c->conf->guild,
		 (unsigned long long)c->user);
	if (check_request(c, "/guilds/{}/members/{}", path, on_member))
		check_done(c);
}

/* The permissions that the bot's roles grant in a server. Channels may override them, so a
 * missing one is only a warning. */
static void check_server(struct check *c, const json_t *server)
{
	const char *name = json_string_value(json_object_get(server, "name"));
	const char *text = json_string_value(json_object_get(server, "permissions"));
	uint64_t have;

	check_say(c, CHECK_OK, "server", "%s", name ? name : "?");
	if (!text || !discord_u64(text, &have) ||
	    have & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR))
		return;
	for (size_t i = 0; i < N_NEEDED; i++)
		if (!(have & DISCORD_PERMISSION(needed[i])))
			check_say(c, CHECK_WARNING, "permissions",
				  "in %s the bot's roles do not let it %s. Allow it in the "
				  "server's settings under "
				  "Roles, or open the invite link again",
				  name ? name : "?", discord_permission_text(needed[i]));
}

/* Without --guild: whether the bot is in any server, and with sufficient permissions. */
static void on_servers(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	size_t n = json_array_size(body);

	if (err == ECANCELED)
		return;
	if (err || status != 200)
		check_say(c, CHECK_WARNING, "server", "%s", describe_failure(err, status, body));
	else if (n == 0)
		check_say(c, CHECK_MISSING, "server",
			  "the bot is in no server yet. Open the invite link and choose one");
	for (size_t i = 0; i < n && i < SERVERS_SHOWN; i++)
		check_server(c, json_array_get(body, i));
	if (n > SERVERS_SHOWN)
		check_say(c, CHECK_OK, "server", "and %zu more", n - SERVERS_SHOWN);
	check_listed_channels(c);
}

static void finish_gateway(struct check *c)
{
	char path[64];
	int err;

	tmr_stop(c->tmr);
	c->ws = ws_free(c->ws);
	snprintf(path, sizeof path, "/guilds/%llu", (unsigned long long)c->conf->guild);
	err = c->conf->guild
		      ? check_request(c, "/guilds/{}", path, on_guild)
		      : check_request(c, "/users/@me/guilds", "/users/@me/guilds", on_servers);
	if (err)
		check_done(c);
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct check *c = arg;

	(void)ws;
	(void)code;
	if (ev == WS_OPEN)
		return; /* only a HELLO shows that Discord answers */
	if (ev == WS_TEXT)
		check_say(c, CHECK_OK, "gateway", "answers");
	else
		check_say(c, CHECK_MISSING, "gateway", "the connection failed: %.*s", (int)len,
			  len ? (const char *)data : "");
	finish_gateway(c);
}

static void on_gateway(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	const char *url = json_string_value(json_object_get(body, "url"));
	const json_t *left =
		json_object_get(json_object_get(body, "session_start_limit"), "remaining");
	struct ws_dial dial = {.max_message = 1 << 20};
	char full[320];

	if (err == ECANCELED)
		return;
	if (err || status != 200 || !url) {
		check_say(c, CHECK_MISSING, "gateway", "%s", describe_failure(err, status, body));
		check_done(c);
		return;
	}
	if (json_is_integer(left) && json_integer_value(left) < 10)
		check_say(c, CHECK_WARNING, "sessions",
			  "only %lld more session%s can be started today",
			  (long long)json_integer_value(left),
			  json_integer_value(left) == 1 ? "" : "s");
	snprintf(full, sizeof full, "%s/?v=10&encoding=json", url);
	dial.url = full;
	tmr_start(c->tmr, GATEWAY_S * NS_PER_S);
	if (ws_connect(&c->ws, c->ws_ctx, &dial, on_ws, c)) {
		check_say(c, CHECK_MISSING, "gateway", "%s cannot be used", url);
		finish_gateway(c);
	}
}

static void on_portal(bool missing, const char *what, const char *text, void *arg)
{
	(void)what; /* the text names it */
	check_say(arg, missing ? CHECK_MISSING : CHECK_OK, "developer portal", "%s", text);
}

static void on_application(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	uint32_t all = control_intents(c->settings);
	uint32_t wanted = all & ~(uint32_t)DISCORD_INTENT_MESSAGE_CONTENT;

	if (err == ECANCELED)
		return;
	if (!err && status == 200)
		discord_snowflake(json_string_value(json_object_get(body, "id")), &c->application);
	else
		c->application = c->user; /* the same for every bot made since 2016 */
	/* Of the privileged intent check_text_chat tells. */
	if (!err && status == 200 && !portal_check(body, wanted, on_portal, c) && wanted == all)
		check_say(c, CHECK_OK, "developer portal",
			  "nothing to switch; Parley needs no privileged intent");
	check_text_chat(c, err || status != 200 ? NULL : body);
	check_say(c, CHECK_OK, "invite",
		  "https://discord.com/oauth2/authorize?client_id=%llu&permissions=%llu"
		  "&scope=bot+applications.commands",
		  (unsigned long long)c->application,
		  (unsigned long long)control_permissions(c->settings));
	if (check_request(c, "/gateway/bot", "/gateway/bot", on_gateway))
		check_done(c);
}

static void on_user(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	const char *name = json_string_value(json_object_get(body, "username"));

	if (err == ECANCELED)
		return;
	c->waits = false;
	tmr_stop(c->tmr);
	if (err == EKEYEXPIRED) {
		struct words w = {0};

		words_clock(&w, env_wall_ms(c->env));
		check_say(c, CHECK_MISSING, "clock", "%s", w.text);
		check_done(c);
		return;
	}
	if (err && err != EACCES) {
		check_say(c, CHECK_MISSING, "Discord",
			  "%s cannot be reached: %s. Look at the network and PARLEY_DISCORD_API",
			  c->settings->discord_api,
			  err == EHOSTUNREACH
				  ? "its host name cannot be resolved, or no route leads there"
				  : strerror(err));
		check_done(c);
		return;
	}
	if (err || status != 200) {
		check_say(c, CHECK_MISSING, "token",
			  "%s. Look at DISCORD_TOKEN, or at the file that holds the token; under "
			  "Bot, Reset Token makes a new one",
			  describe_failure(err, status, body));
		check_done(c);
		return;
	}
	discord_snowflake(json_string_value(json_object_get(body, "id")), &c->user);
	guilds_set_self(c->guilds, c->user);
	check_say(c, CHECK_OK, "token", "bot %s", name ? name : "?");
	if (check_request(c, "/applications/@me", "/applications/@me", on_application))
		check_done(c);
}

void check_discord(struct check *c)
{
	char fault[512];

	if (!c->settings->discord_token[0]) {
		environment_secret_fault("DISCORD_TOKEN", c->settings->discord_token_file, fault,
					 sizeof fault);
		check_say(c, CHECK_MISSING, "token",
			  "%s. A bot's token: https://discord.com/developers/applications, New "
			  "Application, "
			  "Bot, Reset Token",
			  fault);
		check_done(c);
	} else if (check_request(c, "/users/@me", "/users/@me", on_user)) {
		check_done(c);
	} else {
		c->waits = true;
		tmr_start(c->tmr, HINT_S * NS_PER_S);
	}
}

bool check_discord_late(struct check *c)
{
	if (c->waits) {
		c->waits = false;
		printf("Discord does not answer yet. Waiting, for half a minute at most.\n");
		fflush(stdout);
		return true;
	}
	if (!c->ws)
		return false;
	check_say(c, CHECK_MISSING, "gateway", "no answer within %d s", GATEWAY_S);
	finish_gateway(c);
	return true;
}
