#include "control/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/voice_session.h"
#include "control/discord/commands.h"
#include "control/discord/gateway.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/embedded.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/status.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

#define MS UINT64_C(1000000)
enum {
	VOICE_SESSIONS_MAX = STATE_CALLS_MAX,
	SAVE_MS = 1000,		/* at most once a second */
	SAVE_ANYWAY_MS = 30000, /* so that a quiet session stays fresh on disk */
	FIND_MIN_MS = 1000,	/* asking for the gateway's address again */
	FIND_MAX_MS = 60000,
	STOP_MS = 300,	     /* for what was said last to get out */
	REJOIN_MS = 3600000, /* wishes older than this are forgotten */
};

struct control {
	struct env *env;
	struct settings *settings;
	struct control_conf conf;
	struct http *http;
	struct ws_ctx *ws;
	struct rest *rest;
	struct guilds *guilds;
	struct gateway *gateway;
	struct commands *commands;
	struct media *media;
	struct embedded *embedded;
	struct tmr *find_tmr, *save_tmr, *stop_tmr;
	struct voice_session *visits[VOICE_SESSIONS_MAX];
	unsigned n_voice_sessions;
	struct state state; /* as it will be written next */
	bool resuming;	    /* started with a session to resume */
	bool was_up;
	bool mediad_up;
	bool save_dirty, guilds_dirty;
	uint64_t saved_at;
	unsigned find_ms;
	struct words failure;
};

uint32_t control_intents(void)
{
	/* None of these is privileged. Commands and voice servers need no intent; voice states do,
	 * our own too. */
	return DISCORD_INTENT_GUILDS | DISCORD_INTENT_GUILD_VOICE_STATES;
}

uint64_t control_permissions(void)
{
	return DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL) |
	       DISCORD_PERMISSION(DISCORD_BIT_CONNECT) | DISCORD_PERMISSION(DISCORD_BIT_SPEAK) |
	       DISCORD_PERMISSION(DISCORD_BIT_SEND_MESSAGES) |
	       DISCORD_PERMISSION(DISCORD_BIT_USE_VAD) |
	       DISCORD_PERMISSION(DISCORD_BIT_REQUEST_TO_SPEAK);
}

/* The first reason is the one that counts; it was just put into `why`. */
static void give_up(struct control *c, const struct words *why)
{
	if (!c->failure.n)
		c->failure = *why;
	env_stop(c->env);
}

/* ---- what is written down ---- */

static void save(struct control *c)
{
	int err = 0;

	if (!c->conf.state_dir)
		return;
	/* Until the gateway was started the session of our forerunner is the one that counts. */
	if (gateway_state(c->gateway) != GATEWAY_IDLE)
		c->state.session = *gateway_session(c->gateway);
	c->state.saved_ms = env_wall_ms(c->env);
	c->state.n_calls = 0;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (voice_session_channel(c->visits[i]))
			c->state.calls[c->state.n_calls++] =
				(struct state_call){.guild = voice_session_guild(c->visits[i]),
						    .channel = voice_session_channel(c->visits[i]),
						    .standing = voice_session_standing(c->visits[i])};
	/* Servers first: replaying an event that is in them already does no harm, missing one
	 * would. */
	if (c->guilds_dirty)
		err = state_save_guilds(c->env, c->conf.state_dir, guilds_snapshot(c->guilds));
	if (!err)
		err = state_save(c->env, c->conf.state_dir, &c->state);
	if (err)
		log_warn("state_not_saved", "dir=%s error=\"%s\"", c->conf.state_dir,
			 strerror(err));
	c->save_dirty = c->guilds_dirty = false;
	c->saved_at = env_now(c->env);
}

static void save_soon(struct control *c)
{
	if (!c->save_dirty)
		tmr_start(c->save_tmr, SAVE_MS * MS);
	c->save_dirty = true;
}

static void on_save(void *arg)
{
	struct control *c = arg;

	if (c->save_dirty || gateway_state(c->gateway) == GATEWAY_UP)
		save(c);
	tmr_start(c->save_tmr, SAVE_ANYWAY_MS * MS);
}

static void on_session(void *arg)
{
	struct control *c = arg;

	save(c);
}

static void on_wishes(void *arg)
{
	struct control *c = arg;

	save_soon(c);
}

/* ---- visits ---- */

