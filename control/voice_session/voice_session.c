#include "control/voice_session/voice_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/agent/agent.h"
#include "control/discord/gateway.h"
#include "control/discord/guilds.h"
#include "control/discord/now_playing.h"
#include "control/discord/rest.h"
#include "control/discord/sounds.h"
#include "control/discord/voice.h"
#include "control/jukebox/jukebox.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/report/secure.h"
#include "control/report/under_way.h"
#include "control/settings/settings.h"
#include "control/voice_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "proto/media.h"

enum { ANSWER_S = 60, GREET_S = 600 };

void voice_session_arm_timer(struct voice_session *c)
{
	uint64_t at = voice_deadline(c->voice), fault = faults_deadline(&c->faults);

	if (c->cmd_until && c->cmd_until < at)
		at = c->cmd_until;
	if (fault < at)
		at = fault;
	if (c->leaves || c->goes_to)
		at = 0;
	if (at == UINT64_MAX)
		tmr_stop(c->tmr);
	else
		tmr_start_at(c->tmr, at);
}

/* For a standing join, starts a new session; so does a join that began while the room waited for
 * the return of a bot that was disconnected. */
static void renew_or_leave(struct voice_session *c)
{
	int64_t wall = (int64_t)env_wall_ms(c->conf.env);
	uint64_t channel = voice_channel(c->voice);
	bool renews = channel && policy_allows_channel(c->conf.settings, channel) &&
		      (c->thrown_out || (voice_session_standing(c) &&
					 policy_allows_session(c->conf.settings, &c->day, wall)));

	c->leaves = false;
	voice_session_forget_words(c);
	if (!renews) {
		voice_session_leave(c);
		return;
	}
	if (!c->thrown_out)
		policy_count_session(&c->day, wall);
	c->thrown_out = false;
	c->agent = agent_free(c->agent);
	voice_session_start_agent(c);
	voice_session_arm_timer(c);
}

static void on_tmr(void *arg)
{
	struct voice_session *c = arg;
	uint64_t now = env_now(c->conf.env);
	struct words words = {0};
	unsigned media_reason;

	if (c->leaves) {
		renew_or_leave(c);
		return;
	}
	if (c->goes_to) {
		uint64_t channel = c->goes_to;

		c->goes_to = 0;
		voice_session_join(c, channel, voice_session_standing(c), NULL);
		return;
	}
	voice_tick(c->voice, now);
	voice_session_watch(c);
	if (c->cmd_until && now >= c->cmd_until) {
		voice_session_speak(c, &words);
		words_still_joining(&words, voice_channel(c->voice));
		words_voice(&words, voice_why(c->voice, &media_reason), media_reason);
		voice_session_answer(c, &words);
	}
	voice_session_arm_timer(c);
}

/* ---- from control ---- */

void voice_session_inherit(struct voice_session *c, const struct under_way *turns,
			   uint64_t since_ms, const json_t *words)
{
	c->since_ms = since_ms;
	c->words = words;
	c->inherited = under_way_count(turns, c->guild, &c->inherited_speaking);
	c->inherited_tasks = under_way_tasks(turns, c->guild);
}

int voice_session_alloc(struct voice_session **out, const struct voice_session_conf *conf,
			uint64_t guild)
{
	struct voice_session *c;
	int err;

	if (!out || !conf || !guild)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->guild = guild;
	err = voice_alloc(&c->voice, voice_session_act, voice_session_predict, c);
	if (!err)
		err = tmr_alloc(&c->tmr, conf->env, on_tmr, c);
	if (err)
		voice_session_free(c);
	else
		*out = c;
	return err;
}

struct voice_session *voice_session_free(struct voice_session *c)
{
	if (!c)
		return NULL;
	/* The agent borrows the jukebox, whose music plays on for the next control. */
	if (c->agent)
		agent_end(c->agent, "shutdown");
	c->agent = agent_free(c->agent);
	c->shown = now_playing_free(c->shown);
	c->jukebox = jukebox_free(c->jukebox);
	voice_session_end_room(c, "shutdown");
	sounds_free(c->sounds);
	tmr_free(c->tmr);
	voice_free(c->voice);
	free(c);
	return NULL;
}

uint64_t voice_session_guild(const struct voice_session *c)
{
	return c->guild;
}

uint64_t voice_session_channel(const struct voice_session *c)
{
	return voice_channel(c->voice);
}

uint64_t voice_session_talked_in(const struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);

	return channel ? channel : c->talks_in;
}

bool voice_session_standing(const struct voice_session *c)
{
	return voice_standing(c->voice);
}

uint64_t voice_session_since(const struct voice_session *c)
{
	return c->since_ms;
}

enum voice_reason voice_session_join(struct voice_session *c, uint64_t channel, bool standing,
				     struct command *cmd)
{
	bool there = voice_session_is_up(c) && voice_state(c->voice) == VOICE_IN &&
		     voice_channel(c->voice) == channel;
	int64_t wall = (int64_t)env_wall_ms(c->conf.env);
	uint64_t before = voice_channel(c->voice);
	struct words words = {0};
	enum voice_reason why;

