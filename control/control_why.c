/* /why and the menus "Why did you not answer this?" and "Why no answer?": the reason of a turn or a
 * message, in the words of the one table of reasons that --why tells, too.
 *
 *   asked about              who may ask               what is told
 *   one's own last turn      everybody                 its reason
 *   another's last turn      who hears them in the     its reason
 *                            bot's voice channel
 *   a message                who can see it            its reason, and the rule that refused it;
 *                                                      not whether its author refuses to be read
 *
 * Reasons hold no words of anybody. */
#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"

void control_answer_why(struct control *c, struct command *cmd)
{
	const char *reason = own_turns_reason(&c->own_turns, cmd->guild, cmd->user);
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (reason)
		words_status_last_turn(&words, reason);
	else
		words_why_none(&words);
	command_reply(cmd, &words);
}

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

static void tell_ended(const struct text_why *why, bool own, struct words *words)
{
	if (why->personal && !own) {
		words_why_not_read_by_me(words);
		return;
	}
	words_why_message(words, why->reason);
	if (*why->rule)
		words_why_rule(words, why->rule);
}

void control_answer_why_message(struct control *c, struct command *cmd)
{
	struct settings *s = control_read_settings(c, cmd->guild);
	struct text_why why = {0};
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (s)
		text_session_why(c->text, s, cmd->guild, cmd->target, &why);
	settings_free(s);
	if (cmd->target_user && cmd->target_user == guilds_self(c->guilds))
		words_why_myself(&words);
	else if (why.kind == TEXT_WHY_ENDED)
		tell_ended(&why, why.user == cmd->user, &words);
	else if (why.kind == TEXT_WHY_ANSWERED)
		words_why_answered(&words);
	else if (why.kind == TEXT_WHY_OFF)
		words_why_text_off(&words);
	else if (why.kind == TEXT_WHY_NOT_READ)
		words_why_unaddressed(&words);
	else
		words_why_unknown(&words);
	command_reply(cmd, &words);
}
