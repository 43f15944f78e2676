/* The bot's messages in one server: answers to commands, faults, /status. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/agent/agent.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/discord/voice.h"
#include "control/events/events.h"
#include "control/media/media.h"
#include "control/report/secure_faults.h"
#include "control/report/status.h"
#include "control/voice_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "proto/media.h"

enum { SILENT_MESSAGE = 4096 };

void voice_session_answer(struct voice_session *c, const struct words *words)
{
	struct command *cmd = c->cmd;

	c->cmd = NULL;
	c->cmd_until = 0;
	if (cmd)
		command_reply(cmd, words);
}

void voice_session_speak(const struct voice_session *c, struct words *words)
{
	words_speak(words, c->cmd ? c->cmd->locale : c->agent ? agent_language(c->agent) : "");
}

static void on_told(int err, int status, const json_t *body, void *arg)
{
	(void)arg;
	if (err != ECANCELED && (err || status / 100 != 2))
		log_warn("not_told", "err=%d status=%d text=\"%s\"", err, status,
			 json_string_value(json_object_get(body, "message")));
}

void voice_session_tell_room(const struct words *words, void *arg)
{
	struct voice_session *c = arg;
	struct rest_call call = {.method = "POST", .route = "/channels/{}/messages"};
	char path[64], major[24];

	bus_publish(c->conf.bus, &(struct bus_event){.type = EVENT_TOLD,
						     .at_ms = env_wall_ms(c->conf.env),
						     .guild = c->guild,
						     .notice = {.text = words->text}});
	if (c->quiet || !voice_channel(c->voice))
		return;
	snprintf(major, sizeof major, "%llu", ID(voice_channel(c->voice)));
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	call.path = path;
	call.major = major;
	call.body = json_pack("{s:s,s:i,s:{s:[]}}", "content", words->text, "flags", SILENT_MESSAGE,
			      "allowed_mentions", "parse");
	if (call.body)
		rest_request(c->conf.rest, &call, on_told, NULL);
	json_decref(call.body);
}

void voice_session_tell_stream(struct voice_session *c, unsigned media_reason)
{
	struct words words = {0};

	words_speak(&words, c->agent ? agent_language(c->agent) : "");
	if (media_reason == MEDIA_REASON_NONE)
		words_stream_clear(&words);
	else if (media_reason == MEDIA_REASON_NOT_ENCRYPTED)
		words_stream_not_encrypted(&words);
	else if (media_reason == MEDIA_REASON_RATE_LIMITED)
		words_stream_slowed(&words);
	else
		words_stream_lost(&words);
	voice_session_tell_room(&words, c);
}

bool voice_session_may(const struct voice_session *c, unsigned bit, bool unknown)
{
	uint64_t bits;

	if (!guilds_permissions(c->conf.guilds, c->guild, voice_channel(c->voice),
				guilds_self(c->conf.guilds), &bits))
		return unknown;
	return bits & DISCORD_PERMISSION(bit);
}

enum voice_reason voice_session_hindrance(const struct voice_session *c)
{
	struct guild_channel ch = {0};
	struct guild_voice v;

	if (!guilds_voice(c->conf.guilds, c->guild, guilds_self(c->conf.guilds), &v))
		return VOICE_REASON_NONE;
	guilds_channel(c->conf.guilds, c->guild, v.channel, &ch);
	if (v.suppress && ch.type == DISCORD_CHANNEL_STAGE)
		return VOICE_REASON_STAGE_AUDIENCE;
	if (v.mute)
		return VOICE_REASON_SERVER_MUTED;
	if (v.deaf)
		return VOICE_REASON_SERVER_DEAFENED;
	if (v.suppress ||
	    (ch.type == DISCORD_CHANNEL_VOICE && !voice_session_may(c, DISCORD_BIT_SPEAK, true)))
		return VOICE_REASON_NO_SPEAK;
	return VOICE_REASON_NONE;
}

bool voice_session_unheard(const struct voice_session *c)
{
	enum voice_reason why = voice_session_hindrance(c);

	return c->silenced || (why != VOICE_REASON_NONE && why != VOICE_REASON_SERVER_DEAFENED);
}

bool voice_session_is_up(const struct voice_session *c)
{
	const struct media_call_state *last = c->media ? media_call_last(c->media) : NULL;

	return last && (last->phase == MEDIA_PHASE_UP || last->phase == MEDIA_PHASE_RESUMING);
}

void voice_session_see(struct voice_session *c, enum fault fault, bool there)
{
	faults_set(&c->faults, fault, there ? FAULT_IS_THERE : FAULT_IS_OVER, env_now(c->conf.env));
}

/* mediad says at each HELLO that its priority is lost, so nothing is known while it is away. */
static void see_priority(struct voice_session *c, bool up)
{
	if (up)
		voice_session_see(c, FAULT_PRIORITY, media_call_lacks_real_time(c->media));
	else
		faults_set(&c->faults, FAULT_PRIORITY, FAULT_IS_UNKNOWN, env_now(c->conf.env));
}

