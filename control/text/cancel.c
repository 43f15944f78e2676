/* An author cancels an answer by words or by a stop sign (inside.h). What is being sent is not
 * stopped. */
#include "control/text/inside.h"

static bool may_cancel(const struct text_live *l, uint64_t user)
{
	return l->t.user == user && l->state != TEXT_SENDING;
}

static bool waits_for_something(const struct text_channel *ch, uint64_t user)
{
	if (text_jobs_has(ch, user) || text_reply_tells(ch, user))
		return true;
	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++)
		if (ch->agreement[i].user == user)
			return true;
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (may_cancel(ch->queue[i], user))
			return true;
	return false;
}

void text_cancel_acknowledge(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev)
{
	struct text_effect *e;

	if (!text_spending_sign(chat, TEXT_DO_ACKNOWLEDGE, ch->id, ev->user))
		return;
	e = text_emit(chat, TEXT_DO_ACKNOWLEDGE, ch);
	e->message = ev->message;
	e->user = ev->user;
	e->text = ev->text;
}

static void stop_all(struct text_chat *chat, struct text_channel *ch, const struct text_event *ev)
{
	text_triggers_end(chat, ch, ev->user, TEXT_REASON_CANCELLED);
	text_agreement_withdraw(chat, ch, ev->user);
	text_jobs_stop(chat, ch, ev->user);
	if (text_reply_tells(ch, ev->user))
		text_reply_abandon(chat, ch);
	text_cancel_acknowledge(chat, ch, ev);
}

bool text_cancel_by_words(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev)
{
	/* "Stop" to somebody else stops nothing of the bot. */
	if ((ev->to_others && !ev->to_bot) || !waits_for_something(ch, ev->user) ||
	    !text_names_stops(chat, ev->text))
		return false;
	stop_all(chat, ch, ev);
	text_trigger_refuse(chat, ev, NULL, TEXT_REASON_CANCEL_REQUEST);
	return true;
}

/* A stop sign on a message of theirs that waits is as good as the words. */
void text_cancel_on_event(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev)
{
	struct text_live *l = ev->type == TEXT_CANCEL ? text_trigger_find(ch, ev->message) : NULL;

	if (l && may_cancel(l, ev->user))
		stop_all(chat, ch, ev);
}