static struct voice_session *voice_session_of(struct control *c, uint64_t guild)
{
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (voice_session_guild(c->visits[i]) == guild)
			return c->visits[i];
	return NULL;
}

static struct voice_session *voice_session_make(struct control *c, uint64_t guild)
{
	struct voice_session_conf conf = {.env = c->env,
				  .ws = c->ws,
				  .http = c->http,
				  .rest = c->rest,
				  .gateway = c->gateway,
				  .guilds = c->guilds,
				  .media = c->media,
				  .settings = c->settings,
				  .bot_name = c->state.bot_name,
				  .changedh = on_wishes,
				  .arg = c};
	struct voice_session *visit = voice_session_of(c, guild);

	if (visit)
		return visit;
	/* A call that is out of its channel only keeps a place. */
	for (unsigned i = 0; c->n_voice_sessions == VOICE_SESSIONS_MAX && i < c->n_voice_sessions; i++)
		if (!voice_session_channel(c->visits[i])) {
			voice_session_free(c->visits[i]);
			c->visits[i] = c->visits[--c->n_voice_sessions];
		}
	if (c->n_voice_sessions == VOICE_SESSIONS_MAX || voice_session_alloc(&visit, &conf, guild))
		return NULL;
	voice_session_mediad(visit, c->mediad_up);
	if (gateway_state(c->gateway) == GATEWAY_UP)
		voice_session_online(visit, false);
	return c->visits[c->n_voice_sessions++] = visit;
}

/* ---- commands ---- */

/* Whether whoever asks may see this channel: of one that is hidden nothing is told, and nobody is
 * sent into it. */
static bool may_see(const struct control *c, const struct command *cmd, uint64_t channel)
{
	uint64_t bits;

	return guilds_permissions_as(c->guilds, cmd->guild, channel, cmd->user, cmd->member,
				     &bits) &&
	       bits & DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL);
}

static void do_join(struct control *c, struct command *cmd)
{
	uint64_t channel = cmd->channel;
	struct words words = {0};
	struct guild_voice v;
	struct voice_session *visit;

	if (!channel && guilds_voice(c->guilds, cmd->guild, cmd->user, &v))
		channel = v.channel;
	if (!guilds_known(c->guilds, cmd->guild))
		words_new_here(&words);
	else if (!channel)
		words_which_channel(&words);
	else if (!may_see(c, cmd, channel))
		words_not_yours(&words);
	else if (!(visit = voice_session_make(c, cmd->guild)))
		words_too_many_channels(&words);
	else
		voice_session_join(visit, channel, false, cmd);
	if (words.n)
		command_reply(cmd, &words);
}

static void do_leave(struct control *c, struct command *cmd)
{
	struct voice_session *visit = voice_session_of(c, cmd->guild);
	struct words words = {0};

	if (visit && voice_session_channel(visit) && may_see(c, cmd, voice_session_channel(visit))) {
		voice_session_leave(visit);
		words_left(&words);
	} else {
		words_not_here(&words);
	}
	command_reply(cmd, &words);
}

static void do_status(struct control *c, struct command *cmd)
{
	struct voice_session *visit = voice_session_of(c, cmd->guild);
	struct status status = {.brain_embedded = c->embedded != NULL};
	struct words words = {0};

	media_count(c->media, &status.mediads_there, &status.mediads);
	if (visit)
		voice_session_status(visit, &status);
	if (status.channel && !may_see(c, cmd, status.channel))
		words_not_here(&words);
	else
		status_words(&status, &words);
	command_reply(cmd, &words);
}

static void on_command(struct command *cmd, void *arg)
{
	struct control *c = arg;

	log_info("command", "kind=%d guild=%llu user=%llu", cmd->kind,
		 (unsigned long long)cmd->guild, (unsigned long long)cmd->user);
	switch (cmd->kind) {
	case COMMAND_JOIN:
		do_join(c, cmd);
		break;
	case COMMAND_LEAVE:
		do_leave(c, cmd);
		break;
	case COMMAND_STATUS:
		do_status(c, cmd);
		break;
	}
}

/* ---- the gateway ---- */

static uint64_t id_in(const json_t *d, const char *name)
{
	uint64_t id = 0;

	discord_snowflake(json_string_value(json_object_get(d, name)), &id);
	return id;
}

