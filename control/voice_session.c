#include "control/voice_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/agent/agent.h"
#include "control/discord/gateway.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/discord/sounds.h"
#include "control/discord/voice.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/secure.h"
#include "control/settings/settings.h"
#include "control/voice_session_inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/discord.h"
#include "proto/media.h"

#define SEC UINT64_C(1000000000)
enum { ANSWER_S = 60, GREET_S = 600 };

static void on_fault(enum fault fault, enum fault_is is, void *arg);

/* ---- the room ---- */

static int member_at(const struct voice_session *c, uint64_t user)
{
	for (unsigned i = 0; i < c->n_members; i++)
		if (c->members[i] == user)
			return (int)i;
	return -1;
}

static void member_in(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct voice_session *c = arg;
	bool known = member_at(c, user) >= 0;

	if (known ? !c->crowded : c->n_members == VOICE_SESSION_MEMBERS)
		return;
	if (!known)
		c->members[c->n_members++] = user;
	if (c->agent)
		agent_member(c->agent, user, name, is_bot, true);
}

static void member_out(struct voice_session *c, unsigned i)
{
	uint64_t user = c->members[i];

	c->members[i] = c->members[--c->n_members];
	if (c->agent)
		agent_member(c->agent, user, "", false, false);
}

/* Brings the agent's list of people in line with what Discord told. */
static void sync_members(struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);
	struct guild_voice v;

	/* Somebody was left out then, and may find a place now when told again. */
	c->crowded = c->n_members > ROOM_SPEAKERS;
	for (unsigned i = c->n_members; i-- > 0;)
		if (!guilds_voice(c->conf.guilds, c->guild, c->members[i], &v) ||
		    v.channel != channel)
			member_out(c, i);
	guilds_each(c->conf.guilds, c->guild, channel, member_in, c);
}

/* What it is called. */
static const char *name_of(const struct voice_session *c)
{
	const char *given = c->conf.settings->bot_name;

	return *given ? given : c->conf.bot_name;
}

static void arm(struct voice_session *c);

/* Not at once: the agent that says so goes with the call. */
static void wants_to_leave(void *arg)
{
	struct voice_session *c = arg;

	c->leaves = true;
	arm(c);
}

/* ---- the soundboard ---- */

static void on_sounded(uint64_t ticket, int err, void *arg)
{
	struct voice_session *c = arg;

	if (c->agent)
		agent_sounded(c->agent, (uint32_t)(ticket >> 32), (uint32_t)ticket, err);
}

static struct sounds *sounds_of(struct voice_session *c)
{
	if (!c->sounds &&
	    sounds_alloc(&c->sounds, c->conf.env, c->conf.rest, c->guild, on_sounded, c))
		c->sounds = NULL;
	return c->sounds;
}

static int play_sound(uint32_t turn, uint32_t chunk, const char *ref, void *arg)
{
	struct voice_session *c = arg;

	return sounds_of(c) ? sounds_play(c->sounds, voice_channel(c->voice), ref,
					  (uint64_t)turn << 32 | chunk)
			    : ENOMEM;
}

/* Also of the bot's own sounds comes an event. */
static void heard_sound(struct voice_session *c, uint64_t user, const json_t *d)
{
	const json_t *sound = json_object_get(d, "sound_id");
	uint64_t channel = 0, id = (uint64_t)json_integer_value(sound);
	const char *name = NULL;

	if (json_is_string(sound))
		discord_snowflake(json_string_value(sound), &id);
	discord_snowflake(json_string_value(json_object_get(d, "channel_id")), &channel);
	if (!id || !c->agent || user == guilds_self(c->conf.guilds) || !channel ||
	    channel != voice_channel(c->voice))
		return;
	if (c->sounds)
		name = sounds_name(c->sounds, id);
	log_info("sound_heard", "guild=%llu user=%llu sound=%llu", ID(c->guild), ID(user), ID(id));
	agent_soundboard(c->agent, user, name ? name : "of the soundboard");
}

