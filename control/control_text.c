/* Text chat as a part of the whole: its settings, and what it shares with the voice session. */
#include "control/agent/agent.h"
#include "control/attachments/captions.h"
#include "control/attachments/fetch.h"
#include "control/configure/live_settings.h"
#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/store/store.h"
#include "control/text_session/text_session.h"
#include "control/vision/vision.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

static const struct settings *open_settings(uint64_t guild, void *arg)
{
	struct control *c = arg;

	return live_settings_of(c->live, guild);
}

static void release_settings(uint64_t guild, void *arg)
{
	struct control *c = arg;

	if (!control_find_voice_session(c, guild))
		live_settings_release(c->live, guild);
}

static uint64_t find_open_voice(uint64_t guild, void *arg)
{
	struct control *c = arg;
	const struct voice_session *vs = control_find_voice_session(c, guild);
	uint64_t channel = vs ? voice_session_talked_in(vs) : 0;

	return channel && guilds_everybody_may_enter(c->guilds, guild, channel) ? channel : 0;
}

static bool is_open(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_everybody_may_follow(c->guilds, guild, channel);
}

static void take_typed(uint64_t guild, uint64_t channel, const struct text_session_typed *typed,
		       void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);
	const struct agent_typed told = {typed->message, typed->user, typed->bot,
					 typed->name,	 typed->text, typed->files};

	if (vs)
		voice_session_typed(vs, channel, &told);
}

static void take_edited(uint64_t guild, uint64_t channel, uint64_t message, const char *text,
			void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);

	if (vs)
		voice_session_edited(vs, channel, message, text);
}

static void take_untyped(uint64_t guild, uint64_t channel, uint64_t message, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);

	if (vs)
		voice_session_untyped(vs, channel, message);
}

static bool is_spoken(uint64_t guild, uint64_t channel, void *arg)
{
	const struct voice_session *vs = control_find_voice_session(arg, guild);

	return vs && voice_session_channel(vs) == channel;
}

static void speak_answer(uint64_t guild, uint64_t channel, const char *text, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);
	char words[VOICE_SESSION_SAY_MAX + 1];

	if (!is_spoken(guild, channel, arg))
		return;
	utf8_copy(words, sizeof words, text);
	voice_session_say(vs, words);
}

static uint64_t find_thread(uint64_t guild, uint64_t channel, const char **title, void *arg)
{
	const struct control *c = arg;

	return guilds_thread(c->guilds, guild, channel, title);
}

static const char *find_channel(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_channel_name(c->guilds, guild, channel);
}

static bool is_own_role(uint64_t guild, uint64_t role, void *arg)
{
	const struct control *c = arg;

	return guilds_is_own_role(c->guilds, guild, role);
}

static const char *find_nickname(uint64_t guild, void *arg)
{
	const struct control *c = arg;

	return guilds_known_name(c->guilds, guild, guilds_self(c->guilds));
}

static bool may_write(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_may_write(c->guilds, guild, channel);
}

static bool may_react(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_may_react(c->guilds, guild, channel);
}

/* An administrator, as the server's owner, has every permission. */
static enum tool_rank rank_writer(uint64_t guild, uint64_t user, const json_t *member, void *arg)
{
	const struct control *c = arg;
	uint64_t bits = 0;

	if (!guilds_member_permissions(c->guilds, guild, user, member, &bits))
		return TOOL_RANK_EVERYONE;
	if (bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR))
		return TOOL_RANK_OWNER;
	return bits & DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS) ? TOOL_RANK_MODERATOR
								   : TOOL_RANK_EVERYONE;
}

static int make_viewers(struct control *c)
{
	int err = fetcher_alloc(&c->viewers.fetcher, c->env, c->settings);

	c->viewers.jail = vision_jail(c->vision);
	return err ? err : captions_alloc(&c->viewers.captions);
}

void control_end_viewers(struct control *c)
{
	fetcher_free(c->viewers.fetcher);
	captions_free(c->viewers.captions);
}

int control_make_text(struct control *c)
{
	int err = make_viewers(c);
	const struct text_session_conf conf = {.env = c->env,
					       .http = c->http,
					       .ws = c->ws,
					       .rest = c->rest,
					       .settings = c->settings,
					       .store = c->store,
					       .since_ms = c->state.text_since_ms,
					       .taken = c->conf.kept ? c->conf.kept->taken : NULL,
					       .ledger = c->ledger,
					       .bus = c->bus,
					       .consents = c->consents,
					       .mcp = c->mcp,
					       .delegates = c->delegates,
					       .rankh = rank_writer,
					       .roleh = is_own_role,
					       .nicknameh = find_nickname,
					       .writeh = may_write,
					       .reacth = may_react,
					       .threadh = find_thread,
					       .channelh = find_channel,
					       .settingsh = open_settings,
					       .releaseh = release_settings,
					       .remembersh = control_remembers,
					       .voiceh = find_open_voice,
					       .openh = is_open,
					       .typedh = take_typed,
					       .editedh = take_edited,
					       .untypedh = take_untyped,
					       .viewers = c->viewers,
					       .speakh = speak_answer,
					       .spokenh = is_spoken,
					       .arg = c};

	if (!err)
		err = text_session_alloc(&c->text, &conf);

	/* Of the session that is resumed. */
	if (!err)
		text_session_self(c->text, c->state.user, c->state.bot_name);
	return err;
}
