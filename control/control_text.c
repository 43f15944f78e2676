/* Text chat as a part of the whole: its settings, and what it shares with the voice session. */
#include <stdio.h>

#include "control/agent/agent.h"
#include "control/attachments/captions.h"
#include "control/attachments/fetch.h"
#include "control/configure/live_settings.h"
#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/prompts/prompts.def"
#include "control/store/store.h"
#include "control/text/reading.h"
#include "control/text_session/text_session.h"
#include "control/vision/vision.h"
#include "ipc/env.h"
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

static uint64_t find_open_voice(uint64_t guild, uint64_t read, void *arg)
{
	struct control *c = arg;
	const struct voice_session *vs = control_find_voice_session(c, guild);
	uint64_t channel = vs ? voice_session_talked_in(vs) : 0;

	return channel && guilds_readers_may_enter(c->guilds, guild, read, channel) ? channel : 0;
}

/* Whose screen it is, and that one is shown at all, is told where everybody may enter the call. */
static void tell_screens(uint64_t guild, uint64_t read, uint64_t user, char *out, size_t size,
			 void *arg)
{
	struct control *c = arg;
	const struct voice_session *vs = control_find_voice_session(c, guild);
	uint64_t channel = vs ? voice_session_channel(vs) : 0;
	char why[VISION_ABOUT_MAX];
	bool shown;

	*out = '\0';
	if (!vision_settings(c->vision, guild)->screen_watch ||
	    (channel && !guilds_readers_may_enter(c->guilds, guild, read, channel)))
		return;
	shown = !vision_unseen(c->vision, guild, channel, 0, why);
	/* Of who asks, it is their own. */
	if (user)
		vision_unseen(c->vision, guild, channel, user, why);
	snprintf(out, size, "%s%s%s", shown ? PROMPT_TEXT_SCREENS_SHOWN : "",
		 shown && *why ? " " : "", why);
}

static bool is_open(uint64_t guild, uint64_t read, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_readers_may_follow(c->guilds, guild, read, channel);
}

static void take_typed(uint64_t guild, uint64_t channel, const struct text_session_typed *typed,
		       void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);
	const struct agent_typed told = {typed->message, typed->user,  typed->bot,    typed->name,
					 typed->text,	 typed->files, typed->repeats};

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
	voice_session_say(vs, words, 0);
}

static uint64_t find_thread(uint64_t guild, uint64_t channel, const char **title, void *arg)
{
	const struct control *c = arg;

	uint64_t parent = guilds_thread(c->guilds, guild, channel, title);

	return parent || guilds_has_channel(c->guilds, guild, channel) ? parent : READING_UNKNOWN;
}

static bool is_elsewhere(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;
	uint64_t of = guilds_of_channel(c->guilds, channel);

	return of && of != guild;
}

static uint64_t find_guild(uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_of_channel(c->guilds, channel);
}

static uint64_t find_category(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_category(c->guilds, guild, channel);
}

/* An answer may repeat it to everybody. */
static const char *find_channel(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_everybody_may_follow(c->guilds, guild, channel)
		       ? guilds_channel_name(c->guilds, guild, channel)
		       : "";
}

static size_t find_threads(uint64_t guild, uint64_t channel, uint64_t *to, size_t most, void *arg)
{
	const struct control *c = arg;

	return guilds_threads(c->guilds, guild, channel, to, most);
}

static size_t find_archived(uint64_t guild, uint64_t *to, size_t most, void *arg)
{
	const struct control *c = arg;

	return guilds_archived(c->guilds, guild, to, most);
}

static bool is_own_role(uint64_t guild, uint64_t role, void *arg)
{
	const struct control *c = arg;

	return guilds_is_own_role(c->guilds, guild, role);
}

uint32_t control_sent_chat(void *arg)
{
	const struct control *c = arg;

	if (!(c->intents & DISCORD_INTENT_DIRECT_MESSAGES))
		return SETTINGS_TEXT_OFF;
	return c->intents & DISCORD_INTENT_MESSAGE_CONTENT && !c->lacks_content
		       ? SETTINGS_TEXT_ALL
		       : SETTINGS_TEXT_MENTIONS;
}