static void start_agent(struct voice_session *c)
{
	struct agent_conf conf = {.env = c->conf.env,
				  .ws = c->conf.ws,
				  .http = c->conf.http,
				  .call = c->media,
				  .settings = c->conf.settings,
				  .bot_user = guilds_self(c->conf.guilds),
				  .bot_name = name_of(c),
				  .tellh = voice_session_tell_room,
				  .leaveh = wants_to_leave,
				  .soundh = play_sound,
				  .faulth = on_fault,
				  .arg = c};
	const struct media_call_state *last = c->media ? media_call_last(c->media) : NULL;
	uint64_t now = env_now(c->conf.env), channel = voice_channel(c->voice);
	int err;

	if (c->agent || !last || last->phase != MEDIA_PHASE_UP ||
	    !settings_brain_url(c->conf.settings))
		return;
	/* Who comes and goes need not say the same each time. */
	c->quiet = c->adopted || (c->greeted == channel && now < c->greeted_at + GREET_S * SEC);
	err = agent_alloc(&c->agent, &conf);
	if (!c->quiet) {
		c->greeted = channel;
		c->greeted_at = now;
	}
	c->quiet = c->adopted = false;
	if (err) {
		log_warn("agent_failed", "guild=%llu error=\"%s\"", ID(c->guild), strerror(err));
		return;
	}
	c->n_members = 0;
	sync_members(c);
	agent_muted(c->agent, voice_session_unheard(c));
}

/* why: a reason of ROOM_ENDS. */
static void end_room(struct voice_session *c, const char *why)
{
	if (c->agent)
		agent_end(c->agent, why);
	c->agent = agent_free(c->agent);
	c->media = media_call_free(c->media);
	faults_end(&c->faults);
	c->n_members = 0;
	c->up_since = 0;
	c->stage_asked = c->adopted = c->was_up = c->leaves = false;
}

/* ---- a stage: ask to be a speaker, once ---- */

static void ask_to_speak(struct voice_session *c, const struct guild_voice *v)
{
	struct rest_call call = {
		.method = "PATCH", .route = "/guilds/{}/voice-states/@me", .idempotent = true};
	char path[64], major[24], channel[24], when[40];
	time_t now = (time_t)(env_wall_ms(c->conf.env) / 1000);
	struct tm tm;

	if (c->stage_asked || !v->suppress)
		return;
	c->stage_asked = true;
	snprintf(major, sizeof major, "%llu", ID(c->guild));
	snprintf(channel, sizeof channel, "%llu", ID(v->channel));
	snprintf(path, sizeof path, "/guilds/%s/voice-states/@me", major);
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	call.path = path;
	call.major = major;
	if (voice_session_may(c, DISCORD_BIT_MUTE_MEMBERS, false))
		call.body = json_pack("{s:s,s:b}", "channel_id", channel, "suppress", 0);
	else if (voice_session_may(c, DISCORD_BIT_REQUEST_TO_SPEAK, true))
		call.body = json_pack("{s:s,s:s}", "channel_id", channel,
				      "request_to_speak_timestamp", when);
	if (call.body)
		rest_request(c->conf.rest, &call, NULL, NULL);
	json_decref(call.body);
}

/* ---- mediad ---- */

static struct media_want want_of(const struct voice_session *c, uint64_t channel)
{
	struct guild_channel ch = {.bitrate = 64000};

	guilds_channel(c->conf.guilds, c->guild, channel, &ch);
	return (struct media_want){.guild = c->guild,
				   .channel = channel,
				   .bitrate = ch.bitrate,
				   .complexity = (uint8_t)c->conf.settings->complexity,
				   .stage = ch.type == DISCORD_CHANNEL_STAGE,
				   .consent = true,
				   .retired = c->conf.settings->retired_modes};
}

static void arm(struct voice_session *c)
{
	uint64_t at = voice_deadline(c->voice), fault = faults_deadline(&c->faults);

	if (c->cmd_until && c->cmd_until < at)
		at = c->cmd_until;
	if (fault < at)
		at = fault;
	if (c->leaves)
		at = 0;
	if (at == UINT64_MAX)
		tmr_stop(c->tmr);
	else
		tmr_start_at(c->tmr, at);
}

static void on_fault(enum fault fault, enum fault_is is, void *arg)
{
	struct voice_session *c = arg;

	faults_set(&c->faults, fault, is, env_now(c->conf.env));
	voice_session_watch(c);
	arm(c);
}

