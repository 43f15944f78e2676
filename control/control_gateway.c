/* Discord's main gateway: finds its address, and passes its events on to the voice sessions. */
#include <errno.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/commands.h"
#include "control/discord/guilds.h"
#include "control/discord/portal.h"
#include "control/discord/rest.h"
#include "control/golive/golive.h"
#include "control/events/events.h"
#include "control/media/media.h"
#include "control/settings/ids.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { CLOSE_DISALLOWED_INTENTS = 4014, APPLICATION_TRIES = 2 /* each for half a minute */ };

static uint64_t parse_id(const json_t *d, const char *name)
{
	uint64_t id = 0;

	discord_snowflake(json_string_value(json_object_get(d, name)), &id);
	return id;
}

/* Otherwise another program with this token answers the commands. */
static bool owns_commands(const struct control *c)
{
	return settings_gateway(c->settings) == SETTINGS_GATEWAY_FULL;
}

static void take_interaction(struct control *c, const json_t *d)
{
	if (owns_commands(c) && !components_interaction(c->components, d, env_wall_ms(c->env)))
		commands_interaction(c->commands, d, env_wall_ms(c->env));
}

static void publish_discord(struct control *c, enum event_type type, uint64_t guilds,
			    const char *text)
{
	struct bus_event ev = {.type = type, .at_ms = env_wall_ms(c->env), .user = c->state.user};

	ev.discord =
		(struct event_discord){.name = c->state.bot_name, .guilds = guilds, .text = text};
	bus_publish(c->bus, &ev);
}

/* The intents of a session that begins now. */
static uint32_t session_intents(const struct control *c)
{
	return c->lacks_content ? c->intents & ~(uint32_t)DISCORD_INTENT_MESSAGE_CONTENT
				: c->intents;
}

static bool session_has_content(const struct control *c)
{
	return session_intents(c) & DISCORD_INTENT_MESSAGE_CONTENT;
}

/* Sessions from now on begin without the texts, which Discord refuses. */
static void lack_content(struct control *c)
{
	c->lacks_content = true;
	log_warn(
		"message_content_missing",
		"text=\"text_chat is all, but the Message Content Intent is not switched on in the "
		"developer portal: the bot reads only messages that mention it and direct "
		"messages\"");
	gateway_set_intents(c->gateway, session_intents(c));
}

/* Which written messages are answered, and where. */
static void tell_text_chat(const struct control *c, struct words *words)
{
	const struct settings *s = c->settings;
	bool some = !settings_ids_empty(s->text_channels);
	bool blocked = !settings_ids_empty(s->text_blocked_channels);

	if (s->unread || !text_session_intents(s))
		return;
	words_ready_text(words,
			 s->text_chat == SETTINGS_TEXT_ALL && !c->lacks_content
				 ? "that address me"
				 : "that mention me or reply to me",
			 some	   ? "the channels of text_channels"
			 : blocked ? "all channels but text_blocked_channels"
				   : "all channels that I may see",
			 settings_ids_empty(s->text_direct_users)
				 ? "everybody who shares a server with me"
				 : "those in text_direct_users");
}

static void take_ready(struct control *c, const json_t *d)
{
	const json_t *user = json_object_get(d, "user");
	const char *global = json_string_value(json_object_get(user, "global_name"));
	const char *name = json_string_value(json_object_get(user, "username"));
	struct words words = {0};

	c->state.user = parse_id(user, "id");
	c->state.application = parse_id(json_object_get(d, "application"), "id");
	utf8_copy(c->state.bot_name, sizeof c->state.bot_name,
		  global && *global ? global
		  : name	    ? name
				    : "Parley");
	guilds_begin(c->guilds, json_object_get(d, "guilds"));
	guilds_set_self(c->guilds, c->state.user);
	text_session_self(c->text, c->state.user, c->state.bot_name);
	control_note_reading(c);
	text_session_online(c->text, json_object_get(d, "guilds"));
	c->state.intents = session_intents(c);
	control_guilds_cleared(c);
	words_ready(&words, c->state.bot_name);
	tell_text_chat(c, &words);
	publish_discord(c, EVENT_READY, json_array_size(json_object_get(d, "guilds")), words.text);
	media_set_user(c->media, c->state.user);
	if (c->state.application && owns_commands(c))
		commands_register(c->commands, c->state.application);
	control_save_soon(c);
}

