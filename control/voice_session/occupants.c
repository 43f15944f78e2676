/* The room of a voice session: its agent from start to end, the members in the channel, faults. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/agent/agent.h"
#include "control/consent/consent.h"
#include "control/discord/guilds.h"
#include "control/discord/voice.h"
#include "control/jukebox/jukebox.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/voice_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "proto/media.h"

enum { GREET_S = 600 };

static int find_member(const struct voice_session *c, uint64_t user)
{
	for (unsigned i = 0; i < c->n_members; i++)
		if (c->members[i] == user)
			return (int)i;
	return -1;
}

/* A blocked user is none of the people of the room, like a bot. */
static void tell_member(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct voice_session *c = arg;

	if (c->agent && find_member(c, user) >= 0)
		agent_member(c->agent, user, name,
			     is_bot || policy_blocks_user(c->conf.settings, user), true);
}

static void add_member(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct voice_session *c = arg;
	bool known = find_member(c, user) >= 0;

	if (known ? !c->crowded : c->n_members == VOICE_SESSION_MEMBERS)
		return;
	if (!known)
		c->members[c->n_members++] = user;
	tell_member(user, name, is_bot, c);
}

static void remove_member(struct voice_session *c, unsigned i)
{
	uint64_t user = c->members[i];

	c->members[i] = c->members[--c->n_members];
	if (c->agent)
		agent_member(c->agent, user, "", false, false);
}

static enum consent consent_in(const struct voice_session *c, uint64_t user)
{
	return consent_of(c->conf.consents, c->guild, user,
			  (enum consent)c->conf.settings->consent);
}

static void apply_consent(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct voice_session *c = arg;
	bool yes = consent_in(c, user) != CONSENT_NEITHER;

	(void)name;
	if (!is_bot && yes != media_call_consents(c->media, user) &&
	    media_call_consent(c->media, user, yes))
		log_warn("consent_not_applied", "guild=%llu", ID(c->guild));
}

static void tell_consent(uint64_t user, const char *name, bool is_bot, void *arg)
{
	struct voice_session *c = arg;

	(void)name;
	if (!is_bot && media_call_consent(c->media, user, consent_in(c, user) != CONSENT_NEITHER))
		log_warn("consent_not_applied", "guild=%llu", ID(c->guild));
}

void voice_session_tell_consents(struct voice_session *c)
{
	guilds_each(c->conf.guilds, c->guild, voice_channel(c->voice), tell_consent, c);
}

void voice_session_apply_consents(struct voice_session *c)
{
	if (c->media)
		guilds_each(c->conf.guilds, c->guild, voice_channel(c->voice), apply_consent, c);
}

static bool remembers_user(uint64_t user, void *arg)
{
	return consent_in(arg, user) == CONSENT_REMEMBERED;
}

static bool is_open(uint64_t channel, void *arg)
{
	const struct voice_session *c = arg;

	return guilds_everybody_may_follow(c->conf.guilds, c->guild, channel);
}

void voice_session_consent(struct voice_session *c, uint64_t user, bool less)
{
	if (c->media)
		apply_consent(user, "", false, c);
	if (c->agent)
		agent_consent(c->agent, user, less);
}

void voice_session_tell_consent(struct voice_session *c, uint64_t user, const char *state)
{
	struct words words = {0};

	if (find_member(c, user) < 0)
		return;
	words_speak(&words, c->agent ? agent_language(c->agent) : "");
	words_consent_told(&words, guilds_member_name(c->conf.guilds, c->guild, user), state);
	voice_session_tell_room(&words, c);
}

/* Updates the agent's list of members from Discord's voice states. */
void voice_session_sync_members(struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);
	struct guild_voice v;

	voice_session_apply_consents(c);
	/* A member who was left out when the room was full may have a place now. */
	c->crowded = c->n_members > ROOM_SPEAKERS;
	for (unsigned i = c->n_members; i-- > 0;)
		if (!guilds_voice(c->conf.guilds, c->guild, c->members[i], &v) ||
		    v.channel != channel)
			remove_member(c, i);
	guilds_each(c->conf.guilds, c->guild, channel, add_member, c);
	if (c->jukebox)
		jukebox_listeners_changed(c->jukebox);
}