static void on_ready(struct control *c, const json_t *d)
{
	const json_t *user = json_object_get(d, "user");
	const char *global = json_string_value(json_object_get(user, "global_name"));
	const char *name = json_string_value(json_object_get(user, "username"));
	struct words words = {0};

	c->state.user = id_in(user, "id");
	c->state.application = id_in(json_object_get(d, "application"), "id");
	utf8_copy(c->state.bot_name, sizeof c->state.bot_name,
		  global && *global ? global
		  : name	    ? name
				    : "Parley");
	guilds_clear(c->guilds);
	guilds_set_self(c->guilds, c->state.user);
	c->guilds_dirty = true;
	words_ready(&words, c->state.bot_name);
	log_info("ready", "user=%llu name=\"%s\" guilds=%zu text=\"%s\"",
		 (unsigned long long)c->state.user, c->state.bot_name,
		 json_array_size(json_object_get(d, "guilds")), words.text);
	media_set_user(c->media, c->state.user);
	if (c->state.application)
		commands_register(c->commands, c->state.application);
	save_soon(c);
}

static void on_resumed(struct control *c)
{
	log_info("resumed", "guilds=%u", guilds_count(c->guilds));
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_online(c->visits[i], false);
	save_soon(c);
}

static void on_guild_event(struct control *c, const char *name, const json_t *d)
{
	bool about_guild = strcmp(name, "GUILD_CREATE") == 0 || strcmp(name, "GUILD_DELETE") == 0;
	uint64_t guild = id_in(d, about_guild ? "id" : "guild_id");
	bool before = guilds_known(c->guilds, guild);
	bool known = guilds_event(c->guilds, name, d);
	struct voice_session *visit = voice_session_of(c, guild);

	if (known) {
		c->guilds_dirty = true;
		save_soon(c);
	}
	if (!visit)
		return;
	if (strcmp(name, "GUILD_DELETE") == 0) {
		if (json_is_true(json_object_get(d, "unavailable")))
			voice_session_offline(visit);
		else
			voice_session_removed(visit);
		return;
	}
	/* After an Identify a server is there when its GUILD_CREATE is; also after an outage. */
	if (strcmp(name, "GUILD_CREATE") == 0 && known && !before)
		voice_session_online(visit, true);
	voice_session_event(visit, name, d);
}

static void on_event(const char *name, const json_t *d, void *arg)
{
	struct control *c = arg;

	if (strcmp(name, "READY") == 0)
		on_ready(c, d);
	else if (strcmp(name, "RESUMED") == 0)
		on_resumed(c);
	else if (strcmp(name, "INTERACTION_CREATE") == 0)
		commands_interaction(c->commands, d);
	else
		on_guild_event(c, name, d);
	save_soon(c); /* the sequence has moved */
}

static void on_gateway(enum gateway_state s, unsigned code, const char *text, void *arg)
{
	struct control *c = arg;

	if (s == GATEWAY_UP) {
		c->was_up = true;
		return;
	}
	if (s == GATEWAY_FATAL) {
		struct words words = {0};

		words_discord_refused(&words, text, code);
		give_up(c, &words);
		return;
	}
	if (c->was_up)
		for (unsigned i = 0; i < c->n_voice_sessions; i++)
			voice_session_offline(c->visits[i]);
	c->was_up = false;
}

static void find_later(struct control *c, uint64_t ms)
{
	tmr_start(c->find_tmr, ms * MS);
	c->find_ms = c->find_ms * 2 > FIND_MAX_MS ? FIND_MAX_MS : c->find_ms * 2;
}

static void on_found(int err, int status, const json_t *body, void *arg)
{
	struct control *c = arg;
	const char *url = json_string_value(json_object_get(body, "url"));
	const json_t *limit = json_object_get(body, "session_start_limit");
	const json_t *remaining = json_object_get(limit, "remaining");
	json_int_t wait = json_integer_value(json_object_get(limit, "reset_after"));
	struct words words = {0};

	if (err == ECANCELED)
		return;
	if (err == EACCES) {
		words_token_refused(&words);
		give_up(c, &words);
		return;
	}
	if (err || status != 200 || !url) {
		log_warn("gateway_not_found", "why=\"%s\" status=%d again_ms=%u",
			 err ? strerror(err) : "an unexpected answer", status, c->find_ms);
		find_later(c, c->find_ms);
		return;
	}
	if (json_is_integer(remaining) && json_integer_value(remaining) < 1 && !c->resuming) {
		log_warn("gateway_sessions_used_up", "wait_ms=%lld", (long long)wait);
		find_later(c, wait > 0 && wait < 86400000 ? (uint64_t)wait : FIND_MAX_MS);
		return;
	}
	gateway_start(c->gateway, url, c->resuming ? &c->state.session : NULL);
}

