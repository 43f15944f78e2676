/* Which written messages the store may keep (inside.h).
 *
 * A message is kept if its author has agreed to be remembered, as of the moment it is written. An
 * answer of the bot is kept if that holds for everybody whose words the model was told for it. */
#include <string.h>

#include "control/consent/consent.h"
#include "control/events/events.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

static bool is_remembered(const struct text_guild *g, uint64_t user)
{
	return user && g->ts->conf.remembersh(g->id, user, g->ts->conf.arg);
}

/* When something was written, ms since 1970. */
static uint64_t written_ms(const struct text_guild *g, uint64_t age)
{
	return env_wall_ms(g->ts->conf.env) - age / NS_PER_MS;
}

bool text_keeping_may(const struct text_guild *g, uint64_t user, uint64_t age)
{
	return is_remembered(g, user) &&
	       written_ms(g, age) >= consent_since(g->ts->conf.consents, g->id, user);
}

/* m->written_ms: since 1970; 0: now. */
static void publish(struct text_session *ts, uint64_t guild, uint64_t user,
		    const struct event_message *m)
{
	struct bus_event ev = {.type = EVENT_MESSAGE,
			       .at_ms = env_wall_ms(ts->conf.env),
			       .guild = guild,
			       .user = user,
			       .message = *m};

	if (!ev.message.written_ms)
		ev.message.written_ms = ev.at_ms;
	bus_publish(ts->conf.bus, &ev);
}

/* ---- the bot's own ---- */

/* The newest answer to this message. */
static const struct text_answer *find_answer(const struct text_guild *g, uint64_t first)
{
	for (unsigned i = g->n_answers; i > 0 && i + TEXT_ANSWERS > g->n_answers; i--)
		if (g->answer[(i - 1) % TEXT_ANSWERS].first == first)
			return &g->answer[(i - 1) % TEXT_ANSWERS];
	return NULL;
}

/* The bot's own line repeats nobody who is not remembered. */
static bool is_kept(const struct text_guild *g, uint64_t message)
{
	for (unsigned i = 0; i < TEXT_KEPT; i++)
		if (g->kept[i] == message)
			return true;
	return false;
}

static bool may_keep_answer(const struct text_guild *g, const struct text_effect *e)
{
	bool keep = true;

	for (size_t i = 0; i < e->n_history && keep; i++)
		keep = e->history[i].bot
			       ? is_kept(g, e->history[i].message)
			       : e->history[i].kept && is_remembered(g, e->history[i].user);
	for (size_t i = 0; i < e->n_triggers && keep; i++)
		keep = e->triggers[i]->kept && is_remembered(g, e->triggers[i]->user);
	for (unsigned i = 0; i < TEXT_QUOTES && keep; i++)
		for (size_t k = 0; k < e->n_triggers && keep; k++)
			if (g->quote[i].reply == e->triggers[k]->message)
				keep = g->quote[i].user == g->ts->self
					       ? is_kept(g, g->quote[i].message)
					       : g->quote[i].kept &&
							 is_remembered(g, g->quote[i].user);
	return keep;
}

bool text_keeping_asked(struct text_guild *g, const struct text_effect *e, uint64_t first,
			uint64_t user)
{
	struct text_answer *a = &g->answer[g->n_answers++ % TEXT_ANSWERS];

	*a = (struct text_answer){.first = first,
				  .user = user,
				  .reply = e->reply,
				  .repeats = true,
				  .keep = g->id && is_remembered(g, user) && may_keep_answer(g, e)};
	return a->keep;
}

void text_keeping_told(struct text_guild *g, uint32_t reply, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_ANSWERS; i++) {
		struct text_answer *a = &g->answer[i];
		bool known = a->reply != reply || !user || user == a->user;

		for (unsigned k = 0; k < a->n_told && !known; k++)
			known = a->told[k] == user;
		if (known)
			continue;
		if (a->n_told == TEXT_QUOTED)
			a->keep = false;
		else
			a->told[a->n_told++] = user;
	}
}

/* As JSON, an array of ids; empty: nobody. */
static void print_told(const struct text_answer *a, char *to, size_t size)
{
	size_t n = 0;

	*to = '\0';
	for (unsigned i = 0; i < a->n_told; i++)
		n += (size_t)snprintf(to + n, size - n, "%s\"%llu\"", i ? "," : "[",
				      (unsigned long long)a->told[i]);
	if (n)
		snprintf(to + n, size - n, "]");
}

