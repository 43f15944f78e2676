/* /why and the menus "Why did you not answer this?" and "Why no answer?": the reason of a turn or a
 * message, in the words of the one table of reasons that --why tells, too.
 *
 *   asked about              who may ask               what is told
 *   one's own last turn      everybody                 its reason
 *   one's own last message   everybody                 its reason, and how the bot took it
 *   another's last turn      who hears them in the     its reason
 *                            bot's voice channel
 *   a message                who can see it: in the    its reason, how the bot took it, and the
 *                            menu; by its id, authors  what helps; not whether its
 *                            and who is in its channel author refuses to be read
 *
 * Reasons hold no words of anybody. */
#include <stdio.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"
#include "proto/discord.h"

static void tell_ended(const struct text_why *why, bool own, struct words *words)
{
	/* As of a message that is not known: any other sentence would tell. */
	if (why->personal && !own) {
		words_why_unknown(words);
		return;
	}
	words_why_message(words, why->reason);
	if (why->no_content)
		words_why_content(words);
	if (*why->help)
		words_why_help(words, why->help);
}

/* What became of a message that somebody else wrote than the bot. */
static void tell_message(const struct text_why *why, uint64_t user, struct words *words)
{
	if (why->kind == TEXT_WHY_ENDED)
		tell_ended(why, why->user == user, words);
	else if (why->kind == TEXT_WHY_ANSWERED)
		words_why_answered(words);
	else if (why->kind == TEXT_WHY_WAITS)
		words_why_waits(words, why->hold);
	else if (why->kind == TEXT_WHY_OFF)
		words_why_text_off(words);
	else if (why->kind == TEXT_WHY_NOT_READ)
		words_why_unaddressed(words);
	else
		words_why_unknown(words);
	if (*why->signal && (!why->personal || why->user == user))
		words_why_signal(words, why->signal);
	if (*why->attention && (!why->personal || why->user == user))
		words_why_attention(words, why->attention);
}

static void find_why(struct control *c, uint64_t guild, uint64_t message, struct text_why *why)
{
	struct settings *s = control_read_settings(c, guild);

	*why = (struct text_why){
		.signal = "", .attention = "", .hold = "", .reason = "", .help = ""};
	if (s)
		text_session_why(c->text, s, guild, message, why);
	settings_free(s);
}

/* ---- /why ---- */

/* An id, or a link to a message, which ends with its id. 0: it is neither. */
static uint64_t read_message(const char *text)
{
	const char *slash = strrchr(text, '/');
	uint64_t id = 0;

	return discord_snowflake(slash ? slash + 1 : text, &id) ? id : 0;
}

/* A message by its id: somebody else's only if it was written where the command was used, which its
 * user sees. */
static void tell_named(struct control *c, const struct command *cmd, const char *named,
		       struct words *words)
{
	struct text_why why;

	find_why(c, cmd->guild, read_message(named), &why);
	if (why.user && why.user != cmd->user && why.channel != cmd->in)
		words_why_unknown(words);
	else
		tell_message(&why, cmd->user, words);
}

static void tell_last_written(struct control *c, const struct command *cmd, uint64_t message,
			      struct words *words)
{
	struct text_why why;
	char link[128];

	find_why(c, cmd->guild, message, &why);
	snprintf(link, sizeof link, "https://discord.com/channels/%llu/%llu/%llu",
		 (unsigned long long)cmd->guild, (unsigned long long)why.channel,
		 (unsigned long long)message);
	words_why_last_written(words, link);
	tell_message(&why, cmd->user, words);
}

/* What they said last, and what they wrote last. */
static void tell_last(struct control *c, const struct command *cmd, struct words *words)
{
	const char *reason = own_turns_reason(&c->own_turns, cmd->guild, cmd->user);
	uint64_t written = text_session_last(c->text, cmd->guild, cmd->user);

	if (reason)
		words_status_last_turn(words, reason);
	if (reason && written)
		words_line(words);
	if (written)
		tell_last_written(c, cmd, written, words);
	if (!reason && !written)
		words_why_none(words);
}

void control_answer_why(struct control *c, struct command *cmd)
{
	const char *named = command_text(cmd, "message");
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (named)
		tell_named(c, cmd, named, &words);
	else
		tell_last(c, cmd, &words);
	command_reply(cmd, &words);
}

/* ---- the menus ---- */

/* True if both are in the bot's voice channel. */
static bool hear_each_other(struct control *c, uint64_t guild, uint64_t user, uint64_t other)
{
	const struct voice_session *vs = control_find_voice_session(c, guild);
	uint64_t channel = vs ? voice_session_channel(vs) : 0;
	struct guild_voice a, b;

	return channel && guilds_voice(c->guilds, guild, user, &a) && a.channel == channel &&
	       guilds_voice(c->guilds, guild, other, &b) && b.channel == channel;
}

void control_answer_why_user(struct control *c, struct command *cmd)
{
	const char *reason;
	struct words words = {0};

	if (cmd->target == cmd->user) {
		control_answer_why(c, cmd);
		return;
	}
	words_speak(&words, cmd->locale);
	reason = hear_each_other(c, cmd->guild, cmd->user, cmd->target)
			 ? own_turns_reason(&c->own_turns, cmd->guild, cmd->target)
			 : NULL;
	if (cmd->target == guilds_self(c->guilds))
		words_why_myself(&words);
	else if (reason)
		words_status_last_turn(&words, reason);
	else
		words_why_none_of_theirs(&words);
	command_reply(cmd, &words);
}

void control_answer_why_message(struct control *c, struct command *cmd)
{
	struct text_why why;
	struct words words = {0};

	words_speak(&words, cmd->locale);
	find_why(c, cmd->guild, cmd->target, &why);
	if (cmd->target_user && cmd->target_user == guilds_self(c->guilds))
		words_why_myself(&words);
	else
		tell_message(&why, cmd->user, &words);
	command_reply(cmd, &words);
}