static void see_secure(struct voice_session *c)
{
	const struct media_call_secure *m = c->media ? media_call_secured(c->media) : NULL;
	const struct media_call_state *last = c->media ? media_call_last(c->media) : NULL;
	bool others = guilds_occupants(c->conf.guilds, c->guild, voice_channel(c->voice)) > 0;

	secure_see_faults(&c->faults, m, last && last->phase == MEDIA_PHASE_UP, others,
			  env_now(c->conf.env));
}

static void publish_faults(struct voice_session *c)
{
	uint64_t now = env_now(c->conf.env);

	for (unsigned i = 0; i < FAULT_COUNT; i++) {
		const struct fault_record *r = &c->faults.v[i];
		struct bus_event ev = {.type = EVENT_FAULT, .guild = c->guild};

		bool news = r->count != c->fault_counts[i];
		bool ended = !news && c->fault_lasts[i] && !r->there;

		if (!news && !ended)
			continue;
		c->fault_counts[i] = r->count;
		c->fault_lasts[i] = r->there;
		ev.at_ms = env_wall_ms(c->conf.env);
		ev.fault = (struct event_fault){.fault = faults_name((enum fault)i),
						.there = r->there,
						.count = r->count,
						.ended = ended};
		if (ended)
			ev.fault.lasted_ms = (now - r->last) / NS_PER_MS;
		bus_publish(c->conf.bus, &ev);
	}
}

/* The reason is that of the phase at hand, so it is remembered until the call is back. */
static void note_udp(struct voice_session *c, bool well)
{
	const struct media_call_state *last = c->media ? media_call_last(c->media) : NULL;

	if (well)
		c->udp_lost = false;
	else if (last && last->reason == MEDIA_REASON_UDP_BLOCKED)
		c->udp_lost = true;
}

void voice_session_watch(struct voice_session *c)
{
	enum voice_reason why = voice_session_hindrance(c);
	bool up = voice_session_is_up(c), gone = c->was_up && voice_channel(c->voice) && !up;
	struct words words = {0};

	voice_session_see(c, FAULT_MEDIAD, gone && !c->mediad);
	note_udp(c, up || !gone);
	voice_session_see(c, FAULT_UDP, c->udp_lost);
	/* Without a mediad there is no call to observe: a loss that was reported is not over, and
	 * any other is part of mediad's outage. */
	if (gone && !c->mediad)
		faults_set(&c->faults, FAULT_CALL,
			   c->faults.v[FAULT_CALL].told ? FAULT_IS_UNKNOWN : FAULT_IS_OVER,
			   env_now(c->conf.env));
	else
		voice_session_see(c, FAULT_CALL, gone && !c->udp_lost);
	voice_session_see(c, FAULT_OUTAGE, up && !guilds_known(c->conf.guilds, c->guild));
	voice_session_see(c, FAULT_AUDIENCE, up && why == VOICE_REASON_STAGE_AUDIENCE);
	voice_session_see(c, FAULT_MUTED, up && why == VOICE_REASON_SERVER_MUTED);
	voice_session_see(c, FAULT_NO_SPEAK, up && why == VOICE_REASON_NO_SPEAK);
	voice_session_see(c, FAULT_DEAFENED, up && why == VOICE_REASON_SERVER_DEAFENED);
	voice_session_see(c, FAULT_MODEL, up && c->embedded_fault == EMBEDDED_NO_MODEL);
	voice_session_see(c, FAULT_ENGINE, up && c->embedded_fault == EMBEDDED_FAILS);
	voice_session_see(c, FAULT_DISK, up && c->disk_full);
	see_secure(c);
	see_priority(c, up);
	words_speak(&words, c->agent ? agent_language(c->agent) : "");
	while (faults_say(&c->faults, env_now(c->conf.env), &words)) {
		voice_session_tell_room(&words, c);
		words = (struct words){.language = words.language};
	}
	publish_faults(c);
}

