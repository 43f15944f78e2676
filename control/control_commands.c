/* Answers to slash commands. */
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/commands.h"
#include "control/discord/guilds.h"
#include "control/events/events.h"
#include "control/media/media.h"
#include "control/metrics/counters.h"
#include "control/report/status.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

/* True if the member who asks may see this channel. The bot tells nothing about a hidden channel
 * and does not join it on that member's request. */
static bool may(const struct control *c, const struct command *cmd, uint64_t channel,
		uint64_t needed)
{
	uint64_t bits;

	return guilds_permissions_as(c->guilds, cmd->guild, channel, cmd->user, cmd->member,
				     &bits) &&
	       (bits & needed) == needed;
}

static bool may_see(const struct control *c, const struct command *cmd, uint64_t channel)
{
	return may(c, cmd, channel, DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL));
}

/* Nobody sends the bot to hear where they may not go themselves. */
static bool may_send(const struct control *c, const struct command *cmd, uint64_t channel)
{
	return may(c, cmd, channel,
		   DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL) |
			   DISCORD_PERMISSION(DISCORD_BIT_CONNECT));
}

/* True if the bot plays music to people in another channel than this one (0: none), whom this
 * member may not take it away from; the words tell it. */
static bool is_retained(struct control *c, const struct command *cmd, uint64_t channel,
			struct words *words)
{
	struct voice_session *vs = control_find_voice_session(c, cmd->guild);

	return vs && voice_session_channel(vs) != channel &&
	       voice_session_retains_bot(vs, cmd->user, cmd->member, words);
}

static void answer_join(struct control *c, struct command *cmd)
{
	uint64_t channel = command_channel(cmd, "channel");
	bool named = channel != 0;
	struct words words = {0};
	struct guild_voice v;
	struct voice_session *vs;

	words_speak(&words, cmd->locale);
	if (!channel && guilds_voice(c->guilds, cmd->guild, cmd->user, &v))
		channel = v.channel;
	if (!guilds_known(c->guilds, cmd->guild))
		words_new_here(&words);
	else if (!channel)
		words_which_channel(&words);
	else if (named ? !may_send(c, cmd, channel) : !may_see(c, cmd, channel))
		words_not_yours(&words);
	else if (is_retained(c, cmd, channel, &words))
		;
	else if (!(vs = control_open_voice_session(c, cmd->guild)))
		words_too_many_channels(&words);
	else
		voice_session_join(vs, channel, false, cmd);
	if (words.n)
		command_reply(cmd, &words);
}

static void answer_leave(struct control *c, struct command *cmd)
{
	struct voice_session *vs = control_find_voice_session(c, cmd->guild);
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (!vs || !voice_session_channel(vs) || !may_see(c, cmd, voice_session_channel(vs))) {
		words_not_here(&words);
	} else if (!is_retained(c, cmd, 0, &words)) {
		voice_session_leave(vs);
		words_left(&words);
	}
	command_reply(cmd, &words);
}

static void answer_status(struct control *c, struct command *cmd)
{
	struct voice_session *vs = control_find_voice_session(c, cmd->guild);
	struct status status = {.brain_embedded = c->embedded != NULL};
	struct words words = {0};

	words_speak(&words, cmd->locale);
	media_count(c->media, &status.mediads_there, &status.mediads);
	if (vs)
		voice_session_status(vs, &status);
	status_fill_turns(&status, &c->tally, cmd->guild);
	if (status.channel && !may_see(c, cmd, status.channel))
		words_not_here(&words);
	else
		status_words(&status, &words);
	command_reply(cmd, &words);
}

/* The session of the call that the member may see; NULL: the answer says that there is none. */
static struct voice_session *find_seen(struct control *c, const struct command *cmd,
				       struct words *words)
{
	struct voice_session *vs = control_find_voice_session(c, cmd->guild);

	if (vs && voice_session_channel(vs) && may_see(c, cmd, voice_session_channel(vs)))
		return vs;
	words_not_here(words);
	return NULL;
}

static void answer_stop(struct control *c, struct command *cmd)
{
	struct words words = {0};
	struct voice_session *vs;

	words_speak(&words, cmd->locale);
	vs = find_seen(c, cmd, &words);
	if (vs && voice_session_stop(vs))
		words_not_here(&words);
	else if (vs)
		words_stopped(&words);
	command_reply(cmd, &words);
}