bool text_keeping_of(const struct text_guild *g, uint32_t reply)
{
	for (unsigned i = g->n_answers; i > 0 && i + TEXT_ANSWERS > g->n_answers; i--) {
		const struct text_answer *a = &g->answer[(i - 1) % TEXT_ANSWERS];

		if (a->reply == reply)
			return a->keep && !a->untold && is_remembered(g, a->user);
	}
	return false;
}

void text_keeping_sends(struct text_guild *g, uint64_t first, bool repeats)
{
	for (unsigned i = 0; i < TEXT_ANSWERS; i++)
		if (g->answer[i].first == first)
			g->answer[i].repeats = repeats;
}

/* Text of strangers is neither kept as the author's nor told in their name. buf: for a copy. */
static const char *own_text(const struct incoming *in, char buf[INCOMING_TEXT])
{
	if (!in->strangers)
		return in->text;
	utf8_copy_bytes(buf, INCOMING_TEXT, in->text, strnlen(in->text, in->own));
	return buf;
}

/* Whoever may be read is heard in the voice channel, too: what is typed there is told there. */
static void tell_voice(const struct text_guild *g, const struct incoming *in, uint64_t user,
		       bool repeats)
{
	char own[INCOMING_TEXT];
	const struct text_session_typed typed = {.message = in->message,
						 .user = user,
						 .bot = in->self,
						 .name = in->name,
						 .text = own_text(in, own),
						 .files = &in->files,
						 .repeats = repeats};

	if (g->ts->conf.typedh && *typed.text)
		g->ts->conf.typedh(g->id, in->channel, &typed, g->ts->conf.arg);
}

/* An answer to the message `first`. */
static void keep_answer(struct text_guild *g, const struct incoming *in, uint64_t first)
{
	const struct text_answer *a = find_answer(g, first);
	char told[TEXT_QUOTED * 23 + 2]; /* each: 20 digits, quotes, and what stands before */

	if (!a || !a->keep || !is_remembered(g, a->user))
		return;
	print_told(a, told, sizeof told);
	g->kept[g->n_kept++ % TEXT_KEPT] = in->message;
	tell_voice(g, in, a->user, a->repeats);
	publish(g->ts, g->id, a->user,
		&(struct event_message){.channel = in->channel,
					.message = in->message,
					.change = "written",
					.text = in->text,
					.told = told,
					.bot = true});
}

/* The message that an answer with this nonce is for, of several the first. False: it is none. */
static bool read_first(const struct incoming *in, uint64_t *id)
{
	char first[INCOMING_NONCE];

	strcpy(first, in->nonce);
	first[strcspn(first, ".")] = '\0';
	return discord_snowflake(first, id);
}

bool text_keeping_is_untold(const struct text_guild *g, const struct incoming *in)
{
	uint64_t id = 0;
	const struct text_answer *a = read_first(in, &id) ? find_answer(g, id) : NULL;

	return a && a->untold;
}

/* A message that tells of a tool at work is no answer; the one that takes its place is. */
static void take_own(struct text_guild *g, const struct incoming *in)
{
	uint64_t id = 0;

	if (!read_first(in, &id))
		return;
	if (text_working_is(in->text))
		g->worked[g->n_worked++ % TEXT_WORKED] =
			(struct text_worked){.message = in->message, .first = id};
	else
		keep_answer(g, in, id);
}

/* True: the message told of a tool until now. */
static bool take_replaced(struct text_guild *g, const struct incoming *in)
{
	for (unsigned i = 0; g && i < TEXT_WORKED; i++) {
		uint64_t first = g->worked[i].first;

		if (g->worked[i].message != in->message || !first)
			continue;
		g->worked[i] = (struct text_worked){0};
		keep_answer(g, in, first);
		return true;
	}
	return false;
}

/* ---- people's ---- */

/* Words that the store would have dropped by now do not come back. */
static bool is_over(const struct text_guild *g, uint64_t age)
{
	return age > (uint64_t)g->settings->store_words_hours * 3600 * NS_PER_S;
}

void text_keeping_written(struct text_guild *g, const struct incoming *in, uint64_t age)
{
	char own[INCOMING_TEXT];
	const char *text = own_text(in, own);

	/* Nobody can answer /consent for direct messages. */
	if (!g->id ||
	    text_channel_is_blocked(g->settings, g->id, in->channel, in->parent, in->category) ||
	    (!in->self && is_over(g, age)))
		return;
	if (in->self)
		take_own(g, in);
	else if (!in->bot)
		tell_voice(g, in, in->user, false);
	if (!in->self && !in->bot && text_keeping_may(g, in->user, age) &&
	    (*text || !in->strangers))
		publish(g->ts, g->id, in->user,
			&(struct event_message){.channel = in->channel,
						.message = in->message,
						.change = "written",
						.name = in->name,
						.text = text,
						.written_ms = written_ms(g, age),
						.to_bot = in->to_bot});
}

