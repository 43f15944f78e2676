/* Joins the channel of a voice session: performs the joining machine's acts towards Discord and
 * mediad, and handles the reports of the call. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "control/agent/agent.h"
#include "control/consent/consent.h"
#include "control/discord/gateway.h"
#include "control/discord/guilds.h"
#include "control/events/events.h"
#include "control/jukebox/jukebox.h"
#include "control/discord/rest.h"
#include "control/discord/voice.h"
#include "control/media/media.h"
#include "control/metrics/counters.h"
#include "control/metrics/metrics.h"
#include "control/report/secure.h"
#include "control/settings/settings.h"
#include "control/voice_session/inside.h"
#include "control/voice_session/encrypted_channels.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "proto/media.h"

/* Lines of the log about encryption, for each call: so many at once, then one a second. */
enum { SECURE_BURST = 60 };

void voice_session_ask_to_speak(struct voice_session *c, const struct guild_voice *v)
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

/* A call is under way there as that of a stage. */
static bool is_stage_call(const struct voice_session *c, uint64_t channel)
{
	return c->media && c->leased_channel == channel && media_call_want(c->media)->stage;
}

static bool is_required(const struct voice_session *c, uint64_t channel)
{
	return encrypted_channels_require(c->conf.encrypted, c->guild, channel);
}

/* The list need not have it: that of a strict server has no channels. */
static bool was_encrypted(const struct voice_session *c, uint64_t channel)
{
	return (channel && c->encrypted_channel == channel) ||
	       encrypted_channels_has(c->conf.encrypted, c->guild, channel);
}

/* Discord encrypts no stage, so mediad does not apply e2ee there. A channel that has, or may have,
 * been encrypted is none, whatever Discord says now. What calls in other channels did ends no stage
 * that is under way. */
bool voice_session_is_stage(const struct voice_session *c, uint64_t channel)
{
	struct guild_channel ch = {0};

	guilds_channel(c->conf.guilds, c->guild, channel, &ch);
	return ch.type == DISCORD_CHANNEL_STAGE &&
	       (!is_required(c, channel) ||
		(is_stage_call(c, channel) && !was_encrypted(c, channel)));
}

/* Maps the setting e2ee to the call's policy. */
static enum media_e2ee wanted_e2ee(const struct voice_session *c, uint64_t channel)
{
	if (c->conf.settings->e2ee == SETTINGS_E2EE_PREFER)
		return MEDIA_E2EE_PREFER;
	return is_required(c, channel) && !voice_session_is_stage(c, channel) ? MEDIA_E2EE_ALWAYS
									      : MEDIA_E2EE_REQUIRE;
}

/* Of its own call mediad remembers that it was encrypted; a stream's call is new to mediad. The
 * list need not have the channel: while the operator preferred, nothing was added. */
unsigned voice_session_stream_e2ee(const struct voice_session *c, uint64_t channel)
{
	const struct media_call_secure *m =
		c->media && c->leased_channel == channel ? media_call_secured(c->media) : NULL;
	enum media_e2ee wanted = wanted_e2ee(c, channel);

	return wanted == MEDIA_E2EE_REQUIRE && m && m->known && m->version ? MEDIA_E2EE_ALWAYS
									   : wanted;
}

/* A new default consent must not count for a moment for the members who are here: somebody may have
 * refused, and an outage of the server does not make those unheard who were heard. */
static void set_media(struct voice_session *c, const struct media_want *want)
{
	if (want->consent != media_call_want(c->media)->consent)
		voice_session_tell_consents(c);
	media_call_set(c->media, want);
}

void voice_session_set_call(struct voice_session *c, uint64_t channel)
{
	struct media_want want = voice_session_wanted_call(c, channel);

	set_media(c, &want);
}

void voice_session_update_call(struct voice_session *c)
{
	struct media_want want;

	if (!c->media || !voice_channel(c->voice))
		return;
	want = voice_session_wanted_call(c, voice_channel(c->voice));
	if (want.bitrate != media_call_want(c->media)->bitrate ||
	    want.consent != media_call_want(c->media)->consent ||
	    want.e2ee != media_call_want(c->media)->e2ee ||
	    want.stage != media_call_want(c->media)->stage)
		set_media(c, &want);
}

/* In doubt it is. */
static bool is_there(uint64_t guild, uint64_t channel, void *arg)
{
	const struct guilds *g = arg;
	struct guild_channel ch;

	return !guilds_known(g, guild) || guilds_channel(g, guild, channel, &ch);
}

/* Servers whose members make a channel for each talk have deleted nearly all that they have in the
 * list, and Discord gives no id twice. */
