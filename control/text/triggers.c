/* Messages on their way to their reason: edits, deletions, the end (inside.h). */
#include <stdlib.h>
#include <string.h>

#include "control/text/inside.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

struct text_live *text_trigger_find(const struct text_channel *ch, uint64_t message)
{
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->t.message == message)
			return ch->queue[i];
	return NULL;
}

static bool has_share(const struct text_channel *ch, uint64_t user)
{
	unsigned here = 0;

	for (unsigned i = 0; i < ch->n_queue; i++)
		here += ch->queue[i]->t.user == user;
	return !ch->guild || here < TEXT_QUEUE / TEXT_SHARE;
}

/* One author leaves places to others, in the channel and in all of them. */
static bool has_place(const struct text_chat *chat, const struct text_channel *ch, uint64_t user)
{
	unsigned all = 0;

	if (ch->n_queue == (ch->guild ? TEXT_QUEUE : TEXT_QUEUE_DIRECT) || !chat->n_free ||
	    !has_share(ch, user))
		return false;
	for (unsigned i = 0; i < TEXT_TRIGGERS; i++)
		all += chat->holder[i] == user;
	return all < TEXT_TRIGGERS / TEXT_SHARE;
}

/* The oldest of what is ambient and waits in the channel gives way; where the author has too much
 * there, the oldest of theirs. To what is written now the newest gives way that was missed: few of
 * those are answered. */
static void make_place(struct text_chat *chat, struct text_channel *ch, const struct text_event *ev)
{
	bool share = has_share(ch, ev->user);
	struct text_live *missed = NULL;

	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct text_live *l = ch->queue[i];

		if (l->state != TEXT_QUEUED || !(share || l->t.user == ev->user))
			continue;
		if (text_trigger_is_ambient(&l->t)) {
			text_trigger_end(chat, ch, l, TEXT_REASON_QUEUE_FULL);
			return;
		}
		if (l->t.late)
			missed = l;
	}
	if (missed && !ev->late)
		text_trigger_end(chat, ch, missed, TEXT_REASON_MISSED_ENOUGH);
}

/* Of the places of all channels, which are free with the next step alone, some are left to what
 * addresses the bot now. */
static bool may_wait(const struct text_chat *chat, bool yields)
{
	return !yields || chat->n_free > TEXT_TRIGGERS / TEXT_SHARE;
}

struct text_live *text_trigger_add(struct text_chat *chat, struct text_channel *ch,
				   const struct text_event *ev, bool ambient, enum text_reason *why)
{
	struct text_live *l;
	char *text;

	*why = ev->late ? TEXT_REASON_MISSED_ENOUGH : TEXT_REASON_QUEUE_FULL;
	if (!ambient && !has_place(chat, ch, ev->user))
		make_place(chat, ch, ev);
	if (!may_wait(chat, ambient || ev->late) || !has_place(chat, ch, ev->user))
		return NULL;
	*why = TEXT_REASON_NO_MEMORY;
	text = strdup(ev->text);
	if (!text)
		return NULL;
	l = &chat->pool[chat->free[--chat->n_free]];
	*l = (struct text_live){.state = TEXT_QUEUED,
				.t = {.guild = ch->guild,
				      .channel = ch->id,
				      .message = ev->message,
				      .user = ev->user,
				      .at = chat->now,
				      .text = text,
				      .to_bot = ev->to_bot,
				      .to_others = ev->to_others,
				      .decide = ev->decide,
				      .late = ev->late,
				      .kept = ev->kept,
				      .strangers = ev->strangers,
				      .own = text_event_own(ev),
				      .unreactive = ev->unreactive,
				      .blind = ev->blind,
				      .draw = ev->rnd % 100,
				      .admission = TEXT_ADMISSION_COUNT}};
	chat->holder[l - chat->pool] = ev->user;
	utf8_copy(l->t.name, sizeof l->t.name, ev->name ? ev->name : "");
	ch->queue[ch->n_queue++] = l;
	return l;
}

bool text_trigger_addresses(const struct text_trigger *t)
{
	return text_signal_confidence(t->signal) >= TEXT_ADDRESSED;
}

bool text_trigger_is_ambient(const struct text_trigger *t)
{
	return !text_trigger_addresses(t) && !t->goes_on;
}

/* Who asked sees that no answer comes, or not the whole of one. */
static void warn(struct text_chat *chat, const struct text_trigger *t)
{
	struct text_effect *e;

	if (!text_reason_signs(t->reason) || (!t->to_bot && !text_signal_forces(t->signal)) ||
	    !text_spending_sign(chat, TEXT_DO_WARN, t->channel, t->user))
		return;
	e = text_emit(chat, TEXT_DO_WARN, NULL);
	e->guild = t->guild;
	e->channel = t->channel;
	e->message = t->message;
	e->user = t->user;
	e->record = t;
}