/* An edit of a reply may not tell whether that is one to the bot. */
static bool is_closed(const struct settings *s, const struct incoming *in)
{
	bool to_bot = in->to_bot || in->untold || !in->guild;

	return s->text_chat == SETTINGS_TEXT_OFF ||
	       (s->text_chat == SETTINGS_TEXT_MENTIONS && !to_bot) ||
	       text_user_is_blocked(s, in->guild, in->user) ||
	       text_channel_is_blocked(s, in->guild, in->channel, in->parent, in->category);
}

void text_keeping_close(const struct text_session *ts, struct incoming *edited)
{
	bool closed;

	if (edited->self)
		return;
	closed = is_closed(text_session_borrow(ts, edited->guild), edited);
	text_session_return(ts, edited->guild);
	if (!closed)
		return;
	edited->text[0] = edited->said[0] = edited->quoted[0] = '\0';
	edited->own = 0;
	edited->strangers = edited->quoted_strangers = false;
	edited->files.n = edited->quoted_files.n = 0;
}

/* True if the present words of a person's message may be read by the settings of its server. */
static bool is_readable(const struct text_session *ts, const struct settings *s,
			const struct incoming *in)
{
	const struct consent_table *t = ts->conf.consents;
	enum consent unanswered = consent_default(t, (enum consent)s->consent);

	return !is_closed(s, in) &&
	       consent_of(t, in->guild, in->user, unanswered) != CONSENT_NEITHER;
}

/* True if they may be kept, too: only if the message could be kept when it was written. */
static bool may_keep_edit(const struct text_session *ts, const struct settings *s,
			  const struct incoming *in)
{
	uint64_t ms = missed_ms_of(in->message), now = env_wall_ms(ts->conf.env);

	return ts->conf.remembersh(in->guild, in->user, ts->conf.arg) &&
	       ms >= consent_since(ts->conf.consents, in->guild, in->user) &&
	       ms >= consent_unread_before(ts->conf.consents, in->guild, in->user,
					   (enum consent)s->consent) &&
	       now <= ms + (uint64_t)s->store_words_hours * 3600000 && text_session_was_read(ts);
}

static void tell_edit(const struct text_session *ts, uint64_t guild, uint64_t channel,
		      uint64_t message, const char *text)
{
	if (ts->conf.editedh)
		ts->conf.editedh(guild, channel, message, text, ts->conf.arg);
}

/* Without words for what may not be kept: of a line that the store has nothing stays, and whoever
 * follows the events learns neither what was written nor by whom. */
static void publish_edit(struct text_session *ts, const struct incoming *in, bool keep,
			 const char *text)
{
	publish(ts, in->guild, keep || in->self ? in->user : 0,
		&(struct event_message){.channel = in->channel,
					.message = in->message,
					.change = "edited",
					.name = in->self || !keep ? "" : in->name,
					.text = keep ? text : ""});
}

void text_keeping_edited(struct text_session *ts, struct text_guild *g, const struct incoming *in)
{
	char own[INCOMING_TEXT];
	const char *text = own_text(in, own);
	const struct settings *s;
	bool read, keep;

	if (in->self && (text_working_is(in->text) || take_replaced(g, in)))
		return;
	if (!in->guild || in->bot)
		return;
	s = text_session_borrow(ts, in->guild);
	read = in->self ? g && is_kept(g, in->message) : is_readable(ts, s, in);
	keep = read && (in->self || may_keep_edit(ts, s, in));
	text_session_return(ts, in->guild);
	publish_edit(ts, in, keep, text);
	tell_edit(ts, in->guild, in->channel, in->message, read ? text : "");
}

void text_keeping_deleted(struct text_session *ts, uint64_t guild, uint64_t channel,
			  uint64_t message)
{
	if (!guild)
		return;
	publish(ts, guild, 0,
		&(struct event_message){
			.channel = channel, .message = message, .change = "deleted"});
	tell_edit(ts, guild, channel, message, "");
}

/* True if the answer is being sent, or was. The model is asked again for any other. */
static bool is_sent(const struct text_guild *g, uint64_t first)
{
	for (const struct text_job *j = g->jobs; j; j = j->next)
		if (j->first == first && j->state != TEXT_JOB_SENDING)
			return false;
	return true;
}

void text_keeping_forget(struct text_guild *g)
{
	for (unsigned i = 0; i < TEXT_ANSWERS; i++) {
		g->answer[i].keep = false;
		g->answer[i].untold |= is_sent(g, g->answer[i].first);
	}
	memset(g->kept, 0, sizeof g->kept);
}