static bool remember_encrypted(struct voice_session *c, uint64_t channel)
{
	struct encrypted_channels *e = c->conf.encrypted;
	uint64_t strict;
	bool dropped = !encrypted_channels_has(e, c->guild, channel) &&
		       !encrypted_channels_has(e, c->guild, 0) &&
		       encrypted_channels_drop_gone(e, c->guild, is_there, c->conf.guilds);
	bool added = encrypted_channels_add(e, c->guild, channel, &strict) || dropped;

	if (strict)
		log_warn("encrypted_channels_full", "guild=%llu channels=%u", ID(strict), e->n);
	return added;
}

/* Remembers the channel of an encrypted call. An operator who prefers has allowed clear calls
 * there; a server all of whose channels count stays as it is, because nobody meant it alone. */
static void note_encryption(struct voice_session *c, const struct media_call_secure *m)
{
	uint64_t channel = c->leased_channel;
	bool prefers = c->conf.settings->e2ee == SETTINGS_E2EE_PREFER;

	if (m->version && m->ready && !c->has_key)
		counter_add(c->conf.counters, COUNTER_CALLS_ENCRYPTED);
	c->has_key = m->version && m->ready;
	if (prefers)
		c->encrypted_channel = 0;
	else if (m->known && m->version)
		c->encrypted_channel = channel;
	if (prefers ? encrypted_channels_remove(c->conf.encrypted, c->guild, channel)
		    : channel && m->known && m->version && remember_encrypted(c, channel))
		c->conf.changedh(c->conf.arg);
	voice_session_update_call(c);
}

/* While Discord does not tell who comes to the channel, one of them may have refused. */
static bool default_consent(const struct voice_session *c)
{
	enum consent setting = (enum consent)c->conf.settings->consent;

	return guilds_known(c->conf.guilds, c->guild) &&
	       consent_default(c->conf.consents, setting) != CONSENT_NEITHER;
}

struct media_want voice_session_wanted_call(const struct voice_session *c, uint64_t channel)
{
	struct guild_channel ch = {.bitrate = 64000};

	guilds_channel(c->conf.guilds, c->guild, channel, &ch);
	return (struct media_want){.guild = c->guild,
				   .channel = channel,
				   .bitrate = ch.bitrate,
				   .complexity = (uint8_t)c->conf.settings->complexity,
				   .stage = voice_session_is_stage(c, channel),
				   .e2ee = (uint8_t)wanted_e2ee(c, channel),
				   .consent = default_consent(c),
				   .retired = c->conf.settings->retired_modes};
}

/* An answer of the control before this one plays, or is over: the room listens for speech over it
 * as long as it lasts. In another channel it has no listener who asked a question. */
static void note_inherited_speech(struct voice_session *c, const struct media_msg *msg)
{
	bool plays = msg->type == MEDIA_SAY_STATE;

	if (plays && c->went_on) {
		media_call_stop_inherited(c->media);
		return;
	}
	if (plays)
		c->inherited_answer = msg->say_state.ended ? ANSWER_PLAYS : ANSWER_CUT;
	else if (c->inherited_answer == ANSWER_UNKNOWN || c->inherited_answer == ANSWER_PLAYED)
		/* Ends come oldest first, so the last one counts. */
		c->inherited_answer =
			msg->type == MEDIA_SAY_DRAINED ? ANSWER_PLAYED : ANSWER_UNKNOWN;
	plays = media_call_plays_inherited(c->media);
	c->inherited_plays = plays && !c->agent;
	if (c->agent)
		agent_inherited(c->agent, plays);
}

/* A question that nobody answers any more is not passed over in silence. */
static void tell_lost_answers(struct voice_session *c)
{
	bool whole = c->inherited_answer == ANSWER_PLAYS ||
		     (c->inherited_answer == ANSWER_PLAYED && c->inherited_speaking);
	unsigned lost = c->inherited - (c->inherited && whole ? 1 : 0);

	if (c->inherited)
		log_info("turns_inherited", "guild=%llu turns=%u speaking=%u whole=%d lost=%u",
			 ID(c->guild), c->inherited, c->inherited_speaking, whole, lost);
	if (c->inherited_tasks) {
		log_info("tasks_inherited", "guild=%llu tasks=%u", ID(c->guild),
			 c->inherited_tasks);
		faults_set(&c->faults, FAULT_TASK, FAULT_IS_ONCE, env_now(c->conf.env));
	}
	c->inherited = c->inherited_tasks = 0;
	if (lost)
		faults_set(&c->faults, FAULT_RESTART, FAULT_IS_ONCE, env_now(c->conf.env));
}

