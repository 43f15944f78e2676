/* /ask: a question in writing. The text model answers it as it answers a message in that channel;
 * with `voice` the room's own conversation answers it, for everybody in the voice channel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/consent/consent.h"
#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"
#include "control/voice_session/policy.h"
#include "ipc/env.h"
#include "proto/discord.h"

/* A question that waits for the text model. */
struct ask_request {
	struct ask_request *next;
	struct control *c;
	struct command *cmd;
};

void control_end_asks(struct control *c)
{
	while (c->ask_requests) {
		struct ask_request *r = c->ask_requests;

		c->ask_requests = r->next;
		free(r);
	}
}

static void end_request(struct ask_request *r)
{
	struct ask_request **at = &r->c->ask_requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	free(r);
}

/* ---- what commands that cost money share ---- */

bool control_may_ask(struct control *c, const struct command *cmd, struct words *words)
{
	struct settings *s = control_read_settings(c, cmd->guild);
	unsigned most = s ? s->commands_a_minute : 0;
	bool may = cooldown_take(&c->cooldown, cmd->guild, cmd->user, most, env_now(c->env));

	settings_free(s);
	if (!may)
		words_ask_too_often(words, most);
	return may;
}

bool control_is_refused(struct control *c, uint64_t guild, uint64_t user)
{
	struct settings *s = control_read_settings(c, guild);
	enum consent unanswered =
		s ? consent_default(c->consents, (enum consent)s->consent) : CONSENT_NEITHER;
	bool blocked = !s || policy_blocks_user(s, user);

	settings_free(s);
	return blocked || consent_of(c->consents, guild, user, unanswered) == CONSENT_NEITHER;
}

void control_tell_no_answer(const struct text_outcome *answer, struct words *words)
{
	if (answer->personal)
		words_ask_not_read(words);
	else
		words_ask_failed(words, answer->reason);
}

bool control_has_words(const char *text)
{
	return text && text[strspn(text, " \t\r\n")];
}

/* ---- in writing ---- */

/* Discord tells what the member may do in the channel of the command. */
static bool is_blind(const struct command *cmd)
{
	const char *bits = json_string_value(json_object_get(cmd->member, "permissions"));
	uint64_t has;

	return cmd->guild && bits && discord_u64(bits, &has) &&
	       !(has & (DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY) |
			DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR)));
}

static struct text_question question_of(const struct command *cmd)
{
	return (struct text_question){
		.guild = cmd->guild,
		.channel = cmd->in,
		.parent = cmd->parent,
		.user = cmd->user,
		.id = cmd->id,
		.name = cmd->name,
		.text = command_text(cmd, "question"),
		.blind = is_blind(cmd),
	};
}

/* The others see what was asked, without marks: the bot posts no link of a member's. NULL without
 * memory; the caller frees it. */
static char *quote_question(const char *question, const char *answer)
{
	struct words quote = {0};
	char *text = NULL;

	words_ask_quote(&quote, question);
	return asprintf(&text, "%s\n%s", quote.text, answer) < 0 ? NULL : text;
}

/* A public question and its answer, until these stand in the channel. */
struct public_ask {
	struct control *c;
	struct text_question q; /* its texts are owned */
	char *answer;
};

static void *free_public(struct public_ask *p)
{
	if (!p)
		return NULL;
	free((char *)(uintptr_t)p->q.name);
	free((char *)(uintptr_t)p->q.text);
	free(p->answer);
	free(p);
	return NULL;
}

/* NULL without memory. */
static struct public_ask *copy_public(struct control *c, const struct text_question *q,
				      const char *answer)
{
	struct public_ask *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->c = c;
	p->q = *q;
	p->q.name = strdup(q->name);
	p->q.text = strdup(q->text);
	p->answer = strdup(answer);
	return p->q.name && p->q.text && p->answer ? p : free_public(p);
}