	voice_session_speak(c, &words);
	words_asked_elsewhere(&words);
	voice_session_answer(c, &words);
	c->cmd = cmd;
	c->cmd_until = cmd ? env_now(c->conf.env) + ANSWER_S * NS_PER_S : 0;
	why = there || policy_allows_session(c->conf.settings, &c->day, wall)
		      ? voice_join(c->voice, channel, standing, env_now(c->conf.env))
		      : VOICE_REASON_SPENT;
	if (why) {
		struct words log = {0};

		words = (struct words){0};
		voice_session_speak(c, &words);
		words_voice(&words, why, 0);
		words_voice(&log, why, 0);
		log_warn("join_refused", "guild=%llu channel=%llu why=\"%s\"", ID(c->guild),
			 ID(channel), log.text);
		voice_session_answer(c, &words);
		/* Words of that channel are not for the next one. */
		if (!voice_channel(c->voice) && !c->agent)
			voice_session_forget_words(c);
	} else if (there) {
		voice_session_came_up(c);
	} else {
		policy_count_session(&c->day, wall);
		/* A bot that was disconnected is in no channel; its room still waits in the old
		 * one. */
		if (before ? before != channel : c->agent && c->talks_in != channel)
			voice_session_end_conversation(c);
		if (before != channel)
			voice_session_end_outages(c);
		/* From now on a call that mediad holds in this guild is a desired one. */
		voice_session_open_media(c, channel);
	}
	c->conf.changedh(c->conf.arg);
	voice_session_arm_timer(c);
	return why;
}

/* ---- orders ---- */

void voice_session_typed(struct voice_session *c, uint64_t channel, const struct agent_typed *typed)
{
	if (c->agent && voice_session_is_up(c) && voice_session_channel(c) == channel)
		agent_typed(c->agent, typed);
}

void voice_session_screen_share(struct voice_session *c, uint64_t channel, uint64_t user,
				bool shown)
{
	if (c->agent && voice_session_channel(c) == channel)
		agent_screen_share(c->agent, user, shown);
}

void voice_session_stream_unseen(struct voice_session *c, uint64_t channel, uint64_t user,
				 const char *why, bool told)
{
	if (c->agent && voice_session_channel(c) == channel)
		agent_screen_unseen(c->agent, user, why, told);
}

void voice_session_show(struct voice_session *c, uint64_t channel, const struct vision_show *what,
			unsigned over)
{
	if (c->agent && voice_session_channel(c) == channel)
		agent_show(c->agent, what, over);
}

void voice_session_screen_changed(struct voice_session *c, uint64_t channel, uint64_t user,
				  uint32_t share)
{
	if (c->agent && voice_session_channel(c) == channel)
		agent_screen_changed(c->agent, user, share);
}

void voice_session_edited(struct voice_session *c, uint64_t channel, uint64_t message,
			  const char *text)
{
	if (c->agent && voice_session_channel(c) == channel)
		agent_edited(c->agent, message, text);
}

void voice_session_untyped(struct voice_session *c, uint64_t channel, uint64_t message)
{
	if (c->agent && voice_session_channel(c) == channel)
		agent_untyped(c->agent, message);
}

int voice_session_say(struct voice_session *c, const char *text, uint64_t order)
{
	if (!c->agent || !voice_session_is_up(c))
		return ENOTCONN;
	agent_say(c->agent, text, order);
	return 0;
}

int voice_session_ask(struct voice_session *c, uint64_t user, const char *text)
{
	if (!c->agent || !voice_session_is_up(c))
		return ENOTCONN;
	agent_ask(c->agent, user, text);
	return 0;
}

int voice_session_stop(struct voice_session *c)
{
	if (!c->agent)
		return ENOTCONN;
	agent_stop(c->agent);
	return 0;
}

void voice_session_fact_forgotten(struct voice_session *c)
{
	if (c->agent)
		agent_fact_forgotten(c->agent);
}

int voice_session_mute(struct voice_session *c, bool muted)
{
	struct words words = {0};

	if (!c->agent)
		return ENOTCONN;
	if (c->silenced == muted)
		return 0;
	c->silenced = muted;
	agent_muted(c->agent, voice_session_unheard(c));
	if (muted)
		agent_stop(c->agent);
	words_speak(&words, agent_language(c->agent));
	if (muted)
		words_silenced(&words);
	else
		words_unsilenced(&words);
	voice_session_tell_room(&words, c);
	return 0;
}

bool voice_session_muted(const struct voice_session *c)
{
	return c->silenced;
}

void voice_session_leave(struct voice_session *c)
{
	struct words words = {0};

	voice_session_speak(c, &words);
	words_asked_to_leave(&words);
	voice_session_answer(c, &words);
	c->silenced = false;
	voice_leave(c->voice, env_now(c->conf.env));
	voice_session_end_room(c, "nl_leave");
	c->conf.changedh(c->conf.arg);
	voice_session_arm_timer(c);
}