void voice_session_renew_members(struct voice_session *c)
{
	guilds_each(c->conf.guilds, c->guild, voice_channel(c->voice), tell_member, c);
}

/* An administrator, as the server's owner, has every permission. */
static enum tool_rank rank_member(uint64_t user, void *arg)
{
	const struct voice_session *c = arg;
	uint64_t bits = 0;

	guilds_permissions(c->conf.guilds, c->guild, voice_channel(c->voice), user, &bits);
	if (bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR))
		return TOOL_RANK_OWNER;
	return bits & DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS) ? TOOL_RANK_MODERATOR
								   : TOOL_RANK_EVERYONE;
}

static bool has_role(uint64_t user, uint64_t role, void *arg)
{
	const struct voice_session *c = arg;

	return guilds_has_role(c->conf.guilds, c->guild, user, role);
}

static bool blocks_user(uint64_t user, void *arg)
{
	const struct voice_session *c = arg;

	return policy_blocks_user(c->conf.settings, user);
}

/* Deferred like a request to leave. */
static int join_by_name(uint64_t user, const char *name, bool goes, void *arg)
{
	struct voice_session *c = arg;
	uint64_t channel = guilds_channel_named(c->conf.guilds, c->guild, name);

	if (!channel)
		return ENOENT;
	if (!guilds_may_move_to(c->conf.guilds, c->guild, channel, user))
		return EPERM;
	if (!goes)
		return 0;
	c->goes_to = channel;
	voice_session_arm_timer(c);
	return 0;
}

/* The bot's name in this server. */
const char *voice_session_bot_name(const struct voice_session *c)
{
	const char *given = c->conf.settings->bot_name;

	return *given ? given : c->conf.bot_name;
}

/* By voice, of people whose member objects are kept. */
static bool retains_bot(uint64_t user, void *arg)
{
	struct voice_session *c = arg;
	struct words ignored = {0};

	return voice_session_retains_bot(c, user, NULL, &ignored);
}

/* Deferred, because the agent that calls this is freed with the call. */
static void request_leave(void *arg)
{
	struct voice_session *c = arg;

	c->leaves = true;
	voice_session_arm_timer(c);
}

void voice_session_check_channel(struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);

	if (channel && !policy_allows_channel(c->conf.settings, channel))
		request_leave(c);
}

static void take_fault(enum fault fault, enum fault_is is, void *arg)
{
	struct voice_session *c = arg;

	faults_set(&c->faults, fault, is, env_now(c->conf.env));
	voice_session_watch(c);
	voice_session_arm_timer(c);
}

/* The room greets when its call comes up; after a control restart or a rejoin that is not repeated.
 */
static void begin_greeting(struct voice_session *c)
{
	uint64_t now = env_now(c->conf.env), channel = voice_channel(c->voice);

	c->quiet =
		c->adopted || (c->greeted == channel && now < c->greeted_at + GREET_S * NS_PER_S);
	if (c->quiet)
		return;
	c->greeted = channel;
	c->greeted_at = now;
}

void voice_session_tell_agent(struct voice_session *c, const struct media_msg *state)
{
	bool first = !c->agent_up && state->call_state.phase == MEDIA_PHASE_UP;

	if (!c->agent)
		return;
	if (first)
		begin_greeting(c);
	agent_media(c->agent, state);
	if (first)
		c->agent_up = true;
	c->quiet = false;
}

void voice_session_forget_words(struct voice_session *c)
{
	c->since_ms = 0;
	c->words = NULL;
	c->inherited_plays = false;
}

/* Gives the agent the words and the playback that the control before this one left. */
static void hand_over(struct voice_session *c)
{
	c->recalled = c->words != NULL;
	if (c->words)
		agent_recall(c->agent, c->words);
	else if (!c->begins_anew)
		agent_continue(c->agent);
	c->words = NULL;
	c->begins_anew = false;
	if (!c->since_ms) {
		c->since_ms = agent_started_ms(c->agent);
		c->conf.changedh(c->conf.arg);
	}
	if (c->inherited_plays)
		agent_inherited(c->agent, true);
	c->inherited_plays = false;
}