void voice_session_came_up(struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);
	struct words words = {0};

	voice_session_start_agent(c);
	voice_session_check_channel(c);
	c->adopted = c->thrown_out = false;
	if (!c->cmd)
		return;
	voice_session_speak(c, &words);
	words_joined(&words, channel);
	if (!guilds_occupants(c->conf.guilds, c->guild, channel))
		words_joined_alone(&words);
	words_joined_say_name(&words, voice_session_bot_name(c));
	words_voice(&words, voice_session_hindrance(c), 0);
	voice_session_answer(c, &words);
	voice_session_told_already(c);
}

static void log_secure(struct voice_session *c, const struct media_call_secure *m)
{
	char code[48];

	/* A voice server can cause as many as it likes. */
	if (!rate_limit_take(&c->secure_lines, SECURE_BURST, NS_PER_S, env_now(c->conf.env)))
		return;
	secure_code(m, code, sizeof code);
	log_info("call_secure",
		 "guild=%llu version=%u known=%d ready=%d pending=%d epoch=%llu members=%u "
		 "privacy_code=\"%s\" heal=%s undecryptable=%u recovers=%u resumes=%u rejoins=%u",
		 ID(c->guild), m->version, m->known, m->ready, m->pending, ID(m->epoch), m->members,
		 code, media_heal_name(m->heal), m->undecryptable, m->recovers, m->resumes,
		 m->rejoins);
}

static void publish_call_state(struct voice_session *c, const struct media_call_state *s)
{
	struct bus_event ev = {
		.type = EVENT_CALL_STATE, .at_ms = env_wall_ms(c->conf.env), .guild = c->guild};

	ev.call = (struct event_call){.phase = media_phase_name(s->phase),
				      .reason = media_reason_name(s->reason),
				      .code = s->code,
				      .gen = s->gen,
				      .wants = s->wants_credentials};
	bus_publish(c->conf.bus, &ev);
}

/* Of a session that this control has not leased only mediad knows the channel. */
static void note_session_channel(struct voice_session *c, const struct media_call *media)
{
	const struct media_call_state *last = media_call_last(media);

	if (!c->leased_channel && last)
		c->leased_channel = last->channel;
}

static void on_media(struct media_call *media, const struct media_msg *msg, void *arg)
{
	struct voice_session *c = arg;

	note_session_channel(c, media);
	if (msg->type == MEDIA_CALL_SECURE) {
		log_secure(c, &msg->call_secure);
		note_encryption(c, &msg->call_secure);
		voice_session_watch(c);
		voice_session_arm_timer(c);
		return;
	}
	if (msg->type == MEDIA_FAULT) {
		c->conf.changedh(c->conf.arg);
		voice_session_watch(c);
		voice_session_arm_timer(c);
		return;
	}
	if (msg->type == MEDIA_SAY_STATE || msg->type == MEDIA_SAY_DRAINED ||
	    msg->type == MEDIA_SAY_STOPPED) {
		note_inherited_speech(c, msg);
		return;
	}
	if (msg->type == MEDIA_MUSIC_ANALYSIS) {
		if (c->conf.analysish)
			c->conf.analysish(c->guild, &msg->music_analysis, c->conf.arg);
		return;
	}
	if (msg->type == MEDIA_HEARD)
		counter_add(c->conf.counters, COUNTER_FRAMES_HEARD);
	else if (c->conf.metrics)
		metrics_take_media(c->conf.metrics, c->guild, msg);
	if (c->jukebox)
		jukebox_media(c->jukebox, msg);
	if (msg->type != MEDIA_CALL_STATE) {
		if (c->agent)
			agent_media(c->agent, msg);
		return;
	}
	publish_call_state(c, &msg->call_state);
	voice_session_tell_agent(c, msg);
	if (msg->call_state.phase == MEDIA_PHASE_UP) {
		/* Nothing tells since when a call that was taken over has been up. */
		if (!c->was_up && !c->adopted)
			c->up_since = env_now(c->conf.env);
		c->was_up = true;
		tell_lost_answers(c);
		voice_session_came_up(c);
	}
	voice_session_watch(c);
	voice_media(c->voice, msg->call_state.phase, msg->call_state.reason,
		    msg->call_state.wants_credentials, env_now(c->conf.env));
	voice_session_arm_timer(c);
}