static void on_find(void *arg)
{
	struct control *c = arg;
	struct rest_call call = {.method = "GET",
				 .route = "/gateway/bot",
				 .path = "/gateway/bot",
				 .idempotent = true};

	if (rest_request(c->rest, &call, on_found, c))
		find_later(c, c->find_ms);
}

/* ---- mediad and the brain ---- */

static void on_link(bool up, void *arg)
{
	struct control *c = arg;
	struct words words = {0};

	log_info("mediad_link", "up=%d", up);
	c->mediad_up = up;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_mediad(c->visits[i], up);
	if (!up && media_superseded(c->media)) {
		words_superseded(&words);
		give_up(c, &words);
	}
}

static void on_brain(const char *url, void *arg)
{
	struct control *c = arg;
	const char *before = settings_brain_url(c->settings);
	bool moved = before && strcmp(before, url) != 0;

	settings_set(c->settings, "brain_url", url);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_brain_ready(c->visits[i], moved);
}

/* ---- making ---- */

static void on_stop(void *arg)
{
	struct control *c = arg;

	env_stop(c->env);
}

static void load(struct control *c)
{
	const struct state_kept *kept = c->conf.kept;
	uint64_t wall = env_wall_ms(c->env), old = 0;

	if (kept && kept->session && state_parse(kept->session, &c->state) == 0) {
		old = c->state.epoch;
		c->resuming = state_fresh(&c->state, wall) && kept->guilds &&
			      guilds_restore(c->guilds, kept->guilds) == 0;
		if (wall > c->state.saved_ms + REJOIN_MS)
			c->state.n_calls = 0;
	}
	if (c->resuming)
		guilds_set_self(c->guilds, c->state.user);
	else
		memset(&c->state.session, 0, sizeof c->state.session);
	/* Rises with every start, also when the clock was set back. */
	c->state.epoch = wall > old ? wall : old + 1;
	if (c->conf.state_dir) {
		int err = state_save(c->env, c->conf.state_dir, &c->state);

		if (err)
			log_warn("state_not_saved", "dir=%s error=\"%s\"", c->conf.state_dir,
				 strerror(err));
	}
}

static int make_discord(struct control *c)
{
	struct gateway_conf gateway = {.env = c->env,
				       .ws = c->ws,
				       .token = c->settings->discord_token,
				       .intents = control_intents(),
				       .eventh = on_event,
				       .stateh = on_gateway,
				       .sessionh = on_session,
				       .arg = c};
	int err = rest_alloc(&c->rest, c->env, c->http, c->settings->discord_api,
			     c->settings->discord_token);

	if (!err)
		err = guilds_alloc(&c->guilds);
	if (!err)
		err = gateway_alloc(&c->gateway, &gateway);
	if (!err)
		err = commands_alloc(&c->commands, c->rest, on_command, c);
	return err;
}

static int make_media(struct control *c)
{
	struct media_conf media = {.socks = c->conf.socks,
				   .spawn = c->conf.spawn,
				   .ca_file = c->conf.ca_file,
				   .run_dir = c->conf.run_dir,
				   .epoch = c->state.epoch,
				   .linkh = on_link,
				   .arg = c};

	return media_alloc(&c->media, c->env, &media);
}

int control_alloc(struct control **out, struct env *env, struct settings *settings,
		  const struct control_conf *conf)
{
	static const char agent[] =
		"DiscordBot (https://github.com/parley-voice/parley, " PARLEY_VERSION ")";
	struct control *c;
	int err;

	if (!out || !env || !settings || !conf)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->env = env;
	c->settings = settings;
	c->conf = *conf;
	c->find_ms = FIND_MIN_MS;
	err = http_alloc(&c->http, env, conf->ca_file, agent);
	if (!err)
		err = ws_ctx_alloc(&c->ws, env, conf->ca_file);
	if (!err)
		err = make_discord(c);
	if (err)
		goto out;
	load(c);
	err = make_media(c);
	if (!err)
		err = tmr_alloc(&c->find_tmr, env, on_find, c);
	if (!err)
		err = tmr_alloc(&c->save_tmr, env, on_save, c);
	if (!err)
		err = tmr_alloc(&c->stop_tmr, env, on_stop, c);
	if (!err && !settings_brain_url(settings))
		err = embedded_alloc(&c->embedded, env, on_brain, c);
out:
	if (err)
		control_free(c);
	else
		*out = c;
	return err;
}

