/* What messages reply to (inside.h): it may be older than the lines of its channel. */
#include <string.h>

#include "control/consent/consent.h"
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "proto/base/utf8.h"

/* An answer is given up that Discord has not taken after about a minute. */
enum { LATE_ANSWER_MS = 90000 };

/* True if this message of the bot may repeat somebody who was erased since, or allows less since
 * then. An answer that was under way at that moment came a little later. user: the other person of
 * direct messages, which have the words of nobody else. */
static bool repeats_withdrawn(const struct text_guild *g, uint64_t user, uint64_t message)
{
	const struct consent_table *t = g->ts->conf.consents;
	uint64_t ms = g->id ? consent_withdrawn(t, g->id)
			    : consent_unread_before(t, 0, user, CONSENT_HEARD);

	return ms &&
	       (ms > UINT64_MAX - LATE_ANSWER_MS || missed_ms_of(message) < ms + LATE_ANSWER_MS);
}

bool text_quoting_bars(const struct text_guild *g, uint64_t user, uint64_t message, uint64_t asker)
{
	if (user == g->ts->self)
		return repeats_withdrawn(g, asker, message);
	return text_session_refused(g, user) || text_session_unread(g, user, message) ||
	       settings_ids_have(g->settings->blocked_users, user);
}

static enum text_want want_of(const struct text_guild *g, const struct text_quote *q)
{
	return text_chat_wants(g->core, q->channel, q->reply);
}

enum text_want text_quoting_wants(const struct text_guild *g, uint64_t message)
{
	enum text_want most = TEXT_WANT_NONE;

	for (unsigned i = 0; i < TEXT_QUOTES; i++)
		if (g->quote[i].reply && g->quote[i].message == message &&
		    want_of(g, &g->quote[i]) > most)
			most = want_of(g, &g->quote[i]);
	return most;
}

/* Where there is no free place, what is wanted least, of that the oldest. NULL: all that is there
 * waits for answers, and this one need not get one. */
static struct text_quote *place_for(struct text_guild *g, bool addressed)
{
	enum text_want least = TEXT_WANT_ADDRESSED, want;
	struct text_quote *best = NULL;

	for (unsigned i = 0; i < TEXT_QUOTES; i++) {
		struct text_quote *q = &g->quote[i];

		if (!q->reply)
			return q;
		want = want_of(g, q);
		if (best && (want > least || (want == least && q->order > best->order)))
			continue;
		best = q;
		least = want;
	}
	return least == TEXT_WANT_ADDRESSED && !addressed ? NULL : best;
}

void text_quoting_keep(struct text_guild *g, const struct incoming *in)
{
	struct text_quote *q;

	/* Nobody else's messages are answered. */
	if (in->self || in->bot || !*in->quoted || !in->replied_user ||
	    text_quoting_bars(g, in->replied_user, in->replies_to, in->user))
		return;
	q = place_for(g, in->to_bot || !in->guild);
	if (!q)
		return;
	text_showing_quoted(g, in);
	*q = (struct text_quote){.reply = in->message,
				 .channel = in->channel,
				 .order = ++g->n_quotes,
				 .message = in->replies_to,
				 .user = in->replied_user,
				 .strangers = in->quoted_strangers};
	q->kept = text_keeping_may(g, in->replied_user, text_session_age(g->ts, in->replies_to));
	utf8_copy(q->name, sizeof q->name, in->quoted_name);
	utf8_copy(q->text, sizeof q->text, in->quoted);
}

void text_quoting_drop(struct text_guild *g, uint64_t message, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_QUOTES; i++)
		if (message ? g->quote[i].message == message
			    : g->quote[i].user == user || g->quote[i].user == g->ts->self)
			g->quote[i] = (struct text_quote){0};
}

/* An empty text may be one that Discord keeps from the bot. */
void text_quoting_edit(struct text_guild *g, const struct incoming *in)
{
	if (!*in->text)
		text_quoting_drop(g, in->message, 0);
	for (unsigned i = 0; i < TEXT_QUOTES; i++)
		if (g->quote[i].message == in->message) {
			g->quote[i].strangers = in->strangers;
			utf8_copy(g->quote[i].text, sizeof g->quote[i].text, in->text);
			utf8_plain(g->quote[i].text);
		}
}