void text_trigger_record(struct text_chat *chat, const struct text_trigger *t)
{
	struct text_effect *e = text_emit(chat, TEXT_DO_RECORD, NULL);

	chat->count[t->reason]++;
	e->guild = t->guild;
	e->channel = t->channel;
	e->message = t->message;
	e->user = t->user;
	e->reply = t->reply;
	e->record = t;
	warn(chat, t);
}

void text_trigger_refuse(struct text_chat *chat, const struct text_event *ev,
			 const struct text_trigger *judged, enum text_reason reason)
{
	/* One message a step is refused without a place of its own. */
	struct text_trigger *t = &chat->refused;

	*t = judged ? *judged : (struct text_trigger){.admission = TEXT_ADMISSION_COUNT};
	t->signal = judged ? t->signal : TEXT_SIGNAL_LLM_DECIDES;
	t->attention = judged ? t->attention : TEXT_ATTENTION_COLD_AMBIENT;
	t->guild = ev->guild;
	t->channel = ev->channel;
	t->message = ev->message;
	t->user = ev->user;
	t->to_bot = ev->to_bot;
	t->at = chat->now;
	t->text = NULL;
	t->reason = reason;
	text_trigger_record(chat, t);
}

static bool is_asked_of(const struct text_channel *ch)
{
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_ASKED)
			return true;
	return false;
}

void text_trigger_end(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
		      enum text_reason reason)
{
	bool asked = l->state == TEXT_ASKED;
	unsigned i = 0;

	while (ch->queue[i] != l)
		i++;
	memmove(&ch->queue[i], &ch->queue[i + 1], (--ch->n_queue - i) * sizeof(struct text_live *));
	l->state = TEXT_ENDED;
	l->t.reason = reason;
	chat->ended[chat->n_ended++] = (uint16_t)(l - chat->pool);
	/* What it asked for is stopped before its end is reported. */
	if (asked && !is_asked_of(ch))
		text_reply_abandon(chat, ch);
	text_trigger_record(chat, &l->t);
}

/* The messages of an answer have one author. */
void text_triggers_end(struct text_chat *chat, struct text_channel *ch, uint64_t user,
		       enum text_reason reason)
{
	bool asked = false;

	for (unsigned i = 0; i < ch->n_queue; i++)
		asked |= ch->queue[i]->state == TEXT_ASKED &&
			 (!user || ch->queue[i]->t.user == user);
	if (asked)
		text_reply_abandon(chat, ch);
	for (unsigned i = ch->n_queue; i > 0; i--)
		if (ch->queue[i - 1]->state != TEXT_SENDING &&
		    (!user || ch->queue[i - 1]->t.user == user))
			text_trigger_end(chat, ch, ch->queue[i - 1], reason);
}

void text_triggers_free_ended(struct text_chat *chat)
{
	while (chat->n_ended) {
		struct text_live *l = &chat->pool[chat->ended[--chat->n_ended]];

		free(l->t.text);
		*l = (struct text_live){.state = TEXT_FREE};
		chat->holder[l - chat->pool] = 0;
		chat->free[chat->n_free++] = (uint16_t)(l - chat->pool);
	}
}

/* An answer to nobody's message, or the telling of a result, is none of the triggers'. */
static void end_own(struct text_chat *chat, struct text_channel *ch)
{
	if (ch->reply.state != TEXT_REPLY_ASKED && ch->reply.state != TEXT_REPLY_RETRY)
		return;
	text_reply_abandon(chat, ch);
	if (ch->reply.kind == TEXT_KIND_INITIATIVE)
		text_initiative_record(chat, ch, TEXT_REASON_DELETED);
}

void text_triggers_gone(struct text_chat *chat, uint64_t channel)
{
	for (unsigned i = 0; i < chat->n_channels; i++) {
		struct text_channel *ch = chat->channel[i];

		if (channel && ch->id != channel && ch->parent != channel)
			continue;
		text_triggers_end(chat, ch, 0, TEXT_REASON_DELETED);
		end_own(chat, ch);
		text_agreement_withdraw_all(chat, ch);
		text_jobs_end(chat, ch);
		text_lines_clear(ch);
		ch->quiet_from = 0;
	}
}

enum text_want text_chat_wants(struct text_chat *chat, uint64_t channel, uint64_t message)
{
	const struct text_channel *ch = text_channel_find(chat, channel);
	const struct text_live *l = ch ? text_trigger_find(ch, message) : NULL;

	if (!l)
		return TEXT_WANT_NONE;
	return l->state != TEXT_CLASSIFYING && text_trigger_is_ambient(&l->t) ? TEXT_WANT_AMBIENT
									      : TEXT_WANT_ADDRESSED;
}

const struct text_trigger *text_chat_waits(struct text_chat *chat, uint64_t message,
					   enum text_hold *hold)
{
	const struct text_channel *ch = NULL;
	const struct text_live *l = NULL;