static void tell_unread_consents(struct voice_session *c)
{
	struct words words = {0};

	if (!consent_table_unread(c->conf.consents))
		return;
	words_consent_unread(&words);
	voice_session_tell_room(&words, c);
}

void voice_session_start_agent(struct voice_session *c)
{
	struct agent_conf conf = {.env = c->conf.env,
				  .ws = c->conf.ws,
				  .http = c->conf.http,
				  .mcp = c->conf.mcp,
				  .delegates = c->conf.delegates,
				  .viewers = c->conf.viewers,
				  .call = c->media,
				  .settings = c->conf.settings,
				  .bus = c->conf.bus,
				  .ledger = c->conf.ledger,
				  .bot_user = guilds_self(c->conf.guilds),
				  .bot_name = voice_session_bot_name(c),
				  .tellh = voice_session_tell_room,
				  .leaveh = request_leave,
				  .soundh = voice_session_play_sound,
				  .unsoundh = voice_session_drop_sound,
				  .store = c->conf.store,
				  .sources = c->conf.sources,
				  .jukebox = c->jukebox,
				  .vision = c->conf.vision,
				  .rankh = rank_member,
				  .roleh = has_role,
				  .joinh = join_by_name,
				  .retainsh = retains_bot,
				  .blockedh = blocks_user,
				  .remembersh = remembers_user,
				  .openh = is_open,
				  .faulth = take_fault,
				  .arg = c};
	const struct media_call_state *last = c->media ? media_call_last(c->media) : NULL;
	uint64_t channel = voice_channel(c->voice);
	int err;

	if (c->agent || !c->media || !channel || !settings_ready(c->conf.settings) ||
	    c->conf.settings->unread)
		return;
	/* New words are kept under the call's channel, and the lease of a new one comes later. */
	if (media_call_want(c->media)->channel != channel)
		voice_session_set_call(c, channel);
	c->talks_in = channel;
	c->agent_up = last && last->phase == MEDIA_PHASE_UP;
	if (c->agent_up)
		begin_greeting(c);
	err = agent_alloc(&c->agent, &conf);
	c->quiet = false;
	if (err) {
		log_warn("agent_failed", "guild=%llu error=\"%s\"", ID(c->guild), strerror(err));
		return;
	}
	c->n_members = 0;
	voice_session_sync_members(c);
	agent_muted(c->agent, voice_session_unheard(c));
	voice_session_list_sounds(c);
	tell_unread_consents(c);
	hand_over(c);
}

void voice_session_end_conversation(struct voice_session *c)
{
	if (c->agent)
		agent_end(c->agent, "switch_channel");
	c->agent = agent_free(c->agent);
	if (c->media)
		media_call_stop_inherited(c->media);
	c->went_on = true;
	voice_session_forget_words(c);
	c->n_members = 0;
	c->agent_up = false;
}

/* The words of one person cannot be taken out of a conversation: answers and the providers'
 * sessions rest on them. */
void voice_session_erase(struct voice_session *c, uint64_t user, bool remembered)
{
	struct words words = {0};

	/* The words that a former control left may be theirs. */
	if (!c->agent && c->words)
		voice_session_forget_words(c);
	if (!c->agent || !(remembered || c->recalled || agent_knows(c->agent, user)))
		return;
	log_info("conversation_erased", "guild=%llu", ID(c->guild));
	voice_session_end_conversation(c);
	c->begins_anew = true;
	voice_session_start_agent(c);
	words_speak(&words, c->agent ? agent_language(c->agent) : "");
	words_conversation_erased(&words);
	voice_session_tell_room(&words, c);
	c->conf.changedh(c->conf.arg);
}

/* why: a reason of ROOM_ENDS. */
void voice_session_end_room(struct voice_session *c, const char *why)
{
	voice_session_hide_music(c, true); /* in the room's language, which goes with the agent */
	if (c->agent)
		agent_end(c->agent, why);
	c->agent = agent_free(c->agent);
	voice_session_forget_words(c);
	jukebox_leave(c->jukebox);
	c->media = media_call_free(c->media);
	faults_end(&c->faults);
	c->n_members = 0;
	c->up_since = c->leased_channel = 0;
	c->stage_asked = c->adopted = c->was_up = c->leaves = c->thrown_out = false;
	c->went_on = false;
}