static void came_up(struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);
	struct words words = {0};

	start_agent(c);
	if (!c->cmd)
		return;
	words_joined(&words, channel);
	if (!guilds_occupants(c->conf.guilds, c->guild, channel))
		words_joined_alone(&words);
	words_joined_say_name(&words, name_of(c));
	words_voice(&words, voice_session_hindrance(c), 0);
	voice_session_answer(c, &words);
	voice_session_told_already(c);
}

static void log_secure(const struct voice_session *c, const struct media_call_secure *m)
{
	char code[48];

	secure_code(m, code, sizeof code);
	log_info("call_secure",
		 "guild=%llu version=%u known=%d ready=%d pending=%d epoch=%llu members=%u "
		 "privacy_code=\"%s\" heal=%s deaf=%u recovers=%u resumes=%u rejoins=%u",
		 ID(c->guild), m->version, m->known, m->ready, m->pending, ID(m->epoch), m->members,
		 code, media_heal_name(m->heal), m->deaf, m->recovers, m->resumes, m->rejoins);
}

static void on_media(struct media_call *media, const struct media_msg *msg, void *arg)
{
	struct voice_session *c = arg;

	if (msg->type == MEDIA_CALL_SECURE) {
		log_secure(c, &msg->call_secure);
		voice_session_watch(c);
		arm(c);
		return;
	}
	if (msg->type != MEDIA_CALL_STATE) {
		if (c->agent)
			agent_media(c->agent, msg);
		return;
	}
	log_info("call_state", "guild=%llu phase=%s reason=%s code=%u gen=%u wants=%d",
		 ID(c->guild), media_phase_name(msg->call_state.phase),
		 media_reason_name(msg->call_state.reason), msg->call_state.code,
		 msg->call_state.gen, msg->call_state.wants_credentials);
	if (c->agent)
		agent_media(c->agent, msg);
	if (msg->call_state.phase == MEDIA_PHASE_UP) {
		/* Of one that is taken over nobody knows since when. */
		if (!c->was_up && !c->adopted)
			c->up_since = env_now(c->conf.env);
		c->was_up = true;
		came_up(c);
	}
	voice_session_watch(c);
	voice_media(c->voice, msg->call_state.phase, msg->call_state.reason,
		    msg->call_state.wants_credentials, env_now(c->conf.env));
	(void)media;
	arm(c);
}

static void open_media(struct voice_session *c, uint64_t channel)
{
	struct media_want want = want_of(c, channel);
	int err;

	if (c->media)
		return;
	err = media_call_open(&c->media, c->conf.media, &want, on_media, c);
	if (err)
		log_warn("call_open", "guild=%llu error=\"%s\"", ID(c->guild), strerror(err));
}

/* ---- what the joining machine wants ---- */

static void send_op4(struct voice_session *c, uint64_t channel)
{
	char guild[24], id[24];
	json_t *d;
	int err;

	snprintf(guild, sizeof guild, "%llu", ID(c->guild));
	snprintf(id, sizeof id, "%llu", ID(channel));
	d = json_pack("{s:s,s:s?,s:b,s:b}", "guild_id", guild, "channel_id", channel ? id : NULL,
		      "self_mute", 0, "self_deaf", 0);
	err = d ? gateway_send(c->conf.gateway, DISCORD_OP_VOICE_STATE_UPDATE, d) : ENOMEM;
	json_decref(d);
	log_info("voice_ask", "guild=%llu channel=%llu err=%d", ID(c->guild), ID(channel), err);
	if (channel)
		open_media(c, channel);
}

static void give_lease(struct voice_session *c, const struct voice_act *act)
{
	struct media_want want = want_of(c, act->channel);
	int err = ENOTCONN;

	log_secret(act->token);
	log_secret(act->session);
	open_media(c, act->channel);
	if (c->media) {
		media_call_set(c->media, &want);
		err = media_call_credentials(c->media, act->session, act->token, act->endpoint,
					     act->channel);
	}
	log_info("voice_lease", "guild=%llu channel=%llu endpoint=%s err=%d", ID(c->guild),
		 ID(act->channel), act->endpoint, err);
	sync_members(c);
	if (err) {
		/* When mediad is back it asks by itself. */
		struct words words = {0};

		words_voice(&words, VOICE_REASON_NO_MEDIAD, 0);
		log_warn("call_without_mediad", "guild=%llu", ID(c->guild));
		voice_session_answer(c, &words);
	}
}