	for (unsigned i = 0; i < chat->n_channels && !l; i++) {
		ch = chat->channel[i];
		l = text_trigger_find(ch, message);
	}
	if (!l)
		return NULL;
	*hold = l->state == TEXT_CLASSIFYING ? TEXT_HOLD_DECISION
		: l->state == TEXT_QUEUED    ? text_queue_hold(chat, ch, l)
		: l->state == TEXT_ASKED     ? TEXT_HOLD_WORK
					     : TEXT_HOLD_SENDING;
	return &l->t;
}

uint64_t text_chat_last_waiting(const struct text_chat *chat, uint64_t user)
{
	uint64_t newest = 0;

	for (unsigned i = 0; i < TEXT_TRIGGERS; i++) {
		const struct text_live *l = &chat->pool[i];
		bool for_bot = l->t.to_bot || l->state == TEXT_CLASSIFYING ||
			       text_trigger_addresses(&l->t);

		if (chat->holder[i] == user && l->state != TEXT_ENDED && for_bot &&
		    l->t.message > newest)
			newest = l->t.message;
	}
	return newest;
}

bool text_chat_serves(const struct text_chat *chat, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_TRIGGERS; i++)
		if (chat->holder[i] == user)
			return true;
	for (unsigned i = 0; i < chat->n_channels; i++)
		if (text_jobs_has(chat->channel[i], user))
			return true;
	return false;
}

static void edit_trigger(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
			 const struct text_event *ev)
{
	char *text = strdup(ev->text);

	if (!text) {
		text_trigger_end(chat, ch, l, TEXT_REASON_NO_MEMORY);
		return;
	}
	free(l->t.text);
	l->t.text = text;
	l->t.strangers = ev->strangers;
	l->t.own = text_event_own(ev);
	l->t.to_bot = ev->to_bot || (ev->unsure && l->t.to_bot);
	l->t.to_others = !l->t.to_bot && (ev->to_others || (ev->unsure && l->t.to_others));
	text_admission_edited(chat, ch, l, ev);
	if (l->state == TEXT_ASKED && text_admission_again(chat, ch, l))
		text_reply_ask_again(chat, ch);
}

void text_triggers_on_event(struct text_chat *chat, struct text_channel *ch,
			    const struct text_event *ev)
{
	struct text_live *l;

	if (ev->type != TEXT_EDITED && ev->type != TEXT_DELETED)
		return;
	if (ev->type == TEXT_EDITED)
		text_line_edit(ch, ev);
	else
		text_line_delete(ch, ev->message);
	l = text_trigger_find(ch, ev->message);
	if (!l || l->state == TEXT_SENDING)
		return;
	/* Discord also tells of edits that change other things, such as a preview of a link. */
	if (ev->type == TEXT_DELETED)
		text_trigger_end(chat, ch, l, TEXT_REASON_DELETED);
	else if (strcmp(l->t.text, ev->text) != 0)
		edit_trigger(chat, ch, l, ev);
}

bool text_forgot_lately(const struct text_chat *chat, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_FORGOTTEN; i++)
		if (chat->forgotten[i].user == user && chat->forgotten[i].until > chat->now)
			return true;
	return false;
}

/* everywhere: answers that may have been told of them from elsewhere are asked again. True if that
 * was done lately, and nothing from elsewhere can have been told of them since. */
static bool note_forgotten(struct text_chat *chat, uint64_t user, bool everywhere)
{
	uint64_t until = chat->now + TEXT_FORGET_S * NS_PER_S;

	for (unsigned i = 0; i < TEXT_FORGOTTEN; i++) {
		struct text_forgotten *f = &chat->forgotten[i];
		bool before = f->everywhere;

		if (f->user != user || f->until <= chat->now)
			continue;
		f->until = until;
		f->everywhere |= everywhere;
		return before;
	}
	chat->forgotten[chat->n_forgotten++ % TEXT_FORGOTTEN] =
		(struct text_forgotten){.user = user, .until = until, .everywhere = everywhere};
	return false;
}

void text_triggers_forget(struct text_chat *chat, const struct text_event *ev)
{
	bool lately = note_forgotten(chat, ev->user, ev->yes);

	for (unsigned i = 0; i < chat->n_channels; i++) {
		struct text_channel *ch = chat->channel[i];

		if (ev->guild && ch->guild != ev->guild)
			continue;
		text_lines_forget(ch, ev->user, ev->yes);
		if (ev->refused)
			text_triggers_end(chat, ch, ev->user, TEXT_REASON_NO_CONSENT);
		text_reaction_forget(ch, ev->user);
		text_agreement_withdraw(chat, ch, ev->user);
		text_jobs_stop(chat, ch, ev->user);
		text_jobs_forget(ch, ev->user);
		if (text_reply_tells(ch, ev->user))
			text_reply_abandon(chat, ch);
		else
			text_reply_forget(chat, ch, ev->user, ev->yes && !lately);
	}
}
