/* The typing indicator (inside.h): people see it while the bot works on an answer that is owed or
 * that calls tools, and before, while a message that must be answered waits for the rest of its
 * burst. It is not shown while a limit holds the channel, or for an answer that the model may
 * skip. */
#include "control/text/inside.h"
#include "proto/base/time.h"

/* When the first message that must be answered is allowed an answer; UINT64_MAX: none waits. */
static uint64_t owed_at(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < ch->n_queue; i++) {
		const struct text_live *l = ch->queue[i];
		uint64_t at;

		if (l->state != TEXT_QUEUED || !text_signal_forces(l->t.signal))
			continue;
		at = text_queue_allowed_at(chat, ch, l->t.user, false);
		first = at < first ? at : first;
	}
	return first;
}

uint64_t text_typing_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	const struct text_reply *r = &ch->reply;
	uint64_t at = UINT64_MAX;

	if (r->state == TEXT_REPLY_NONE)
		at = owed_at(chat, ch);
	else if (r->shown && (r->state == TEXT_REPLY_ASKED || r->state == TEXT_REPLY_RETRY))
		at = chat->now;
	return at > ch->typing_until ? at : ch->typing_until;
}

void text_typing_tick(struct text_chat *chat, struct text_channel *ch)
{
	if (text_typing_deadline(chat, ch) > chat->now)
		return;
	ch->typing_until = chat->now + TEXT_TYPING_S * NS_PER_S;
	text_emit(chat, TEXT_DO_TYPING, ch);
}

void text_typing_posted(const struct text_chat *chat, struct text_channel *ch, uint64_t in)
{
	if (ch->typing_until > chat->now + in)
		ch->typing_until = chat->now + in;
}