void voice_session_told_already(struct voice_session *c)
{
	static const enum fault all[] = {FAULT_AUDIENCE, FAULT_MUTED, FAULT_NO_SPEAK,
					 FAULT_DEAFENED};

	voice_session_watch(c);
	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
		if (c->faults.v[all[i]].there)
			faults_known(&c->faults, all[i], env_now(c->conf.env));
}

struct telling {
	const struct voice_session *c;
	voice_session_member_h *h;
	void *arg;
};

static void tell_member(uint64_t user, const char *name, bool is_bot, void *arg)
{
	const struct telling *t = arg;
	enum unheard why = is_bot ? UNHEARD_BOT : UNHEARD_NOT;

	if (!is_bot && !media_call_consents(t->c->media, user))
		why = UNHEARD_NO_CONSENT;
	else if (!is_bot && !media_call_listens(t->c->media, user))
		why = UNHEARD_NO_ROOM;
	t->h(user, name, why, t->arg);
}

void voice_session_each_member(const struct voice_session *c, voice_session_member_h *h, void *arg)
{
	struct telling t = {.c = c, .h = h, .arg = arg};

	if (c->media)
		guilds_each(c->conf.guilds, c->guild, voice_channel(c->voice), tell_member, &t);
}

uint64_t voice_session_asr_closes_ms(const struct voice_session *c, uint64_t user)
{
	return c->agent ? agent_asr_closes_ms(c->agent, user) : 0;
}

json_t *voice_session_tools(const struct voice_session *c)
{
	return c->agent ? agent_tool_list(c->agent) : json_array();
}

json_t *voice_session_now(const struct voice_session *c)
{
	return c->agent ? agent_now(c->agent) : NULL;
}

json_t *voice_session_levels(const struct voice_session *c)
{
	return c->agent ? agent_levels(c->agent) : NULL;
}

static void status_member(uint64_t user, const char *name, enum unheard why, void *arg)
{
	(void)user;
	status_person(arg, name, why);
}

void voice_session_status(const struct voice_session *c, struct status *out)
{
	const struct media_call_state *last = c->media ? media_call_last(c->media) : NULL;

	out->now = env_now(c->conf.env);
	out->wall_s = env_wall_ms(c->conf.env) / 1000;
	out->channel = voice_channel(c->voice);
	out->state = voice_state(c->voice);
	out->why = voice_why(c->voice, &out->media_reason);
	if (!out->why)
		out->why = voice_session_hindrance(c);
	out->has_phase = last != NULL;
	out->phase = last ? last->phase : 0;
	out->up_since = c->up_since;
	out->stage = voice_session_is_stage(c, voice_channel(c->voice));
	out->no_model = c->embedded_fault == EMBEDDED_NO_MODEL;
	out->engine_fails = c->embedded_fault == EMBEDDED_FAILS;
	out->secure = c->media ? media_call_secured(c->media) : NULL;
	out->faults = c->faults;
	voice_session_each_member(c, status_member, out);
	if (c->agent)
		agent_status(c->agent, out);
}