/* The previous control joined, and was killed before the call was on the disk. */
static void take_up_call(uint64_t guild, uint64_t channel, void *arg)
{
	struct control *c = arg;
	struct voice_session *vs = control_find_voice_session(c, guild);

	if (!vs && (vs = control_open_voice_session(c, guild)))
		voice_session_adopt(vs, channel, false);
}

static void take_resumed(struct control *c)
{
	publish_discord(c, EVENT_RESUMED, guilds_count(c->guilds), "");
	guilds_each_call(c->guilds, take_up_call, c);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_online(c->voice_sessions[i], false);
	control_note_reading(c);
	text_session_online(c->text, NULL);
	commands_resume(c->commands, 0);
	control_save_soon(c);
}

static void take_guild_event(struct control *c, const char *name, const json_t *d)
{
	bool about_guild = strcmp(name, "GUILD_CREATE") == 0 || strcmp(name, "GUILD_DELETE") == 0;
	uint64_t guild = parse_id(d, about_guild ? "id" : "guild_id");
	bool before = guilds_known(c->guilds, guild);
	bool known = guilds_event(c->guilds, name, d);
	struct voice_session *vs = control_find_voice_session(c, guild);

	if (known)
		control_guild_changed(c, guild);
	if (about_guild && known && !before)
		commands_resume(c->commands, guild);
	if (known && strcmp(name, "GUILD_CREATE") == 0)
		text_session_guild(c->text, d);
	if (!vs)
		return;
	if (strcmp(name, "GUILD_DELETE") == 0) {
		if (json_is_true(json_object_get(d, "unavailable")))
			voice_session_offline(vs);
		else
			voice_session_removed(vs);
		return;
	}
	/* After an Identify, and after an outage, GUILD_CREATE says that a server is available. */
	if (strcmp(name, "GUILD_CREATE") == 0 && known && !before)
		voice_session_online(vs, true);
	voice_session_event(vs, name, d);
}

void control_on_gateway_event(const char *name, const json_t *d, void *arg)
{
	struct control *c = arg;

	if (strcmp(name, "READY") == 0)
		take_ready(c, d);
	else if (strcmp(name, "RESUMED") == 0)
		take_resumed(c);
	else if (strcmp(name, "INTERACTION_CREATE") == 0)
		take_interaction(c, d);
	else if (!text_session_event(c->text, name, d))
		take_guild_event(c, name, d);
	control_stop_when_out(c);
	control_save_soon(c); /* the sequence has moved */
}

void control_on_gateway_state(enum gateway_state s, unsigned code, const char *text, void *arg)
{
	struct control *c = arg;

	if (s == GATEWAY_UP) {
		c->was_up = true;
		return;
	}
	if (s == GATEWAY_FATAL && code == CLOSE_DISALLOWED_INTENTS && session_has_content(c)) {
		/* The intent was withdrawn in the portal. Only the texts are missed: not voice. */
		lack_content(c);
		c->resuming = false;
		gateway_again(c->gateway);
		return;
	}
	if (s == GATEWAY_FATAL) {
		struct words words = {0};

		words_discord_refused(&words, text, code);
		control_give_up(c, &words);
		return;
	}
	if (c->was_up)
		for (unsigned i = 0; i < c->n_voice_sessions; i++)
			voice_session_offline(c->voice_sessions[i]);
	text_session_offline(c->text);
	c->was_up = false;
}

/* Once: the clock may be set while the program waits. */
static void tell_clock(struct control *c)
{
	struct words words = {0};

	if (c->clock_told)
		return;
	c->clock_told = true;
	words_clock(&words, env_wall_ms(c->env));
	log_warn("clock_wrong", "text=\"%s\"", words.text);
}

