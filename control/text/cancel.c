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
	e->sign = !text_spending_tells(chat, ch);
	e->message = ev->message;
	e->user = ev->user;
	e->text = ev->text;
}

/* What people see, or were told, of the bot's work for this user: what addressed it, calls, a
 * question, a result. */
static bool is_seen(const struct text_channel *ch, uint64_t user)
{
	bool seen = text_jobs_has(ch, user) || text_reply_tells(ch, user);

	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++)
		seen = seen || ch->agreement[i].user == user;
	for (unsigned i = 0; i < ch->n_queue; i++)
		seen = seen ||
		       (may_cancel(ch->queue[i], user) && text_trigger_addresses(&ch->queue[i]->t));
	return seen;
}

static void stop_all(struct text_chat *chat, struct text_channel *ch, const struct text_event *ev)
{
	text_triggers_end(chat, ch, ev->user, TEXT_REASON_CANCELLED);
	text_agreement_withdraw(chat, ch, ev->user);
	text_jobs_stop(chat, ch, ev->user);
	if (text_reply_tells(ch, ev->user))
		text_reply_abandon(chat, ch);
}

/* "Stop" is said between people, too: what nobody knew of ends in silence, and the words are a line
 * of the conversation. */
static void stop_silently(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev)
{
	text_line_add(chat, ch, ev, false, 0);
	if (!ev->late)
		text_initiative_heard(chat, ch);
	text_triggers_end(chat, ch, ev->user, TEXT_REASON_CANCELLED);
}

bool text_cancel_by_words(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev)
{
	bool occurs;

	/* "Stop" to somebody else stops nothing of the bot. */
	if ((ev->to_others && !ev->to_bot) || !waits_for_something(ch, ev->user) ||
	    !text_names_stops(chat, text_names_said(ev)))
		return false;
	if (ev->to_bot || !ev->guild || is_seen(ch, ev->user) ||
	    text_signal_confidence(text_names_signal(chat, text_names_said(ev), &occurs)) >=
		    TEXT_ADDRESSED) {
		stop_all(chat, ch, ev);
		text_cancel_acknowledge(chat, ch, ev);
	} else {
		stop_silently(chat, ch, ev);
	}
	text_trigger_refuse(chat, ev, NULL, TEXT_REASON_CANCEL_REQUEST);
	return true;
}

/* A stop sign on a message of theirs that waits is as good as the words. */
void text_cancel_on_event(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev)
{
	struct text_live *l = ev->type == TEXT_CANCEL ? text_trigger_find(ch, ev->message) : NULL;

	if (!l || !may_cancel(l, ev->user))
		return;
	stop_all(chat, ch, ev);
	text_cancel_acknowledge(chat, ch, ev);
}
