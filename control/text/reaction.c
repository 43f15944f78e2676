/* The emoji that a model puts on the message that it answers, instead of words or beside them
 * (inside.h). The last message that addresses the bot gets it, or else the last one of the burst.
 * One of the bot's own accord, on a message that does not address it, is drawn once for that
 * message. */
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

static bool is_addressed(const struct text_trigger *t)
{
	return text_signal_confidence(t->signal) >= TEXT_ADDRESSED;
}

/* NULL: no message waits for the answer. */
static struct text_trigger *find_target(const struct text_channel *ch)
{
	struct text_trigger *best = NULL;

	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct text_trigger *t = &ch->queue[i]->t;

		if (ch->queue[i]->state == TEXT_ASKED &&
		    (!best || is_addressed(t) || !is_addressed(best)))
			best = t;
	}
	return best;
}

bool text_reaction_allowed(const struct text_chat *chat, const struct text_channel *ch)
{
	const struct text_trigger *t = find_target(ch);

	return t && !t->unreactive && !ch->reply.unreacted &&
	       (is_addressed(t) || t->draw < chat->settings->text_reactivity) &&
	       text_spending_reacts(chat, ch);
}

static struct text_effect *put(struct text_chat *chat, struct text_channel *ch,
			       struct text_trigger *t)
{
	struct text_effect *e = text_emit(chat, TEXT_DO_REACT, ch);

	memcpy(t->emoji, ch->reply.emoji, sizeof t->emoji);
	text_spending_react(chat, ch);
	e->message = t->message;
	e->user = t->user;
	e->text = ch->reply.emoji;
	e->kind = ch->reply.kind;
	return e;
}

void text_reaction_answer(struct text_chat *chat, struct text_channel *ch, const char *emoji)
{
	struct text_reply *r = &ch->reply;
	struct text_effect *e;

	memcpy(r->emoji, emoji, sizeof r->emoji);
	r->state = TEXT_REPLY_REACTING;
	r->withdraw_at = chat->now + TEXT_SENDING_S * NS_PER_S;
	e = put(chat, ch, find_target(ch));
	e->reply = r->id;
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_ASKED)
			r->asked[e->n_triggers++] = &ch->queue[i]->t;
	e->triggers = r->asked;
}

void text_reaction_keep(struct text_channel *ch, const char *emoji)
{
	const struct text_trigger *t = find_target(ch);

	memcpy(ch->reply.emoji, emoji, sizeof ch->reply.emoji);
	ch->reply.on = t->message;
	ch->reply.on_user = t->user;
}

/* Whatever was true before the words were sent has to be true still. */
void text_reaction_follow(struct text_chat *chat, struct text_channel *ch)
{
	struct text_live *l = ch->reply.on ? text_trigger_find(ch, ch->reply.on) : NULL;

	ch->reply.on = 0;
	if (l && text_spending_reacts(chat, ch) &&
	    text_admission_gate(chat, ch, l->t.user) == TEXT_REASON_NONE)
		put(chat, ch, &l->t);
}

void text_reaction_on_event(struct text_chat *chat, struct text_channel *ch,
			    const struct text_event *ev)
{
	(void)chat;
	if (ev->type == TEXT_DELETED && ch->reply.on == ev->message)
		ch->reply.on = 0;
}

void text_reaction_forget(struct text_channel *ch, uint64_t user)
{
	if (ch->reply.on_user == user)
		ch->reply.on = 0;
}