void voice_session_adopt(struct voice_session *c, uint64_t channel, bool standing)
{
	struct guild_voice v = {0};

	guilds_voice(c->conf.guilds, c->guild, guilds_self(c->conf.guilds), &v);
	voice_adopt(c->voice, channel, v.channel, standing, env_now(c->conf.env));
	c->adopted = true;
	c->was_up = v.channel == channel;
	voice_session_open_media(c, channel);
	voice_session_arm_timer(c);
}

void voice_session_online(struct voice_session *c, bool fresh)
{
	voice_session_see(c, FAULT_DISCORD, false);
	voice_online(c->voice, fresh, env_now(c->conf.env));
	voice_session_arm_timer(c);
}

void voice_session_mediad(struct voice_session *c, bool there)
{
	c->mediad = there;
	voice_session_watch(c);
	voice_mediad(c->voice, there, env_now(c->conf.env));
	voice_session_arm_timer(c);
}

void voice_session_offline(struct voice_session *c)
{
	voice_session_see(c, FAULT_DISCORD, true);
	voice_offline(c->voice);
	voice_session_update_call(c);
	voice_session_watch(c);
	voice_session_arm_timer(c);
}

void voice_session_removed(struct voice_session *c)
{
	struct words words = {0};

	voice_offline(c->voice); /* no more messages to this server */
	voice_leave(c->voice, env_now(c->conf.env));
	voice_session_speak(c, &words);
	words_removed(&words);
	voice_session_answer(c, &words);
	voice_session_end_room(c, "bot_disconnected");
	c->conf.changedh(c->conf.arg);
	voice_session_arm_timer(c);
}

static void take_own_state(struct voice_session *c, const json_t *d, uint64_t now)
{
	const char *session = json_string_value(json_object_get(d, "session_id"));
	struct guild_channel ch = {0};
	struct guild_voice v = {0};
	bool there = guilds_voice(c->conf.guilds, c->guild, guilds_self(c->conf.guilds), &v);

	voice_own_state(c->voice, there ? v.channel : 0, session, now);
	if (there && guilds_channel(c->conf.guilds, c->guild, v.channel, &ch) &&
	    ch.type == DISCORD_CHANNEL_STAGE)
		voice_session_ask_to_speak(c, &v);
	if (c->agent)
		agent_muted(c->agent, voice_session_unheard(c));
}

void voice_session_event(struct voice_session *c, const char *name, const json_t *d)
{
	uint64_t user = 0, now = env_now(c->conf.env);

	if (strcmp(name, "VOICE_SERVER_UPDATE") == 0) {
		voice_server(c->voice, json_string_value(json_object_get(d, "token")),
			     json_string_value(json_object_get(d, "endpoint")), now);
	} else if (strcmp(name, "VOICE_STATE_UPDATE") == 0 &&
		   discord_snowflake(json_string_value(json_object_get(d, "user_id")), &user)) {
		if (user == guilds_self(c->conf.guilds))
			take_own_state(c, d, now);
		voice_session_sync_members(c);
		voice_session_watch(c);
	} else if (strcmp(name, "VOICE_CHANNEL_EFFECT_SEND") == 0 &&
		   discord_snowflake(json_string_value(json_object_get(d, "user_id")), &user)) {
		voice_session_take_sound(c, user, d);
	} else if (strcmp(name, "CHANNEL_UPDATE") == 0 && c->media) {
		voice_session_update_call(c);
	} else if (strcmp(name, "GUILD_CREATE") == 0) {
		voice_session_update_call(c);
		voice_session_sync_members(c);
		voice_session_watch(c);
	} else {
		voice_session_sounds_event(c, name, d);
	}
	voice_session_arm_timer(c);
}

void voice_session_embedded(struct voice_session *c, enum embedded_fault fault)
{
	c->embedded_fault = fault;
	voice_session_watch(c);
	voice_session_arm_timer(c);
}

void voice_session_disk(struct voice_session *c, bool full)
{
	if (c->disk_full == full)
		return;
	c->disk_full = full;
	voice_session_watch(c);
	voice_session_arm_timer(c);
}

void voice_session_brain_ready(struct voice_session *c, bool moved)
{
	if (moved)
		c->agent = agent_free(c->agent);
	voice_session_start_agent(c);
}

void voice_session_settings(struct voice_session *c)
{
	voice_session_update_call(c);
	voice_session_apply_consents(c);
	if (c->agent)
		agent_settings(c->agent,
			       policy_allows_channel(c->conf.settings, voice_channel(c->voice)));
	voice_session_renew_members(c);
	voice_session_list_sounds(c);
	if (c->jukebox)
		jukebox_settings(c->jukebox);
	voice_session_check_channel(c);
}

void voice_session_suspend(struct voice_session *c)
{
	if (c->agent)
		agent_suspend(c->agent);
}

void voice_session_end(struct voice_session *c)
{
	if (c->agent)
		agent_end(c->agent, "shutdown");
}