static void give_up_token(struct control *c)
{
	struct words words = {0};

	words_token_refused(&words);
	control_give_up(c, &words);
}

static void take_gateway_address(int err, int status, const json_t *body, void *arg)
{
	struct control *c = arg;
	const char *url = json_string_value(json_object_get(body, "url"));
	const json_t *limit = json_object_get(body, "session_start_limit");
	const json_t *remaining = json_object_get(limit, "remaining");
	json_int_t wait = json_integer_value(json_object_get(limit, "reset_after"));
	bool again = gateway_state(c->gateway) != GATEWAY_IDLE;

	c->finding = false;
	if (err == ECANCELED)
		return;
	if (err == EACCES) {
		give_up_token(c);
		return;
	}
	if (err == EKEYEXPIRED)
		tell_clock(c);
	if (err || status != 200 || !url) {
		log_warn("gateway_not_found", "why=\"%s\" status=%d tries=%u",
			 err ? strerror(err) : "an unexpected answer", status, c->find.tries + 1);
		if (again)
			return; /* asked again at the next failure */
		backoff_wait(&c->find, c->env, c->find_tmr);
		return;
	}
	if (!again && json_is_integer(remaining) && json_integer_value(remaining) < 1 &&
	    !c->resuming) {
		log_warn("gateway_sessions_used_up", "wait_ms=%lld", (long long)wait);
		if (wait <= 0 || wait >= 86400000)
			wait = SESSIONS_USED_UP_MS;
		tmr_start(c->find_tmr, (uint64_t)wait * NS_PER_MS);
		return;
	}
	gateway_start(c->gateway, url, c->resuming ? &c->state.session : NULL);
	if (c->golive)
		golive_start(c->golive, url);
}

/* Without the Message Content Intent Discord refuses an Identify that asks for it. */
static void take_application(int err, int status, const json_t *body, void *arg)
{
	struct control *c = arg;
	bool told;

	c->finding = false;
	if (err == ECANCELED)
		return;
	if (err == EACCES) {
		give_up_token(c);
		return;
	}
	/* Anything else tells nothing of the intent. */
	told = !err && status == 200 && json_is_object(body);
	if (!told && c->find.tries + 1 < APPLICATION_TRIES) {
		log_warn("application_not_found", "why=\"%s\" status=%d tries=%u",
			 err ? strerror(err) : "an unexpected answer", status, c->find.tries + 1);
		backoff_wait(&c->find, c->env, c->find_tmr);
		return;
	}
	/* Voice waits no longer: a session as it was goes on, and Discord refuses a new one if the
	 * intent is off. */
	c->asked_content = true;
	if (told ? !portal_has_intent(body, DISCORD_INTENT_MESSAGE_CONTENT)
		 : c->resuming && c->state.intents != c->intents) {
		lack_content(c);
	} else if (c->resuming && c->state.intents != c->intents) {
		/* The session began without the texts, which only another one is told. */
		memset(&c->state.session, 0, sizeof c->state.session);
		c->resuming = false;
	}
	control_find_gateway(c);
}

static bool ask_content(struct control *c)
{
	const struct rest_call call = {.method = "GET",
				       .route = "/applications/@me",
				       .path = "/applications/@me",
				       .idempotent = true};

	if (c->asked_content || !(c->intents & DISCORD_INTENT_MESSAGE_CONTENT))
		return false;
	c->finding = !rest_request(c->rest, &call, take_application, c);
	if (!c->finding)
		backoff_wait(&c->find, c->env, c->find_tmr);
	return true;
}

void control_find_gateway(void *arg)
{
	struct control *c = arg;
	struct rest_call call = {.method = "GET",
				 .route = "/gateway/bot",
				 .path = "/gateway/bot",
				 .idempotent = true};

	if (c->finding || ask_content(c))
		return;
	c->finding = true;
	if (!rest_request(c->rest, &call, take_gateway_address, c))
		return;
	c->finding = false;
	if (gateway_state(c->gateway) == GATEWAY_IDLE)
		backoff_wait(&c->find, c->env, c->find_tmr);
}