static void over(struct voice_session *c, const struct voice_act *act)
{
	struct words words = {0};

	words_voice(&words, act->why, act->media_reason);
	log_warn("call_over", "guild=%llu why=\"%s\"", ID(c->guild), words.text);
	/* Who was in the call hears of it, unless somebody here has put us out. */
	if (c->was_up && act->type == VOICE_ACT_FAILED && !c->cmd)
		voice_session_tell_room(&words, c);
	voice_session_answer(c, &words);
	end_room(c, act->type == VOICE_ACT_LEFT ? "bot_disconnected" : "connection_lost");
	c->conf.changedh(c->conf.arg);
}

static void on_voice(const struct voice_act *act, void *arg)
{
	struct voice_session *c = arg;

	switch (act->type) {
	case VOICE_ACT_OP4:
		send_op4(c, act->channel);
		break;
	case VOICE_ACT_LEASE:
		give_lease(c, act);
		break;
	case VOICE_ACT_MOVED:
		log_info("call_moved", "guild=%llu channel=%llu", ID(c->guild), ID(act->channel));
		c->stage_asked = false;
		sync_members(c);
		c->conf.changedh(c->conf.arg);
		break;
	case VOICE_ACT_LEFT:
	case VOICE_ACT_FAILED:
		over(c, act);
		break;
	}
}

static enum voice_reason on_predict(uint64_t channel, void *arg)
{
	struct voice_session *c = arg;
	struct guild_channel ch;
	struct guild_voice here;
	uint64_t bits, self = guilds_self(c->conf.guilds);

	if (!guilds_known(c->conf.guilds, c->guild))
		return VOICE_REASON_NONE;
	if (!guilds_channel(c->conf.guilds, c->guild, channel, &ch))
		return VOICE_REASON_NO_SUCH_CHANNEL;
	if (!guilds_permissions(c->conf.guilds, c->guild, channel, self, &bits))
		return VOICE_REASON_NONE;
	if (!(bits & DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL)))
		return VOICE_REASON_NO_VIEW;
	if (!(bits & DISCORD_PERMISSION(DISCORD_BIT_CONNECT)))
		return VOICE_REASON_NO_CONNECT;
	if (guilds_voice(c->conf.guilds, c->guild, self, &here) && here.channel == channel)
		return VOICE_REASON_NONE; /* it has its place already */
	if (ch.user_limit && guilds_occupants(c->conf.guilds, c->guild, channel) >= ch.user_limit &&
	    !(bits & DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS)))
		return VOICE_REASON_CHANNEL_FULL;
	return VOICE_REASON_NONE;
}

/* Where it always has to be, a new session follows. */
static void session_over(struct voice_session *c)
{
	c->leaves = false;
	if (!voice_session_standing(c)) {
		voice_session_leave(c);
		return;
	}
	c->agent = agent_free(c->agent);
	start_agent(c);
	arm(c);
}

static void on_tmr(void *arg)
{
	struct voice_session *c = arg;
	uint64_t now = env_now(c->conf.env);
	struct words words = {0};
	unsigned media_reason;

	if (c->leaves) {
		session_over(c);
		return;
	}
	voice_tick(c->voice, now);
	voice_session_watch(c);
	if (c->cmd_until && now >= c->cmd_until) {
		words_still_joining(&words, voice_channel(c->voice));
		words_voice(&words, voice_why(c->voice, &media_reason), media_reason);
		voice_session_answer(c, &words);
	}
	arm(c);
}

/* ---- from control ---- */

int voice_session_alloc(struct voice_session **out, const struct voice_session_conf *conf, uint64_t guild)
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
	err = voice_alloc(&c->voice, on_voice, on_predict, c);
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
	end_room(c, "shutdown");
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

bool voice_session_standing(const struct voice_session *c)
{
	return voice_standing(c->voice);
}