void voice_session_open_media(struct voice_session *c, uint64_t channel)
{
	struct media_want want = voice_session_wanted_call(c, channel);
	int err;

	if (c->media) {
		voice_session_enter_music(c);
		return;
	}
	err = media_call_open(&c->media, c->conf.media, &want, on_media, c);
	if (!err)
		media_call_watch_music(c->media, c->music_watched);
	if (!err)
		voice_session_apply_consents(c);
	if (!err)
		voice_session_enter_music(c);
	if (err)
		log_warn("call_open", "guild=%llu error=\"%s\"", ID(c->guild), strerror(err));
}

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
		voice_session_open_media(c, channel);
}

static void give_lease(struct voice_session *c, const struct voice_act *act)
{
	int err = ENOTCONN;

	log_lease(act->token);
	log_lease(act->session);
	voice_session_open_media(c, act->channel);
	if (c->media) {
		voice_session_set_call(c, act->channel);
		err = media_call_credentials(c->media, act->session, act->token, act->endpoint,
					     act->channel);
	}
	if (!err)
		c->leased_channel = act->channel;
	log_info("voice_lease", "guild=%llu channel=%llu endpoint=%s err=%d", ID(c->guild),
		 ID(act->channel), act->endpoint, err);
	voice_session_start_agent(c);
	voice_session_sync_members(c);
	if (err) {
		/* mediad asks for credentials by itself when it is back. */
		struct words words = {0};

		voice_session_speak(c, &words);
		words_voice(&words, VOICE_REASON_NO_MEDIAD, 0);
		log_warn("call_without_mediad", "guild=%llu", ID(c->guild));
		voice_session_answer(c, &words);
	}
}

void voice_session_end_outages(struct voice_session *c)
{
	static const enum fault faults[] = {FAULT_CALL, FAULT_MEDIAD, FAULT_UDP};

	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		faults_forget(&c->faults, faults[i]);
	c->was_up = c->udp_lost = false;
}

/* A call of a channel that was not encrypted itself is refused when all channels of its server
 * count. */
static void say_why(struct words *words, const struct voice_session *c, const struct voice_act *act)
{
	uint64_t channel = c->leased_channel;

	if (act->media_reason == MEDIA_REASON_NOT_ENCRYPTED && channel && is_required(c, channel) &&
	    !was_encrypted(c, channel))
		words_all_channels_encrypted(words);
	else
		words_voice(words, act->why, act->media_reason);
}

static void end_call(struct voice_session *c, const struct voice_act *act)
{
	struct words words = {0}, why = {0};

	voice_session_speak(c, &words);
	say_why(&words, c, act);
	say_why(&why, c, act);
	/* mediad may know from the control before this one that the call was encrypted: else it
	 * refuses only a call that must be encrypted from its start. */
	if (act->media_reason == MEDIA_REASON_NOT_ENCRYPTED && c->leased_channel && c->media &&
	    media_call_want(c->media)->e2ee == MEDIA_E2EE_REQUIRE)
		remember_encrypted(c, c->leased_channel);
	log_warn("call_over", "guild=%llu why=\"%s\"", ID(c->guild), why.text);
	/* Tells the room, unless a member has disconnected the bot. */
	if (c->was_up && act->type == VOICE_ACT_FAILED && !c->cmd)
		voice_session_tell_room(&words, c);
	voice_session_answer(c, &words);
	/* The room waits for the grace to pass, and ends by itself. */
	c->thrown_out = act->type == VOICE_ACT_LEFT && c->agent;
	if (c->thrown_out) {
		voice_session_end_outages(c);
		agent_disconnected(c->agent);
	}
	if (!c->thrown_out)
		voice_session_end_room(c, act->type == VOICE_ACT_LEFT ? "bot_disconnected"
								      : "connection_lost");
	c->conf.changedh(c->conf.arg);
}

void voice_session_act(const struct voice_act *act, void *arg)
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
		voice_session_end_conversation(c);
		voice_session_enter_music(c);
		voice_session_start_agent(c);
		voice_session_sync_members(c);
		voice_session_check_channel(c);
		c->conf.changedh(c->conf.arg);
		break;
	case VOICE_ACT_LEFT:
	case VOICE_ACT_FAILED:
		end_call(c, act);
		break;
	}
}

enum voice_reason voice_session_predict(uint64_t channel, void *arg)
{
	struct voice_session *c = arg;
	struct guild_channel ch;
	struct guild_voice here;
	uint64_t bits, self = guilds_self(c->conf.guilds);

	if (c->conf.settings->unread)
		return VOICE_REASON_SETTINGS_UNREAD;
	if (!policy_allows_channel(c->conf.settings, channel))
		return VOICE_REASON_NOT_ALLOWED;
	/* The known state of the server may be old. */
	if (gateway_state(c->conf.gateway) != GATEWAY_UP || !guilds_known(c->conf.guilds, c->guild))
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