/* What Discord does not send is not read, whatever the settings want. */
static uint32_t read_chat(const struct control *c, const struct settings *s)
{
	if (s->unread || !(c->intents & DISCORD_INTENT_DIRECT_MESSAGES))
		return SETTINGS_TEXT_OFF;
	/* Until it is known whether Discord sends the texts, they are not read. */
	if (s->text_chat == SETTINGS_TEXT_ALL && (c->lacks_content || !c->asked_content ||
						  !(c->intents & DISCORD_INTENT_MESSAGE_CONTENT)))
		return SETTINGS_TEXT_MENTIONS;
	return s->text_chat;
}

static void note_rules(struct control *c, uint64_t guild, const struct settings *s)
{
	const struct reading_rules rules = {read_chat(c, s), s->text_channels,
					    s->text_blocked_channels};

	reading_note(c->reading, guild, &rules, env_wall_ms(c->env));
}

/* False without memory. */
static bool note_servers(struct control *c, const json_t *own)
{
	struct settings *s;
	const char *id;
	const json_t *value;
	uint64_t guild;

	if (settings_alloc(&s))
		return false;
	json_object_foreach((json_t *)(uintptr_t)own, id, value)
	{
		(void)value;
		if (!discord_snowflake(id, &guild))
			continue;
		live_settings_wanted_of(c->live, guild, s);
		s->unread = c->settings->unread;
		note_rules(c, guild, s);
	}
	settings_free(s);
	return true;
}

void control_note_reading(struct control *c)
{
	const json_t *own =
		json_object_get(document_intent(live_settings_document(c->live)), "guilds");
	uint64_t guild;

	/* Without memory those of the servers stay as they were told. */
	if (json_object_size(own) && !note_servers(c, own))
		return;
	for (unsigned i = 0; (guild = reading_server(c->reading, i));) {
		char key[24];

		snprintf(key, sizeof key, "%llu", (unsigned long long)guild);
		if (json_object_get(own, key))
			i++;
		else
			reading_drop(c->reading, guild, env_wall_ms(c->env));
	}
	note_rules(c, 0, c->settings);
	control_save_soon(c);
}

static uint32_t find_reading(uint64_t guild, uint64_t channel, uint64_t parent, uint64_t at_ms,
			     void *arg)
{
	const struct control *c = arg;
	const char *title;

	/* What was blocked then may be another list than that of today. */
	if (!parent)
		parent = find_thread(guild, channel, &title, arg);
	return reading_at(c->reading, guild, channel, parent,
			  guilds_category(c->guilds, guild, channel), at_ms);
}

static const char *find_nickname(uint64_t guild, void *arg)
{
	const struct control *c = arg;

	return guilds_known_name(c->guilds, guild, guilds_self(c->guilds));
}

static bool is_known(uint64_t guild, void *arg)
{
	const struct control *c = arg;

	return guilds_known(c->guilds, guild);
}

static bool may_write(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return !guilds_timed_out(c->guilds, guild, env_wall_ms(c->env)) &&
	       guilds_may_write(c->guilds, guild, channel);
}

static bool may_react(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return !guilds_timed_out(c->guilds, guild, env_wall_ms(c->env)) &&
	       guilds_may(c->guilds, guild, channel,
			  DISCORD_PERMISSION(DISCORD_BIT_ADD_REACTIONS) |
				  DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY));
}

static bool may_read_history(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_may(c->guilds, guild, channel,
			  DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY));
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

void control_end_text(struct control *c)
{
	json_decref(c->state.reading);
	c->state.reading = NULL;
	c->reading = reading_free(c->reading);
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
					       .newest = c->state.text_newest,
					       .taken = c->conf.kept ? c->conf.kept->taken : NULL,
					       .ledger = c->ledger,
					       .bus = c->bus,
					       .consents = c->consents,
					       .mcp = c->mcp,
					       .delegates = c->delegates,
					       .rankh = rank_writer,
					       .roleh = is_own_role,
					       .nicknameh = find_nickname,
					       .knownh = is_known,
					       .writeh = may_write,
					       .reacth = may_react,
					       .historyh = may_read_history,
					       .threadh = find_thread,
					       .elsewhereh = is_elsewhere,
					       .guildh = find_guild,
					       .categoryh = find_category,
					       .channelh = find_channel,
					       .readingh = find_reading,
					       .threadsh = find_threads,
					       .archivedh = find_archived,
					       .settingsh = open_settings,
					       .releaseh = release_settings,
					       .remembersh = control_remembers,
					       .voiceh = find_open_voice,
					       .openh = is_open,
					       .screenh = tell_screens,
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