static void on_shown(uint64_t message, void *arg)
{
	struct public_ask *p = arg;

	if (message)
		text_session_note(p->c->text, &p->q, p->answer, message);
	free_public(p);
}

static void reply_in_public(struct control *c, struct command *cmd, const char *answer,
			    uint32_t forgets)
{
	struct text_question q = question_of(cmd);
	struct public_ask *p;
	char *text = quote_question(q.text, answer);

	q.forgets = forgets;
	p = copy_public(c, &q, answer);
	if (p)
		command_reply_shown(cmd, text ? text : answer, on_shown, p);
	else
		command_reply_text(cmd, text ? text : answer);
	free(text);
}

static void take_answer(const struct text_outcome *answer, void *arg)
{
	struct ask_request *r = arg;
	struct command *cmd = r->cmd;
	struct words words = {0};

	if (!answer->text) {
		words_speak(&words, cmd->locale);
		control_tell_no_answer(answer, &words);
		command_reply(cmd, &words);
	} else if (command_is_private(cmd)) {
		command_reply_text(cmd, answer->text);
	} else {
		reply_in_public(r->c, cmd, answer->text, answer->forgets);
	}
	end_request(r);
}

/* The embedded engine is to answer, and has not told its address yet. Where its program is missing,
 * it never will. */
static bool awaits_engine(const struct control *c, uint64_t guild)
{
	struct settings *s = control_read_settings(c, guild);
	const struct provider_record *p = s ? settings_purpose(s, PURPOSE_TEXT_REPLY, 0) : NULL;
	bool awaits = c->embedded && !c->embedded_fault && !*c->settings->records.embedded_url &&
		      p && p->dialect == DIALECT_EMBEDDED && !*p->url &&
		      !settings_purpose(s, PURPOSE_TEXT_REPLY, 1);

	settings_free(s);
	return awaits;
}

static void ask_in_writing(struct control *c, struct command *cmd)
{
	struct ask_request *r = malloc(sizeof *r);
	struct text_question q = question_of(cmd);
	struct words words = {0};

	if (!r) {
		words_speak(&words, cmd->locale);
		words_memory_failed(&words);
		command_reply(cmd, &words);
		return;
	}
	*r = (struct ask_request){.next = c->ask_requests, .c = c, .cmd = cmd};
	c->ask_requests = r;
	text_session_ask(c->text, &q, take_answer, r);
}

/* ---- by voice ---- */

static void ask_by_voice(struct control *c, struct command *cmd, struct words *words)
{
	struct voice_session *vs = control_find_voice_session(c, cmd->guild);
	uint64_t channel = vs ? voice_session_channel(vs) : 0;
	struct guild_voice v;

	if (!channel)
		words_not_here(words);
	else if (!guilds_voice(c->guilds, cmd->guild, cmd->user, &v) || v.channel != channel)
		words_ask_outside(words);
	else if (control_is_refused(c, cmd->guild, cmd->user))
		words_ask_not_read(words);
	else if (strlen(command_text(cmd, "question")) > VOICE_SESSION_ASK_MAX)
		words_ask_too_long(words);
	else if (voice_session_muted(vs))
		words_silenced(words);
	else if (voice_session_ask(vs, cmd->user, command_text(cmd, "question")))
		words_not_here(words);
	else
		words_ask_soon(words);
	command_reply(cmd, words);
}

void control_answer_ask(struct control *c, struct command *cmd)
{
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (!control_has_words(command_text(cmd, "question")))
		words_ask_nothing(&words);
	else
		control_may_ask(c, cmd, &words);
	if (!words.n && !command_flag(cmd, "voice")) {
		control_start_embedded(c);
		if (awaits_engine(c, cmd->guild))
			words_ask_starting(&words);
	}
	if (words.n)
		command_reply(cmd, &words);
	else if (command_flag(cmd, "voice"))
		ask_by_voice(c, cmd, &words);
	else
		ask_in_writing(c, cmd);
}
