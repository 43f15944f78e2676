/* /why and the menus "Why did you not answer this?" and "Why no answer?": the reason of a turn or a
 * message, in the words of the one table of reasons that --why tells, too.
 *
 *   asked about              who may ask               what is told
 *   one's own last turns     everybody                 their reasons, one at a time
 *   one's own last message   everybody                 its reason, and how the bot took it
 *   another's last turn      who hears them in the     its reason
 *                            bot's voice channel
 *   a message                who can see it: in the    its reason, how the bot took it, and the
 *                            menu; by its id, authors  what helps; not whether its
 *                            and who is in its channel author refuses to be read
 *
 * Reasons hold no words of anybody. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/discord/guilds.h"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"
#include "ipc/env.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { CHOICE = 101 /* bytes of a suggestion with NUL */, MINUTE_MS = 60000 };

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

static void tell_turn(struct control *c, const struct command *cmd, uint64_t turn,
		      struct words *words)
{
	const struct own_turn *own =
		own_turns_find(&c->own_turns, cmd->guild, cmd->user, (uint32_t)turn);

	if (own)
		words_why_turn(words, own->turn, own->reason);
	else
		words_why_none(words);
}

void control_answer_why(struct control *c, struct command *cmd)
{
	const char *named = command_text(cmd, "message");
	uint64_t turn = command_number(cmd, "turn");
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (turn)
		tell_turn(c, cmd, turn, &words);
	else if (named)
		tell_named(c, cmd, named, &words);
	else
		tell_last(c, cmd, &words);
	command_reply(cmd, &words);
}

/* Their own turns: speech has no message to click. */
void control_type_why(struct control *c, const struct typing *t, uint32_t id)
{
	const struct own_turn *own[OWN_TURNS_EACH];
	unsigned n = strcmp(t->option, "turn") == 0
			     ? own_turns_list(&c->own_turns, t->guild, t->user, own)
			     : 0;
	uint64_t now = env_wall_ms(c->env);
	char number[16], label[CHOICE];
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++) {
		uint64_t ago = now > own[i]->at_ms ? now - own[i]->at_ms : 0;
		struct words words = {0};

		snprintf(number, sizeof number, "%" PRIu32, own[i]->turn);
		if (strncmp(number, t->text, strlen(t->text)) != 0)
			continue;
		words_speak(&words, t->locale);
		words_why_choice(&words, own[i]->turn, (unsigned)(ago / MINUTE_MS), own[i]->reason);
		utf8_copy(label, sizeof label, words.text);
		json_array_append_new(list, json_pack("{s:s,s:I}", "name", label, "value",
						      (json_int_t)own[i]->turn));
	}
	components_suggest(c->components, id, list);
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