struct control *control_free(struct control *c)
{
	if (!c)
		return NULL;
	if (c->gateway && c->save_dirty)
		save(c);
	if (c->media && !c->conf.spawn)
		media_disconnect(c->media); /* also when it ends without having been stopped */
	while (c->n_voice_sessions)
		voice_session_free(c->visits[--c->n_voice_sessions]);
	embedded_free(c->embedded);
	media_free(c->media);
	rest_free(c->rest); /* before commands, whose answers it may still hold */
	commands_free(c->commands);
	gateway_free(c->gateway);
	guilds_free(c->guilds);
	tmr_free(c->find_tmr);
	tmr_free(c->save_tmr);
	tmr_free(c->stop_tmr);
	ws_ctx_free(c->ws);
	http_free(c->http);
	free(c);
	return NULL;
}

void control_start(struct control *c)
{
	struct state_call calls[STATE_CALLS_MAX];
	unsigned n = c->state.n_calls;
	struct voice_session *visit;

	memcpy(calls, c->state.calls, sizeof calls);
	/* Wishes first, then mediad: a call it tells that nobody wants would be closed. */
	for (unsigned i = 0; i < n; i++) {
		visit = voice_session_make(c, calls[i].guild);
		if (visit && c->resuming)
			voice_session_adopt(visit, calls[i].channel, calls[i].standing);
		else if (visit)
			voice_session_join(visit, calls[i].channel, calls[i].standing, NULL);
	}
	if (c->conf.guild && c->conf.channel) {
		visit = voice_session_make(c, c->conf.guild);
		if (visit && voice_session_channel(visit) != c->conf.channel)
			voice_session_join(visit, c->conf.channel, true, NULL);
	}
	if (c->resuming)
		media_set_user(c->media, c->state.user);
	tmr_start(c->save_tmr, SAVE_ANYWAY_MS * MS);
	on_find(c);
}

void control_stop(struct control *c)
{
	if (c->conf.spawn) {
		/* Nobody will hold these calls when our mediad goes with us. */
		for (unsigned i = 0; i < c->n_voice_sessions; i++)
			voice_session_leave(c->visits[i]);
		tmr_start(c->stop_tmr, STOP_MS * MS);
	} else {
		save(c);
		/* What goes on in mediad is not told that the rooms here end. */
		media_disconnect(c->media);
		for (unsigned i = 0; i < c->n_voice_sessions; i++)
			voice_session_end(c->visits[i]);
		env_stop(c->env);
	}
}

/* Whether anything changed for calls that go on. */
static bool take_setting(struct control *c, const char *name, const char *value)
{
	enum settings_when when = settings_when(name);
	int err = when == SETTINGS_NEXT_START ? 0 : settings_set(c->settings, name, value);

	if (err)
		log_warn("setting_refused", "name=%s error=\"%s\"", name, strerror(err));
	else
		log_info("setting_changed", "name=%s heeded=\"%s\"", name,
			 when == SETTINGS_AT_ONCE     ? "at once"
			 : when == SETTINGS_NEXT_CALL ? "by the next call"
						      : "at the next start");
	return !err && when == SETTINGS_AT_ONCE;
}

int control_settings(struct control *c, const uint8_t *json, size_t len)
{
	json_t *all = json_loadb((const char *)json, len, 0, NULL), *value;
	const char *name;
	bool any = false;

	if (!json_is_object(all)) {
		json_decref(all);
		return EBADMSG;
	}
	json_object_foreach(all, name, value) any =
		(json_is_string(value) && take_setting(c, name, json_string_value(value))) || any;
	json_decref(all);
	for (unsigned i = 0; any && i < c->n_voice_sessions; i++)
		voice_session_settings(c->visits[i]);
	return 0;
}

void control_input(uint8_t kind, const uint8_t *data, size_t len, void *c)
{
	if (kind == CONTROL_IN_START)
		control_start(c);
	else if (kind == CONTROL_IN_STOP)
		control_stop(c);
	else if (kind == CONTROL_IN_SETTINGS && control_settings(c, data, len))
		log_warn("settings_malformed", "bytes=%zu", len);
}

const struct words *control_failure(const struct control *c)
{
	return &c->failure;
}