void voice_session_join(struct voice_session *c, uint64_t channel, bool standing, struct command *cmd)
{
	bool there = voice_session_is_up(c) && voice_state(c->voice) == VOICE_IN &&
		     voice_channel(c->voice) == channel;
	struct words words = {0};
	enum voice_reason why;

	words_asked_elsewhere(&words);
	voice_session_answer(c, &words);
	c->cmd = cmd;
	c->cmd_until = cmd ? env_now(c->conf.env) + ANSWER_S * SEC : 0;
	why = voice_join(c->voice, channel, standing, env_now(c->conf.env));
	if (why) {
		words = (struct words){0};
		words_voice(&words, why, 0);
		log_warn("join_refused", "guild=%llu channel=%llu why=\"%s\"", ID(c->guild),
			 ID(channel), words.text);
		voice_session_answer(c, &words);
	} else if (there) {
		came_up(c);
	} else {
		/* From now on a call that mediad holds here is one that is wanted. */
		open_media(c, channel);
	}
	c->conf.changedh(c->conf.arg);
	arm(c);
}

void voice_session_leave(struct voice_session *c)
{
	struct words words = {0};

	words_asked_to_leave(&words);
	voice_session_answer(c, &words);
	voice_leave(c->voice, env_now(c->conf.env));
	end_room(c, "nl_leave");
	c->conf.changedh(c->conf.arg);
	arm(c);
}

void voice_session_adopt(struct voice_session *c, uint64_t channel, bool standing)
{
	struct guild_voice v = {0};

	guilds_voice(c->conf.guilds, c->guild, guilds_self(c->conf.guilds), &v);
	voice_adopt(c->voice, channel, v.channel, standing, env_now(c->conf.env));
	c->adopted = true;
	open_media(c, channel);
	arm(c);
}

void voice_session_online(struct voice_session *c, bool fresh)
{
	voice_session_see(c, FAULT_DISCORD, false);
	voice_online(c->voice, fresh, env_now(c->conf.env));
	arm(c);
}

void voice_session_mediad(struct voice_session *c, bool there)
{
	c->mediad = there;
	voice_session_watch(c);
	voice_mediad(c->voice, there, env_now(c->conf.env));
	arm(c);
}

void voice_session_offline(struct voice_session *c)
{
	voice_session_see(c, FAULT_DISCORD, true);
	voice_offline(c->voice);
	arm(c);
}

void voice_session_removed(struct voice_session *c)
{
	struct words words = {0};

	voice_offline(c->voice); /* nothing to be said to this server any more */
	voice_leave(c->voice, env_now(c->conf.env));
	words_removed(&words);
	voice_session_answer(c, &words);
	end_room(c, "bot_disconnected");
	c->conf.changedh(c->conf.arg);
	arm(c);
}

static void own_state(struct voice_session *c, const json_t *d, uint64_t now)
{
	const char *session = json_string_value(json_object_get(d, "session_id"));
	struct guild_channel ch = {0};
	struct guild_voice v = {0};
	bool there = guilds_voice(c->conf.guilds, c->guild, guilds_self(c->conf.guilds), &v);

	voice_own_state(c->voice, there ? v.channel : 0, session, now);
	if (there && guilds_channel(c->conf.guilds, c->guild, v.channel, &ch) &&
	    ch.type == DISCORD_CHANNEL_STAGE)
		ask_to_speak(c, &v);
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
			own_state(c, d, now);
		sync_members(c);
		voice_session_watch(c);
	} else if (strcmp(name, "VOICE_CHANNEL_EFFECT_SEND") == 0 &&
		   discord_snowflake(json_string_value(json_object_get(d, "user_id")), &user)) {
		heard_sound(c, user, d);
	} else if (strcmp(name, "CHANNEL_UPDATE") == 0 && c->media) {
		struct media_want want = want_of(c, voice_channel(c->voice));

		if (voice_channel(c->voice) && want.bitrate != media_call_want(c->media)->bitrate)
			media_call_set(c->media, &want);
	} else if (strcmp(name, "GUILD_CREATE") == 0) {
		sync_members(c);
	}
	arm(c);
}

void voice_session_brain_ready(struct voice_session *c, bool moved)
{
	if (moved)
		c->agent = agent_free(c->agent);
	start_agent(c);
}

void voice_session_settings(struct voice_session *c)
{
	if (c->agent)
		agent_settings(c->agent);
}

void voice_session_end(struct voice_session *c)
{
	if (c->agent)
		agent_end(c->agent, "shutdown");
}