/* Discord lets those use it whom the server allows to (commands_body). */
static void answer_say(struct control *c, struct command *cmd)
{
	const char *text = command_text(cmd, "text");
	bool fits = text && text[strspn(text, " \t\r\n")] && strlen(text) <= VOICE_SESSION_SAY_MAX;
	struct words words = {0};
	struct voice_session *vs;

	words_speak(&words, cmd->locale);
	vs = find_seen(c, cmd, &words);
	if (vs && !fits)
		words_say_nothing(&words);
	else if (vs && voice_session_muted(vs))
		words_silenced(&words);
	else if (vs && voice_session_say(vs, text, 0))
		words_not_here(&words);
	else if (vs)
		words_say_soon(&words);
	command_reply(cmd, &words);
}

static void answer_code(struct control *c, struct command *cmd)
{
	struct status status = {0};
	struct words words = {0};
	struct voice_session *vs;

	words_speak(&words, cmd->locale);
	vs = find_seen(c, cmd, &words);
	if (vs)
		voice_session_status(vs, &status);
	if (status.secure)
		status_encryption_words(&status, &words);
	else if (vs)
		words_status_secure_unknown(&words);
	command_reply(cmd, &words);
}

static void carry_out(struct control *c, struct command *cmd)
{
	static void (*const answer[])(struct control * c, struct command * cmd) = {
		[COMMAND_JOIN] = answer_join,
		[COMMAND_LEAVE] = answer_leave,
		[COMMAND_STATUS] = answer_status,
		[COMMAND_CONSENT] = control_answer_consent,
		[COMMAND_PRIVACY] = control_answer_privacy,
		[COMMAND_MUSIC] = control_answer_music,
		[COMMAND_STOP] = answer_stop,
		[COMMAND_WHY] = control_answer_why,
		[COMMAND_CODE] = answer_code,
		[COMMAND_SAY] = answer_say,
		[COMMAND_REMEMBER] = control_answer_remember,
		[COMMAND_FORGET] = control_answer_forget,
		[COMMAND_ASK] = control_answer_ask,
		[COMMAND_BROWSE] = control_answer_browse,
		[COMMAND_SETTINGS] = control_answer_settings,
		[COMMAND_SHARE] = control_answer_share,
		[COMMAND_WORK] = control_answer_work,
		[COMMAND_WHY_MESSAGE] = control_answer_why_message,
		[COMMAND_WHY_USER] = control_answer_why_user,
		[COMMAND_FORGET_USER] = control_answer_forget_user,
	};

	/* Nobody else sees a direct message, and the row would make its author known here: who asks
	 * what is kept would be somebody of whom something is. */
	bus_publish(c->bus, &(struct bus_event){.type = EVENT_COMMAND,
						.at_ms = env_wall_ms(c->env),
						.guild = cmd->guild,
						.user = cmd->guild ? cmd->user : 0,
						.command = {.kind = command_name(cmd->kind)}});
	answer[cmd->kind](c, cmd);
}

/* True if every mediad has told what it holds, or will not tell it soon. */
static bool knows_mediads(const struct control *c)
{
	unsigned there, all;

	media_count(c->media, &there, &all);
	return there == all || env_now(c->env) >= c->started_at + MEDIADS_MS * NS_PER_MS;
}

void control_on_held_timer(void *arg)
{
	struct control *c = arg;

	if (!knows_mediads(c)) {
		tmr_start(c->held_tmr, MEDIADS_POLL_MS * NS_PER_MS);
		return;
	}
	for (unsigned i = 0; i < c->n_held; i++)
		carry_out(c, c->held[i]);
	c->n_held = 0;
}

static bool answers_now(void *arg)
{
	const struct control *c = arg;

	return !c->n_held && knows_mediads(c);
}

static void on_refused(void *arg)
{
	struct control *c = arg;

	counter_add(&c->state.counters, COUNTER_COMMANDS_REFUSED);
}

void control_prepare_commands(struct control *c)
{
	commands_answer_at_once(c->commands, answers_now);
	commands_tell_refused(c->commands, on_refused);
}

void control_on_command(struct command *cmd, void *arg)
{
	struct control *c = arg;

	/* Discord may be back before mediad: then a call that is up would be said to be lost. */
	if (!c->n_held && knows_mediads(c)) {
		carry_out(c, cmd);
		return;
	}
	c->held[c->n_held++] = cmd; /* no more than wait, so there is room for each */
	tmr_start(c->held_tmr, MEDIADS_POLL_MS * NS_PER_MS);
}
